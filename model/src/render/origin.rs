//! Where each argument value came from: the user's request, a rule, a tool's result, or nowhere.

use std::sync::LazyLock;

use postern_check::Check;
use regex::Regex;
use serde_json::Value;

use super::text::{edge, find_whole, fold};

/// Where a value stands, from the most to the least trusted place; the first that holds it wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// In the user's request.
    User,
    /// In one of the user's rules.
    Rule,
    /// Only in what tools returned.
    Context,
    /// Nowhere.
    Nowhere,
}

/// What a piece of a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Email,
    Url,
    Path,
    Id,
    /// A short value as a whole.
    Value,
    /// A name or a number inside a long text.
    Name,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] = [Self::Email, Self::Url, Self::Path, Self::Id, Self::Value, Self::Name];

    /// Whether such a piece points at something: a person, place, file or record.
    pub(crate) fn points(self) -> bool {
        matches!(self, Self::Email | Self::Url | Self::Path | Self::Id)
    }
}

/// How a piece's internet domain stands to the domains that the rules name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// It has none, or no rule names one.
    Unruled,
    /// It is one of them or lies under one.
    Inside,
    /// It is another.
    Outside,
}

/// A piece of an argument value that can be looked up.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    /// Folded.
    pub(crate) text: String,
    pub(crate) origin: Origin,
    /// Its first place in the folded context, for [`Origin::Context`].
    pub(crate) at: Option<usize>,
    pub(crate) domain: Domain,
    /// It has a domain, and nothing the user wrote names that domain or one above it.
    pub(crate) foreign: bool,
}

/// One argument leaf.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The nearest name above it.
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) pieces: Vec<Piece>,
}

impl Leaf {
    /// The least trusted origin of its pieces.
    pub(crate) fn origin(&self) -> Origin {
        self.pieces.iter().map(|piece| piece.origin).max().unwrap_or(Origin::User)
    }
}

/// The folded texts that values are looked up in.
pub(crate) struct Places {
    pub(crate) intent: String,
    pub(crate) rules: String,
    pub(crate) context: String,
    rule_domains: Vec<String>,
    user_domains: Vec<String>,
}

static EMAIL: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)"));
static LINK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?i)\b[a-z][a-z0-9+.-]*://([^\s'"<>)\]/?#]+)[^\s'"<>)\]]*"#));
static HOST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)\b((?:[a-z0-9-]+\.)+(?:com|org|net|io|co|ch|gov|edu|dev|ai|uk|de|info|biz|me|app|xyz|ru|cn|eu|fr|us|test|example|local|internal|cloud|site|online|shop|tech))\b[^\s'"<>)\]]*"#,
    )
});
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)[\w./~-]*\b[\w-]+\.(?:txt|pdf|docx?|xlsx?|pptx?|csv|tsv|py|js|ts|rs|sh|json|md|html?|png|jpe?g|zip|tar|gz|ya?ml|toml|env|log|sql|db|pem|key)\b|~?(?:/[\w.-]+){2,}",
    )
});
static ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z#_-]*\d[\w#-]*"));
static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Z][a-zA-Z]{2,}\b|\b\d[\d.,]*\d\b"));
/// A domain as people write one in a rule.
static BARE_DOMAIN: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(?:[a-z0-9-]+\.)+[a-z]{2,}\b"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern; the tests use every one of them")
}

/// Most pieces of one call that are looked up; the rest of a huge call is text to the model.
const MAX_PIECES: usize = 48;
/// Most pieces of one value.
const MAX_PIECES_OF_VALUE: usize = 14;
/// A value longer than this is searched for pieces at its two ends only.
const MAX_SEARCHED: usize = 32 << 10;
/// A value up to this many characters is looked up as a whole.
const SHORT: usize = 60;

impl Places {
    pub(crate) fn of(check: &Check) -> Self {
        let rules = check.constraints.join("\n");
        let domains =
            |text: &str| BARE_DOMAIN.find_iter(text).map(|m| m.as_str().to_lowercase()).collect::<Vec<_>>();
        let rule_domains = domains(&rules);
        let mut user_domains = domains(&check.intent);
        user_domains.extend(rule_domains.iter().cloned());
        Self {
            intent: fold(&check.intent),
            rules: fold(&rules),
            context: fold(&check.context),
            rule_domains,
            user_domains,
        }
    }

    /// All leaves of the arguments in order, with their pieces looked up.
    pub(crate) fn leaves(&self, check: &Check) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        for (name, value) in &check.action.args {
            collect(name, value, &mut leaves);
        }
        let mut left = MAX_PIECES;
        for leaf in &mut leaves {
            let found = pieces(&leaf.value);
            leaf.pieces = found
                .into_iter()
                .take(left)
                .map(|(kind, text, domain)| self.look_up(kind, &text, domain.as_deref()))
                .collect();
            left -= leaf.pieces.len();
        }
        leaves
    }

    fn look_up(&self, kind: Kind, text: &str, domain: Option<&str>) -> Piece {
        let text = fold(text).trim().to_string();
        let mut at = None;
        let origin = if find_whole(&self.intent, &text).is_some() {
            Origin::User
        } else if find_whole(&self.rules, &text).is_some() {
            Origin::Rule
        } else {
            at = find_whole(&self.context, &text);
            if at.is_some() { Origin::Context } else { Origin::Nowhere }
        };
        let under = |domains: &[String]| {
            domain.is_some_and(|domain| {
                domains.iter().any(|d| {
                    domain == d || domain.strip_suffix(d.as_str()).is_some_and(|rest| rest.ends_with('.'))
                })
            })
        };
        let ruled = match domain {
            Some(_) if !self.rule_domains.is_empty() => {
                if under(&self.rule_domains) {
                    Domain::Inside
                } else {
                    Domain::Outside
                }
            }
            _ => Domain::Unruled,
        };
        Piece {
            kind,
            text,
            origin,
            at,
            domain: ruled,
            foreign: domain.is_some() && !under(&self.user_domains),
        }
    }
}

