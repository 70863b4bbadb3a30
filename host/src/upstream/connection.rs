//! One live connection to one server: how it comes to be, what it lists, what is said when it ends.
//! Whether and when to connect again is decided in `server`.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rmcp::model::{
    ClientRequest, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, RequestMetaObject,
    ServerResult, SubscriptionFilter,
};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{Peer, RoleClient, ServiceError};
use serde_json::Value;

use super::client::{self, Events, Handler};
use super::config::{Era, ServerConfig, Transport};
use super::http;
use super::process::{self, Process};
use super::stdio;
use super::text::{QUOTE_BYTES, Redactor};
use super::tool::{Listing, ToolSet};

/// A listing has at most this many pages and tools.
const MAX_PAGES: usize = 500;
const MAX_TOOLS: usize = 10_000;
/// A server's own word on how long its listing stays true counts from this on.
const SHORTEST_TTL: Duration = Duration::from_secs(30);
/// How long to wait for the news that a process has ended, once its pipe has closed.
const EXIT_NEWS: Duration = Duration::from_millis(400);
/// How much of a server's last words goes into a message.
const LAST_WORDS: usize = 1_000;

/// Why there is no connection, or none any more.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) message: String,
    /// The era that the server turned out to speak, when that is why.
    pub(super) other_era: Option<Era>,
}

impl Failure {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), other_era: None }
    }
}

/// What a server said about itself when the connection was made.
#[derive(Clone, Debug)]
pub(super) struct Hello {
    pub(super) era: Era,
    pub(super) version: String,
    /// Its own name and version: shown, never believed.
    pub(super) calls_itself: Option<String>,
    pub(super) took: Duration,
}

pub(super) struct Connection {
    pub(super) hello: Hello,
    pub(super) events: Arc<Events>,
    server: String,
    redactor: Redactor,
    peer: Peer<RoleClient>,
    running: tokio::sync::Mutex<Option<RunningService<RoleClient, Handler>>>,
    process: Option<Process>,
    noise: Arc<stdio::Noise>,
    listed: RwLock<Listed>,
    /// Held while listing, so that the tools are listed once for everybody who waits.
    listing: tokio::sync::Mutex<()>,
}

struct Listed {
    tools: Arc<ToolSet>,
    good_until: Option<Instant>,
}

impl Connection {
    /// Starts or reaches the server, agrees on a protocol, lists the tools. The caller bounds the
    /// time by dropping the future, which also ends a process already started.
    pub(super) async fn open(
        name: &str,
        config: &ServerConfig,
        era: Option<Era>,
        max_bytes: usize,
    ) -> Result<Self, Failure> {
        let started = Instant::now();
        let redactor = config.redactor();
        let events = Arc::new(Events::default());
        let noise = Arc::new(stdio::Noise::of(name));
        let handler = Handler(events.clone());
        let (running, process) = match &config.transport {
            Transport::Stdio { command, args, env, cwd } => {
                let (process, pipes) =
                    process::start(command, args, env, cwd.as_deref()).await.map_err(Failure::new)?;
                let probe = Arc::new(stdio::Probe::new(era));
                let (reader, writer) =
                    stdio::connect(pipes, process.exit.clone(), max_bytes, noise.clone(), probe.clone());
                let transport = AsyncRwTransport::new_client(reader, writer).with_max_line_length(usize::MAX);
                match handler.serve_with_lifecycle(transport, lifecycle(era)).await {
                    Ok(running) => (running, Some(process)),
                    Err(error) => return Err(no_start(&error, Some(&process), Some(&probe), &redactor).await),
                }
            }
            Transport::Http { url, headers } => {
                let transport = http::transport(url, headers, max_bytes).map_err(Failure::new)?;
                match handler.serve_with_lifecycle(transport, lifecycle(era)).await {
                    Ok(running) => (running, None),
                    Err(error) => return Err(no_start(&error, None, None, &redactor).await),
                }
            }
            Transport::Unusable { reason } => return Err(Failure::new(reason)),
        };
        let peer = running.peer().clone();
        let connection = Self {
            hello: hello(&peer, &redactor, started),
            events,
            server: name.to_owned(),
            redactor,
            peer,
            running: tokio::sync::Mutex::new(Some(running)),
            process,
            noise,
            listed: RwLock::new(Listed { tools: Arc::default(), good_until: None }),
            listing: tokio::sync::Mutex::new(()),
        };
        connection.list().await?;
        connection.watch_changes();
        Ok(connection)
    }

