//! Upstreams: the servers that own the tools. Here they are started, asked what they offer, called
//! and stopped; here their credentials live, and they go nowhere else.
//!
//! What must never be here: a decision whether a call is allowed. That is the gate's, and nothing in
//! this module may be reached by a script but through it.
//!
//! ```text
//! config, config_file, expand   what is configured, in the files of other products too
//! process, stdio, frames        a child process, and the messages in what it writes
//! http                          streamable HTTP
//! client, connection            the protocol on one live connection
//! server                        connecting when needed, again after a death; one call
//! tool, schema                  what a server says about its tools, made safe to use
//! find                          looking for tools by what they are called and said to do
//! result                        what a call gives
//! links                         a server that wants a person to open a link
//! local                         tools in this process
//! text                          a server's words, made safe to show
//! ```
//!
//! # What a script gets
//!
//! | The server answers | The script's value | Beside it |
//! |---|---|---|
//! | `structuredContent` | that, whatever it is | text that says something else, links, placeholders: `beside` |
//! | one text, which is a JSON object or array | the parsed JSON | |
//! | one other text, also `12` or `true` | the text | |
//! | several parts | a list of them, each mapped as if alone | |
//! | image, audio, bytes of a resource | `{"artifact", "mimeType", "bytes"}` | the bytes: `blobs` |
//! | a resource with text | `{"uri", "mimeType", "text"}` | |
//! | a link to a resource | `{"uri", "name", …}` | |
//! | no content | `null` | |
//! | a part of an unknown kind | the part as it came | a warning |
//! | a structured value that does not fit `outputSchema` | that value | a warning |
//! | `isError` | error `upstream`, its text as the message | `details.content` |
//! | a JSON-RPC error | error `upstream` | `details.rpcCode` |
//! | `input_required` with links for a person to open, and nothing else | what comes when a person has; see the gate | |
//! | another question for a person or model, a task, an unknown `resultType` | error `upstream` | |
//! | more than the size limit, or nested deeper than 128 | error `upstream` | |
//!
//! A call that breaks off (the server dies, the connection breaks, time runs out) may have done its
//! work. It is never made again by this module.

mod client;
mod config;
mod config_file;
mod connection;
mod expand;
mod find;
mod frames;
mod http;
mod links;
mod local;
mod process;
mod result;
mod schema;
mod server;
mod stdio;
mod text;
mod tool;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

pub use config::{
    DEFAULT_CALL_TIMEOUT, DEFAULT_CONNECT_TIMEOUT, Era, MAX_CALL_TIMEOUT, ServerConfig, Transport,
};
pub use config_file::{McpConfig, read_mcp_config};
pub use find::{Found, ToolSummary};
pub use links::{LinksOpened, LinksWanted};
pub use local::LocalServer;
pub use result::{Blob, ToolResult};
pub(crate) use text::near;
pub use tool::{Annotations, ToolDefinition};

use crate::{ToolError, ToolErrorCode};
use local::Local;
use server::Server;
use tool::ToolSet;

/// The largest answer that is accepted, as it arrives: bytes of JSON, base64 included.
pub const DEFAULT_MAX_RESULT_BYTES: usize = 16 * 1024 * 1024;
/// A server's name in the configuration is at most this long, in bytes.
const MAX_SERVER_NAME: usize = 128;

/// Something a person should know about one server or one of its tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The server.
    pub server: String,
    /// The tool, when it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// For people. Holds no secret.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            Some(tool) => write!(f, "{}/{tool}: {}", self.server, self.message),
            None => write!(f, "{}: {}", self.server, self.message),
        }
    }
}

/// All tools of all servers that answer, and what is wrong with the rest.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Sorted by server, then by name.
    pub tools: Vec<Arc<ToolDefinition>>,
    /// Sorted likewise.
    pub problems: Vec<Problem>,
}

