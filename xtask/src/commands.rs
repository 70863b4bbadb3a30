//! The subcommands other than set-up: each is a few lines over the steps and cargo.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::binaries::{Binaries, Precompiled};
use crate::context::Context;
use crate::encoder::ENCODER;
use crate::failure::{Because, Failure, Result};
use crate::libtorch::Libtorch;
use crate::process::{self, Log};
use crate::progress::Progress;
use crate::python::PythonRunner;
use crate::runner::{JsGuest, JsRunner};
use crate::sources::SOURCES;
use crate::step::{self, Ending, Row, Step, seconds};
use crate::test_deps::{AGENTDOJO, NpmServers, PYTHON_SERVERS, TestWheels};
use crate::wasm::Toolchain;

/// Everything that running Postern needs, in the order of need.
const STEPS: [&dyn Step; 7] =
    [&Libtorch, &Toolchain, &Binaries, &JsGuest, &JsRunner, &PythonRunner, &Precompiled];
const TEST_STEPS: [&dyn Step; 3] = [&NpmServers, &PYTHON_SERVERS, &TestWheels];

const CARGO_DENY: &str = "0.20.2";
/// For reaching a database over the network.
const DATABASE_LIMIT: Duration = Duration::from_secs(90);

/// The demo's script, in the languages in which it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DemoScript {
    /// TypeScript
    Ts,
    /// Python
    Py,
}

impl DemoScript {
    fn path(self) -> &'static str {
        match self {
            Self::Ts => "examples/acme/report.ts",
            Self::Py => "examples/acme/report.py",
        }
    }
}

const DEMO: [&str; 6] = [
    "--config",
    "examples/acme/postern.toml",
    "--intent",
    "Find customers who churned last quarter and draft a summary for the sales team",
    "--constraint",
    "Customer data must not leave acme.test systems",
];

/// Set-up, or only the steps whose id is in `only`.
pub(crate) fn setup(cx: &Context, test_deps: bool, only: &[String]) -> Result<(Vec<Row>, String)> {
    let started = Instant::now();
    let mut steps: Vec<&dyn Step> = STEPS.to_vec();
    if test_deps {
        steps.extend(TEST_STEPS);
    }
    if !only.is_empty() {
        steps = choose(only)?;
    }
    let rows = step::run(cx, &steps)?;
    let summary = step::summary(&rows, started.elapsed());
    Ok((rows, summary))
}

/// The steps with these ids, in the order of need.
fn choose(ids: &[String]) -> Result<Vec<&'static dyn Step>> {
    let all: Vec<&dyn Step> = STEPS
        .iter()
        .chain(&TEST_STEPS)
        .chain(&[&ENCODER as &dyn Step, &SOURCES, &AGENTDOJO])
        .copied()
        .collect();
    if let Some(unknown) = ids.iter().find(|id| !all.iter().any(|step| step.id() == *id)) {
        let known: Vec<&str> = all.iter().map(|step| step.id()).collect();
        return Err(Failure::new(format!("there is no step `{unknown}`"))
            .hint(format!("steps: {}", known.join(", "))));
    }
    Ok(all.into_iter().filter(|step| ids.iter().any(|id| id == step.id())).collect())
}

pub(crate) fn demo(cx: &Context, script: DemoScript) -> Result<()> {
    let (_, summary) = setup(cx, false, &[])?;
    eprintln!("{summary}\n");
    let mut run = cx.run("postern")?;
    run.args(["run", script.path()]).args(DEMO);
    eprintln!("$ {}", process::show(&run));
    let result = process::show_running(&mut run);
    eprintln!("\n{summary}");
    result
}

/// Every test, after everything that would fail sooner.
pub(crate) fn test(cx: &Context) -> Result<()> {
    let started = Instant::now();
    let (mut rows, summary) = setup(cx, true, &[])?;
    eprintln!("{summary}");
    let here =
        |name: &str, rows: &[Row]| !rows.iter().any(|row| row.name == name && row.ending == Ending::LeftOut);
    let servers = [
        ("POSTERN_TEST_NPM", here(&NpmServers.name(), &rows)),
        ("POSTERN_TEST_PYTHON", here(&PYTHON_SERVERS.name(), &rows)),
    ];
    // The default members, as `cargo build` takes them: with xtask among them cargo would unify other
    // features, and compile wasmtime a second time.
    let mut tests = cargo(cx, "test --locked");
    for (name, here) in servers {
        tests.env(name, if here { "1" } else { "0" });
    }
    let commands = [
        ("format", cargo(cx, "fmt --all --check")),
        ("clippy", cargo(cx, "clippy --locked --all-targets -- -D warnings")),
        ("clippy of xtask", cargo(cx, "clippy --locked -p xtask --all-targets -- -D warnings")),
        // The tests check generated guests without a network.
        ("crates of a guest", cargo(cx, "fetch --locked --manifest-path tests/guest/Cargo.toml")),
        ("tests", tests),
        ("tests of xtask", cargo(cx, "test --locked -p xtask")),
    ];
    let mut result = Ok(());
    for (name, command) in commands {
        result = shown(name, command, &mut rows);
        if result.is_err() {
            break;
        }
    }
    if result.is_ok() {
        result = deny(cx, &mut rows);
    }
    table(&rows, started.elapsed());
    result
}

