//! One answer for many like calls: the same tool, the same places, up to a number. What does not fit
//! the group is asked about by itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::OwnedMutexGuard;

use crate::policy::ArgumentFact;
use crate::record::{RecordedApproval, Said};

/// Most calls that one answer covers.
pub const MOST: u32 = 200;

/// What calls have in common that one answer may cover: the tool, its definition, the policy, and where
/// the call reaches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Likeness {
    /// `server/tool`.
    pub tool: String,
    /// Of the tool's definition.
    pub definition_sha256: String,
    /// Of the policy.
    pub policy_version: String,
    /// For each argument with authority, or that looks like a path, a link or an address, its place: the folder of a path, else the value itself.
    pub places: Vec<(String, String)>,
    /// The codes of the reasons why it is asked about.
    pub reasons: Vec<String>,
}

impl Likeness {
    /// What the calls are like, for people: `path in /tmp/a, mode is fast`.
    pub fn describe(&self) -> String {
        self.describe_but(|_| false)
    }

    /// The same without the values of the arguments (JSON pointers) that are `hidden`.
    pub(super) fn describe_but(&self, hidden: impl Fn(&str) -> bool) -> String {
        let place = |(path, place): &(String, String)| {
            let name = path.trim_start_matches('/');
            match place.ends_with('/') {
                _ if hidden(path) => format!("{name} as here"),
                true => format!("{name} in {place}"),
                false => format!("{name} is {place}"),
            }
        };
        self.places.iter().map(place).collect::<Vec<_>>().join(", ")
    }

    /// Whether one answer may cover several such calls: calls that reach nothing that can be compared have
    /// nothing in common that a person could agree to.
    pub fn can_be_shared(&self) -> bool {
        !self.places.is_empty()
    }
}

/// The places that a call reaches.
pub fn places(arguments: &[ArgumentFact], raw: &Map<String, Value>) -> Vec<(String, String)> {
    let place = |argument: &ArgumentFact| {
        // The value as it would be sent, not as it was put straight: what is hidden in it must not fit.
        let sent = raw_text(raw, &argument.path).unwrap_or_else(|| argument.value.clone());
        let folder = sent.rfind('/').filter(|_| !sent.contains("://") && !climbs(&sent));
        let place = folder.map_or(sent.as_str(), |at| &sent[..=at]).to_owned();
        (argument.path.clone(), place)
    };
    arguments.iter().filter(|argument| argument.authority || points(&argument.value)).map(place).collect()
}

/// Whether a value may name a place although its argument is not called so: it has a sign that paths, links
/// and addresses have. What is longer than a path can be is text.
fn points(value: &str) -> bool {
    const LONGEST: usize = 300;
    let word = !value.contains(char::is_whitespace);
    value.len() <= LONGEST
        && !value.contains('\n')
        && (value.contains(['/', '\\', '@']) || (word && value.contains(['.', ':', '~'])))
}

fn climbs(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| part == ".." || part.contains('%'))
}

fn raw_text(raw: &Map<String, Value>, pointer: &str) -> Option<String> {
    let (first, rest) = pointer.strip_prefix('/')?.split_once('/').map_or_else(
        || (pointer.strip_prefix('/').unwrap_or_default(), String::new()),
        |(first, rest)| (first, format!("/{rest}")),
    );
    let first = first.replace("~1", "/").replace("~0", "~");
    raw.get(&first)?.pointer(&rest)?.as_str().map(str::to_owned)
}

/// The groups that a person has approved in this run, and whose turn it is to be asked about.
#[derive(Debug, Default)]
pub struct Groups(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    approved: Vec<Approved>,
    turns: HashMap<Likeness, Arc<tokio::sync::Mutex<()>>>,
}

/// An answer that covers more calls than its own.
#[derive(Debug)]
struct Approved {
    likeness: Likeness,
    left: u32,
    /// As the record of a call that it covers has it.
    recorded: RecordedApproval,
}

