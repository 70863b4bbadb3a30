//! What looks like a secret is replaced before it is written: by a marker that says of what kind it was, with a digest
//! by which equal ones are recognised within a run, and only there (its key is never kept). Decides nothing about
//! calls, and never changes what a tool, the script or the caller gets.
//!
//! Found are texts of a well-known form, what stands behind names such as `password`, and what the user's own patterns
//! name. UUIDs, digests, ids and encoded images have no such form and stay.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value};
use sha2::Sha256;
use wildmatch::WildMatch;

use super::facts::{RecordedFacts, cut};
use super::journal::Entry;
use crate::constraints::Explained;
use crate::sandbox::hex;
use crate::secret_file::random_key;
use crate::secrets::{Name, Secret, name, secrets_in, secrets_under};
use crate::{CallReport, Error, Report, Result};

/// Bytes of the digest in a marker.
const SHOWN: usize = 6;

/// Replaces secrets, with one key. A clone has the same key: what one writes is known again by the other.
#[derive(Clone)]
pub struct Redactor {
    key: [u8; 32],
    patterns: Vec<WildMatch>,
}

/// Where a leaf stands.
struct Place {
    /// JSON pointer, without secrets; to what a pattern of the user's names, if one does.
    path: String,
    /// What the nearest name above says.
    under: Name,
    /// A pattern of the user's names it.
    named: bool,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let patterns: Vec<String> = self.patterns.iter().map(WildMatch::pattern).collect();
        f.debug_struct("Redactor").field("patterns", &patterns).finish_non_exhaustive()
    }
}

impl Redactor {
    /// With a new key. A pattern, such as `*.password` or `crm/create.*.pin`, is held against `server/tool.name.name`
    /// of an argument; `*` and `?` stand for others, and lists add nothing to the name.
    ///
    /// # Errors
    /// If a pattern is empty, or the system gives no random bytes.
    pub fn new(patterns: &[String]) -> Result<Self> {
        if patterns.iter().any(|pattern| pattern.trim().is_empty()) {
            return Err(Error::Setting("record.redact: a pattern is empty; write one such as *.pin".into()));
        }
        let key = random_key()?;
        let patterns = patterns.iter().map(|pattern| WildMatch::new_case_insensitive(pattern)).collect();
        Ok(Self { key, patterns })
    }

    /// The text without its secrets.
    pub fn text(&self, text: &str) -> String {
        self.without(text, &secrets_in(text))
    }

