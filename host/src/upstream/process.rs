//! Starts and stops the child process of a stdio server. It gets an environment of its own, no
//! shell, a process group of its own, and it never outlives this process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::text::Redactor;

/// How much of what a server last wrote to its standard error is kept.
pub(super) const STDERR_BYTES: usize = 8 * 1024;
/// How long a server may take to leave after its input is closed, and then after SIGTERM. Together
/// they bound how long closing takes.
const LEAVE_AFTER_EOF: Duration = Duration::from_millis(1_000);
const LEAVE_AFTER_TERM: Duration = Duration::from_millis(700);
/// The variables every server gets from this process.
const PASSED: [&str; 3] = ["PATH", "HOME", "LANG"];

/// A running child. Dropping it kills the child's whole group.
pub(super) struct Process {
    /// What the server wrote to its standard error, the end of it.
    pub(super) stderr: StderrTail,
    /// Set once the child has ended.
    pub(super) exit: watch::Receiver<Option<ExitStatus>>,
    stop: CancellationToken,
}

/// The pipes of a child.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

/// Starts a server.
///
/// # Errors
/// A message for people: the command does not exist, or the system refuses to run it.
pub(super) async fn start(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
    cwd: Option<&Path>,
) -> Result<(Process, Pipes), String> {
    let environment = environment(env);
    let program = find_program(command, cwd, &environment)?;
    let mut command = Command::new(&program);
    command
        .args(args)
        .env_clear()
        .envs(&environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    end_with_this_process(&mut command);
    let mut child = spawn(command).await.map_err(|error| match cwd {
        Some(cwd) if !cwd.is_dir() => format!("its working directory {} does not exist", cwd.display()),
        _ => format!("{} cannot be started: {error}", program.display()),
    })?;
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (Some((stdin, stdout)), Some(stderr)) = (pipes, child.stderr.take()) else {
        return Err("the system gave no pipes to the server".into());
    };
    let tail = StderrTail::default();
    tokio::spawn(tail.clone().follow(stderr));
    let (exited, exit) = watch::channel(None);
    let stop = CancellationToken::new();
    tokio::spawn(supervise(child, exited, stop.clone()));
    Ok((Process { stderr: tail, exit, stop }, Pipes { stdin, stdout }))
}

impl Process {
    /// How the child ended, if it has or does within this time.
    pub(super) async fn ended_within(&self, time: Duration) -> Option<ExitStatus> {
        let mut exit = self.exit.clone();
        tokio::time::timeout(time, exit.wait_for(Option::is_some)).await.ok()?.ok().and_then(|status| *status)
    }

    /// Waits for the child to leave, whose input the caller has closed; then asks, then makes it.
    /// Takes at most two seconds.
    pub(super) async fn stop(&self) {
        if self.ended_within(LEAVE_AFTER_EOF).await.is_some() {
            return;
        }
        self.stop.cancel();
        self.ended_within(LEAVE_AFTER_TERM + Duration::from_millis(300)).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Owns the child until it has ended, and takes what is left of its group along.
async fn supervise(mut child: Child, exited: watch::Sender<Option<ExitStatus>>, stop: CancellationToken) {
    let group = Group(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw));
    let status = tokio::select! {
        status = child.wait() => status,
        () = stop.cancelled() => {
            group.signal(Signal::TERM);
            match tokio::time::timeout(LEAVE_AFTER_TERM, child.wait()).await {
                Ok(status) => status,
                Err(_) => {
                    group.signal(Signal::KILL);
                    child.wait().await
                }
            }
        }
    };
    // Children of the child that kept running, such as the server behind a wrapper script.
    drop(group);
    exited.send_replace(Some(status.unwrap_or_else(|_| ExitStatus::from_raw(0))));
}

/// A process group that is killed when this is dropped, also when the runtime goes away.
struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // The only failure is that nobody is left in it.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// PATH, HOME, LANG and what the configuration names. Servers have tools that print their whole
/// environment, so nothing else of ours may be in it.
fn environment(configured: &BTreeMap<String, String>) -> BTreeMap<OsString, OsString> {
    let mut environment: BTreeMap<OsString, OsString> = PASSED
        .iter()
        .filter_map(|name| std::env::var_os(name).map(|value| (OsString::from(name), value)))
        .collect();
    environment.extend(configured.iter().map(|(name, value)| (name.into(), value.into())));
    environment
}

/// An absolute path for the command, looked up on the PATH that the server will see.
fn find_program(
    command: &str,
    cwd: Option<&Path>,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<PathBuf, String> {
    if command.contains('/') {
        let path = cwd.map_or_else(|| PathBuf::from(command), |cwd| cwd.join(command));
        let path = std::path::absolute(&path).unwrap_or(path);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(format!("its command {} does not exist", path.display()))
        };
    }
    let path = environment.get(&OsString::from("PATH")).cloned().unwrap_or_default();
    // Programs that were installed with this one need not be on PATH.
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    std::env::split_paths(&path)
        .chain(beside)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(command))
        .find(|candidate| is_executable(candidate))
        .ok_or_else(|| {
            let hint = if command.contains(' ') {
                "; arguments belong into `args`, each as its own text"
            } else {
                ""
            };
            format!("its command `{command}` is not on PATH{hint}")
        })
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Linux ends a child with SIGTERM when the thread that started it ends. Threads of a runtime come
/// and go, so one thread that lives as long as the process starts every child.
async fn spawn(command: Command) -> io::Result<Child> {
    type Job = Box<dyn FnOnce() + Send>;
    static STARTER: OnceLock<Mutex<Sender<Job>>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (sender, jobs) = channel::<Job>();
        // When no thread can be had the channel is closed, and every start says so.
        let _ = std::thread::Builder::new()
            .name("postern-starter".into())
            .spawn(move || jobs.into_iter().for_each(|job| job()));
        Mutex::new(sender)
    });
    let (answer, answered) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let mut command = command;
    let job: Job = Box::new(move || {
        let _inside = runtime.enter();
        // Nobody waits any more: the child is dropped and with that killed.
        let _ = answer.send(command.spawn());
    });
    starter
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .send(job)
        .map_err(|_| io::Error::other("no thread to start it"))?;
    answered.await.map_err(|_| io::Error::other("no thread to start it"))?
}

