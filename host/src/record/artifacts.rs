//! What a script left in /out is a proposal; promoting copies it out of the record, and writes down that it did. Only
//! plain files are ever read or written, each inside its own folder whatever its path says, and a file is only what its
//! digest says, before and after.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::chain::{self, Chain, Checked};
use super::sign::{FinishedRuns, RecordKey};
use super::verify::{Standing, verify};
use super::{JOURNAL, PROMOTIONS, find, read};
use crate::sandbox::{ArtifactFile, hex};
use crate::{Error, Result};

/// One artifact that was copied out: a line of promotions.jsonl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promotion {
    /// Always `promotion`.
    pub r#type: String,
    /// When.
    pub at: jiff::Timestamp,
    /// Where the script wrote it, under /out.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content.
    pub sha256: String,
    /// The file it became.
    pub to: String,
}

/// What a run proposed, and what has become of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// The run's id.
    pub run: String,
    /// What lies in /out.
    pub artifacts: Vec<ArtifactFile>,
    /// What was copied out so far, oldest first.
    pub promotions: Vec<Promotion>,
}

/// What a run proposed. `run` is found as by [`read`].
///
/// # Errors
/// If there is no such record, it is damaged, or the run never came to its end.
pub fn proposals(records: &Path, run: &str) -> Result<Proposal> {
    let run = find(records, run)?;
    let closing = read(records, &run)?.closing;
    let fault = |message: String| Error::Record { run: run.clone(), message };
    let closing =
        closing.ok_or_else(|| fault("the run never came to its end, so nothing was proposed".into()))?;
    let promotions = match std::fs::read(records.join(&run).join(PROMOTIONS)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(fault(format!("{PROMOTIONS} cannot be read: {e}"))),
        Ok(bytes) => {
            let journal = std::fs::read(records.join(&run).join(JOURNAL));
            let journal = journal.map_err(|e| fault(format!("{JOURNAL} cannot be read: {e}")))?;
            let checked = promotions_in(&bytes, &run, &last_line(&journal));
            match checked.fault {
                Some((line, message)) => return Err(fault(format!("{PROMOTIONS} line {line}: {message}"))),
                None => checked.entries,
            }
        }
    };
    Ok(Proposal { run, artifacts: closing.report.artifacts, promotions })
}

/// Copies artifacts of a run into a folder, and writes that into the record. `paths` are as in the report, with or
/// without `/out/`; none means all. Nothing that is there is written over unless `over`.
///
/// # Errors
/// If the record is not whole or not this key's, there is no such artifact, it is not what it was, or it cannot be
/// written. What was copied before that is in the record.
pub fn promote(
    records: &Path,
    run: &str,
    paths: &[String],
    to: &Path,
    over: bool,
    key: &RecordKey,
) -> Result<Vec<Promotion>> {
    let run = find(records, run)?;
    let fault = |message: String| Error::Record { run: run.clone(), message };
    let verified = verify(records, &run, &[key.public()], &FinishedRuns::default())?;
    match (verified.standing, verified.fault) {
        (Standing::Whole, _) => {}
        (Standing::CutOff, _) => {
            return Err(fault("the run never came to its end, so nothing was proposed".into()));
        }
        (Standing::UnknownKey, _) => {
            return Err(fault(
                "it is signed with another key than yours, so nobody vouches for what is in it".into(),
            ));
        }
        (Standing::Broken, broken) => {
            let place =
                broken.map(|broken| format!("{}: {}", broken.file, broken.message)).unwrap_or_default();
            return Err(fault(format!("it is not what was written ({place}); nothing is copied out of it")));
        }
    }
    let proposal = proposals(records, &run)?;
    let chosen = choose(&proposal.artifacts, paths).map_err(&fault)?;
    let folder = records.join(&run);
    let out = Dir::open_ambient_dir(folder.join("artifacts"), ambient_authority())
        .map_err(|e| fault(format!("its artifacts cannot be read: {e}")))?;
    let io = |source| Error::Io { doing: "cannot write to", path: to.to_owned(), source };
    Dir::create_ambient_dir_all(to, ambient_authority()).map_err(io)?;
    let target = Dir::open_ambient_dir(to, ambient_authority()).map_err(io)?;
    let absolute = to.canonicalize().map_err(io)?;

    // All or nothing, as far as can be told beforehand.
    for artifact in &chosen {
        may_write(&target, inside(&artifact.path), over).map_err(&fault)?;
    }
    let mut done = Vec::new();
    let copied = chosen.iter().try_for_each(|artifact| {
        let name = inside(&artifact.path);
        copy(&out, &target, name, &artifact.sha256, over)
            .map_err(|e| fault(format!("{} cannot be copied: {e}", artifact.path)))?;
        done.push(Promotion {
            r#type: "promotion".into(),
            at: jiff::Timestamp::now(),
            path: artifact.path.clone(),
            bytes: artifact.bytes,
            sha256: artifact.sha256.clone(),
            to: absolute.join(name).display().to_string(),
        });
        Ok(())
    });
    if !done.is_empty() {
        note(&folder, &run, &verified.head, &done, key).map_err(|e| fault(format!("{PROMOTIONS}: {e}")))?;
    }
    copied.map(|()| done)
}

