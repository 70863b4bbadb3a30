//! Labelled checks: reading and writing them, choosing them, and keeping groups apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use postern_check::{BlastRadius, Check};
use serde::{Deserialize, Serialize};

use super::dice::{Dice, hash};
use crate::Error;

/// What should be done with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Policy {
    Allow,
    RequireHuman,
    Reject,
}

/// What is known of a check; `None` where nobody knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Labels {
    #[serde(rename = "unsafe")]
    pub(crate) unsafe_: Option<f32>,
    pub(crate) injected: Option<f32>,
    pub(crate) exfiltration: Option<f32>,
    pub(crate) grounded: Option<f32>,
    #[serde(rename = "blast_radius")]
    pub(crate) effect: Option<BlastRadius>,
    pub(crate) policy: Option<Policy>,
}

/// A check with its labels. `source`, `group` and `kind` are for splitting and for tables, never for the model.
#[derive(Clone, Debug)]
pub(crate) struct Labelled {
    pub(crate) check: Check,
    pub(crate) labels: Labels,
    pub(crate) source: String,
    pub(crate) group: String,
    pub(crate) kind: String,
    /// Which task of which group it belongs to, where the source says so.
    pub(crate) task: Option<Task>,
}

/// The task a check is part of. An attack is stopped if one of its calls is held; a user's task counts if none is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Task {
    /// The user's task.
    pub(crate) user: String,
    /// The attacker's task in it, if there is one.
    pub(crate) injection: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    id: Option<String>,
    source: String,
    group: String,
    input: Check,
    labels: Labels,
    meta: About,
}

#[derive(Serialize, Deserialize)]
struct About {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_task: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    injection_task: Option<String>,
}

/// Reads every `*.jsonl.gz` of a folder, in the order of their names.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<Labelled>, Error> {
    let mut out = Vec::new();
    for file in files(folder)? {
        for_each(&file, &mut |_, labelled| out.push(labelled))?;
    }
    Ok(out)
}

/// The files that a data path stands for: itself, or every `*.jsonl.gz` of a folder by name.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = std::fs::read_dir(path).map_err(Error::io(path))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".jsonl.gz"));
    files.sort();
    if files.is_empty() {
        return Err(Error::Data(format!("no *.jsonl.gz in {}", path.display())));
    }
    Ok(files)
}

/// Hands over the checks of one file, line by line, each with the id it has there.
pub(crate) fn for_each(path: &Path, each: &mut dyn FnMut(Option<String>, Labelled)) -> Result<(), Error> {
    let file = File::open(path).map_err(Error::io(path))?;
    let packed = path.extension().is_some_and(|ending| ending == "gz");
    let text: Box<dyn Read> = if packed { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
    for (number, line) in BufReader::new(text).lines().enumerate() {
        let line = line.map_err(Error::io(path))?;
        let line: Line = serde_json::from_str(&line)
            .map_err(|e| Error::Data(format!("{}, line {}: {e}", path.display(), number + 1)))?;
        let task = line.meta.user_task.map(|user| Task { user, injection: line.meta.injection_task });
        each(
            line.id,
            Labelled {
                check: line.input,
                labels: line.labels,
                source: line.source,
                group: line.group,
                kind: line.meta.kind,
                task,
            },
        );
    }
    Ok(())
}

/// Writes labelled checks to a `*.jsonl.gz`; a check that it has written before is left out.
pub(crate) struct Writer {
    path: PathBuf,
    out: GzEncoder<BufWriter<File>>,
    written: BTreeSet<String>,
}

impl Writer {
    /// Begins a new file.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let out = BufWriter::new(File::create(path).map_err(Error::io(path))?);
        let out = GzEncoder::new(out, Compression::default());
        Ok(Self { path: path.to_path_buf(), out, written: BTreeSet::new() })
    }

    /// Writes a check under an id that follows from its content; false if that was there already.
    pub(crate) fn write(&mut self, labelled: &Labelled) -> Result<bool, Error> {
        let mut line = Line {
            id: None,
            source: labelled.source.clone(),
            group: labelled.group.clone(),
            input: labelled.check.clone(),
            labels: labelled.labels.clone(),
            meta: About {
                kind: labelled.kind.clone(),
                user_task: labelled.task.as_ref().map(|task| task.user.clone()),
                injection_task: labelled.task.as_ref().and_then(|task| task.injection.clone()),
            },
        };
        let json = |line: &Line| serde_json::to_string(line).map_err(|e| Error::Data(e.to_string()));
        let id = crate::weights::sha256(json(&line)?.as_bytes())[..16].to_string();
        if !self.written.insert(id.clone()) {
            return Ok(false);
        }
        line.id = Some(id);
        writeln!(self.out, "{}", json(&line)?).map_err(Error::io(&self.path))?;
        Ok(true)
    }

    /// Ends the file; returns how many checks it holds.
    pub(crate) fn finish(self) -> Result<usize, Error> {
        let mut out = self.out.finish().map_err(Error::io(&self.path))?;
        out.flush().map_err(Error::io(&self.path))?;
        Ok(self.written.len())
    }
}

