//! MCP servers that a test starts, or has Postern start.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::binaries::{binary, real_server};

/// An entry of `[servers]`.
#[derive(Clone, Debug)]
pub struct Server {
    table: toml::Table,
}

impl Server {
    /// A program that speaks MCP over its standard input and output. All its tools are granted.
    pub fn stdio(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut words = words.into_iter().map(Into::into);
        let mut table = toml::Table::new();
        table.insert("command".into(), words.next().expect("a command").into());
        table.insert("args".into(), words.collect::<Vec<String>>().into());
        Self { table }.grant(&["*"])
    }

    /// An endpoint of streamable HTTP. All its tools are granted.
    pub fn http(url: &str) -> Self {
        let mut table = toml::Table::new();
        table.insert("url".into(), url.into());
        Self { table }.grant(&["*"])
    }

    /// `postern-test-server`: one tool for every kind of answer.
    pub fn test() -> Self {
        Self::stdio([binary("postern-test-server").display().to_string()])
    }

    /// `postern-test-server` in a part: see its `story` for what a story looks like.
    pub fn story(folder: &Path, story: &Value) -> Self {
        let path = write_numbered(folder, "story", story);
        Self::test().args(["--story", path.to_str().expect("UTF-8")])
    }

    /// `postern-odd-server`, which follows `plan`, a file that lies in `folder`.
    pub fn odd(folder: &Path, plan: &Value) -> Self {
        let path = write_numbered(folder, "plan", plan);
        Self::stdio([binary("postern-odd-server").display().to_string(), path.display().to_string()])
    }

    /// A third-party server with further arguments; `None` as in [`real_server`].
    pub fn real(name: &str, arguments: impl IntoIterator<Item = impl Into<String>>) -> Option<Self> {
        let mut words = real_server(name)?;
        words.extend(arguments.into_iter().map(Into::into));
        Some(Self::stdio(words))
    }

    /// What the user has said about it: `labels`, as in the configuration.
    #[must_use]
    pub fn labels(mut self, labels: &str) -> Self {
        let labels: toml::Table = toml::from_str(labels).expect("TOML");
        self.table.insert("labels".into(), labels.into());
        self
    }

    /// Its own words may be believed.
    #[must_use]
    pub fn trusted(mut self) -> Self {
        self.table.insert("trusted".into(), true.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        let list = self.table.get_mut("args").and_then(toml::Value::as_array_mut).expect("a stdio server");
        list.extend(arguments.into_iter().map(toml::Value::from));
        self
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(self, name: &str, value: impl Into<String>) -> Self {
        self.entry("env", name, value.into().into())
    }

    /// Sets a header of every request.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        self.entry("headers", name, value.into())
    }

    /// Replaces the grant.
    #[must_use]
    pub fn grant(mut self, patterns: &[&str]) -> Self {
        self.table.insert(
            "grant".into(),
            patterns.iter().map(|pattern| (*pattern).to_owned()).collect::<Vec<_>>().into(),
        );
        self
    }

    /// How long one call may take, such as `1s`.
    #[must_use]
    pub fn call_timeout(mut self, time: &str) -> Self {
        self.table.insert("call_timeout".into(), time.into());
        self
    }

    /// How long one call of this tool may take.
    #[must_use]
    pub fn tool_timeout(self, tool: &str, time: &str) -> Self {
        self.entry("tool_timeouts", tool, time.into())
    }

    /// Has the server write down what it is asked. Only `postern-test-server` does.
    #[must_use]
    pub fn log(self, log: &ServerLog) -> Self {
        self.env("TEST_SERVER_LOG", log.path.display().to_string())
    }

    fn entry(mut self, table: &str, name: &str, value: toml::Value) -> Self {
        let inner = self.table.entry(table).or_insert_with(|| toml::Table::new().into());
        inner.as_table_mut().expect("a table").insert(name.to_owned(), value);
        self
    }

    pub(crate) fn into_toml(self) -> toml::Value {
        self.table.into()
    }
}

/// Writes a document under a name that is free.
fn write_numbered(folder: &Path, name: &str, document: &Value) -> PathBuf {
    let mut paths = (0..).map(|number| folder.join(format!("{name}-{number}.json")));
    let path = paths.find(|path| !path.exists()).expect("numbers do not end");
    std::fs::write(&path, document.to_string()).unwrap();
    path
}

/// What a `postern-test-server` was asked.
#[derive(Clone, Debug)]
pub struct ServerLog {
    path: PathBuf,
}

impl ServerLog {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// `(event, tool)` of every line: start, finish or cancel.
    pub fn events(&self) -> Vec<(String, String)> {
        let text = |line: &Value, field: &str| line[field].as_str().unwrap().to_owned();
        self.lines().iter().map(|line| (text(line, "event"), text(line, "tool"))).collect()
    }

    /// The tools whose calls arrived, in order.
    pub fn started(&self) -> Vec<String> {
        self.events().into_iter().filter(|(event, _)| event == "start").map(|(_, tool)| tool).collect()
    }

    /// Whether this event of this tool is there within two seconds: a cancellation may arrive after
    /// the run has ended.
    pub fn eventually(&self, event: &str, tool: &str) -> bool {
        (0..100).any(|attempt| {
            if attempt > 0 {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            self.events().iter().any(|(e, t)| e == event && t == tool)
        })
    }

    /// The most calls that were under way at one time.
    pub fn most_at_once(&self) -> usize {
        let (mut now, mut most) = (0usize, 0);
        for (event, _) in self.events() {
            if event == "start" {
                now += 1
            } else {
                now -= 1
            }
            most = most.max(now);
        }
        most
    }

    /// Every line: `{event, tool, arguments, pid}`. None, if the server was never asked anything.
    pub fn lines(&self) -> Vec<Value> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => panic!("{}: {error}", self.path.display()),
        };
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }
}

/// A server on a loopback port, which ends with this value.
#[derive(Debug)]
pub struct HttpServer {
    child: Child,
    url: String,
}

impl HttpServer {
    /// `postern-test-server` over streamable HTTP, with these variables in its environment.
    pub fn test(env: &[(&str, &str)]) -> Self {
        let mut command = Command::new(binary("postern-test-server"));
        command.args(["--http", "0"]).envs(env.iter().copied().collect::<BTreeMap<_, _>>());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url =
            line.trim().strip_prefix("listening on ").expect("the server says where it listens").to_owned();
        Self { child, url }
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its entry for `[servers]`.
    pub fn entry(&self) -> Server {
        Server::http(&self.url)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It may have ended by itself: that is what some tests are about.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
