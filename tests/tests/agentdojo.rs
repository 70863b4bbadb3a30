//! How the AgentDojo benchmark turns known calls into scripts. The benchmark itself is no test: it gives figures.

#![allow(clippy::unwrap_used)]

use std::process::Command;

use postern_tests::{real_server, workspace_root};

/// Its own unit tests, in Python; they need nothing but Python's library.
#[test]
fn values_are_read_from_where_a_planner_would_read_them() {
    let Some(words) = real_server("mcp-server-time") else { return };
    let python = std::path::Path::new(&words[0]).with_file_name("python");
    let output = Command::new(python)
        .args(["-B", "-m", "unittest", "-v"])
        .current_dir(workspace_root().join("tests/agentdojo"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // Finding no tests is no success.
    assert!(said.contains("... ok") && !said.contains("Ran 0 tests"), "{said}");
}
