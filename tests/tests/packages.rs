//! Packages for Python scripts: real wheels, fetched from a folder and from an index, and used by scripts.

use std::path::{Path, PathBuf};

use postern_tests::words::exit;
use postern_tests::{Finished, PackageIndex, Postern, Run, sha256, test_wheel};
use serde_json::{Value, json};

/// The package of a wheel, as a profile names it.
fn named(name: &str) -> toml::Table {
    let path = test_wheel(name);
    let file = path.file_name().expect("a file").to_string_lossy();
    let version = file.split('-').nth(1).expect("a version");
    let mut table = toml::Table::new();
    table.insert("name".into(), name.replace('_', "-").into());
    table.insert("version".into(), version.into());
    table.insert("sha256".into(), sha256(&std::fs::read(&path).expect("a wheel")).into());
    table
}

fn wheels() -> PathBuf {
    test_wheel("six").parent().expect("a folder").to_owned()
}

/// A profile `data` with these packages, and a cache of its own, in which nothing is but the compiled runners.
fn with_packages(packages: Vec<toml::Table>) -> Postern {
    let mut postern = Postern::new();
    let cache = postern.path("cache");
    let compiled = cache.join("compiled");
    private_folder(&compiled);
    if let Ok(files) = std::fs::read_dir(postern::sandbox::cache_dir().join("compiled")) {
        for file in files.filter_map(Result::ok) {
            std::os::unix::fs::symlink(file.path(), compiled.join(file.file_name())).expect("a link");
        }
    }
    postern.env("POSTERN_CACHE", cache.to_str().expect("UTF-8"));
    let packages: Vec<toml::Value> = packages.into_iter().map(Into::into).collect();
    postern.set("profiles.data.packages", packages);
    postern.flags(["--profile", "data"]);
    postern
}

fn private_folder(path: &Path) {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).expect("a folder");
}

fn command(postern: &Postern, words: &[&str]) -> Finished {
    let config = postern.write_config();
    let mut all = words.to_vec();
    all.extend(["--config", config.to_str().expect("UTF-8")]);
    postern.command(&all)
}

/// The code and the whole error of a command that fails.
fn fails(postern: &Postern, words: &[&str]) -> (String, Value) {
    let mut all = words.to_vec();
    all.push("--json");
    let finished = command(postern, &all);
    assert_eq!(finished.exit, exit::SETUP, "{finished:#?}");
    let document: Value = serde_json::from_str(&finished.stdout).expect("a document");
    (document["error"]["code"].as_str().expect("a code").to_owned(), document["error"].clone())
}

fn fetch(postern: &Postern) -> Value {
    postern.json(&["packages", "fetch", "--from", wheels().to_str().expect("UTF-8")])
}

/// With tabulate, python-dateutil and what that needs, fetched.
fn ready() -> Postern {
    let postern = with_packages(vec![named("tabulate"), named("python_dateutil"), named("six")]);
    fetch(&postern);
    postern
}

/// Whether anything is kept.
fn kept(postern: &Postern) -> usize {
    std::fs::read_dir(postern.path("cache/packages")).map_or(0, Iterator::count)
}

