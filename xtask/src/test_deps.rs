//! What only tests need: real MCP servers from npm and PyPI and the checkers of types (tsc, mypy), every version and
//! digest pinned in tests/npm/package-lock.json and tests/requirements.txt; and what only the AgentDojo benchmark needs, in a venv of
//! its own; and wheels of pure Python that the tests of packages unpack.
//!
//! Each server is asked for its name once, when it was installed: a package that does not start is
//! found here and not in the middle of a test.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Because, Failure, Result};
use crate::fetch::{self, Rule, Wheel};
use crate::process::{self, Log};
use crate::progress::Progress;
use crate::stamp;
use crate::step::{Acted, State, Step};

/// How long a server may take to say its name; a first start compiles Python files on a busy machine.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
const NPM_SERVERS: [(&str, &[&str]); 3] =
    [("mcp-server-everything", &["stdio"]), ("mcp-server-filesystem", &["."]), ("mcp-server-memory", &[])];
/// The oldest Python that the locked packages are for.
const PYTHON: (u32, u32) = (3, 11);
/// pip as a wheel: it runs from there, so it does not matter whether this machine's Python has one.
const PIP: (&str, &str) =
    ("pip-26.3-py3-none-any.whl", "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13");

/// What the tests of packages fetch and run, and one that they refuse. The files are only kept: nothing of them is
/// installed or run on this machine.
const WHEELS: [(&str, &str); 5] = [
    ("attrs-26.1.0-py3-none-any.whl", "c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309"),
    (
        "markupsafe-3.0.4-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl",
        "8e124f974786f831d6043728e38296969d3579db8896fe004682f5758e613581",
    ),
    (
        "python_dateutil-2.9.0.post0-py2.py3-none-any.whl",
        "a8b2bc7bffae282281c8140a97d3aa9c14da0b136dfe83f850eea9a5f7470427",
    ),
    ("six-1.17.0-py2.py3-none-any.whl", "4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274"),
    ("tabulate-0.10.0-py3-none-any.whl", "f0b0622e567335c8fabaaa659f1b33bcb6ddfe2e496071b743aa113f8774f2d3"),
];

/// The files of [`WHEELS`] in `.postern/test-deps/wheels`.
pub(crate) struct TestWheels;

impl TestWheels {
    fn key() -> String {
        stamp::sha256_parts(WHEELS.iter().map(|(_, sha256)| sha256.as_bytes()))
    }

    fn dir(cx: &Context) -> PathBuf {
        cx.cache.join(format!("test-wheels-{}", &Self::key()[..12]))
    }
}

impl Step for TestWheels {
    fn name(&self) -> String {
        "test wheels (PyPI)".into()
    }

    fn id(&self) -> &'static str {
        "wheels"
    }

    fn check(&self, cx: &Context) -> Result<State> {
        linked_and_right(cx, "test-deps/wheels", &Self::dir(cx), &Self::key())
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let dir = Self::dir(cx);
        if stamp::check(&dir, &Self::key(), cx.thorough).is_err() {
            let wheels = WHEELS.map(|(file, sha256)| Wheel { file: file.into(), sha256: sha256.into() });
            let files = fetch::fetch(cx, &wheels, progress, log)?;
            let fresh = dir.with_extension("partial");
            let doing = || format!("making {}", fresh.display());
            let _ = fs::remove_dir_all(&fresh);
            fs::create_dir_all(&fresh).because(doing)?;
            for (file, (name, _)) in files.iter().zip(WHEELS) {
                fs::copy(file, fresh.join(name)).because(doing)?;
            }
            stamp::settle(&fresh, &dir, &Self::key())?;
            fetch::discard(cx, &files);
        }
        cx.link("test-deps/wheels", &dir)?;
        Ok(Acted::new(dir.display().to_string()))
    }
}

/// Node servers in `.postern/test-deps/npm/node_modules`.
pub(crate) struct NpmServers;

impl NpmServers {
    /// Key and folder, or why they are left out.
    fn place(cx: &Context) -> Result<std::result::Result<(String, PathBuf), String>> {
        let version = |name: &str| process::output(process::tool(name).arg("--version")).ok();
        let (Some(node), Some(_)) = (version("node"), version("npm")) else {
            return Ok(Err("node and npm are not installed; the tests of npm's servers are not run".into()));
        };
        let major = node.trim().trim_start_matches('v').split('.').next().unwrap_or_default();
        if major.parse::<u32>().is_ok_and(|major| major < 20) {
            return Ok(Err(format!(
                "node {} is older than 20; the tests of npm's servers are not run",
                node.trim()
            )));
        }
        let sources =
            stamp::sha256_sources(&cx.root, &["tests/npm/package.json", "tests/npm/package-lock.json"])?;
        let key = stamp::sha256_parts([sources.as_bytes(), major.as_bytes()]);
        let dir = cx.cache.join(format!("npm-{}", &key[..12]));
        Ok(Ok((key, dir)))
    }
}

