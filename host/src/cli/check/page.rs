//! An answer of the guard as people read it: the verdict and why, the scores as bars, the arguments, the orders.
//!
//! Values and quoted text were written by others. Nothing of them may reach the page but through `visible`.

use std::fmt::Write as _;

use comfy_table::{Cell, Color};
use owo_colors::OwoColorize;
use postern_check::evidence::Match;
use postern_check::{BlastRadius, Facts, Judgement, ModelInfo, PolicyHead, Scores, Thresholds};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::show;
use super::explain::{Argument, Explained, OrderSeen, grounding_counts, reasons};
use crate::visible::visible;

/// The cells of a bar.
const BAR: usize = 24;
/// Most orders that are shown.
const ORDERS: usize = 3;
/// Orders that are weaker and lend the call no value are not shown: mails ask for things all the time.
const STRONG: f32 = 1.2;
/// Most arguments that are shown.
const ARGUMENTS: usize = 40;

/// What the page shows.
pub(super) struct Page<'a> {
    pub(super) judgement: &'a Judgement,
    pub(super) scores: &'a Scores,
    pub(super) thresholds: &'a Thresholds,
    pub(super) facts: Facts,
    pub(super) explained: &'a Explained,
    pub(super) model: &'a ModelInfo,
    pub(super) ms: f64,
}

impl Page<'_> {
    /// The page, with colours; whoever prints it takes them out where nobody would see them.
    pub(super) fn render(&self, width: usize) -> String {
        let width = width.clamp(60, 140);
        let mut out = self.verdict();
        let _ = write!(out, "\n{}\n{}", "Scores".bold(), self.scores());
        if !self.explained.arguments.is_empty() {
            let _ = write!(out, "\n{}\n{}", "Arguments".bold(), self.arguments(width));
        }
        let orders: Vec<&OrderSeen> = self
            .explained
            .orders
            .iter()
            .filter(|order| order.strength >= STRONG || order.follows.values > 0.0)
            .take(ORDERS)
            .collect();
        if !orders.is_empty() {
            let _ = writeln!(out, "\n{}", "What reads like orders".bold());
            orders.into_iter().for_each(|order| out.push_str(&shown_order(order, width)));
        }
        let model = self.model;
        let digest = model.sha256.get(..12).unwrap_or(&model.sha256);
        let summary = format!("model {} ({digest}) on {} · {:.0} ms", model.version, model.device, self.ms);
        let _ = writeln!(out, "\n{}", summary.dimmed());
        out
    }

    fn verdict(&self) -> String {
        let reasons = reasons(self.judgement, self.scores, self.thresholds);
        let mut out = show::verdict(self.judgement.verdict);
        for (index, reason) in reasons.iter().enumerate() {
            if index == 0 {
                let _ = writeln!(out, ": {reason}");
            } else {
                let _ = writeln!(out, "  {} {reason}", "also".dimmed());
            }
        }
        out
    }

    fn scores(&self) -> String {
        let Self { scores, thresholds, .. } = self;
        let mut out = String::new();
        let legend = format!("┊ ask {:.2}  ┃ block {:.2}", thresholds.ask_unsafe, thresholds.block_unsafe);
        let marks = [(thresholds.ask_unsafe, '┊'), (thresholds.block_unsafe, '┃')];
        out.push_str(&line("unsafe", scores.unsafe_, &marks, &legend));
        out.push_str(&line("injected", scores.injected, &[], ""));
        out.push_str(&line("exfiltration", scores.exfiltration, &[], ""));
        let legend = format!("┊ ask below {:.2}", thresholds.ask_ungrounded);
        let marks = [(thresholds.ask_ungrounded, '┊')];
        if grounding_counts(scores, self.facts) {
            out.push_str(&line("args_grounded", scores.args_grounded, &marks, &legend));
        } else {
            out.push_str(&line("args_grounded", scores.args_grounded, &[], ""));
        }
        out.push_str(&line("blast_radius", scores.blast_radius, &[], effect(scores.effect)));
        let policy = &scores.approval_policy;
        let likeliest = policy.likeliest();
        for (name, value, head) in [
            ("policy: allow", policy.allow, PolicyHead::Allow),
            ("policy: require_human", policy.require_human, PolicyHead::RequireHuman),
            ("policy: reject", policy.reject, PolicyHead::Reject),
        ] {
            let legend = match (head == likeliest, thresholds.policy_head) {
                (true, true) => "likeliest",
                (true, false) => "likeliest; not counted (guard.thresholds.policy_head)",
                (false, _) => "",
            };
            out.push_str(&line(name, value, &[], legend));
        }
        out
    }

    fn arguments(&self, width: usize) -> String {
        let mut table = show::table(&["path", "value", "origin", "found", "marks"]);
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        for argument in self.explained.arguments.iter().take(ARGUMENTS) {
            let (origin, color) = origin(argument);
            let mut cell = Cell::new(origin);
            if let Some(color) = color {
                cell = cell.fg(color);
            }
            table.add_row([
                Cell::new(shortened(&argument.path, 24)),
                Cell::new(shortened(&argument.value, width / 3)),
                cell,
                Cell::new(argument.found.map_or("", found)),
                Cell::new(marks(argument)),
            ]);
        }
        let mut out = table.trim_fmt();
        out.push('\n');
        let more = self.explained.arguments.len().saturating_sub(ARGUMENTS) + self.explained.left_out;
        if more > 0 {
            let _ = writeln!(out, " {}", format!("and {more} more").dimmed());
        }
        out
    }
}