/// The artifacts with these paths; all when there are none.
fn choose<'a>(all: &'a [ArtifactFile], paths: &[String]) -> Result<Vec<&'a ArtifactFile>, String> {
    if paths.is_empty() {
        return Ok(all.iter().collect());
    }
    let mut chosen: Vec<&ArtifactFile> = Vec::new();
    for path in paths {
        let found = all.iter().find(|artifact| inside(&artifact.path) == inside(path));
        let found = found.ok_or_else(|| {
            let path = crate::visible::visible(path);
            format!("there is no artifact {path}; `postern artifacts list` shows what there is")
        })?;
        if !chosen.contains(&found) {
            chosen.push(found);
        }
    }
    Ok(chosen)
}

/// The path below /out.
pub(super) fn inside(path: &str) -> &str {
    path.strip_prefix("/out/").unwrap_or(path)
}

/// Appends to promotions.jsonl, which is bound to the last line of the journal.
fn note(folder: &Path, run: &str, journal: &str, done: &[Promotion], key: &RecordKey) -> io::Result<()> {
    let mut file = File::options().read(true).append(true).create(true).open(folder.join(PROMOTIONS))?;
    // Of two that promote at once, one waits; what it follows is read under the lock.
    #[cfg(unix)]
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let there = promotions_in(&bytes, run, journal);
    if there.fault.is_some() || there.rest > 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it was changed"));
    }
    let place = (there.lines, there.length, there.head);
    Chain::resume(file, run, PROMOTIONS, place).append(done, key, true)
}

fn promotions_in(bytes: &[u8], run: &str, journal: &str) -> Checked<Promotion> {
    chain::check(bytes, run, PROMOTIONS, journal, None)
}

/// Digest of the last line of a chained file.
fn last_line(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    chain::digest(bytes.rsplit(|byte| *byte == b'\n').next().unwrap_or_default())
}

fn may_write(target: &Dir, name: &str, over: bool) -> Result<(), String> {
    let shown = crate::visible::visible(name);
    match target.symlink_metadata(name) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(format!("{shown} cannot be written: {e}")),
        Ok(there) if !there.is_file() => Err(format!("{shown} is there already, and is no plain file")),
        Ok(_) if !over => Err(format!("{shown} is there already; --force writes over it")),
        Ok(_) => Ok(()),
    }
}

/// Copies one file, whole or not at all.
fn copy(out: &Dir, target: &Dir, name: &str, sha256: &str, over: bool) -> io::Result<()> {
    let bytes = read_plain(out, name)?;
    let right = |bytes: &[u8]| match hex(&Sha256::digest(bytes)) == sha256 {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "it is not what it was when the run ended")),
    };
    right(&bytes)?;
    let (parent, last) = name.rsplit_once('/').unwrap_or(("", name));
    if !parent.is_empty() {
        target.create_dir_all(parent)?;
    }
    let parent = if parent.is_empty() { target.try_clone()? } else { target.open_dir(parent)? };
    let new = format!(".postern-{}", uuid::Uuid::new_v4());
    let written =
        parent.open_with(&new, OpenOptions::new().write(true).create_new(true)).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_all()?;
            right(&read_plain(&parent, &new)?)?;
            match over {
                true => parent.rename(&new, &parent, last),
                // Unlike renaming, this fails when the name has been taken in the meantime.
                false => parent.hard_link(&new, &parent, last),
            }
        });
    if written.is_err() || !over {
        let removed = parent.remove_file(&new);
        written.and(removed)
    } else {
        written
    }
}

/// Opens a plain file below a folder. No part of its path may be a link.
fn open_plain(folder: &Dir, path: &str) -> io::Result<cap_std::fs::File> {
    let no = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}")));
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| matches!(*part, "" | "." | "..")) {
        return no("no path below /out");
    }
    for end in 1..=parts.len() {
        let kind = folder.symlink_metadata(parts[..end].join("/"))?.file_type();
        if kind.is_symlink() {
            return no("a link, or behind one");
        }
        if end == parts.len() && !kind.is_file() {
            return no("no plain file");
        }
    }
    let file = folder.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { no("no plain file") }
}

/// The content of a plain file below a folder.
pub(super) fn read_plain(folder: &Dir, path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain(folder, path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// SHA-256 of a plain file below a folder, however large it is.
pub(super) fn digest_of(folder: &Dir, path: &str) -> io::Result<String> {
    let mut file = open_plain(folder, path)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// The paths of everything below a folder that is no folder.
pub(super) fn files(folder: &Dir) -> io::Result<Vec<String>> {
    fn walk(folder: &Dir, at: &str, found: &mut Vec<String>) -> io::Result<()> {
        for entry in folder.entries()? {
            let entry = entry?;
            let path = format!("{at}{}", entry.file_name().to_string_lossy());
            match entry.file_type()?.is_dir() {
                true => walk(&entry.open_dir()?, &format!("{path}/"), found)?,
                false => found.push(path),
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    walk(folder, "", &mut found)?;
    Ok(found)
}