impl Step for NpmServers {
    fn name(&self) -> String {
        "test servers (npm)".into()
    }

    fn id(&self) -> &'static str {
        "npm"
    }

    fn check(&self, cx: &Context) -> Result<State> {
        match Self::place(cx)? {
            Err(why) => Ok(State::LeftOut(why)),
            Ok((key, dir)) => linked_and_right(cx, "test-deps/npm", &dir, &key),
        }
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let (key, dir) = Self::place(cx)?.map_err(Failure::new)?;
        if stamp::check(&dir, &key, cx.thorough).is_err() {
            let fresh = dir.with_extension("partial");
            let doing = || format!("making {}", fresh.display());
            let _ = fs::remove_dir_all(&fresh);
            fs::create_dir_all(&fresh).because(doing)?;
            for name in ["package.json", "package-lock.json"] {
                fs::copy(cx.root.join("tests/npm").join(name), fresh.join(name)).because(doing)?;
            }
            let mut npm = process::tool("npm");
            npm.current_dir(&fresh).args([
                "ci",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--loglevel",
                "http",
            ]);
            log.run(&mut npm, progress).map_err(|failure| {
                failure.hint("is the npm registry reachable? `npm config set registry URL` names a mirror")
            })?;
            for (name, args) in NPM_SERVERS {
                progress.note(&format!("asking {name}"));
                let mut server = process::tool(fresh.join("node_modules/.bin").join(name));
                server.args(args).current_dir(&fresh);
                ask_server(name, server, log)?;
            }
            stamp::settle(&fresh, &dir, &key)?;
        }
        cx.link("test-deps/npm", &dir)?;
        Ok(Acted::new(dir.display().to_string()))
    }
}

/// A venv in `.postern/test-deps/ID`, of exactly the packages that a file of requirements locks.
pub(crate) struct Venv {
    name: &'static str,
    /// Also the name of the link and the beginning of the cached folder's.
    id: &'static str,
    requirements: &'static str,
    /// Programs in it that are MCP servers.
    servers: &'static [&'static str],
    /// What goes without it where there is no Python for it.
    without: &'static str,
}

/// Python servers in `.postern/test-deps/venv/bin`.
pub(crate) const PYTHON_SERVERS: Venv = Venv {
    name: "test servers (PyPI)",
    id: "venv",
    requirements: "tests/requirements.txt",
    servers: &["mcp-server-git", "mcp-server-time"],
    without: "the tests of PyPI's servers are not run",
};

/// AgentDojo with its dependencies, for the benchmark; no test needs it.
pub(crate) const AGENTDOJO: Venv = Venv {
    name: "AgentDojo (PyPI)",
    id: "agentdojo",
    requirements: "tests/agentdojo/requirements.txt",
    servers: &[],
    without: "AgentDojo cannot be run",
};

impl Venv {
    fn place(&self, cx: &Context) -> Result<std::result::Result<(String, PathBuf), String>> {
        let ask = "import sys; print(sys.version.split()[0], sys.base_prefix)";
        let about = process::output(process::tool(fetch::python()?).args(["-c", ask]))?;
        let version = about.split(' ').next().unwrap_or_default();
        if !at_least(version, PYTHON) {
            let wanted = format!("{}.{}", PYTHON.0, PYTHON.1);
            return Ok(Err(format!("Python {version} is older than {wanted}; {}", self.without)));
        }
        let sources = stamp::sha256_sources(&cx.root, &[self.requirements])?;
        let key = stamp::sha256_parts([sources.as_bytes(), about.as_bytes(), PIP.1.as_bytes()]);
        let dir = cx.cache.join(format!("{}-{}", self.id, &key[..12]));
        Ok(Ok((key, dir)))
    }

    fn link(&self) -> String {
        format!("test-deps/{}", self.id)
    }

    /// The venv's Python, as the clone names it.
    pub(crate) fn python(&self, cx: &Context) -> PathBuf {
        cx.local(&self.link()).join("bin/python")
    }
}

impl Step for Venv {
    fn name(&self) -> String {
        self.name.into()
    }

    fn id(&self) -> &'static str {
        self.id
    }

    fn check(&self, cx: &Context) -> Result<State> {
        match self.place(cx)? {
            Err(why) => Ok(State::LeftOut(why)),
            Ok((key, dir)) => linked_and_right(cx, &self.link(), &dir, &key),
        }
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let (key, dir) = self.place(cx)?.map_err(Failure::new)?;
        if stamp::check(&dir, &key, cx.thorough).is_err() {
            make_venv(cx, &dir, self.requirements, progress, log)?;
            for name in self.servers {
                progress.note(&format!("asking {name}"));
                ask_server(name, process::tool(dir.join("bin").join(name)), log)?;
            }
            stamp::write(&dir, &key)?;
        }
        cx.link(&self.link(), &dir)?;
        Ok(Acted::new(dir.display().to_string()))
    }
}