    /// Whether calls can be made on it.
    pub(super) fn is_alive(&self) -> bool {
        let ended = self.process.as_ref().is_some_and(|process| process.exit.borrow().is_some());
        !ended && !self.peer.is_transport_closed()
    }

    /// The tools; listed again when the server has said that they changed or its word has run out.
    pub(super) async fn tools(&self) -> Result<Arc<ToolSet>, Failure> {
        if let Some(tools) = self.fresh_tools() {
            return Ok(tools);
        }
        let _listing = self.listing.lock().await;
        match self.fresh_tools() {
            Some(tools) => Ok(tools),
            None => self.list().await,
        }
    }

    /// The tools as last listed.
    pub(super) fn known_tools(&self) -> Arc<ToolSet> {
        self.listed.read().unwrap_or_else(PoisonError::into_inner).tools.clone()
    }

    fn fresh_tools(&self) -> Option<Arc<ToolSet>> {
        let listed = self.listed.read().unwrap_or_else(PoisonError::into_inner);
        let expired = listed.good_until.is_some_and(|until| until < Instant::now());
        let changed = self.events.tools_changed.load(Ordering::Acquire);
        (!expired && !changed).then(|| listed.tools.clone())
    }

    async fn list(&self) -> Result<Arc<ToolSet>, Failure> {
        // Before asking: a change that is told while listing means to list once more.
        self.events.tools_changed.store(false, Ordering::Release);
        let (tools, ttl) = self.list_pages().await?;
        let tools = Arc::new(tools);
        let good_until = ttl.map(|ttl| Instant::now() + ttl.max(SHORTEST_TTL));
        *self.listed.write().unwrap_or_else(PoisonError::into_inner) =
            Listed { tools: tools.clone(), good_until };
        Ok(tools)
    }

    /// Asks for every page, as raw JSON: a page with one malformed tool must not be lost.
    async fn list_pages(&self) -> Result<(ToolSet, Option<Duration>), Failure> {
        let mut listing = Listing::new(&self.server);
        let mut ttl: Option<Duration> = None;
        let mut cursor: Option<String> = None;
        let mut seen = HashSet::new();
        for page in 1.. {
            let list = match &cursor {
                None => ListToolsRequest::default(),
                Some(cursor) => ListToolsRequest::with_param(
                    PaginatedRequestParams::default().with_cursor(Some(cursor.clone())),
                ),
            };
            let answer = match client::request(&self.peer, ClientRequest::ListToolsRequest(list), None).await
            {
                Ok(answer) => raw(answer),
                Err(ServiceError::McpError(error))
                    if page == 1 && error.code == rmcp::model::ErrorCode::METHOD_NOT_FOUND =>
                {
                    listing.problem(None, "it has no tools".into());
                    break;
                }
                Err(error) if page == 1 => return Err(self.failure("cannot list its tools", &error).await),
                Err(error) => {
                    let failure = self.failure("a page is missing", &error).await;
                    listing.problem(None, format!("its tool list is incomplete: {}", failure.message));
                    break;
                }
            };
            let Some(tools) = answer.get("tools").and_then(Value::as_array) else {
                listing.problem(None, format!("page {page} of its tool list holds no list of tools"));
                break;
            };
            let before = listing.len();
            for tool in tools {
                listing.add(tool);
            }
            let page_ttl = answer.get("ttlMs").and_then(Value::as_u64).map(Duration::from_millis);
            ttl = ttl.into_iter().chain(page_ttl).min();
            let next = match answer.get("nextCursor") {
                None | Some(Value::Null) => break,
                Some(Value::String(next)) if next.is_empty() => break,
                Some(Value::String(next)) => next.clone(),
                Some(_) => {
                    listing.problem(
                        None,
                        format!(
                            "the cursor on page {page} of its tool list is not a text; listing stopped there"
                        ),
                    );
                    break;
                }
            };
            if !seen.insert(next.clone()) {
                listing.problem(None, format!("its tool list goes round in circles: page {page} names a cursor again; listing stopped there"));
                break;
            }
            if page > 1 && listing.len() == before {
                listing.problem(
                    None,
                    format!("page {page} of its tool list brought nothing new; listing stopped there"),
                );
                break;
            }
            if page >= MAX_PAGES || listing.len() >= MAX_TOOLS {
                listing.problem(
                    None,
                    format!("its tool list does not end; {} tools on {page} pages were read", listing.len()),
                );
                break;
            }
            cursor = Some(next);
        }
        if let Some(noise) = self.noise.summary(&self.redactor) {
            listing.problem(None, noise);
        }
        Ok((listing.finish(), ttl))
    }

