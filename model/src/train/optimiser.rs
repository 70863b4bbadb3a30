//! AdamW, with a state that can be saved.

use std::collections::BTreeMap;

use tch::{TchError, Tensor};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;
const DECAY: f64 = 0.01;

struct Slot {
    parameter: Tensor,
    /// Times the common learning rate.
    rate: f64,
    first: Tensor,
    second: Tensor,
}

/// Moves parameters along their gradients.
pub(crate) struct AdamW {
    slots: BTreeMap<String, Slot>,
    steps: i32,
}

impl AdamW {
    /// For these parameters, each with a factor on the learning rate.
    pub(crate) fn new(parameters: Vec<(String, Tensor, f64)>) -> Self {
        let slots = parameters.into_iter().map(|(name, parameter, rate)| {
            let (first, second) = (parameter.zeros_like(), parameter.zeros_like());
            (name, Slot { parameter, rate, first, second })
        });
        Self { slots: slots.collect(), steps: 0 }
    }

    /// The parameters, in the order in which [`AdamW::step`] wants their gradients.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Tensor> {
        self.slots.values().map(|slot| &slot.parameter)
    }

    /// One step along gradients, one for each parameter. Their common norm is held to `most`.
    pub(crate) fn step(&mut self, rate: f64, most: f64, gradients: &[Tensor]) -> Result<(), TchError> {
        if gradients.len() != self.slots.len() {
            return Err(TchError::Torch("not one gradient for each parameter".into()));
        }
        let _no_grad = tch::no_grad_guard();
        self.steps += 1;
        let mut square = 0.0;
        for gradient in gradients {
            square += gradient.f_norm()?.f_double_value(&[])?.powi(2);
        }
        let shrink = (most / (square.sqrt() + 1e-6)).min(1.0);
        let (one, two) = (1.0 - BETA1.powi(self.steps), 1.0 - BETA2.powi(self.steps));
        for (slot, gradient) in self.slots.values_mut().zip(gradients) {
            let rate = rate * slot.rate;
            let scaled = gradient.f_mul_scalar(shrink)?;
            let _ = slot.first.f_lerp_(&scaled, 1.0 - BETA1)?;
            let _ = slot.second.f_lerp_(&scaled.f_square()?, 1.0 - BETA2)?;
            let step = slot.first.f_div(&slot.second.f_div_scalar(two)?.f_sqrt()?.f_add_scalar(EPSILON)?)?;
            let _ = slot.parameter.f_mul_scalar_(1.0 - rate * DECAY)?;
            let _ = slot.parameter.f_sub_(&step.f_mul_scalar(rate / one)?)?;
        }
        Ok(())
    }

    /// Parameters and state by name, for a checkpoint.
    pub(crate) fn state(&self) -> BTreeMap<String, Tensor> {
        let mut out = BTreeMap::new();
        for (name, slot) in &self.slots {
            out.insert(format!("parameter.{name}"), slot.parameter.shallow_clone());
            out.insert(format!("first.{name}"), slot.first.shallow_clone());
            out.insert(format!("second.{name}"), slot.second.shallow_clone());
        }
        out
    }

    /// Goes back to a saved state after so many steps.
    ///
    /// # Errors
    /// The name of a tensor that is missing or has another shape.
    pub(crate) fn restore(
        &mut self,
        state: &std::collections::HashMap<String, Tensor>,
        steps: i32,
    ) -> Result<(), String> {
        let _no_grad = tch::no_grad_guard();
        for (name, slot) in &mut self.slots {
            for (part, tensor) in
                [("parameter", &mut slot.parameter), ("first", &mut slot.first), ("second", &mut slot.second)]
            {
                let key = format!("{part}.{name}");
                match state.get(&key) {
                    Some(saved) if saved.size() == tensor.size() => tensor.copy_(saved),
                    _ => return Err(key),
                }
            }
        }
        self.steps = steps;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use tch::Kind;

    #[test]
    fn finds_the_bottom_of_a_bowl_and_can_be_saved() {
        let x = Tensor::from_slice(&[3.0_f32, -2.0]).set_requires_grad(true);
        let mut adam = AdamW::new(vec![("x".into(), x.shallow_clone(), 1.0)]);
        for _ in 0..300 {
            let loss = (&x - 1.0).square().sum(Kind::Float);
            let gradients = Tensor::f_run_backward(&[loss], &[&x], false, false).unwrap();
            adam.step(0.05, 100.0, &gradients).unwrap();
        }
        assert!(adam.step(0.05, 100.0, &[]).is_err());
        let near: Vec<f32> = (&x).try_into().unwrap();
        assert!(near.iter().all(|v| (v - 1.0).abs() < 0.05), "{near:?}");

        let y = Tensor::from_slice(&[0.0_f32, 0.0]).set_requires_grad(true);
        let mut other = AdamW::new(vec![("x".into(), y.shallow_clone(), 1.0)]);
        let state = adam.state().into_iter().collect();
        other.restore(&state, 300).unwrap();
        assert_eq!(Vec::<f32>::try_from(&y).unwrap(), near);
        let mut unlike = AdamW::new(vec![("z".into(), y, 1.0)]);
        assert!(unlike.restore(&state, 1).is_err());
    }
}