/// A score as a bar, with thresholds marked in it.
fn line(name: &str, value: f32, marks: &[(f32, char)], legend: &str) -> String {
    let filled = (value.clamp(0.0, 1.0) * BAR as f32).round() as usize;
    let mut bar: Vec<char> = (0..BAR).map(|cell| if cell < filled { '█' } else { '·' }).collect();
    for &(at, mark) in marks {
        let cell = ((at.clamp(0.0, 1.0) * BAR as f32) as usize).min(BAR - 1);
        bar[cell] = mark;
    }
    let full: String = bar[..filled].iter().collect();
    let empty: String = bar[filled..].iter().collect();
    let gap = if legend.is_empty() { "" } else { "  " };
    format!("  {name:22} {value:5.2}  {full}{}{gap}{}\n", empty.dimmed(), legend.dimmed())
}

fn effect(effect: BlastRadius) -> &'static str {
    match effect {
        BlastRadius::None => "changes nothing",
        BlastRadius::Read => "reads",
        BlastRadius::Write => "writes",
        BlastRadius::ExternalSend => "sends something out",
        BlastRadius::Irreversible => "cannot be undone",
    }
}

/// Where an argument comes from, and how bad that is.
fn origin(argument: &Argument) -> (String, Option<Color>) {
    let tool = argument.tool.as_deref().map_or_else(|| "the context".into(), |tool| shortened(tool, 30));
    match argument.origin {
        None => ("-".into(), None),
        Some(name @ ("user" | "constraint" | "script")) => (name.into(), Some(Color::Green)),
        Some("trusted") => (format!("trusted {tool}"), Some(Color::Green)),
        Some("field") => (format!("field of {tool}"), None),
        Some("text") => (format!("text of {tool}"), Some(Color::Yellow)),
        Some("order") => (format!("order in {tool}"), Some(Color::Red)),
        Some(other) => (other.into(), Some(Color::Yellow)),
    }
}

fn found(found: Match) -> &'static str {
    match found {
        Match::Exact => "as it is",
        Match::Form => "other form",
        Match::Words => "by its words",
        Match::Meant => "as meant",
        Match::None => "",
    }
}

/// What else is to be said of an argument.
fn marks(argument: &Argument) -> String {
    let mut out: Vec<String> = Vec::new();
    if argument.authority {
        out.push("authority".into());
    }
    if argument.ordered > 0.0 && argument.origin != Some("order") {
        out.push("also in an order".into());
    }
    if argument.outside_rules {
        out.push("outside the rules' domains".into());
    } else if argument.foreign_domain {
        out.push("foreign domain".into());
    }
    if argument.hidden > 0 {
        out.push(format!("{} hidden or look-alike characters", argument.hidden));
    }
    if argument.copied >= 0.5 {
        out.push(format!("{:.0} % copied from results", argument.copied * 100.0));
    }
    for decoded in argument.decoded.iter().take(2) {
        out.push(format!("{} decoded: \"{}\"", decoded.form, shortened(&decoded.text, 60)));
    }
    out.join(", ")
}

