//! How fast a model is, and how far apart its scores are on other devices and in other precisions.
//!
//! Brings its own checks, so that one command measures on any machine. Nothing here tells how good the
//! scores are.

use std::path::Path;
use std::time::{Duration, Instant};

use postern_check::{Check, Scores};
use serde::Serialize;

use crate::device;
use crate::render::{Rendered, Window};
use crate::{Device, Error, Guard, Precision, train};

/// What `postern-guard bench` takes.
#[derive(Clone, Debug, clap::Args)]
pub struct BenchOptions {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 2.0)]
    pub seconds: f64,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// One check as it comes, its intent and rules never seen before; rendering included.
    Cold,
    /// The same with intent and rules seen before.
    Cached,
    /// A check that was scored before.
    Repeated,
    /// Windows of 64 tokens with one intent that was seen before, so many at once.
    Tokens64(usize),
}

impl Case {
    /// All that are measured.
    pub const ALL: [Self; 6] =
        [Self::Cold, Self::Cached, Self::Repeated, Self::Tokens64(1), Self::Tokens64(8), Self::Tokens64(64)];

    /// Checks in one go.
    pub fn checks(self) -> usize {
        match self {
            Self::Tokens64(count) => count,
            Self::Cold | Self::Cached | Self::Repeated => 1,
        }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cold => f.pad("cold text"),
            Self::Cached => f.pad("cached intent"),
            Self::Repeated => f.pad("scored before"),
            Self::Tokens64(count) => f.pad(&format!("64 tokens, batch of {count}")),
        }
    }
}

/// Windows of so many tokens stand for a usual call.
const TOKENS: usize = 64;
/// Checks that are compared between devices.
const COMPARED: usize = 500;
const SEED: u64 = 2024;

/// Checks for all cases.
pub struct Workload {
    checks: Vec<Check>,
    /// One frame and windows of [`TOKENS`].
    even: Vec<Rendered>,
    next: usize,
}

impl Workload {
    /// Makes the checks.
    ///
    /// # Errors
    /// If the tokenizer fails.
    pub fn new(guard: &Guard) -> Result<Self, Error> {
        let checks = train::sample(COMPARED, SEED);
        let rendered: Vec<Rendered> =
            checks.iter().map(|check| guard.renderer().render(check)).collect::<Result<_, _>>()?;
        let frame = rendered.iter().map(|r| &r.frame).max_by_key(|frame| frame.len());
        let frame = frame.cloned().unwrap_or_default();
        let long = rendered.iter().filter(|r| r.windows[0].ids.len() >= TOKENS);
        let even = long.map(|r| {
            let mut ids = r.windows[0].ids.clone();
            ids.truncate(TOKENS);
            let action = r.windows[0].action.min(TOKENS);
            Rendered { frame: frame.clone(), windows: vec![Window { ids, action }], ..r.clone() }
        });
        let even: Vec<Rendered> = even.collect();
        if even.is_empty() {
            return Err(Error::Data(format!("no generated check has {TOKENS} tokens")));
        }
        Ok(Self { checks, even, next: 0 })
    }

    /// Makes one go of a case; gives the time of what is measured of it.
    ///
    /// # Errors
    /// If the tokenizer or libtorch fails.
    pub fn go(&mut self, guard: &Guard, case: Case) -> Result<Duration, Error> {
        self.next += 1;
        let check = std::slice::from_ref(&self.checks[self.next % self.checks.len()]);
        match case {
            Case::Cold => guard.forget(),
            Case::Cached => {
                guard.score(check)?;
                guard.forget_scores();
            }
            Case::Repeated => _ = guard.score(check)?,
            Case::Tokens64(_) => {
                guard.score_rendered(&self.even[..1])?;
                guard.forget_scores();
            }
        }
        if let Case::Tokens64(count) = case {
            let batch: Vec<Rendered> =
                (0..count).map(|n| self.even[(self.next + n) % self.even.len()].clone()).collect();
            let started = Instant::now();
            guard.score_rendered(&batch)?;
            return Ok(started.elapsed());
        }
        let started = Instant::now();
        guard.score(check)?;
        Ok(started.elapsed())
    }
}

/// One line of the table.
#[derive(Serialize)]
struct Timed {
    device: String,
    precision: &'static str,
    threads: i32,
    case: String,
    p50_ms: f64,
    p95_ms: f64,
    checks_per_second: f64,
}

/// How far the scores of a device and precision are from the CPU's in f32.
#[derive(Serialize)]
struct Compared {
    device: String,
    precision: &'static str,
    checks: usize,
    /// The largest difference of P(unsafe).
    largest: f32,
    mean: f32,
    /// Calls that would get another verdict from the unsafe score alone, at the default thresholds.
    other_side: usize,
}

#[derive(Serialize)]
struct Measured {
    weights: String,
    times: Vec<Timed>,
    differences: Vec<Compared>,
}