#[test]
fn a_script_uses_packages_over_its_input() {
    let postern = ready();
    let input = postern.write(
        "orders.csv",
        "customer,when,amount\nAda,3 March 2026,12.5\nGrace,2026-01-31T10:00:00+01:00,7\nLin,\"Feb 29, 2028\",1200\n",
    );
    let script = postern.write(
        "script.py",
        "import csv
from dateutil import parser
from dateutil.relativedelta import relativedelta
from tabulate import tabulate
rows = []
with open('/input/orders.csv') as file:
    for order in csv.DictReader(file):
        when = parser.parse(order['when']).date()
        rows.append([order['customer'], when, when + relativedelta(months=1), float(order['amount'])])
table = tabulate(rows, headers=['customer', 'ordered', 'due', 'amount'], tablefmt='github', floatfmt='.2f')
with open('/out/orders.md', 'w') as file:
    file.write(table)
result = table.splitlines()
",
    );
    let run = postern.run(&[script.to_str().expect("UTF-8"), "--input", input.to_str().expect("UTF-8")]);
    assert_eq!(
        *run.ok(),
        json!([
            "| customer   | ordered    | due        |   amount |",
            "|------------|------------|------------|----------|",
            "| Ada        | 2026-03-03 | 2026-04-03 |    12.50 |",
            "| Grace      | 2026-01-31 | 2026-02-28 |     7.00 |",
            "| Lin        | 2028-02-29 | 2028-03-29 |  1200.00 |",
        ])
    );
    assert!(run.artifact("orders.md").is_some() && run.warnings().is_empty(), "{run:#?}");

    // The record says with what it ran.
    let manifest =
        std::fs::read_to_string(postern.records().join(run.id()).join("run.json")).expect("a record");
    let manifest: Value = serde_json::from_str(&manifest).expect("a document");
    let recorded: Vec<Value> = ["tabulate", "python_dateutil", "six"]
        .map(|name| serde_json::to_value(named(name)).expect("a table"))
        .into();
    assert_eq!(manifest["packages"], json!(recorded));
    let shown = postern.command(&[
        "record",
        "show",
        run.id(),
        "--record-dir",
        postern.records().to_str().expect("UTF-8"),
    ]);
    assert!(shown.stdout.contains("tabulate 0.10.0 (sha256 f0b0622e5673)"), "{shown:#?}");
}

#[test]
fn metadata_and_data_files_are_there() {
    let run = ready().run_py(
        "import datetime, importlib.metadata as m, importlib.resources as r, pkgutil, sys
import dateutil.zoneinfo, six, tabulate
data = r.files('dateutil.zoneinfo').joinpath('dateutil-zoneinfo.tar.gz').read_bytes()
{'versions': [m.version(n) for n in ('tabulate', 'python-dateutil', 'six')],
 'all': sorted(d.name for d in m.distributions()), 'needs': m.requires('python-dateutil'), 'path': sys.path,
 'data': [len(data), data == pkgutil.get_data('dateutil.zoneinfo', 'dateutil-zoneinfo.tar.gz')],
 'file': tabulate.__file__, 'zone': str(datetime.datetime(2026, 7, 1, tzinfo=dateutil.zoneinfo.get_zonefile_instance().get('Europe/Berlin')).utcoffset())}",
    );
    let value = run.ok();
    assert_eq!(value["versions"], json!(["0.10.0", "2.9.0.post0", "1.17.0"]));
    assert_eq!(value["all"], json!(["python-dateutil", "six", "tabulate"]));
    assert_eq!(value["needs"], json!(["six >=1.5"]));
    assert_eq!(value["data"], json!([156_400, true]));
    assert_eq!(
        (&value["path"], &value["file"]),
        (&json!(["/packages"]), &json!("/packages/tabulate/__init__.py"))
    );
    assert_eq!(value["zone"], "2:00:00");
}

#[test]
fn a_script_cannot_change_a_package() {
    let postern = ready();
    let run = postern.run_py(
        "import os, pathlib
said = {}
def attempt(name, do):
    try:
        do()
        said[name] = 'done'
    except (OSError, AttributeError) as error:
        said[name] = type(error).__name__
here = pathlib.Path('/packages')
attempt('write', lambda: (here / 'six.py').write_text('evil = 1'))
attempt('append', lambda: open('/packages/six.py', 'a'))
attempt('new', lambda: (here / 'new.py').write_text('x'))
attempt('folder', lambda: (here / 'new').mkdir())
attempt('remove', lambda: (here / 'six.py').unlink())
attempt('rename', lambda: os.rename('/packages/six.py', '/packages/seven.py'))
attempt('out', lambda: os.rename('/packages/six.py', '/workspace/six.py'))
attempt('link', lambda: os.link('/packages/six.py', '/workspace/six.py'))
attempt('truncate', lambda: os.truncate('/packages/six.py', 0))
attempt('time', lambda: os.utime('/packages/six.py', (1, 1)))
attempt('up', lambda: open('/packages/../compiled/x'))
import six
said",
    );
    for (attempt, came) in run.ok().as_object().expect("a dict") {
        assert_ne!(came, "done", "{attempt}");
    }
    assert_eq!(run.ok().as_object().expect("a dict").len(), 11);
    // Another run finds them as they were, and so does whoever looks.
    assert_eq!(*postern.run_py("import six; six.__version__").ok(), "1.17.0");
    assert!(states(&postern).iter().all(|(_, state)| state == "there"));
}