/// What CI has beyond a developer's machine: cargo-deny, built once into the cache.
pub(crate) fn ci(cx: &Context) -> Result<()> {
    let rows = step::run(cx, &[&CargoDeny])?;
    eprintln!("{}", step::summary(&rows, Duration::from_secs_f64(rows.iter().map(|row| row.seconds).sum())));
    Ok(())
}

pub(crate) fn bench(cx: &Context, args: &[String]) -> Result<()> {
    let (_, summary) = setup(cx, false, &[])?;
    eprintln!("{summary}");
    process::show_running(cargo(cx, "bench --locked --bench host --bench discovery").args(args))
}

/// Removes what set-up made in the clone; with `cache` also what it made for all clones.
pub(crate) fn clean(cx: &Context, cache: bool) -> Result<()> {
    let mut gone: Vec<PathBuf> = vec![cx.root.join(".postern"), cx.root.join("guest-sdk/js/target")];
    if cache {
        for entry in fs::read_dir(&cx.cache).because(|| format!("listing {}", cx.cache.display()))? {
            let path = entry.because(|| format!("listing {}", cx.cache.display()))?.path();
            // the folder may hold more than ours: runs, keys, what somebody put there
            if is_ours(&path) {
                gone.push(path);
            }
        }
    }
    for path in gone.iter().filter(|path| path.exists()) {
        eprintln!("removing {}", path.display());
        fs::remove_dir_all(path).because(|| format!("removing {}", path.display()))?;
    }
    eprintln!("clean: cargo's own output stays (`cargo clean` removes it)");
    Ok(())
}

/// Whether set-up made a folder of the cache.
fn is_ours(path: &std::path::Path) -> bool {
    const FIXED: [&str; 2] = ["downloads", "tools"];
    const BUILT: [&str; 2] = ["guest-target-", "target-ci-"];
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stamped = path.join(crate::stamp::FILE).is_file();
    let partial = name.ends_with(".partial");
    path.is_dir()
        && (stamped
            || partial
            || FIXED.contains(&&*name)
            || BUILT.iter().any(|start| name.starts_with(start)))
}

fn cargo(cx: &Context, args: &str) -> Command {
    let mut command = process::cargo(cx);
    command.args(args.split(' '));
    command
}

/// Runs a command before the user's eyes and notes how long it took.
fn shown(name: &str, mut command: Command, rows: &mut Vec<Row>) -> Result<()> {
    eprintln!("\n$ {}", process::show(&command));
    let started = Instant::now();
    let result = process::show_running(&mut command);
    let note = if result.is_ok() { "passed" } else { "FAILED" };
    rows.push(Row {
        name: name.into(),
        ending: Ending::Done,
        note: note.into(),
        seconds: started.elapsed().as_secs_f64(),
    });
    result.map_err(|failure| failure.hint("the output above says which; run that command alone to repeat it"))
}

fn table(rows: &[Row], total: Duration) {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    eprintln!();
    for row in rows {
        let note = match row.ending {
            Ending::Already => "ok (already)",
            Ending::LeftOut | Ending::Done => &row.note,
        };
        eprintln!("{:width$}  {:>12}  {note}", row.name, seconds(row.seconds));
    }
    eprintln!("{:width$}  {:>12}", "all", seconds(total.as_secs_f64()));
}