/// How one call is to be made.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// The most this call may take in all, connecting included. The configuration of the server can
    /// only shorten it.
    pub timeout: Option<Duration>,
    /// W3C trace context, passed on in `_meta`.
    pub traceparent: Option<String>,
    /// Whether the caller can have a person open links: then a server that wants that gives a result with
    /// [`ToolResult::wanted`], and otherwise an error.
    pub links: bool,
    /// The call goes on after it stopped for links.
    pub opened: Option<LinksOpened>,
}

/// What one server is like at this moment.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// Its name in the configuration.
    pub name: String,
    /// `stdio`, `http`, `local` or `unusable`.
    pub transport: &'static str,
    /// False when the configuration turns it off; nothing else is known then.
    pub enabled: bool,
    /// The lifecycle it speaks.
    pub era: Option<Era>,
    /// The protocol version agreed on.
    pub protocol: Option<String>,
    /// Its own name and version: not to be believed.
    pub calls_itself: Option<String>,
    /// How many tools can be called.
    pub tools: usize,
    /// From the start to the tool list, in milliseconds; 0 for a local one.
    pub connect_ms: u64,
    /// Why it does not answer.
    pub error: Option<String>,
    /// What else a person should know.
    pub problems: Vec<Problem>,
}

/// The servers of one host. Cheap to clone; all clones share connections. Making one does no I/O:
/// each server is started when it is first needed.
///
/// Call [`close`](Self::close) before the program ends: it lets servers leave in order. Without it
/// they are killed.
#[derive(Clone)]
pub struct Upstreams {
    inner: Arc<Inner>,
}

struct Inner {
    entries: BTreeMap<String, Entry>,
}

enum Entry {
    Remote(Arc<Server>),
    Local(Local),
}

/// Puts [`Upstreams`] together.
#[derive(Default)]
pub struct UpstreamsBuilder {
    servers: BTreeMap<String, ServerConfig>,
    locals: BTreeMap<String, Arc<dyn LocalServer>>,
    max_result_bytes: Option<usize>,
}

impl UpstreamsBuilder {
    /// Adds a server, replacing one of the same name.
    #[must_use]
    pub fn with_server(mut self, name: impl Into<String>, config: ServerConfig) -> Self {
        let name = name.into();
        self.locals.remove(&name);
        self.servers.insert(name, config);
        self
    }

    /// Adds several.
    #[must_use]
    pub fn with_servers(self, servers: impl IntoIterator<Item = (String, ServerConfig)>) -> Self {
        servers.into_iter().fold(self, |builder, (name, config)| builder.with_server(name, config))
    }

    /// Adds tools of this process, replacing a server of the same name.
    #[must_use]
    pub fn with_local(mut self, name: impl Into<String>, server: Arc<dyn LocalServer>) -> Self {
        let name = name.into();
        self.servers.remove(&name);
        self.locals.insert(name, server);
        self
    }

    /// The largest answer of a server, in bytes as it arrives; [`DEFAULT_MAX_RESULT_BYTES`] when not
    /// set. Tools of this process are not measured.
    #[must_use]
    pub fn max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = Some(bytes);
        self
    }

    /// The servers, none of them started. A name that cannot be used makes its server unusable.
    pub fn build(self) -> Upstreams {
        let max = self.max_result_bytes.unwrap_or(DEFAULT_MAX_RESULT_BYTES);
        let remote = self.servers.into_iter().map(|(name, config)| {
            let config = match name_fault(&name) {
                Some(fault) => ServerConfig::unusable(fault),
                None => config,
            };
            let server = Server::new(&name, config, max);
            (name, Entry::Remote(server))
        });
        let local = self.locals.into_iter().map(|(name, server)| {
            let local = Local::new(&name, server);
            (name, Entry::Local(local))
        });
        Upstreams { inner: Arc::new(Inner { entries: remote.chain(local).collect() }) }
    }
}

