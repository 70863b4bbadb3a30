//! Texts of servers, made fit to stand in source code: as words in a comment and as literals. Nothing in them
//! can end the comment or the literal, act on a terminal, or stay unseen.

use crate::visible::acts;

/// Lines of one comment.
const MAX_LINES: usize = 40;

/// The words of a text in one line of at most `limit` characters.
pub(super) fn line(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut room = limit;
    for word in words(text) {
        let space = usize::from(!out.is_empty());
        let length = word.chars().count() + space;
        if length > room {
            out.extend(std::iter::repeat_n(' ', space));
            out.extend(word.chars().take(room.saturating_sub(space)));
            return out.trim_end().to_owned() + "…";
        }
        out.extend(std::iter::repeat_n(' ', space));
        out += &word;
        room -= length;
    }
    out
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .map(|word| word.chars().filter(|c| !acts(*c)).collect::<String>())
        .filter(|word| !word.is_empty())
}

/// The lines of a text, of at most `limit` characters together: without their common indentation, without
/// empty ones at the ends, and never two of those in a row.
pub(super) fn lines(text: &str, limit: usize) -> Vec<String> {
    let broken = text.replace("\r\n", "\n").replace(['\r', '\u{85}', '\u{2028}', '\u{2029}'], "\n");
    let clean: Vec<String> = broken
        .split('\n')
        .take(MAX_LINES * 4)
        .map(|line| line.replace('\t', "    ").chars().filter(|c| !acts(*c)).collect::<String>())
        .map(|line| line.trim_end().to_owned())
        .collect();
    // The first line of a docstring stands beside its quotes and has no indentation to go by.
    let indented = clean.iter().skip(1).filter(|line| !line.is_empty());
    let common = indented.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0);
    let mut out: Vec<String> = Vec::new();
    let mut room = limit;
    for (number, line) in clean.iter().enumerate() {
        let line = if number == 0 { line.trim_start() } else { line.get(common..).unwrap_or_default() };
        if line.is_empty() && out.last().is_none_or(String::is_empty) {
            continue;
        }
        let length = line.chars().count();
        if length > room || out.len() == MAX_LINES {
            let cut: String = line.chars().take(room).collect();
            out.push(cut.trim_end().to_owned() + "…");
            return out;
        }
        room -= length;
        out.push(line.to_owned());
    }
    while out.last().is_some_and(String::is_empty) {
        out.pop();
    }
    out
}

/// A literal in double quotes. `code` writes a character by its number, as the language has it.
pub(super) fn quoted(text: &str, code: impl Fn(char) -> String) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            c if acts(c) => out += &code(c),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_nothing_acts_in_it() {
        assert_eq!(line(" a\n\tb\u{1b}[2J \u{202e}c\u{2028}d\0e ", 100), "a b [2J c d e");
        assert_eq!(line("one two three", 9), "one two t…");
        assert_eq!(line("äöü", 3), "äöü");
        assert_eq!(line("", 9), "");
    }

    #[test]
    fn lines_keep_their_form_and_lose_their_margin() {
        assert_eq!(
            lines("First.\n\n\n    Args:\n        a: b\r\n    \n", 100),
            ["First.", "", "Args:", "    a: b"]
        );
        assert_eq!(lines("\n\n  x\n  y", 100), ["x", "y"]);
        assert_eq!(lines("abcdef", 3), ["abc…"]);
        assert_eq!(lines(&"a\n".repeat(500), 10_000).len(), MAX_LINES + 1);
        assert!(lines(" \n\u{200b}\n", 10).is_empty());
    }

    #[test]
    fn literals_hold_anything() {
        let code = |c: char| format!("\\u{{{:x}}}", u32::from(c));
        assert_eq!(quoted("a\"b\\c\nd\u{202e}é", code), "\"a\\\"b\\\\c\\u{a}d\\u{202e}é\"");
    }
}
