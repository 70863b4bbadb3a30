//! TypeScript made into JavaScript: types taken out, enums and the like written out. Nothing is
//! checked: a script is run once, and the tools check their own arguments.

use std::path::Path;

use oxc::codegen::{Codegen, CodegenOptions};
use oxc::semantic::SemanticBuilder;
use oxc::transformer::{TransformOptions, Transformer};

use super::lines::{Segment, Step};
use super::parse::{self, Fault};

/// JavaScript with the meaning of `code`.
pub(super) fn strip(code: &str) -> Result<(String, Step), Fault> {
    parse::typescript(code, |allocator, mut program| {
        let checked = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true).build(&program);
        let scoping = checked.semantic.into_scoping();
        let path = Path::new("script.ts");
        let done = Transformer::new(allocator, path, &TransformOptions::default())
            .build_with_scoping(scoping, &mut program);
        if let Some(diagnostic) = done.diagnostics.first() {
            return Err(Fault::syntax(code, diagnostic));
        }
        let options =
            CodegenOptions { source_map_path: Some(path.to_path_buf()), ..CodegenOptions::default() };
        let printed = Codegen::new().with_options(options).build(&program);
        let tokens = printed.map.iter().flat_map(|map| map.get_tokens());
        let step = Step::mapped(tokens.map(|token| {
            let segment = Segment {
                column: token.get_dst_col(),
                line: token.get_src_line(),
                from: token.get_src_col(),
                copied: false,
            };
            (token.get_dst_line(), segment)
        }));
        Ok((printed.code, step))
    })
}