/// Why a text cannot be a server's name, if it cannot.
fn name_fault(name: &str) -> Option<String> {
    if name.is_empty() {
        Some("a server must have a name".into())
    } else if name.contains('/') {
        Some(
            "a server's name may not contain `/`, which stands between server and tool; rename the entry"
                .into(),
        )
    } else if name.len() > MAX_SERVER_NAME || name.chars().any(char::is_control) {
        Some(format!("a server's name is at most {MAX_SERVER_NAME} bytes long and has no control characters"))
    } else {
        None
    }
}

impl Upstreams {
    /// Starts with nothing.
    pub fn builder() -> UpstreamsBuilder {
        UpstreamsBuilder::default()
    }

    /// These servers and no local tools.
    pub fn new(servers: BTreeMap<String, ServerConfig>) -> Self {
        Self::builder().with_servers(servers).build()
    }

    /// All names, sorted, disabled and unusable ones too.
    pub fn server_names(&self) -> impl Iterator<Item = &str> {
        self.inner.entries.keys().map(String::as_str)
    }

    /// The configuration of a server; `None` for a local or unknown one.
    pub fn config(&self, server: &str) -> Option<&ServerConfig> {
        match self.inner.entries.get(server)? {
            Entry::Remote(server) => Some(&server.config),
            Entry::Local(_) => None,
        }
    }

    /// The definition of a tool. Connects its server if it is not.
    ///
    /// # Errors
    /// `unknown-tool` with near names when there is no such server or tool; `upstream` when the
    /// server cannot be reached.
    pub async fn tool(&self, server: &str, tool: &str) -> Result<Arc<ToolDefinition>, ToolError> {
        match self.entry(server)? {
            Entry::Remote(remote) => remote.tool(tool).await,
            Entry::Local(local) => {
                local.tools.get(tool).cloned().ok_or_else(|| server::unknown_tool(server, tool, &local.set))
            }
        }
    }

    /// Calls a tool. Dropping the future cancels the call on the server, which lives on.
    ///
    /// # Errors
    /// `unknown-tool`; `timeout`, after which the call may or may not have done its work; `upstream`
    /// for everything that is the server's doing. `details.kind` says which.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Map<String, Value>,
        options: CallOptions,
    ) -> Result<ToolResult, ToolError> {
        match self.entry(server)? {
            Entry::Remote(remote) => remote.call(tool, arguments, &options).await,
            Entry::Local(local) => {
                if !local.tools.contains_key(tool) {
                    return Err(server::unknown_tool(server, tool, &local.set));
                }
                let limit = options.timeout.unwrap_or(DEFAULT_CALL_TIMEOUT).min(MAX_CALL_TIMEOUT);
                match tokio::time::timeout(limit, local.server.call(tool, arguments)).await {
                    Ok(answer) => answer,
                    Err(_) => Err(ToolError::new(
                        ToolErrorCode::Timeout,
                        format!(
                            "{server}/{tool}: no answer within {} ms; it has been stopped",
                            limit.as_millis()
                        ),
                    )),
                }
            }
        }
    }

    fn entry(&self, server: &str) -> Result<&Entry, ToolError> {
        self.inner.entries.get(server).ok_or_else(|| {
            let near = text::near(server, self.server_names());
            let hint = match (near.as_slice(), self.inner.entries.len()) {
                (_, 0) => "no servers are configured".to_owned(),
                ([], _) => {
                    format!("there are {}", self.server_names().take(8).collect::<Vec<_>>().join(", "))
                }
                (near, _) => format!("did you mean {}?", near.join(", ")),
            };
            let asked = text::bounded(server, 100);
            ToolError::new(ToolErrorCode::UnknownTool, format!("there is no server {asked}; {hint}"))
        })
    }

    /// Starts connecting these servers without waiting for them. Must be called in a runtime; names
    /// that are not known are ignored.
    pub fn prepare(&self, servers: &[&str]) {
        for name in servers {
            if let Some(Entry::Remote(server)) = self.inner.entries.get(*name) {
                let server = server.clone();
                // Whoever needs the server hears what went wrong.
                tokio::spawn(async move { server.connection().await.map(drop) });
            }
        }
    }

    /// Everything that can be called. Connects all servers, at the same time; one that does not
    /// answer becomes a problem. Disabled ones are left out.
    pub async fn catalog(&self) -> Catalog {
        self.catalog_of(|_| true).await
    }

    /// The same of the servers that `wanted` names; the others are not contacted.
    pub async fn catalog_of(&self, wanted: impl Fn(&str) -> bool) -> Catalog {
        let (sets, problems) = self.sets_of(wanted).await;
        Catalog { tools: sets.iter().flat_map(|set| set.tools.values().cloned()).collect(), problems }
    }

    /// The tools of each server that is wanted, turned on and answers, in the order of their names; and what
    /// is wrong with them and the others.
    async fn sets_of(&self, wanted: impl Fn(&str) -> bool) -> (Vec<Arc<ToolSet>>, Vec<Problem>) {
        let (mut sets, mut problems) = (Vec::new(), Vec::new());
        let all = self
            .inner
            .entries
            .iter()
            .filter(|(name, _)| wanted(name))
            .map(async |(name, entry)| (name, tools_of(entry).await));
        for (name, answer) in futures::future::join_all(all).await {
            match answer {
                Ok(None) => {}
                Ok(Some(set)) => {
                    problems.extend(set.problems.iter().cloned());
                    sets.push(set);
                }
                Err(error) => {
                    problems.push(Problem { server: name.clone(), tool: None, message: error.message });
                }
            }
        }
        (sets, problems)
    }

    /// What every server is like, each connected at the same time unless disabled.
    pub async fn status(&self) -> Vec<ServerStatus> {
        futures::future::join_all(self.inner.entries.iter().map(|(name, entry)| status_of(name, entry))).await
    }

    /// Ends all connections and servers, within about two seconds. Calls under way fail; later ones
    /// are refused.
    pub async fn close(&self) {
        let remote = self.inner.entries.values().filter_map(|entry| match entry {
            Entry::Remote(server) => Some(server.close()),
            Entry::Local(_) => None,
        });
        futures::future::join_all(remote).await;
    }
}

