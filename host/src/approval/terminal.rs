//! Asks in the terminal that the run was started from: one question at a time, answered by a line.
//!
//! The terminal itself is opened, not standard input: a script or a pipe can never answer.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use tokio::sync::Mutex;

use super::{ApprovalRequest, Approver, Decider, Decision, MOST_ALIKE, Question, Reply, login_name};
use crate::visible::visible;

/// The most of a value that is shown before it is cut, with its true length.
const SHOWN: usize = 600;

/// Asks in the terminal.
#[derive(Clone, Debug, Default)]
pub struct TerminalApprover {
    one_at_a_time: Arc<Mutex<()>>,
}

impl TerminalApprover {
    /// The terminal, if this process has one.
    pub fn new() -> Option<Self> {
        File::open("/dev/tty").ok().map(|_| Self::default())
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    async fn decide(&self, request: ApprovalRequest) -> Reply {
        let turn = Arc::clone(&self.one_at_a_time).lock_owned().await;
        let withdrawn = Withdrawn::default();
        let seen = Arc::clone(&withdrawn.0);
        let asked = tokio::task::spawn_blocking(move || {
            // Kept until the terminal is free again, also when nobody waits for the answer any more.
            let _turn = turn;
            ask(&request, &seen)
        });
        let asked = asked.await;
        match asked {
            Ok(Ok(Decision::Unavailable)) => Decision::Unavailable.into(),
            Ok(Ok(decision)) => Reply { decision, by: Some(Decider::of("terminal", login_name())) },
            // The terminal went away, or reading it failed.
            Ok(Err(_)) | Err(_) => Decision::Unavailable.into(),
        }
    }
}

/// Set when whoever asked has gone: an answer that comes later belongs to nobody, least of all to the
/// next question.
#[derive(Default)]
struct Withdrawn(Arc<AtomicBool>);

impl Drop for Withdrawn {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Waits until there is something to read; false when the question was withdrawn.
fn wait_for_input(terminal: &File, withdrawn: &AtomicBool) -> std::io::Result<bool> {
    let pause = rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while !withdrawn.load(Ordering::Relaxed) {
        let mut watched = [rustix::event::PollFd::new(terminal, rustix::event::PollFlags::IN)];
        if rustix::event::poll(&mut watched, Some(&pause))? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn ask(request: &ApprovalRequest, withdrawn: &AtomicBool) -> std::io::Result<Decision> {
    let terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let mut input = BufReader::new(terminal.try_clone()?);
    let mut output = terminal;
    output.write_all(question(request).as_bytes())?;
    loop {
        output.write_all(match request.alike.is_some() {
            true => b"Approve this call? yes / all like it / No / no, because ... : ".as_slice(),
            false => b"Approve this call? yes / No / no, because ... : ",
        })?;
        let mut line = String::new();
        if input.buffer().is_empty() && !wait_for_input(input.get_ref(), withdrawn)? {
            output.write_all(b"(withdrawn)\n")?;
            return Ok(Decision::Unavailable);
        }
        if input.read_line(&mut line)? == 0 {
            return Ok(Decision::Denied("the question was closed without an answer".into()));
        }
        if let Some(decision) = read_answer(&line, request.alike.is_some()) {
            return Ok(decision);
        }
    }
}

/// None: not understood. Nothing but a plain yes approves, nothing but a plain all approves more.
fn read_answer(line: &str, alike: bool) -> Option<Decision> {
    let line = line.trim();
    if line.eq_ignore_ascii_case("y") || line.eq_ignore_ascii_case("yes") {
        return Some(Decision::Approved);
    }
    if alike && ["a", "all", "all like it"].iter().any(|all| line.eq_ignore_ascii_case(all)) {
        return Some(Decision::ApprovedLike(MOST_ALIKE));
    }
    if line.is_empty() {
        return Some(Decision::Denied("no answer was given".into()));
    }
    let (word, reason) = line.split_once([' ', ',', ':']).unwrap_or((line, ""));
    if !word.eq_ignore_ascii_case("n") && !word.eq_ignore_ascii_case("no") {
        return None;
    }
    let reason = reason.trim_start_matches([' ', ',', ':']);
    let reason = reason.strip_prefix("because ").unwrap_or(reason).trim();
    Some(Decision::Denied(if reason.is_empty() { "no reason was given" } else { reason }.to_owned()))
}

fn question(request: &ApprovalRequest) -> String {
    let question = Question::exact(request);
    let mut text = format!("\n  A script wants to call {}\n", visible(&question.tool));
    for line in question.lines(SHOWN) {
        text.push_str(&format!("    {line}\n"));
    }
    if !question.intent.is_empty() {
        text.push_str(&format!("  for: {}\n", visible(&question.intent)));
    }
    for reason in &question.reasons {
        text.push_str(&format!("  asked because: {}\n", visible(&reason.message)));
    }
    if let Some(guard) = question.guard() {
        text.push_str(&format!("  the guard: {guard}\n"));
    }
    if let Some(group) = question.group() {
        text.push_str(&format!("  like it: {group}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_approves() {
        assert_eq!(read_answer("Yes\n", false), Some(Decision::Approved));
        assert_eq!(read_answer("y", false), Some(Decision::Approved));
        assert_eq!(
            read_answer("no, because It is Late\n", false),
            Some(Decision::Denied("It is Late".into()))
        );
        assert_eq!(read_answer("n wrong account", false), Some(Decision::Denied("wrong account".into())));
        assert!(matches!(read_answer("n", false), Some(Decision::Denied(_))));
        assert!(matches!(read_answer("\n", false), Some(Decision::Denied(_))));
        assert_eq!(read_answer("all", true), Some(Decision::ApprovedLike(MOST_ALIKE)));
        assert_eq!(read_answer("all", false), None);
        for unclear in ["yeah", "ok", "maybe", "yes please", "n\u{fc}"] {
            assert_ne!(read_answer(unclear, false), Some(Decision::Approved), "{unclear}");
        }
    }

    #[test]
    fn a_call_cannot_repaint_the_question() {
        let mut request = super::super::tests::request(r#"{"x": "\u001b[2Jharmless\r\u202e"}"#);
        request.intent = "\u{1b}[2J".into();
        let text = question(&request);
        assert!(!text.contains(['\u{1b}', '\r', '\u{202e}']), "{text:?}");
    }
}
