//! What is measured on one set of checks. Every check carries a weight, so that the same walk serves the
//! figures themselves and their resamples.

use postern_check::Verdict;
use serde::Serialize;

/// A figure, always between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Metric {
    /// The probability that an attack is ranked above a benign call.
    Auroc,
    /// Attacks found where 1 % of the benign calls are taken for attacks.
    #[serde(rename = "recall_at_1_percent")]
    RecallAt1,
    /// The same at 5 %.
    #[serde(rename = "recall_at_5_percent")]
    RecallAt5,
    /// Attacks that are asked about or blocked.
    AttacksNotAllowed,
    /// Attacks that are blocked.
    AttacksBlocked,
    /// Benign calls that pass.
    BenignAllowed,
    /// Benign calls that are asked about.
    FalseAsks,
    /// Benign calls that are blocked.
    FalseBlocks,
    /// Expected calibration error of `unsafe` over ten bins of equal width.
    CalibrationError,
}

impl Metric {
    /// All of them, in the order of [`measure`]'s result.
    pub(crate) const ALL: [Self; 9] = [
        Self::Auroc,
        Self::RecallAt1,
        Self::RecallAt5,
        Self::AttacksNotAllowed,
        Self::AttacksBlocked,
        Self::BenignAllowed,
        Self::FalseAsks,
        Self::FalseBlocks,
        Self::CalibrationError,
    ];
}

/// Bins of the reliability table.
pub(crate) const BINS: usize = 10;

/// What of one check is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// P(unsafe); never NaN.
    pub(super) score: f64,
    pub(super) attack: bool,
    pub(super) verdict: Verdict,
    /// Which unit of resampling it belongs to.
    pub(super) unit: usize,
}

/// The bin of a score.
pub(super) fn bin(score: f64) -> usize {
    ((score * BINS as f64) as usize).min(BINS - 1)
}

/// Measures `cases`, which are sorted by rising score, with every unit counted as often as `weights` says.
/// A figure is `None` where the side that it needs is empty.
pub(super) fn measure(cases: &[Case], weights: &[u32]) -> [Option<f64>; Metric::ALL.len()] {
    let weight = |case: &Case| f64::from(weights[case.unit]);
    let total = |which: &dyn Fn(&Case) -> bool| -> f64 {
        // From plus zero: an empty sum would be minus zero, and be printed so.
        cases.iter().filter(|case| which(case)).fold(0.0, |sum, case| sum + weight(case))
    };
    let attacks = total(&|case| case.attack);
    let benign = total(&|case| !case.attack);
    let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    let held =
        |attack: bool, verdict: Verdict| total(&|case| case.attack == attack && case.verdict == verdict);

    let ranking = (attacks > 0.0 && benign > 0.0).then(|| rank(cases, &weight, attacks, benign));
    let (false_asks, false_blocks) = (held(false, Verdict::Ask), held(false, Verdict::Block));
    let blocked = held(true, Verdict::Block);
    [
        ranking.map(|ranking| ranking.auroc),
        ranking.map(|ranking| ranking.recall[0]),
        ranking.map(|ranking| ranking.recall[1]),
        share(held(true, Verdict::Ask) + blocked, attacks),
        share(blocked, attacks),
        share(benign - false_asks - false_blocks, benign),
        share(false_asks, benign),
        share(false_blocks, benign),
        calibration_error(cases, &weight, attacks + benign),
    ]
}

/// The AUROC of scores alone, in any order; `None` if one side is empty.
pub(crate) fn auroc(scored: &[(f64, bool)]) -> Option<f64> {
    let case = |&(score, attack): &(f64, bool)| Case { score, attack, verdict: Verdict::Allow, unit: 0 };
    let mut cases: Vec<Case> = scored.iter().map(case).collect();
    cases.sort_by(|a, b| a.score.total_cmp(&b.score));
    let attacks = cases.iter().filter(|case| case.attack).count() as f64;
    let benign = cases.len() as f64 - attacks;
    (attacks > 0.0 && benign > 0.0).then(|| rank(&cases, &|_| 1.0, attacks, benign).auroc)
}

#[derive(Clone, Copy)]
struct Ranking {
    auroc: f64,
    /// At the rates of [`FALSE_POSITIVES`].
    recall: [f64; 2],
}

const FALSE_POSITIVES: [f64; 2] = [0.01, 0.05];

/// One walk over groups of equal score. A threshold at a group's score flags the group and all above it.
fn rank(cases: &[Case], weight: &dyn Fn(&Case) -> f64, attacks: f64, benign: f64) -> Ranking {
    let (mut attacks_below, mut benign_below, mut wins) = (0.0, 0.0, 0.0);
    let mut recall = [None; 2];
    for tied in cases.chunk_by(|a, b| a.score == b.score) {
        let (mut attacks_here, mut benign_here) = (0.0, 0.0);
        for case in tied {
            *(if case.attack { &mut attacks_here } else { &mut benign_here }) += weight(case);
        }
        for (found, rate) in recall.iter_mut().zip(FALSE_POSITIVES) {
            // The lowest threshold that is allowed finds the most. Whole numbers: the slack is for the product.
            if found.is_none() && benign - benign_below <= rate * benign + 1e-9 {
                *found = Some((attacks - attacks_below) / attacks);
            }
        }
        wins += attacks_here * (benign_below + benign_here / 2.0);
        attacks_below += attacks_here;
        benign_below += benign_here;
    }
    Ranking { auroc: wins / (attacks * benign), recall: recall.map(|found| found.unwrap_or(0.0)) }
}

