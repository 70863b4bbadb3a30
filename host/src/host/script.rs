//! What is run: a text and what is said with it. Nothing here looks at the text.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::gate::Observer;
use crate::ledger::InputLabels;
use crate::script::Language;

/// One script to run, and under which conditions.
#[derive(Clone)]
pub struct Script {
    pub(super) text: String,
    pub(super) name: String,
    pub(super) language: Option<Language>,
    pub(super) intent: String,
    pub(super) constraints: Vec<String>,
    pub(super) inputs: Vec<(PathBuf, InputLabels)>,
    pub(super) profile: Option<String>,
    pub(super) seed: Option<u64>,
    pub(super) cancel: CancellationToken,
    pub(super) observer: Option<Observer>,
}

impl Script {
    /// This text, with no intent, no constraints and no inputs.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            name: "script".into(),
            language: None,
            intent: String::new(),
            constraints: Vec::new(),
            inputs: Vec::new(),
            profile: None,
            seed: None,
            cancel: CancellationToken::new(),
            observer: None,
        }
    }

    /// What the text is called; its ending tells the language.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The language, whatever name and text look like.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.language = Some(language);
        self
    }

    /// What the user asked for, in the user's own words. The guard judges calls against it.
    #[must_use]
    pub fn intent(mut self, intent: impl Into<String>) -> Self {
        self.intent = intent.into();
        self
    }

    /// A rule that the user set.
    #[must_use]
    pub fn constraint(mut self, constraint: impl Into<String>) -> Self {
        self.constraints.push(constraint.into());
        self
    }

    /// A file or folder that the script may read, under /input.
    #[must_use]
    pub fn input(mut self, path: impl Into<PathBuf>) -> Self {
        self.inputs.push((path.into(), InputLabels::default()));
        self
    }

    /// The same with labels, which come before those of the configuration. A profile can still make them stricter.
    #[must_use]
    pub fn labelled_input(mut self, path: impl Into<PathBuf>, labels: InputLabels) -> Self {
        self.inputs.push((path.into(), labels));
        self
    }

    /// The class of job that this is; it must be one of the configuration's profiles.
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// Makes the random numbers that the script draws the same in each run with this seed. Not for anything
    /// that must not be guessed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Ends the run when it is cancelled.
    #[must_use]
    pub fn cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Is told of every call when it has its answer.
    #[must_use]
    pub fn observer(mut self, observer: Observer) -> Self {
        self.observer = Some(observer);
        self
    }
}
