//! Running other programs: into a log with progress, to read their answer, or before the user's eyes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::failure::{Because, Failure, Result};
use crate::progress::Progress;

/// Set for us by the cargo that runs `cargo xtask`, and wrong for the programs started from here.
/// (LD_LIBRARY_PATH then names our own target folder first.)
const CARGO_RUN_LEAVES: [&str; 2] = ["LD_LIBRARY_PATH", "CARGO_MANIFEST_DIR"];

/// A command of the same cargo, in the clone.
pub(crate) fn cargo(cx: &Context) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(&cx.root);
    for name in CARGO_RUN_LEAVES {
        command.env_remove(name);
    }
    // Build scripts run again when LIBTORCH changes. A target folder outside the clone may serve many
    // clones, so it gets the path that is the same for all of them.
    let shared =
        std::env::var_os("CARGO_TARGET_DIR").is_some_and(|dir| !Path::new(&dir).starts_with(&cx.root));
    if let Ok(libtorch) = std::fs::read_link(cx.local("libtorch"))
        && shared
        && cx.user_libtorch.is_none()
    {
        command.env("LIBTORCH", libtorch);
    }
    command
}

/// A program that has nothing to do with our cargo.
pub(crate) fn tool(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    for name in CARGO_RUN_LEAVES {
        command.env_remove(name);
    }
    command
}

/// Runs a program and returns what it printed. Its errors go into the failure.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let out = command.stdin(Stdio::null()).output().because(|| format!("starting {shown}"))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&out.stderr);
    Err(Failure::new(format!("{shown}: {}, {}", out.status, said.trim())))
}

/// Whether a program is there and answers `--version`.
pub(crate) fn answers(program: &Path) -> bool {
    tool(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs a program before the user's eyes.
pub(crate) fn show_running(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status = command.status().because(|| format!("starting {shown}"))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("{shown}: {status}"))) }
}

/// The log of one step, in .postern/logs.
pub(crate) struct Log {
    path: PathBuf,
}

impl Log {
    /// Starts the log anew.
    pub(crate) fn start(cx: &Context, step: &str) -> Result<Self> {
        let path = cx.local("logs").join(format!("{step}.log"));
        File::create(&path).because(|| format!("making {}", path.display()))?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file handle at the end of the log.
    pub(crate) fn end(&self) -> Result<File> {
        File::options().append(true).open(&self.path).because(|| format!("opening {}", self.path.display()))
    }

    pub(crate) fn line(&self, text: &str) -> Result<()> {
        writeln!(self.end()?, "{text}").because(|| format!("writing {}", self.path.display()))
    }

    /// Runs a program with its output in the log, showing the log's last line as progress.
    pub(crate) fn run(&self, command: &mut Command, progress: &Progress) -> Result<()> {
        self.run_for(command, progress, None)
    }

    /// The same, but the program is ended after `limit`.
    pub(crate) fn run_for(
        &self,
        command: &mut Command,
        progress: &Progress,
        limit: Option<Duration>,
    ) -> Result<()> {
        command.stdout(self.end()?);
        self.run_keeping_stdout(command, progress, limit)
    }

    /// Runs a program with only its stderr in the log; stdout goes where the caller said.
    pub(crate) fn run_keeping_stdout(
        &self,
        command: &mut Command,
        progress: &Progress,
        limit: Option<Duration>,
    ) -> Result<()> {
        let shown = show(command);
        self.line(&format!("$ {shown}"))?;
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::null())
            .stderr(self.end()?)
            .spawn()
            .because(|| format!("starting {shown}"))?;
        loop {
            if let Some(status) = child.try_wait().because(|| format!("waiting for {shown}"))? {
                if status.success() {
                    return Ok(());
                }
                return Err(Failure::new(format!("{shown}: {status}")).log(&self.path));
            }
            if limit.is_some_and(|limit| started.elapsed() > limit) {
                let _ = child.kill();
                let _ = child.wait();
                let seconds = started.elapsed().as_secs();
                return Err(Failure::new(format!("{shown}: no end after {seconds} s")).log(&self.path));
            }
            progress.note(&self.last_line());
            // short at first: most commands are quick
            let nap = if started.elapsed() < Duration::from_secs(1) { 10 } else { 150 };
            std::thread::sleep(Duration::from_millis(nap));
        }
    }

    fn last_line(&self) -> String {
        let mut tail = Vec::new();
        let read = File::open(&self.path).and_then(|mut file| {
            let end = file.seek(SeekFrom::End(0))?;
            file.seek(SeekFrom::Start(end.saturating_sub(600)))?;
            file.read_to_end(&mut tail)
        });
        if read.is_err() {
            return String::new();
        }
        let text = String::from_utf8_lossy(&tail);
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_string()
    }
}

/// A command as a line to read; its environment is never part of it.
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut line = program.to_string_lossy().into_owned();
    for arg in command.get_args() {
        let arg = arg.to_string_lossy();
        // a program text handed over as one argument is not worth reading
        let arg = if arg.contains('\n') { "<program>".into() } else { arg };
        line.push(' ');
        line.push_str(&arg);
        if line.len() > 400 {
            line.truncate(line.floor_char_boundary(400));
            line.push_str(" ...");
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_command_has_no_environment_no_program_text_and_an_end() {
        let mut command = Command::new("/usr/bin/python3");
        command.arg("-c").arg("import os\nprint()").arg("x").env("TOKEN", "secret");
        assert_eq!(show(&command), "python3 -c <program> x");
        command.args(std::iter::repeat_n("é", 400));
        assert!(show(&command).len() < 410);
    }
}