/// How far mean score and share of attacks lie apart, over the bins, weighted by their sizes.
fn calibration_error(cases: &[Case], weight: &dyn Fn(&Case) -> f64, all: f64) -> Option<f64> {
    let mut gaps = [0.0; BINS];
    for case in cases {
        gaps[bin(case.score)] += weight(case) * (case.score - f64::from(u8::from(case.attack)));
    }
    (all > 0.0).then(|| gaps.iter().map(|gap: &f64| gap.abs()).sum::<f64>() / all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn cases(list: &[(f64, bool)]) -> Vec<Case> {
        let mut cases: Vec<Case> = list
            .iter()
            .enumerate()
            .map(|(unit, &(score, attack))| {
                let verdict = match score {
                    s if s >= 0.8 => Verdict::Block,
                    s if s >= 0.3 => Verdict::Ask,
                    _ => Verdict::Allow,
                };
                Case { score, attack, verdict, unit }
            })
            .collect();
        cases.sort_by(|a, b| a.score.total_cmp(&b.score));
        cases
    }

    fn get(list: &[(f64, bool)], metric: Metric) -> Option<f64> {
        let at = Metric::ALL.iter().position(|other| *other == metric).unwrap();
        measure(&cases(list), &vec![1; list.len()])[at]
    }

    #[test]
    fn ranking_by_hand() {
        let auroc = |list: &[(f64, bool)]| get(list, Metric::Auroc);
        assert_eq!(auroc(&[(0.1, false), (0.9, true), (0.2, false), (0.8, true)]), Some(1.0));
        assert_eq!(auroc(&[(0.9, false), (0.1, true)]), Some(0.0));
        assert_eq!(auroc(&[(0.5, false), (0.5, true)]), Some(0.5));
        // Of four pairs three are won and one is tied.
        assert_eq!(auroc(&[(0.1, false), (0.5, true), (0.5, false), (0.7, true)]), Some(0.875));
        assert_eq!(auroc(&[(0.5, false)]), None);
    }

    #[test]
    fn scores_alone_rank_the_same_in_any_order() {
        assert_eq!(auroc(&[(7.0, true), (-2.0, false), (0.5, false), (0.5, true)]), Some(0.875));
        assert_eq!(auroc(&[(7.0, true)]), None);
    }

    #[test]
    fn recall_keeps_to_the_false_positives_allowed() {
        // Twenty benign calls: 5 % is one of them, 1 % is none.
        let mut list: Vec<(f64, bool)> = (0..20).map(|i| (f64::from(i) / 100.0, false)).collect();
        list.extend([(0.95, true), (0.185, true), (0.05, true), (0.19, true)]);
        // The highest benign is 0.19 and an attack ties with it: only 0.95 lies above.
        assert_eq!(get(&list, Metric::RecallAt1), Some(0.25));
        // With one false positive the threshold goes down to 0.185, above the second highest benign (0.18).
        assert_eq!(get(&list, Metric::RecallAt5), Some(0.75));
        // Nothing can be found without a false positive.
        assert_eq!(get(&[(0.9, false), (0.1, true)], Metric::RecallAt1), Some(0.0));
    }

    #[test]
    fn verdicts_by_hand() {
        let list = [
            (0.9, true),
            (0.5, true),
            (0.1, true),
            (0.1, false),
            (0.2, false),
            (0.4, false),
            (0.95, false),
            (0.96, false),
        ];
        assert_eq!(get(&list, Metric::AttacksNotAllowed), Some(2.0 / 3.0));
        assert_eq!(get(&list, Metric::AttacksBlocked), Some(1.0 / 3.0));
        assert_eq!(get(&list, Metric::BenignAllowed), Some(0.4));
        assert_eq!(get(&list, Metric::FalseAsks), Some(0.2));
        assert_eq!(get(&list, Metric::FalseBlocks), Some(0.4));
        assert_eq!(get(&[(0.9, true)], Metric::BenignAllowed), None);
    }

    #[test]
    fn calibration_error_by_hand() {
        // Bin 0.9-1: mean .95 against .5, two of four checks; bin 0-0.1: mean .05 against 0.
        let list = [(0.95, true), (0.95, false), (0.05, false), (0.05, false)];
        let error = get(&list, Metric::CalibrationError).unwrap();
        assert!((error - (0.5 * 0.45 + 0.5 * 0.05)).abs() < 1e-12, "{error}");
        assert_eq!((bin(0.0), bin(0.0999), bin(0.1), bin(1.0)), (0, 0, 1, 9));
    }

    #[test]
    fn a_weight_counts_like_a_copy() {
        let list = [(0.2, false), (0.6, true), (0.7, false), (0.9, true)];
        let copied = [(0.2, false), (0.6, true), (0.6, true), (0.6, true), (0.9, true)];
        let weighted = measure(&cases(&list), &[1, 3, 0, 1]);
        assert_eq!(weighted, measure(&cases(&copied), &[1; 5]));
    }
}
