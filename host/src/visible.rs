//! Text that others wrote, made fit for a terminal: nothing in it may move the cursor, repaint what Postern says, turn
//! the reading direction, or stay unseen. Everything is shown, by its code if need be.

use postern_check::evidence::is_hidden;

/// Whether a character acts on what shows it, or stays unseen.
pub(crate) fn acts(c: char) -> bool {
    c.is_control() || is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The text with every control character, line end and character that cannot be seen written as `\u{...}`.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_or_hides_is_shown_by_its_code() {
        assert_eq!(
            visible("\u{1b}[2Ja\u{202e}b\u{200b}c\n\u{e0041}é"),
            "\\u{1b}[2Ja\\u{202e}b\\u{200b}c\\u{a}\\u{e0041}é"
        );
    }
}