fn collect(key: &str, value: &Value, out: &mut Vec<Leaf>) {
    match value {
        Value::Null => {}
        Value::Bool(flag) => out.push(Leaf { key: key.into(), value: flag.to_string(), pieces: Vec::new() }),
        Value::Number(number) => {
            out.push(Leaf { key: key.into(), value: number.to_string(), pieces: Vec::new() })
        }
        Value::String(text) => out.push(Leaf { key: key.into(), value: text.clone(), pieces: Vec::new() }),
        Value::Array(items) => items.iter().for_each(|item| collect(key, item, out)),
        Value::Object(fields) => fields.iter().for_each(|(name, inner)| collect(name, inner, out)),
    }
}

/// The pieces of one value, each with its domain if it has one.
fn pieces(value: &str) -> Vec<(Kind, String, Option<String>)> {
    let value = value.trim();
    if value.is_empty() || value == "true" || value == "false" {
        return Vec::new();
    }
    let ends: Vec<&str> = if value.len() <= MAX_SEARCHED {
        vec![value]
    } else {
        let (head, tail) = (edge(value, MAX_SEARCHED / 2), edge(value, value.len() - MAX_SEARCHED / 2));
        vec![&value[..head], &value[tail..]]
    };
    let mut out: Vec<(Kind, String, Option<String>)> = Vec::new();
    for part in &ends {
        // Links first: what stands before an @ in one is no mailbox.
        let patterns = [
            (Kind::Url, &LINK),
            (Kind::Email, &EMAIL),
            (Kind::Url, &HOST),
            (Kind::Path, &PATH),
            (Kind::Id, &ID),
        ];
        for (kind, regex) in patterns {
            for found in regex.captures_iter(part) {
                let text = found[0].trim_end_matches(['.', ',', ';', ':']);
                let known = out.iter().any(|(_, seen, _)| seen.contains(text));
                if text.chars().count() < 4 || known {
                    continue;
                }
                let host = found.get(1).map(|m| host_of(m.as_str()));
                out.push((kind, text.to_string(), host));
                if out.len() == MAX_PIECES_OF_VALUE {
                    return out;
                }
            }
        }
    }
    if value.chars().count() <= SHORT {
        if out.is_empty() {
            out.push((Kind::Value, value.to_string(), None));
        }
        return out;
    }
    for found in ends.iter().flat_map(|part| NAME.find_iter(part)) {
        if out.len() == MAX_PIECES_OF_VALUE {
            break;
        }
        let text = found.as_str();
        if !out.iter().any(|(_, seen, _)| seen.contains(text)) {
            out.push((Kind::Name, text.to_string(), None));
        }
    }
    out
}

/// The host of a URL's authority: without user, password and port, in lower case.
fn host_of(authority: &str) -> String {
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.split(':').next().unwrap_or(host);
    host.trim_end_matches('.').to_lowercase()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn leaves(check: Value) -> Vec<Leaf> {
        let check: Check = serde_json::from_value(check).unwrap();
        Places::of(&check).leaves(&check)
    }

    #[test]
    fn origins_and_domains() {
        let leaves = leaves(json!({
            "action": {"tool": "x.y", "args": {
                "to": "ann@corp.test", "cc": ["Bo@evil.example.com"], "note": {"path": "/srv/data.csv"},
                "url": "https://docs.corp.test/a", "n": 42, "deep": null, "proxy": "https://corp.test@evil.example/x"
            }},
            "intent": "Write to Ann@Corp.test", "constraints": ["Nothing may leave corp.test"],
            "context": "[a.b] file /srv/data.csv, id 42"
        }));
        let seen: Vec<_> = leaves
            .iter()
            .map(|l| (l.key.as_str(), l.pieces[0].kind, l.origin(), l.pieces[0].domain))
            .collect();
        assert_eq!(
            seen,
            [
                ("to", Kind::Email, Origin::User, Domain::Inside),
                ("cc", Kind::Email, Origin::Nowhere, Domain::Outside),
                ("path", Kind::Path, Origin::Context, Domain::Unruled),
                ("url", Kind::Url, Origin::Nowhere, Domain::Inside),
                ("n", Kind::Value, Origin::Context, Domain::Unruled),
                ("proxy", Kind::Url, Origin::Nowhere, Domain::Outside),
            ]
        );
    }

    #[test]
    fn a_suffix_is_not_a_domain() {
        let leaves = leaves(json!({
            "action": {"tool": "x.y", "args": {"url": "https://notcorp.test/"}},
            "intent": "", "constraints": ["only corp.test"]
        }));
        assert_eq!(leaves[0].pieces[0].domain, Domain::Outside);
        assert!(leaves[0].pieces[0].foreign);
    }

    #[test]
    fn long_values_give_names_and_numbers() {
        let body =
            "Dear Ann, the Helsinki order of 1,250.00 is late and it will reach Oslo only next week, sorry.";
        let found: Vec<_> = pieces(body).into_iter().map(|(kind, text, _)| (kind, text)).collect();
        assert!(found.contains(&(Kind::Name, "Helsinki".into())), "{found:?}");
        assert!(found.len() <= MAX_PIECES_OF_VALUE);
        let huge = format!("{}{body}", "word ".repeat(100_000));
        assert!(pieces(&huge).iter().any(|(_, text, _)| text == "Oslo"));
    }
}