    /// Servers of the modern era tell changes only to those who listen.
    fn watch_changes(&self) {
        let announces = self
            .peer
            .peer_info()
            .and_then(|info| info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed))
            .unwrap_or(false);
        if self.hello.era == Era::Legacy || !announces {
            return;
        }
        let (peer, events) = (self.peer.clone(), self.events.clone());
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            // A server that refuses is listed again when its own time runs out.
            let Ok(mut subscription) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = subscription.next().await {
                events.tools_changed.store(true, Ordering::Release);
            }
        });
    }

    /// Makes one call and gives back the raw result.
    pub(super) async fn call(
        &self,
        request: ClientRequest,
        meta: Option<RequestMetaObject>,
    ) -> Result<Value, ServiceError> {
        client::request(&self.peer, request, meta).await.map(raw)
    }

    /// What an error of the connection means, with the server's last words where it has ended.
    pub(super) async fn failure(&self, doing: &str, error: &ServiceError) -> Failure {
        let what = match error {
            ServiceError::McpError(error) => {
                self.redactor.clean(&format!("{} ({})", error.message, error.code.0), QUOTE_BYTES)
            }
            ServiceError::TransportSend(error) => {
                self.redactor.clean(&http::describe(error.error.as_ref()).0, QUOTE_BYTES)
            }
            ServiceError::TransportClosed => match &self.process {
                Some(process) => ended(process, &self.redactor).await,
                None => "the connection broke".into(),
            },
            other => self.redactor.clean(&other.to_string(), QUOTE_BYTES),
        };
        Failure::new(format!("{doing}: {what}"))
    }

    /// Ends the connection: no more input for the server, then a request to leave, then its end.
    pub(super) async fn close(&self) {
        let running = self.running.lock().await.take();
        if let Some(mut running) = running {
            // An HTTP server is told that its session is over; it may not hold us up.
            let _ = running.close_with_timeout(Duration::from_millis(700)).await;
        }
        if let Some(process) = &self.process {
            process.stop().await;
        }
    }
}

fn lifecycle(era: Option<Era>) -> ClientLifecycleMode {
    let preferred_versions = vec![ProtocolVersion::LATEST];
    match era {
        Some(Era::Modern) => ClientLifecycleMode::Discover { preferred_versions },
        Some(Era::Legacy) => ClientLifecycleMode::Initialize,
        None => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    }
}

