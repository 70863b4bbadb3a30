//! The ledger: every value that has come into the run, from whom, and under which label. It says where
//! the values of a call came from; what follows from that, the policy says.
//!
//! ```text
//! labels     what servers and tools are labelled with, in the configuration and by their hints
//! acts       what a tool does, as far as its name and hints tell
//! inputs     the texts of the files that the user handed over
//! flows      which data that not everybody may see goes into a call
//! origins    what is to be said of a call's values
//! excerpts   what of the results the guard is shown
//! ```
//!
//! The matching itself is `postern_check::evidence`: the same in training, in the worker and here.
//! What must never be here: a verdict, and anything that outlives the run.

mod acts;
mod excerpts;
mod flows;
pub(crate) mod inputs;
mod labels;
mod origins;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use postern_check::evidence::{Evidence, Sources, Trust};
use postern_check::{Action, Trigger};
use serde_json::Value;

use crate::policy::{Holds, Labels};

pub(crate) use acts::Acts;
pub use inputs::{InputLabels, InputRules, PathLabels};
pub use labels::{LabelConfig, ToolLabelConfig};
pub(crate) use labels::{Labelled, label};
pub(crate) use origins::Subject;

use flows::Flows;

/// Text of results that one run keeps. Of what comes later nothing is kept: a call that may change
/// something is then asked about, and no data is taken for harmless because its source was forgotten.
const MAX_BYTES: usize = 4 << 20;
/// The most of one result that is kept: its beginning and its end.
const HEAD: usize = 768 << 10;
const TAIL: usize = 256 << 10;

/// So many results of one tool in a row, of the same size, become one: a script that calls a tool a
/// thousand times must not make every later call a thousand times dearer.
const MERGED: usize = 8;
/// The longest text that results are merged to.
const LONGEST_MERGED: usize = 64 << 10;

/// One result, or several of one tool, or one input.
#[derive(Debug)]
struct Entry {
    /// `server/tool`, or the input's place.
    from: String,
    labels: Labels,
    /// The configuration says what it holds; it is not only inferred.
    stated: bool,
    /// The user's request pointed at it: the call that fetched it was made with the user's own values.
    asked: bool,
    text: String,
    /// How often it was merged.
    level: u32,
}

impl Entry {
    /// Whether the two may become one: nothing is told of them apart.
    fn fits(&self, other: &Self) -> bool {
        (&self.from, self.labels, self.stated, self.asked, self.level)
            == (&other.from, other.labels, other.stated, other.asked, other.level)
    }
}

/// What is new since the sources were last prepared.
struct Pending {
    entry: usize,
    value: Option<Value>,
}

/// Where a result comes from.
pub(crate) struct Provenance<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) labels: Labels,
    pub(crate) stated: bool,
    pub(crate) asked: bool,
}

/// The ledger of one run.
pub(crate) struct Ledger {
    sources: Sources,
    entries: Vec<Entry>,
    pending: Vec<Pending>,
    flows: Flows,
    bytes: usize,
    results: usize,
    incomplete: bool,
    /// The strictest label of what was not kept.
    forgotten: Option<Holds>,
}

impl Ledger {
    /// Knows what the user and the script's author wrote.
    pub(crate) fn new(intent: &str, constraints: &[String], script: &str) -> Self {
        let mut sources = Sources::new(intent, constraints);
        sources.set_literals(script);
        let mut flows = Flows::default();
        for text in constraints.iter().map(String::as_str).chain([intent, script]) {
            flows.is_known(text);
        }
        Self {
            sources,
            entries: Vec::new(),
            pending: Vec::new(),
            flows,
            bytes: 0,
            results: 0,
            incomplete: false,
            forgotten: None,
        }
    }

    /// A file that the user handed to the run. If it is not to be trusted, it is as the result of a call that
    /// the request did not name, unless it does name the file.
    pub(crate) fn add_input(&mut self, input: &inputs::InputText) {
        let labels = input.labels.labels();
        let trusted = labels.trust == Trust::Trusted;
        let entry = Entry {
            from: input.place.clone(),
            labels,
            stated: input.labels.holds.is_some(),
            asked: trusted || self.names(&input.place),
            text: String::new(),
            level: 0,
        };
        // What others wrote may have made the script do what it does.
        self.results += usize::from(!trusted);
        self.add(entry, &input.text, None);
    }

    /// Something of an input could not be kept.
    pub(crate) fn miss_input(&mut self, labels: InputLabels) {
        let labels = labels.labels();
        self.incomplete |= labels.trust != Trust::Trusted;
        self.forgotten = self.forgotten.max(Some(labels.holds));
    }

