//! What ran: one folder per run, written while it happens.
//!
//! ```text
//! RECORDS/RUN/run.json          what was run: script digest, versions, limits, grants
//!             script.txt        the text as it was handed over
//!             journal.jsonl     every attempt to call a tool, and what came of it; chained and sealed
//!             artifacts/        what the script put into /out
//!             report.json       how it ended
//!             promotions.jsonl  which artifacts were copied out, and where to; chained and sealed
//! ```
//!
//! The chain begins with the digest of run.json, which holds that of script.txt, and ends with those of report.json
//! and the artifacts: no part can be changed alone. Nothing of the host's secrets comes in here: of the configuration
//! only a digest is kept. What looks like a secret of the user's is replaced before it is written (`redact`).

mod artifacts;
mod chain;
mod facts;
mod journal;
mod manifest;
mod redact;
mod sign;
mod verify;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use crate::sandbox::ArtifactFile;
use crate::{Error, Report, Result, folders};

pub use artifacts::{Promotion, Proposal, promote, proposals};
pub use facts::{AppliedRule, RecordedArgument, RecordedBudget, RecordedFacts, RecordedFinding};
pub use journal::{Attempt, Decider, End, Entry, Outcome, RecordedApproval, Said, Timings};
pub use manifest::{GuardSettings, Manifest, RecordedInput};
pub use redact::Redactor;
pub(crate) use sign::from_hex;
pub use sign::{FinishedRuns, PublicKey, RecordKey};
pub use verify::{Fault, Standing, Verified, verify};

use chain::Chain;

/// A finished run's last file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closing {
    /// When it ended.
    pub ended: jiff::Timestamp,
    /// The guard's weights, if it was asked.
    pub guard: Option<postern_check::ModelInfo>,
    /// The report as the caller got it.
    #[serde(flatten)]
    pub report: Report,
}

/// The record of a run that is going on.
#[derive(Debug)]
pub struct Record {
    run: String,
    folder: PathBuf,
    key: RecordKey,
    redactor: Redactor,
    journal: Mutex<Chain>,
}

impl Record {
    /// Makes the folder and writes what is known at the start. The manifest gets the key's fingerprint.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(
        records: &Path,
        mut manifest: Manifest,
        script: &str,
        key: RecordKey,
        redactor: Redactor,
    ) -> Result<Self> {
        let folder = records.join(&manifest.run);
        let artifacts = folder.join("artifacts");
        let fault = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Io { doing: "cannot write the record", path, source }
        };
        folders::private().create(&artifacts).map_err(fault(&artifacts))?;
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).map_err(fault(&path))
        };
        manifest.key_sha256 = key.public().fingerprint();
        manifest.intent = redactor.text(&manifest.intent);
        manifest.constraints.iter_mut().for_each(|rule| *rule = redactor.text(rule));
        redactor.clauses(&mut manifest.clauses);
        write("script.txt", script.as_bytes())?;
        let text = pretty(&manifest)?;
        write("run.json", &text)?;
        let path = folder.join(JOURNAL);
        let journal = File::options().append(true).create_new(true).open(&path).map_err(fault(&path))?;
        let mut journal = Chain::resume(journal, &manifest.run, JOURNAL, (0, 0, chain::digest(&text)));
        // Sealed at once: a run that is cut off early has a signature over what it was.
        journal.append::<Entry>(&[], &key, true).map_err(fault(&path))?;
        Ok(Self { run: manifest.run, folder, key, redactor, journal: Mutex::new(journal) })
    }

    /// Where /out is kept.
    pub fn artifacts(&self) -> PathBuf {
        self.folder.join("artifacts")
    }

    /// Appends one line to the journal, without the secrets in it.
    ///
    /// # Errors
    /// If it cannot be written; the gate then lets nothing through, for what is not recorded must
    /// not happen.
    pub fn note(&self, entry: &Entry) -> Result<()> {
        let entry = self.redactor.entry(entry);
        self.append(&[entry], false).map(drop)
    }

    /// Writes how the run ended, without the secrets in it, and signs the whole.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn close(&self, closing: &Closing) -> Result<()> {
        let mut closing = closing.clone();
        self.redactor.report(&mut closing.report);
        let text = pretty(&closing)?;
        let path = self.folder.join(REPORT);
        // Never half a report: it is there or it is not.
        let new = self.folder.join(".report.json");
        std::fs::write(&new, &text)
            .and_then(|()| std::fs::rename(&new, &path))
            .map_err(|source| Error::Io { doing: "cannot write the record", path, source })?;
        let end = End {
            at: closing.ended,
            report_sha256: chain::digest(&text),
            artifacts: closing.report.artifacts,
        };
        let head = self.append(&[Entry::End(end)], true)?;
        if let Err(error) = self.key.note_finished(&self.run, &head) {
            tracing::warn!(%error, "that the run has finished is not noted beside the key");
        }
        Ok(())
    }

    /// The run's id.
    pub fn run(&self) -> &str {
        &self.run
    }

    fn append(&self, entries: &[Entry], seal: bool) -> Result<String> {
        let mut journal = self.journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        journal.append(entries, &self.key, seal).map_err(|source| Error::Io {
            doing: "cannot write the journal in",
            path: self.folder.clone(),
            source,
        })?;
        Ok(journal.head().to_owned())
    }
}