fn hello(peer: &Peer<RoleClient>, redactor: &Redactor, started: Instant) -> Hello {
    let info = peer.peer_info();
    let version =
        info.as_ref().map_or(ProtocolVersion::LATEST_WITH_INITIALIZE, |info| info.protocol_version.clone());
    Hello {
        era: if version.has_initialize() { Era::Legacy } else { Era::Modern },
        version: redactor.clean(version.as_str(), 40),
        calls_itself: info.and_then(|info| {
            info.server_info.as_ref().map(|s| redactor.clean(&format!("{} {}", s.name, s.version), 200))
        }),
        took: started.elapsed(),
    }
}

/// The JSON the server sent, whatever rmcp took it for.
fn raw(answer: ServerResult) -> Value {
    match answer {
        ServerResult::CustomResult(custom) => custom.0,
        // Serialising what has been deserialised from JSON cannot fail.
        typed => serde_json::to_value(typed).unwrap_or_default(),
    }
}

/// Why the handshake failed, for people, and whether the other era is worth a try.
async fn no_start(
    error: &ClientInitializeError,
    process: Option<&Process>,
    probe: Option<&stdio::Probe>,
    redactor: &Redactor,
) -> Failure {
    let other_era = probe.and_then(stdio::Probe::late_answer);
    let closed = matches!(error, ClientInitializeError::ConnectionClosed(_))
        || matches!(error, ClientInitializeError::TransportError { .. } if process.is_some());
    let message = match (process, error) {
        (Some(process), _) if closed => ended(process, redactor).await,
        _ => redactor.clean(&handshake_error(error), QUOTE_BYTES),
    };
    Failure { message: format!("cannot be started: {message}"), other_era }
}

fn handshake_error(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => http::describe(error.error.as_ref()).0,
        ClientInitializeError::JsonRpcError(error) => {
            format!("it answers {} ({})", error.message, error.code.0)
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let theirs: Vec<&str> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            format!("no protocol version in common; the server speaks {}", theirs.join(", "))
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => handshake_error(fallback),
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".into(),
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            "its answer to the handshake is not one the protocol knows".into()
        }
        other => other.to_string(),
    }
}

/// How a process ended and what it said last.
async fn ended(process: &Process, redactor: &Redactor) -> String {
    let how = match process.ended_within(EXIT_NEWS).await {
        Some(status) => format!("the server ended ({})", process::describe(status)),
        None => "the server closed its output".to_owned(),
    };
    let words = process.stderr.text(redactor, LAST_WORDS);
    if words.is_empty() {
        format!("{how}; it wrote nothing to stderr")
    } else {
        format!("{how}; the last it wrote to stderr:\n{words}")
    }
}

/// Shared by everything that counts failures of one server.
#[derive(Default)]
pub(super) struct Backoff(Mutex<(u32, Option<Instant>)>);

impl Backoff {
    const LONGEST: Duration = Duration::from_secs(5);

    /// How long the next attempt has to wait: not at all after one failure, then 0.5 s, 1 s, 2 s, …
    pub(super) fn wait(&self) -> Duration {
        let (failures, last) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = match failures {
            0 | 1 => Duration::ZERO,
            n => Duration::from_millis(500).saturating_mul(1 << (n - 2).min(8)).min(Self::LONGEST),
        };
        pause.saturating_sub(last.map_or(Duration::MAX, |last| last.elapsed()))
    }

    pub(super) fn failed(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = (state.0.saturating_add(1), Some(Instant::now()));
    }

    pub(super) fn worked(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_between_attempts_grows_to_a_bound_and_ends_with_success() {
        let backoff = Backoff::default();
        assert_eq!(backoff.wait(), Duration::ZERO);
        backoff.failed();
        assert_eq!(backoff.wait(), Duration::ZERO);
        backoff.failed();
        assert!((Duration::from_millis(300)..=Duration::from_millis(500)).contains(&backoff.wait()));
        backoff.failed();
        assert!(backoff.wait() > Duration::from_millis(800));
        (0..100).for_each(|_| backoff.failed());
        assert!(backoff.wait() <= Backoff::LONGEST);
        backoff.worked();
        assert_eq!(backoff.wait(), Duration::ZERO);
    }
}
