//! Where learning stands, and its checkpoint: a long run can be cut and gone on with.

use std::path::PathBuf;

use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use tch::Kind;

use super::TrainOptions;
use super::average::Average;
use super::optimiser::AdamW;
use crate::Error;
use crate::weights;

/// Where learning stands.
pub(super) struct Progress {
    /// Batches of the plan that are done.
    pub(super) step: usize,
    pub(super) seconds_before: f64,
    /// A running mean.
    pub(super) loss: f64,
    plan: String,
}

/// The header of a checkpoint.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    seed: u64,
    /// Digest of the plan that `step` counts in.
    plan: String,
    step: usize,
    seconds: f64,
    loss: f64,
}

const PROGRESS: &str = "progress";

impl Progress {
    fn path(options: &TrainOptions) -> Result<PathBuf, Error> {
        Ok(options.out()?.join("checkpoint.safetensors"))
    }

    /// The start, or with `--resume` where the checkpoint stands.
    pub(super) fn resume(
        options: &TrainOptions,
        batches: &[Vec<usize>],
        adam: &mut AdamW,
        average: &mut Average,
    ) -> Result<Self, Error> {
        let plan = digest(batches);
        if !options.resume {
            return Ok(Self { step: 0, seconds_before: 0.0, loss: 0.0, plan });
        }
        let path = Self::path(options)?;
        let invalid = |why: String| Error::invalid(&path, why);
        let bytes = std::fs::read(&path).map_err(Error::io(&path))?;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|e| invalid(e.to_string()))?;
        let header = metadata.metadata().as_ref().and_then(|all| all.get(PROGRESS).cloned());
        let header = header.ok_or_else(|| invalid("no progress in it".into()))?;
        let header: Header = serde_json::from_str(&header).map_err(|e| invalid(e.to_string()))?;
        if header.seed != options.seed {
            return Err(invalid(format!("made with seed {}", header.seed)));
        }
        if header.plan != plan || header.step > batches.len() {
            return Err(invalid("made with other data or epochs; start anew without --resume".into()));
        }
        let state = weights::read_tensors(&bytes).map_err(invalid)?;
        let unfit = |name: String| invalid(format!("tensor {name} does not fit"));
        adam.restore(&state, header.step as i32).map_err(unfit)?;
        average.restore(&state).map_err(unfit)?;
        tracing::info!("going on from step {}", header.step);
        Ok(Self { step: header.step, seconds_before: header.seconds, loss: header.loss, plan })
    }

    /// Counts a step.
    pub(super) fn add(&mut self, loss: f64) {
        self.step += 1;
        let weight = (1.0 / self.step as f64).max(0.03);
        self.loss += (loss - self.loss) * weight;
    }

    /// Writes the checkpoint.
    pub(super) fn save(
        &self,
        options: &TrainOptions,
        adam: &AdamW,
        average: &Average,
        seconds: f64,
    ) -> Result<(), Error> {
        let folder = options.out()?;
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let header =
            Header { seed: options.seed, plan: self.plan.clone(), step: self.step, seconds, loss: self.loss };
        let header = serde_json::to_string(&header).map_err(|e| Error::Data(e.to_string()))?;
        let mut state = adam.state();
        for (name, tensor) in average.tensors() {
            state.insert(format!("average.{name}"), tensor.shallow_clone());
        }
        let bytes = weights::write_tensors(&state, Kind::Float, (PROGRESS, header))?;
        weights::write_whole(&Self::path(options)?, &bytes)
    }
}

fn digest(batches: &[Vec<usize>]) -> String {
    let mut bytes = Vec::new();
    for batch in batches {
        bytes.extend((batch.len() as u32).to_le_bytes());
        bytes.extend(batch.iter().flat_map(|&index| (index as u32).to_le_bytes()));
    }
    weights::sha256(&bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;

    use super::*;
    use tch::Tensor;

    fn parts(value: f32) -> (AdamW, Average) {
        let x = Tensor::from_slice(&[value, value]).set_requires_grad(true);
        let average = Average::new(&BTreeMap::from([("x".to_string(), x.shallow_clone())])).unwrap();
        (AdamW::new(vec![("x".into(), x, 1.0)]), average)
    }

    #[test]
    fn a_checkpoint_is_gone_on_from_and_a_bad_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let options = TrainOptions {
            resume: true,
            out: Some(folder.path().into()),
            seed: 3,
            ..TrainOptions::for_tests()
        };
        let batches = vec![vec![0, 1], vec![2]];
        let (mut adam, mut average) = parts(5.0);
        let resume = |options: &TrainOptions, batches: &[Vec<usize>]| {
            let (mut adam, mut average) = parts(0.0);
            let progress = Progress::resume(options, batches, &mut adam, &mut average)?;
            Ok::<_, Error>((progress, adam, average))
        };
        let message = |result: Result<(Progress, AdamW, Average), Error>| result.err().unwrap().to_string();
        assert!(message(resume(&options, &batches)).contains("checkpoint.safetensors"));

        let fresh = TrainOptions { resume: false, ..options.clone() };
        let mut progress = Progress::resume(&fresh, &batches, &mut adam, &mut average).unwrap();
        progress.add(2.0);
        progress.save(&options, &adam, &average, 9.0).unwrap();
        let (resumed, adam, average) = resume(&options, &batches).unwrap();
        assert_eq!((resumed.step, resumed.seconds_before, resumed.loss), (1, 9.0, 2.0));
        let restored = adam.parameters().chain(average.tensors().values());
        assert!(restored.into_iter().all(|x| Vec::<f32>::try_from(x).unwrap() == [5.0, 5.0]));

        let other = TrainOptions { seed: 4, ..options.clone() };
        assert!(message(resume(&other, &batches)).contains("seed 3"));
        assert!(message(resume(&options, &[vec![0], vec![1, 2]])).contains("other data"));
        let path = Progress::path(&options).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for bad in [&bytes[..bytes.len() - 4], &bytes[..20], b""] {
            std::fs::write(&path, bad).unwrap();
            assert!(resume(&options, &batches).is_err());
        }
    }
}
