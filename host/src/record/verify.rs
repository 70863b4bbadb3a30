//! Whether a record is still what was written. Works offline, from the record and a public key alone, and names the
//! first link that is broken. Changes nothing.

use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::Serialize;

use super::artifacts::{self, Promotion};
use super::chain::{self, Checked};
use super::journal::{End, Entry};
use super::sign::{FinishedRuns, PublicKey};
use super::{JOURNAL, Manifest, PROMOTIONS, REPORT, find};
use crate::{Error, Result};

/// What a record turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// All of it is as it was signed.
    Whole,
    /// The run never came to its end, or goes on still. What there is is in order; lines after the last seal are
    /// chained and not signed.
    CutOff,
    /// In order as far as digests tell, but signed with a key that is not at hand: anyone may have made it.
    UnknownKey,
    /// Something was changed, removed or added.
    Broken,
}

/// The first link that is broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The file in the record's folder.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// What is wrong.
    pub message: String,
}

/// What is known of one record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The run's id.
    pub run: String,
    /// What the record turned out to be.
    pub standing: Standing,
    /// The first link that is broken, if one is.
    pub fault: Option<Fault>,
    /// Lines of the journal that are in order.
    pub lines: u64,
    /// Lines of the journal that a good signature covers.
    pub sealed_lines: u64,
    /// Digest of the last of these lines. Whoever keeps it elsewhere can tell that nothing was put in the record's
    /// place, whoever has the key.
    pub head: String,
    /// Fingerprint of the key that signed, as the record says.
    pub key_sha256: String,
    /// Artifacts that are as they were when the run ended.
    pub artifacts: u64,
    /// Artifacts that were copied out.
    pub promotions: u64,
}

/// Verifies the record of a run. `run` is found as by [`read`](super::read). Of the keys, the one counts that the
/// record names. `finished` is what is noted
/// beside the key, where that is at hand.
///
/// # Errors
/// If there is no such record, or its folder cannot be read. What is wrong with a record is no error but its standing.
pub fn verify(records: &Path, run: &str, keys: &[PublicKey], finished: &FinishedRuns) -> Result<Verified> {
    let run = find(records, run)?;
    let path = records.join(&run);
    let folder = Dir::open_ambient_dir(&path, ambient_authority()).map_err(|source| Error::Io {
        doing: "cannot read the record",
        path,
        source,
    })?;
    let mut out = Verified {
        run,
        standing: Standing::Broken,
        fault: None,
        lines: 0,
        sealed_lines: 0,
        head: String::new(),
        key_sha256: String::new(),
        artifacts: 0,
        promotions: 0,
    };
    match out.look(&folder, keys, finished) {
        Ok(standing) => out.standing = standing,
        Err(fault) => out.fault = Some(fault),
    }
    Ok(out)
}

fn fault(file: &str, line: Option<u64>, message: impl Into<String>) -> Fault {
    Fault { file: file.into(), line, message: message.into() }
}

fn file(folder: &Dir, name: &str) -> Result<Vec<u8>, Fault> {
    artifacts::read_plain(folder, name).map_err(|e| fault(name, None, format!("it cannot be read: {e}")))
}

impl Verified {
    fn look(&mut self, folder: &Dir, keys: &[PublicKey], finished: &FinishedRuns) -> Result<Standing, Fault> {
        let text = file(folder, "run.json")?;
        let manifest: Manifest = serde_json::from_slice(&text)
            .map_err(|e| fault("run.json", None, format!("it is damaged: {e}")))?;
        if manifest.run != self.run {
            return Err(fault("run.json", None, format!("it is of another run, {}", manifest.run)));
        }
        if manifest.key_sha256.is_empty() {
            return Err(fault(
                "run.json",
                None,
                "it names no key: the record is older than signed records, or was stripped",
            ));
        }
        self.key_sha256.clone_from(&manifest.key_sha256);
        let key = keys.iter().find(|key| key.fingerprint() == manifest.key_sha256);
        if chain::digest(&file(folder, "script.txt")?) != manifest.script_sha256 {
            return Err(fault("script.txt", None, "it is not the text whose digest is in run.json"));
        }

        let journal: Checked<Entry> =
            chain::check(&file(folder, JOURNAL)?, &self.run, JOURNAL, &chain::digest(&text), key);
        (self.lines, self.sealed_lines) = (journal.lines, journal.sealed);
        self.head.clone_from(&journal.head);
        if let Some((line, mut message)) = journal.fault {
            if journal.lines == 0 && message.contains("prev") {
                message = "it does not follow run.json: one of the two was changed".into();
            }
            return Err(fault(JOURNAL, Some(line), message));
        }
        if journal.lines == 0 {
            return Err(fault(
                JOURNAL,
                None,
                "it has no line; the first seal is written before the run begins",
            ));
        }
        let ended = self.ended(&journal, folder)?;
        self.noted(finished, ended.is_some())?;
        if let Some(end) = ended {
            self.report(folder, end)?;
            self.promoted(folder, end, key)?;
        } else if folder.symlink_metadata(PROMOTIONS).is_ok() {
            return Err(fault(PROMOTIONS, None, "a run that did not end has none"));
        }
        Ok(match (key, ended) {
            (None, _) => Standing::UnknownKey,
            (Some(_), None) => Standing::CutOff,
            (Some(_), Some(_)) => Standing::Whole,
        })
    }

