//! The folder in which questions wait for answers: what stands in its files, who may read them, and which
//! answers count. Whoever asks and whoever answers are different processes of one user; they share nothing
//! but this folder and a key beside it.
//!
//! ```text
//! STATE/approvals-key           32 random bytes in hex, mode 0600: seals what lies in the folder
//! STATE/approvals/              mode 0700
//!   ID.question.json            mode 0600; locked by the process that asks for as long as it waits
//!   ID.answer.json              mode 0600; taken and removed by the process that asks
//! ```
//!
//! Never here: the exact arguments when there are secrets in them, and the decision itself. What an answer
//! counts for is decided where the question was put (`queue`, and then the gate).

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use hmac::Mac;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::bound::mac;
use super::{MOST_ALIKE, Question};
use crate::canonical::canonical;
use crate::record::from_hex;
use crate::sandbox::hex;
use crate::secret_file;
use crate::visible::visible;
use crate::{Error, Result};

const FOLDER: &str = "approvals";
const KEY_FILE: &str = "approvals-key";
const QUESTION: &str = ".question.json";
const ANSWER: &str = ".answer.json";
/// No file of the queue is longer than this: arguments are at most 1 GiB by configuration, and nobody reads
/// that much before saying yes.
const MOST: u64 = 64 << 20;

/// Questions that wait for answers.
pub struct Queue {
    folder: PathBuf,
    key: [u8; 32],
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// A question in the queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waiting {
    /// Its name.
    pub id: String,
    /// Whether it can be answered.
    pub state: Standing,
    /// What is asked; null when the file is not what was written.
    pub question: Option<Question>,
}

/// Whether a question can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It can.
    Waiting,
    /// It was answered, and whoever asked has not looked yet.
    Answered,
    /// Its time is over.
    Expired,
    /// Whoever asked has died; nobody waits for an answer any more.
    Stale,
    /// The file is not what was written by whoever asked.
    Changed,
}

/// What somebody says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "lowercase", deny_unknown_fields)]
pub enum Say {
    /// Go ahead, this once.
    Approve,
    /// Go ahead, and the same for like calls: this many in all.
    Group {
        /// At most [`MOST_ALIKE`].
        calls: u32,
    },
    /// No.
    Deny {
        /// Why; the script is told.
        reason: String,
    },
    /// The question that was found is not the one that was put; nobody has decided about anything.
    Void,
}

/// An answer as it lies in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    /// The question's name.
    pub(super) id: String,
    /// The question's seal.
    pub(super) seal: String,
    /// SHA-256 of the question as it was shown.
    pub(super) shown_sha256: String,
    /// When it was given.
    pub(super) at: Timestamp,
    /// Who gave it, by their own account.
    pub(super) by: Option<String>,
    /// What was said.
    pub(super) say: Say,
}

/// What a file holds: a document, and a code that only who has the key can make.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    content: Value,
    mac: String,
}

/// A question that lies in the queue; dropped, it is gone.
pub(super) struct Put {
    question: PathBuf,
    answer: PathBuf,
    /// Locked. The lock ends with the process, however that ends.
    _locked: File,
}

impl Drop for Put {
    fn drop(&mut self) {
        // What cannot be removed is found to be stale by whoever looks next.
        let _ = std::fs::remove_file(&self.question);
        let _ = std::fs::remove_file(&self.answer);
    }
}

impl Queue {
    /// The queue in this folder for state; its folder and key are made if they are not there. Questions
    /// whose askers have died are removed.
    ///
    /// # Errors
    /// If it cannot be read or made, or others than this user can read it.
    pub fn open(state: &Path) -> Result<Self> {
        let queue = Self::look(state)?;
        queue.sweep()?;
        Ok(queue)
    }

