//! Step 3, the other half: a script that goes on asking for what was refused is ended instead of being
//! told no for ever.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::{ToolError, ToolErrorCode};

/// Denials of one tool that a script may see. The next try ends the run.
pub(crate) const MOST: u32 = 3;

/// What was refused so far.
#[derive(Debug)]
pub(super) struct Denials {
    counts: Mutex<HashMap<String, u32>>,
    reason: Mutex<Option<String>>,
    stop: CancellationToken,
}

impl Denials {
    pub(super) fn new(stop: CancellationToken) -> Self {
        Self { counts: Mutex::default(), reason: Mutex::default(), stop }
    }

    /// Ends the run when this tool was refused too often already.
    pub(super) fn check(&self, tool: &str) -> Result<(), ToolError> {
        let denied = self.lock().get(tool).copied().unwrap_or(0);
        if denied < MOST {
            return Ok(());
        }
        let message = format!(
            "{tool} was refused {denied} times in this run and the script goes on calling it; the run is ended"
        );
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| message.clone());
        self.stop.cancel();
        Err(ToolError::new(ToolErrorCode::Blocked, message))
    }

    /// Counts a refusal by the policy, the guard or a person. That nobody could be asked is none.
    pub(super) fn count(&self, tool: &str, error: &ToolError) {
        if matches!(error.code, ToolErrorCode::Blocked | ToolErrorCode::ApprovalDenied) {
            *self.lock().entry(tool.to_owned()).or_default() += 1;
        }
    }

    /// Why the run was ended, if it was.
    pub(super) fn stopped(&self) -> Option<String> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, u32>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
