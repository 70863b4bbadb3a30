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
//! The matching itself is `postern_check::evidence`: the same in training, in the worker and here. What is in a result
//! is found by `scan`, which also makes it ready for matching: a result is read once.
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

use postern_check::evidence::{Evidence, Source, Sources, Trust};
use postern_check::{Action, Trigger};
use serde_json::Value;

use crate::policy::{Holds, Labels};
use crate::scan::{Found, Look, Scanned};

pub(crate) use acts::Acts;
pub use inputs::{InputLabels, InputRules, PathLabels};
pub use labels::{LabelConfig, Places, ToolLabelConfig, ToolLabels};
pub(crate) use labels::{Labelled, label};
pub(crate) use origins::Subject;

use flows::{Flows, Marks};

/// Text of results that one run keeps. Of what comes later nothing is kept: a call that may change
/// something is then asked about, and no data is taken for harmless because its source was forgotten.
const MAX_BYTES: usize = 4 << 20;

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
    /// It gives orders to whoever reads it for the user.
    planted: bool,
    text: String,
    /// How often it was merged.
    level: u32,
}

impl Entry {
    /// Whether the two may become one: nothing is told of them apart.
    fn fits(&self, other: &Self) -> bool {
        (&self.from, self.labels, self.stated, self.asked, self.planted, self.level)
            == (&other.from, other.labels, other.stated, other.asked, other.planted, other.level)
    }
}

/// Where a result comes from.
pub(crate) struct Provenance<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) labels: Labels,
    pub(crate) stated: bool,
    pub(crate) asked: bool,
}

/// Something that was read, ready to be added. Making it takes time and needs no ledger.
pub(crate) struct Prepared {
    entry: Entry,
    source: Source,
    marks: Marks,
    /// Marks of the secrets alone, which are kept also where the rest has no room.
    secrets: Marks,
    is_result: bool,
    is_cut: bool,
}

impl Prepared {
    /// What a call gave: its value, or the text of its error; and what was found in it.
    /// `json` is the value as `Value::to_string` writes it.
    pub(crate) fn result(from: &Provenance<'_>, value: &Value, json: &str, look: Look) -> (Self, Found) {
        let name = format!("{}.{}", from.server, from.tool);
        let Scanned { text, is_cut, source, found } =
            Scanned::of(&name, from.labels.trust, value, json, look);
        let holds = from.labels.holds;
        let marks = match value {
            Value::String(_) => Marks::of_text(holds, &text, &found.values),
            // Only whole values can be taken apart.
            _ if is_cut => Marks::of_text(holds, &text, &found.values),
            value => Marks::of(holds, value, &found.values),
        };
        let entry = Entry {
            from: format!("{}/{}", from.server, from.tool),
            labels: from.labels,
            stated: from.stated,
            asked: from.asked,
            planted: !found.planted.is_empty(),
            text,
            level: 0,
        };
        let secrets = Marks::of_secrets(&found.values);
        (Self { entry, source, marks, secrets, is_result: true, is_cut }, found)
    }

    /// A file that the user handed to the run. What is not trusted is looked through like a result.
    pub(crate) fn input(input: &inputs::InputText) -> Self {
        let labels = input.labels.labels();
        let trusted = labels.trust == Trust::Trusted;
        let look = Look { instructions: !trusted, secrets: !trusted };
        let name = input.place.replacen('/', ".", 1);
        let value = Value::String(input.text.clone());
        let Scanned { text, is_cut, source, found } = Scanned::of(&name, labels.trust, &value, "", look);
        let marks = Marks::of_text(labels.holds, &text, &found.values);
        let entry = Entry {
            from: input.place.clone(),
            labels,
            stated: input.labels.holds.is_some(),
            asked: trusted,
            planted: !found.planted.is_empty(),
            text,
            level: 0,
        };
        let secrets = Marks::of_secrets(&found.values);
        // What others wrote may have made the script do what it does.
        Self { entry, source, marks, secrets, is_result: !trusted, is_cut }
    }
}

/// The ledger of one run.
pub(crate) struct Ledger {
    sources: Sources,
    entries: Vec<Entry>,
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
        Self { sources, entries: Vec::new(), flows, bytes: 0, results: 0, incomplete: false, forgotten: None }
    }

    /// A file that the user handed to the run. If it is not to be trusted, it is as the result of a call that
    /// the request did not name, unless it does name the file.
    pub(crate) fn add_input(&mut self, mut input: Prepared) {
        let trusted = input.entry.labels.trust == Trust::Trusted;
        input.entry.asked = trusted || self.names(&input.entry.from);
        self.add(input);
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
        self.asked(&self.evidence(&action))
    }

    /// Adds what was read.
    pub(crate) fn add(&mut self, prepared: Prepared) {
        let Prepared { entry, source, marks, secrets, is_result, is_cut } = prepared;
        self.results += usize::from(is_result);
        let fits = self.bytes + entry.text.len() <= MAX_BYTES;
        if !fits || is_cut {
            // Who is trusted plants nothing: what is forgotten of it makes values unknown, and no more.
            self.incomplete |= entry.labels.trust != Trust::Trusted;
            self.forgotten = self.forgotten.max(Some(entry.labels.holds));
        }
        let marks = if fits { marks } else { secrets };
        self.flows.add(&entry.from, entry.labels.holds, entry.stated, marks);
        if fits {
            self.bytes += entry.text.len();
            self.sources.add(source);
            self.entries.push(entry);
            self.merge();
        }
    }

    /// Where the values of a call came from.
    pub(crate) fn evidence(&self, action: &Action) -> Evidence {
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
