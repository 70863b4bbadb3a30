//! Every way to change a record is found.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use postern_check::Verdict;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::*;
use crate::record::{Attempt, Closing, Outcome, Record, RecordKey, Redactor, Timings, promote};
use crate::sandbox::{ArtifactFile, Limits};
use crate::{Report, UsageReport};

const RUN: &str = "0192aaaa-0000-7000-8000-000000000001";

struct Scene {
    home: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    fn records(&self) -> PathBuf {
        self.home.path().join("records")
    }

    fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    fn folder(&self) -> PathBuf {
        self.records().join(RUN)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    fn key(&self) -> RecordKey {
        RecordKey::open(&self.state()).unwrap()
    }

    fn begin(&self) -> Record {
        let script = "return await tools.t.echo({});";
        let manifest = Manifest {
            run: RUN.into(),
            started: jiff::Timestamp::UNIX_EPOCH,
            postern: "0".into(),
            wasmtime: "0".into(),
            script: "script.js".into(),
            script_sha256: chain::digest(script.as_bytes()),
            language: "javascript".into(),
            runner_blake3: String::new(),
            config_sha256: String::new(),
            policy_version: String::new(),
            profile: None,
            agent: None,
            guard: None,
            intent: "the password=hunter22".into(),
            constraints: Vec::new(),
            clauses: Vec::new(),
            allow_tools: Vec::new(),
            inputs: Vec::new(),
            packages: Vec::new(),
            limits: Limits::default(),
            seed: None,
            key_sha256: String::new(),
        };
        let redactor = Redactor::new(&[]).unwrap();
        Record::begin(&self.records(), manifest, script, self.key(), redactor).unwrap()
    }

    /// A finished run of so many calls and one artifact.
    fn finished(calls: u32) -> Self {
        let scene = Self::new();
        let record = scene.begin();
        (1..=calls).for_each(|call| note(&record, call));
        std::fs::create_dir(record.artifacts().join("a")).unwrap();
        std::fs::write(record.artifacts().join("a/b.txt"), "content").unwrap();
        let artifact =
            ArtifactFile { path: "/out/a/b.txt".into(), bytes: 7, sha256: chain::digest(b"content") };
        record.close(&closing(vec![artifact])).unwrap();
        scene
    }

    fn verify(&self) -> Verified {
        verify(&self.records(), RUN, &[self.key().public()], &FinishedRuns::default()).unwrap()
    }
}

fn note(record: &Record, call: u32) {
    let at = jiff::Timestamp::UNIX_EPOCH;
    let arguments = json!({"n": call, "password": "hunter2", "x": 0.1});
    record.note(&Entry::Attempt(Attempt { call, at, tool: "t/echo".into(), arguments })).unwrap();
    let outcome = Outcome {
        call,
        at,
        verdict: Verdict::Allow,
        code: None,
        reasons: Vec::new(),
        scores: None,
        dispatched: true,
        definition_sha256: None,
        result_sha256: None,
        result_bytes: None,
        beside: Vec::new(),
        result_label: None,
        facts: None,
        approvals: Vec::new(),
        timings: Timings::default(),
    };
    record.note(&Entry::Outcome(Box::new(outcome))).unwrap();
}

fn closing(artifacts: Vec<ArtifactFile>) -> Closing {
    let report = Report {
        run: RUN.into(),
        outcome: crate::Outcome::Ok,
        value: json!({"password": "hunter2"}),
        error: None,
        warnings: Vec::new(),
        clauses: Vec::new(),
        stdout: "password=hunter22\n".into(),
        stdout_bytes: 18,
        stdout_truncated: false,
        stderr: String::new(),
        stderr_bytes: 0,
        stderr_truncated: false,
        calls: Vec::new(),
        artifacts,
        usage: UsageReport::default(),
    };
    Closing { ended: jiff::Timestamp::UNIX_EPOCH, guard: None, report }
}

#[test]
fn an_untouched_record_is_whole() {
    let verified = Scene::finished(40).verify();
    assert_eq!((verified.standing, verified.fault), (Standing::Whole, None));
    // A seal at the beginning, one after each 32 lines, and one at the end.
    assert_eq!((verified.lines, verified.sealed_lines), (1 + 80 + 2 + 1 + 1, 85));
    assert_eq!((verified.artifacts, verified.promotions), (1, 0));
}

#[test]
fn secrets_are_not_in_it() {
    let scene = Scene::finished(1);
    for name in ["run.json", JOURNAL, REPORT] {
        let text = std::fs::read_to_string(scene.path(name)).unwrap();
        assert!(text.contains("[redacted password ") && !text.contains("hunter2"), "{name}: {text}");
    }
}

#[test]
fn a_run_that_was_cut_off_is_not_broken() {
    let scene = Scene::new();
    let record = scene.begin();
    assert_eq!(scene.verify().standing, Standing::CutOff);
    (1..=20).for_each(|call| note(&record, call));
    let verified = scene.verify();
    assert_eq!((verified.standing, verified.lines, verified.sealed_lines), (Standing::CutOff, 42, 34));
    // Half a line, as a host leaves it that was killed.
    let mut journal = std::fs::read(scene.path(JOURNAL)).unwrap();
    journal.extend_from_slice(b"{\"seq\":42,\"pr");
    std::fs::write(scene.path(JOURNAL), &journal).unwrap();
    assert_eq!(scene.verify().standing, Standing::CutOff);
    assert_eq!(crate::record::read(&scene.records(), "last").unwrap().journal.len(), 40);
    // What was signed cannot be changed even so.
    let at = journal.windows(5).position(|w| w == b"\"n\":1").unwrap();
    journal[at + 4] = b'2';
    std::fs::write(scene.path(JOURNAL), &journal).unwrap();
    assert_eq!(scene.verify().standing, Standing::Broken);
}

#[test]
fn a_finished_run_cannot_be_made_one_that_was_cut_off() {
    let scene = Scene::finished(3);
    let journal = std::fs::read_to_string(scene.path(JOURNAL)).unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    std::fs::write(scene.path(JOURNAL), lines[..lines.len() - 2].concat()).unwrap();
    let fault = scene.verify().fault.unwrap();
    assert_eq!((fault.file.as_str(), fault.line), (JOURNAL, Some(8)), "{fault:?}");
    // Without the report as well, only what is noted beside the key tells.
    std::fs::remove_file(scene.path(REPORT)).unwrap();
    assert_eq!(scene.verify().standing, Standing::CutOff);
    let noted = FinishedRuns::of(&scene.state()).unwrap();
    let verified = verify(&scene.records(), RUN, &[scene.key().public()], &noted).unwrap();
    assert_eq!(verified.standing, Standing::Broken);
}

#[test]
fn another_key_proves_nothing() {
    let scene = Scene::finished(1);
    let other = RecordKey::open(&scene.home.path().join("other")).unwrap();
    for keys in [vec![], vec![other.public()]] {
        let verified = verify(&scene.records(), RUN, &keys, &FinishedRuns::default()).unwrap();
        assert_eq!((verified.standing, verified.sealed_lines), (Standing::UnknownKey, 0));
    }
}

/// Somebody without the key writes the whole chain anew.
#[test]
fn a_chain_without_the_key_is_found() {
    let scene = Scene::finished(2);
    let text = std::fs::read_to_string(scene.path(JOURNAL)).unwrap();
    let mut prev = chain::digest(&std::fs::read(scene.path("run.json")).unwrap());
    let mut forged = String::new();
    for line in text.lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        value["prev"] = prev.into();
        if value["type"] == "attempt" {
            value["tool"] = "t/other".into();
        }
        let line = value.to_string();
        prev = chain::digest(line.as_bytes());
        forged.push_str(&line);
        forged.push('\n');
    }
    std::fs::write(scene.path(JOURNAL), forged).unwrap();
    let fault = scene.verify().fault.unwrap();
    assert_eq!((fault.line, fault.message.as_str()), (Some(7), "its signature does not fit"));
}