/// Made where it stays, since a venv holds its own path; the stamp that comes last says it is whole.
fn make_venv(cx: &Context, dir: &Path, requirements: &str, progress: &Progress, log: &Log) -> Result<()> {
    let _ = fs::remove_dir_all(dir);
    // without pip: Debian has the part that would put it there in a package of its own
    let mut venv = process::tool(fetch::python()?);
    log.run(venv.args(["-m", "venv", "--without-pip"]).arg(dir), progress).map_err(|failure| {
        failure.hint("Python's venv module is missing: install it (Debian: python3-venv), or a whole Python")
    })?;
    let wheel = Wheel { file: PIP.0.into(), sha256: PIP.1.into() };
    let files = fetch::fetch(cx, &[wheel], progress, log)?;
    let tool = dir.join("pip");
    for file in &files {
        fetch::unpack(file, &tool, &[Rule::Tree { glob: "pip/*", strip: "", to: "." }], progress, log)?;
    }
    let mut pip = process::tool(dir.join("bin/python"));
    pip.arg(tool.join("pip")).args(["install", "--no-deps", "--require-hashes", "--only-binary", ":all:"]);
    pip.args(["--no-input", "--disable-pip-version-check", "--progress-bar", "off", "-r"]);
    pip.arg(cx.root.join(requirements));
    log.run(&mut pip, progress).map_err(|failure| {
        failure.hint(
            "is the package index reachable? Behind a mirror set PIP_INDEX_URL (or pip's configuration)",
        )
    })?;
    fs::remove_dir_all(&tool).because(|| "removing pip from the venv".into())
}

fn at_least(version: &str, wanted: (u32, u32)) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= wanted
}

fn linked_and_right(cx: &Context, link: &str, dir: &Path, key: &str) -> Result<State> {
    Ok(match stamp::check(dir, key, cx.thorough) {
        Err(why) => State::Needed(why),
        Ok(()) if !cx.is_linked(link, dir) => State::Needed("not here yet".into()),
        Ok(()) => State::Right(dir.display().to_string()),
    })
}

/// Starts an MCP server and waits for its answer to `initialize`.
fn ask_server(name: &str, mut server: Command, log: &Log) -> Result<()> {
    let doing = || format!("starting {name}");
    let mut child =
        server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log.end()?).spawn().because(doing)?;
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "xtask", "version": "0" } } });
    let (say, hear) = mpsc::channel();
    let stdout = child.stdout.take().ok_or_else(|| Failure::new(format!("{name} has no stdout")))?;
    let listener = std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(std::io::Result::ok) {
            if say.send(line).is_err() {
                return;
            }
        }
    });
    let mut stdin = child.stdin.take().ok_or_else(|| Failure::new(format!("{name} has no stdin")))?;
    // a server that has died already shows in its missing answer
    let _ = writeln!(stdin, "{request}");
    let answer = loop {
        match hear.recv_timeout(ANSWER_LIMIT) {
            Ok(line) if server_name(&line).is_some() => break server_name(&line),
            Ok(_) => {}
            Err(_) => break None,
        }
    };
    drop(stdin);
    drop(hear);
    let _ = child.kill();
    let _ = child.wait();
    let _ = listener.join();
    match answer {
        Some(said) => log.line(&format!("{name} answers as {said}")),
        None => {
            Err(Failure::new(format!("{name} was installed but does not answer `initialize`"))
                .log(log.path()))
        }
    }
}

/// The server's name in a line that answers `initialize`.
fn server_name(line: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(line).ok()?;
    (answer["id"] == 1).then_some(())?;
    Some(answer["result"]["serverInfo"]["name"].as_str()?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(at_least("3.11.7", (3, 11)) && at_least("3.13.0rc1", (3, 11)) && at_least("4.0", (3, 11)));
        assert!(!at_least("3.9.2", (3, 11)) && !at_least("", (3, 11)));
    }

    #[test]
    fn only_an_answer_to_initialize_counts() {
        assert_eq!(server_name(r#"{"id":1,"result":{"serverInfo":{"name":"git"}}}"#).as_deref(), Some("git"));
        assert_eq!(server_name(r#"{"id":1,"error":{"code":-1}}"#), None);
        assert_eq!(server_name(r#"{"method":"log"}"#), None);
        assert_eq!(server_name("noise"), None);
    }
}