    fn without(&self, text: &str, secrets: &[Secret]) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for secret in secrets {
            out.push_str(&text[at..secret.start]);
            out.push_str(&self.marker(secret.kind, &text[secret.start..secret.end]));
            at = secret.end;
        }
        out.push_str(&text[at..]);
        out
    }

    /// The value without its secrets. `path` is what patterns see of where it stands.
    pub fn value(&self, path: &str, value: &Value) -> Value {
        self.inner(path, Name::Plain, value)
    }

    fn inner(&self, path: &str, under: Name, value: &Value) -> Value {
        match value {
            Value::Object(fields) => Value::Object(self.fields(path, fields)),
            Value::Array(items) => items.iter().map(|item| self.inner(path, under, item)).collect(),
            Value::String(text) => self.without(text, &secrets_under(under, text)).into(),
            Value::Number(number) if under == Name::Password => {
                self.marker(under.kind(), &number.to_string()).into()
            }
            other => other.clone(),
        }
    }

    fn fields(&self, path: &str, fields: &Map<String, Value>) -> Map<String, Value> {
        let mut out = Map::with_capacity(fields.len());
        for (key, value) in fields {
            let path = format!("{path}.{key}");
            let named = self.patterns.iter().any(|pattern| pattern.matches(&path));
            let value = match named && !value.is_null() {
                true => {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    self.marker("pattern", &text).into()
                }
                false => self.inner(&path, name(key), value),
            };
            // A name can hold a secret too.
            out.insert(self.text(key), value);
        }
        out
    }

    pub(super) fn entry(&self, entry: &Entry) -> Entry {
        let mut entry = entry.clone();
        match &mut entry {
            Entry::Attempt(attempt) => {
                attempt.arguments = self.value(&attempt.tool, &attempt.arguments);
                attempt.tool = self.text(&attempt.tool);
            }
            Entry::Outcome(outcome) => {
                for reason in &mut outcome.reasons {
                    reason.message = self.text(&reason.message);
                }
                for value in &mut outcome.beside {
                    *value = self.value("beside", value);
                }
                if let Some(label) = &mut outcome.result_label {
                    label.each_text(|text| *text = self.text(text));
                }
                if let Some(facts) = &mut outcome.facts {
                    self.facts(facts);
                }
            }
            Entry::End(_) => {}
        }
        entry
    }

    /// What was known of a call, without secrets, and cut to what is kept of it. Cut last: of half a secret nobody
    /// could tell that it is one.
    fn facts(&self, facts: &mut RecordedFacts) {
        for argument in &mut facts.arguments {
            let place = self.place(&facts.tool, &argument.path);
            argument.value = argument.value.take().map(|value| cut(self.at(&place, &value)));
            argument.path = place.path;
        }
        for finding in &mut facts.findings {
            finding.path = finding.path.take().map(|path| self.place(&facts.tool, &path).path);
            finding.message = cut(self.text(&finding.message));
        }
        facts.tool = self.text(&facts.tool);
    }

    /// The text of a leaf without its secrets, by what holds where it stands.
    fn at(&self, place: &Place, text: &str) -> String {
        if place.named {
            return self.marker("pattern", text);
        }
        self.without(text, &secrets_under(place.under, text))
    }

    /// What holds at a place in the arguments of a tool.
    fn place(&self, tool: &str, pointer: &str) -> Place {
        let (mut path, mut under) = (tool.to_owned(), Name::Plain);
        let mut end = 0;
        for part in pointer.split('/').skip(1) {
            end += 1 + part.len();
            let part = part.replace("~1", "/").replace("~0", "~");
            let longer = format!("{path}.{part}");
            if self.patterns.iter().any(|pattern| pattern.matches(&longer)) {
                // Nor is it said what there is below it.
                return Place { path: self.text(&pointer[..end]), under, named: true };
            }
            // Lists add nothing to the name.
            if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
                (path, under) = (longer, name(&part));
            }
        }
        Place { path: self.text(pointer), under, named: false }
    }

    /// The user's rules, without secrets.
    pub(super) fn clauses(&self, clauses: &mut [Explained]) {
        for clause in clauses {
            clause.text = self.text(&clause.text);
            clause.checked = clause.checked.take().map(|checked| self.text(&checked));
        }
    }

    pub(super) fn report(&self, report: &mut Report) {
        report.value = self.value("value", &report.value);
        for text in [&mut report.stdout, &mut report.stderr].into_iter().chain(&mut report.warnings) {
            *text = self.text(text);
        }
        if let Some(error) = &mut report.error {
            error.message = self.text(&error.message);
            error.stack = self.text(&error.stack);
        }
        report.calls.iter_mut().for_each(|call| self.call(call));
        self.clauses(&mut report.clauses);
    }

    fn call(&self, call: &mut CallReport) {
        call.arguments = self.value(&call.tool, &call.arguments);
        call.tool = self.text(&call.tool);
        for reason in &mut call.reasons {
            reason.message = self.text(&reason.message);
        }
    }

    fn marker(&self, kind: &str, secret: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("any length of key is good for HMAC");
        mac.update(secret.as_bytes());
        format!("[redacted {kind} {}]", hex(&mac.finalize().into_bytes()[..SHOWN]))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    fn redactor(patterns: &[&str]) -> Redactor {
        Redactor::new(&patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn values_under_telling_names_are_replaced() {
        let value = json!({
            "user": "ann", "password": "correct horse", "profile": {"apiKey": "a1b2c3d4e5f6a7b8", "pwd": 12345},
            "headers": {"Authorization": "Bearer abcdef0123456789", "Cookie": "session=a81f; theme=dark"},
            "items": [{"client_secret": "Zx9-44kk-LLm2"}], "db_passwords": ["hunter2"], "passwd": ["hunter2"],
        });
        let text = redactor(&[]).value("t/x", &value).to_string();
        for gone in ["correct horse", "a1b2c3d4e5f6a7b8", "12345,", "abcdef0123456789", "a81f", "Zx9-44kk"] {
            assert!(!text.contains(gone), "{gone} in {text}");
        }
        assert!(text.contains("\"user\":\"ann\""), "{text}");
        assert_eq!(text.matches("hunter2").count(), 1, "a list takes the name of its field: {text}");
    }

    #[test]
    fn values_that_tell_nothing_stay() {
        let value = json!({
            "id": "550e8400-e29b-41d4-a716-446655440000",
            "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "commit": "9fceb02d0ae598e95dc970b74767f19372d61af8",
            "image": format!("data:image/png;base64,{}", "iVBORw0KGgoAAAANSUhEUgAAAAUA".repeat(20)),
            "nextPageToken": "CiAKGjBpNDd2Nmp2Zml2cXRwb8", "max_tokens": 4096, "token_count": "1200000",
            "token": "bitcoin", "secret_name": "db/prod-9", "password": "", "password_hint": "the 1st pet's name",
            "public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKJ9", "key": "PROJ-1234", "secret": "a surprise party",
            "note": "Password: must have at least 8 characters.", "iban": "DE89370400440532013000",
            "url": "https://shop.example/item?id=8842712&ref=mail#top", "count": 7, "none": null, "yes": true,
        });
        assert_eq!(redactor(&[]).value("t/x", &value), value);
    }

    #[test]
    fn equal_secrets_are_equal_within_a_run_only() {
        let (one, other) = (redactor(&[]), redactor(&[]));
        let value = json!({"password": "hunter2"});
        assert_eq!(one.value("a", &value), one.value("b", &value));
        assert_ne!(one.value("a", &value), other.value("a", &value));
        assert_ne!(one.value("a", &value), one.value("a", &json!({"password": "hunter3"})));
        let once = one.value("a", &value);
        assert_eq!(one.value("a", &once), once, "a marker is no secret");
    }

    #[test]
    fn patterns_name_arguments() {
        let redactor = redactor(&["*.pin", "crm/create.person.birth*"]);
        let value = json!({"pin": 1234, "person": {"birthday": "1980-01-01", "name": "Ann"}, "people": [{"pin": "0000"}]});
        let text = redactor.value("crm/create", &value).to_string();
        assert!(!["1234", "1980", "0000"].iter().any(|gone| text.contains(gone)), "{text}");
        assert!(text.contains("Ann"));
        assert!(redactor.value("crm/update", &value).to_string().contains("1980"));
        assert!(Redactor::new(&[" ".into()]).is_err());
    }
}
