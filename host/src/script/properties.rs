//! What holds for every text, however broken.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::prepare;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// No text makes it panic, and a place is always one of the text.
    #[test]
    fn any_text_is_prepared_or_refused(text in any_text()) {
        if let Err(problem) = prepare(&text, None, "script") {
            if let Some(line) = problem.line {
                prop_assert!(line >= 1 && line as usize <= text.split('\n').count(), "{problem:?}");
                prop_assert!(problem.column.is_some_and(|column| column >= 1));
            }
            prop_assert!(!problem.message.is_empty());
        }
    }

    /// Every place of a prepared source leads to a place of the text, or to none.
    #[test]
    fn every_place_leads_back_into_the_text(text in any_text(), line in 0_u32..40, column in 0_u32..80) {
        if let Ok(prepared) = prepare(&text, None, "script")
            && let Some((line, column)) = prepared.map.original(line, column)
        {
            prop_assert!(line >= 1 && line as usize <= text.split('\n').count() && column >= 1, "{line}:{column}");
        }
    }
}

/// Pieces of scripts, Markdown and noise in any order.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "const a = 1;\n",
        "await tools.crm.list({})",
        "\n",
        "```ts\n",
        "```\n",
        "```",
        "return ",
        "export default ",
        "async () => {",
        "}",
        "{",
        "(",
        ")",
        "import fs from 'fs';\n",
        "import type {X} from 'y'\n",
        ": number",
        "<T>",
        "enum E { A }\n",
        "'",
        "\"",
        "`",
        "${",
        "/*",
        "*/",
        "//",
        "/x/",
        "#!",
        "\u{feff}",
        "\r\n",
        "é",
        "😀",
        "if (a) ",
        "else ",
        "try {",
        "} catch (e) {",
        "class A ",
        "@dec ",
        "print(1)\n",
        "def f():\n",
        "ls -la\n",
        "[{\"tool\": \"a.b\"}]",
        "function main() {}\n",
        ".then(x => x)",
        ";",
        ",",
        " ",
        "a",
        "0x",
        "\\u{",
        "\0",
    ]);
    prop::collection::vec(prop_oneof![8 => pieces.prop_map(str::to_owned), 1 => any::<String>()], 0..24)
        .prop_map(|parts| parts.concat())
}
