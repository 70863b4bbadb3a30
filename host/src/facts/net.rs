//! Links and hosts that a tool is given to go to.

use super::kinds::Roles;
use super::leaves::Leaf;
use super::{hosts, paths, sensitive, shown};
use crate::policy::Finding;

/// Schemes that read files, speak to other services through an HTTP client, or run code.
const DANGEROUS: &[&str] = &[
    "file",
    "gopher",
    "dict",
    "ldap",
    "ldaps",
    "jar",
    "netdoc",
    "javascript",
    "vbscript",
    "data",
    "view-source",
    "php",
    "phar",
    "expect",
    "chrome",
    "tftp",
    "local",
    "blob",
    "filesystem",
    "ms-msdt",
    "search-ms",
    "shell",
];

/// The links of an argument, if it is one or may be one.
pub(super) fn check(leaf: &Leaf<'_>, roles: Roles, value: &str, intent: &str, out: &mut Vec<Finding>) {
    // Clients drop what cannot be seen before they read a link.
    let link: String = value.trim().chars().filter(|c| !c.is_control()).collect();
    if link.is_empty() || !(roles.url || roles.host) || link.len() > 16 << 10 {
        return;
    }
    let mut add =
        |code, what: &str| out.push(Finding::at(code, leaf.path, format!("{what}: {}", shown(value))));
    let scheme = scheme(&link);
    if let Some(scheme) = &scheme
        && DANGEROUS.contains(&scheme.as_str())
        && !(scheme == "data" && is_picture(&link))
    {
        add("url-scheme", &format!("a link of the scheme \"{scheme}\""));
    }
    if scheme.as_deref() == Some("file") {
        let path = straight_of_file(&link);
        if sensitive::is(&path) {
            add("path-sensitive", "a place that holds keys or runs by itself");
        }
        if paths::escapes(&link) {
            add("path-escapes", "a path that climbs above its start");
        }
        return;
    }
    let with_host =
        link.contains("://") || link.starts_with("//") || scheme.as_deref().is_none_or(hosts::is_web);
    if !with_host || link.contains(' ') {
        return;
    }
    if credentials(&link, scheme.as_deref()) {
        add("url-credentials", "a link with a user's name or password");
    }
    // A single word without scheme is a path on the server, or a name that the tool resolves by itself.
    if !link.contains("//")
        && !link.contains(['.', ':', '['])
        && !link.eq_ignore_ascii_case("localhost")
        && !is_number(&link)
    {
        return;
    }
    if !link.contains("//") && (link.starts_with(['/', '.', '#', '?', '~'])) {
        return;
    }
    // What follows demo: or postgres: is a name of its own kind.
    let web = scheme.as_deref().is_none_or(|s| {
        matches!(
            s,
            "http"
                | "https"
                | "ftp"
                | "ftps"
                | "ws"
                | "wss"
                | "gopher"
                | "dict"
                | "ldap"
                | "ldaps"
                | "tftp"
                | "sftp"
                | "ssh"
        )
    }) || scheme_is_port(&link);
    let Some(place) = web.then(|| hosts::of_url(&link)).flatten().filter(hosts::Place::inside) else {
        return;
    };
    if place.is_loopback() && named(&link, intent) {
        add("url-inside-named", "a link into this machine, which the request names");
    } else {
        add("url-inside", "a link into this machine or a private network");
    }
}

/// The scheme of a link, in small letters.
fn scheme(link: &str) -> Option<String> {
    let (scheme, _) = link.split_once(':')?;
    let fits = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    // `localhost:3000` and `example.com:80` have none.
    (fits && !scheme_is_port(link)).then(|| scheme.to_ascii_lowercase())
}

fn scheme_is_port(link: &str) -> bool {
    link.split_once(':').is_some_and(|(_, rest)| {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        digits > 0 && matches!(rest[digits..].chars().next(), None | Some('/' | '?' | '#'))
    })
}

fn is_number(text: &str) -> bool {
    text.len() >= 7 && text.chars().all(|c| c.is_ascii_digit())
        || text.starts_with("0x")
        || text.starts_with("0X")
}

/// Pictures and sound, which only show; a drawing in SVG may run scripts.
fn is_picture(link: &str) -> bool {
    let rest = link.get(5..).unwrap_or_default().to_ascii_lowercase();
    ["image/", "audio/", "video/", "font/", "application/pdf"].iter().any(|kind| rest.starts_with(kind))
        && !rest.starts_with("image/svg")
}

fn credentials(link: &str, scheme: Option<&str>) -> bool {
    let Some((_, rest)) = link.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let Some((user, _)) = authority.rsplit_once('@') else { return false };
    let web = matches!(scheme, Some("http" | "https" | "ws" | "wss"));
    // Placeholders of drivers (`user:{password}`) hold nothing; nor does an empty one.
    user.split_once(':').is_some_and(|(_, password)| !password.is_empty()) || (web && !user.is_empty())
}

/// The path of a file: link, straight.
fn straight_of_file(link: &str) -> String {
    paths::straight(link)
}

/// Whether the request names the same host and port, as a word of its own.
fn named(link: &str, intent: &str) -> bool {
    let rest = link.split_once("://").map_or(link, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest).to_ascii_lowercase();
    let intent = intent.to_ascii_lowercase();
    !authority.is_empty()
        && intent.match_indices(&authority).any(|(at, found)| {
            let before = intent[..at].chars().next_back();
            let after = intent[at + found.len()..].chars().next();
            before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '@'))
                && after.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, ':' | '-' | '@'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_named_only_as_a_word() {
        assert!(named("http://localhost:3000/api", "check http://localhost:3000/ please"));
        assert!(named("http://localhost:3000/api", "is localhost:3000 up?"));
        assert!(!named("http://localhost:3000/api", "is localhost:30001 up?"));
        assert!(!named("http://localhost/api", "is localhost:3000 up?"));
        assert!(!named("http://localhost/", "fetch the docs"));
    }

    #[test]
    fn schemes_are_told_from_ports() {
        assert_eq!(scheme("JavaScript:alert(1)").as_deref(), Some("javascript"));
        assert_eq!(scheme("localhost:3000/x"), None);
        assert_eq!(scheme("demo://resource/1").as_deref(), Some("demo"));
        assert_eq!(scheme("/a:b"), None);
    }
}
