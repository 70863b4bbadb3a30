//! Between a child process and the protocol: what comes in is filtered, what goes out is watched for
//! the probe that asks for the era. Servers that do not know the probe and stay silent are taken for
//! legacy ones after a short time.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::process::ChildStdin;
use tokio::sync::watch;

use super::config::Era;
use super::frames::{self, Observer, error_response, id_and_method};
use super::process::Pipes;
use super::text::Redactor;

/// How long a server may take to answer the probe. Slow starters that speak the modern era are found
/// out by their late answer, and started once more.
const PROBE: Duration = Duration::from_secs(5);
/// After a process has ended, how long what it left in its pipe is still read.
const LAST_OUTPUT: Duration = Duration::from_millis(200);
const PIPE_BYTES: usize = 256 * 1024;

/// Lines that were no messages.
pub(super) struct Noise {
    server: String,
    /// How many, and how the first began.
    seen: Mutex<(u64, Vec<u8>)>,
}

impl Noise {
    /// None so far, of this server.
    pub(super) fn of(server: &str) -> Self {
        Self { server: server.to_owned(), seen: Mutex::default() }
    }

    /// One warning for all of them.
    pub(super) fn summary(&self, redactor: &Redactor) -> Option<String> {
        let noise = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, first) = &*noise;
        (*count > 0).then(|| {
            let first = redactor.clean(&String::from_utf8_lossy(first), 120);
            format!("it writes to its standard output what is no protocol message, which is skipped ({count} so far; the first: {first:?})")
        })
    }
}

/// What became of the probe.
pub(super) struct Probe {
    /// The era is known, so nobody gives up waiting for the answer.
    patient: bool,
    state: Mutex<ProbeState>,
}

#[derive(Default)]
struct ProbeState {
    /// Its id, as JSON, while no answer has come.
    waiting: Option<String>,
    /// The id of a probe that we have answered ourselves.
    given_up: Option<String>,
    late: Option<Era>,
}

impl Probe {
    /// To find out the era, or to speak one that is `known`.
    pub(super) fn new(known: Option<Era>) -> Self {
        Self { patient: known.is_some(), state: Mutex::default() }
    }

    /// The era of a server that answered when we had given up.
    pub(super) fn late_answer(&self) -> Option<Era> {
        self.state().late
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ProbeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up; the id to answer in the server's place, if it is still open.
    fn give_up(&self) -> Option<String> {
        let mut state = self.state();
        let id = state.waiting.take()?;
        state.given_up = Some(id.clone());
        Some(id)
    }
}

struct Inbound {
    noise: Arc<Noise>,
    probe: Arc<Probe>,
}

impl Observer for Inbound {
    fn noise(&mut self, beginning: &[u8]) {
        let mut noise = self.noise.seen.lock().unwrap_or_else(PoisonError::into_inner);
        noise.0 += 1;
        if noise.0 == 1 {
            noise.1 = beginning.to_vec();
            tracing::warn!(
                "server `{}` writes to its standard output what is no protocol message; it is skipped",
                self.noise.server
            );
        }
    }

    fn message(&mut self, text: &[u8]) -> bool {
        let mut state = self.probe.state();
        if state.waiting.is_none() && state.given_up.is_none() {
            return true;
        }
        let (Some(id), None) = id_and_method(text) else { return true };
        if state.waiting.as_deref() == Some(id) {
            state.waiting = None;
        }
        if state.given_up.as_deref() == Some(id) {
            let modern = text.windows(19).any(|part| part == b"\"supportedVersions\"");
            state.late = Some(if modern { Era::Modern } else { Era::Legacy });
            state.given_up = None;
            return false;
        }
        true
    }
}

/// Ties a child's pipes to a reader and a writer for the protocol. Everything ends when the child
/// does, or when the client drops its ends.
pub(super) fn connect(
    pipes: Pipes,
    mut exit: watch::Receiver<Option<ExitStatus>>,
    max_bytes: usize,
    noise: Arc<Noise>,
    probe: Arc<Probe>,
) -> (DuplexStream, DuplexStream) {
    let (to_client, from_server) = tokio::io::duplex(PIPE_BYTES);
    let (to_server, from_client) = tokio::io::duplex(PIPE_BYTES);
    let to_client = Arc::new(tokio::sync::Mutex::new(to_client));
    tokio::spawn(outbound(from_client, pipes.stdin, probe.clone(), Arc::downgrade(&to_client)));
    tokio::spawn(async move {
        let ended = async {
            // An error means that nobody watches the child any more, which is the same news.
            let _ = exit.wait_for(Option::is_some).await;
            tokio::time::sleep(LAST_OUTPUT).await;
        };
        // A grandchild may keep the pipe open; without the child it is of no use.
        tokio::select! {
            () = frames::pump(pipes.stdout, to_client, max_bytes, Inbound { noise, probe }) => {}
            () = ended => {}
        }
    });
    (from_server, to_server)
}

/// Copies lines to the child. When the client is gone the child's input closes.
async fn outbound(
    from: DuplexStream,
    mut stdin: ChildStdin,
    probe: Arc<Probe>,
    to_client: Weak<tokio::sync::Mutex<DuplexStream>>,
) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    let mut handshake = true;
    loop {
        line.clear();
        match from.read_until(b'\n', &mut line).await {
            Ok(length) if length > 0 => {}
            _ => return,
        }
        if handshake {
            match id_and_method(&line) {
                (Some(id), Some("\"server/discover\"")) if !probe.patient => {
                    watch_probe(id, &probe, to_client.clone())
                }
                (_, Some("\"server/discover\"" | "\"initialize\"")) | (Some(_), None) => {}
                _ => handshake = false,
            }
        }
        if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

fn watch_probe(id: &str, probe: &Arc<Probe>, to_client: Weak<tokio::sync::Mutex<DuplexStream>>) {
    probe.state().waiting = Some(id.to_owned());
    let probe = probe.clone();
    tokio::spawn(async move {
        tokio::time::sleep(PROBE).await;
        if let (Some(id), Some(to_client)) = (probe.give_up(), to_client.upgrade()) {
            let answer = error_response(&id, "the server did not answer server/discover");
            // The client may be gone, and then needs no answer.
            let _ = to_client.lock().await.write_all(answer.as_bytes()).await;
        }
    });
}
