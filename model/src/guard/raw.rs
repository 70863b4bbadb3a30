//! From raw answers to scores: plain arithmetic on a few numbers, the same on every device.

use postern_check::{ApprovalPolicy, BlastRadius, Scores};

use crate::Error;
use crate::net::{ANSWERS, EFFECT, EXFILTRATION, GROUNDED, INJECTED, Logits, POLICY, UNSAFE};
use crate::weights::Calibration;

/// What the two parts of the network say of one window, and the trees of its check, before calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Raw {
    /// The trees' unsafe logit: the same for all windows of a check.
    pub(crate) trees: f32,
    pub(crate) text: [f32; ANSWERS],
    pub(crate) facts: [f32; ANSWERS],
}

impl Raw {
    /// One for each row; what the trees say is not in it yet.
    pub(crate) fn read(logits: &Logits) -> Result<Vec<Self>, Error> {
        let (text, facts) = (rows(&logits.text.0)?, rows(&logits.facts.0)?);
        Ok(text.into_iter().zip(facts).map(|(text, facts)| Self { text, facts, trees: 0.0 }).collect())
    }

    /// The unsafe logit after calibration.
    pub(crate) fn unsafe_(&self, calibration: &Calibration) -> f32 {
        calibration.text * self.text[UNSAFE]
            + calibration.facts * self.facts[UNSAFE]
            + calibration.trees * self.trees
            + calibration.bias
    }

    /// The policy's logits: allow, require_human, reject.
    pub(crate) fn policy(&self, calibration: &Calibration) -> [f32; 3] {
        let bias = [0.0, calibration.require_human, calibration.reject];
        std::array::from_fn(|i| self.sum(POLICY.start + i) + bias[i])
    }

    fn sum(&self, column: usize) -> f32 {
        self.text[column] + self.facts[column]
    }

    /// The scores of the window.
    pub(crate) fn scores(&self, calibration: &Calibration) -> Scores {
        let [allow, require_human, reject] = softmax(self.policy(calibration));
        let effect: [f32; 5] = softmax(std::array::from_fn(|i| self.sum(EFFECT.start + i)));
        let expected: f32 = effect.iter().zip(BlastRadius::ALL).map(|(p, effect)| p * effect.level()).sum();
        let likeliest = (1..5).fold(0, |best, i| if effect[i] > effect[best] { i } else { best });
        Scores {
            unsafe_: sigmoid(self.unsafe_(calibration)),
            approval_policy: ApprovalPolicy { allow, require_human, reject },
            args_grounded: sigmoid(self.sum(GROUNDED)),
            // A sum of rounded parts may come out a hair above 1. (Not `min`: it would drop a NaN.)
            blast_radius: if expected > 1.0 { 1.0 } else { expected },
            effect: BlastRadius::ALL[likeliest],
            exfiltration: sigmoid(self.sum(EXFILTRATION)),
            injected: sigmoid(self.sum(INJECTED)),
            unfit: false,
        }
    }
}

/// Rows of `ANSWERS` numbers.
pub(crate) fn rows(tensor: &tch::Tensor) -> Result<Vec<[f32; ANSWERS]>, Error> {
    let flat = tensor.f_detach()?.f_to_device(tch::Device::Cpu)?.f_contiguous()?.f_view(-1)?;
    let mut numbers = vec![0.0; flat.numel()];
    let count = numbers.len();
    flat.f_copy_data(&mut numbers, count)?;
    Ok(numbers.as_chunks::<ANSWERS>().0.to_vec())
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

fn softmax<const N: usize>(logits: [f32; N]) -> [f32; N] {
    // `max` would pass over a NaN; here it spoils the sum below, as it must.
    let top = logits.iter().fold(f32::NEG_INFINITY, |top, &x| top.max(x));
    let powers = logits.map(|x| (x - top).exp());
    let sum: f32 = powers.iter().sum();
    powers.map(|power| power / sum)
}

/// Two windows of one check together: the highest unsafe, exfiltration, injected and blast radius, the
/// lowest grounding, and the policy of the window with the highest unsafe. NaN is kept: scores that are
/// no numbers must block.
pub(crate) fn worst(a: Scores, b: Scores) -> Scores {
    let high = |a: f32, b: f32| if a.is_nan() || a > b { a } else { b };
    let low = |a: f32, b: f32| if a.is_nan() || a < b { a } else { b };
    let policy =
        if a.unsafe_.is_nan() || a.unsafe_ > b.unsafe_ { a.approval_policy } else { b.approval_policy };
    Scores {
        unsafe_: high(a.unsafe_, b.unsafe_),
        approval_policy: policy,
        args_grounded: low(a.args_grounded, b.args_grounded),
        blast_radius: high(a.blast_radius, b.blast_radius),
        effect: a.effect.max(b.effect),
        exfiltration: high(a.exfiltration, b.exfiltration),
        injected: high(a.injected, b.injected),
        unfit: a.unfit || b.unfit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: f32, facts: f32) -> Raw {
        Raw { text: [text; ANSWERS], facts: [facts; ANSWERS], trees: 0.0 }
    }

    #[test]
    fn both_parts_count_as_calibrated() {
        let calibration =
            Calibration { text: 2.0, facts: 0.5, trees: 1.0, bias: -1.0, require_human: -9.0, reject: -9.0 };
        let scores = raw(1.0, 4.0).scores(&calibration);
        assert!((scores.unsafe_ - sigmoid(3.0)).abs() < 1e-6);
        assert!((scores.injected - sigmoid(5.0)).abs() < 1e-6);
        assert!(scores.approval_policy.allow > 0.99);
        assert!((scores.blast_radius - 0.5).abs() < 1e-6);
        assert!(scores.are_sound());
        assert!(raw(80.0, 30.0).scores(&calibration).are_sound());
        assert!(raw(-80.0, -90.0).scores(&calibration).are_sound());
    }

    #[test]
    fn what_is_no_number_stays_none_in_any_company() {
        let good = raw(0.0, 0.0).scores(&Calibration::NONE);
        for bad in [raw(f32::NAN, 0.0), raw(0.0, f32::NAN), raw(f32::INFINITY, f32::NEG_INFINITY)] {
            let bad = bad.scores(&Calibration::NONE);
            assert!(!bad.are_sound());
            assert!(!worst(bad.clone(), good.clone()).are_sound());
            assert!(!worst(good.clone(), bad).are_sound());
        }
    }
}
