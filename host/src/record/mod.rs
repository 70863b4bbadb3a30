//! What ran: one folder per run, written while it happens.
//!
//! ```text
//! RECORDS/RUN/run.json        what was run: script digest, versions, limits, grants
//!             script.txt      the text as it was handed over
//!             journal.jsonl   every attempt to call a tool, and what came of it
//!             artifacts/      what the script put into /out
//!             report.json     how it ended
//! ```
//!
//! Nothing of the host's secrets comes in here: of the configuration only a digest is kept.

mod journal;

use std::fs::{DirBuilder, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::sandbox::{ArtifactFile, Limits, hex};
use crate::{Error, Report, Result};

pub use journal::{Attempt, Entry, Outcome, Timings};

/// What was run, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The run's id.
    pub run: String,
    /// When it began.
    pub started: jiff::Timestamp,
    /// Postern's version.
    pub postern: String,
    /// The sandbox's version.
    pub wasmtime: String,
    /// The script's name, as given.
    pub script: String,
    /// SHA-256 of script.txt.
    pub script_sha256: String,
    /// The language it was taken for.
    pub language: String,
    /// BLAKE3 of the runner component.
    pub runner_blake3: String,
    /// SHA-256 over the configuration files; flags are not in it.
    pub config_sha256: String,
    /// What the user asked for.
    pub intent: String,
    /// The rules the user set.
    pub constraints: Vec<String>,
    /// Patterns of the tools that might be called.
    pub allow_tools: Vec<String>,
    /// The inputs' names under /input.
    pub inputs: Vec<String>,
    /// The limits in force.
    pub limits: Limits,
}

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
    journal: Mutex<File>,
}

impl Record {
    /// Makes the folder and writes what is known at the start.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(records: &Path, manifest: &Manifest, script: &str) -> Result<Self> {
        let folder = records.join(&manifest.run);
        let artifacts = folder.join("artifacts");
        let fault = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Io { doing: "cannot write the record", path, source }
        };
        private_folder().create(&artifacts).map_err(fault(&artifacts))?;
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).map_err(fault(&path))
        };
        write("script.txt", script.as_bytes())?;
        write("run.json", &pretty(manifest)?)?;
        let path = folder.join("journal.jsonl");
        let journal = File::options().append(true).create_new(true).open(&path).map_err(fault(&path))?;
        Ok(Self { run: manifest.run.clone(), folder, journal: Mutex::new(journal) })
    }

    /// Where /out is kept.
    pub fn artifacts(&self) -> PathBuf {
        self.folder.join("artifacts")
    }

    /// Appends one line to the journal.
    ///
    /// # Errors
    /// If it cannot be written; the gate then lets nothing through, for what is not recorded must
    /// not happen.
    pub fn note(&self, entry: &Entry) -> Result<()> {
        let fault =
            |source| Error::Io { doing: "cannot write the journal in", path: self.folder.clone(), source };
        let mut line = serde_json::to_vec(entry).map_err(|e| fault(e.into()))?;
        line.push(b'\n');
        let mut journal = self.journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        journal.write_all(&line).map_err(fault)
    }

    /// Writes how the run ended.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn close(&self, closing: &Closing) -> Result<()> {
        let path = self.folder.join("report.json");
        let text = pretty(closing)?;
        std::fs::write(&path, text).map_err(|source| Error::Io {
            doing: "cannot write the record",
            path,
            source,
        })
    }

    /// The run's id.
    pub fn run(&self) -> &str {
        &self.run
    }
}

/// A record as read back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Read {
    /// What was run.
    pub manifest: Manifest,
    /// How it ended; None if it never came to its end.
    pub closing: Option<Closing>,
    /// Every line of the journal.
    pub journal: Vec<Entry>,
}

/// Reads the record of a run. `run` may be the first characters of its id, if they fit only one.
///
/// # Errors
/// If there is no such record, more than one, or it is damaged.
pub fn read(records: &Path, run: &str) -> Result<Read> {
    let run = find(records, run)?;
    let fault = |message: String| Error::Record { run: run.clone(), message };
    let folder = records.join(&run);
    let text = |name: &str| {
        std::fs::read_to_string(folder.join(name)).map_err(|e| fault(format!("{name} cannot be read: {e}")))
    };
    let manifest =
        serde_json::from_str(&text("run.json")?).map_err(|e| fault(format!("run.json is damaged: {e}")))?;
    let closing = match folder.join("report.json").exists() {
        true => Some(
            serde_json::from_str(&text("report.json")?)
                .map_err(|e| fault(format!("report.json is damaged: {e}")))?,
        ),
        false => None,
    };
    let journal = text("journal.jsonl")?
        .lines()
        .enumerate()
        .map(|(number, line)| {
            let damaged = |e| fault(format!("journal.jsonl line {} is damaged: {e}", number + 1));
            serde_json::from_str(line).map_err(damaged)
        })
        .collect::<Result<_>>()?;
    Ok(Read { manifest, closing, journal })
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
    // Resolved inside the folder, whatever the path says.
    let bytes = Dir::open_ambient_dir(&folder, ambient_authority())
        .and_then(|folder| folder.read(artifact.path.trim_start_matches("/out/")))
        .map_err(|e| fault(format!("cannot be read: {e}")))?;
    if hex(&Sha256::digest(&bytes)) != artifact.sha256 {
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

fn find(records: &Path, run: &str) -> Result<String> {
    let fault = |message: &str| Error::Record { run: run.to_owned(), message: message.to_owned() };
    let mut fits: Vec<_> =
        list(records)?.into_iter().filter(|id| !run.is_empty() && id.starts_with(run)).collect();
    match (fits.pop(), fits.len()) {
        (None, _) => Err(fault("there is no such record")),
        (Some(id), 0) => Ok(id),
        (Some(_), _) => Err(fault("more than one record begins so")),
    }
}

/// `records/` in `POSTERN_HOME`, else in the user's folder for state.
pub fn default_folder() -> PathBuf {
    crate::folders::of_user("POSTERN_HOME", "XDG_STATE_HOME", ".local/state/postern")
        .unwrap_or_else(|| std::env::temp_dir().join("postern"))
        .join("records")
}

fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn pretty(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec_pretty(value)
        .map_err(|e| Error::Sandbox(format!("the record cannot be written down: {e}")))
}
