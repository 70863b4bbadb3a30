//! The script in a Markdown text: its one fenced code block in a language we run.

use super::{Language, ScriptProblem};

/// A part of a text that may be the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// The first word after the fence, as in ```` ```ts ````; empty if there is none.
    pub(super) label: &'a str,
    /// The line of the whole text on which the part begins, from 1.
    pub(super) first_line: u32,
}

/// Whether the text is Markdown with a code block. No language has a line that begins with a fence, but for
/// comments and long texts.
pub(super) fn any(text: &str) -> bool {
    !blocks(text).is_empty()
}

/// The one code block that is the script; of `language`, where that is known.
pub(super) fn only(text: &str, language: Option<Language>) -> Result<Part<'_>, ScriptProblem> {
    let blocks = blocks(text);
    let python = language.map(|language| language == Language::Python);
    let ours: Vec<&Part> = blocks
        .iter()
        .filter(|block| {
            Language::of_label(block.label)
                .is_some_and(|label| python.is_none_or(|python| python == (label == Language::Python)))
        })
        .collect();
    let (wanted, label) = match python {
        Some(true) => ("Python", "python"),
        Some(false) => ("JavaScript or TypeScript", "ts"),
        None => ("JavaScript, TypeScript or Python", "ts"),
    };
    match (&ours[..], &blocks[..]) {
        ([one], _) => Ok(**one),
        ([], [one]) => Ok(*one),
        ([], []) => Err(ScriptProblem::form(
            "the Markdown has no code block",
            format!("give the script alone, or in one ```{label} block"),
        )),
        ([], _) => Err(ScriptProblem::form(
            format!("the text has {} code blocks, and none is marked as {wanted}", blocks.len()),
            format!("give the script in one ```{label} block, or alone"),
        )),
        (several, _) => Err(ScriptProblem::form(
            format!(
                "the text has {} code blocks of {wanted} (lines {}): it is not clear which one to run",
                several.len(),
                several.iter().map(|block| (block.first_line - 1).to_string()).collect::<Vec<_>>().join(", ")
            ),
            "give one code block with the whole script",
        )),
    }
}

/// The mark and the label of a line that opens a block.
fn opening(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let mark = ['`', '~'].into_iter().find_map(|mark| {
        let length = line.len() - line.trim_start_matches(mark).len();
        (length >= 3).then(|| &line[..length])
    })?;
    let rest = line[mark.len()..].trim();
    // ```` ```x``` ```` on one line is code within a sentence.
    if rest.contains('`') {
        return None;
    }
    let label = rest.split(|c: char| c.is_whitespace() || c == '{' || c == ',').next().unwrap_or("");
    Some((mark, label.trim_start_matches('.')))
}

/// Whether what follows is in a comment of JavaScript.
fn commented(before: &str) -> bool {
    match (before.rfind("/*"), before.rfind("*/")) {
        (Some(open), Some(close)) => open > close,
        (open, _) => open.is_some(),
    }
}

fn blocks(text: &str) -> Vec<Part<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, &str, usize, u32)> = None;
    let mut offset = 0;
    // Whether a long text of Python is open, by its quotes.
    let mut quoted = [false; 2];
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let after = offset + line.len();
        match open {
            None => {
                let mark = opening(line).filter(|_| quoted == [false; 2] && !commented(&text[..offset]));
                open = mark.map(|(mark, label)| (mark, label, after, number + 1));
                for (quoted, quote) in quoted.iter_mut().zip(["\"\"\"", "'''"]) {
                    *quoted ^= line.matches(quote).count() % 2 == 1;
                }
            }
            Some((mark, label, start, first_line)) => {
                let bare = line.trim();
                if bare.len() >= mark.len() && bare.bytes().all(|byte| byte == mark.as_bytes()[0]) {
                    blocks.push(Part { text: &text[start..offset], label, first_line });
                    open = None;
                }
            }
        }
        offset = after;
    }
    // A block that nobody closed goes to the end: a model ran out of tokens, or did not bother.
    if let Some((_, label, start, first_line)) = open {
        blocks.push(Part { text: &text[start..], label, first_line });
    }
    blocks
}
