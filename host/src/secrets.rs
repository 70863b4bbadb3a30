//! The forms by which secrets are known, as plain scanners over bytes: nothing here can take more than linear time,
//! and a form has to be exact enough that ordinary text does not have it.

/// A stretch of a text that looks like a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Secret {
    /// What it looks like, such as `github-token`.
    pub kind: &'static str,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// A token that begins with `prefix` and goes on with at least `least` bytes that `of` takes.
struct Form {
    kind: &'static str,
    prefix: &'static str,
    least: usize,
    of: fn(u8) -> bool,
}

const fn form(kind: &'static str, prefix: &'static str, least: usize, of: fn(u8) -> bool) -> Form {
    Form { kind, prefix, least, of }
}

const fn alnum(c: u8) -> bool {
    c.is_ascii_alphanumeric()
}

const fn word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}

const fn base64url(c: u8) -> bool {
    word(c) || c == b'-'
}

const fn upper(c: u8) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit()
}

const FORMS: &[Form] = &[
    form("aws-key", "AKIA", 16, upper),
    form("aws-key", "ASIA", 16, upper),
    form("aws-key", "ABIA", 16, upper),
    form("aws-key", "ACCA", 16, upper),
    form("github-token", "ghp_", 30, alnum),
    form("github-token", "gho_", 30, alnum),
    form("github-token", "ghu_", 30, alnum),
    form("github-token", "ghs_", 30, alnum),
    form("github-token", "ghr_", 30, alnum),
    form("github-token", "github_pat_", 22, word),
    form("gitlab-token", "glpat-", 20, base64url),
    form("slack-token", "xoxb-", 10, base64url),
    form("slack-token", "xoxp-", 10, base64url),
    form("slack-token", "xoxa-", 10, base64url),
    form("slack-token", "xoxr-", 10, base64url),
    form("slack-token", "xoxs-", 10, base64url),
    form("slack-token", "xoxe-", 10, base64url),
    form("slack-token", "xoxe.", 10, base64url),
    form("slack-token", "xapp-", 10, base64url),
    form("stripe-key", "sk_live_", 16, alnum),
    form("stripe-key", "sk_test_", 16, alnum),
    form("stripe-key", "rk_live_", 16, alnum),
    form("stripe-key", "rk_test_", 16, alnum),
    form("stripe-key", "whsec_", 24, alnum),
    form("google-key", "AIza", 35, base64url),
    form("google-token", "ya29.", 20, base64url),
    form("npm-token", "npm_", 36, alnum),
    form("pypi-token", "pypi-AgE", 40, base64url),
    form("huggingface-token", "hf_", 30, alnum),
    form("digitalocean-token", "dop_v1_", 60, alnum),
    form("age-key", "AGE-SECRET-KEY-1", 40, upper),
];

/// Bytes of a value that tell whether it looks like a secret.
const TOLD_BY: usize = 256;

/// The secrets in a text that stands under a name: all of it, if the name says so.
pub(crate) fn secrets_under(name: Name, text: &str) -> Vec<Secret> {
    let secrets = secrets_in(text);
    match secrets[..] {
        _ if !name.hides(text) => secrets,
        // Its own form says more than the name.
        [Secret { start: 0, end, .. }] if end == text.len() => secrets,
        _ => vec![Secret { kind: name.kind(), start: 0, end: text.len() }],
    }
}

/// The secrets in a text, in order and apart from each other.
pub fn secrets_in(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut found: Vec<Secret> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let secret = match bytes[at] {
            b'=' | b':' => assigned(text, at),
            b'-' if bytes[at..].starts_with(b"-----BEGIN ") => private_key(text, at),
            b'@' => in_address(bytes, at),
            c if word(c) && (at == 0 || !word(bytes[at - 1])) => token(bytes, at),
            _ => None,
        };
        // What has been taken is not looked at again: a text of nothing but beginnings costs no more than another.
        at = secret.map_or(0, |secret| secret.end).max(at + 1);
        found.extend(secret);
    }
    found.sort_by_key(|secret| (secret.start, std::cmp::Reverse(secret.end)));
    let mut apart: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match apart.last_mut() {
            Some(last) if secret.start < last.end => last.end = last.end.max(secret.end),
            _ => apart.push(secret),
        }
    }
    apart
}

