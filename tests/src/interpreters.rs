//! This machine's own interpreters, which run the same programs as Postern for comparison. `None` where
//! `cargo xtask test` has said that this machine cannot have one.

use std::process::{Command, Stdio};

use crate::binaries::left_out;

/// A CPython that is 3.11 or later, by the name that starts it.
///
/// # Panics
/// If there could be one and is not.
pub fn cpython() -> Option<&'static str> {
    let check =
        "import sys; sys.exit(not (sys.implementation.name == 'cpython' and sys.version_info >= (3, 11)))";
    find("CPython 3.11 or later", "POSTERN_TEST_PYTHON", &["python3", "python"], &["-I", "-c", check])
}

/// A Node.js that is 20 or later, by the name that starts it.
///
/// # Panics
/// If there could be one and is not.
pub fn node() -> Option<&'static str> {
    let check = "process.exit(+process.versions.node.split('.')[0] >= 20 ? 0 : 1)";
    find("Node.js 20 or later", "POSTERN_TEST_NPM", &["node"], &["-e", check])
}

/// The first of `programs` that ends well with the words `check`.
fn find(what: &str, variable: &str, programs: &[&'static str], check: &[&str]) -> Option<&'static str> {
    if left_out(variable, what) {
        return None;
    }
    let fits = |program: &&str| {
        let silent = |command: &mut Command| {
            command.args(check).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()
        };
        silent(&mut Command::new(program)).is_ok_and(|status| status.success())
    };
    let found = programs.iter().copied().find(fits);
    assert!(found.is_some(), "{what} is not here: install it, or set {variable}=0 to leave such tests out");
    found
}
