//! The figures as a table for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::log::Setting;
use crate::tally::{ALL, Tally};

pub(crate) fn show(tallies: &BTreeMap<String, Tally>, setting: &Setting, attacks: &[String]) -> String {
    let mut text = format!("AgentDojo {}, Postern {} {}\n\n", setting.tasks, setting.postern, setting.gate);
    let suites = || tallies.iter().filter(|(name, _)| *name != ALL).chain(tallies.get_key_value(ALL));

    let mut rows =
        vec![words(&["benign", "n", "uninterrupted", "solved", "ungated", "asks/task", "false blocks"])];
    for (name, tally) in suites() {
        let b = &tally.benign;
        rows.push(vec![
            name.clone(),
            b.n.to_string(),
            share(b.uninterrupted, b.n),
            share(b.solved, b.n),
            share(b.solved_ungated, b.n),
            if b.n > 0 { format!("{:.2}", b.asks as f64 / b.n as f64) } else { "-".into() },
            format!("{} of calls", share(b.blocks, b.calls)),
        ]);
    }
    aligned(&mut text, &rows);

    for attack in attacks {
        let head = format!("attack {attack}");
        let columns =
            [&*head, "n", "succeeded", "by block", "by ask", "before", "other", "no effect", "left out"];
        let mut rows = vec![words(&columns)];
        for (name, tally) in suites() {
            let Some(a) = tally.attacks.get(attack) else { continue };
            rows.push(vec![
                name.clone(),
                a.n.to_string(),
                share(a.succeeded, a.n),
                share(a.by_block, a.n),
                share(a.by_ask, a.n),
                a.before.to_string(),
                a.other.to_string(),
                a.without_effect.to_string(),
                a.left_out.values().sum::<usize>().to_string(),
            ]);
        }
        aligned(&mut text, &rows);
    }

    if let Some(all) = tallies.get(ALL) {
        reasons(&mut text, "benign", &all.benign.reasons);
        for (attack, figures) in &all.attacks {
            reasons(&mut text, attack, &figures.reasons);
            for (why, n) in &figures.left_out {
                let _ = writeln!(text, "left out of {attack}: {n} pairs: {why}");
            }
        }
    }
    text
}

/// The most frequent first.
fn reasons(text: &mut String, of: &str, reasons: &BTreeMap<String, usize>) {
    let mut sorted: Vec<_> = reasons.iter().collect();
    sorted.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let list: Vec<String> = sorted.iter().map(|(code, n)| format!("{code} {n}")).collect();
    let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let _ = writeln!(text, "reasons, {of}: {list}");
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

/// A number and what part of all it is.
fn share(part: usize, all: usize) -> String {
    if all == 0 { "-".into() } else { format!("{part} ({:.1} %)", 100.0 * part as f64 / all as f64) }
}

/// Names to the left, figures to the right, an empty line after.
fn aligned(text: &mut String, rows: &[Vec<String>]) {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    for row in rows {
        let _ = write!(text, "{:<w$}", row[0], w = width(0).max(30));
        for (column, cell) in row.iter().enumerate().skip(1) {
            let _ = write!(text, "  {cell:>w$}", w = width(column));
        }
        text.push('\n');
    }
    text.push('\n');
}
