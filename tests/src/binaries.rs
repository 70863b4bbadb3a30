//! Where the programs under test lie.

use std::path::{Path, PathBuf};

/// The repository's root.
pub fn workspace_root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("tests/ lies in the repository's root").to_owned()
}

/// A program that this workspace builds, such as `postern`.
///
/// # Panics
/// If it is not built: Cargo does not build other packages' programs for a test.
pub fn binary(name: &str) -> PathBuf {
    // A test runs as target/PROFILE/deps/NAME; programs lie in target/PROFILE.
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).expect("a test runs from target/PROFILE/deps");
    let path = profile.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(path.exists(), "{} is not built: run `cargo xtask test`", path.display());
    path
}

/// The words that start a third-party MCP server: one of `server-everything`, `server-filesystem`,
/// `server-memory` (npm) and `mcp-server-git`, `mcp-server-time` (PyPI). `None` where `cargo xtask test`
/// has said that this machine cannot have it, for want of Node.js for instance.
///
/// # Panics
/// If it could be there and is not.
pub fn real_server(name: &str) -> Option<Vec<String>> {
    let python = name.starts_with("mcp-server-");
    let (path, left_out) = match python {
        true => (format!("venv/bin/{name}"), "POSTERN_TEST_PYTHON"),
        false => (format!("npm/node_modules/@modelcontextprotocol/{name}/dist/index.js"), "POSTERN_TEST_NPM"),
    };
    let file = installed(&path, left_out)?.display().to_string();
    Some(if python { vec![file] } else { vec!["node".to_owned(), file] })
}

/// The wheel of a package that the tests fetch; `cargo xtask setup --test-deps` brings it, whatever this machine has.
///
/// # Panics
/// If it is not there.
pub fn test_wheel(name: &str) -> PathBuf {
    let folder = workspace_root().join(".postern/test-deps/wheels");
    let files = std::fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let is = |path: &PathBuf| {
        path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&format!("{name}-")))
    };
    files.into_iter().find(is).unwrap_or_else(|| {
        panic!("no wheel of {name} in {}: run `cargo xtask setup --test-deps`", folder.display())
    })
}

/// A file of the test dependencies; `None` where `variable` says that this machine cannot have it.
///
/// # Panics
/// If it could be there and is not.
pub(crate) fn installed(path: &str, variable: &str) -> Option<PathBuf> {
    if left_out(variable, path) {
        return None;
    }
    let file = workspace_root().join(".postern/test-deps").join(path);
    assert!(file.exists(), "{} is not installed: run `cargo xtask test`", file.display());
    Some(file)
}

/// Whether `variable` says that this machine cannot have `what`.
pub(crate) fn left_out(variable: &str, what: &str) -> bool {
    let out = std::env::var(variable).is_ok_and(|value| value == "0");
    if out {
        eprintln!("not tested: {what} cannot be had here");
    }
    out
}
