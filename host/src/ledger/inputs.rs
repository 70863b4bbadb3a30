//! What the user handed to the run: what is said of it, and its texts, for comparing values with. What is too large
//! or no text is left out. Its values are then known from nowhere; where labels say that this matters, the ledger is
//! told that something is missing, which is the strict side.

use std::fs;
use std::path::{Path, PathBuf};

use postern_check::evidence::Trust;
use serde::{Deserialize, Serialize};

use crate::policy::{Holds, Labels, Sink};
use crate::sandbox::Input;

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;
/// Most bytes in all.
const MOST: usize = 2 << 20;
/// Most files of a folder, and how deep it is looked into.
const FILES: usize = 200;
const DEPTH: usize = 6;

/// What is said of an input, or of files in it. Where nothing is said, it is the user's own word (trusted) and nobody
/// else's business (private).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InputLabels {
    /// Whether what stands in it may be taken as the user's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Who may see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<Holds>,
}

impl InputLabels {
    /// Reads a list such as `untrusted,secret`.
    ///
    /// # Errors
    /// A sentence that names the word that means nothing, or that comes too often.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut labels = Self::default();
        for word in text.split(',').map(str::trim) {
            let (trust, holds) = match word {
                "trusted" => (Some(Trust::Trusted), None),
                "untrusted" => (Some(Trust::Untrusted), None),
                "public" => (None, Some(Holds::Public)),
                "private" => (None, Some(Holds::Private)),
                "secret" => (None, Some(Holds::Secret)),
                other => {
                    return Err(format!(
                        "there is no label {other:?}; there is: trusted, untrusted, public, private, secret"
                    ));
                }
            };
            if (trust.is_some() && labels.trust.is_some()) || (holds.is_some() && labels.holds.is_some()) {
                return Err(format!("{word:?} says a second time what another label has said"));
            }
            labels = labels.or(Self { trust, holds });
        }
        Ok(labels)
    }

    /// These, and where they say nothing the others.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { trust: self.trust.or(other.trust), holds: self.holds.or(other.holds) }
    }

    /// These, where the others do not make them stricter. Nothing becomes laxer.
    #[must_use]
    pub fn narrowed(self, by: Self) -> Self {
        let distrusted = by.trust == Some(Trust::Untrusted);
        let holds = by.holds.filter(|holds| *holds >= self.labels().holds);
        Self { trust: if distrusted { by.trust } else { self.trust }, holds: holds.or(self.holds) }
    }

    /// As they apply.
    pub fn labels(self) -> Labels {
        Labels {
            trust: self.trust.unwrap_or(Trust::Trusted),
            sink: Sink::None,
            holds: self.holds.unwrap_or(Holds::Private),
        }
    }

    /// Whether anything is said at all.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl std::fmt::Display for InputLabels {
    /// As [`parse`](InputLabels::parse) reads it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let trust = self.trust.map(|trust| match trust {
            Trust::Trusted => "trusted",
            Trust::Untrusted => "untrusted",
        });
        let holds = self.holds.map(|holds| match holds {
            Holds::Public => "public",
            Holds::Private => "private",
            Holds::Secret => "secret",
        });
        let words: Vec<&str> = trust.into_iter().chain(holds).collect();
        f.write_str(&words.join(", "))
    }
}

/// Labels of host paths, and of what lies in them.
pub type PathLabels = Vec<(PathBuf, InputLabels)>;

/// What is said of the inputs of one run, by whom. All paths are real ones, without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputRules {
    /// Whoever started the run.
    pub run: PathLabels,
    /// The configuration.
    pub config: PathLabels,
    /// The run's profile, which can only make it stricter.
    pub profile: PathLabels,
}

impl InputRules {
    /// What applies to a file or folder: of each list the longest path that it lies in.
    pub fn of(&self, path: &Path) -> InputLabels {
        let said = |list: &PathLabels| {
            let around = list.iter().filter(|(place, _)| path.starts_with(place));
            around.max_by_key(|(place, _)| place.components().count()).map(|(_, labels)| *labels)
        };
        let by_run = said(&self.run).unwrap_or_default();
        let labels = by_run.or(said(&self.config).unwrap_or_default());
        labels.narrowed(said(&self.profile).unwrap_or_default())
    }

    /// Whether anything is said of this input or of something in it.
    pub(crate) fn touch(&self, input: &Path) -> bool {
        let all = [&self.run, &self.config, &self.profile];
        all.into_iter().flatten().any(|(place, labels)| {
            !labels.is_empty() && (place.starts_with(input) || input.starts_with(place))
        })
    }

    /// The input, and what in it has labels of its own, each with its name under /input.
    pub(crate) fn listed(&self, input: &Input) -> Vec<(String, InputLabels)> {
        let all = [&self.run, &self.config, &self.profile];
        let labelled = all.into_iter().flatten().filter(|(_, labels)| !labels.is_empty());
        let mut places: Vec<&Path> = labelled.map(|(place, _)| place.as_path()).collect();
        places.retain(|place| place.starts_with(&input.path) && *place != input.path);
        places.sort_unstable();
        places.dedup();
        let own = std::iter::once((input.name.clone(), self.of(&input.path)));
        let inner = places.into_iter().filter_map(|place| {
            let below = place.strip_prefix(&input.path).ok()?;
            Some((format!("{}/{}", input.name, below.display()), self.of(place)))
        });
        own.chain(inner).collect()
    }
}

/// The text of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InputText {
    /// Its place under /input, as `input/name`.
    pub(crate) place: String,
    pub(crate) text: String,
    pub(crate) labels: InputLabels,
}

