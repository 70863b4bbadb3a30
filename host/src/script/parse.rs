//! The parser, run where a text cannot overflow the stack: it descends into nested code, and a text
//! of a hundred thousand parentheses must be an error and not the end of the host.

use oxc::allocator::Allocator;
use oxc::ast::ast::Program;
use oxc::diagnostics::OxcDiagnostic;
use oxc::parser::{ParseOptions, Parser};
use oxc::span::SourceType;

use super::lines::{self, LineMap};
use super::{Language, ScriptProblem};

/// Brackets within brackets. Written code has tens; the parser takes this many with ease, and QuickJS
/// takes fewer than twice as many.
const MAX_NESTING: u32 = 1000;

/// Stack that one byte of a text can cost. A level of nesting takes at least a byte (`!`, `(`, `[`);
/// the costliest that the tests found takes between 1 and 2 KiB, in a build with an optimised parser.
const STACK_PER_BYTE: usize = 6 << 10;
/// Stack that every text may use.
const STACK: usize = 1 << 20;

/// What a text parses as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    JavaScript,
    TypeScript,
}

/// A fault of a script at a byte of it.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// Line and column, from 1, in the text that was parsed.
    pub(super) place: Option<(u32, u32)>,
}

impl Fault {
    /// A form of script that cannot be run, at a byte of `code`.
    pub(super) fn form(code: &str, offset: u32, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let place = Some(lines::place(code, offset as usize));
        Self { code: "script-form", message: message.into(), hint: Some(hint.into()), place }
    }

    /// The same of the whole text.
    pub(super) fn of_all(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: "script-form", message: message.into(), hint: Some(hint.into()), place: None }
    }

    pub(super) fn syntax(code: &str, diagnostic: &OxcDiagnostic) -> Self {
        let offset = diagnostic.labels.first().map(|label| label.offset() as usize);
        Self {
            code: "script-syntax",
            message: diagnostic.message.to_string(),
            hint: diagnostic.help.as_ref().map(ToString::to_string),
            place: offset.map(|offset| lines::place(code, offset)),
        }
    }

    /// The problem as the user sees it: `map` leads from what was parsed to `text`.
    pub(super) fn problem(self, text: &str, map: &LineMap) -> ScriptProblem {
        let problem = ScriptProblem::new(self.code, self.message, self.hint);
        match self.place.and_then(|(line, column)| map.original(line, column)) {
            Some((line, column)) => problem.at(text, line, column),
            None => problem,
        }
    }
}

/// Runs `job`, which parses `code`, on a stack that is large enough for the worst text of its length.
pub(super) fn guarded<T: Send>(
    code: &str,
    job: impl FnOnce() -> Result<T, ScriptProblem> + Send,
) -> Result<T, ScriptProblem> {
    if nesting(code) > MAX_NESTING {
        let message = format!("the script nests brackets more than {MAX_NESTING} deep");
        let hint = "keep data that deep in a file, and read it with fs.readFile".to_owned();
        return Err(ScriptProblem::new("script-syntax", message, hint));
    }
    // Only address space: what is not used is never there.
    let stack = STACK + code.len() * STACK_PER_BYTE;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("script-parser".into())
            .stack_size(stack)
            .spawn_scoped(scope, job);
        let failed = |what: &str| {
            ScriptProblem::new("script-too-large", format!("the script cannot be parsed: {what}"), None)
        };
        match thread {
            Ok(thread) => thread.join().unwrap_or_else(|_| Err(failed("the parser failed on it"))),
            Err(error) => Err(failed(&format!("there is no memory for it ({error})"))),
        }
    })
}

/// How deep brackets nest, roughly: strings and comments are skipped, regular expressions and
/// templates are taken for code. Not what safety rests on, that is the size of the stack.
fn nesting(code: &str) -> u32 {
    let bytes = code.as_bytes();
    let (mut depth, mut deepest, mut at) = (0_u32, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += 2;
                while at < bytes.len() && !bytes[at..].starts_with(b"*/") {
                    at += 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    deepest
}

fn options() -> ParseOptions {
    ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() }
}

/// Parses JavaScript and hands the tree to `job`.
pub(super) fn javascript<T>(
    code: &str,
    job: impl FnOnce(&Program<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let mut first = None;
    // The second is for what a module's strict mode forbids, and a script may still contain.
    for kind in [SourceType::mjs(), SourceType::cjs()] {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, code, kind).with_options(options()).parse();
        match parsed.diagnostics.first() {
            None => return job(&parsed.program),
            Some(diagnostic) => first = first.or_else(|| Some(Fault::syntax(code, diagnostic))),
        }
    }
    Err(first.unwrap_or_else(|| Fault {
        code: "script-syntax",
        message: "it does not parse".into(),
        hint: None,
        place: None,
    }))
}

/// Parses TypeScript and hands the tree to `job`.
pub(super) fn typescript<T>(
    code: &str,
    job: impl for<'a> FnOnce(&'a Allocator, Program<'a>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let allocator = Allocator::default();
    let parsed =
        Parser::new(&allocator, code, SourceType::ts().with_module(true)).with_options(options()).parse();
    match parsed.diagnostics.first() {
        None => job(&allocator, parsed.program),
        Some(diagnostic) => Err(Fault::syntax(code, diagnostic)),
    }
}

/// What `code` parses as. JavaScript is tried first, unless the text is TypeScript for sure: some of
/// it, such as `f<T>(x)`, is JavaScript with another meaning.
pub(super) fn which(code: &str, language: Option<Language>) -> Result<Syntax, Fault> {
    let typed = |_: &Allocator, _: Program<'_>| Ok(());
    if language == Some(Language::TypeScript) || generic_call(code) {
        let fault = match typescript(code, typed) {
            Ok(()) => return Ok(Syntax::TypeScript),
            Err(fault) => fault,
        };
        return match javascript(code, |_| Ok(())) {
            Ok(()) => Ok(Syntax::JavaScript),
            Err(_) if language == Some(Language::TypeScript) => Err(fault),
            Err(other) => Err(further(other, fault)),
        };
    }
    let fault = match javascript(code, |_| Ok(())) {
        Ok(()) => return Ok(Syntax::JavaScript),
        Err(fault) => fault,
    };
    match typescript(code, typed) {
        Ok(()) => Ok(Syntax::TypeScript),
        Err(other) => Err(further(fault, other)),
    }
}

/// Of two faults the one that the parser came further for: the other language's got stuck on syntax
/// it does not know.
fn further(javascript: Fault, typescript: Fault) -> Fault {
    if typescript.place > javascript.place { typescript } else { javascript }
}

/// Whether something like `name<Type>(` is in the text.
fn generic_call(code: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    code.match_indices(">(").any(|(at, _)| {
        let before = code[..at].trim_end_matches(|c: char| word(c) || c == '.');
        before.strip_suffix('<').is_some_and(|name| name.ends_with(word)) && before.len() < at
    })
}
