//! Places that hold keys or passwords, or whose content runs by itself. Told component by component.

use super::paths::straight;

/// Whether a path leads to such a place.
pub(super) fn is(path: &str) -> bool {
    if path.len() > 4096 || path.is_empty() {
        return false;
    }
    // A revision of git names the same file: `HEAD:.env`.
    let path = match path.split_once(':') {
        Some((revision, file))
            if revision.len() > 1 && !file.starts_with("//") && !revision.contains(['/', '.']) =>
        {
            file
        }
        _ => path,
    };
    let straightened = straight(&super::paths::plain(path)).to_lowercase();
    let parts: Vec<&str> = straightened.split('/').filter(|part| !part.is_empty()).collect();
    let anywhere = straightened.starts_with(['/', '~']) || parts.first() == Some(&"..");
    parts.iter().enumerate().any(|(at, part)| folder(part, &parts[at + 1..]))
        || parts.last().is_some_and(|name| file(name))
        || in_sequence(&parts, anywhere)
        || proc(&parts)
        || browser(&parts)
}

/// Folders all of whose content counts, and folders with certain files.
fn folder(name: &str, rest: &[&str]) -> bool {
    let next = rest.first().copied().unwrap_or_default();
    match name {
        ".ssh" => !rest.last().is_some_and(|file| file.ends_with(".pub") || file.starts_with("known_hosts")),
        ".gnupg" | ".aws" | ".azure" | ".password-store" | "keychains" | ".gcloud" => true,
        ".kube" => next.is_empty() || next.starts_with("config"),
        ".docker" => next == "config.json",
        ".cargo" => next.starts_with("credentials"),
        ".config" => matches!(
            next,
            "gcloud" | "gh" | "mcp.json" | "mcp" | "autostart" | "op" | "rclone" | "hub" | "systemd"
        ),
        ".git" => matches!(next, "config" | "hooks" | "credentials"),
        ".cursor" | ".vscode" | ".windsurf" | ".gemini" => rest.last() == Some(&"mcp.json"),
        ".claude" => {
            rest.last().is_some_and(|file| file.contains("credentials") || file.contains("settings"))
        }
        ".codex" => rest.last() == Some(&"auth.json"),
        "launchagents" | "launchdaemons" => true,
        _ => false,
    }
}

/// Files that count wherever they are.
fn file(name: &str) -> bool {
    const NAMES: &[&str] = &[
        ".netrc",
        "_netrc",
        ".git-credentials",
        ".pgpass",
        ".my.cnf",
        ".npmrc",
        ".pypirc",
        ".htpasswd",
        ".vault-token",
        ".s3cfg",
        ".boto",
        ".dockercfg",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "authorized_keys",
        "application_default_credentials.json",
        "mcp.json",
        ".mcp.json",
        "claude_desktop_config.json",
        "mcp_config.json",
        ".bash_history",
        ".zsh_history",
        ".python_history",
        ".psql_history",
        ".mysql_history",
        ".node_repl_history",
        "wallet.dat",
        "ntds.dit",
        "privkey.pem",
        "private.pem",
        "private.key",
        "server.key",
        "logins.json",
        "key4.db",
        "cookies.sqlite",
        ".terraformrc",
        "login.keychain-db",
        ".env",
    ];
    const ENDINGS: &[&str] = &[".kdbx", ".p12", ".pfx", ".ppk", ".keystore", ".jks"];
    const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];
    let environment =
        name.strip_prefix(".env.").is_some_and(|rest| !rest.split('.').any(|part| EXAMPLES.contains(&part)));
    NAMES.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending)) || environment
}