/// One order: whose it is and what speaks for it, then its text.
fn shown_order(order: &OrderSeen, width: usize) -> String {
    let tool = order.tool.as_deref().map_or_else(|| "the context".into(), |tool| shortened(tool, 40));
    let mut head = vec![format!("strength {:.1}", order.strength)];
    if order.decoded {
        head.push("encoded or hidden".into());
    }
    head.extend(order.signs.iter().map(|sign| in_words(sign).into()));
    let follows = &order.follows;
    let mut followed: Vec<String> = Vec::new();
    if follows.names_tool {
        followed.push("the tool by its name".into());
    } else if follows.act {
        followed.push("the act".into());
    }
    if follows.values > 0.0 {
        followed.push(format!("{:.0} % of the values", follows.values * 100.0));
    }
    if follows.args > 0.0 {
        followed.push(format!("{:.0} % of the words", follows.args * 100.0));
    }
    let followed = if followed.is_empty() {
        "the call has nothing of it".to_string()
    } else {
        format!("the call has of it: {}", followed.join(", "))
    };
    let head = format!("{}: {}; {followed}", tool, head.join(", "));
    let plain = |text: &str| text.chars().map(|c| (c, false)).collect::<Vec<_>>();
    let mut out = wrapped(&plain(&head), 2, width);
    let mut quote = plain("\"");
    let mut at = 0;
    for marked in &order.marked {
        quote.extend(flat(&order.text[at..marked.start]).map(|c| (c, false)));
        quote.extend(flat(&order.text[marked.clone()]).map(|c| (c, true)));
        at = marked.end;
    }
    quote.extend(flat(&order.text[at..]).map(|c| (c, false)));
    quote.push(('"', false));
    out.push_str(&wrapped(&quote, 4, width));
    out
}

fn in_words(sign: &str) -> &str {
    match sign {
        "to_assistant" => "speaks to an assistant",
        "overrides" => "sets other instructions aside",
        "authority" => "claims authority",
        "urgent" => "presses",
        "markup" => "stands out by markup",
        other => other,
    }
}

/// With line ends and tabs as spaces, everything else made visible.
fn flat(text: &str) -> std::vec::IntoIter<char> {
    let spaced: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    visible(&spaced).chars().collect::<Vec<_>>().into_iter()
}

/// Wraps at spaces, indented; the marked characters stand out.
fn wrapped(text: &[(char, bool)], indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut lines: Vec<Vec<(char, bool)>> = vec![Vec::new()];
    let mut used = 0;
    let cells = |word: &[(char, bool)]| word.iter().map(|(c, _)| c.width().unwrap_or(0)).sum::<usize>();
    for word in text.split(|(c, _)| *c == ' ').filter(|word| !word.is_empty()) {
        let size = cells(word);
        if used > 0 && used + 1 + size > room {
            lines.push(Vec::new());
            used = 0;
        }
        for (index, &(c, marked)) in word.iter().enumerate() {
            let size = c.width().unwrap_or(0);
            if used + size > room {
                // A word that is longer than a line.
                lines.push(Vec::new());
                used = 0;
            }
            let Some(line) = lines.last_mut() else { continue };
            if index == 0 && used > 0 {
                line.push((' ', marked && line.last().is_some_and(|(_, before)| *before)));
                used += 1;
            }
            line.push((c, marked));
            used += size;
        }
    }
    let mut out = String::new();
    for line in lines {
        out.push_str(&" ".repeat(indent));
        for run in line.chunk_by(|(_, one), (_, other)| one == other) {
            let words: String = run.iter().map(|(c, _)| c).collect();
            if run[0].1 {
                let _ = write!(out, "{}", words.red().bold());
            } else {
                out.push_str(&words);
            }
        }
        out.push('\n');
    }
    out
}

/// A text in one line of at most so many cells; of a long one the beginning and the end.
fn shortened(text: &str, cells: usize) -> String {
    let head: String = text.chars().take(cells + 1).collect();
    if head.len() == text.len() {
        let whole = visible(text);
        if whole.width() <= cells {
            return whole;
        }
    }
    let mut tail: Vec<char> = text.chars().rev().take(cells).collect();
    tail.reverse();
    let tail = visible(&tail.into_iter().collect::<String>());
    let (first, last) = (cells.saturating_sub(1) * 2 / 3, cells.saturating_sub(1) / 3);
    let head = fitting(visible(&head).chars(), first);
    let tail = fitting(tail.chars().rev(), last);
    head.into_iter().chain(['…']).chain(tail.into_iter().rev()).collect()
}

/// As many characters as fit.
fn fitting(chars: impl Iterator<Item = char>, cells: usize) -> Vec<char> {
    let mut left = cells;
    chars
        .take_while(|c| match left.checked_sub(c.width().unwrap_or(0)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
        .collect()
}

/// How wide the page may be.
pub(super) fn width() -> usize {
    comfy_table::Table::new().width().map_or(100, usize::from)
}
