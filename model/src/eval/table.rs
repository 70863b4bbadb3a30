//! Figures as tables for people.

use std::fmt::Write as _;

use comfy_table::{Attribute, Cell, CellAlignment, Table, presets};

use super::bootstrap::{Estimate, number};
use super::figures::{Figures, Slice};
use super::metrics::Metric;
use super::tasks::{Share, TaskFigures};
use super::{Metric as M, Report};

const COLUMNS: [(&str, Metric); 8] = [
    ("AUROC", M::Auroc),
    ("recall\n1 % FP", M::RecallAt1),
    ("recall\n5 % FP", M::RecallAt5),
    ("attacks\nnot allowed", M::AttacksNotAllowed),
    ("attacks\nblocked", M::AttacksBlocked),
    ("benign\nallowed", M::BenignAllowed),
    ("benign\nblocked", M::FalseBlocks),
    ("calibration\nerror", M::CalibrationError),
];

/// Every figure of an evaluation.
pub(super) fn all(report: &Report) -> String {
    let figures = &report.figures;
    let mut text = format!(
        "{}; model {} ({}); 95 % intervals from {} resamples of whole tasks\n",
        report.data.join(", "),
        report.model.version,
        report.model.sha256.get(..12).unwrap_or_default(),
        report.resamples,
    );
    section(&mut text, "over all checks", &[&figures.all, &figures.side_effects]);
    for (title, slices) in [
        ("by source", &figures.sources),
        ("by suite", &figures.groups),
        ("by kind", &figures.kinds),
        ("by effect", &figures.effects),
    ] {
        section(&mut text, title, &slices.iter().collect::<Vec<_>>());
    }
    tasks(&mut text, figures);
    reliability(&mut text, figures);
    closing(&mut text, figures);
    text
}

/// The figures over all checks, by source and by kind.
pub(super) fn short(title: &str, figures: &Figures) -> String {
    let mut rows = vec![&figures.all, &figures.side_effects];
    rows.extend(&figures.sources);
    rows.extend(&figures.kinds);
    let mut text = String::new();
    section(&mut text, title, &rows);
    closing(&mut text, figures);
    text
}

fn estimate(estimate: Option<Estimate>) -> String {
    let Some(Estimate { value, interval }) = estimate else { return String::new() };
    match interval {
        Some([low, high]) => format!("{}\n{}-{}", number(value), number(low), number(high)),
        None => number(value),
    }
}

fn section(text: &mut String, title: &str, slices: &[&Slice]) {
    let mut header = vec![title, "checks\nattacks"];
    header.extend(COLUMNS.map(|(name, _)| name));
    let rows = slices.iter().filter(|slice| slice.checks > 0).map(|slice| {
        let mut row = vec![slice.name.clone(), format!("{}\n{}", slice.checks, slice.attacks)];
        row.extend(COLUMNS.map(|(_, metric)| estimate(slice.get(metric))));
        row
    });
    table(text, &header, rows);
}

fn tasks(text: &mut String, figures: &Figures) {
    let share = |share: Share| match share.share {
        Some(value) => format!("{}\n{}", share.count, estimate(Some(value))),
        None => "0".into(),
    };
    let row = |slice: &Slice, tasks: &TaskFigures| {
        vec![
            slice.name.clone(),
            share(tasks.stopped),
            share(tasks.uninterrupted),
            share(tasks.uninterrupted_attacked),
            share(tasks.uninterrupted_always),
        ]
    };
    let slices = std::iter::once(&figures.all).chain(&figures.groups);
    let rows: Vec<_> = slices.filter_map(|slice| Some(row(slice, slice.tasks.as_ref()?))).collect();
    let header =
        ["by task", "attacks\nstopped", "tasks not\ninterrupted", "- attacked", "- in all\ntheir runs"];
    if !rows.is_empty() {
        table(text, &header, rows.into_iter());
    }
}

fn reliability(text: &mut String, figures: &Figures) {
    let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
    let rows = figures.reliability.iter().map(|bin| {
        vec![
            format!("{:.1}-{:.1}", bin.from, bin.to),
            bin.checks.to_string(),
            optional(bin.mean_score),
            optional(bin.attacks),
        ]
    });
    table(text, &["unsafe", "checks", "mean", "attacks"], rows);
}

fn closing(text: &mut String, figures: &Figures) {
    let person = figures.for_a_person;
    if let Some(share) = person.share {
        let _ = writeln!(
            text,
            "for a person to decide: {} checks, {} not allowed",
            person.count,
            number(share.value)
        );
    }
    if let Some(right) = figures.effect_right {
        let _ = writeln!(text, "effect right: {}", number(right));
    }
}

fn table(text: &mut String, header: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    for row in rows {
        table.add_row(row.into_iter().map(Cell::new));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let _ = writeln!(text, "\n{table}");
}
