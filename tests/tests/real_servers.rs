//! Servers that other people wrote and other people use, in the versions that tests/npm and
//! tests/requirements.txt pin. Between them they speak both eras of the protocol and both transports.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use postern_tests::words::call;
use postern_tests::{Postern, Server, real_server};
use serde_json::json;

/// npm server-filesystem: reads and writes below its root, refuses the rest by itself.
#[test]
fn filesystem() {
    let mut postern = Postern::new();
    let root = postern.path("files");
    std::fs::create_dir(&root).expect("a new folder");
    let root = root.canonicalize().expect("it exists").to_str().expect("UTF-8").to_owned();
    let Some(server) = Server::real("server-filesystem", [&root]) else { return };
    postern.permissive_guard().server("filesystem", server);
    let run = postern.run_js(&format!(
        "const root = {root:?};\n\
         await tools.filesystem.write_file({{ path: `${{root}}/a.txt`, content: 'one\\ntwo\\n' }});\n\
         const [text, listing] = await Promise.all([\n\
           tools.filesystem.read_text_file({{ path: `${{root}}/a.txt` }}), tools.filesystem.list_directory({{ path: root }}) ]);\n\
         let refused; try {{ await tools.filesystem.read_text_file({{ path: '/etc/hostname' }}); }} catch (e) {{ refused = e.code; }}\n\
         let wrong; try {{ await tools.filesystem.read_text_file({{ file: 'a.txt' }}); }} catch (e) {{ wrong = e.code; }}\n\
         return {{ text: JSON.stringify(text), listing: JSON.stringify(listing), refused, wrong }};"
    ));
    let value = run.ok();
    assert!(
        value["text"].as_str().is_some_and(|text| text.contains("one") && text.contains("two")),
        "{value}"
    );
    assert!(value["listing"].as_str().is_some_and(|text| text.contains("a.txt")), "{value}");
    assert_eq!(
        (&value["refused"], &value["wrong"]),
        (&json!(call::UPSTREAM), &json!(call::INVALID_ARGUMENTS))
    );
    assert_eq!(std::fs::read_to_string(postern.path("files/a.txt")).expect("written"), "one\ntwo\n");
}

const EVERYTHING: &str = "const echo = await tools.everything.echo({ message: 'hello' });\n\
    const sum = await callTool('everything/get-sum', { a: 19, b: 23 });\n\
    const long = await callTool('everything/trigger-long-running-operation', { duration: 1, steps: 4 });\n\
    const env = await callTool('everything/get-env', {});\n\
    return { echo: JSON.stringify(echo), sum: JSON.stringify(sum), long: JSON.stringify(long), env: JSON.stringify(env) };";

/// npm server-everything over stdio: progress, and a tool that gives its whole environment away.
#[test]
fn everything() {
    let mut postern = Postern::new();
    let Some(server) = Server::real("server-everything", [""; 0]) else { return };
    postern
        .permissive_guard()
        .server("everything", server)
        .env("POSTERN_TEST_AMBIENT", "ambient-secret-4711");
    let run = postern.run_js(EVERYTHING);
    let value = run.ok();
    assert!(value["echo"].as_str().is_some_and(|text| text.contains("hello")), "{value}");
    assert!(value["sum"].as_str().is_some_and(|text| text.contains("42")), "{value}");
    assert!(value["long"].as_str().is_some_and(|text| text.contains("ompleted")), "{value}");
    let env = value["env"].as_str().expect("text");
    assert!(env.contains("PATH") && !env.contains("ambient-secret-4711"), "{env}");
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().expect("it still runs");
        self.0.wait().expect("it ends");
    }
}

