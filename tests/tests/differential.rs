//! Small programs of the language and its library, run in Postern and by this machine's own CPython or
//! Node.js: what they print is the same. What is known to differ is in docs/limitations/python.md and
//! docs/limitations/javascript.md, and the programs of `differences` say that it still does.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use postern_tests::interpreters::{cpython, node};
use postern_tests::words::{exit, outcome};
use postern_tests::{Postern, workspace_root};

/// Whose programs are run.
#[derive(Clone, Copy)]
enum Language {
    Python,
    JavaScript,
}
use Language::{JavaScript, Python};

impl Language {
    fn folder(self) -> &'static str {
        match self {
            Python => "python",
            JavaScript => "javascript",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Python => "py",
            JavaScript => "js",
        }
    }

    /// The program that runs it on this machine.
    fn interpreter(self) -> Option<&'static str> {
        match self {
            Python => cpython(),
            JavaScript => node(),
        }
    }

    /// What that interpreter makes of `source`: its standard output and its standard error, and whether it
    /// ended well. `folder` is empty and the program's own.
    fn native(self, interpreter: &str, source: &str, folder: &Path) -> (String, String, bool) {
        let mut command = Command::new(interpreter);
        match self {
            Python => command.args(["-I", "-X", "utf8", "-W", "ignore", "-c", source]),
            JavaScript => {
                // As Postern runs a script: the body of an async function. From a file, since `-e` has globals of its own.
                let file = folder.join("program.js");
                std::fs::write(&file, format!("(async () => {{\n{source}\n}})()")).expect("written");
                command.env_remove("NODE_OPTIONS").env_remove("FORCE_COLOR").env("NO_COLOR", "1");
                command.arg("--no-warnings").arg(file)
            }
        };
        let place = folder.join("work");
        std::fs::create_dir(&place).expect("a folder");
        let output =
            command.env("TZ", "UTC").current_dir(place).stdin(Stdio::null()).output().expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (text(output.stdout), text(output.stderr), output.status.success())
    }

    /// What standard output holds, natively.
    ///
    /// # Panics
    /// If the program fails.
    fn expected(self, interpreter: &str, source: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let (out, err, well) = self.native(interpreter, source, folder.path());
        assert!(well, "{source}\n{err}");
        out
    }
}

/// A program and where it stands.
struct Program {
    name: String,
    source: String,
}

/// The programs of one file: each begins below a line `## NAME`.
fn programs(language: Language, file: &str) -> Vec<Program> {
    let file = format!("{}/{file}.{}", language.folder(), language.ending());
    let path = workspace_root().join("tests/differential").join(&file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text = text.strip_prefix("## ").expect("a name first");
    let of = |part: &str| {
        let (name, source) = part.split_once('\n').expect("a name, then a program");
        Program { name: format!("{file}: {name}"), source: source.to_owned() }
    };
    text.split("\n## ").map(of).collect()
}

/// Runs the programs of a file, some at a time. `judge` is given a program, what Postern printed for its
/// source, and this machine's interpreter, and tells what is wrong; all that is wrong is told together.
fn each(
    language: Language,
    file: &str,
    least: usize,
    judge: impl Fn(&Program, &dyn Fn(&str) -> Result<String, String>, &str) -> Result<(), String> + Sync,
) {
    let programs = programs(language, file);
    assert!(programs.len() >= least, "{file} has only {} programs", programs.len());
    let Some(interpreter) = language.interpreter() else { return };
    let postern = Postern::new();
    let taken = AtomicUsize::new(0);
    let next = || {
        let number = taken.fetch_add(1, Ordering::Relaxed);
        Some((number, programs.get(number)?))
    };
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((number, program)) = next() {
                    let run = |source: &str| {
                        let run =
                            postern.run_file(&format!("program-{number}.{}", language.ending()), source);
                        let fine = run.outcome() == outcome::OK && run.process.exit == exit::OK;
                        match fine {
                            true => Ok(run.stdout().to_owned()),
                            false => Err(format!("{}{}", run.stdout(), run.error_text("stack"))),
                        }
                    };
                    if let Err(told) = judge(program, &run, interpreter) {
                        wrong.lock().expect("no panic").push(format!("{}\n{told}", program.name));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{} of {}:\n\n{}", wrong.len(), programs.len(), wrong.join("\n\n"));
}

/// The programs of a file print the same in Postern and on this machine.
fn compare(language: Language, file: &str, least: usize) {
    each(language, file, least, |program, run, interpreter| {
        let wanted = language.expected(interpreter, &program.source);
        match run(&program.source) {
            Ok(got) if got == wanted => Ok(()),
            Ok(got) | Err(got) => Err(format!("wanted: {wanted}\ngot:    {got}")),
        }
    });
}

/// The programs of a file print in Postern what stands below their line `---`, and something else on this
/// machine. A difference that is gone must leave the documents too.
fn differ(language: Language, file: &str, least: usize) {
    each(language, file, least, |program, run, interpreter| {
        let (source, wanted) = program.source.split_once("\n---\n").expect("what Postern prints");
        let wanted = format!("{}\n", wanted.trim_end_matches('\n'));
        match run(source) {
            Ok(got) if got == wanted => {}
            Ok(got) | Err(got) => return Err(format!("wanted: {wanted}\ngot:    {got}")),
        }
        match language.expected(interpreter, source) == wanted {
            false => Ok(()),
            true => Err("there is no difference any more".to_owned()),
        }
    });
}

mod python {
    use super::{Python, compare, differ};

    #[test]
    fn text() {
        compare(Python, "text", 45);
    }

    #[test]
    fn data() {
        compare(Python, "data", 42);
    }

    #[test]
    fn numbers() {
        compare(Python, "numbers", 20);
    }

    #[test]
    fn time() {
        compare(Python, "time", 14);
    }

    #[test]
    fn objects() {
        compare(Python, "objects", 36);
    }

    #[test]
    fn asynchronous() {
        compare(Python, "asynchronous", 18);
    }

    #[test]
    fn files() {
        compare(Python, "files", 18);
    }

    #[test]
    fn differences() {
        differ(Python, "differences", 8);
    }
}

mod javascript {
    use super::{JavaScript, compare, differ};

    #[test]
    fn text() {
        compare(JavaScript, "text", 36);
    }

    #[test]
    fn data() {
        compare(JavaScript, "data", 44);
    }

    #[test]
    fn numbers() {
        compare(JavaScript, "numbers", 20);
    }

    #[test]
    fn time() {
        compare(JavaScript, "time", 13);
    }

    #[test]
    fn objects() {
        compare(JavaScript, "objects", 38);
    }

    #[test]
    fn asynchronous() {
        compare(JavaScript, "asynchronous", 28);
    }

    #[test]
    fn web() {
        compare(JavaScript, "web", 21);
    }

    #[test]
    fn console() {
        compare(JavaScript, "console", 26);
    }

    #[test]
    fn differences() {
        differ(JavaScript, "differences", 18);
    }
}