/// What `packages list` says of each.
fn states(postern: &Postern) -> Vec<(String, String)> {
    let listed = postern.json(&["packages", "list", "--profile", "data"]);
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    let rows = listed["packages"].as_array().expect("rows").iter();
    rows.map(|row| (text(row, "name"), text(row, "state"))).collect()
}

#[test]
fn nothing_is_fetched_during_a_run() {
    let postern = with_packages(vec![named("six"), named("tabulate")]);
    let error = |words: &[&str]| fails(&postern, words);
    let script = postern.write("script.py", "1");
    let run = ["run", script.to_str().expect("UTF-8"), "--profile", "data"];
    let (code, said) = error(&run);
    assert_eq!(code, "package-missing");
    assert_eq!(said["hint"], "run `postern packages fetch --profile data`");
    assert!(said["message"].as_str().is_some_and(|m| m.contains("six 1.17.0, tabulate 0.10.0")), "{said:#}");
    assert_eq!(states(&postern), [("six".into(), "missing".into()), ("tabulate".into(), "missing".into())]);
    let doctor = command(&postern, &["doctor"]);
    assert!(doctor.stdout.contains("packages fetch --profile data"), "{doctor:#?}");
    // Other languages have none, and need none.
    let run = postern.run_js("try { return await fs.readdir('/packages'); } catch { return 'none'; }");
    assert_eq!(*run.ok(), "none");

    let fetched = fetch(&postern);
    assert_eq!(fetched["packages"][0]["state"], "fetched", "{fetched:#}");
    assert_eq!(fetch(&postern)["packages"][0]["state"], "there");
    assert_eq!(*postern.run_py("import six, tabulate\nsix.__version__").ok(), "1.17.0");
    assert_eq!(states(&postern), [("six".into(), "there".into()), ("tabulate".into(), "there".into())]);
}

#[test]
fn a_missing_module_says_which_packages_there_are() {
    let with = ready();
    let without = with_packages(Vec::new());
    let said = |postern: &Postern, source: &str| -> (String, Run) {
        let run = postern.run_py(source);
        assert_eq!(run.error_text("name"), "ModuleNotFoundError", "{run:#?}");
        (run.script_error().to_owned(), run)
    };
    let three = "the packages of this run are python-dateutil 2.9.0.post0, six 1.17.0, tabulate 0.10.0";
    for module in ["pandas", "requests", "httpx", "yaml"] {
        let (message, run) = said(&with, &format!("import json\nimport {module}"));
        assert!(message.contains(three), "{message}");
        assert_eq!(message.contains("no network"), ["requests", "httpx"].contains(&module), "{message}");
        assert_eq!(run.document["error"]["line"], 2, "{run:#?}");
        let (message, _) = said(&without, &format!("import {module}"));
        assert!(!message.contains("packages of this run"), "{message}");
    }
    assert!(said(&without, "import pandas").0.contains("no packages beside the standard library"));
    assert!(!said(&with, "import tabulate.nope").0.contains("installed"), "the package itself is there");
    assert!(said(&with, "import bz2").0.contains("not in the sandbox"));
}

#[test]
fn a_traceback_shows_the_scripts_own_lines() {
    let run = ready().run_py(
        "from dateutil import parser\n\ndef when(text):\n    return parser.parse(text)\n\nwhen('no date')",
    );
    run.script_error();
    assert_eq!(
        (run.error_text("name"), &run.document["error"]["line"]),
        ("ParserError", &json!(4)),
        "{run:#?}"
    );
    let stack = run.error_text("stack");
    assert!(stack.contains("line 6, in <module>") && stack.contains("line 4, in when"), "{stack}");
    assert!(!stack.contains("/packages") && !stack.contains("dateutil/"), "{stack}");
}

