//! The worker: questions in, replies out, one JSON document a line (see `postern_check::protocol`).
//!
//! Questions that are waiting are scored together. Nothing but protocol lines goes to the output.

use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use postern_check::{Answer, Failure, FailureCode, Greeting, MAX_CHECK_BYTES, Question, Reply};

use crate::{Guard, MAX_BATCH};

/// Room in a line for what stands around the check.
const FRAME: usize = 256;

/// One line of input: a question, or the reply to what is none.
type Asked = Result<Question, Reply>;

/// Greets, then answers until the input ends.
///
/// # Errors
/// If the output cannot be written: the host is gone.
pub fn serve(
    guard: &Guard,
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> std::io::Result<()> {
    write_line(&mut output, &Greeting::Ready(guard.info().clone()))?;
    output.flush()?;
    // Reading goes on while a batch runs; what has arrived by then is the next batch.
    let (sender, waiting) = sync_channel(4 * MAX_BATCH);
    std::thread::Builder::new().name("questions".into()).spawn(move || {
        read_all(input, &mut |asked| sender.send(asked).is_ok());
    })?;
    while let Some(batch) = next_batch(&waiting) {
        for reply in answer(guard, batch) {
            write_line(&mut output, &reply)?;
        }
        output.flush()?;
    }
    Ok(())
}

/// Tells the host that the model cannot be loaded.
///
/// # Errors
/// If the output cannot be written.
pub fn decline(failure: Failure, mut output: impl Write) -> std::io::Result<()> {
    write_line(&mut output, &Greeting::Failed(failure))?;
    output.flush()
}

/// Waits for one line, then takes what else is there. `None` at the end of the input.
fn next_batch(waiting: &Receiver<Asked>) -> Option<Vec<Asked>> {
    let mut batch = vec![waiting.recv().ok()?];
    while batch.len() < MAX_BATCH {
        match waiting.try_recv() {
            Ok(asked) => batch.push(asked),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
        }
    }
    Some(batch)
}

fn answer(guard: &Guard, batch: Vec<Asked>) -> Vec<Reply> {
    let (mut replies, mut ids, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    for asked in batch {
        match asked {
            Ok(question) => {
                ids.push(question.id);
                checks.push(question.check);
            }
            Err(reply) => replies.push(reply),
        }
    }
    match guard.score(&checks) {
        Ok(scores) => {
            replies.extend(ids.iter().zip(scores).map(|(&id, s)| Reply { id, answer: Answer::Scores(s) }))
        }
        // One check may have failed the batch: each gets its own chance.
        Err(_) => replies.extend(ids.iter().zip(&checks).map(|(&id, check)| {
            let answer = match guard.score(std::slice::from_ref(check)).map(|mut scores| scores.pop()) {
                Ok(Some(scores)) => Answer::Scores(scores),
                Ok(None) => Answer::Error(Failure {
                    code: FailureCode::Internal,
                    message: "no scores came back".into(),
                }),
                Err(error) => Answer::Error(error.to_failure()),
            };
            Reply { id, answer }
        })),
    }
    replies
}

/// Reads lines until the input ends or `give` says that nobody listens.
fn read_all(mut input: impl BufRead, give: &mut dyn FnMut(Asked) -> bool) {
    let most = MAX_CHECK_BYTES + FRAME;
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.by_ref().take(most as u64 + 1).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                tracing::error!(%error, "the input cannot be read");
                return;
            }
        }
        if line.len() > most && !line.ends_with(b"\n") {
            let skipped = skip_line(&mut input);
            let message = format!("a line of more than {most} bytes");
            if !give(Err(bad_line(message))) || !skipped {
                return;
            }
            continue;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let asked = serde_json::from_slice::<Question>(&line).map_err(|error| Reply {
            id: id_of(&line),
            answer: Answer::Error(Failure {
                code: FailureCode::BadRequest,
                message: format!("no question: {error}"),
            }),
        });
        if !give(asked) {
            return;
        }
    }
}

/// Reads on to the end of a line that is too long; false at the end of the input.
fn skip_line(input: &mut impl BufRead) -> bool {
    loop {
        let (used, ended) = match input.fill_buf() {
            Ok([]) | Err(_) => return false,
            Ok(buffer) => match buffer.iter().position(|&byte| byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (buffer.len(), false),
            },
        };
        input.consume(used);
        if ended {
            return true;
        }
    }
}

fn bad_line(message: String) -> Reply {
    Reply { id: 0, answer: Answer::Error(Failure { code: FailureCode::BadRequest, message }) }
}

/// The id of a line that is no question but may still have one.
fn id_of(line: &[u8]) -> u64 {
    serde_json::from_slice::<serde_json::Value>(line)
        .ok()
        .and_then(|value| value.get("id")?.as_u64())
        .unwrap_or(0)
}

fn write_line(output: &mut impl Write, line: &impl serde::Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *output, line)?;
    output.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(text: &str) -> Vec<Asked> {
        let mut out = Vec::new();
        read_all(text.as_bytes(), &mut |asked| {
            out.push(asked);
            true
        });
        out
    }

    #[test]
    fn a_bad_line_is_answered_and_the_next_is_read() {
        let good = r#"{"id":9,"check":{"action":{"tool":"a.b"},"intent":""}}"#;
        let asked = read(&format!("nonsense\n\n{{\"id\":4,\"check\":{{}}}}\n{good}"));
        assert_eq!(asked[0].as_ref().unwrap_err().id, 0);
        assert_eq!(asked[1].as_ref().unwrap_err().id, 4);
        assert_eq!(asked[2].as_ref().unwrap().id, 9);
        assert_eq!(asked.len(), 3);
    }

    #[test]
    fn a_line_too_long_is_skipped_whole() {
        let good = r#"{"id":9,"check":{"action":{"tool":"a.b"},"intent":""}}"#;
        let asked = read(&format!("{}\n{good}\n", "x".repeat(MAX_CHECK_BYTES * 2)));
        assert!(asked[0].is_err());
        assert_eq!(asked[1].as_ref().unwrap().id, 9);
    }
}