    /// The same without removing anything.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn look(state: &Path) -> Result<Self> {
        let folder = state.join(FOLDER);
        secret_file::folder(&folder)?;
        let path = state.join(KEY_FILE);
        let text = secret_file::read_or_make(&path, || Ok(hex(&secret_file::random_key()?)))?;
        let key = from_hex(text.trim()).and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| {
            let message = "is no key; move it away while nothing waits in the queue, and a new one is made";
            Error::Config { path, message: message.into() }
        })?;
        Ok(Self { folder, key })
    }

    /// Where the files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Everything that lies in the queue, the oldest question first.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Waiting>> {
        let mut all: Vec<Waiting> = self.ids(QUESTION)?.iter().filter_map(|id| self.waiting(id)).collect();
        let asked = |waiting: &Waiting| waiting.question.as_ref().map(|question| question.asked);
        all.sort_by_key(|waiting| (asked(waiting), waiting.id.clone()));
        Ok(all)
    }

    /// The question of this name, or the only one whose name begins so.
    ///
    /// # Errors
    /// `approval-unknown`.
    pub fn find(&self, name: &str) -> Result<Waiting> {
        let unknown = |message: String| {
            let hint = "`postern approvals list` shows what waits; what was decided, has expired or lost its run is gone";
            fault("approval-unknown", message, Some(hint))
        };
        let mut fits: Vec<String> = self.ids(QUESTION)?;
        fits.retain(|id| !name.is_empty() && id.starts_with(name));
        match (fits.pop(), fits.len()) {
            (Some(id), 0) => {
                self.waiting(&id).ok_or_else(|| unknown(format!("the approval {} is gone", visible(name))))
            }
            (Some(_), _) => Err(unknown(format!("more than one approval begins with {}", visible(name)))),
            (None, _) => Err(unknown(format!("no approval {} is waiting", visible(name)))),
        }
    }

    /// Answers a question, once. `by` is who does, for the record.
    ///
    /// # Errors
    /// `approval-unknown`, `approval-stale`, `approval-expired`, `approval-answered`, `approval-no-group`; and
    /// `approval-changed` when the question is not what was put: whoever asks is told so and goes no further.
    pub fn answer(&self, name: &str, say: Say, by: Option<&str>) -> Result<Waiting> {
        let waiting = self.find(name)?;
        let id = waiting.id.as_str();
        let Some(question) = waiting.question.as_ref().filter(|_| waiting.state != Standing::Changed) else {
            // Nobody may be left waiting for an answer to something that was tampered with.
            let answer = Answer {
                id: id.to_owned(),
                seal: String::new(),
                shown_sha256: String::new(),
                at: Timestamp::now(),
                by: by.map(visible),
                say: Say::Void,
            };
            self.write(&self.path(id, ANSWER), &answer, ANSWER, true)?;
            let message = format!("the approval {id} is not what the run wrote: somebody changed the file");
            let hint = "nothing was approved; the call is refused, and the record of the run says why";
            return Err(fault("approval-changed", message, Some(hint)));
        };
        match waiting.state {
            Standing::Waiting | Standing::Changed => {}
            Standing::Answered => {
                return Err(fault(
                    "approval-answered",
                    format!("the approval {id} was answered already"),
                    None,
                ));
            }
            Standing::Expired => {
                return Err(fault("approval-expired", format!("the approval {id} has expired"), None));
            }
            Standing::Stale => {
                let _ = std::fs::remove_file(self.path(id, QUESTION));
                let message =
                    format!("the run {} that asked has died; its approval {id} is removed", question.run);
                return Err(fault("approval-stale", message, None));
            }
        }
        if let Say::Group { calls } = say {
            if question.alike.is_none() {
                let message = format!("the call of the approval {id} names no place that others could share");
                return Err(fault("approval-no-group", message, Some("approve it alone, without --group")));
            }
            if !(1..=MOST_ALIKE).contains(&calls) {
                let message = format!("a group has 1 to {MOST_ALIKE} calls, not {calls}");
                return Err(fault("approval-no-group", message, None));
            }
        }
        let answer = Answer {
            id: id.to_owned(),
            seal: question.seal.clone(),
            shown_sha256: digest(question),
            at: Timestamp::now(),
            by: by.map(visible),
            say,
        };
        match self.write(&self.path(id, ANSWER), &answer, ANSWER, false) {
            Ok(_) => {
                // Whoever asked may have gone while the answer was written: then nobody has taken it.
                let gone = !self.path(id, QUESTION).exists();
                if gone && std::fs::remove_file(self.path(id, ANSWER)).is_ok() {
                    let message = format!("the approval {id} was given up just before it was answered");
                    return Err(fault("approval-unknown", message, None));
                }
                Ok(waiting)
            }
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(fault("approval-answered", format!("the approval {id} was answered already"), None))
            }
            Err(error) => Err(error),
        }
    }

    /// Puts a question.
    pub(super) fn put(&self, question: &Question) -> Result<Put> {
        let path = self.path(&question.id, QUESTION);
        let locked = self.write(&path, question, QUESTION, false)?;
        Ok(Put { question: path, answer: self.path(&question.id, ANSWER), _locked: locked })
    }

    /// The answer to a question, taken out of the queue. `Err`: there is one, and it is none of ours.
    pub(super) fn take(&self, put: &Put) -> Option<Result<Answer, NotOurs>> {
        let text = match secret_file::read_at_most(&put.answer, MOST) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return None,
            text => text,
        };
        let _ = std::fs::remove_file(&put.answer);
        Some(text.ok().and_then(|text| self.unseal(&text, ANSWER)).ok_or(NotOurs))
    }

    /// Whether the question still lies where it was put.
    pub(super) fn is_there(put: &Put) -> bool {
        put.question.exists()
    }

    /// Removes what nobody waits for any more.
    fn sweep(&self) -> Result<()> {
        for id in self.ids(QUESTION)? {
            if is_stale(&self.path(&id, QUESTION)) {
                let _ = std::fs::remove_file(self.path(&id, QUESTION));
            }
        }
        for id in self.ids(ANSWER)? {
            if !self.path(&id, QUESTION).exists() {
                let _ = std::fs::remove_file(self.path(&id, ANSWER));
            }
        }
        Ok(())
    }

    /// None: it has gone meanwhile.
    fn waiting(&self, id: &str) -> Option<Waiting> {
        let path = self.path(id, QUESTION);
        let text = match secret_file::read_at_most(&path, MOST) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return None,
            text => text.unwrap_or_default(),
        };
        // A file under another's name is not what was written either.
        let question: Option<Question> = self.unseal(&text, QUESTION);
        let question = question.filter(|question| question.id == id);
        let state = match &question {
            None => Standing::Changed,
            Some(_) if is_stale(&path) => Standing::Stale,
            Some(question) if Timestamp::now() > question.expires => Standing::Expired,
            Some(_) if self.path(id, ANSWER).exists() => Standing::Answered,
            Some(_) => Standing::Waiting,
        };
        Some(Waiting { id: id.to_owned(), state, question })
    }

    fn ids(&self, ending: &str) -> Result<Vec<String>> {
        let fault = |source| Error::Io { doing: "cannot read", path: self.folder.clone(), source };
        let mut ids = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(fault)? {
            let name = entry.map_err(fault)?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(ending));
            ids.extend(id.filter(|id| id.parse::<uuid::Uuid>().is_ok()).map(str::to_owned));
        }
        ids.sort();
        Ok(ids)
    }

    fn path(&self, id: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{id}{ending}"))
    }

    /// Writes a sealed document whole or not at all, locked before it can be seen. `purpose` goes into the
    /// code: a question is no answer.
    fn write(&self, path: &Path, content: &impl Serialize, purpose: &str, over: bool) -> Result<File> {
        let fault = |source| Error::Io { doing: "cannot write", path: path.to_owned(), source };
        let write = || -> std::io::Result<File> {
            let content = canonical(&serde_json::to_value(content)?);
            let mac = hex(&mac(&self.key, &[purpose, &content.to_string()]).finalize().into_bytes());
            let text = serde_json::to_string_pretty(&Sealed { content, mac })?;
            // Mode 0600 from the first byte on.
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.as_file().lock()?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            match over {
                true => file.persist(path).map_err(|e| e.error),
                false => file.persist_noclobber(path).map_err(|e| e.error),
            }
        };
        write().map_err(fault)
    }

    fn unseal<T: DeserializeOwned>(&self, text: &str, purpose: &str) -> Option<T> {
        let Sealed { content, mac: found } = serde_json::from_str(text).ok()?;
        let text = canonical(&content).to_string();
        mac(&self.key, &[purpose, &text]).verify_slice(&from_hex(&found)?).ok()?;
        serde_json::from_value(content).ok()
    }
}

/// A file that was not made with the queue's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotOurs;

/// SHA-256 of a question as it is written down, in hex.
pub(super) fn digest(question: &Question) -> String {
    let value = serde_json::to_value(question).unwrap_or_default();
    hex(&Sha256::digest(canonical(&value).to_string().as_bytes()))
}

/// Whether nobody holds the lock that whoever asks keeps while it waits. What cannot be opened is not
/// called dead.
fn is_stale(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn fault(code: &'static str, message: String, hint: Option<&str>) -> Error {
    Error::Approval { code, message, hint: hint.map(str::to_owned) }
}
