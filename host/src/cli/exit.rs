//! How a command ends: the one place that decides exit codes.

use std::process::ExitCode;

use crate::{Error, Outcome};

/// For `--help` and the README; a test holds it against [`Exit`].
pub(super) const TABLE: &str = "\
Exit codes:
   0  done; the script finished
   1  the script failed
   2  the command line means nothing
   3  a limit ended the run
   4  a call needed a person's approval, and nobody could be asked
   5  refused: the gate refused a call and the script did not catch it, or the text is no script
   6  something is not set up, or a file (configuration, script, record, approval) means nothing or was changed
   7  the guard cannot be asked
  70  a failure of postern itself
 130  given up from outside (Ctrl-C)";

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Exit {
    Done = 0,
    ScriptFailed = 1,
    Limit = 3,
    ApprovalRequired = 4,
    Refused = 5,
    NotSetUp = 6,
    GuardUnavailable = 7,
    Internal = 70,
    Cancelled = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Ok => Self::Done,
            Outcome::ScriptError => Self::ScriptFailed,
            Outcome::Limit => Self::Limit,
            Outcome::ApprovalRequired => Self::ApprovalRequired,
            Outcome::Refused => Self::Refused,
            Outcome::Cancelled => Self::Cancelled,
        }
    }
}

impl From<&Error> for Exit {
    fn from(error: &Error) -> Self {
        match error {
            Error::Guard(_) => Self::GuardUnavailable,
            Error::Sandbox(_) => Self::Internal,
            Error::Profile { code: "profile-refused", .. } => Self::Refused,
            Error::Config { .. }
            | Error::Setting(_)
            | Error::Script { .. }
            | Error::Check { .. }
            | Error::Io { .. }
            | Error::RunnerMissing { .. }
            | Error::Component { .. }
            | Error::Policy { .. }
            | Error::Profile { .. }
            | Error::Package { .. }
            | Error::Approval { .. }
            | Error::Record { .. } => Self::NotSetUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_every_code() {
        let all = [
            Exit::Done,
            Exit::ScriptFailed,
            Exit::Limit,
            Exit::ApprovalRequired,
            Exit::Refused,
            Exit::NotSetUp,
            Exit::GuardUnavailable,
            Exit::Internal,
            Exit::Cancelled,
        ];
        let mut listed: Vec<u8> =
            TABLE.lines().skip(1).filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
        listed.retain(|code| *code != 2); // clap's own
        assert_eq!(listed, all.map(|exit| exit as u8));
    }
}
