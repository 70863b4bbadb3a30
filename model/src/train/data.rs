//! Labelled checks: reading them, choosing them, and keeping groups apart.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use postern_check::{BlastRadius, Check};
use serde::Deserialize;

use super::dice::{Dice, hash};
use crate::Error;

/// What should be done with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Policy {
    Allow,
    RequireHuman,
    Reject,
}

/// What is known of a check; `None` where nobody knows.
#[derive(Clone, Debug, Default, Deserialize)]
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

#[derive(Deserialize)]
struct Line {
    source: String,
    group: String,
    input: Check,
    labels: Labels,
    meta: About,
}

#[derive(Deserialize)]
struct About {
    kind: String,
    user_task: Option<String>,
    injection_task: Option<String>,
}

/// Reads every `*.jsonl.gz` of a folder, in the order of their names.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<Labelled>, Error> {
    let entries = std::fs::read_dir(folder).map_err(Error::io(folder))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".jsonl.gz"));
    files.sort();
    if files.is_empty() {
        return Err(Error::Data(format!("no *.jsonl.gz in {}", folder.display())));
    }
    let mut out = Vec::new();
    for path in files {
        let mut text = String::new();
        let file = std::fs::File::open(&path).map_err(Error::io(&path))?;
        GzDecoder::new(file).read_to_string(&mut text).map_err(Error::io(&path))?;
        for (number, line) in text.lines().enumerate() {
            let line: Line = serde_json::from_str(line)
                .map_err(|e| Error::Data(format!("{}, line {}: {e}", path.display(), number + 1)))?;
            out.push(Labelled {
                check: line.input,
                labels: line.labels,
                source: line.source,
                group: line.group,
                kind: line.meta.kind,
                task: line.meta.user_task.map(|user| Task { user, injection: line.meta.injection_task }),
            });
        }
    }
    Ok(out)
}

/// Hosts always send `server.tool`; many sources name the tool alone. Part of those get a server's name,
/// taken from their group.
pub(crate) fn name_servers(checks: &mut [Labelled], dice: &Dice) {
    for labelled in checks {
        let Some((_, family)) = labelled.group.split_once('/') else { continue };
        if !labelled.check.action.tool.contains('.') && labelled.source != "asb" && dice.chance(0.5) {
            labelled.check.action.tool = format!("{}.{}", family.to_lowercase(), labelled.check.action.tool);
        }
    }
}

/// Splits by group: training, held out. Held out is every eighth group, and every group whose name starts
/// with one of `hold_out`. Sources of few groups stay in training whole unless they are named so.
pub(crate) fn split(checks: Vec<Labelled>, seed: u64, hold_out: &[String]) -> (Vec<Labelled>, Vec<Labelled>) {
    checks.into_iter().partition(|labelled| {
        let family = labelled.group.split('/').next().unwrap_or_default();
        let named = hold_out.iter().any(|prefix| labelled.group.starts_with(prefix.as_str()));
        !named && (matches!(family, "agentdyn" | "tau") || !hash(seed, &labelled.group).is_multiple_of(8))
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
    use std::io::Write;

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
    fn a_group_is_never_on_both_sides() {
        let all = super::super::generate::generate(3000, 3);
        let named = all[0].group.clone();
        let (train, held) = split(all, 17, std::slice::from_ref(&named));
        assert!(!train.is_empty() && held.iter().any(|h| h.group == named));
        assert!(held.iter().all(|h| train.iter().all(|t| t.group != h.group)));
    }
}