impl fmt::Debug for Upstreams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Upstreams").field(&self.inner.entries.keys().collect::<Vec<_>>()).finish()
    }
}

/// The tools of a server; `None` when it is turned off.
async fn tools_of(entry: &Entry) -> Result<Option<Arc<ToolSet>>, ToolError> {
    match entry {
        Entry::Local(local) => Ok(Some(local.set.clone())),
        Entry::Remote(server) if !server.config.enabled => Ok(None),
        Entry::Remote(server) => server.tools().await.map(Some),
    }
}

async fn status_of(name: &str, entry: &Entry) -> ServerStatus {
    let mut status = ServerStatus {
        name: name.to_owned(),
        transport: "local",
        enabled: true,
        era: None,
        protocol: None,
        calls_itself: None,
        tools: 0,
        connect_ms: 0,
        error: None,
        problems: Vec::new(),
    };
    if let Entry::Remote(server) = entry {
        status.transport = match &server.config.transport {
            Transport::Stdio { .. } => "stdio",
            Transport::Http { .. } => "http",
            Transport::Unusable { .. } => "unusable",
        };
        status.enabled = server.config.enabled;
        let warnings = server.config.warnings.iter().cloned();
        status.problems.extend(warnings.map(|message| Problem {
            server: name.to_owned(),
            tool: None,
            message,
        }));
    }
    match tools_of(entry).await {
        Ok(Some(set)) => {
            status.tools = set.tools.len();
            status.problems.extend(set.problems.iter().cloned());
        }
        Ok(None) => return status,
        Err(error) => status.error = Some(error.message),
    }
    if let Entry::Remote(server) = entry
        && status.error.is_none()
        && let Ok(connection) = server.connection().await
    {
        let hello = &connection.hello;
        status.era = Some(hello.era);
        status.protocol = Some(hello.version.clone());
        status.calls_itself.clone_from(&hello.calls_itself);
        status.connect_ms = u64::try_from(hello.took.as_millis()).unwrap_or(u64::MAX);
    }
    status
}