/// Measures the model in `folder` on the CPU, and on the GPU if `device` allows it and there is one; prints
/// the figures. Without `threads`, one and two are measured.
///
/// # Errors
/// If the model cannot be loaded, the device is not there, or libtorch fails.
pub fn run(folder: &Path, device: Device, threads: Option<i32>, options: &BenchOptions) -> Result<(), Error> {
    let mut places = vec![(Device::Cpu, Precision::F32)];
    if device::cpu_has_bf16() {
        places.push((Device::Cpu, Precision::Bf16));
    }
    if device.resolve()? != tch::Device::Cpu {
        places.extend([(device, Precision::F32), (device, Precision::Bf16)]);
    }
    // What is compared is not timed; one thread does it in any company.
    tch::set_num_threads(threads.unwrap_or(1));
    let reference = Guard::load_with(folder, Device::Cpu, Precision::F32)?;
    let mut measured =
        Measured { weights: reference.info().sha256.clone(), times: Vec::new(), differences: Vec::new() };
    let mut workload = Workload::new(&reference)?;
    let expected = reference.score(&workload.checks)?;
    for (device, precision) in places {
        let guard = Guard::load_with(folder, device, precision)?;
        let precision = if precision == Precision::F32 { "f32" } else { "bf16" };
        let name = guard.info().device.clone();
        let scores = guard.score(&workload.checks)?;
        measured.differences.push(compare(&name, precision, &expected, &scores));
        // A GPU is fed by one thread.
        let counts = match threads {
            Some(count) => vec![count],
            None if name == "cpu" => vec![1, 2],
            None => vec![1],
        };
        for &threads in &counts {
            tch::set_num_threads(threads);
            for case in Case::ALL {
                let times = time(&guard, &mut workload, case, options.seconds)?;
                let (device, case_name) = (name.clone(), case.to_string());
                measured.times.push(timed(device, precision, threads, case_name, case.checks(), times));
            }
        }
        tch::set_num_threads(threads.unwrap_or(1));
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&measured).map_err(|e| Error::Data(e.to_string()))?);
    } else {
        print(&measured);
    }
    Ok(())
}

/// Goes of a case until the time is up, sorted; the first few are not counted.
fn time(guard: &Guard, workload: &mut Workload, case: Case, seconds: f64) -> Result<Vec<Duration>, Error> {
    for _ in 0..3 {
        workload.go(guard, case)?;
    }
    let started = Instant::now();
    let mut times = Vec::new();
    while times.len() < 10 || (started.elapsed().as_secs_f64() < seconds && times.len() < 10_000) {
        times.push(workload.go(guard, case)?);
    }
    times.sort_unstable();
    Ok(times)
}

fn timed(
    device: String,
    precision: &'static str,
    threads: i32,
    case: String,
    checks: usize,
    times: Vec<Duration>,
) -> Timed {
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize].as_secs_f64() * 1e3;
    let (p50_ms, p95_ms) = (at(0.5), at(0.95));
    Timed {
        device,
        precision,
        threads,
        case,
        p50_ms,
        p95_ms,
        checks_per_second: checks as f64 * 1e3 / p50_ms,
    }
}

fn compare(device: &str, precision: &'static str, expected: &[Scores], scores: &[Scores]) -> Compared {
    let differences: Vec<f32> =
        expected.iter().zip(scores).map(|(a, b)| (a.unsafe_ - b.unsafe_).abs()).collect();
    let side = |scores: &Scores| (scores.unsafe_ >= 0.3, scores.unsafe_ >= 0.8);
    Compared {
        device: device.into(),
        precision,
        checks: differences.len(),
        largest: differences.iter().copied().fold(0.0, f32::max),
        mean: differences.iter().sum::<f32>() / differences.len().max(1) as f32,
        other_side: expected.iter().zip(scores).filter(|(a, b)| side(a) != side(b)).count(),
    }
}

fn print(measured: &Measured) {
    println!("weights {}", measured.weights);
    println!(
        "{:8} {:9} {:>7}  {:24} {:>9} {:>9} {:>9}",
        "device", "precision", "threads", "case", "p50 ms", "p95 ms", "checks/s"
    );
    for t in &measured.times {
        println!(
            "{:8} {:9} {:>7}  {:24} {:>9.2} {:>9.2} {:>9.0}",
            t.device, t.precision, t.threads, t.case, t.p50_ms, t.p95_ms, t.checks_per_second
        );
    }
    println!("P(unsafe) against the CPU in f32:");
    for d in &measured.differences {
        println!(
            "{:8} {:9} largest difference {:.2e}, mean {:.2e}, {} of {} checks on another side of 0.3 or 0.8",
            d.device, d.precision, d.largest, d.mean, d.other_side, d.checks
        );
    }
}
