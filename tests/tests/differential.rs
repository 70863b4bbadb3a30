//! Small programs of the standard library, run in Postern and by this machine's CPython: what they print is
//! the same. What is known to differ is in docs/limitations/python.md.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use postern_tests::words::{exit, outcome};
use postern_tests::{Postern, workspace_root};

/// A program and where it stands.
struct Program {
    name: String,
    source: String,
}

/// The programs of one file: each begins below a line `## NAME`.
fn programs(file: &str) -> Vec<Program> {
    let path = workspace_root().join("tests/differential/python").join(file);
    let text = std::fs::read_to_string(&path).expect("the file of programs");
    let parts = text.split("## ").filter(|part| !part.trim().is_empty());
    let of = |part: &str| {
        let (name, source) = part.split_once('\n').expect("a name, then a program");
        Program { name: format!("{file}: {name}"), source: source.to_owned() }
    };
    parts.map(of).collect()
}

/// What this machine's CPython prints.
fn expected(python: &str, source: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(python)
        .args(["-I", "-X", "utf8", "-W", "ignore", "-c", source])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("CPython runs");
    assert!(output.status.success(), "{source}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// This machine's CPython, if it is one that the programs are for.
fn cpython() -> Option<&'static str> {
    let program =
        "import sys; sys.exit(not (sys.implementation.name == 'cpython' and sys.version_info >= (3, 11)))";
    ["python3", "python"].into_iter().find(|python| {
        Command::new(python).args(["-c", program]).status().is_ok_and(|status| status.success())
    })
}

/// Runs the programs of a file, some at a time, and compares; all differences are told together.
fn compare(file: &str, least: usize) {
    let Some(python) = cpython() else {
        eprintln!("not tested: there is no CPython 3.11 or later to compare with");
        return;
    };
    let programs = programs(file);
    assert!(programs.len() >= least, "{file} has only {} programs", programs.len());
    let postern = Postern::new();
    let taken = AtomicUsize::new(0);
    let next = || {
        let number = taken.fetch_add(1, Ordering::Relaxed);
        Some((number, programs.get(number)?))
    };
    let differences = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((number, program)) = next() {
                    let run = postern.run_file(&format!("program-{number}.py"), &program.source);
                    let wanted = expected(python, &program.source);
                    let fine = run.outcome() == outcome::OK && run.process.exit == exit::OK;
                    if !fine || run.stdout() != wanted {
                        let error = run.error_text("stack").to_owned();
                        let told =
                            format!("{}\nwanted: {wanted}\ngot:    {}{error}", program.name, run.stdout());
                        differences.lock().expect("no panic").push(told);
                    }
                }
            });
        }
    });
    let differences = differences.into_inner().expect("no panic");
    assert!(differences.is_empty(), "{} differ:\n\n{}", differences.len(), differences.join("\n\n"));
}

#[test]
fn text() {
    compare("text.py", 45);
}

#[test]
fn data() {
    compare("data.py", 42);
}

#[test]
fn numbers() {
    compare("numbers.py", 20);
}

#[test]
fn time() {
    compare("time.py", 14);
}

#[test]
fn objects() {
    compare("objects.py", 36);
}

#[test]
fn asynchronous() {
    compare("asynchronous.py", 18);
}

#[test]
fn files() {
    compare("files.py", 18);
}
