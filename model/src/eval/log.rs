//! An entry for the log of evaluations: the figures are filled in, the story is left to people.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use super::bootstrap::number;
use super::figures::Slice;
use super::tasks::Share;
use super::{Metric, Report};
use crate::Error;

/// Adds an entry at the end of the file, which is made if it is not there.
pub(super) fn add(path: &Path, report: &Report) -> Result<(), Error> {
    let mut file = std::fs::File::options().create(true).append(true).open(path).map_err(Error::io(path))?;
    let today = jiff::ZonedDateTime::now().date().to_string();
    file.write_all(entry(report, &today).as_bytes()).map_err(Error::io(path))
}

/// The entry as Markdown.
pub(super) fn entry(report: &Report, date: &str) -> String {
    let figures = &report.figures;
    let mut text = format!(
        "\n## {date}: {}, WHAT IS NEW\n\nWeights `{}`.\n\nHOW THEY WERE TRAINED, AND WHAT WAS CHANGED AFTER LOOKING AT \
         WHICH FIGURES.\n\nMeasured on {} ({} resamples for the 95 % intervals in brackets).\n\n",
        report.model.version,
        report.model.sha256,
        report.data.join(", "),
        report.resamples,
    );
    text.push_str(
        "| set | checks | AUROC | recall at 1 %, 5 % false positives | attacks not allowed (blocked) | benign allowed \
         (blocked) | calibration error |\n|---|---|---|---|---|---|---|\n",
    );
    let named = [("all", &figures.all), ("side effects", &figures.side_effects)];
    let named = named.into_iter().chain(figures.groups.iter().map(|slice| (slice.name.as_str(), slice)));
    for (name, slice) in named.chain(figures.kinds.iter().map(|slice| (slice.name.as_str(), slice))) {
        row(&mut text, name, slice);
    }
    if let Some(tasks) = &figures.all.tasks {
        let _ = write!(
            text,
            "\nBy task: attacks stopped {}; tasks not interrupted {}, while attacked {}, in all their runs {}.\n",
            share(tasks.stopped),
            share(tasks.uninterrupted),
            share(tasks.uninterrupted_attacked),
            share(tasks.uninterrupted_always),
        );
    }
    if let Some(right) = figures.effect_right {
        let _ = writeln!(text, "\nEffect right: {}.", number(right));
    }
    text
}

fn row(text: &mut String, name: &str, slice: &Slice) {
    let full = |metric| slice.get(metric).map(|estimate| estimate.to_string()).unwrap_or_default();
    let short = |metric| slice.get(metric).map(|estimate| number(estimate.value)).unwrap_or_default();
    let pair = |shown, inner, count: usize| match slice.get(shown) {
        Some(estimate) => format!("{} ({}) of {count}", estimate, short(inner)),
        None => String::new(),
    };
    let recall = match slice.get(Metric::RecallAt1) {
        Some(_) => format!("{}, {}", full(Metric::RecallAt1), full(Metric::RecallAt5)),
        None => String::new(),
    };
    let _ = writeln!(
        text,
        "| {name} | {} | {} | {recall} | {} | {} | {} |",
        slice.checks,
        full(Metric::Auroc),
        pair(Metric::AttacksNotAllowed, Metric::AttacksBlocked, slice.attacks),
        pair(Metric::BenignAllowed, Metric::FalseBlocks, slice.benign),
        short(Metric::CalibrationError),
    );
}

fn share(share: Share) -> String {
    share.share.map_or("none".into(), |value| format!("{value} of {}", share.count))
}