    /// Whether the request or the user's rules name this file.
    fn names(&self, place: &str) -> bool {
        let name = place.rsplit('/').next().unwrap_or(place);
        let args = serde_json::Map::from_iter([("file".to_owned(), Value::from(name))]);
        let action = Action { tool: "input.read".into(), args };
        self.asked(&Evidence::from_sources(&action, &self.sources))
    }

    /// What a call gave: its value, or the text of its error.
    pub(crate) fn add_result(&mut self, from: &Provenance<'_>, value: &Value) {
        self.results += 1;
        let entry = Entry {
            from: format!("{}/{}", from.server, from.tool),
            labels: from.labels,
            stated: from.stated,
            asked: from.asked,
            text: String::new(),
            level: 0,
        };
        // A text is what its server wrote, not that text as JSON.
        match value {
            Value::String(text) => self.add(entry, text, None),
            value => self.add(entry, &value.to_string(), Some(value)),
        }
    }

    fn add(&mut self, mut entry: Entry, text: &str, value: Option<&Value>) {
        let (head, tail) = ends(text);
        // Who is trusted plants nothing: what is forgotten of it makes values unknown, and no more.
        let matters = entry.labels.trust != Trust::Trusted;
        if self.bytes + head.len() + tail.len() > MAX_BYTES {
            self.incomplete |= matters;
            self.forgotten = self.forgotten.max(Some(entry.labels.holds));
            return;
        }
        entry.text = head.to_owned();
        if !tail.is_empty() {
            self.incomplete |= matters;
            self.forgotten = self.forgotten.max(Some(entry.labels.holds));
            entry.text.push_str("\n[...]\n");
            entry.text.push_str(tail);
        }
        self.bytes += entry.text.len();
        // Only whole values can be taken apart again.
        let value = value.filter(|_| tail.is_empty()).cloned();
        self.pending.push(Pending { entry: self.entries.len(), value });
        self.entries.push(entry);
    }

    /// Bytes that the next [`evidence`](Self::evidence) has to read first.
    pub(crate) fn unread(&self) -> usize {
        self.pending.iter().map(|pending| self.entries[pending.entry].text.len()).sum()
    }

    /// Where the values of a call came from.
    pub(crate) fn evidence(&mut self, action: &Action) -> Evidence {
        for Pending { entry, value } in std::mem::take(&mut self.pending) {
            let Entry { from, labels, stated, text, .. } = &self.entries[entry];
            self.sources.add_result(&from.replacen('/', ".", 1), labels.trust, text);
            match value {
                Some(value) => self.flows.add(from, labels.holds, *stated, &value),
                None => self.flows.add_text(from, labels.holds, *stated, text),
            }
        }
        self.merge();
        Evidence::from_sources(action, &self.sources)
    }

    /// Makes one of the last results while they are enough of a kind. Merging by eights costs each byte a
    /// handful of readings in all, and leaves a handful of sources for each tool.
    fn merge(&mut self) {
        while let Some(start) = self.entries.len().checked_sub(MERGED) {
            let run = &self.entries[start..];
            let bytes: usize = run.iter().map(|entry| entry.text.len() + 1).sum();
            if bytes > LONGEST_MERGED || run.iter().any(|entry| !entry.fits(&run[0])) {
                return;
            }
            let mut rest = self.entries.drain(start..);
            let Some(mut merged) = rest.next() else { return };
            for entry in rest {
                merged.text.push('\n');
                merged.text.push_str(&entry.text);
            }
            merged.level += 1;
            self.sources.truncate_results(start);
            self.sources.add_result(&merged.from.replacen('/', ".", 1), merged.labels.trust, &merged.text);
            self.entries.push(merged);
        }
    }

    /// What made the agent act: nothing was read before the first result.
    pub(crate) fn trigger(&self) -> Trigger {
        if self.results == 0 { Trigger::User } else { Trigger::ToolResult }
    }

    /// Whether something that was read has not been kept.
    pub(crate) fn incomplete(&self) -> bool {
        self.incomplete
    }

    /// What the guard is shown of the results: all of it while that is short, then the stretches that
    /// the call's values and orders stand in.
    pub(crate) fn context(&self, evidence: &Evidence) -> String {
        excerpts::context(&self.entries, &self.sources, evidence)
    }

    /// Whose results a value stands in.
    fn from(&self, result: usize) -> Option<&Entry> {
        self.entries.get(result)
    }
}

/// All of it and nothing, or its beginning and its end.
fn ends(text: &str) -> (&str, &str) {
    if text.len() <= HEAD + TAIL {
        return (text, "");
    }
    (&text[..text.floor_char_boundary(HEAD)], &text[text.ceil_char_boundary(text.len() - TAIL)..])
}
