//! Asks by putting the question into a queue, where somebody answers it from another process: `postern
//! approvals`, or whatever stands in front of it. Every way in which an answer does not count has a name, and
//! ends the call.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::store::{Answer, Put, digest};
use super::{ApprovalRequest, Approver, Decider, Decision, Question, Queue, Reply, Say};

/// How often it is looked whether there is an answer.
const PACE: Duration = Duration::from_millis(100);

/// Is told of every question that was put.
pub type Asked = Arc<dyn Fn(&Question) + Send + Sync>;

/// Why an answer does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Void {
    /// It was changed, or made by somebody without the key.
    #[error("the answer was not written by `postern approvals`, or was changed after it was")]
    Tampered,
    /// It is the answer to another question.
    #[error("the answer is for another approval")]
    Other,
    /// It was used before.
    #[error("the answer was used before")]
    Used,
    /// The person was shown something else.
    #[error("the question was changed while it waited: nobody was asked about this call")]
    Changed,
    /// It came too late.
    #[error("the answer came after the question had expired")]
    Expired,
    /// Somebody has removed the question.
    #[error("the question was removed from the queue while it waited")]
    Removed,
}

impl Void {
    /// A stable name for machines.
    pub fn code(self) -> &'static str {
        match self {
            Self::Tampered => "answer-tampered",
            Self::Other => "answer-of-another",
            Self::Used => "answer-used",
            Self::Changed => "question-changed",
            Self::Expired => "answer-late",
            Self::Removed => "question-removed",
        }
    }
}

/// Asks in a [`Queue`].
pub struct QueueApprover {
    queue: Queue,
    asked: Option<Asked>,
    /// Questions that have had their answer.
    done: Mutex<HashSet<String>>,
}

impl QueueApprover {
    /// In this queue.
    pub fn new(queue: Queue) -> Self {
        Self { queue, asked: None, done: Mutex::default() }
    }

    /// Says so whenever it asks.
    #[must_use]
    pub fn on_question(mut self, asked: Asked) -> Self {
        self.asked = Some(asked);
        self
    }

    async fn wait(&self, question: &Question, put: &Put) -> Reply {
        let mut pace = tokio::time::interval(PACE);
        loop {
            pace.tick().await;
            if let Some(found) = self.queue.take(put) {
                let judged = found.map_err(|_| Void::Tampered).and_then(|answer| {
                    let by = Decider::of("queue", answer.by.clone());
                    let decision = self.judge(question, answer)?;
                    Ok(Reply { decision, by: Some(by) })
                });
                return judged.unwrap_or_else(|void| Decision::Void(void).into());
            }
            if !Queue::is_there(put) {
                return Decision::Void(Void::Removed).into();
            }
        }
    }

    /// Whether an answer is one to this question.
    fn judge(&self, question: &Question, answer: Answer) -> Result<Decision, Void> {
        if answer.id != question.id {
            let used = self.done.lock().unwrap_or_else(PoisonError::into_inner).contains(&answer.id);
            return Err(if used { Void::Used } else { Void::Other });
        }
        if answer.say == Say::Void || answer.shown_sha256 != digest(question) {
            return Err(Void::Changed);
        }
        if answer.seal != question.seal {
            return Err(Void::Other);
        }
        if answer.at > question.expires || jiff::Timestamp::now() > question.expires {
            return Err(Void::Expired);
        }
        Ok(match answer.say {
            Say::Approve => Decision::Approved,
            Say::Group { calls } => Decision::ApprovedLike(calls),
            Say::Deny { reason } => Decision::Denied(reason),
            Say::Void => Decision::Void(Void::Changed),
        })
    }
}

