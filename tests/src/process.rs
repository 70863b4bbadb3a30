//! Runs one program to its end, or kills it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// No command of a test takes longer than this, or the test fails.
pub(crate) const HARD_TIMEOUT: Duration = Duration::from_secs(60);

/// A program that came to its end.
#[derive(Debug)]
pub struct Finished {
    /// Exit code; -1 if a signal ended it.
    pub exit: i32,
    /// All of standard output. Not UTF-8 is an error of its own.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
    /// From start to end.
    pub elapsed: Duration,
    /// The most memory it ever held, in bytes, where the system says so.
    pub peak_memory: Option<u64>,
}

/// Starts `command`, writes `stdin` to it and waits.
pub(crate) fn run(mut command: Command, stdin: &str) -> Finished {
    let started = Instant::now();
    let mut child = command
        .stdin(if stdin.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    // Each pipe has a thread, or a full one would stop the program.
    let writer = child.stdin.take().map(|mut pipe| {
        let text = stdin.to_owned();
        // A program that does not read its input is free to end.
        thread::spawn(move || drop(pipe.write_all(text.as_bytes())))
    });
    let stdout = reader(child.stdout.take().unwrap());
    let stderr = reader(child.stderr.take().unwrap());

    let mut peak_memory = None;
    let mut killed = false;
    let status: ExitStatus = loop {
        peak_memory = high_water_mark(child.id()).or(peak_memory);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > HARD_TIMEOUT && !killed {
            killed = true;
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(2));
    };
    let elapsed = started.elapsed();
    if let Some(writer) = writer {
        writer.join().unwrap();
    }
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    assert!(!killed, "{command:?} did not end within {HARD_TIMEOUT:?}\nstdout: {stdout}\nstderr: {stderr}");
    Finished { exit: status.code().unwrap_or(-1), stdout, stderr, elapsed, peak_memory }
}

fn reader(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).expect("the program writes UTF-8");
        text
    })
}

/// Runs until a run took no longer than `most`, three times at the most, and returns the last one. A
/// machine that is busy elsewhere may be late once; a limit that does not work is late every time.
pub fn timely(most: Duration, mut attempt: impl FnMut() -> crate::Run) -> crate::Run {
    for _ in 0..2 {
        let run = attempt();
        if Duration::from_millis(run.usage("wall_ms")) <= most {
            return run;
        }
    }
    let run = attempt();
    let took = Duration::from_millis(run.usage("wall_ms"));
    assert!(took <= most, "the run took {took:?}, and {most:?} was the most: {run:#?}");
    run
}

/// VmHWM of a living process; `None` elsewhere than on Linux, and once it has ended.
fn high_water_mark(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

/// The process id of the `postern-guard` whose parent was started for this folder; only Linux tells.
pub fn worker_of(folder: &Path) -> Option<u32> {
    let folder = folder.to_str().expect("UTF-8");
    let pids = std::fs::read_dir("/proc")
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.into_iter().find(|pid| {
        let read = |pid: &str, file: &str| {
            std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default()
        };
        let status = read(&pid.to_string(), "status");
        let field = |name: &str| {
            status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).unwrap_or_default()
        };
        field("Name:").starts_with("postern-guard") && read(field("PPid:"), "cmdline").contains(folder)
    })
}