/// npm server-everything over streamable HTTP: an older server with sessions.
#[test]
fn everything_over_http() {
    let Some(words) = real_server("server-everything") else { return };
    // The server cannot be asked to choose a port. Another process may take this one in between;
    // then the server says so and the test fails, which is rare and plain.
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("node starts");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let _running = Running(child);
    let ready = said.by_ref().map_while(Result::ok).any(|line| line.contains(&port.to_string()));
    assert!(ready, "the server ended before it listened");
    // Its later words must not fill the pipe.
    std::thread::spawn(move || said.for_each(drop));

    let mut postern = Postern::new();
    postern.permissive_guard().server("everything", Server::http(&format!("http://127.0.0.1:{port}/mcp")));
    let run = postern.run_js(EVERYTHING);
    let value = run.ok();
    assert!(value["echo"].as_str().is_some_and(|text| text.contains("hello")), "{value}");
    assert!(value["sum"].as_str().is_some_and(|text| text.contains("42")), "{value}");
}

/// PyPI mcp-server-git: speaks both eras, and is probed for the newer one first.
#[test]
fn git() {
    let mut postern = Postern::new();
    let repository = postern.path("repository");
    std::fs::create_dir(&repository).expect("a new folder");
    let repository = repository.canonicalize().expect("it exists");
    let git = |words: &[&str]| {
        let status = Command::new("git")
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.com"])
            .args(words)
            .current_dir(&repository)
            .stdout(Stdio::null())
            .status()
            .expect("git runs");
        assert!(status.success(), "git {words:?}");
    };
    git(&["init", "--quiet"]);
    std::fs::write(repository.join("a.txt"), "one\n").expect("written");
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "A first commit"]);
    std::fs::write(repository.join("a.txt"), "two\n").expect("written");

    let path = repository.to_str().expect("UTF-8");
    let Some(server) = Server::real("mcp-server-git", ["--repository", path]) else { return };
    postern.permissive_guard().server("git", server);
    let run = postern.run_js(&format!(
        "const repo_path = {path:?};\n\
         const [status, log, diff] = await Promise.all([tools.git.git_status({{ repo_path }}),\n\
           tools.git.git_log({{ repo_path, max_count: 5 }}), tools.git.git_diff_unstaged({{ repo_path }})]);\n\
         let outside; try {{ await tools.git.git_status({{ repo_path: '/' }}); }} catch (e) {{ outside = e.code; }}\n\
         return {{ status: String(status), log: JSON.stringify(log), diff: String(diff), outside }};"
    ));
    let value = run.ok();
    assert!(value["status"].as_str().is_some_and(|text| text.contains("a.txt")), "{value}");
    assert!(value["log"].as_str().is_some_and(|text| text.contains("A first commit")), "{value}");
    assert!(value["diff"].as_str().is_some_and(|text| text.contains("+two")), "{value}");
    assert_eq!(value["outside"], call::UPSTREAM);
}

/// Several of them in one run, with tools of the same name kept apart.
#[test]
fn together() {
    let mut postern = Postern::new();
    let memory = postern.path("memory.json").display().to_string();
    let (Some(everything), Some(store), Some(time)) = (
        Server::real("server-everything", [""; 0]),
        Server::real("server-memory", [""; 0]),
        Server::real("mcp-server-time", [""; 0]),
    ) else {
        return;
    };
    postern
        .permissive_guard()
        .server("everything", everything)
        .server("memory", store.env("MEMORY_FILE_PATH", memory))
        .server("time", time)
        .server("t", Server::test());
    let run = postern.run_js(
        "const [ours, theirs, time] = await Promise.all([tools.t.echo({ message: 'a' }), tools.everything.echo({ message: 'b' }),\n\
           tools.time.get_current_time({ timezone: 'UTC' })]);\n\
         await tools.memory.create_entities({ entities: [{ name: 'Ada', entityType: 'person', observations: ['writes'] }] });\n\
         const graph = await tools.memory.read_graph({});\n\
         return { ours: ours.message, theirs: JSON.stringify(theirs), time: JSON.stringify(time), graph: JSON.stringify(graph) };",
    );
    let value = run.ok();
    assert_eq!(value["ours"], "a");
    assert!(value["theirs"].as_str().is_some_and(|text| text.contains('b')), "{value}");
    assert!(value["time"].as_str().is_some_and(|text| text.contains("UTC")), "{value}");
    assert!(value["graph"].as_str().is_some_and(|text| text.contains("Ada")), "{value}");
}