impl Groups {
    /// Waits until no like call is being asked about: the answer to that one may cover this one. Calls that
    /// are not alike do not wait for each other. Keep what this returns until the answer is there.
    pub async fn turn(&self, likeness: &Likeness) -> Option<OwnedMutexGuard<()>> {
        if !likeness.can_be_shared() {
            return None;
        }
        let turn = Arc::clone(self.lock().turns.entry(likeness.clone()).or_default());
        Some(turn.lock_owned().await)
    }

    /// Opens a group for this many more calls; `answer` is what it is opened by.
    pub fn approve(&self, likeness: Likeness, calls: u32, answer: &RecordedApproval) {
        let recorded = RecordedApproval { said: Said::Covered, ..answer.clone() };
        self.lock().approved.push(Approved { likeness, left: calls.min(MOST), recorded });
    }

    /// Uses up one call of a group that fits, if there is one: what the record says of that.
    pub fn take(&self, likeness: &Likeness) -> Option<RecordedApproval> {
        let mut state = self.lock();
        let group = state.approved.iter_mut().find(|group| group.left > 0 && group.likeness == *likeness)?;
        group.left -= 1;
        Some(group.recorded.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Valid at every step, so a panic elsewhere does not spoil it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use postern_check::evidence::Origin;
    use serde_json::json;

    use super::super::Decider;
    use super::*;

    fn likeness(path: &str) -> Likeness {
        let raw = json!({"source": path, "destination": "/trash/", "note": "x"});
        let fact = |path: &str, value: &str, authority| ArgumentFact {
            path: path.into(),
            value: value.into(),
            authority,
            origin: Origin::Field,
            from: Vec::new(),
        };
        let facts =
            [fact("/source", path, false), fact("/destination", "/trash/", true), fact("/note", "x", false)];
        Likeness {
            tool: "fs/move".into(),
            definition_sha256: "d".into(),
            policy_version: "p".into(),
            places: places(&facts, raw.as_object().unwrap()),
            reasons: vec!["unsafe".into()],
        }
    }

    #[test]
    fn a_group_is_one_folder_and_a_number() {
        let groups = Groups::default();
        assert_eq!(groups.take(&likeness("/tmp/a")), None);
        let by = Some(Decider::of("queue", Some("ann".into())));
        let answer = RecordedApproval { question: "q".into(), said: Said::ApprovedLike, by };
        groups.approve(likeness("/tmp/a"), 2, &answer);
        let covered = RecordedApproval { said: Said::Covered, ..answer };
        assert_eq!(groups.take(&likeness("/tmp/b")), Some(covered));
        for outlier in
            ["/tmp2/a", "/tmp/deep/a", "/tmp/../etc/a", "/tmp/%2e%2e/a", "a", "a.txt", "https://tmp/a"]
        {
            assert_eq!(groups.take(&likeness(outlier)), None, "{outlier}");
        }
        assert!(groups.take(&likeness("/tmp/c")).is_some());
        assert_eq!(groups.take(&likeness("/tmp/d")), None, "used up");
        assert_eq!(likeness("/tmp/a").describe(), "source in /tmp/, destination in /trash/");
    }

    #[tokio::test]
    async fn only_like_calls_wait_for_each_other() {
        let groups = Groups::default();
        let turn = groups.turn(&likeness("/tmp/a")).await;
        assert!(turn.is_some());
        let short = std::time::Duration::from_millis(20);
        assert!(tokio::time::timeout(short, groups.turn(&likeness("/tmp/b"))).await.is_err(), "alike");
        assert!(groups.turn(&likeness("/home/a")).await.is_some(), "elsewhere");
        drop(turn);
        assert!(groups.turn(&likeness("/tmp/b")).await.is_some());
    }

    #[test]
    fn a_hidden_value_is_not_described() {
        let text = likeness("/tmp/a").describe_but(|path| path == "/source");
        assert_eq!(text, "source as here, destination in /trash/");
    }
}