/// The rules of deny.toml, where cargo-deny is at hand: licences, sources, banned packages.
fn deny(cx: &Context, rows: &mut Vec<Row>) -> Result<()> {
    let Some(program) = CargoDeny::find(cx) else {
        eprintln!(
            "\ncargo-deny {CARGO_DENY} is not here (`cargo xtask ci` builds it): deny.toml is not checked"
        );
        rows.push(Row {
            name: "deny".into(),
            ending: Ending::LeftOut,
            note: "left out: no cargo-deny".into(),
            seconds: 0.0,
        });
        return Ok(());
    };
    let command = |args: &str| {
        let mut command = process::tool(&program);
        command.current_dir(&cx.root).args(args.split(' '));
        command
    };
    shown("deny", command("--workspace --locked check --hide-inclusion-graph bans licenses sources"), rows)?;
    // a workspace of its own, for another machine, under the same rules
    let guest = "--config deny.toml --manifest-path guest-sdk/js/Cargo.toml --target wasm32-wasip2 --locked check \
                 --hide-inclusion-graph --allow license-not-encountered bans licenses sources";
    shown("deny (JavaScript guest)", command(guest), rows)?;
    // needs the network; whether the database can be had says nothing about this clone
    let progress = Progress::start("advisories");
    let log = Log::start(cx, "advisories")?;
    let fetched = log.run_for(&mut command("fetch db"), &progress, Some(DATABASE_LIMIT));
    progress.clear();
    match fetched {
        Ok(()) => shown("advisories", command("--workspace --locked check --disable-fetch advisories"), rows),
        Err(_) => {
            eprintln!("the advisory database cannot be reached: advisories are not checked");
            let note = "left out: database not reached";
            rows.push(Row {
                name: "advisories".into(),
                ending: Ending::LeftOut,
                note: note.into(),
                seconds: progress.seconds(),
            });
            Ok(())
        }
    }
}

/// cargo-deny at a fixed version, in the cache.
struct CargoDeny;

impl CargoDeny {
    fn dir(cx: &Context) -> PathBuf {
        cx.cache.join("tools").join(format!("cargo-deny-{CARGO_DENY}"))
    }

    fn find(cx: &Context) -> Option<PathBuf> {
        [Self::dir(cx).join("bin/cargo-deny"), PathBuf::from("cargo-deny")].into_iter().find(|program| {
            process::output(process::tool(program).arg("--version"))
                .is_ok_and(|said| said.split_whitespace().nth(1) == Some(CARGO_DENY))
        })
    }
}

impl Step for CargoDeny {
    fn name(&self) -> String {
        format!("cargo-deny {CARGO_DENY}")
    }

    fn id(&self) -> &'static str {
        "cargo-deny"
    }

    fn check(&self, cx: &Context) -> Result<step::State> {
        Ok(match Self::find(cx) {
            Some(program) => step::State::Right(program.display().to_string()),
            None => step::State::Needed("not here yet".into()),
        })
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<step::Acted> {
        let dir = Self::dir(cx);
        let fresh = dir.with_extension("partial");
        let _ = fs::remove_dir_all(&fresh);
        let mut install = process::tool(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // outside the clone, or its configuration would apply
        install.current_dir(&cx.cache).args([
            "install",
            "cargo-deny",
            "--locked",
            "--no-track",
            "--version",
            CARGO_DENY,
        ]);
        install.arg("--root").arg(&fresh).env("CARGO_TARGET_DIR", fresh.join("target"));
        // a tool that runs for seconds: the time goes into compiling it
        install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1").env("CARGO_PROFILE_RELEASE_LTO", "off");
        install.env("CARGO_TERM_COLOR", "never");
        log.run(&mut install, progress)?;
        fs::remove_dir_all(fresh.join("target")).because(|| "removing its build".into())?;
        let _ = fs::remove_dir_all(&dir);
        fs::rename(&fresh, &dir).because(|| format!("renaming to {}", dir.display()))?;
        if Self::find(cx).is_none() {
            return Err(Failure::new("cargo-deny was built but does not run").log(log.path()));
        }
        Ok(step::Acted::new(dir.join("bin/cargo-deny").display().to_string()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn steps_are_chosen_by_id_in_their_own_order() {
        let ids = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            choose(&names).map(|steps| steps.iter().map(|step| step.id()).collect::<Vec<_>>())
        };
        assert_eq!(ids(&["npm", "libtorch"]).unwrap(), ["libtorch", "npm"]);
        let refused = ids(&["libtorhc"]).unwrap_err().to_string();
        assert!(refused.contains("libtorhc") && refused.contains("wasm-toolchain"), "{refused}");
    }

    #[test]
    fn every_step_has_an_id_of_its_own() {
        let mut ids: Vec<&str> = STEPS.iter().chain(&TEST_STEPS).map(|step| step.id()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn only_folders_that_set_up_made_are_removed_from_the_cache() {
        let cache = tempfile::tempdir().unwrap();
        let made = |name: &str, stamped: bool| {
            let dir = cache.path().join(name);
            fs::create_dir(&dir).unwrap();
            if stamped {
                fs::write(dir.join(crate::stamp::FILE), "{}").unwrap();
            }
            dir
        };
        assert!(is_ours(&made("npm-0123", true)));
        assert!(is_ours(&made("npm-0123.partial", false)));
        assert!(is_ours(&made("target-ci-0123", false)));
        assert!(is_ours(&made("downloads", false)));
        assert!(!is_ours(&made("libtorch-by-hand", false)));
        assert!(!is_ours(&made("runs", false)));
        assert!(!is_ours(&cache.path().join("gone")));
    }
}
