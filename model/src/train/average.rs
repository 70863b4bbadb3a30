//! A running average of the parameters: what the last steps agree on.

use std::collections::{BTreeMap, HashMap};

use tch::{TchError, Tensor};

/// Steps between two looks at the parameters, after the first few.
const EVERY: usize = 4;
const FIRST: usize = 16;
/// So much of the average stays at each look, once there were many.
const STAYS: f64 = 0.98;

/// Averages of parameters, by their names.
pub(super) struct Average {
    parameters: BTreeMap<String, Tensor>,
    averages: BTreeMap<String, Tensor>,
}

impl Average {
    /// Starts where the parameters are.
    pub(super) fn new(parameters: &BTreeMap<String, Tensor>) -> Result<Self, TchError> {
        let copies = parameters.iter().map(|(name, t)| Ok((name.clone(), t.f_detach()?.f_detach_copy()?)));
        Ok(Self {
            averages: copies.collect::<Result<_, TchError>>()?,
            parameters: parameters.iter().map(|(name, t)| (name.clone(), t.shallow_clone())).collect(),
        })
    }

    /// Moves towards the parameters, every few steps; early on faster, since the start is no good.
    pub(super) fn follow(&mut self, step: usize) -> Result<(), TchError> {
        if step > FIRST && !step.is_multiple_of(EVERY) {
            return Ok(());
        }
        let _no_grad = tch::no_grad_guard();
        let looks = (step / EVERY) as f64;
        let stays = STAYS.min((1.0 + looks) / (10.0 + looks));
        for (name, average) in &mut self.averages {
            if let Some(parameter) = self.parameters.get(name) {
                let _ = average.f_lerp_(parameter, 1.0 - stays)?;
            }
        }
        Ok(())
    }

    pub(super) fn tensors(&self) -> &BTreeMap<String, Tensor> {
        &self.averages
    }

    /// Goes back to saved averages.
    ///
    /// # Errors
    /// The name of a tensor that is missing or has another shape.
    pub(super) fn restore(&mut self, state: &HashMap<String, Tensor>) -> Result<(), String> {
        for (name, average) in &mut self.averages {
            let key = format!("average.{name}");
            match state.get(&key) {
                Some(saved) if saved.size() == average.size() => average.copy_(saved),
                _ => return Err(key),
            }
        }
        Ok(())
    }
}
