//! One configuration in one temporary folder, and the commands that are run with it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tempfile::TempDir;

use crate::binaries::binary;
use crate::process::{self, Finished};
use crate::run::Run;
use crate::server::{Server, ServerLog};

/// A folder with a `postern.toml`, scripts and records; gone when dropped.
#[derive(Debug)]
pub struct Postern {
    folder: TempDir,
    config: toml::Table,
    flags: Vec<String>,
    env: Vec<(String, String)>,
}

impl Default for Postern {
    fn default() -> Self {
        Self::new()
    }
}

impl Postern {
    /// No servers, everything at its default.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("postern-test-").tempdir().unwrap();
        Self { folder, config: toml::Table::new(), flags: Vec::new(), env: Vec::new() }
    }

    /// Starts from a configuration of the repository, such as `examples/acme/postern.toml`.
    pub fn with_config(path: &Path) -> Self {
        let mut postern = Self::new();
        postern.config = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        postern
    }

    /// The guard scores every call, and lets every call pass. For tests that are about something
    /// else: the model's opinion of a test tool may change with its weights.
    pub fn permissive_guard(&mut self) -> &mut Self {
        self.set("guard.thresholds.policy_head", false).thresholds(1.0, 1.0, 0.0)
    }

    /// The guard scores every call, and has a person asked about every one.
    pub fn asking_guard(&mut self) -> &mut Self {
        self.set("guard.thresholds.policy_head", false).thresholds(0.0, 1.0, 0.0)
    }

    /// The guard scores every call, and blocks every one.
    pub fn blocking_guard(&mut self) -> &mut Self {
        self.set("guard.thresholds.policy_head", false).thresholds(0.0, 0.0, 0.0)
    }

    fn thresholds(&mut self, ask_unsafe: f64, block_unsafe: f64, ask_ungrounded: f64) -> &mut Self {
        self.set("guard.thresholds.ask_unsafe", ask_unsafe)
            .set("guard.thresholds.block_unsafe", block_unsafe)
            .set("guard.thresholds.ask_ungrounded", ask_ungrounded)
    }

    /// Adds an upstream.
    pub fn server(&mut self, name: &str, server: Server) -> &mut Self {
        self.set(&format!("servers.{name}"), server.into_toml())
    }

    /// Sets a key of the configuration; dots part tables.
    pub fn set(&mut self, key: &str, value: impl Into<toml::Value>) -> &mut Self {
        let mut table = &mut self.config;
        let mut parts = key.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                table.insert(part.to_owned(), value.into());
                break;
            }
            let inner = table.entry(part).or_insert_with(|| toml::Table::new().into());
            table = inner.as_table_mut().expect("a table");
        }
        self
    }

    /// Adds flags to every `run`.
    pub fn flags<'a>(&mut self, flags: impl IntoIterator<Item = &'a str>) -> &mut Self {
        self.flags.extend(flags.into_iter().map(str::to_owned));
        self
    }

    /// Sets a variable of `postern`'s own environment.
    pub fn env(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// The folder in which `postern` is started.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in the folder and returns its path.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A file for [`Server::log`].
    pub fn log(&self, name: &str) -> ServerLog {
        ServerLog::at(self.path(&format!("{name}.log.jsonl")))
    }

    /// Where the records are.
    pub fn records(&self) -> PathBuf {
        self.path("records")
    }

    /// Runs JavaScript.
    pub fn run_js(&self, source: &str) -> Run {
        self.run_file("script.js", source)
    }

    /// Runs Python.
    pub fn run_py(&self, source: &str) -> Run {
        self.run_file("script.py", source)
    }

    /// Runs `source` from a file of this name, whose ending may tell the language.
    pub fn run_file(&self, name: &str, source: &str) -> Run {
        let script = self.write(name, source);
        self.run(&[script.to_str().unwrap()])
    }

    /// `postern run` with these words, the configuration and `--json`.
    pub fn run(&self, words: &[&str]) -> Run {
        Run::of(self.run_raw(words, &["--json"]))
    }

    /// The same without reading a document; `more` comes last.
    pub fn run_raw(&self, words: &[&str], more: &[&str]) -> Finished {
        let config = self.write_config();
        let records = self.records();
        let mut all = vec!["run"];
        all.extend(words);
        all.extend(["--config", config.to_str().unwrap(), "--record-dir", records.to_str().unwrap()]);
        all.extend(self.flags.iter().map(String::as_str));
        all.extend(more);
        self.command(&all)
    }

    /// Any command, with these words and nothing else, started in the folder.
    pub fn command(&self, words: &[&str]) -> Finished {
        self.command_with(words, "")
    }

    /// The same with a text on standard input.
    pub fn command_with(&self, words: &[&str], stdin: &str) -> Finished {
        let program = binary("postern");
        self.program(program.to_str().unwrap(), words, stdin)
    }

    /// Another program, started in the folder with the same environment.
    pub fn program(&self, program: &str, words: &[&str], stdin: &str) -> Finished {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.folder.path());
        // A key for records of its own; the user's is none of a test's business.
        command.env("POSTERN_HOME", self.path("home"));
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        process::run(command, stdin)
    }

    /// A command that takes `--config` and `--json`; the parsed document.
    ///
    /// # Panics
    /// If it fails or prints anything but one document.
    pub fn json(&self, words: &[&str]) -> Value {
        let config = self.write_config();
        let mut all = words.to_vec();
        all.extend(["--config", config.to_str().unwrap(), "--json"]);
        let finished = self.command(&all);
        assert_eq!(finished.exit, 0, "{finished:#?}");
        serde_json::from_str(&finished.stdout)
            .unwrap_or_else(|error| panic!("not one document ({error}): {finished:#?}"))
    }

    /// The full names of the tools that `postern tools list` knows.
    pub fn tools(&self) -> Vec<String> {
        let document = self.json(&["tools", "list"]);
        let tools = document["tools"].as_array().unwrap_or_else(|| panic!("no tools: {document:#}"));
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// Writes `postern.toml` and returns its path. Runs at the same time never see half of it.
    pub fn write_config(&self) -> PathBuf {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let new = self.write(&format!(".postern-{number}.toml"), toml::to_string(&self.config).unwrap());
        let path = self.path("postern.toml");
        std::fs::rename(new, &path).unwrap();
        path
    }
}
