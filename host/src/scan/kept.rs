//! How much of a long result is read closely: its beginning and its end stay with the run, what lies between them is
//! looked through once.

/// The most of one result that is kept: its beginning and its end.
const HEAD: usize = 768 << 10;
const TAIL: usize = 256 << 10;
/// Stands where something was left out.
const GAP: &str = "\n[...]\n";
/// What lies between is looked through in stretches of this length, which overlap a little.
const STRETCH: usize = 512 << 10;
const OVERLAP: usize = 2 << 10;

/// What is kept of a text.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// All of it, or its beginning and its end with a gap between them.
    pub(super) text: String,
    /// Where the beginning stops in the whole, and where the end begins; the same place if all is there.
    head: usize,
    tail: usize,
}

impl Kept {
    pub(super) fn of(text: &str) -> Self {
        if text.len() <= HEAD + TAIL {
            return Self { text: text.to_owned(), head: text.len(), tail: text.len() };
        }
        let (head, tail) = (text.floor_char_boundary(HEAD), text.ceil_char_boundary(text.len() - TAIL));
        Self { text: [&text[..head], GAP, &text[tail..]].concat(), head, tail }
    }

    /// Whether something was left out.
    pub(super) fn is_cut(&self) -> bool {
        self.head < self.tail
    }

    /// The places in the whole of a stretch of what is kept.
    pub(super) fn whole(&self, start: usize, end: usize) -> Vec<(usize, usize)> {
        let end = end.min(self.text.len());
        if !self.is_cut() || end <= self.head {
            return vec![(start, end)];
        }
        let behind = self.head + GAP.len();
        let after = |at: usize| self.tail + at.saturating_sub(behind);
        if start >= behind {
            return vec![(after(start), after(end))];
        }
        // One that goes over the gap is one on either side.
        let mut out = vec![(start.min(self.head), self.head), (self.tail, after(end))];
        out.retain(|(start, end)| start < end);
        out
    }

    /// Stretches of the whole that cover what was left out, up to `until`.
    pub(super) fn left_out(&self, whole: &str, until: usize) -> Vec<(usize, usize)> {
        let until = whole.floor_char_boundary(self.tail.min(until));
        let mut out = Vec::new();
        let mut at = self.head;
        while self.is_cut() && at < until {
            let start = whole.floor_char_boundary(at.saturating_sub(OVERLAP));
            let end = whole.floor_char_boundary(until.min(at + STRETCH));
            out.push((start, end));
            at = end.max(at + 1);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_kept_whole() {
        let kept = Kept::of("short");
        assert_eq!((kept.text.as_str(), kept.is_cut()), ("short", false));
        assert_eq!(kept.whole(1, 99), [(1, 5)]);
        assert!(kept.left_out("short", 5).is_empty());
    }

    #[test]
    fn places_of_a_long_text_are_found_again() {
        let text = format!("{}{}", "é".repeat(700 << 10), "0123456789".repeat(80 << 10));
        let kept = Kept::of(&text);
        assert!(kept.is_cut() && kept.text.len() < text.len());
        assert_eq!(kept.whole(10, 20), [(10, 20)]);
        let at = kept.text.len() - 30;
        let (start, end) = kept.whole(at, at + 10)[0];
        assert_eq!(text[start..end], kept.text[at..at + 10]);
        let over = kept.whole(HEAD - 4, HEAD + GAP.len() + 4);
        assert_eq!(over, [(HEAD - 4, HEAD), (text.len() - TAIL, text.len() - TAIL + 4)]);
        let stretches = kept.left_out(&text, text.len());
        assert!(stretches.windows(2).all(|pair| pair[1].0 < pair[0].1), "{stretches:?}");
        assert!(stretches[0].0 < kept.head && stretches[stretches.len() - 1].1 == kept.tail);
        assert!(kept.left_out(&text, kept.head).is_empty());
    }
}
