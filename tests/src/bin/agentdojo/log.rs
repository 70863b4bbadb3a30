//! Outcomes as they come, in a file of JSON Lines whose first line says under which setting. A benchmark that was
//! stopped goes on where it was.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::outcome::Outcome;

/// What makes outcomes comparable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setting {
    /// AgentDojo's version of tasks.
    pub(crate) tasks: String,
    pub(crate) gate: String,
    pub(crate) postern: String,
    /// Of what --config names, empty or not.
    pub(crate) config_sha256: String,
}

pub(crate) struct Log {
    file: Option<File>,
    known: HashMap<(String, String), Outcome>,
}

impl Log {
    /// With no path nothing is kept.
    pub(crate) fn open(path: Option<&Path>, setting: &Setting) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { file: None, known: HashMap::new() }) };
        let text = if path.exists() { std::fs::read_to_string(path)? } else { String::new() };
        let mut lines = text.lines();
        match lines.next().map(serde_json::from_str::<Setting>) {
            None => {}
            Some(Ok(old)) if old == *setting => {}
            Some(_) => {
                let path = path.display();
                return Err(format!("{path} is from another setting: name another file, or remove it").into());
            }
        }
        // A last line that was cut off is a case that is run again.
        let outcomes = lines.filter_map(|line| serde_json::from_str::<Outcome>(line).ok());
        let known =
            outcomes.map(|outcome| ((outcome.suite.clone(), outcome.case.id.clone()), outcome)).collect();
        let mut file = File::options().create(true).append(true).open(path)?;
        if text.is_empty() {
            writeln!(file, "{}", serde_json::to_string(setting)?)?;
        } else if !text.ends_with('\n') {
            writeln!(file)?;
        }
        Ok(Self { file: Some(file), known })
    }

    pub(crate) fn find(&self, suite: &str, case: &str) -> Option<Outcome> {
        self.known.get(&(suite.to_owned(), case.to_owned())).cloned()
    }

    pub(crate) fn add(&mut self, outcome: &Outcome) -> Result<()> {
        if let Some(file) = &mut self.file {
            writeln!(file, "{}", serde_json::to_string(outcome)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_log_goes_on_only_under_its_own_setting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let setting = |gate: &str| Setting {
            tasks: "v".into(),
            gate: gate.into(),
            postern: "0".into(),
            config_sha256: String::new(),
        };
        let case = serde_json::json!({"id": "1", "user": "u", "injection": null, "attack": null});
        let outcome = Outcome::left_out("s", &serde_json::from_value(case).unwrap(), "x".into());
        Log::open(Some(&path), &setting("a")).unwrap().add(&outcome).unwrap();
        File::options().append(true).open(&path).unwrap().write_all(b"{\"suite\": \"s").unwrap();

        let mut log = Log::open(Some(&path), &setting("a")).unwrap();
        assert!(log.find("s", "1").is_some() && log.find("s", "2").is_none());
        log.add(&Outcome { suite: "t".into(), ..outcome }).unwrap();
        assert!(Log::open(Some(&path), &setting("a")).unwrap().find("t", "1").is_some());
        assert!(Log::open(Some(&path), &setting("b")).is_err());
    }
}