#[test]
fn files_that_come_or_go_are_found() {
    for (name, change) in [
        ("artifacts/more.txt", Some("x")),
        ("artifacts/a/b.txt", None),
        (REPORT, None),
        ("script.txt", None),
        ("run.json", None),
        (JOURNAL, None),
    ] {
        let scene = Scene::finished(1);
        match change {
            Some(text) => std::fs::write(scene.path(name), text).unwrap(),
            None => std::fs::remove_file(scene.path(name)).unwrap(),
        }
        let verified = scene.verify();
        assert_eq!(verified.standing, Standing::Broken, "{name}");
        assert_eq!(verified.fault.unwrap().file, name);
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_an_artifact_is_found() {
    let scene = Scene::finished(1);
    let (file, elsewhere) = (scene.path("artifacts/a/b.txt"), scene.path("artifacts/c.txt"));
    std::fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink("../c.txt", &file).unwrap();
    assert!(scene.verify().fault.unwrap().message.contains("link"));
}

#[test]
fn a_promotion_is_in_the_record() {
    let scene = Scene::finished(1);
    let to = scene.home.path().join("here/and there");
    let promote = |over| promote(&scene.records(), RUN, &[], &to, over, &scene.key());
    let done = promote(false).unwrap();
    assert_eq!(std::fs::read_to_string(to.join("a/b.txt")).unwrap(), "content");
    assert_eq!(done[0].to, to.canonicalize().unwrap().join("a/b.txt").display().to_string());
    assert_eq!(std::fs::read_dir(to.join("a")).unwrap().count(), 1, "nothing else is left there");
    assert!(promote(false).unwrap_err().to_string().contains("is there already"));
    std::fs::write(to.join("a/b.txt"), "mine").unwrap();
    promote(true).unwrap();
    assert_eq!(std::fs::read_to_string(to.join("a/b.txt")).unwrap(), "content");
    let verified = scene.verify();
    assert_eq!((verified.standing, verified.promotions), (Standing::Whole, 2), "{verified:?}");
    let proposal = crate::record::proposals(&scene.records(), "last").unwrap();
    assert_eq!(proposal.promotions.len(), 2);
    // And cannot be changed there either.
    let text = std::fs::read_to_string(scene.path(PROMOTIONS)).unwrap();
    for changed in
        [text.replacen("here", "hers", 1), text.lines().take(1).collect::<String>() + "\n", String::new()]
    {
        std::fs::write(scene.path(PROMOTIONS), changed).unwrap();
        let fault = scene.verify().fault.unwrap();
        assert_eq!(fault.file, PROMOTIONS);
        assert!(promote(true).is_err());
    }
}

#[test]
fn nothing_is_promoted_that_is_not_what_it_was() {
    let scene = Scene::finished(1);
    let to = scene.home.path().join("to");
    std::fs::write(scene.path("artifacts/a/b.txt"), "changed").unwrap();
    let error = promote(&scene.records(), RUN, &[], &to, true, &scene.key()).unwrap_err();
    assert!(error.to_string().contains("artifacts/a/b.txt"), "{error}");
    assert!(!to.exists());
}

#[cfg(unix)]
#[test]
fn promotion_does_not_follow_links_out_of_the_target() {
    let scene = Scene::finished(1);
    let (to, elsewhere) = (scene.home.path().join("to"), scene.home.path().join("elsewhere"));
    std::fs::create_dir(&to).unwrap();
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, to.join("a")).unwrap();
    assert!(promote(&scene.records(), RUN, &[], &to, true, &scene.key()).is_err());
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    std::fs::remove_file(to.join("a")).unwrap();
    std::fs::create_dir(to.join("a")).unwrap();
    std::os::unix::fs::symlink(elsewhere.join("x"), to.join("a/b.txt")).unwrap();
    assert!(promote(&scene.records(), RUN, &[], &to, true, &scene.key()).is_err());
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[derive(Clone, Debug)]
enum Change {
    Byte(usize, u8),
    Remove(usize),
    Swap(usize, usize),
    Double(usize, usize),
    Insert(usize, String),
    Cut(usize),
}

fn changes() -> impl Strategy<Value = Change> {
    let any = any::<usize>;
    let line = prop_oneof![
        Just(String::new()),
        Just("{}".to_owned()),
        Just(r#"{"seq":3,"prev":"","type":"seal","signature":""}"#.to_owned()),
        "[ -~]{0,20}",
    ];
    prop_oneof![
        4 => (any(), 1..=255u8).prop_map(|(at, by)| Change::Byte(at, by)),
        1 => any().prop_map(Change::Remove),
        1 => (any(), any()).prop_map(|(a, b)| Change::Swap(a, b)),
        1 => (any(), any()).prop_map(|(a, b)| Change::Double(a, b)),
        1 => (any(), line).prop_map(|(at, line)| Change::Insert(at, line)),
        1 => any().prop_map(Change::Cut),
    ]
}

/// The text after the change; None if that is the same text.
fn changed(text: &[u8], change: &Change) -> Option<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|c| *c == b'\n').map(<[u8]>::to_vec).collect();
    let count = lines.len();
    match change {
        Change::Byte(at, by) => {
            let mut text = text.to_vec();
            let at = at % text.len();
            text[at] ^= by;
            return Some(text);
        }
        Change::Cut(at) => return Some(text[..at % text.len()].to_vec()),
        Change::Remove(at) => drop(lines.remove(at % count)),
        Change::Swap(a, b) => lines.swap(a % count, b % count),
        Change::Double(a, b) => {
            let line = lines[a % count].clone();
            lines.insert(b % (count + 1), line);
        }
        Change::Insert(at, line) => lines.insert(at % (count + 1), format!("{line}\n").into_bytes()),
    }
    let new = lines.concat();
    (new != text).then_some(new)
}

#[test]
fn any_change_is_found() {
    let scene = Scene::finished(40);
    let names = [JOURNAL, JOURNAL, "run.json", "script.txt", REPORT];
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    let found = TestRunner::new(config).run(&(0..names.len(), changes()), |(file, change)| {
        let path = scene.path(names[file]);
        let text = std::fs::read(&path).unwrap();
        let Some(new) = changed(&text, &change) else { return Ok(()) };
        std::fs::write(&path, new).unwrap();
        let verified = scene.verify();
        std::fs::write(&path, &text).unwrap();
        prop_assert_eq!(verified.standing, Standing::Broken);
        prop_assert!(verified.fault.is_some());
        Ok(())
    });
    found.unwrap();
}
