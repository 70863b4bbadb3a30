//! How things look to people: colours, tables, errors. Standard output is for results, everything
//! else goes to standard error.

use super::print::{eprintln, println};
use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table};
use owo_colors::OwoColorize;
use postern_check::Verdict;
use serde_json::{Value, json};

use super::exit::Exit;
use crate::{CallReport, Error, Report};

/// The most of a value that is shown in one line.
const LINE: usize = 100;

/// Says what went wrong: on standard error for people, as a document on standard output for machines.
pub(super) fn error(error: &Error, json: bool) -> Exit {
    if json {
        print_json(
            &json!({"outcome": "error", "error": {"code": error.code(), "message": error.to_string(), "hint": error.hint()}}),
        );
    } else {
        eprintln!("{} {error}", "error:".red().bold());
        if let Some(hint) = error.hint() {
            eprintln!("{} {hint}", " hint:".cyan().bold());
        }
    }
    Exit::from(error)
}

/// One document.
pub(super) fn print_json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => println!("{text}"),
        Err(e) => eprintln!("{} the answer cannot be written as JSON: {e}", "error:".red().bold()),
    }
}

/// One call, when it has its answer.
pub(super) fn live_call(call: &CallReport) {
    eprintln!("  {} {} {}  {:.0} ms", mark(call), one_line(&call.tool), why(call).dimmed(), call.ms);
}

/// A finished run.
pub(super) fn report(report: &Report, records: bool) {
    use std::io::Write as _;
    let _ = write!(anstream::stdout(), "{}", harmless(&report.stdout));
    if report.stdout_truncated {
        note(&format!("standard output was cut; it was {} bytes long", report.stdout_bytes));
    }
    let _ = write!(anstream::stderr(), "{}", harmless(&report.stderr));
    if report.stderr_truncated {
        note(&format!("standard error was cut; it was {} bytes long", report.stderr_bytes));
    }
    if let Some(error) = &report.error {
        let place = match (error.line, error.column) {
            (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
            (Some(line), None) => format!(" (line {line})"),
            _ => String::new(),
        };
        eprintln!("{} {}: {}{place}", "error:".red().bold(), harmless(&error.name), harmless(&error.message));
        if !error.stack.is_empty() {
            eprintln!("{}", harmless(error.stack.trim_end()).dimmed());
        }
    } else if !report.value.is_null() {
        match &report.value {
            Value::String(text) => println!("{}", harmless(text)),
            value => print_json(value),
        }
    }
    for warning in &report.warnings {
        eprintln!("{} {}", "warning:".yellow().bold(), harmless(warning));
    }
    if !report.calls.is_empty() {
        eprintln!("\n{}", calls(&report.calls));
    }
    for call in &report.calls {
        if let Some(label) = &call.result_label {
            note(&format!("the result of {} has {}", one_line(&call.tool), label.describe()));
        }
    }
    if !report.artifacts.is_empty() {
        eprintln!("\n{}", "artifacts proposed".bold());
        for artifact in &report.artifacts {
            eprintln!(
                "  {}  {} bytes  sha256 {}",
                one_line(&artifact.path),
                artifact.bytes,
                &artifact.sha256[..16]
            );
        }
    }
    let usage = &report.usage;
    let record = if records { format!(" · postern record show {}", report.run) } else { String::new() };
    eprintln!(
        "\n{} · {:.0} ms · {:.0} ms computing · {} · {} calls{record}",
        outcome(report),
        usage.wall_ms,
        usage.cpu_ms,
        crate::config::units::show_bytes(usage.memory_bytes),
        usage.calls,
    );
}

/// The name by which documents know it.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Enough of a digest to tell it from others.
pub(super) fn short_digest(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

fn outcome(report: &Report) -> String {
    let name = word(&report.outcome);
    match report.outcome {
        crate::Outcome::Ok => name.green().bold().to_string(),
        _ => name.red().bold().to_string(),
    }
}

/// The table of calls: tool, verdict, why, ms. For standard error.
fn calls(calls: &[CallReport]) -> Table {
    let mut table = table(&["tool", "verdict", "why", "ms"]);
    table.use_stderr();
    for call in calls {
        let verdict = Cell::new(call.verdict).fg(match call.verdict {
            Verdict::Allow => Color::Green,
            Verdict::Ask => Color::Yellow,
            Verdict::Block => Color::Red,
        });
        let ms = Cell::new(format!("{:.0}", call.ms)).set_alignment(CellAlignment::Right);
        table.add_row([Cell::new(one_line(&call.tool)), verdict, Cell::new(why(call)), ms]);
    }
    table
}

pub(super) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    table
}

pub(super) fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::Allow => verdict.green().to_string(),
        Verdict::Ask => verdict.yellow().to_string(),
        Verdict::Block => verdict.red().bold().to_string(),
    }
}

fn mark(call: &CallReport) -> String {
    match (&call.code, call.verdict) {
        (None, _) => "✓".green().to_string(),
        (Some(_), Verdict::Block) => "✗".red().bold().to_string(),
        (Some(_), _) => "!".yellow().to_string(),
    }
}

fn why(call: &CallReport) -> String {
    let reasons: Vec<&str> = call.reasons.iter().map(|reason| reason.message.as_str()).collect();
    let text = match (&call.code, reasons.is_empty()) {
        (Some(code), true) => code.clone(),
        (Some(code), false) if call.reasons[0].code == *code => reasons.join("; "),
        (Some(code), false) => format!("{code}: {}", reasons.join("; ")),
        (None, true) => call.scores.as_ref().map(|s| format!("unsafe {:.2}", s.unsafe_)).unwrap_or_default(),
        (None, false) if call.verdict == Verdict::Allow => reasons.join("; "),
        (None, false) => format!("approved; asked because {}", reasons.join("; ")),
    };
    one_line(&text)
}

/// Without line breaks and control characters, and not too long.
pub(super) fn one_line(text: &str) -> String {
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if flat.chars().count() <= LINE {
        return flat;
    }
    flat.chars().take(LINE - 1).chain(['…']).collect()
}

/// What a script or a server wrote, without the control characters that would let it move the
/// cursor, change the title or repaint what Postern says.
pub(super) fn harmless(text: &str) -> String {
    let text = anstream::adapter::strip_str(text).to_string();
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

pub(super) fn note(text: &str) {
    eprintln!("{} {text}", "note:".cyan().bold());
}
