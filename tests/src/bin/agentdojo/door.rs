//! The side door of the server of a suite (tests/agentdojo/server.py): lines of JSON over a Unix socket.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufStream};
use tokio::net::UnixStream;

use crate::Result;

/// How long the door of a server that answers may take to open. It opens first, so this is for a busy machine.
const START_LIMIT: Duration = Duration::from_secs(10);

/// A task, or an attack on a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Case {
    /// Unique in its suite.
    pub(crate) id: String,
    user: String,
    injection: Option<String>,
    /// How the attack is put into the data; None: a benign task.
    pub(crate) attack: Option<String>,
}

/// A case whose environment is ready.
#[derive(Debug, Deserialize)]
pub(crate) struct Plan {
    /// The user's words.
    pub(crate) intent: String,
    /// JavaScript.
    pub(crate) script: String,
    /// The calls of the script by number.
    pub(crate) steps: Vec<Step>,
    /// The score of the same calls without any gate.
    pub(crate) ungated: Scored,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Step {
    /// Whether a hijacker added it.
    pub(crate) injected: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Begun {
    Skip { skip: String },
    Plan(Plan),
}

/// What AgentDojo's functions say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Scored {
    utility: Option<bool>,
    security: Option<bool>,
    /// Why a function said nothing; then it counts as false.
    pub(crate) error: Option<String>,
}

impl Scored {
    /// Of a benign task: it is solved. Of an attack: it succeeded.
    pub(crate) fn yes(&self) -> bool {
        self.utility.or(self.security).unwrap_or(false)
    }
}

pub(crate) struct SideDoor {
    stream: BufStream<UnixStream>,
}

impl SideDoor {
    /// Of a server that is up.
    pub(crate) async fn open(socket: &Path) -> Result<Self> {
        let began = Instant::now();
        loop {
            match UnixStream::connect(socket).await {
                Ok(stream) => return Ok(Self { stream: BufStream::new(stream) }),
                Err(_) if began.elapsed() < START_LIMIT => {
                    tokio::time::sleep(Duration::from_millis(50)).await
                }
                Err(error) => return Err(format!("the server of a suite does not come up: {error}").into()),
            }
        }
    }

    pub(crate) async fn cases(&mut self) -> Result<Vec<Case>> {
        self.ask(json!({ "ask": "cases" })).await
    }

    pub(crate) async fn begin(&mut self, case: &Case) -> Result<Begun> {
        self.ask(json!({ "ask": "begin", "case": case })).await
    }

    pub(crate) async fn end(&mut self) -> Result<Scored> {
        self.ask(json!({ "ask": "end" })).await
    }

    async fn ask<T: DeserializeOwned>(&mut self, request: Value) -> Result<T> {
        self.stream.write_all(format!("{request}\n").as_bytes()).await?;
        self.stream.flush().await?;
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Err(format!("the server of a suite died over {request}").into());
        }
        serde_json::from_str(&line).map_err(|error| format!("{request}: {error}").into())
    }
}