/// A token of a known form at the beginning of a word.
fn token(bytes: &[u8], start: usize) -> Option<Secret> {
    let rest = &bytes[start..];
    // Where a hyphen can be part of a token, what begins after one was looked at together with what is before it.
    let inside = start > 0 && bytes[start - 1] == b'-';
    let here = |form: &&Form| rest.starts_with(form.prefix.as_bytes()) && !(inside && (form.of)(b'-'));
    for form in FORMS.iter().filter(here) {
        let length = run(&rest[form.prefix.len()..], form.of);
        let end = start + form.prefix.len() + length;
        // A key of a fixed length that goes on is something else.
        let goes_on = bytes.get(end).is_some_and(|c| word(*c));
        let exact = form.kind != "aws-key" || length == form.least;
        if length >= form.least && exact && !goes_on {
            return Some(Secret { kind: form.kind, start, end });
        }
    }
    match rest[0] {
        _ if inside => None,
        b's' if rest.starts_with(b"sk-") => {
            let end = 3 + run(&rest[3..], base64url);
            // Names of styles and packages begin so too; a key has a long part of letters and digits.
            let random = rest[3..end].split(|c| !alnum(*c)).any(|part| part.len() >= 12 && mixed(part));
            (end >= 19 && random).then_some(Secret { kind: "api-key", start, end: start + end })
        }
        b'e' if rest.starts_with(b"eyJ") => {
            jwt(rest).map(|length| Secret { kind: "jwt", start, end: start + length })
        }
        b'B' | b'b' => {
            let scheme = rest.get(..7).filter(|s| s.eq_ignore_ascii_case(b"bearer "));
            let scheme = scheme.or_else(|| rest.get(..6).filter(|s| s.eq_ignore_ascii_case(b"basic ")))?;
            let value = &rest[scheme.len()..];
            let length = run(value, |c| base64url(c) || b".~+/=".contains(&c));
            (length >= 16 && mixed(&value[..length])).then_some(Secret {
                kind: "bearer",
                start: start + scheme.len(),
                end: start + scheme.len() + length,
            })
        }
        _ => None,
    }
}

/// Three parts of base64url, of which two begin as JSON objects do.
fn jwt(rest: &[u8]) -> Option<usize> {
    let head = run(rest, base64url);
    let claims =
        rest.get(head..).filter(|rest| rest.starts_with(b".eyJ")).map(|rest| run(&rest[1..], base64url))?;
    let signature = rest.get(head + 1 + claims..).filter(|rest| rest.starts_with(b"."))?;
    let signature = run(&signature[1..], base64url);
    (head >= 10 && claims >= 10).then_some(head + claims + signature + 2)
}

/// A block from its BEGIN to its END, or to the end of the text.
fn private_key(text: &str, start: usize) -> Option<Secret> {
    let label = &text[start + 11..text.floor_char_boundary(text.len().min(start + 80))];
    let label = &label[..label.find("-----")?];
    if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let body = start + 11 + label.len() + 5;
    let closing = format!("-----END {label}-----");
    let end = text[body..].find(&closing).map_or(text.len(), |at| body + at + closing.len());
    Some(Secret { kind: "private-key", start, end })
}

/// The password in `scheme://user:password@host`.
fn in_address(bytes: &[u8], at: usize) -> Option<Secret> {
    let part = |c: &u8| !c.is_ascii_whitespace() && !b"/\"'<>@".contains(c);
    let start = at - bytes[..at].iter().rev().take(256).take_while(|c| part(c)).count();
    bytes[..start].ends_with(b"://").then_some(())?;
    let colon = start + bytes[start..at].iter().position(|c| *c == b':')?;
    let (start, end) = (colon + 1, at);
    let shown = b"[$<{*%".contains(bytes.get(start)?);
    (end > start && !shown).then_some(Secret { kind: "password", start, end })
}

/// What stands behind a telling name and `=` or `:`.
fn assigned(text: &str, at: usize) -> Option<Secret> {
    let bytes = text.as_bytes();
    let (before, after) = (&bytes[..at], &bytes[at + 1..]);
    if after.first().is_some_and(|c| b"=>:/".contains(c))
        || before.last().is_some_and(|c| b"=!<>:".contains(c))
    {
        return None;
    }
    let blanks = before.iter().rev().take(3).take_while(|c| **c == b' ').count();
    let before = &before[..before.len() - blanks];
    let quotes = before.iter().rev().take(2).take_while(|c| b"\"'\\".contains(c)).count();
    let before = &before[..before.len() - quotes];
    let long = before.iter().rev().take(48).take_while(|c| base64url(**c)).count();
    let name = name(std::str::from_utf8(&before[before.len() - long..]).ok()?);
    if name == Name::Plain {
        return None;
    }
    let mut start = at + 1 + after.iter().take(3).take_while(|c| **c == b' ').count();
    let quote = bytes[start..].iter().take(2).take_while(|c| b"\"'\\".contains(c)).count();
    start += quote;
    for scheme in ["bearer ", "basic ", "token "] {
        if bytes.get(start..start + scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme.as_bytes())) {
            start += scheme.len();
        }
    }
    let of = |c: u8| !c.is_ascii_whitespace() && !c.is_ascii_control() && !b"\"'`&,;<>\\".contains(&c);
    // Its beginning tells whether it is one; only then is it read to its end.
    let first = run(bytes[start..].get(..TOLD_BY).unwrap_or(&bytes[start..]), of);
    let value = &text[start..text.floor_char_boundary(start + first)];
    // In prose a name is followed by words; only what no word looks like is a value there.
    let prose = quote == 0 && bytes[at] == b':';
    let value = if prose { value.trim_end_matches(['.', '!', '?', ')']) } else { value };
    let strange = value.len() >= 6 && mixed(value.as_bytes());
    let hides = match name {
        Name::Password => value.len() >= 4 && !is_a_kind(value) && (!prose || strange),
        _ => true,
    };
    let code = value.contains('(') || value.split('.').count() > 1 && value.split('.').all(|p| p.len() < 16);
    if !hides || (code && name != Name::Password) || !name.hides(value) {
        return None;
    }
    let end = if first < TOLD_BY { start + value.len() } else { start + run(&bytes[start..], of) };
    Some(Secret { kind: name.kind(), start, end })
}

