//! Drives the real worker over its pipe, with the real weights.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use postern_check::{Answer, Check, FailureCode, Greeting, MAX_CHECK_BYTES, Question, Reply, Scores};
use serde_json::{Value, json};

struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(weights: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_postern-guard"))
            .arg("--weights")
            .arg(weights)
            .args(more)
            .env_remove("POSTERN_GUARD_DEVICE")
            // The binary must find libtorch by itself.
            .env_remove("LD_LIBRARY_PATH")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn ready() -> Self {
        let mut worker = Self::start(&weights(), &["--device", "cpu"]);
        let Greeting::Ready(info) = worker.line().unwrap() else { panic!("not ready") };
        assert_eq!(info.device, "cpu");
        assert_eq!(info.sha256.len(), 64);
        worker
    }

    fn line<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e} in {line}")))
    }

    fn write(&mut self, text: &str) {
        self.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn ask(&mut self, id: u64, check: &Check) {
        let question = Question { id, check: check.clone() };
        self.write(&(serde_json::to_string(&question).unwrap() + "\n"));
    }

    /// Closes the input, reads what is left, and waits.
    fn end(mut self) -> (Vec<Reply>, ExitStatus) {
        drop(self.input.take());
        let replies = std::iter::from_fn(|| self.line()).collect();
        (replies, self.child.wait().unwrap())
    }
}

fn weights() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("weights")
}

fn check(value: Value) -> Check {
    serde_json::from_value(value).unwrap()
}

fn scores(reply: &Reply) -> &Scores {
    match &reply.answer {
        Answer::Scores(scores) => scores,
        Answer::Error(failure) => panic!("{failure:?}"),
    }
}

#[test]
fn many_questions_are_answered_by_their_ids_and_alike_in_any_company() {
    let checks: Vec<Check> = (0..90)
        .map(|n| {
            check(json!({
                "action": {"tool": "files.read", "args": {"path": format!("/data/{n}.txt"), "lines": n}},
                "intent": format!("Read file number {n}"),
                "context": "some earlier result. ".repeat(n % 7)
            }))
        })
        .collect();
    let mut worker = Worker::ready();
    for (n, check) in checks.iter().enumerate() {
        // Ids that are neither in order nor dense.
        worker.ask((n as u64 * 7919) % 1009 + 1, check);
    }
    let (replies, status) = worker.end();
    assert!(status.success());
    assert_eq!(replies.len(), checks.len());
    let by_id: HashMap<u64, &Scores> = replies.iter().map(|reply| (reply.id, scores(reply))).collect();
    assert_eq!(by_id.len(), checks.len());
    assert!(by_id.values().all(|scores| scores.are_sound()));

    // The same check alone gets the same scores, up to rounding.
    let mut worker = Worker::ready();
    for n in [0, 6, 89_u64] {
        worker.ask(n, &checks[n as usize]);
        let reply: Reply = worker.line().unwrap();
        let (alone, together) = (scores(&reply).unsafe_, by_id[&((n * 7919) % 1009 + 1)].unsafe_);
        assert!((alone - together).abs() < 1e-3, "{n}: {alone} {together}");
    }
    assert!(worker.end().1.success());
}

#[test]
fn bad_lines_are_answered_and_survived() {
    let mut worker = Worker::ready();
    let refuses = |worker: &mut Worker, id: u64| {
        let reply: Reply = worker.line().unwrap();
        assert_eq!(reply.id, id);
        let Answer::Error(failure) = reply.answer else { panic!("scored") };
        assert_eq!(failure.code, FailureCode::BadRequest);
    };
    worker.write("not json\n");
    refuses(&mut worker, 0);
    worker.write("{\"id\": 5, \"check\": {\"intent\": \"\"}}\n\n");
    refuses(&mut worker, 5);
    worker.write(&("x".repeat(MAX_CHECK_BYTES * 2) + "\n"));
    refuses(&mut worker, 0);
    worker.input.as_mut().unwrap().write_all(b"\xff\xfe{}\n").unwrap();
    refuses(&mut worker, 0);
    worker.ask(6, &check(json!({"action": {"tool": "a.b", "args": {}}, "intent": ""})));
    let reply: Reply = worker.line().unwrap();
    assert_eq!(reply.id, 6);
    assert!(scores(&reply).are_sound());
    assert!(worker.end().1.success());
}

#[test]
fn the_largest_check_is_scored() {
    let mut worker = Worker::ready();
    let body = "row, of, data; ".repeat(100_000);
    let context = "[crm.list] name and number 42. ".repeat(70_000);
    worker.ask(1, &check(json!({"action": {"tool": "x.put", "args": {"body": body}}, "intent": "store", "context": context})));
    let (replies, status) = worker.end();
    assert!(scores(&replies[0]).are_sound());
    assert!(status.success());
}

#[test]
fn no_model_is_a_failed_greeting_and_a_failed_process() {
    let greets = |weights: &Path, more: &[&str], code: FailureCode| {
        let mut worker = Worker::start(weights, more);
        let Some(Greeting::Failed(failure)) = worker.line() else { panic!("ready") };
        assert_eq!(failure.code, code, "{}", failure.message);
        let (replies, status) = worker.end();
        assert!(replies.is_empty() && !status.success());
    };
    let folder = tempfile::tempdir().unwrap();
    greets(folder.path(), &[], FailureCode::ModelMissing);
    for file in std::fs::read_dir(weights()).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let path = folder.path().join("guard.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    std::fs::write(&path, &bytes).unwrap();
    greets(folder.path(), &[], FailureCode::ModelInvalid);
    std::fs::write(&path, &bytes[..middle]).unwrap();
    greets(folder.path(), &[], FailureCode::ModelInvalid);
    greets(&weights(), &["--device", "cuda:4096"], FailureCode::DeviceUnavailable);
}

#[test]
fn wrong_flags_are_a_usage_error() {
    for flags in [["--device", "gpu"], ["--threads", "0"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_postern-guard")).args(flags).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
    }
}