#[test]
fn what_is_no_pure_python_is_refused() {
    let postern = with_packages(vec![named("markupsafe")]);
    let folder = wheels();
    let (code, said) = fails(&postern, &["packages", "fetch", "--from", folder.to_str().expect("UTF-8")]);
    assert_eq!(code, "package-refused", "{said:#}");
    assert!(said["message"].as_str().is_some_and(|m| m.contains("cp312-cp312-manylinux")), "{said:#}");
    assert!(said["hint"].as_str().is_some_and(|hint| hint.contains("py3-none-any")), "{said:#}");
    let (code, _) = fails(&postern, &["packages", "show", test_wheel("markupsafe").to_str().expect("UTF-8")]);
    assert_eq!((code.as_str(), kept(&postern)), ("package-refused", 0));
}

#[test]
fn a_wheel_shows_the_line_that_names_it() {
    let postern = with_packages(Vec::new());
    let wheel = test_wheel("python_dateutil");
    let wheel = wheel.to_str().expect("UTF-8");
    let shown = postern.command(&["packages", "show", wheel]);
    assert_eq!(shown.exit, exit::OK, "{shown:#?}");
    let read: toml::Table = toml::from_str(&format!("package = {}", shown.stdout)).expect("TOML");
    assert_eq!(read["package"].as_table(), Some(&named("python_dateutil")));
    assert!(shown.stderr.contains("six >=1.5"), "{shown:#?}");
    let document = postern.json(&["packages", "show", wheel]);
    assert_eq!((&document["version"], &document["needs"]), (&json!("2.9.0.post0"), &json!(["six >=1.5"])));
}

#[test]
fn a_wheel_must_have_the_digest_and_the_name() {
    let from = wheels();
    let from = ["packages", "fetch", "--from", from.to_str().expect("UTF-8")];
    let altered = |key: &str, value: &str| {
        let mut six = named("six");
        six.insert(key.into(), value.into());
        let postern = with_packages(vec![six]);
        let (code, said) = fails(&postern, &from);
        assert_eq!(kept(&postern), 0, "{said:#}");
        (code, said)
    };
    let (code, said) = altered("sha256", &"0".repeat(64));
    assert_eq!(code, "package-digest");
    assert!(said["hint"].as_str().is_some_and(|h| h.contains("4721f391ed90")), "{said:#}");
    assert_eq!(altered("version", "1.16.0").0, "package-mismatch");
    assert_eq!(altered("name", "seven").0, "package-not-found");

    // What is needed and not named is said.
    let postern = with_packages(vec![named("python_dateutil")]);
    let fetched = command(&postern, &from);
    assert!(fetched.exit == exit::OK && fetched.stderr.contains("needs six >=1.5"), "{fetched:#?}");
    assert!(postern.run_py("import dateutil.parser").script_error().contains("'six'"));
}

#[test]
fn wheels_come_from_an_index() {
    let wheel = |name: &str| {
        let path = test_wheel(name);
        let bytes = std::fs::read(&path).expect("a wheel");
        (path.file_name().expect("a file").to_string_lossy().into_owned(), sha256(&bytes), bytes)
    };
    let index = PackageIndex::start([wheel("attrs"), wheel("python_dateutil"), wheel("six")]);
    let mut postern = with_packages(vec![named("attrs"), named("python_dateutil"), named("six")]);
    let fetched = postern.json(&["packages", "fetch", "--index", &index.url()]);
    let from = fetched["packages"][1]["from"].as_str().expect("an address");
    assert!(from.starts_with("http://127.0.0.1") && from.ends_with("none-any.whl"), "{fetched:#}");
    assert_eq!(index.asked()[2], "/simple/python-dateutil/", "{:?}", index.asked());
    let run = postern.run_py("import attrs, dateutil\n@attrs.define\nclass A:\n    x: int = 1\nstr(A(2))");
    assert_eq!(*run.ok(), "A(x=2)");
    // The second time nobody is asked.
    let asked = index.asked().len();
    postern.env("POSTERN_PYTHON_INDEX", index.url());
    assert_eq!(postern.json(&["packages", "fetch"])["packages"][0]["from"], Value::Null);
    assert_eq!(index.asked().len(), asked);

    // What is not there is named; the address comes from the environment.
    let mut other = with_packages(vec![named("tabulate")]);
    other.env("POSTERN_PYTHON_INDEX", index.url());
    assert_eq!(fails(&other, &["packages", "fetch", "--profile", "data"]).0, "package-not-found");
    let mut six = named("six");
    six.insert("sha256".into(), "0".repeat(64).into());
    let (code, said) = fails(&with_packages(vec![six]), &["packages", "fetch", "--index", &index.url()]);
    assert_eq!(code, "package-not-found");
    assert!(said["hint"].as_str().is_some_and(|h| h.contains("six-1.17.0-py2.py3-none-any.whl")), "{said:#}");
}

