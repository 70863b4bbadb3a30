//! The compilers of the languages that declarations are printed in, each as strict as it can be. `None` where
//! `cargo xtask test` has said that this machine cannot have one.

use std::path::Path;
use std::process::Command;

use crate::binaries::{installed, workspace_root};

/// Files of one name and text each.
pub type Files<'a> = &'a [(&'a str, &'a str)];

/// `tsc --strict` over these files: what it says, which is nothing when it is content.
pub fn tsc(files: Files) -> Option<String> {
    let program = installed("npm/node_modules/typescript/bin/tsc", "POSTERN_TEST_NPM")?;
    let folder = written(files);
    let mut tsc = Command::new("node");
    tsc.arg(program).args(["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"]);
    tsc.args(["--noEmit", "--target", "es2022", "--lib", "es2022", "--module", "esnext", "--types", ""]);
    Some(said(tsc.args(files.iter().map(|(name, _)| name)), folder.path()))
}

/// `mypy --strict` over these files.
pub fn mypy(files: Files) -> Option<String> {
    let program = installed("venv/bin/mypy", "POSTERN_TEST_PYTHON")?;
    let folder = written(files);
    let mut mypy = Command::new(program);
    mypy.args(["--strict", "--python-version", "3.14", "--no-error-summary", "--cache-dir"]);
    // What it knows of the standard library is the same every time.
    mypy.arg(workspace_root().join("target/stubs-mypy"));
    Some(said(mypy.args(files.iter().map(|(name, _)| name)), folder.path()))
}

/// `cargo check` of a guest with these modules in its root.
///
/// # Panics
/// If the crates that a guest stands on were never downloaded.
pub fn cargo_check(modules: Files) -> String {
    let root = workspace_root();
    let guest = root.join("tests/guest");
    let mut lib = std::fs::read_to_string(guest.join("src/lib.rs")).unwrap();
    lib = lib.replace("../../wit", root.join("wit").to_str().expect("UTF-8"));
    let files: Vec<(String, &str)> =
        modules.iter().map(|(name, text)| (format!("src/{name}.rs"), *text)).collect();
    for (name, _) in modules {
        lib += &format!("pub mod {name};\n");
    }
    let read = |name: &str| std::fs::read_to_string(guest.join(name)).unwrap();
    let (manifest, lock) = (read("Cargo.toml"), read("Cargo.lock"));
    let mut all = vec![("Cargo.toml", manifest.as_str()), ("Cargo.lock", &lock), ("src/lib.rs", &lib)];
    all.extend(files.iter().map(|(name, text)| (name.as_str(), *text)));
    let folder = written(&all);
    let mut cargo = Command::new("cargo");
    // The crates beneath are compiled once for all tests.
    cargo
        .args(["check", "--quiet", "--locked", "--offline"])
        .env("CARGO_TARGET_DIR", root.join("target/stubs"));
    cargo.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", "-Dwarnings");
    let said = said(&mut cargo, folder.path());
    assert!(
        !said.contains("--offline"),
        "a guest's crates are missing: run `cargo fetch --locked --manifest-path tests/guest/Cargo.toml`\n{said}"
    );
    said
}

fn written(files: Files) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("postern-stubs-").tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a file in the folder")).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// What a compiler says, with how it ended if that was not well.
fn said(command: &mut Command, folder: &Path) -> String {
    let done = command.current_dir(folder).output().unwrap();
    let mut said =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    if !done.status.success() {
        said += &format!("({})", done.status);
    }
    said
}
