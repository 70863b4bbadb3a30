//! The guard as a worker process: started at the first need, spoken to in JSON lines (see
//! `postern_check`'s protocol), started again when it has died. A check that was under way when it
//! died has failed; it is never answered by guess.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use postern_check::{Answer, Check, Failure, Greeting, MAX_CHECK_BYTES, ModelInfo, Question, Reply, Scores};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};

use super::{Guard, GuardDown};

/// How long loading the model may take.
const START_TIME: Duration = Duration::from_secs(60);
/// How long one check may take, waiting for others included.
const CHECK_TIME: Duration = Duration::from_secs(30);
/// After a start that failed, the next is tried this much later.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// What is kept of the worker's standard error.
const STDERR_KEPT: usize = 4 << 10;
/// What the worker's environment may hold: enough to find a GPU and its weights, nothing secret.
const ENVIRONMENT: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "POSTERN_WEIGHTS",
    "POSTERN_GUARD_DEVICE",
    "POSTERN_GUARD_THREADS",
    "POSTERN_LOG",
    "RUST_BACKTRACE",
];

/// How to start the worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerOptions {
    /// The program; None: `POSTERN_GUARD`, else `postern-guard` beside this program, else on PATH.
    pub program: Option<PathBuf>,
    /// The folder of the weights; None: the worker's own choice.
    pub weights: Option<PathBuf>,
    /// `auto`, `cpu`, `cuda` or `cuda:N`; None: the worker's own choice.
    pub device: Option<String>,
    /// Threads for computing; None: the worker's own choice.
    pub threads: Option<u32>,
}

/// The guard in a process of its own. Cheap to clone; clones share the process, and so all runs of
/// a host share its batches.
#[derive(Clone, Debug)]
pub struct WorkerGuard(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    options: WorkerOptions,
    /// Held while the worker is started, so that it is started once.
    state: tokio::sync::Mutex<State>,
    known: Mutex<Option<ModelInfo>>,
}

#[derive(Debug, Default)]
struct State {
    worker: Option<Arc<Worker>>,
    failed: Option<(Instant, GuardDown)>,
}

/// A live worker. Dropping it kills the process.
#[derive(Debug)]
struct Worker {
    info: ModelInfo,
    next: AtomicU64,
    lines: mpsc::UnboundedSender<Vec<u8>>,
    waiting: Arc<Waiting>,
    _child: Child,
}

/// Checks without an answer yet, by id.
#[derive(Debug, Default)]
struct Waiting {
    ended: AtomicBool,
    replies: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
}

impl WorkerGuard {
    /// A guard that starts its worker when it is first needed.
    pub fn new(options: WorkerOptions) -> Self {
        let shared = Shared { options, state: tokio::sync::Mutex::default(), known: Mutex::default() };
        Self(Arc::new(shared))
    }

    async fn worker(&self) -> Result<Arc<Worker>, GuardDown> {
        let mut state = self.0.state.lock().await;
        if let Some(worker) = &state.worker
            && !worker.waiting.ended.load(Ordering::Acquire)
        {
            return Ok(Arc::clone(worker));
        }
        state.worker = None;
        if let Some((when, why)) = &state.failed
            && when.elapsed() < RETRY_AFTER
        {
            return Err(why.clone());
        }
        match Worker::start(&self.0.options).await {
            Ok(worker) => {
                *self.0.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(worker.info.clone());
                let worker = Arc::new(worker);
                *state = State { worker: Some(Arc::clone(&worker)), failed: None };
                Ok(worker)
            }
            Err(why) => {
                state.failed = Some((Instant::now(), why.clone()));
                Err(why)
            }
        }
    }
}

#[async_trait]
impl Guard for WorkerGuard {
    fn prepare(&self) {
        let guard = self.clone();
        // A failure shows at the first check.
        tokio::spawn(async move { guard.worker().await.map(drop) });
    }

    async fn score(&self, check: Check) -> Result<Scores, GuardDown> {
        let worker = self.worker().await?;
        let answer = tokio::time::timeout(CHECK_TIME, worker.ask(check)).await;
        match answer.map_err(|_| GuardDown::new("the guard worker did not answer in time"))?? {
            Answer::Scores(scores) => Ok(scores),
            Answer::Error(failure) => {
                Err(GuardDown::new(format!("the guard worker failed: {}", failure.message)))
            }
        }
    }

    async fn info(&self) -> Result<ModelInfo, GuardDown> {
        Ok(self.worker().await?.info.clone())
    }