#[cfg(target_os = "linux")]
fn end_with_this_process(command: &mut Command) {
    let parent = rustix::process::getpid();
    let hook = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
        // This process may have ended before the line above.
        if rustix::process::getppid() == Some(parent) {
            Ok(())
        } else {
            Err(io::Error::from(rustix::io::Errno::SRCH))
        }
    };
    // SAFETY: the hook runs between fork and exec, where only async-signal-safe work is allowed. It
    // makes two system calls, allocates nothing and takes no lock.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(hook);
    }
}

/// Elsewhere the end of its input tells a server that this process is gone.
#[cfg(not(target_os = "linux"))]
fn end_with_this_process(_command: &mut Command) {}

/// The end of what a server wrote to its standard error.
#[derive(Clone, Default)]
pub(super) struct StderrTail(Arc<Mutex<Vec<u8>>>);

impl StderrTail {
    async fn follow(self, mut stderr: impl AsyncRead + Unpin + Send) {
        let mut chunk = vec![0; 4096];
        while let Ok(length) = stderr.read(&mut chunk).await {
            if length == 0 {
                return;
            }
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&chunk[..length]);
            let surplus = kept.len().saturating_sub(STDERR_BYTES);
            kept.drain(..surplus);
        }
    }

    /// The last lines, fit for a message: at most `limit` bytes, no secrets.
    pub(super) fn text(&self, redactor: &Redactor, limit: usize) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // When the buffer is full its first line is the end of one, and may be half a secret.
        let cut = match kept.iter().position(|byte| *byte == b'\n') {
            _ if kept.len() < STDERR_BYTES => 0,
            Some(line) => line + 1,
            None => STDERR_BYTES / 2,
        };
        let text = super::text::strip_controls(&redactor.redact(&String::from_utf8_lossy(&kept[cut..])));
        let text = text.trim();
        let start = text.len().saturating_sub(limit);
        let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        text[start..].to_owned()
    }
}

/// For people: `exit status 3`, `signal 9 (SIGKILL)`.
pub(super) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(9)) => "signal 9 (SIGKILL)".into(),
        (None, Some(11)) => "signal 11 (SIGSEGV)".into(),
        (None, Some(15)) => "signal 15 (SIGTERM)".into(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".into(),
    }
}