/// Places of the system: where they begin a path, or anywhere in one that leaves its folder.
fn in_sequence(parts: &[&str], anywhere: bool) -> bool {
    const PLACES: &[&[&str]] = &[
        &["etc", "shadow"],
        &["etc", "gshadow"],
        &["etc", "passwd"],
        &["etc", "sudoers"],
        &["etc", "sudoers.d"],
        &["etc", "crontab"],
        &["etc", "cron.d"],
        &["etc", "cron.daily"],
        &["etc", "cron.hourly"],
        &["etc", "krb5.keytab"],
        &["etc", "ssl", "private"],
        &["etc", "kubernetes"],
        &["etc", "rancher"],
        &["etc", "systemd", "system"],
        &["etc", "profile.d"],
        &["etc", "ld.so.preload"],
        &["var", "spool", "cron"],
        &["var", "run", "secrets"],
        &["run", "secrets"],
        &["var", "run", "docker.sock"],
        &["run", "docker.sock"],
        &["dev", "mem"],
        &["dev", "kmem"],
        &["dev", "sda"],
        &["dev", "tcp"],
        &["etc", "ssh"],
        &["system32", "config", "sam"],
        &["system32", "config", "system"],
    ];
    let from = if anywhere { parts.len() } else { 1.min(parts.len()) };
    PLACES.iter().any(|place| (0..from).any(|at| parts[at..].starts_with(place)))
}

/// What the kernel tells of running programs: their environment, memory and open files.
fn proc(parts: &[&str]) -> bool {
    parts.first() == Some(&"proc")
        && parts
            .last()
            .is_some_and(|last| matches!(*last, "environ" | "mem" | "maps" | "cmdline" | "auxv" | "stack"))
        || parts.windows(2).any(|pair| pair[0] == "proc" && matches!(pair[1], "kcore" | "keys"))
        || (parts.first() == Some(&"proc") && parts.iter().any(|part| matches!(*part, "fd" | "root" | "cwd")))
}

/// Profiles of browsers: what they hold is somebody's sessions.
fn browser(parts: &[&str]) -> bool {
    const BROWSERS: &[&str] = &[
        "google-chrome",
        "chromium",
        "chrome",
        "brave-browser",
        "microsoft-edge",
        "edge",
        ".mozilla",
        "firefox",
        "vivaldi",
        "opera",
        "safari",
    ];
    const FILES: &[&str] = &[
        "cookies",
        "login data",
        "web data",
        "local state",
        "history",
        "cookies.binarycookies",
        "key3.db",
        "sessionstore.jsonlz4",
    ];
    parts.iter().any(|part| BROWSERS.contains(part)) && parts.last().is_some_and(|last| FILES.contains(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_hold_keys_are_found_in_every_dress() {
        for path in [
            "~/.ssh/id_rsa",
            "/home/ann/.ssh/config",
            ".aws/credentials",
            "/app/.env",
            ".env",
            ".env.production",
            "/etc/shadow",
            "/etc/passwd",
            "../../etc/passwd",
            "/x/../etc/passwd",
            "/proc/self/environ",
            "/proc/1/root/etc",
            "id_ed25519",
            "~/.netrc",
            ".git-credentials",
            "/home/a/.config/google-chrome/Default/Cookies",
            "~/.config/mcp.json",
            ".git/hooks/pre-commit",
            "repo/.git/config",
            "HEAD:.env",
            "%2e%2e/%2e%2e/etc/passwd",
            "C:\\Users\\ann\\.aws\\credentials",
            "~/.SSH/ID_RSA",
            "file:///etc/passwd",
            "/host/etc/shadow",
            ".cursor/mcp.json",
            "／etc／passwd",
            "/run/secrets/db",
            "~/.claude/.credentials.json",
            "vault.kdbx",
        ] {
            assert!(is(path), "{path}");
        }
    }

    #[test]
    fn places_that_only_sound_alike_are_not() {
        for path in [
            "docs/passwd.md",
            ".env.example",
            ".env.sample",
            "src/environ.rs",
            "ssh/readme.md",
            "id_rsa.pub",
            "~/.ssh/id_rsa.pub",
            "~/.ssh/known_hosts",
            ".github/workflows/ci.yml",
            ".gitignore",
            "etc/readme",
            "shadow.css",
            "/var/log/syslog",
            "proc/data.csv",
            "history",
            "notes/cookies",
            "/srv/app/config",
            "credentials.md",
            "out/report.txt",
            "my.env.txt",
            "environment",
            "src/.gitkeep",
            "drop table.txt",
            "README.md",
        ] {
            assert!(!is(path), "{path}");
        }
    }
}
