//! Arguments that git would take as options, and addresses that make it run programs.

use super::kinds::Roles;
use super::leaves::Leaf;
use super::shown;
use crate::policy::Finding;

/// An argument of a git tool.
pub(super) fn check(leaf: &Leaf<'_>, roles: Roles, value: &str, out: &mut Vec<Finding>) {
    let value = value.trim_start();
    let number = value.parse::<f64>().is_ok();
    // In an argument that is meant for options only those that run something count.
    let option = value.starts_with('-') && !number && value.len() > 1 && !roles.options && !roles.command;
    if option || runs_a_program(value) || (roles.options && runs_by_setting(value)) {
        out.push(Finding::at(
            "git-option",
            leaf.path,
            format!("git would read this as an option or a program: {}", shown(value)),
        ));
    }
}

/// Whether a word makes git run a program: an option that names one, or a transport that is one.
pub(super) fn runs_a_program(word: &str) -> bool {
    const OPTIONS: &[&str] = &[
        "--upload-pack",
        "--receive-pack",
        "--exec",
        "--open-files-in-pager",
        "--ext-diff",
        "--config-env",
        "--exec-path",
        "--template",
        "--tree-filter",
        "--index-filter",
    ];
    const TRANSPORTS: &[&str] = &["ext::", "fd::", "transport-helper::"];
    let lower = word.trim().to_ascii_lowercase();
    let named = OPTIONS.iter().any(|option| {
        lower.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    });
    named
        || TRANSPORTS.iter().any(|transport| lower.starts_with(transport))
        // `ssh://-oProxyCommand=...` and `-oProxyCommand@host:x`
        || lower.contains("://-")
        || lower.contains("proxycommand=")
        || lower.strip_prefix("-c").is_some_and(|rest| runs_by_setting(rest.trim_start()))
        || lower.strip_prefix("--config=").is_some_and(runs_by_setting)
}

/// Whether a setting given with `-c` names a program that git runs.
pub(super) fn runs_by_setting(setting: &str) -> bool {
    const SETTINGS: &[&str] = &[
        "core.",
        "alias.",
        "credential.",
        "diff.external",
        "protocol.",
        "http.proxy",
        "ssh.",
        "filter.",
        "sequence.editor",
        "gpg.",
        "uploadpack.",
        "remote.",
        "submodule.",
        "url.",
        "pager.",
        "include.path",
        "init.templatedir",
    ];
    let lower = setting.trim().to_ascii_lowercase();
    lower.contains('=') && SETTINGS.iter().any(|name| lower.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_a_program_is_found() {
        for bad in [
            "--upload-pack=touch x",
            "ext::sh -c id",
            "-c core.sshCommand=x",
            "-ccore.pager=x",
            "ssh://-oProxyCommand=x/y",
            "--exec=x",
        ] {
            assert!(runs_a_program(bad), "{bad}");
        }
        for fine in [
            "main",
            "origin/main",
            "HEAD~3",
            "feature/ext-diff",
            "https://git.test/a.git",
            "git@git.test:a/b.git",
            "-p",
            "--oneline",
            "v1.0..v2.0",
        ] {
            assert!(!runs_a_program(fine), "{fine}");
        }
        assert!(!runs_by_setting("user.name=Ann"));
    }
}