    fn known(&self) -> Option<ModelInfo> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Worker {
    async fn start(options: &WorkerOptions) -> Result<Self, GuardDown> {
        let program = find_program(options);
        let mut command = Command::new(&program);
        command
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Not ours to stop with: a Ctrl-C in the terminal goes to the host, which ends the run in order.
        #[cfg(unix)]
        command.process_group(0);
        command.envs(ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        if let Some(weights) = &options.weights {
            command.arg("--weights").arg(weights);
        }
        if let Some(device) = &options.device {
            command.arg("--device").arg(device);
        }
        if let Some(threads) = options.threads {
            command.arg("--threads").arg(threads.to_string());
        }
        let mut child = command.spawn().map_err(|e| {
            GuardDown::new(format!("the guard worker {} cannot be started: {e}", program.display()))
        })?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(GuardDown::new("the guard worker has no pipes"));
        };
        let said = keep_last(stderr);
        let mut stdout = BufReader::new(stdout);
        let greeting = tokio::time::timeout(START_TIME, greeting(&mut stdout)).await;
        let info = match greeting {
            Ok(Ok(Greeting::Ready(info))) => info,
            Ok(Ok(Greeting::Failed(Failure { message, .. }))) => return Err(GuardDown::new(message)),
            Ok(Err(why)) => {
                // What it said last is worth more than that it ended.
                tokio::time::sleep(Duration::from_millis(50)).await;
                let said = said.lock().unwrap_or_else(PoisonError::into_inner);
                let said = String::from_utf8_lossy(&said).trim().to_owned();
                return Err(GuardDown::new(if said.is_empty() { why } else { format!("{why}: {said}") }));
            }
            Err(_) => return Err(GuardDown::new("the guard worker did not load its model in time")),
        };
        let waiting = Arc::new(Waiting::default());
        let (lines, to_write) = mpsc::unbounded_channel();
        tokio::spawn(write_lines(stdin, to_write));
        tokio::spawn(read_replies(stdout, Arc::clone(&waiting)));
        Ok(Self { info, next: AtomicU64::new(1), lines, waiting, _child: child })
    }

    async fn ask(&self, check: Check) -> Result<Answer, GuardDown> {
        let ended = || GuardDown::new("the guard worker ended before it answered");
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut line = serde_json::to_vec(&Question { id, check })
            .map_err(|e| GuardDown::new(format!("the check cannot be written down: {e}")))?;
        if line.len() > MAX_CHECK_BYTES {
            let message =
                format!("the check is {} bytes long; the guard reads {MAX_CHECK_BYTES}", line.len());
            return Err(GuardDown::new(message));
        }
        line.push(b'\n');
        let (sender, receiver) = oneshot::channel();
        self.waiting.replies.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        let _forget = Forget(&self.waiting, id);
        if self.lines.send(line).is_err() || self.waiting.ended.load(Ordering::Acquire) {
            return Err(ended());
        }
        receiver.await.map_err(|_| ended())
    }
}

/// Forgets a check whose asker is gone.
struct Forget<'a>(&'a Waiting, u64);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.0.replies.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

fn find_program(options: &WorkerOptions) -> PathBuf {
    const NAME: &str = "postern-guard";
    let beside = || {
        let program = std::env::current_exe().ok()?.with_file_name(NAME);
        program.is_file().then_some(program)
    };
    options
        .program
        .clone()
        .or_else(|| std::env::var_os("POSTERN_GUARD").map(PathBuf::from))
        .or_else(beside)
        .unwrap_or_else(|| NAME.into())
}

async fn greeting(stdout: &mut BufReader<ChildStdout>) -> Result<Greeting, String> {
    let mut line = String::new();
    match stdout.take(64 << 10).read_line(&mut line).await {
        Ok(0) => Err("the guard worker ended before it was ready".into()),
        Ok(_) => serde_json::from_str(&line)
            .map_err(|e| format!("the guard worker's first line means nothing: {e}")),
        Err(e) => Err(format!("the guard worker's first line cannot be read: {e}")),
    }
}

async fn write_lines(mut stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(&line).await.is_err() {
            // The reader's side sees the end and fails what is waiting.
            return;
        }
    }
}

async fn read_replies(stdout: BufReader<ChildStdout>, waiting: Arc<Waiting>) {
    let mut lines = stdout.lines();
    // A line that means nothing is not skipped: which check it belonged to is not known, so the
    // worker is taken for dead.
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(reply) = serde_json::from_str::<Reply>(&line) else { break };
        let sender = waiting.replies.lock().unwrap_or_else(PoisonError::into_inner).remove(&reply.id);
        if let Some(sender) = sender {
            let _ = sender.send(reply.answer); // the asker may be gone
        }
    }
    waiting.ended.store(true, Ordering::Release);
    waiting.replies.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Reads a stream to its end and keeps the last part.
fn keep_last(mut stream: impl tokio::io::AsyncRead + Unpin + Send + 'static) -> Arc<Mutex<Vec<u8>>> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&kept);
    tokio::spawn(async move {
        let mut buffer = vec![0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&buffer[..read]);
            let surplus = kept.len().saturating_sub(STDERR_KEPT);
            kept.drain(..surplus);
        }
    });
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check() -> Check {
        Check::parse(r#"{"action":{"tool":"a.b"},"intent":""}"#).unwrap()
    }

    fn guard(program: &str) -> WorkerGuard {
        WorkerGuard::new(WorkerOptions { program: Some(program.into()), ..WorkerOptions::default() })
    }

    #[tokio::test]
    async fn a_worker_that_is_not_there_is_a_guard_that_is_down() {
        let down = guard("/nonexistent/guard").score(check()).await.unwrap_err();
        assert!(down.message.contains("/nonexistent/guard"), "{down}");
    }

    #[tokio::test]
    async fn a_worker_that_ends_at_once_is_a_guard_that_is_down() {
        let down = guard("/bin/true").score(check()).await.unwrap_err();
        assert!(down.message.contains("ended before it was ready"), "{down}");
    }

    #[tokio::test]
    async fn a_worker_that_talks_nonsense_is_a_guard_that_is_down() {
        // `cat` with no arguments says nothing by itself; `pwd` prints a line that is no greeting.
        let down = guard("/bin/pwd").score(check()).await.unwrap_err();
        assert!(down.message.contains("means nothing"), "{down}");
    }
}
