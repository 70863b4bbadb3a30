//! What the report and the record say of what was in a result.

use serde::{Deserialize, Serialize};

/// What became of a result. Each is stricter than the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Became {
    /// The script got it as it was.
    #[default]
    Passed,
    /// The script got it with markers in the place of what was found.
    Redacted,
    /// The script got an error instead.
    Blocked,
}

/// What was found in a result, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultLabel {
    /// What became of it.
    pub became: Became,
    /// Stretches that give orders to whoever reads them; the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<Planted>,
    /// What looks like a secret; the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<FoundSecret>,
    /// Finds beside those above.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u32,
    /// Bytes at its end that were not searched.
    #[serde(default, skip_serializing_if = "is_zero_bytes")]
    pub unsearched: u64,
}

/// A stretch that gives orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planted {
    /// The text it stands in, as a JSON pointer into the result; empty for a result that is a text.
    pub path: String,
    /// How much its strongest sentence reads like an order: 1 is a plain request, 4 is somebody taking over.
    pub strength: f32,
    /// Nobody could read it as it stood.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub encoded: bool,
    /// Its beginning. Only in the record: what a model may read does not repeat it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What looks like a secret. Itself it is not told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundSecret {
    /// The text it stands in, as a JSON pointer into the result.
    pub path: String,
    /// What it looks like, such as `github-token`.
    pub kind: String,
}

/// The most of a stretch that is kept.
const SHOWN: usize = 300;
/// The most finds of a kind that are listed.
const LISTED: usize = 10;

impl Planted {
    pub(super) fn new(path: String, strength: f32, encoded: bool, text: Option<&str>) -> Self {
        let shown = |text: &str| text[..text.floor_char_boundary(text.len().min(SHOWN))].trim().to_owned();
        // To the hundredth: what is behind it says nothing.
        let strength = (strength * 100.0).round() / 100.0;
        Self { path, strength, encoded, text: text.map(shown) }
    }
}

impl ResultLabel {
    /// Of what was found in the result, and beside it.
    pub(crate) fn new(became: Became, found: &super::Found, beside: &[super::Found]) -> Option<Self> {
        let all = || std::iter::once(found).chain(beside);
        if all().all(super::Found::is_nothing) {
            return None;
        }
        let at = |index: usize, path: &str| match index {
            0 => path.to_owned(),
            index => format!("beside/{}{path}", index - 1),
        };
        let mut label =
            Self { became, unsearched: all().map(|found| found.unsearched).sum(), ..Self::default() };
        let mut count = 0;
        for (index, found) in all().enumerate() {
            count += found.planted.len() + found.secrets.len();
            let room = LISTED - label.instructions.len();
            label.instructions.extend(
                found.planted.iter().take(room).map(|of| Planted { path: at(index, &of.path), ..of.clone() }),
            );
            let room = LISTED - label.secrets.len();
            label.secrets.extend(
                found
                    .secrets
                    .iter()
                    .take(room)
                    .map(|of| FoundSecret { path: at(index, &of.path), ..of.clone() }),
            );
        }
        let listed = label.instructions.len() + label.secrets.len();
        label.more = u32::try_from(count - listed).unwrap_or(u32::MAX);
        Some(label)
    }

    /// For whoever may be a model: without the words that were found.
    #[must_use]
    pub(crate) fn without_texts(mut self) -> Self {
        self.instructions.iter_mut().for_each(|planted| planted.text = None);
        self
    }

    /// Changes the texts in it, as when secrets are left out.
    pub(crate) fn each_text(&mut self, mut change: impl FnMut(&mut String)) {
        for planted in &mut self.instructions {
            change(&mut planted.path);
            if let Some(text) = &mut planted.text {
                change(text);
            }
        }
        self.secrets.iter_mut().for_each(|secret| change(&mut secret.path));
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        let mut parts = Vec::new();
        match self.instructions.len() {
            0 => {}
            1 => parts.push("text that gives orders".to_owned()),
            n => parts.push(format!("{n} texts that give orders")),
        }
        let kinds = kinds(&self.secrets);
        if !kinds.is_empty() {
            parts.push(format!("secrets ({})", kinds.join(", ")));
        }
        if self.more > 0 {
            parts.push(format!("{} more", self.more));
        }
        if self.unsearched > 0 {
            parts.push(format!("{} bytes that were not searched", self.unsearched));
        }
        let became = match self.became {
            Became::Passed => "passed on with a label",
            Became::Redacted => "redacted",
            Became::Blocked => "withheld from the script",
        };
        format!("{}; {became}", parts.join(", "))
    }
}

/// The kinds of these, each once, in order.
pub(crate) fn kinds(secrets: &[FoundSecret]) -> Vec<&str> {
    let mut kinds: Vec<&str> = secrets.iter().map(|secret| secret.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_zero_bytes(bytes: &u64) -> bool {
    *bytes == 0
}
