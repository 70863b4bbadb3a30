//! The figures of a whole evaluation: the same ones over all checks and over every part of them.

use std::collections::BTreeMap;

use postern_check::{BlastRadius, Scores, Verdict};
use serde::Serialize;

use super::bootstrap::{Estimate, Resampling};
use super::metrics::{BINS, Case, Metric, bin, measure};
use super::tasks::{self, Share, TaskFigures};
use super::{is_attack, verdict};
use crate::train::data::{Labelled, Policy};

/// A check with what became of it.
#[derive(Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) labelled: &'a Labelled,
    pub(super) score: f64,
    pub(super) verdict: Verdict,
}

impl<'a> Judged<'a> {
    fn new(labelled: &'a Labelled, scores: &Scores) -> Self {
        // No number is no reason to trust: it counts as the worst.
        let score = if scores.unsafe_.is_nan() { 1.0 } else { f64::from(scores.unsafe_).clamp(0.0, 1.0) };
        Self { labelled, score, verdict: verdict(labelled, scores) }
    }
}

/// Everything that one evaluation says.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figures {
    /// Over all checks.
    pub(crate) all: Slice,
    /// Over calls whose label says that they change something.
    pub(crate) side_effects: Slice,
    pub(crate) sources: Vec<Slice>,
    /// By suite or tool family.
    pub(crate) groups: Vec<Slice>,
    pub(crate) kinds: Vec<Slice>,
    /// By the effect that the label gives.
    pub(crate) effects: Vec<Slice>,
    pub(crate) reliability: Vec<Bin>,
    /// Checks that a person should decide, and how many of them do not just pass.
    pub(crate) for_a_person: Share,
    /// How often the likeliest effect is the label's, where there is one.
    pub(crate) effect_right: Option<f64>,
}

/// The figures of a part of the checks.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Slice {
    pub(crate) name: String,
    pub(crate) checks: usize,
    pub(crate) attacks: usize,
    pub(crate) benign: usize,
    /// Those that can be known here.
    pub(crate) metrics: BTreeMap<Metric, Estimate>,
    /// `None` where no check knows its task.
    pub(crate) tasks: Option<TaskFigures>,
}

/// A row of the reliability table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Bin {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) checks: usize,
    /// `None` in an empty bin, as is the next.
    pub(crate) mean_score: Option<f64>,
    pub(crate) attacks: Option<f64>,
}

impl Figures {
    /// Compares labels with scores, which stand in the same order.
    pub(crate) fn new(checks: &[Labelled], scores: &[Scores], how: Resampling) -> Self {
        let judged: Vec<Judged> =
            checks.iter().zip(scores).map(|(labelled, scores)| Judged::new(labelled, scores)).collect();
        let all: Vec<&Judged> = judged.iter().collect();
        let changing =
            |judged: &&Judged| judged.labelled.labels.effect.is_some_and(BlastRadius::has_side_effects);
        let side_effects: Vec<&Judged> = all.iter().copied().filter(changing).collect();
        // The number only puts parts in order.
        let by = |key: &dyn Fn(&Labelled) -> Option<(usize, String)>| -> Vec<Slice> {
            let mut parts: BTreeMap<(usize, String), Vec<&Judged>> = BTreeMap::new();
            for judged in &judged {
                if let Some(key) = key(judged.labelled) {
                    parts.entry(key).or_default().push(judged);
                }
            }
            parts.into_iter().map(|((_, name), part)| Slice::new(name, &part, how)).collect()
        };
        let labels = checks.iter().zip(scores).filter_map(|(l, s)| Some(l.labels.effect? == s.effect));
        let (right, known) = labels.fold((0, 0), |(right, known), r| (right + usize::from(r), known + 1));
        let person: Vec<&Judged> =
            all.iter().copied().filter(|j| j.labelled.labels.policy == Some(Policy::RequireHuman)).collect();
        Self {
            all: Slice::new("all".into(), &all, how),
            side_effects: Slice::new("side effects".into(), &side_effects, how),
            sources: by(&|labelled| Some((0, labelled.source.clone()))),
            groups: by(&|labelled| Some((0, labelled.group.clone()))),
            kinds: by(&|labelled| Some((0, labelled.kind.clone()))),
            effects: by(&|labelled| {
                labelled.labels.effect.map(|effect| (effect as usize, effect_name(effect).into()))
            }),
            reliability: reliability(&judged),
            for_a_person: tasks::held(&person, how),
            effect_right: (known > 0).then(|| right as f64 / known as f64),
        }
    }
}

impl Slice {
    fn new(name: String, part: &[&Judged], how: Resampling) -> Self {
        let (units, unit_of) = tasks::units(part);
        let mut cases: Vec<Case> = part
            .iter()
            .zip(&unit_of)
            .filter_map(|(judged, &unit)| {
                let (score, verdict) = (judged.score, judged.verdict);
                is_attack(judged.labelled).map(|attack| Case { score, attack, verdict, unit })
            })
            .collect();
        cases.sort_by(|a, b| a.score.total_cmp(&b.score));
        let attacks = cases.iter().filter(|case| case.attack).count();
        let estimates = how.estimate(units, |weights| measure(&cases, weights));
        let metrics = Metric::ALL.into_iter().zip(estimates);
        Self {
            name,
            checks: part.len(),
            attacks,
            benign: cases.len() - attacks,
            metrics: metrics.filter_map(|(metric, estimate)| Some((metric, estimate?))).collect(),
            tasks: TaskFigures::new(part, how),
        }
    }

    /// One of its figures, if it can be known.
    pub(crate) fn get(&self, metric: Metric) -> Option<Estimate> {
        self.metrics.get(&metric).copied()
    }
}

fn effect_name(effect: BlastRadius) -> &'static str {
    match effect {
        BlastRadius::None => "none",
        BlastRadius::Read => "read",
        BlastRadius::Write => "write",
        BlastRadius::ExternalSend => "external_send",
        BlastRadius::Irreversible => "irreversible",
    }
}

fn reliability(judged: &[Judged]) -> Vec<Bin> {
    (0..BINS)
        .map(|at| {
            let inside: Vec<(f64, bool)> = judged
                .iter()
                .filter(|judged| bin(judged.score) == at)
                .filter_map(|judged| Some((judged.score, is_attack(judged.labelled)?)))
                .collect();
            let count = inside.len();
            let share = |sum: f64| (count > 0).then(|| sum / count as f64);
            Bin {
                from: at as f64 / BINS as f64,
                to: (at + 1) as f64 / BINS as f64,
                checks: count,
                mean_score: share(inside.iter().map(|(score, _)| score).sum()),
                attacks: share(inside.iter().filter(|(_, attack)| *attack).count() as f64),
            }
        })
        .collect()
}