/// The words that stand where a value would, in schemas and documentation.
fn is_a_kind(value: &str) -> bool {
    let known = [
        "string",
        "text",
        "number",
        "integer",
        "boolean",
        "object",
        "null",
        "none",
        "true",
        "false",
        "undefined",
        "required",
        "optional",
        "password",
        "secret",
        "hidden",
        "masked",
    ];
    known.iter().any(|word| value.eq_ignore_ascii_case(word))
}

fn run(bytes: &[u8], of: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|c| of(**c)).count()
}

/// Letters and digits both.
fn mixed(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic)
}

/// What a field's name tells about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// Nothing.
    Plain,
    /// Whatever it is, it is secret.
    Password,
    /// Secret, if it looks like something that was made by a machine.
    Key,
    /// A header, which may have several parts.
    Header,
}

impl Name {
    /// The kind of secret under such a name.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Plain | Self::Key | Self::Header => "secret",
        }
    }

    /// Whether this value under such a name is a secret as a whole.
    fn hides(self, value: &str) -> bool {
        let placeholder = value.starts_with(['$', '<', '{', '*', '%', '['])
            || value.starts_with("process.env")
            || value.starts_with("os.environ");
        if placeholder || value.is_empty() {
            return false;
        }
        let bytes = value.as_bytes();
        let made = bytes.len() >= 8 && mixed(bytes) || bytes.len() >= 20 && unlike_words(bytes);
        match self {
            Self::Plain => false,
            Self::Password => true,
            Self::Key => made && !value.contains(char::is_whitespace),
            Self::Header => made,
        }
    }
}

/// Capitals after small letters, more than once: as in random text, not in words.
fn unlike_words(text: &[u8]) -> bool {
    text.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count() > 1
}

/// What this name of a field tells.
pub(crate) fn name(name: &str) -> Name {
    if name.len() > 64 {
        return Name::Plain;
    }
    let words = words(name);
    let whole = words.concat();
    let last = words.last().map(String::as_str).unwrap_or_default();
    let any = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
    let ends = |of: &[&str]| of.iter().any(|end| whole.ends_with(end));
    if any(&["public", "max", "min", "page", "next", "prev", "previous", "cursor", "continuation", "sync"]) {
        Name::Plain
    } else if matches!(last, "pwd" | "passcode") || ends(&["password", "passwd", "passphrase"]) {
        Name::Password
    } else if matches!(last, "authorization" | "cookie") {
        Name::Header
    } else if matches!(last, "secret" | "token" | "credential" | "credentials" | "bearer" | "jwt" | "otp")
        || ends(&["apikey", "accesskey", "secretkey", "privatekey", "authkey", "signingkey", "encryptionkey"])
        || ends(&["clientsecret", "authtoken", "accesstoken", "refreshtoken"])
    {
        Name::Key
    } else {
        Name::Plain
    }
}

