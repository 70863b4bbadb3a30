//! The pieces of an argument value that can be looked up: addresses, links, paths, ids, amounts, dates, names.

use std::sync::LazyLock;

use regex::Regex;

use super::fold::fold;

/// What a piece of a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A mailbox.
    Email,
    /// A link, or a host by itself.
    Url,
    /// A file or folder.
    Path,
    /// A day.
    Date,
    /// A number: an amount, a count, a measure.
    Number,
    /// Letters and digits that name a record.
    Id,
    /// A short value as a whole.
    Value,
    /// A name inside a longer text.
    Name,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 8] =
        [Self::Email, Self::Url, Self::Path, Self::Date, Self::Number, Self::Id, Self::Value, Self::Name];

    /// Whether such a piece points at something: a person, place, file or record.
    pub fn points(self) -> bool {
        matches!(self, Self::Email | Self::Url | Self::Path | Self::Id)
    }
}

/// A piece before it was looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: Kind,
    /// Folded.
    pub(super) text: String,
    /// Its internet domain, in lower case.
    pub(super) domain: Option<String>,
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern; the tests use every one of them")
}

static EMAIL: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)"));
static LINK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?i)\b[a-z][a-z0-9+.-]*://([^\s'"<>)\]/?#]+)[^\s'"<>)\]]*"#));
static HOST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)\b((?:www\.(?:[\w-]+\.)*[a-z]{2,})|(?:[a-z0-9_-]+\.)+(?:com|org|net|io|co|ch|gov|edu|dev|ai|uk|de|info|biz|me|app|xyz|ru|cn|eu|fr|us|test|example|local|internal|cloud|site|online|shop|tech|invalid|in|jp|br|nl|pl|it|es|au|ca|se|no|at|be))\b[^\s'"<>)\]@]*"#,
    )
});
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)[\w./~-]*\b[\w-]+\.(?:txt|pdf|docx?|xlsx?|pptx?|csv|tsv|py|js|ts|rs|sh|exe|json|md|html?|png|jpe?g|zip|tar|gz|ya?ml|toml|env|log|sql|db|pem|key|bin)\b|~?(?:/[\w.@-]+){2,}|\.?\.?/[\w.-]+",
    )
});
static ISO_DATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"));
static DAY_FIRST: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})\b"));
static MONTH_DAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?\b|\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:,? (\d{4}))?\b",
    )
});
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"));
static ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z#_-]*\d[\w#-]*"));
static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\p{Lu}\p{L}{2,}\b"));

/// Most pieces of one value.
pub(super) const MAX_PIECES_OF_VALUE: usize = 16;
/// A value longer than this is searched for pieces at its two ends only.
const MAX_SEARCHED: usize = 32 << 10;
/// A value up to this many characters is looked up as a whole.
const SHORT: usize = 64;

/// The pieces of one value.
pub(super) fn pieces(value: &str) -> Vec<Found> {
    let value = value.trim();
    if value.is_empty() || value == "true" || value == "false" {
        return Vec::new();
    }
    let mut out: Vec<Found> = Vec::new();
    if let Some(day) = whole_date(value) {
        return vec![Found { kind: Kind::Date, text: day, domain: None }];
    }
    if let Some(number) = whole_number(value) {
        return vec![Found { kind: Kind::Number, text: number, domain: None }];
    }
    let parts = ends(value);
    for part in &parts {
        // Links first: what stands before an @ in one is no mailbox.
        let patterns = [(Kind::Url, &LINK), (Kind::Email, &EMAIL), (Kind::Path, &PATH), (Kind::Url, &HOST)];
        for (kind, regex) in patterns {
            for found in regex.captures_iter(part) {
                let text = fold(found[0].trim_end_matches(['.', ',', ';', ':']));
                let known = out.iter().any(|seen| seen.text.contains(&text));
                if text.chars().count() < 4 || known {
                    continue;
                }
                let domain = found.get(1).map(|authority| host_of(authority.as_str()));
                out.push(Found { kind, text, domain });
                if out.len() == MAX_PIECES_OF_VALUE {
                    return out;
                }
            }
        }
        for found in ID.find_iter(part) {
            let text = fold(found.as_str());
            let known = out.iter().any(|seen| seen.text.contains(&text));
            // A bare number inside a text is a number; a name with a digit in it is an id.
            let kind = if text.chars().any(char::is_alphabetic) || text.len() >= 5 {
                Kind::Id
            } else {
                Kind::Number
            };
            if known || (kind == Kind::Id && text.chars().count() < 4) {
                continue;
            }
            out.push(Found { kind, text, domain: None });
            if out.len() == MAX_PIECES_OF_VALUE {
                return out;
            }
        }
    }
    if value.chars().count() <= SHORT {
        if !out.iter().any(|found| found.kind != Kind::Number) {
            out.insert(0, Found { kind: Kind::Value, text: fold(value), domain: None });
        }
        return out;
    }
    for found in parts.iter().flat_map(|part| NAME.find_iter(part)) {
        if out.len() == MAX_PIECES_OF_VALUE {
            break;
        }
        let text = fold(found.as_str());
        if !out.iter().any(|seen| seen.text.contains(&text)) {
            out.push(Found { kind: Kind::Name, text, domain: None });
        }
    }
    out
}

