//! Places: lines and columns, and the way from a place in a prepared source back to the user's text.
//! Lines and columns are counted from 1 outside, from 0 inside; columns are characters.

use std::collections::BTreeMap;

use super::{PYTHON_SOURCE_NAME, SOURCE_NAME};

/// The way back from a prepared source to the text it came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineMap {
    /// Lines of the text above the script.
    above: u32,
    /// What was done to the script, in order.
    steps: Vec<Step>,
}

/// One rewriting of a text, seen from its result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// Line of the result -> what its parts were, by the column where they begin.
    segments: BTreeMap<u32, Vec<Segment>>,
    /// What is on a line without segments: itself, or nothing that was there before.
    kept: bool,
    /// How many lines the result has that were there before.
    lines: u32,
}

/// From `column` on, the result shows what was at `line` and `from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) column: u32,
    pub(super) line: u32,
    pub(super) from: u32,
    /// The characters that follow are those that followed there.
    pub(super) copied: bool,
}

impl LineMap {
    /// A script that begins `above` lines below the top of its text.
    pub(super) fn below(above: u32) -> Self {
        Self { above, steps: Vec::new() }
    }

    /// The same, with one more thing done.
    pub(super) fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Where in the user's own text `line` and `column` of the source come from, all from 1. Nothing
    /// if the place was added while preparing.
    pub fn original(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let mut place = (line.checked_sub(1)?, column.saturating_sub(1));
        for step in self.steps.iter().rev() {
            place = step.back(place)?;
        }
        Some((place.0 + self.above + 1, place.1 + 1))
    }

    /// A stack trace of the source, with every place in it led back to the text, which is called
    /// `name`. A frame that was added while preparing is left out.
    pub fn stack(&self, stack: &str, name: &str) -> String {
        let mut out = String::with_capacity(stack.len());
        for line in stack.lines() {
            let Some(shown) = self.frame(line, name) else { continue };
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&shown);
        }
        out
    }

    /// The same of a traceback as CPython prints it.
    pub fn python_stack(&self, stack: &str, name: &str) -> String {
        let place = format!("File \"{PYTHON_SOURCE_NAME}\", line ");
        let shown = |line: &str| {
            let (before, rest) = line.split_once(&place)?;
            let (line, after) = number(rest)?;
            let line = self.original(line, 1).map_or(line, |(line, _)| line);
            Some(format!("{before}File \"{name}\", line {line}{after}"))
        };
        let lines = stack.lines().map(|line| shown(line).unwrap_or_else(|| line.to_owned()));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn frame(&self, frame: &str, name: &str) -> Option<String> {
        let Some((before, rest)) = frame.split_once(&format!("{SOURCE_NAME}:")) else {
            return Some(frame.to_owned());
        };
        let Some((line, rest)) = number(rest) else { return Some(frame.to_owned()) };
        let (column, after) = rest.strip_prefix(':').and_then(number).unwrap_or((1, rest));
        let (line, column) = self.original(line, column)?;
        Some(format!("{before}{name}:{line}:{column}{after}"))
    }
}

/// The number that `text` begins with, and the rest.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

impl Step {
    fn back(&self, (line, column): (u32, u32)) -> Option<(u32, u32)> {
        if self.kept && line >= self.lines {
            return None;
        }
        let segments = self.segments.get(&line).map_or(&[][..], Vec::as_slice);
        let at = segments.partition_point(|segment| segment.column <= column);
        let Some(segment) =
            at.checked_sub(1).map(|i| &segments[i]).or(if self.kept { None } else { segments.first() })
        else {
            return self.kept.then_some((line, column));
        };
        let beyond = if segment.copied { column.saturating_sub(segment.column) } else { 0 };
        Some((segment.line, segment.from + beyond))
    }

    /// The step of a source map: every line is made of segments.
    pub(super) fn mapped(segments: impl Iterator<Item = (u32, Segment)>) -> Self {
        let mut step = Self::default();
        for (line, segment) in segments {
            step.segments.entry(line).or_default().push(segment);
        }
        step
    }
}

/// Replaces `remove` bytes at `at` by `insert`.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub(super) at: usize,
    pub(super) remove: usize,
    pub(super) insert: String,
}

/// Applies edits that do not overlap. Each keeps the number of lines: what it removes, it must insert
/// the line breaks of. `last` is added on lines of its own.
pub(super) fn apply(text: &str, mut edits: Vec<Edit>, last: &str) -> (String, Step) {
    edits.sort_by_key(|edit| edit.at);
    let mut out = String::with_capacity(text.len() + last.len() + 64 * edits.len());
    let mut step = Step { kept: true, lines: lines(text), ..Step::default() };
    // Where we are, in the text and in the result.
    let mut done = 0;
    let mut old = (0, 0);
    let mut new = (0, 0);
    for edit in &edits {
        let kept = &text[done..edit.at];
        out.push_str(kept);
        old = advance(old, kept);
        new = advance(new, kept);
        let mut mark = |new: (u32, u32), old: (u32, u32), copied| {
            let segment = Segment { column: new.1, line: old.0, from: old.1, copied };
            step.segments.entry(new.0).or_default().push(segment);
        };
        mark(new, old, false);
        done = edit.at + edit.remove;
        out.push_str(&edit.insert);
        new = advance(new, &edit.insert);
        old = advance(old, &text[edit.at..done]);
        mark(new, old, true);
    }
    out.push_str(&text[done..]);
    if !last.is_empty() {
        out.push('\n');
        out.push_str(last);
    }
    (out, step)
}

fn lines(text: &str) -> u32 {
    1 + u32::try_from(text.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX - 1)
}

fn advance((line, column): (u32, u32), over: &str) -> (u32, u32) {
    let characters = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    match over.rsplit_once('\n') {
        Some((_, tail)) => (line + lines(over) - 1, characters(tail)),
        None => (line, column + characters(over)),
    }
}

/// Line and column, from 1, of a byte of a text. A place beyond the end is the end.
pub(super) fn place(text: &str, offset: usize) -> (u32, u32) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let (line, column) = advance((0, 0), &text[..offset]);
    (line + 1, column + 1)
}

/// The line of a place and a caret below it. Of a long line only the part around the place.
pub(super) fn excerpt(text: &str, line: u32, column: u32) -> Option<String> {
    const BEFORE: usize = 60;
    const WIDTH: usize = 100;
    let shown = text.split('\n').nth(line.checked_sub(1)? as usize)?.trim_end_matches('\r');
    let column = (column.saturating_sub(1) as usize).min(shown.chars().count());
    let start = column.saturating_sub(BEFORE);
    let part: String =
        shown.chars().skip(start).take(WIDTH).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let margin = format!("{line} | ");
    Some(format!("{margin}{part}\n{}^", " ".repeat(margin.len() + column - start)))
}