/// `apiKey`, `API_KEY` and `api-key` are the same two words.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut small_before = false;
    let mut open = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            (open, small_before) = (false, false);
            continue;
        }
        let begins = !open || (small_before && c.is_uppercase());
        small_before = !c.is_uppercase();
        open = true;
        match words.last_mut().filter(|_| !begins) {
            Some(word) => word.extend(c.to_lowercase()),
            None => words.push(c.to_lowercase().collect()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<(&'static str, &str)> {
        secrets_in(text).into_iter().map(|s| (s.kind, &text[s.start..s.end])).collect()
    }

    /// Put together here, so that no scanner of source code takes them for real ones.
    fn made(prefix: &str, length: usize) -> String {
        format!("{prefix}{}", "a1B2c3D4e5F6g7H8".chars().cycle().take(length).collect::<String>())
    }

    #[test]
    fn known_forms_are_found_whole() {
        let upper = "A1B2C3D4E5F6G7H8";
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl";
        for (kind, secret) in [
            ("aws-key", format!("AKIA{upper}")),
            ("github-token", made("ghp_", 36)),
            ("github-token", made("github_pat_", 82)),
            ("gitlab-token", made("glpat-", 20)),
            ("slack-token", made("xoxb-123-", 24)),
            ("api-key", made("sk-", 40)),
            ("api-key", made("sk-ant-api03-", 60)),
            ("api-key", made("sk-proj-", 60)),
            ("stripe-key", made("sk_live_", 24)),
            ("google-key", made("AIza", 35)),
            ("jwt", jwt.to_owned()),
            ("npm-token", made("npm_", 36)),
            (
                "private-key",
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----".into(),
            ),
        ] {
            for text in [secret.clone(), format!("use {secret}, please"), format!("{{\"x\":\"{secret}\"}}")] {
                assert_eq!(found(&text), [(kind, secret.as_str())], "{text}");
            }
        }
    }

    #[test]
    fn what_stands_behind_a_name_is_found() {
        for (text, secret) in [
            ("password=hunter22", "hunter22"),
            ("https://a.example/x?user=ann&api_key=a1b2c3d4e5f6&x=1", "a1b2c3d4e5f6"),
            ("export DB_PASSWORD='s3cret-one'", "s3cret-one"),
            ("{\"client_secret\": \"Zx944kkLLm2\"}", "Zx944kkLLm2"),
            ("{\\\"password\\\":\\\"letmein\\\"}", "letmein"),
            ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
            ("postgres://app:pa55@db.example:5432/x", "pa55"),
            ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCY", "wJalrXUtnFEMIK7MDENGbPxRfiCY"),
            ("Your new password: Tr0ub4dor.", "Tr0ub4dor"),
        ] {
            assert_eq!(found(text).iter().map(|(_, s)| *s).collect::<Vec<_>>(), [secret], "{text}");
        }
    }

    /// A megabyte of beginnings: what takes the square of its length would take minutes. Measured in computing time,
    /// for a busy machine is late everywhere.
    #[cfg(unix)]
    #[test]
    fn no_text_takes_long() {
        use rustix::time::{ClockId, clock_gettime};
        let seconds = || clock_gettime(ClockId::ThreadCPUTime).tv_sec;
        let parts = [
            "sk-",
            "eyJ-",
            "eyJa.",
            "token=",
            "password: ",
            "-----BEGIN ",
            "-----BEGIN A PRIVATE KEY-----",
            "://a:",
            "@",
            "bearer ",
        ];
        for part in parts {
            let began = seconds();
            secrets_in(&part.repeat((1 << 20) / part.len()));
            assert!(seconds() - began < 10, "{part}");
        }
    }

    #[test]
    fn a_long_secret_is_found_to_its_end() {
        let long = format!("password={}", "\u{e9}1".repeat(1000));
        assert_eq!(found(&long), [("password", &long[9..])]);
    }

    #[test]
    fn ordinary_text_has_none() {
        for text in [
            "Password: please choose one with at least 8 characters",
            "The token: a symbol of 12 tribes. The secret: there is none.",
            "password=${DB_PASSWORD} token=$TOKEN api_key=<your-key> password=********",
            "{\"password\": \"string\", \"type\": \"object\"}",
            "const token = getToken(user, 2); if (password == other) {}",
            "token = response.data.token1;",
            "sk-fading-circle sk-learn sk-2024-01-01 task-1234567890123456",
            "550e8400-e29b-41d4-a716-446655440000 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "mail ann@corp.example at https://corp.example/a@b or ssh://git@host.example/x",
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----",
            "AKIA is how they begin, as in AKIA0123456789ABCDEFGHIJ",
            "max_tokens=4096&next_page_token=CiAKGjBpNDd2Nmp2Zml2",
            "bearer of bad news; Bearer authenticationscheme",
            "eyJhbGciOiJIUzI1NiJ9 alone",
            "",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "[ -~\\n\u{e9}\u{4e2d}]{0,200}|(password|token|://|@|:|=|\"|-----BEGIN | PRIVATE KEY-----|sk-|eyJ|\u{e9}){0,30}") {
            let mut at = 0;
            for secret in secrets_in(&text) {
                prop_assert!(at <= secret.start && secret.start < secret.end, "{:?}", secret);
                prop_assert!(text.get(secret.start..secret.end).is_some());
                at = secret.end;
            }
        }
    }
}
