//! QuickJS stack traces, seen by the author of a script: only the script's own frames, in the
//! script's own columns. Text in, text out.

/// The name under which a script is evaluated.
pub(crate) const FILE: &str = "script.js";

/// What stands before a script on its first line, so that its lines are its own; columns of that
/// line are corrected here. The parameter is what the host wraps the last expression in.
pub(crate) const PREFIX: &str = "(async (__postern_value) => {";

/// A place in the script: line and column, both from 1.
pub(crate) type Position = (u32, u32);

/// The frames of `stack` that belong to the script (and the engine's own functions between them),
/// one a line.
pub(crate) fn own(stack: &str) -> String {
    let frames: Vec<&str> = stack.lines().map(str::trim).collect();
    let mut out: Vec<String> = Vec::new();
    for (i, frame) in frames.iter().enumerate() {
        if let Some((before, position, after)) = split(frame) {
            // The call of the wrapper around the script.
            if !before.contains("<eval>") {
                out.push(format!("    {before}{FILE}:{}:{}{after}", position.0, position.1));
            }
        } else if frame.ends_with("(native)") {
            // Called by the prelude rather than by the script, it says nothing.
            if frames.get(i + 1).is_some_and(|caller| split(caller).is_some()) {
                out.push(format!("    {frame}"));
            }
        }
    }
    out.join("\n")
}

/// Where in the script a stack begins, if any of it is the script's.
pub(crate) fn position(stack: &str) -> Option<Position> {
    stack.lines().find_map(|line| split(line.trim())).map(|(_, position, _)| position)
}

/// `position` as a list of two numbers, or of none.
pub(crate) fn position_list(stack: &str) -> Vec<u32> {
    position(stack).map(|(line, column)| vec![line, column]).unwrap_or_default()
}

/// A frame of the script taken apart: what is before the place, the place, what is after it.
fn split(frame: &str) -> Option<(&str, Position, &str)> {
    let start = frame.find("script.js:").filter(|_| frame.starts_with("at "))?;
    let (before, rest) = frame.split_at(start);
    let rest = rest.strip_prefix(FILE)?.strip_prefix(':')?;
    let (line, rest) = number(rest)?;
    let (column, after) = match rest.strip_prefix(':').and_then(number) {
        Some((column, after)) => (column, after),
        None => (1, rest),
    };
    let shift = if line == 1 { PREFIX.len() as u32 } else { 0 };
    Some((before, (line, column.saturating_sub(shift).max(1)), after))
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// A JSON string literal.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
