//! What the run has read so far: the guard's `context`. Held in memory for the length of the run,
//! and bounded.

/// The most of one result that is kept: its beginning and its end.
const HEAD: usize = 768 << 10;
const TAIL: usize = 256 << 10;
/// The most in all. A check, with this as JSON text, must stay below what the guard reads.
const TOTAL: usize = 1200 << 10;

/// Results of earlier calls, as `[server.tool] result` lines.
#[derive(Debug, Default)]
pub(super) struct Context {
    text: String,
    results: usize,
    incomplete: bool,
}

impl Context {
    /// Adds a result. When it is full, later results are left out, and the context is marked:
    /// a guard that cannot see everything must not be the only one to decide.
    pub(super) fn add(&mut self, server: &str, tool: &str, result: &str) {
        self.results += 1;
        let (head, tail) = ends(result);
        if self.text.len() + head.len() + tail.len() + server.len() + tool.len() + 64 > TOTAL {
            self.incomplete = true;
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&format!("[{server}.{tool}] {head}"));
        if !tail.is_empty() {
            self.incomplete = true;
            self.text.push_str(" [...] ");
            self.text.push_str(tail);
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the script has read anything yet.
    pub(super) fn is_empty(&self) -> bool {
        self.results == 0
    }

    /// Whether something that was read is missing from the text.
    pub(super) fn incomplete(&self) -> bool {
        self.incomplete
    }
}

/// All of it and nothing, or its beginning and its end.
fn ends(text: &str) -> (&str, &str) {
    if text.len() <= HEAD + TAIL {
        return (text, "");
    }
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    (&text[..boundary(HEAD)], &text[boundary(text.len() - TAIL)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_lines() {
        let mut context = Context::default();
        assert!(context.is_empty());
        context.add("crm", "list", "[]");
        context.add("web", "fetch", "\"hello\"");
        assert_eq!(context.text(), "[crm.list] []\n[web.fetch] \"hello\"");
        assert!(!context.is_empty() && !context.incomplete());
    }

    #[test]
    fn what_does_not_fit_is_marked() {
        let mut context = Context::default();
        context.add("a", "b", &"é".repeat(600 << 10));
        assert!(context.incomplete() && context.text().len() < HEAD + TAIL + 100);
        for _ in 0..100 {
            context.add("a", "b", &"x".repeat(600 << 10));
        }
        assert!(context.text().len() <= TOTAL);
    }
}