#[async_trait]
impl Approver for QueueApprover {
    async fn decide(&self, request: ApprovalRequest) -> Reply {
        let question = Question::of(&request);
        let put = match self.queue.put(&question) {
            Ok(put) => put,
            Err(error) => {
                tracing::error!(%error, "a question cannot be put into the queue");
                return Decision::Unavailable.into();
            }
        };
        if let Some(asked) = &self.asked {
            asked(&question);
        }
        let reply = self.wait(&question, &put).await;
        self.done.lock().unwrap_or_else(PoisonError::into_inner).insert(question.id);
        reply
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use serde_json::{Value, json};

    use super::super::tests::request;
    use super::super::{Standing, Waiting};
    use super::*;

    struct Stage {
        state: tempfile::TempDir,
        approver: Arc<QueueApprover>,
    }

    impl Stage {
        fn new() -> Self {
            let state = tempfile::tempdir().unwrap();
            let approver = Arc::new(QueueApprover::new(Queue::open(state.path()).unwrap()));
            Self { state, approver }
        }

        /// Somebody else's view of the same queue.
        fn queue(&self) -> Queue {
            Queue::look(self.state.path()).unwrap()
        }

        fn ask(&self, request: ApprovalRequest) -> tokio::task::JoinHandle<Reply> {
            let approver = Arc::clone(&self.approver);
            tokio::spawn(async move { approver.decide(request).await })
        }

        /// Asks, and waits until that is in the queue.
        async fn asked(&self) -> (tokio::task::JoinHandle<Reply>, Waiting) {
            let request = request(r#"{"to": "ann@corp.example", "body": "hello"}"#);
            let id = request.id.clone();
            let asked = self.ask(request);
            for _ in 0..500 {
                if let Ok(waiting) = self.queue().find(&id) {
                    return (asked, waiting);
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            panic!("the question never came");
        }

        fn path(&self, waiting: &Waiting, ending: &str) -> std::path::PathBuf {
            self.queue().folder().join(format!("{}.{ending}.json", waiting.id))
        }
    }

    fn edit(path: &Path, pointer: &str, value: Value) {
        let mut file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        *file.pointer_mut(pointer).unwrap() = value;
        std::fs::write(path, file.to_string()).unwrap();
    }

    #[tokio::test]
    async fn an_answer_from_elsewhere_decides_and_leaves_nothing() {
        let stage = Stage::new();
        for (say, decision) in [
            (Say::Approve, Decision::Approved),
            (Say::Group { calls: 3 }, Decision::ApprovedLike(3)),
            (Say::Deny { reason: "late".into() }, Decision::Denied("late".into())),
        ] {
            let (asked, waiting) = stage.asked().await;
            assert_eq!(waiting.state, Standing::Waiting);
            stage.queue().answer(&waiting.id[..8], say, Some("ann")).unwrap();
            let by = Some(Decider::of("queue", Some("ann".into())));
            assert_eq!(asked.await.unwrap(), Reply { decision, by });
        }
        assert_eq!(std::fs::read_dir(stage.queue().folder()).unwrap().count(), 0);
        assert_eq!(stage.queue().answer("", Say::Approve, None).unwrap_err().code(), "approval-unknown");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn nobody_else_may_read_it() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let stage = Stage::new();
        let (asked, waiting) = stage.asked().await;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(&stage.path(&waiting, "question")), 0o600);
        assert_eq!(mode(stage.queue().folder()), 0o700);
        let key = stage.state.path().join("approvals-key");
        assert_eq!(mode(&key), 0o600);
        asked.abort();
        let open = |path: &Path, mode: u32| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            Queue::look(stage.state.path()).map(drop).map_err(|error| error.code())
        };
        assert_eq!(open(&key, 0o640), Err("config-invalid"));
        assert_eq!(open(&key, 0o600), Ok(()));
        assert_eq!(open(&stage.state.path().join("approvals"), 0o750), Err("config-invalid"));
    }

    #[tokio::test]
    async fn a_question_that_was_changed_cannot_be_answered() {
        let stage = Stage::new();
        for (pointer, value) in [
            ("/content/arguments/to", json!("eve@evil.example")),
            ("/content/tool", json!("t/harmless")),
            ("/content/expires", json!("2999-01-01T00:00:00Z")),
            ("/mac", json!("00")),
        ] {
            let (asked, waiting) = stage.asked().await;
            edit(&stage.path(&waiting, "question"), pointer, value);
            let listed = stage.queue().list().unwrap();
            assert_eq!((listed[0].state, &listed[0].question), (Standing::Changed, &None), "{pointer}");
            let error = stage.queue().answer(&waiting.id, Say::Approve, None).unwrap_err();
            assert_eq!(error.code(), "approval-changed", "{pointer}");
            assert_eq!(asked.await.unwrap().decision, Decision::Void(Void::Changed), "{pointer}");
        }
    }

    #[tokio::test]
    async fn an_answer_that_was_changed_does_not_count() {
        let stage = Stage::new();
        for (pointer, value) in [
            ("/content/say", json!({"decision": "approve"})),
            ("/content/by", json!("somebody else")),
            ("/content/shown_sha256", json!("00")),
            ("/content/id", json!("x")),
        ] {
            // Written where nobody takes it, changed, and put in place.
            let (asked, waiting) = stage.asked().await;
            let elsewhere = tempfile::tempdir().unwrap();
            let copy = |from: &Path, to: &Path| std::fs::copy(from, to).map(drop).unwrap();
            let other = Stage { state: elsewhere, approver: Arc::clone(&stage.approver) };
            copy(&stage.state.path().join("approvals-key"), &other.state.path().join("approvals-key"));
            let queue = other.queue();
            let put = queue.put(waiting.question.as_ref().unwrap()).unwrap();
            queue.answer(&waiting.id, Say::Deny { reason: "no".into() }, None).unwrap();
            let answer = other.path(&waiting, "answer");
            edit(&answer, pointer, value);
            std::fs::rename(answer, stage.path(&waiting, "answer")).unwrap();
            assert_eq!(asked.await.unwrap().decision, Decision::Void(Void::Tampered), "{pointer}");
            drop(put);
        }
        let (asked, waiting) = stage.asked().await;
        std::fs::write(stage.path(&waiting, "answer"), "yes").unwrap();
        assert_eq!(asked.await.unwrap().decision, Decision::Void(Void::Tampered));
    }

    /// An answer as `postern approvals` writes it, caught before it is taken.
    fn caught(stage: &Stage, waiting: &Waiting) -> Vec<u8> {
        let elsewhere = tempfile::tempdir().unwrap();
        let key = |state: &Path| state.join("approvals-key");
        std::fs::copy(key(stage.state.path()), key(elsewhere.path())).unwrap();
        let queue = Queue::look(elsewhere.path()).unwrap();
        let put = queue.put(waiting.question.as_ref().unwrap()).unwrap();
        queue.answer(&waiting.id, Say::Approve, None).unwrap();
        let bytes = std::fs::read(queue.folder().join(format!("{}.answer.json", waiting.id))).unwrap();
        drop(put);
        bytes
    }

    #[tokio::test]
    async fn an_answer_is_for_one_question_and_used_once() {
        let stage = Stage::new();
        let (first, one) = stage.asked().await;
        let (second, other) = stage.asked().await;
        let answer = caught(&stage, &one);
        std::fs::write(stage.path(&other, "answer"), &answer).unwrap();
        assert_eq!(second.await.unwrap().decision, Decision::Void(Void::Other));
        std::fs::write(stage.path(&one, "answer"), &answer).unwrap();
        assert_eq!(first.await.unwrap().decision, Decision::Approved);
        let (third, again) = stage.asked().await;
        std::fs::write(stage.path(&again, "answer"), &answer).unwrap();
        assert_eq!(third.await.unwrap().decision, Decision::Void(Void::Used));
    }

    #[tokio::test]
    async fn too_late_is_too_late() {
        let stage = Stage::new();
        let mut late = request(r#"{"to": "ann@corp.example"}"#);
        late.expires = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(1);
        let id = late.id.clone();
        let asked = stage.ask(late);
        let waiting = loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            if let Ok(waiting) = stage.queue().find(&id) {
                break waiting;
            }
        };
        assert_eq!(waiting.state, Standing::Expired);
        assert_eq!(stage.queue().answer(&id, Say::Approve, None).unwrap_err().code(), "approval-expired");
        let question = waiting.question.clone().unwrap();
        let answer = Answer {
            id,
            seal: question.seal.clone(),
            shown_sha256: digest(&question),
            at: question.asked,
            by: None,
            say: Say::Approve,
        };
        assert_eq!(stage.approver.judge(&question, answer), Err(Void::Expired));
        asked.abort();
    }

    #[tokio::test]
    async fn a_question_ends_with_who_asks_and_with_its_file() {
        let stage = Stage::new();
        let (asked, waiting) = stage.asked().await;
        asked.abort();
        assert!(asked.await.is_err());
        assert_eq!(stage.queue().find(&waiting.id).unwrap_err().code(), "approval-unknown");
        let (asked, waiting) = stage.asked().await;
        std::fs::remove_file(stage.path(&waiting, "question")).unwrap();
        assert_eq!(asked.await.unwrap().decision, Decision::Void(Void::Removed));
    }

    #[tokio::test]
    async fn what_the_dead_have_left_is_stale_and_goes() {
        let stage = Stage::new();
        let (asked, waiting) = stage.asked().await;
        let path = stage.path(&waiting, "question");
        let left = std::fs::read(&path).unwrap();
        asked.abort();
        assert!(asked.await.is_err());
        // As it lies there when the process was killed: whole, and locked by nobody.
        for done in ["answered", "swept"] {
            std::fs::write(&path, &left).unwrap();
            assert_eq!(stage.queue().list().unwrap()[0].state, Standing::Stale);
            match done {
                "answered" => {
                    let error = stage.queue().answer(&waiting.id, Say::Approve, None).unwrap_err();
                    assert_eq!(error.code(), "approval-stale");
                }
                _ => drop(Queue::open(stage.state.path()).unwrap()),
            }
            assert!(!path.exists(), "{done}");
        }
    }

    #[tokio::test]
    async fn one_answer_and_groups_only_where_there_is_one() {
        let stage = Stage::new();
        let mut plain = request(r#"{"n": 1}"#);
        plain.alike = None;
        let queue = stage.queue();
        let put = queue.put(&Question::of(&plain)).unwrap();
        let code = |say: Say| queue.answer(&plain.id, say, None).map_err(|error| error.code()).map(drop);
        assert_eq!(code(Say::Group { calls: 2 }), Err("approval-no-group"));
        assert_eq!(code(Say::Approve), Ok(()));
        assert_eq!(code(Say::Deny { reason: String::new() }), Err("approval-answered"));
        assert_eq!(queue.find(&plain.id).unwrap().state, Standing::Answered);
        drop(put);
    }
}
