//! Constraints in plain language, compiled to typed checks where they are understood whole.
//!
//! Pure: what has been spent over a run is kept by the caller in a [`Spent`]. A clause that is not understood to its
//! last word is not guessed at: it stays with the guard model, and [`Constraints::explain`] says so.

mod call;
mod check;
mod files;
mod money;
mod parse;
mod rule;
mod spent;
mod words;

pub use call::ConstraintCall;
pub use spent::{Reserved, Spent};

use rule::Rule;
use serde::{Deserialize, Serialize};

use crate::policy::Finding;

/// Every code that [`Constraints::check`] gives, and what it states. Closed: a policy may rely on it.
pub const CODES: &[(&str, &str)] = &[
    ("constraint-broken", "the call does what a constraint forbids"),
    ("constraint-budget", "with this call the run would do or spend more than a constraint allows"),
    ("constraint-confirm", "a constraint wants a person asked first, or cannot be checked for this call"),
    ("constraint-conflict", "the request asks for what an older constraint forbids"),
];

/// Constraints as they are checked.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    clauses: Vec<Clause>,
    /// Domains that are the user's own, as the constraints tell.
    own: Vec<String>,
}

#[derive(Clone, Debug)]
struct Clause {
    /// As the user wrote it.
    text: String,
    rule: Option<Rule>,
}

/// How one clause is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explained {
    /// The clause, as it was written.
    pub text: String,
    /// What is checked; `None` where only the guard model reads it.
    pub checked: Option<String>,
}

impl std::fmt::Display for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.checked {
            Some(checked) => write!(f, "checked: {checked}"),
            None => write!(f, "model only: {}", self.text),
        }
    }
}

impl Constraints {
    /// Compiles what is understood; nothing is an error.
    ///
    /// ```
    /// use postern::constraints::Constraints;
    /// let constraints = Constraints::compile(&["Only send mail to corp.test, and be polite".into()]);
    /// let explained: Vec<String> = constraints.explain().iter().map(ToString::to_string).collect();
    /// assert_eq!(explained, ["checked: mail only to corp.test", "model only: be polite"]);
    /// ```
    pub fn compile(constraints: &[String]) -> Self {
        let mut out = Self::default();
        for text in constraints {
            let mut before = None;
            for clause in words::clauses(text) {
                let rule = parse::rule(&clause, before.as_ref());
                before.clone_from(&rule);
                out.clauses.push(Clause { text: clause, rule });
            }
        }
        let allowed = out.clauses.iter().filter_map(|clause| match &clause.rule {
            Some(Rule::OnlyDomains { domains, .. } | Rule::Own(domains)) => Some(domains.clone()),
            _ => None,
        });
        let allowed: Vec<String> = allowed.flatten().collect();
        out.own.extend(allowed);
        out
    }

    /// Every clause and how it is kept, in order.
    pub fn explain(&self) -> Vec<Explained> {
        let one = |clause: &Clause| Explained {
            text: clause.text.clone(),
            checked: clause.rule.as_ref().map(ToString::to_string),
        };
        self.clauses.iter().map(one).collect()
    }

    /// Whether there is nothing to check, whatever the call.
    pub fn is_empty(&self) -> bool {
        self.clauses.iter().all(|clause| clause.rule.is_none())
    }

    /// What the constraints say of a call, which from now on counts as spent; what is given back undoes that.
    /// `None` when there is nothing to check, and then nothing is counted.
    pub fn spend(&self, call: &ConstraintCall<'_>, spent: &mut Spent) -> Option<(Vec<Finding>, Reserved)> {
        if self.is_empty() {
            return None;
        }
        let view = call::View::of(call);
        let findings = self.findings(&view, spent);
        let reserved = Reserved::of(&view);
        spent.add(&reserved);
        Some((findings, reserved))
    }

    /// What the constraints say of a call, after what the run has `spent` before it.
    pub fn check(&self, call: &ConstraintCall<'_>, spent: &Spent) -> Vec<Finding> {
        if self.is_empty() {
            return Vec::new();
        }
        self.findings(&call::View::of(call), spent)
    }

    fn findings(&self, view: &call::View<'_>, spent: &Spent) -> Vec<Finding> {
        let rules =
            self.clauses.iter().filter_map(|clause| Some((clause.text.as_str(), clause.rule.as_ref()?)));
        rules.filter_map(|(text, rule)| check::one(rule, text, view, &self.own, spent)).collect()
    }
}

#[cfg(test)]
mod tests;