#[test]
fn an_index_is_not_believed() {
    let wheel = std::fs::read(test_wheel("six")).expect("a wheel");
    let (name, digest) = ("six-1.17.0-py2.py3-none-any.whl", sha256(&wheel));
    let fails_with = |index: &str| {
        let postern = with_packages(vec![named("six")]);
        let (code, said) = fails(&postern, &["packages", "fetch", "--index", index]);
        assert_eq!(kept(&postern), 0, "{said:#}");
        (code, said["message"].as_str().expect("a message").to_owned())
    };
    // It says the right digest and gives another file.
    let mut other = wheel.clone();
    other[100] ^= 1;
    let lying = PackageIndex::start([(name.to_owned(), digest.clone(), other)]);
    assert_eq!(fails_with(&lying.url()).0, "package-digest");
    // What is built for a machine is not even downloaded.
    let native = PackageIndex::start([("six-1.17.0-cp314-cp314-win_amd64.whl".to_owned(), digest, wheel)]);
    assert_eq!(fails_with(&native.url()).0, "package-refused");
    assert_eq!(native.asked(), ["/simple/six/"]);
    let (code, message) = fails_with(&PackageIndex::of_html().url());
    assert!(code == "package-index" && message.contains("PEP 691"), "{message}");

    let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let (code, message) = fails_with(&format!("http://me:hunter22@{gone}/simple/"));
    assert_eq!(code, "package-index");
    assert!(message.contains(&gone.to_string()) && !message.contains("hunter22"), "{message}");
}

#[test]
fn a_profile_that_names_no_wheel_is_an_error_with_the_form() {
    let mut postern = with_packages(Vec::new());
    postern.set("profiles.data.packages", vec!["six".to_owned()]);
    let (code, said) = fails(&postern, &["packages", "list"]);
    assert_eq!(code, "config-invalid");
    assert!(
        said["message"].as_str().is_some_and(|m| m.contains("sha256 = ") && m.contains("line ")),
        "{said:#}"
    );
    let mut twice = named("six");
    twice.insert("name".into(), "SIX".into());
    let (code, said) = fails(&with_packages(vec![named("six"), twice]), &["packages", "list"]);
    assert_eq!(code, "config-invalid");
    assert!(
        said["message"].as_str().is_some_and(|m| m.contains("profiles.data") && m.contains("twice")),
        "{said:#}"
    );
}

#[test]
fn people_and_models_are_told_which_packages_there_are() {
    let postern = ready();
    let config = postern.write_config();
    let config = config.to_str().expect("UTF-8");
    let said = |words: &[&str]| {
        let mut all = words.to_vec();
        all.extend(["--config", config]);
        postern.command(&all).stdout
    };
    let prompt = said(&["prompt", "--lang", "py", "--profile", "data"]);
    assert!(prompt.contains("these packages: tabulate, python-dateutil, six."), "{prompt}");
    assert!(!said(&["prompt", "--lang", "js", "--profile", "data"]).contains("tabulate"));
    assert!(!said(&["prompt", "--lang", "py"]).contains("tabulate"));
    let profiles = said(&["profiles"]);
    assert!(profiles.contains("tabulate") && profiles.contains("2.9.0.post0"), "{profiles}");
    let listed = said(&["packages", "list"]);
    for part in ["tabulate", "0.10.0", "f0b0622e5673", "there", "data"] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
}
