//! What the guard is asked and what it answers: checks, scores, verdicts, and the lines that the
//! worker process speaks.
//!
//! No libtorch and no I/O may come in here: the `postern` binary links this crate, and linking
//! libtorch would cost every start a quarter of a second.

mod check;
pub mod evidence;
mod facts;
mod protocol;
mod scores;
mod verdict;

pub use check::{Action, Check, CheckError, MAX_CHECK_BYTES, Trigger};
pub use facts::{key_words, pointer_token};
pub use protocol::{Answer, Failure, FailureCode, Greeting, ModelInfo, Question, Reply};
pub use scores::{ApprovalPolicy, BlastRadius, PolicyHead, Scores};
pub use verdict::{Facts, Judgement, Reason, Thresholds, Verdict, judge};