const JOURNAL: &str = "journal.jsonl";
const REPORT: &str = "report.json";
const PROMOTIONS: &str = "promotions.jsonl";

/// A record as read back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Read {
    /// What was run.
    pub manifest: Manifest,
    /// How it ended; None if it never came to its end.
    pub closing: Option<Closing>,
    /// Every attempt and outcome, in the order they were written.
    pub journal: Vec<Entry>,
}

/// Reads the record of a run, without judging whether it is what was written (see [`verify`]). `run` may be the first
/// characters of its id, if they fit only one, or `last`.
///
/// # Errors
/// If there is no such record, more than one, or it is damaged.
pub fn read(records: &Path, run: &str) -> Result<Read> {
    read_folder(&records.join(find(records, run)?))
}

/// Reads a record in this folder, wherever it lies. Does not judge it either.
///
/// # Errors
/// If it is no record, or damaged.
pub fn read_folder(folder: &Path) -> Result<Read> {
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    let fault = |message: String| Error::Record { run: name.clone(), message };
    let text = |name: &str| {
        std::fs::read_to_string(folder.join(name)).map_err(|e| fault(format!("{name} cannot be read: {e}")))
    };
    let manifest =
        serde_json::from_str(&text("run.json")?).map_err(|e| fault(format!("run.json is damaged: {e}")))?;
    let closing = match folder.join(REPORT).exists() {
        true => Some(
            serde_json::from_str(&text(REPORT)?).map_err(|e| fault(format!("{REPORT} is damaged: {e}")))?,
        ),
        false => None,
    };
    let text = text(JOURNAL)?;
    let mut journal = Vec::new();
    // What stands after the last line end was cut off with the host.
    for (number, line) in text.split_inclusive('\n').enumerate().filter(|(_, line)| line.ends_with('\n')) {
        let damaged = |e| fault(format!("{JOURNAL} line {} is damaged: {e}", number + 1));
        let link: Link = serde_json::from_str(line).map_err(damaged)?;
        if link.r#type != "seal" && link.r#type != "end" {
            journal.push(serde_json::from_str(line).map_err(damaged)?);
        }
    }
    Ok(Read { manifest, closing, journal })
}

/// Of a line of the journal, what it is.
#[derive(Deserialize)]
struct Link {
    r#type: String,
}

/// The content of an artifact of a run.
///
/// # Errors
/// If it cannot be read inside the record's own folder, or is not what its digest says.
pub fn artifact(records: &Path, run: &str, artifact: &ArtifactFile) -> Result<Vec<u8>> {
    let fault = |message: String| Error::Record {
        run: run.to_owned(),
        message: format!("{}: {message}", artifact.path),
    };
    let folder = records.join(find(records, run)?).join("artifacts");
    let bytes = Dir::open_ambient_dir(&folder, ambient_authority())
        .and_then(|folder| artifacts::read_plain(&folder, artifacts::inside(&artifact.path)))
        .map_err(|e| fault(format!("cannot be read: {e}")))?;
    if chain::digest(&bytes) != artifact.sha256 {
        return Err(fault("is not what it was when the run ended".into()));
    }
    Ok(bytes)
}

/// The ids of all records, oldest first.
///
/// # Errors
/// If the folder cannot be read; a folder that is not there has no records.
pub fn list(records: &Path) -> Result<Vec<String>> {
    let fault = |source| Error::Io { doing: "cannot read", path: records.to_owned(), source };
    let entries = match std::fs::read_dir(records) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(fault)?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        let name = entry.map_err(fault)?.file_name();
        // Ids begin with the time, so their order is that of the runs.
        runs.extend(name.to_str().filter(|name| name.parse::<uuid::Uuid>().is_ok()).map(str::to_owned));
    }
    runs.sort();
    Ok(runs)
}

/// The id that begins with `run`, or of the latest run when it is `last`.
fn find(records: &Path, run: &str) -> Result<String> {
    let fault = |message: &str| Error::Record { run: run.to_owned(), message: message.to_owned() };
    let mut runs = list(records)?;
    if run == "last" {
        return runs.pop().ok_or_else(|| fault("there are no records"));
    }
    let mut fits: Vec<_> = runs.into_iter().filter(|id| !run.is_empty() && id.starts_with(run)).collect();
    match (fits.pop(), fits.len()) {
        (None, _) => Err(fault("there is no such record")),
        (Some(id), 0) => Ok(id),
        (Some(_), _) => Err(fault("more than one record begins so")),
    }
}

/// `records/` in [`state_folder`].
pub fn default_folder() -> PathBuf {
    state_folder().join("records")
}

/// Where Postern keeps what is this user's: `POSTERN_HOME`, else in the user's folder for state. The key that signs
/// records lies in it.
pub fn state_folder() -> PathBuf {
    folders::of_user("POSTERN_HOME", "XDG_STATE_HOME", ".local/state/postern")
        .unwrap_or_else(|| std::env::temp_dir().join("postern"))
}

fn pretty(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec_pretty(value)
        .map_err(|e| Error::Sandbox(format!("the record cannot be written down: {e}")))
}
