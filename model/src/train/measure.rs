//! Figures on labelled checks: ranking, and what becomes of calls at the default verdict.

use std::collections::BTreeMap;
use std::fmt;

use postern_check::{Facts, Scores, Thresholds, Verdict, judge};

use super::data::Labelled;

/// What became of some checks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    attacks: usize,
    attacks_held: usize,
    attacks_blocked: usize,
    benign: usize,
    benign_allowed: usize,
    benign_blocked: usize,
}

/// Tallies by source and by kind, and the ranking over all.
pub(crate) struct Figures {
    pub(crate) all: Tally,
    pub(crate) auroc: f64,
    by_source: BTreeMap<String, Tally>,
    by_kind: BTreeMap<String, Tally>,
    effect_right: f64,
}

/// What the host would do with a call of these scores, if the tool's definition says nothing.
pub(crate) fn verdict(labelled: &Labelled, scores: &Scores) -> Verdict {
    judge(scores, &Thresholds::default(), Facts::of(&labelled.check.action, None)).verdict
}

/// Whether a label says unsafe; `None` if it says neither.
pub(crate) fn is_attack(labelled: &Labelled) -> Option<bool> {
    match labelled.labels.unsafe_ {
        Some(1.0) => Some(true),
        Some(0.0) => Some(false),
        _ => None,
    }
}

/// Compares labels with scores.
pub(crate) fn figures(checks: &[Labelled], scores: &[Scores]) -> Figures {
    let mut out = Figures {
        all: Tally::default(),
        auroc: 0.0,
        by_source: BTreeMap::new(),
        by_kind: BTreeMap::new(),
        effect_right: 0.0,
    };
    let mut ranked = Vec::new();
    let mut effects = (0, 0);
    for (labelled, scores) in checks.iter().zip(scores) {
        if let Some(effect) = labelled.labels.effect {
            effects.0 += usize::from(effect == scores.effect);
            effects.1 += 1;
        }
        let Some(attack) = is_attack(labelled) else { continue };
        ranked.push((scores.unsafe_, attack));
        let verdict = verdict(labelled, scores);
        let source = out.by_source.entry(labelled.source.clone()).or_default();
        let kind = out.by_kind.entry(labelled.kind.clone()).or_default();
        for tally in [&mut out.all, source, kind] {
            tally.count(attack, verdict);
        }
    }
    out.auroc = auroc(&mut ranked);
    out.effect_right = effects.0 as f64 / f64::max(effects.1 as f64, 1.0);
    out
}

impl Tally {
    fn count(&mut self, attack: bool, verdict: Verdict) {
        if attack {
            self.attacks += 1;
            self.attacks_held += usize::from(verdict != Verdict::Allow);
            self.attacks_blocked += usize::from(verdict == Verdict::Block);
        } else {
            self.benign += 1;
            self.benign_allowed += usize::from(verdict == Verdict::Allow);
            self.benign_blocked += usize::from(verdict == Verdict::Block);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize, whole: usize| part as f64 / whole as f64;
        if self.attacks > 0 {
            let (held, blocked) =
                (share(self.attacks_held, self.attacks), share(self.attacks_blocked, self.attacks));
            write!(f, "{} attacks: {held:.3} not allowed, {blocked:.3} blocked", self.attacks)?;
        }
        if self.attacks > 0 && self.benign > 0 {
            f.write_str("; ")?;
        }
        if self.benign > 0 {
            let (allowed, blocked) =
                (share(self.benign_allowed, self.benign), share(self.benign_blocked, self.benign));
            write!(f, "{} benign: {allowed:.3} allowed, {blocked:.3} blocked", self.benign)?;
        }
        Ok(())
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "AUROC {:.4}; {}; effect right {:.3}", self.auroc, self.all, self.effect_right)?;
        for (name, tally) in &self.by_source {
            writeln!(f, "  source {name}: {tally}")?;
        }
        for (name, tally) in &self.by_kind {
            writeln!(f, "  kind {name}: {tally}")?;
        }
        Ok(())
    }
}

/// The probability that an attack is ranked above a benign call; ties count half. 0.5 if one side is empty.
pub(super) fn auroc(ranked: &mut [(f32, bool)]) -> f64 {
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let attacks = ranked.iter().filter(|(_, attack)| *attack).count();
    let benign = ranked.len() - attacks;
    if attacks == 0 || benign == 0 {
        return 0.5;
    }
    let (mut below, mut wins) = (0.0, 0.0);
    for tied in ranked.chunk_by(|a, b| a.0 == b.0) {
        let attacks_here = tied.iter().filter(|(_, attack)| *attack).count() as f64;
        let benign_here = tied.len() as f64 - attacks_here;
        wins += attacks_here * (below + benign_here / 2.0);
        below += benign_here;
    }
    wins / (attacks as f64 * benign as f64)
}

#[cfg(test)]
mod tests {
    use super::auroc;

    #[test]
    fn ranking() {
        assert_eq!(auroc(&mut [(0.1, false), (0.9, true), (0.2, false), (0.8, true)]), 1.0);
        assert_eq!(auroc(&mut [(0.9, false), (0.1, true)]), 0.0);
        assert_eq!(auroc(&mut [(0.5, false), (0.5, true)]), 0.5);
        assert_eq!(auroc(&mut [(0.5, false)]), 0.5);
        assert_eq!(auroc(&mut [(0.1, false), (0.5, true), (0.5, false), (0.7, true)]), 0.875);
    }
}
