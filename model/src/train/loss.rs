//! What learning makes small: the heads' answers against the labels that are known.

use postern_check::BlastRadius;
use tch::{Device, Kind, Reduction, Tensor};

use super::data::{Labels, Policy};
use crate::Error;
use crate::net::{Answers, EFFECT, EXFILTRATION, GROUNDED, INJECTED, Logits, POLICY, UNSAFE};

/// Labels are believed this much less than wholly.
const SMOOTHING: f64 = 0.02;
/// Each part of the network must also tell unsafe calls by itself, so much.
const ALONE: f64 = 0.3;

/// The loss of both parts of the network together, and a share of each alone.
pub(super) fn of_both(logits: &Logits, labels: &[&Labels]) -> Result<Tensor, Error> {
    let mut sum = of(&logits.fused()?, labels)?;
    for part in [&logits.text, &logits.facts] {
        let alone = yes_no(&part.single(UNSAFE)?, labels, &|l| l.unsafe_)?;
        sum = sum.f_add(&alone.f_mul_scalar(ALONE)?)?;
    }
    Ok(sum)
}

/// The loss of one set of answers: over all heads, each over the checks that have its label.
pub(super) fn of(answers: &Answers, labels: &[&Labels]) -> Result<Tensor, Error> {
    let yes_no =
        |column, label: &dyn Fn(&Labels) -> Option<f32>| yes_no(&answers.single(column)?, labels, label);
    let parts = [
        (1.0, yes_no(UNSAFE, &|l| l.unsafe_)?),
        (0.3, yes_no(GROUNDED, &|l| l.grounded)?),
        (0.15, yes_no(EXFILTRATION, &|l| l.exfiltration)?),
        (0.3, yes_no(INJECTED, &|l| l.injected)?),
        // A person is seldom the label, and the labels that say so are noisy.
        (0.4, class(&answers.several(POLICY)?, labels, &[1.0, 1.5, 1.0], &policy)?),
        (0.15, class(&answers.several(EFFECT)?, labels, &[1.0; 5], &effect)?),
    ];
    let mut sum = Tensor::f_zeros([0_i64; 0], (Kind::Float, Device::Cpu))?;
    for (weight, part) in parts {
        sum = sum.f_add(&part.f_mul_scalar(weight)?)?;
    }
    Ok(sum)
}

fn policy(labels: &Labels) -> Option<usize> {
    labels.policy.map(|policy| match policy {
        Policy::Allow => 0,
        Policy::RequireHuman => 1,
        Policy::Reject => 2,
    })
}

fn effect(labels: &Labels) -> Option<usize> {
    labels.effect.and_then(|effect| BlastRadius::ALL.iter().position(|other| *other == effect))
}

fn yes_no(
    logit: &Tensor,
    labels: &[&Labels],
    label: &dyn Fn(&Labels) -> Option<f32>,
) -> Result<Tensor, Error> {
    let smooth = |target: f32| target * (1.0 - SMOOTHING as f32) + SMOOTHING as f32 / 2.0;
    let target: Vec<f32> = labels.iter().map(|l| label(l).map_or(0.0, smooth)).collect();
    let known: Vec<f32> = labels.iter().map(|l| f32::from(u8::from(label(l).is_some()))).collect();
    let count = known.iter().sum::<f32>().max(1.0);
    let (target, known) = (Tensor::f_from_slice(&target)?, Tensor::f_from_slice(&known)?);
    let sum =
        logit.f_binary_cross_entropy_with_logits::<Tensor>(&target, Some(known), None, Reduction::Sum)?;
    Ok(sum.f_div_scalar(f64::from(count))?)
}

fn class(
    logit: &Tensor,
    labels: &[&Labels],
    weights: &[f32],
    label: &dyn Fn(&Labels) -> Option<usize>,
) -> Result<Tensor, Error> {
    let target: Vec<i64> = labels.iter().map(|l| label(l).map_or(-100, |class| class as i64)).collect();
    let known: f32 = target.iter().filter(|&&class| class >= 0).map(|&class| weights[class as usize]).sum();
    let (target, weights) = (Tensor::f_from_slice(&target)?, Tensor::f_from_slice(weights)?);
    let sum = logit.f_cross_entropy_loss(&target, Some(weights), Reduction::Sum, -100, SMOOTHING)?;
    Ok(sum.f_div_scalar(f64::from(known.max(1.0)))?)
}
