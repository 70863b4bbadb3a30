//! The run's wall clock. It starts when user code starts and stands still while a person decides.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Wall time of one run, less the time spent waiting for people.
#[derive(Debug, Default)]
pub struct RunClock {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// None until user code starts.
    running_since: Option<Instant>,
    /// Counted before `running_since`.
    before: Duration,
    /// Approvals that are being waited for.
    pauses: usize,
}

impl RunClock {
    /// Starts the clock.
    pub(crate) fn start(&self) {
        let mut state = self.state();
        if state.pauses == 0 && state.running_since.is_none() {
            state.running_since = Some(Instant::now());
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Time counted so far.
    pub fn elapsed(&self) -> Duration {
        let state = self.state();
        state.before + state.running_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Stops the clock until the guard is dropped. Pauses may overlap.
    pub fn pause(&self) -> Pause<'_> {
        let mut state = self.state();
        state.pauses += 1;
        if let Some(since) = state.running_since.take() {
            state.before += since.elapsed();
        }
        drop(state);
        self.changed.notify_waiters();
        Pause(self)
    }

    /// Returns once `limit` has been counted.
    pub(crate) async fn reaches(&self, limit: Duration) {
        loop {
            let changed = self.changed.notified();
            let left = {
                let state = self.state();
                let running = state.running_since.map(|since| since.elapsed());
                let counted = state.before + running.unwrap_or_default();
                if counted >= limit {
                    return;
                }
                running.map(|_| limit - counted)
            };
            match left {
                Some(left) => tokio::select! {
                    () = tokio::time::sleep(left) => {}
                    () = changed => {}
                },
                // Paused. A notification between the look and the wait would be lost, so look
                // again now and then.
                None => tokio::select! {
                    () = tokio::time::sleep(Duration::from_millis(50)) => {}
                    () = changed => {}
                },
            }
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // The state is valid at every step, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// While it lives the clock stands still.
#[derive(Debug)]
pub struct Pause<'a>(&'a RunClock);

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.pauses -= 1;
        if state.pauses == 0 {
            state.running_since = Some(Instant::now());
        }
        drop(state);
        self.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pause_is_not_counted() {
        let clock = RunClock::default();
        clock.start();
        let began = Instant::now();
        let wait = clock.reaches(Duration::from_millis(60));
        let rest = async {
            let outer = clock.pause();
            let inner = clock.pause();
            tokio::time::sleep(Duration::from_millis(100)).await;
            drop(outer);
            tokio::time::sleep(Duration::from_millis(50)).await;
            drop(inner);
        };
        tokio::join!(wait, rest);
        assert!(began.elapsed() >= Duration::from_millis(205), "{:?}", began.elapsed());
        assert!(clock.elapsed() < Duration::from_millis(150), "{:?}", clock.elapsed());
    }
}
