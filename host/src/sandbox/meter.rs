//! Counts memory and computing time of one run.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use wasmtime::ResourceLimiter;

/// Sums all linear memories of a store and refuses growth over the limit.
#[derive(Debug)]
pub(crate) struct MemoryMeter {
    limit: u64,
    used: u64,
    peak: u64,
    refused: bool,
}

/// Elements over all tables: each is a host pointer, so they are host memory that the guest asks for.
const MAX_TABLE_ELEMENTS: usize = 100_000;

impl MemoryMeter {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, used: 0, peak: 0, refused: false }
    }

    /// The most that was in use at once, in bytes.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }

    /// Whether growth was ever refused.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }
}

impl ResourceLimiter for MemoryMeter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let after = self.used + (desired as u64).saturating_sub(current as u64);
        if after > self.limit {
            self.refused = true;
            return Ok(false);
        }
        // Above its own maximum the memory does not grow, whatever is said here.
        if maximum.is_none_or(|maximum| desired <= maximum) {
            self.used = after;
            self.peak = self.peak.max(after);
        }
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MAX_TABLE_ELEMENTS)
    }

    fn instances(&self) -> usize {
        64
    }

    fn tables(&self) -> usize {
        64
    }

    fn memories(&self) -> usize {
        16
    }
}

/// Computing time of this thread since some fixed moment.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// Adds up the computing time of a future's polls and ends it at the limit.
///
/// The guest hands control back at every epoch tick (see `engine`), so a poll never lasts long.
pub(crate) struct Metered<'a, F> {
    pub(crate) future: Pin<&'a mut F>,
    pub(crate) used: Duration,
    pub(crate) limit: Duration,
}

impl<F: Future> Future for Metered<'_, F> {
    /// None: the limit was reached.
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let before = thread_time();
        let polled = self.future.as_mut().poll(context);
        self.used += thread_time().saturating_sub(before);
        match polled {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.used >= self.limit => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_summed() {
        let mut meter = MemoryMeter::new(100);
        assert!(meter.memory_growing(0, 60, None).unwrap());
        assert!(meter.memory_growing(0, 40, Some(50)).unwrap());
        assert!(!meter.memory_growing(40, 41, None).unwrap());
        assert!(meter.refused());
        assert_eq!(meter.peak(), 100);
    }

    #[test]
    fn growth_over_a_memorys_own_maximum_is_not_counted() {
        let mut meter = MemoryMeter::new(100);
        assert!(meter.memory_growing(0, 60, Some(50)).unwrap());
        assert_eq!(meter.peak(), 0);
    }

    #[tokio::test]
    async fn endless_computing_is_cut() {
        let mut endless = std::pin::pin!(async {
            loop {
                std::hint::black_box((0..10_000).sum::<u64>());
                tokio::task::yield_now().await;
            }
        });
        let metered =
            Metered { future: endless.as_mut(), used: Duration::ZERO, limit: Duration::from_millis(20) };
        let end: Option<()> = metered.await;
        assert!(end.is_none());
    }
}