/// All of a value, or its two ends.
fn ends(value: &str) -> Vec<&str> {
    if value.len() <= MAX_SEARCHED {
        return vec![value];
    }
    let (head, tail) = (edge(value, MAX_SEARCHED / 2), edge(value, value.len() - MAX_SEARCHED / 2));
    vec![&value[..head], &value[tail..]]
}

/// The last character boundary at or before `at`.
pub fn edge(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

/// The host of a URL's authority: without user, password and port, in lower case.
fn host_of(authority: &str) -> String {
    let authority = authority.split(['/', '?', '#']).next().unwrap_or(authority);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.split(':').next().unwrap_or(host);
    fold(host.trim_end_matches('.'))
}

/// Forms of a piece under which it may stand elsewhere, the given one first.
pub(super) fn forms(kind: Kind, text: &str) -> Vec<String> {
    let mut out = vec![text.to_string()];
    match kind {
        Kind::Url => {
            let bare = text.split_once("://").map_or(text, |(_, rest)| rest);
            let bare = bare.strip_prefix("www.").unwrap_or(bare).trim_end_matches('/');
            if bare.len() >= 4 && bare != text {
                out.push(bare.to_string());
            }
        }
        Kind::Email => out.extend(text.strip_prefix("mailto:").map(String::from)),
        Kind::Path => {
            let name = text.rsplit('/').next().unwrap_or(text);
            let tail = text.trim_start_matches(['.', '/', '~']);
            out.extend(
                [tail, name].into_iter().filter(|form| form.len() >= 4 && *form != text).map(String::from),
            );
        }
        Kind::Id | Kind::Value => {
            let bare = text.trim_start_matches(['#', '@']);
            if bare.len() >= 3 && bare != text {
                out.push(bare.to_string());
            }
            let spaced: String = text.chars().map(|c| if c == '_' || c == '-' { ' ' } else { c }).collect();
            if spaced != text {
                out.push(spaced);
            }
        }
        _ => {}
    }
    out
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The days that a text names, as `YYYY-MM-DD` or, without a year, `MM-DD`, each with its place.
pub(super) fn dates(text: &str) -> Vec<(String, usize)> {
    let mut out = Vec::new();
    let mut add = |at: usize, year: Option<&str>, month: &str, day: &str| {
        let month = match month.parse::<u32>() {
            Ok(number) => number,
            Err(_) => {
                let small = month.to_lowercase();
                MONTHS.iter().position(|name| small.starts_with(name)).map_or(0, |index| index as u32 + 1)
            }
        };
        let day = day.parse::<u32>().unwrap_or(0);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return;
        }
        out.push((format!("{month:02}-{day:02}"), at));
        if let Some(year) = year {
            out.push((format!("{year}-{month:02}-{day:02}"), at));
        }
    };
    for found in ISO_DATE.captures_iter(text) {
        add(found.get(0).map_or(0, |m| m.start()), Some(&found[1]), &found[2], &found[3]);
    }
    for found in DAY_FIRST.captures_iter(text) {
        let at = found.get(0).map_or(0, |m| m.start());
        // Which of the two is the month depends on the country: both are taken.
        add(at, Some(&found[3]), &found[2], &found[1]);
        add(at, Some(&found[3]), &found[1], &found[2]);
    }
    for found in MONTH_DAY.captures_iter(text) {
        let at = found.get(0).map_or(0, |m| m.start());
        let part = |index: usize| found.get(index).map(|m| m.as_str());
        match (part(1), part(2), part(5), part(4)) {
            (Some(month), Some(day), ..) => add(at, part(3), month, day),
            (_, _, Some(month), Some(day)) => add(at, part(6), month, day),
            _ => {}
        }
    }
    out
}

/// The numbers of a text in one written form, each with its place.
pub(super) fn numbers(text: &str) -> Vec<(String, usize)> {
    NUMBER.find_iter(text).filter_map(|found| Some((plain_number(found.as_str())?, found.start()))).collect()
}

/// A number as it is compared: no separators of thousands, no zeros that say nothing.
fn plain_number(text: &str) -> Option<String> {
    let plain: String = text.chars().filter(|c| !matches!(c, ',' | '\'' | ' ')).collect();
    let value: f64 = plain.parse().ok()?;
    (value.is_finite() && value.abs() < 1e15).then(|| {
        let rounded = (value.abs() * 1e4).round() / 1e4;
        format!("{rounded}")
    })
}

fn whole_number(value: &str) -> Option<String> {
    let bare = value.trim_start_matches(['$', '€', '£', '+', ' ']).trim_end_matches(['€', '%', ' ']);
    let looks = !bare.is_empty()
        && bare.len() <= 18
        && bare.chars().all(|c| c.is_ascii_digit() || ".,'-".contains(c));
    let starts = bare.strip_prefix('-').unwrap_or(bare).starts_with(|c: char| c.is_ascii_digit());
    if looks && starts && !bare.starts_with('0') || bare == "0" { plain_number(bare) } else { None }
}

/// The day that a value is as a whole, a time of day after it left aside.
fn whole_date(value: &str) -> Option<String> {
    let starts = value.len() <= 40 && ISO_DATE.find(value).is_some_and(|found| found.start() == 0);
    let all = value.len() <= 24
        && (DAY_FIRST.find(value).is_some_and(|found| found.as_str() == value)
            || MONTH_DAY.find(value).is_some_and(|found| found.as_str() == value));
    (starts || all).then(|| dates(value).pop()).flatten().map(|(day, _)| day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(value: &str) -> Vec<(Kind, String)> {
        pieces(value).into_iter().map(|found| (found.kind, found.text)).collect()
    }

    #[test]
    fn values_are_what_they_look_like() {
        for (value, kind, text) in [
            ("ann@corp.test", Kind::Email, "ann@corp.test"),
            ("https://Docs.corp.test/a?b=1", Kind::Url, "https://docs.corp.test/a?b=1"),
            ("www.my_host.com", Kind::Url, "www.my_host.com"),
            ("/srv/data.csv", Kind::Path, "/srv/data.csv"),
            ("2026-05-01T10:00", Kind::Date, "2026-05-01"),
            ("May 1st, 2026", Kind::Date, "2026-05-01"),
            ("1,250.00", Kind::Number, "1250"),
            ("-12.5", Kind::Number, "12.5"),
            ("INV-2041", Kind::Id, "inv-2041"),
            ("Anna Berg", Kind::Value, "anna berg"),
        ] {
            assert_eq!(kinds(value)[0], (kind, text.to_string()), "{value}");
        }
        assert_eq!(pieces("https://corp.test@evil.example/x")[0].domain.as_deref(), Some("evil.example"));
        assert!(pieces("true").is_empty() && pieces(" ").is_empty());
    }

    #[test]
    fn long_values_give_names_and_numbers() {
        let body = "Dear Ann, the Helsinki order INV-77 of 1,250.00 is late and it will reach Oslo only next week, sorry.";
        let found = kinds(body);
        assert!(found.contains(&(Kind::Name, "helsinki".into())), "{found:?}");
        assert!(found.contains(&(Kind::Id, "inv-77".into())), "{found:?}");
        assert!(found.len() <= MAX_PIECES_OF_VALUE);
        let huge = format!("{}{body}", "word ".repeat(100_000));
        assert!(kinds(&huge).iter().any(|(_, text)| text == "oslo"));
    }

    #[test]
    fn one_day_is_one_day_however_it_is_written() {
        for text in ["on 2026-05-01", "due 1 May 2026", "May 1st, 2026", "01.05.2026", "5/1/2026"] {
            assert!(dates(text).iter().any(|(day, _)| day == "2026-05-01"), "{text}");
        }
        assert!(dates("13 Foo 2026, 99-99-9999").is_empty());
    }
}
