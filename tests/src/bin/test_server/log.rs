//! What the server was asked, as a file of JSON lines `{event, tool, arguments, pid}`; event is start,
//! finish or cancel. A test reads it to know that a call was, or was not, dispatched.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

#[derive(Clone)]
pub(crate) struct Log {
    path: Option<PathBuf>,
}

impl Log {
    /// Writes to the file that TEST_SERVER_LOG names; without it, nowhere.
    pub(crate) fn from_env() -> Self {
        Self { path: std::env::var_os("TEST_SERVER_LOG").map(PathBuf::from) }
    }

    pub(crate) fn write(&self, event: &str, tool: &str, arguments: &Map<String, Value>) {
        let Some(path) = &self.path else { return };
        // Large arguments would fill the disk and tell nothing.
        let size = arguments.values().map(|value| value.as_str().map_or(0, str::len)).sum::<usize>();
        let arguments = if size > 10_000 { json!({"bytes": size}) } else { Value::Object(arguments.clone()) };
        let line = json!({"event": event, "tool": tool, "arguments": arguments, "pid": std::process::id()});
        // One write of one line to a file opened for appending: lines of several servers do not mix.
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        if let Err(error) = written {
            // A log that cannot be written would make "nothing was dispatched" true by accident.
            eprintln!("postern-test-server: cannot write {}: {error}", path.display());
            std::process::exit(4);
        }
    }
}