/// Hosts always send `server.tool`; many sources name the tool alone. Part of those get a server's name,
/// taken from their group. Suites name servers themselves.
pub(crate) fn name_servers(checks: &mut [Labelled], dice: &Dice) {
    for labelled in checks {
        let Some((_, family)) = labelled.group.split_once('/') else { continue };
        if !labelled.check.action.tool.contains('.')
            && !matches!(labelled.source.as_str(), "asb" | "suites")
            && dice.chance(0.5)
        {
            labelled.check.action.tool = format!("{}.{}", family.to_lowercase(), labelled.check.action.tool);
        }
    }
}

/// Splits by group: training, held out. Held out is every group whose name starts with one of `hold_out`, and
/// every eighth group of the sources that have many. Of those that have few, only what is named is held out.
pub(crate) fn split(checks: Vec<Labelled>, seed: u64, hold_out: &[String]) -> (Vec<Labelled>, Vec<Labelled>) {
    checks.into_iter().partition(|labelled| {
        let family = labelled.group.split('/').next().unwrap_or_default();
        let named = hold_out.iter().any(|prefix| labelled.group.starts_with(prefix.as_str()));
        let few = matches!(family, "agentdyn" | "tau" | "generated" | "suites");
        // The upper bits: the lower ones hardly depend on the seed.
        !named && (few || !(hash(seed, &labelled.group) >> 40).is_multiple_of(8))
    })
}

/// Takes at most so many checks of a source, at random; sources that are not named are taken whole.
pub(crate) fn cap(mut checks: Vec<Labelled>, caps: &[(&str, usize)], dice: &Dice) -> Vec<Labelled> {
    dice.shuffle(&mut checks);
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    checks.retain(|labelled| {
        let count = taken.entry(labelled.source.clone()).or_default();
        *count += 1;
        caps.iter().find(|(source, _)| labelled.source == *source).is_none_or(|(_, most)| *count <= *most)
    });
    checks
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn line(group: &str) -> String {
        serde_json::json!({
            "id": "1", "source": "s", "group": group,
            "input": {"action": {"tool": "t", "args": {}}, "intent": "i", "trigger": "user", "constraints": [], "context": ""},
            "labels": {"unsafe": 1, "injected": null, "exfiltration": 0, "grounded": null, "blast_radius": "read", "policy": "reject"},
            "meta": {"kind": "malicious", "more": 1}
        })
        .to_string()
    }

    #[test]
    fn reads_what_is_documented_and_names_bad_lines() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
            gz.write_all(text.as_bytes()).unwrap();
            gz.finish().unwrap();
        };
        assert!(read_folder(folder.path()).is_err());
        write("a.jsonl.gz", &format!("{}\n{}\n", line("g/a"), line("g/b")));
        let read = read_folder(folder.path()).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].labels.policy, Some(Policy::Reject));
        assert_eq!(read[0].labels.injected, None);
        write("b.jsonl.gz", "{}\n");
        assert!(read_folder(folder.path()).unwrap_err().to_string().contains("b.jsonl.gz, line 1"));
    }

    #[test]
    fn what_was_written_reads_back_the_same_and_only_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl.gz");
        let mut all = super::super::generate::generate(50, 3);
        all[0].task = Some(Task { user: "u1".into(), injection: Some("i2".into()) });
        let mut writer = Writer::create(&path).unwrap();
        for labelled in &all {
            writer.write(labelled).unwrap();
        }
        assert!(!writer.write(&all[0]).unwrap());
        let count = writer.finish().unwrap();
        let (mut ids, mut read) = (BTreeSet::new(), Vec::new());
        for_each(&path, &mut |id, labelled| {
            ids.insert(id.unwrap());
            read.push(labelled);
        })
        .unwrap();
        assert_eq!((read.len(), ids.len()), (count, count));
        assert_eq!(read[0].check, all[0].check);
        assert_eq!(read[0].labels, all[0].labels);
        assert_eq!(read[0].task, all[0].task);
        assert_eq!(read_folder(folder.path()).unwrap().len(), count);
        assert_eq!(files(&path).unwrap(), [path]);
    }

    #[test]
    fn a_group_is_never_on_both_sides() {
        let all = super::super::generate::generate(3000, 3);
        let named = all[0].group.clone();
        let (train, held) = split(all, 17, std::slice::from_ref(&named));
        assert!(!train.is_empty() && held.iter().any(|h| h.group == named));
        assert!(held.iter().all(|h| train.iter().all(|t| t.group != h.group)));
    }
}
