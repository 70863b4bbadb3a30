//! Step 3: how many calls, and how many at once.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::sandbox::Limits;
use crate::{ToolError, ToolErrorCode};

/// The calls of one run.
#[derive(Debug)]
pub(super) struct Budget {
    max: u32,
    made: AtomicU32,
    at_once: Semaphore,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            max: limits.max_calls,
            made: AtomicU32::new(0),
            at_once: Semaphore::new(limits.max_concurrent_calls as usize),
        }
    }

    /// Counts a call, whatever becomes of it; gives its number, and an error if it is one too many.
    pub(super) fn count(&self) -> (u32, Result<(), ToolError>) {
        let number = self.made.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if number <= self.max {
            return (number, Ok(()));
        }
        let message = format!("this run may make {} tool calls and has made them (--max-calls)", self.max);
        (number, Err(ToolError::new(ToolErrorCode::CallLimit, message)))
    }

    pub(super) fn made(&self) -> u32 {
        self.made.load(Ordering::Relaxed)
    }

    pub(super) fn exhausted(&self) -> bool {
        self.made.load(Ordering::Relaxed) > self.max
    }

    /// Waits for a place among the calls at once.
    pub(super) async fn place(&self) -> Result<SemaphorePermit<'_>, ToolError> {
        let closed = |_| ToolError::new(ToolErrorCode::Cancelled, "the run is over");
        self.at_once.acquire().await.map_err(closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_too_many_is_one_too_many() {
        let budget = Budget::new(&Limits { max_calls: 2, ..Limits::default() });
        assert!(budget.count().1.is_ok());
        assert!(budget.count().1.is_ok() && !budget.exhausted());
        let (number, over) = budget.count();
        assert_eq!((number, over.unwrap_err().code), (3, ToolErrorCode::CallLimit));
        assert!(budget.exhausted());
    }
}
