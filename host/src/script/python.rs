//! Python: whether a text is it, and the form in which its runner takes it. Nothing is parsed here; the
//! runner's own parser says what is wrong with a script.

use super::fence::Part;
use super::lines::{self, Edit, LineMap};
use super::{Language, Prepared, ScriptProblem, refuse};

/// What only Python calls so, or spells so. Each is looked for as a whole word.
const CALLS: [&str; 20] = [
    "print",
    "len",
    "range",
    "sorted",
    "enumerate",
    "isinstance",
    "sum",
    "zip",
    "list",
    "dict",
    "str",
    "int",
    "float",
    "set",
    "tuple",
    "min",
    "max",
    "any",
    "all",
    "open",
];
const WORDS: [&str; 3] = ["None", "True", "False"];
/// What Python has no use for.
const JAVASCRIPT: [&str; 17] = [
    "const ",
    "let ",
    "var ",
    "=>",
    "function",
    "console.",
    "===",
    "!==",
    "/*",
    ";",
    "new ",
    "null",
    "undefined",
    "`",
    "({",
    "&&",
    "||",
];

/// The script as its runner takes it: what is indented as a whole is moved to the margin.
pub(super) fn prepare(part: Part<'_>) -> Result<Prepared, ScriptProblem> {
    refuse::python_form(part.text)?;
    let margin = margin(part.text);
    let edits = starts(part.text)
        .filter(|(_, line)| margin > 0 && line.len() >= margin && !line.trim().is_empty())
        .map(|(at, _)| Edit { at, remove: margin, insert: String::new() });
    let (source, step) = lines::apply(part.text, edits.collect(), "");
    let map = LineMap::below(part.first_line - 1).then(step);
    Ok(Prepared { source, language: Language::Python, map })
}

/// Whether a text that might well be JavaScript too is Python.
pub(super) fn is_meant(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    if first.starts_with("#!") {
        return first.split(['/', ' ']).any(|word| word.starts_with("python"));
    }
    let code = without_texts(text);
    if JAVASCRIPT.iter().any(|mark| code.contains(mark)) {
        return false;
    }
    CALLS.iter().any(|name| has_word(&code, name, true))
        || WORDS.iter().any(|word| has_word(&code, word, false))
        || has_keyword_argument(&code)
        || refuse::lines_of(&code).all(refuse::is_python_statement)
            && refuse::lines_of(&code).next().is_some()
}

/// Whether a text that is no JavaScript is Python.
pub(super) fn is_likely(text: &str) -> bool {
    let code = without_texts(text);
    let statements = refuse::lines_of(&code).filter(|line| refuse::is_python_statement(line)).count();
    let braces = code.contains("{\n") || code.contains(";\n") || code.trim_end().ends_with([';', '}']);
    // Nothing of JavaScript begins so and ends in a colon.
    let opens_block =
        refuse::lines_of(&code).any(|line| line.ends_with(':') && refuse::is_python_statement(line));
    if opens_block || statements >= 2 || statements == 1 && !braces {
        return true;
    }
    if JAVASCRIPT.iter().any(|mark| code.contains(mark)) {
        return false;
    }
    // Its operators in words, its comprehensions, its comments, its formatted texts.
    [" for ", " not ", " and ", " or ", " is ", " if ", "lambda ", " async with "]
        .iter()
        .any(|word| code.contains(word))
        || text.lines().any(|line| line.trim_start().starts_with("# "))
        || ["f\"", "f'", "r\"", "r'", "b\"", "b'", "\"\"\"", "'''"].iter().any(|quote| text.contains(quote))
        || is_meant(text)
}

/// Where each line begins, and the line.
fn starts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// Bytes of white space that all lines begin with, but for those that have nothing else.
fn margin(text: &str) -> usize {
    let mut common: Option<&str> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let own = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        let same = common.map_or(own.len(), |common| {
            common.bytes().zip(own.bytes()).take_while(|(one, other)| one == other).count()
        });
        common = Some(&own[..same.min(own.len())]);
    }
    common.map_or(0, str::len)
}

/// The code with what stands in quotes left out.
fn without_texts(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'']) {
        out.push_str(&rest[..=at]);
        let quote = &rest[at..=at];
        let triple = quote.repeat(3);
        rest = &rest[at..];
        let end = if rest.starts_with(&triple) {
            rest[3..].find(&triple).map(|end| end + 6)
        } else {
            closing(rest, quote.as_bytes()[0])
        };
        match end {
            Some(end) => {
                out.push_str(quote);
                rest = &rest[end..];
            }
            // An apostrophe, or a text that nobody closed: only the line is lost.
            None => rest = rest.find('\n').map_or("", |end| &rest[end..]),
        }
    }
    out.push_str(rest);
    out
}

/// Where a text in quotes ends, behind its last quote.
fn closing(text: &str, quote: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Whether the code has this word; with `called`, whether it calls something of this name.
fn has_word(code: &str, word: &str, called: bool) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '$';
        !before.is_some_and(part)
            && if called { after == Some('(') } else { !after.is_some_and(|c| part(c) || c == ':') }
    })
}

/// Whether something is called with an argument by name, as in `f(limit=5)`.
fn has_keyword_argument(code: &str) -> bool {
    code.match_indices(['(', ',']).any(|(at, mark)| {
        let word = |text: &str| text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        let called = &code[word(&code[..at])..at];
        if mark == "(" && (called.is_empty() || ["if", "while", "for", "switch", "return"].contains(&called))
        {
            return false;
        }
        let rest = code[at + 1..].trim_start();
        let (name, rest) = rest
            .split_at(rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len());
        // Written as Python's people do: no space before the sign.
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && rest.starts_with('=')
            && !rest.starts_with("==")
            && !rest.starts_with("=>")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_is_told_from_javascript() {
        for text in [
            "print('hi')",
            "rows = tools.crm.list_customers()\nprint(len(rows))",
            "tools.crm.list_customers(limit=5)",
            "x = None",
            "#!/usr/bin/env python3\nx = 1",
            "import json",
            "await tools.a.b(n=1)",
        ] {
            assert!(is_meant(text), "{text}");
        }
        for text in [
            "const n = 1; print(n)",
            "tools.a.b({ n: 1 })",
            "x == 1",
            "console.log('None', \"len(x)\")",
            "a.len(x)",
            "rows.map((r) => list(r))",
            "await tools.a.b()",
            "'print(1)'",
            "while(m = next()) { go(m) }",
            "a = 1, b = 2",
        ] {
            assert!(!is_meant(text), "{text}");
        }
        for text in [
            "[x * 2 for x in rows]",
            "# a comment\nx = 1 if y else 2",
            "def f(x):\n    return {\n    }\nf(1)",
        ] {
            assert!(is_likely(text), "{text}");
        }
        assert!(!is_likely("const a = ;"));
    }

    #[test]
    fn what_is_indented_is_moved_and_places_lead_back() {
        let part = Part { text: "  x = 1\n\n  if x:\n    y = 2\n", label: "py", first_line: 3 };
        let prepared = prepare(part).unwrap_or_else(|problem| panic!("{problem:?}"));
        assert_eq!(prepared.source, "x = 1\n\nif x:\n  y = 2\n");
        assert_eq!(prepared.map.original(3, 1), Some((5, 3)));
        assert_eq!(prepared.map.original(4, 3), Some((6, 5)));
        let stack =
            "Traceback (most recent call last):\n  File \"script.py\", line 4, in <module>\n    y = 2";
        assert!(
            prepared
                .map
                .python_stack(stack, "report.py")
                .contains("File \"report.py\", line 6, in <module>\n    y = 2")
        );
    }
}
