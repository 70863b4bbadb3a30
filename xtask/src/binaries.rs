//! The workspace's own programs, and the machine code that `postern` compiles the runners to.

use std::fs::{self, File};
use std::path::PathBuf;

use serde_json::Value;

use crate::context::Context;
use crate::failure::{Because, Result};
use crate::process::{self, Log};
use crate::progress::Progress;
use crate::step::{Acted, State, Step};

/// `cargo build` of the default members: cargo itself is the check.
pub(crate) struct Binaries;

impl Step for Binaries {
    fn name(&self) -> String {
        "host binaries".into()
    }

    fn id(&self) -> &'static str {
        "binaries"
    }

    fn check(&self, _: &Context) -> Result<State> {
        Ok(State::Ask)
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let messages = log.path().with_extension("json");
        let out = File::create(&messages).because(|| format!("making {}", messages.display()))?;
        let mut cargo = process::cargo(cx);
        cargo.args(["build", "--locked", "--message-format", "json-render-diagnostics"]).stdout(out);
        // colours would end up in the log
        cargo.env("CARGO_TERM_COLOR", "never");
        log.run_keeping_stdout(&mut cargo, progress, None)?;
        let text = fs::read_to_string(&messages).because(|| format!("reading {}", messages.display()))?;
        let built = read_messages(&text);
        let names: Vec<&str> = built.binaries.iter().map(|(name, _)| name.as_str()).collect();
        let note = format!("{} in {}", names.join(", "), cx.target_dir()?.join("debug").display());
        cx.binaries.borrow_mut().extend(built.binaries);
        Ok(Acted { note, changed: built.compiled })
    }
}

struct Built {
    binaries: Vec<(String, PathBuf)>,
    /// Whether anything was not up to date.
    compiled: bool,
}

/// What cargo's JSON messages say it made.
fn read_messages(text: &str) -> Built {
    let mut built = Built { binaries: Vec::new(), compiled: false };
    let artifacts = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for artifact in artifacts.filter(|message| message["reason"] == "compiler-artifact") {
        built.compiled |= artifact["fresh"] == false;
        if let (Some(path), Some(name)) =
            (artifact["executable"].as_str(), artifact["target"]["name"].as_str())
        {
            built.binaries.push((name.into(), path.into()));
        }
    }
    built
}

/// `postern prepare`: compiles the runners into postern's cache, so that the first run is quick too.
pub(crate) struct Precompiled;

impl Step for Precompiled {
    fn name(&self) -> String {
        "precompiled code".into()
    }

    fn id(&self) -> &'static str {
        "precompiled"
    }

    fn check(&self, _: &Context) -> Result<State> {
        Ok(State::Ask)
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        log.run(cx.run("postern")?.arg("prepare"), progress)?;
        let said = fs::read_to_string(log.path()).because(|| "reading the log".into())?;
        let said: Vec<&str> =
            said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("$ ")).collect();
        let changed = said.iter().any(|line| !line.contains("already"));
        Ok(Acted { note: said.join(", "), changed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_says_what_it_made_and_whether_it_had_to() {
        let lib = r#"{"reason":"compiler-artifact","target":{"name":"a"},"fresh":true,"executable":null}"#;
        let bin = r#"{"reason":"compiler-artifact","target":{"name":"postern"},"fresh":true,"executable":"/t/postern"}"#;
        let built = read_messages(&format!("{lib}\n{bin}\nnot json\n"));
        assert_eq!(built.binaries, [("postern".to_string(), PathBuf::from("/t/postern"))]);
        assert!(!built.compiled);
        assert!(read_messages(&bin.replace("true", "false")).compiled);
    }
}