/// The texts of all inputs, and the labels of what had no room or is no text, where labels were given.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) texts: Vec<InputText>,
    pub(crate) left_out: Vec<InputLabels>,
    bytes: usize,
    files: usize,
}

/// Reads them.
pub(crate) fn read(inputs: &[Input], rules: &InputRules) -> Texts {
    let mut out = Texts::default();
    for input in inputs {
        // What nobody labelled is as it has always been, and costs no looking up.
        let rules = rules.touch(&input.path).then_some(rules);
        out.walk(&input.path, &format!("input/{}", input.name), DEPTH, rules);
    }
    out
}

impl Texts {
    fn walk(&mut self, path: &Path, place: &str, depth: usize, rules: Option<&InputRules>) {
        let labels = || rules.map(|rules| rules.of(path)).unwrap_or_default();
        // Links are not followed, as in the sandbox.
        let Ok(found) = fs::symlink_metadata(path) else { return self.leave_out(labels()) };
        if found.is_dir() {
            let entries = if depth > 0 { fs::read_dir(path).ok() } else { None };
            let Some(entries) = entries else { return self.leave_out(labels()) };
            let mut entries: Vec<_> = entries.flatten().collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let place = format!("{place}/{}", entry.file_name().to_string_lossy());
                self.walk(&entry.path(), &place, depth - 1, rules);
            }
        } else if found.is_file() {
            let labels = labels();
            let text = (found.len() <= LARGEST && self.files < FILES)
                .then(|| fs::read_to_string(path).ok())
                .flatten()
                .filter(|text| self.bytes + text.len() <= MOST);
            self.files += 1;
            match text {
                Some(text) => {
                    self.bytes += text.len();
                    self.texts.push(InputText { place: place.to_owned(), text, labels });
                }
                None => self.leave_out(labels),
            }
        }
    }

    fn leave_out(&mut self, labels: InputLabels) {
        if !labels.is_empty() && !self.left_out.contains(&labels) {
            self.left_out.push(labels);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> InputLabels {
        InputLabels::parse(text).unwrap()
    }

    #[test]
    fn texts_are_read_and_the_rest_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("in")).unwrap();
        fs::write(folder.path().join("in/a.csv"), "name,mail").unwrap();
        fs::write(folder.path().join("in/b.bin"), [0xff, 0xfe]).unwrap();
        fs::write(folder.path().join("in/c.txt"), "x".repeat(LARGEST as usize + 1)).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("in/link")).unwrap();
        let input = Input::new(&folder.path().join("in")).unwrap();
        let found = read(std::slice::from_ref(&input), &InputRules::default());
        let plain =
            InputText { place: "input/in/a.csv".into(), text: "name,mail".into(), labels: labels_none() };
        assert_eq!((found.texts, found.left_out), (vec![plain.clone()], vec![]));

        let said = labels("untrusted,secret");
        let rules = InputRules { config: vec![(input.path.clone(), said)], ..InputRules::default() };
        let found = read(&[input], &rules);
        assert_eq!(found.texts, [InputText { labels: said, ..plain }]);
        assert_eq!(found.left_out, [said], "what is labelled is missed");
    }

    fn labels_none() -> InputLabels {
        InputLabels::default()
    }

    #[test]
    fn words_are_labels_and_nothing_else_is() {
        let both = InputLabels { trust: Some(Trust::Untrusted), holds: Some(Holds::Secret) };
        assert_eq!(InputLabels::parse(" untrusted , secret"), Ok(both));
        assert_eq!(both.to_string(), "untrusted, secret");
        for text in ["", "untrust", "trusted,untrusted", "public,secret", "untrusted,"] {
            assert!(InputLabels::parse(text).is_err(), "{text}");
        }
        assert_eq!(labels_none().labels().trust, Trust::Trusted);
        assert_eq!(labels_none().labels().holds, Holds::Private);
    }

    #[test]
    fn a_profile_only_makes_it_stricter() {
        for (own, by, expected) in [
            ("trusted", "untrusted", "untrusted"),
            ("untrusted", "trusted", "untrusted"),
            ("secret", "public", "secret"),
            ("public", "secret", "secret"),
            ("public", "private,untrusted", "private,untrusted"),
        ] {
            assert_eq!(labels(own).narrowed(labels(by)), labels(expected), "{own} by {by}");
        }
        assert_eq!(labels_none().narrowed(labels("public")), labels_none());
        assert_eq!(labels_none().narrowed(labels("private")), labels("private"));
    }

    #[test]
    fn the_longest_path_counts_and_the_run_before_the_configuration() {
        let rules = InputRules {
            run: vec![("/d".into(), labels("trusted"))],
            config: vec![("/d".into(), labels("public")), ("/d/in".into(), labels("untrusted,secret"))],
            profile: vec![("/d/in/mail".into(), labels("untrusted"))],
        };
        assert_eq!(rules.of("/d/x".as_ref()), labels("trusted,public"));
        assert_eq!(rules.of("/d/in/x".as_ref()), labels("trusted,secret"));
        assert_eq!(rules.of("/d/in/mail/x".as_ref()), labels("untrusted,secret"));
        assert_eq!(
            rules.of("/d/inside".as_ref()),
            labels("trusted,public"),
            "not by the letters of its name"
        );
        assert!(rules.of("/e".as_ref()).is_empty());
        assert!(rules.touch("/d".as_ref()) && rules.touch("/".as_ref()) && !rules.touch("/e".as_ref()));
        let input = Input { path: "/d".into(), name: "d".into() };
        let names: Vec<String> = rules.listed(&input).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["d", "d/in", "d/in/mail"]);
    }
}
