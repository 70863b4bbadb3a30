//! Paths, component by component. Lexical only: no file is looked at.

use super::encoded::unpercent;
use super::leaves::Leaf;
use super::{sensitive, shown};
use crate::policy::Finding;

/// A path argument.
pub(super) fn check(leaf: &Leaf<'_>, value: &str, out: &mut Vec<Finding>) {
    // A text in an argument named like a path, such as the diff of a file.
    if value.len() > 4096 {
        return;
    }
    let mut add =
        |code, what: &str| out.push(Finding::at(code, leaf.path, format!("{what}: {}", shown(value))));
    if hides(value) {
        add("path-hidden-chars", "a path with characters that cannot be seen");
    }
    if value.contains("://") && !value.to_ascii_lowercase().starts_with("file:") {
        return;
    }
    if escapes(value) {
        add("path-escapes", "a path that climbs above its start");
    }
    if sensitive::is(value.trim()) {
        add("path-sensitive", "a place that holds keys or runs by itself");
    }
}

/// A path put straight: `.`, `..`, double and trailing slashes gone, backslashes turned, `file://` undone. What climbs
/// above the start of a relative path, or of `~`, stays in front as `..`; nothing is above `/`. Lexical: links on disk
/// may lead elsewhere.
///
/// ```
/// use postern::facts::straight;
/// assert_eq!(straight("./out//a/../b/"), "out/b");
/// assert_eq!(straight("out/../../x"), "../x");
/// assert_eq!(straight("/../etc"), "/etc");
/// ```
pub fn straight(path: &str) -> String {
    let undone;
    let path = match strip_file(path) {
        Some(rest) => {
            undone = unpercent(rest);
            undone.as_str()
        }
        None => path,
    };
    let absolute = path.starts_with(['/', '\\']);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." && !(parts.len() == 1 && !absolute && is_start(last)) => {
                    parts.pop();
                }
                None if absolute => {}
                _ => parts.push(".."),
            },
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// `~`, `~ann` and `C:` are places to start from.
fn is_start(part: &str) -> bool {
    part.starts_with('~') || (part.len() == 2 && part.ends_with(':'))
}

fn strip_file(path: &str) -> Option<&str> {
    let head = path.get(..7)?;
    let rest = head.eq_ignore_ascii_case("file://").then(|| &path[7..])?;
    Some(rest.strip_prefix("localhost").filter(|rest| rest.starts_with('/')).unwrap_or(rest))
}

/// A path as the strangest reader may take it: percent codes undone twice, look-alikes of dots and slashes turned.
pub(crate) fn plain(path: &str) -> String {
    let mut text = path.to_owned();
    for _ in 0..2 {
        if !text.contains('%') {
            break;
        }
        // Codes that are too long for what they mean are read by careless decoders all the same.
        let mut lower = text;
        for (code, meant) in [
            ("%c0%ae", "."),
            ("%C0%AE", "."),
            ("%c0%af", "/"),
            ("%C0%AF", "/"),
            ("%e0%80%ae", "."),
            ("%E0%80%AE", "."),
        ] {
            if lower.contains(code) {
                lower = lower.replace(code, meant);
            }
        }
        text = unpercent(&lower);
    }
    if text.is_ascii() && !text.contains(';') && !text.contains('\0') {
        return text;
    }
    let turned: String = text
        .chars()
        .flat_map(|c| {
            let (one, two) = match c {
                '／' | '∕' | '⁄' | '⧸' | '╱' | '＼' | '∖' | '⧹' => ('/', None),
                '．' | '․' | '。' => ('.', None),
                '‥' => ('.', Some('.')),
                '～' => ('~', None),
                '\u{ff01}'..='\u{ff5e}' => (char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c), None),
                other => (other, None),
            };
            std::iter::once(one).chain(two)
        })
        .filter(|c| *c != '\0' && !postern_check::evidence::is_hidden(*c))
        .collect();
    // Some servers drop what follows a semicolon.
    turned.replace("..;/", "../")
}

/// Whether a path climbs above where it starts, in any dress.
pub(super) fn escapes(path: &str) -> bool {
    let plain = plain(path.trim());
    // Nobody writes `..` in codes or look-alikes for a good reason.
    let dots = |text: &str| text.split(['/', '\\']).any(|part| part == "..");
    if dots(&plain) && !dots(path) {
        return true;
    }
    let mut depth = 0_i32;
    let rest = strip_file(&plain).unwrap_or(&plain);
    let start = rest.split(['/', '\\']).next().is_some_and(is_start);
    for (index, part) in rest.split(['/', '\\']).enumerate() {
        match part {
            "" | "." => {}
            ".." => depth -= 1,
            _ if index == 0 && start => {}
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

/// Control characters and what cannot be seen; what joins or colours emoji is seen.
fn hides(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    path.trim_end_matches(['\n', '\r']).chars().any(|c| {
        c.is_control()
            || (postern_check::evidence::is_hidden(c)
                && !matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{200c}' | '\u{200d}'))
    }) || lower.contains("%00")
        || lower.contains("%0a")
        || lower.contains("%0d")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_put_straight() {
        for (path, expected) in [
            ("a/./b//c/", "a/b/c"),
            ("a/../../b", "../b"),
            ("../../a", "../../a"),
            ("/a/../../b", "/b"),
            ("~/a/../b", "~/b"),
            ("~/../b", "~/../b"),
            ("", "."),
            ("./", "."),
            ("/", "/"),
            ("a\\..\\b", "b"),
            ("C:\\a\\..\\..\\b", "C:/../b"),
            ("file:///a/b%20c/../d", "/a/d"),
            ("a/..", "."),
        ] {
            assert_eq!(straight(path), expected, "{path}");
        }
    }

    #[test]
    fn what_climbs_is_found() {
        for bad in [
            "../x",
            "a/../../x",
            "/a/../../x",
            "..\\..\\x",
            "%2e%2e/x",
            "%252e%252e%252fx",
            "．．/x",
            "‥/x",
            "..／x",
            "a/%c0%ae%c0%ae/../../x",
            "..;/x",
            "~/../x",
            "/a/%2e%2e/b",
            "a/b/..%2fc",
            "file:///../x",
        ] {
            assert!(escapes(bad), "{bad}");
        }
        for fine in [
            "a/../b",
            "/w/app/../lib",
            "...",
            "a..b/c",
            "..hidden",
            "./a",
            "~/a/..",
            "100%/x",
            "a/b/../../c",
            "1...5",
        ] {
            assert!(!escapes(fine), "{fine}");
        }
        assert!(hides("a\0.txt") && hides("a\nb") && hides("a\u{202e}b") && hides("a%00.png"));
        assert!(!hides("né ❤️ 👩‍👧.txt") && !hides("a b.txt"));
    }

    proptest! {
        #[test]
        fn straight_is_straight(path in "[a-c~.:/\\\\%]{0,30}|(file://)?\\PC{0,40}") {
            let once = straight(&path);
            prop_assert_eq!(straight(&once), once.clone());
            let parts: Vec<&str> = once.split('/').collect();
            for (index, pair) in parts.windows(2).enumerate() {
                // Only what stands before everything may climb.
                prop_assert!(pair[1] != ".." || pair[0] == ".." || (index == 0 && is_start(pair[0])), "{} -> {}", path, once);
            }
            if once.starts_with('/') {
                prop_assert!(!parts.contains(&".."));
            }
        }
    }
}
