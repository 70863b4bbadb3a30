//! What a person sees while a step runs: a spinner or a bar on a terminal, and elsewhere a line now
//! and then, so that a log shows that something still moves.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};

/// Without a terminal, at most one line in this time.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Of what another program said, so much is shown.
const LINE: usize = 90;

/// The progress of one step.
pub(crate) struct Progress {
    name: String,
    started: Instant,
    spoke: Cell<Instant>,
    bar: Option<ProgressBar>,
    counting: Cell<bool>,
}

impl Progress {
    pub(crate) fn start(name: &str) -> Self {
        let bar = std::io::stderr().is_terminal().then(ProgressBar::new_spinner);
        let progress = Self {
            name: name.into(),
            started: Instant::now(),
            spoke: Cell::new(Instant::now()),
            bar,
            counting: Cell::new(true),
        };
        progress.style(false);
        if let Some(bar) = &progress.bar {
            bar.set_prefix(progress.name.clone());
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        progress
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Says what is being done now.
    pub(crate) fn note(&self, text: &str) {
        self.style(false);
        match &self.bar {
            Some(bar) => bar.set_message(text.to_string()),
            None => self.heartbeat(text),
        }
    }

    /// Says how many bytes of how many are done.
    pub(crate) fn bytes(&self, what: &str, done: u64, total: u64) {
        self.style(true);
        match &self.bar {
            Some(bar) => {
                bar.set_length(total);
                bar.set_position(done);
                bar.set_message(what.to_string());
            }
            None => self.heartbeat(&format!("{what}, {} of {}", HumanBytes(done), HumanBytes(total))),
        }
    }

    /// Takes the spinner away, so that lines can be printed.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn heartbeat(&self, text: &str) {
        if self.spoke.get().elapsed() >= HEARTBEAT {
            self.spoke.set(Instant::now());
            let short: String = text.chars().take(LINE).collect();
            eprintln!("  ... {}: {short} ({:.0} s)", self.name, self.seconds());
        }
    }

    fn style(&self, counting: bool) {
        if self.counting.replace(counting) == counting {
            return;
        }
        let template = if counting {
            "{spinner} {prefix} {elapsed} {bar:24} {bytes}/{total_bytes} {bytes_per_sec} {wide_msg}"
        } else {
            "{spinner} {prefix} {elapsed} {wide_msg}"
        };
        if let (Some(bar), Ok(style)) = (&self.bar, ProgressStyle::with_template(template)) {
            bar.set_style(style);
        }
    }
}