    /// The journal's end, if it has one; then nothing but a seal may come after it.
    fn ended<'a>(&self, journal: &'a Checked<Entry>, folder: &Dir) -> Result<Option<&'a End>, Fault> {
        let end = journal.entries.iter().position(|entry| matches!(entry, Entry::End(_)));
        let line = Some(journal.lines + 1);
        match end {
            None if folder.symlink_metadata(REPORT).is_ok() => Err(fault(
                JOURNAL,
                line,
                "lines are missing: there is a report.json, and no line says that the run ended",
            )),
            None => Ok(None),
            Some(at) if at + 1 < journal.entries.len() => {
                Err(fault(JOURNAL, None, "there are lines after the one that says that the run ended"))
            }
            Some(_) if journal.rest > 0 => Err(fault(JOURNAL, line, "it goes on after its end")),
            Some(_) if !journal.ends_sealed => Err(fault(JOURNAL, line, "the last seal is missing")),
            Some(at) => match &journal.entries[at] {
                Entry::End(end) => Ok(Some(end)),
                Entry::Attempt(_) | Entry::Outcome(_) => Ok(None),
            },
        }
    }

    /// Beside the key it is noted how the journals of finished runs ended.
    fn noted(&self, finished: &FinishedRuns, ended: bool) -> Result<(), Fault> {
        match finished.head(&self.run) {
            Some(_) if !ended => Err(fault(
                JOURNAL,
                Some(self.lines + 1),
                "lines are missing: the run is noted as finished, and no line says that it ended",
            )),
            Some(head) if head != self.head => Err(fault(
                JOURNAL,
                Some(self.lines),
                "it is not the end that was noted when the run finished",
            )),
            Some(_) | None => Ok(()),
        }
    }

    fn report(&mut self, folder: &Dir, end: &End) -> Result<(), Fault> {
        if chain::digest(&file(folder, REPORT)?) != end.report_sha256 {
            return Err(fault(REPORT, None, "it is not what it was when the run ended"));
        }
        let name = |path: &str| format!("artifacts/{}", artifacts::inside(path));
        let out = folder.open_dir("artifacts");
        let out = out.map_err(|e| fault("artifacts", None, format!("it cannot be read: {e}")))?;
        let mut known = Vec::new();
        for artifact in &end.artifacts {
            let content = artifacts::digest_of(&out, artifacts::inside(&artifact.path))
                .map_err(|e| fault(&name(&artifact.path), None, format!("it cannot be read: {e}")))?;
            if content != artifact.sha256 {
                return Err(fault(&name(&artifact.path), None, "it is not what it was when the run ended"));
            }
            known.push(artifacts::inside(&artifact.path));
            self.artifacts += 1;
        }
        let found = artifacts::files(&out)
            .map_err(|e| fault("artifacts", None, format!("it cannot be read: {e}")))?;
        match found.iter().find(|path| !known.contains(&path.as_str())) {
            Some(more) => Err(fault(&name(more), None, "it was not there when the run ended")),
            None => Ok(()),
        }
    }

    fn promoted(&mut self, folder: &Dir, end: &End, key: Option<&PublicKey>) -> Result<(), Fault> {
        if folder.symlink_metadata(PROMOTIONS).is_err() {
            return Ok(());
        }
        let file = file(folder, PROMOTIONS)?;
        let promotions: Checked<Promotion> = chain::check(&file, &self.run, PROMOTIONS, &self.head, key);
        if let Some((line, message)) = promotions.fault {
            return Err(fault(PROMOTIONS, Some(line), message));
        }
        let line = Some(promotions.lines + 1);
        if promotions.rest > 0 || !promotions.ends_sealed {
            return Err(fault(PROMOTIONS, line, "the last seal is missing, or something stands after it"));
        }
        for promotion in &promotions.entries {
            let proposed =
                end.artifacts.iter().any(|a| a.path == promotion.path && a.sha256 == promotion.sha256);
            if !proposed {
                let message = format!("{} was not proposed so", promotion.path);
                return Err(fault(PROMOTIONS, None, message));
            }
        }
        self.promotions = promotions.entries.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
