//! `[results]`: what becomes of a result in which something was found. Looks at no result itself.

use serde::{Deserialize, Serialize};

use super::units;
use crate::sandbox::Limits;

/// What becomes of a result in which something was found. Each is stricter than the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFound {
    /// Nobody looks for it.
    Ignore,
    /// The script gets the result; what was found is noted, and counts where later calls are judged.
    #[default]
    Pass,
    /// The script gets the result with a marker in the place of what was found.
    Redact,
    /// The script gets an error.
    Block,
}

/// `[results]`, and the same per server and per profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResultsConfig {
    /// Text that gives orders to whoever reads it for the user.
    pub instructions: Option<OnFound>,
    /// Keys, tokens, passwords.
    pub secrets: Option<OnFound>,
    /// Bytes of a result, at most those of `limits.max_result_bytes`.
    #[serde(alias = "maxBytes", deserialize_with = "size")]
    pub max_bytes: Option<u64>,
}

/// What applies to the results of one server in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResultRules {
    /// As [`ResultsConfig::instructions`].
    pub instructions: OnFound,
    /// As [`ResultsConfig::secrets`].
    pub secrets: OnFound,
    /// As [`ResultsConfig::max_bytes`].
    pub max_bytes: u64,
}

impl ResultsConfig {
    /// What applies: what the server's own table says, else this one; then as strict as the profile wants it.
    pub fn rules(
        &self,
        server: Option<&ResultsConfig>,
        profile: Option<&ResultsConfig>,
        limits: &Limits,
    ) -> ResultRules {
        let none = Self::default();
        let (server, profile) = (server.unwrap_or(&none), profile.unwrap_or(&none));
        let of = |own: Option<OnFound>, all: Option<OnFound>, floor: Option<OnFound>| {
            own.or(all).unwrap_or_default().max(floor.unwrap_or(OnFound::Ignore))
        };
        let sizes = [server.max_bytes.or(self.max_bytes), profile.max_bytes];
        ResultRules {
            instructions: of(server.instructions, self.instructions, profile.instructions),
            secrets: of(server.secrets, self.secrets, profile.secrets),
            max_bytes: sizes.into_iter().flatten().fold(limits.max_result_bytes, u64::min),
        }
    }

    /// Whether the sizes make sense beside the limits.
    pub(super) fn validate(&self, limits: &Limits) -> Result<(), String> {
        match self.max_bytes {
            Some(size) if size > limits.max_result_bytes => Err(format!(
                "results.max_bytes ({}) is above limits.max_result_bytes ({}), which holds for every result",
                units::show_bytes(size),
                units::show_bytes(limits.max_result_bytes)
            )),
            _ => Ok(()),
        }
    }

    /// The first key in which this one, a profile's, is laxer than what holds without it.
    pub(super) fn laxer(&self, base: &Self) -> Option<&'static str> {
        let lax =
            |own: Option<OnFound>, all: Option<OnFound>| own.is_some_and(|o| o < all.unwrap_or_default());
        if lax(self.instructions, base.instructions) {
            return Some("instructions");
        }
        if lax(self.secrets, base.secrets) {
            return Some("secrets");
        }
        let more = matches!((self.max_bytes, base.max_bytes), (Some(own), Some(all)) if own > all);
        more.then_some("max_bytes")
    }
}

fn size<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    units::bytes::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn config(text: &str) -> ResultsConfig {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn the_server_counts_before_all_and_the_profile_only_adds() {
        let limits = Limits::default();
        let all = config("instructions = \"redact\"\nmax_bytes = \"2MiB\"");
        let rules = all.rules(None, None, &limits);
        assert_eq!((rules.instructions, rules.secrets), (OnFound::Redact, OnFound::Pass));
        assert_eq!(rules.max_bytes, 2 << 20);
        let server = config("instructions = \"ignore\"\nsecrets = \"block\"\nmax_bytes = 10");
        let rules = all.rules(Some(&server), None, &limits);
        assert_eq!(
            rules,
            ResultRules { instructions: OnFound::Ignore, secrets: OnFound::Block, max_bytes: 10 }
        );
        let profile = config("instructions = \"block\"\nsecrets = \"redact\"\nmax_bytes = \"1MiB\"");
        let rules = all.rules(Some(&server), Some(&profile), &limits);
        assert_eq!(
            (rules.instructions, rules.secrets, rules.max_bytes),
            (OnFound::Block, OnFound::Block, 10)
        );
        assert_eq!(ResultsConfig::default().rules(None, None, &limits).max_bytes, limits.max_result_bytes);
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        assert!(config("max_bytes = \"1GiB\"").validate(&Limits::default()).unwrap_err().contains("16"));
        let base = config("secrets = \"redact\"");
        assert_eq!(config("secrets = \"pass\"").laxer(&base), Some("secrets"));
        assert_eq!(config("instructions = \"ignore\"").laxer(&base), Some("instructions"));
        assert_eq!(config("secrets = \"block\"").laxer(&base), None);
        assert_eq!(config("max_bytes = 9").laxer(&config("max_bytes = 8")), Some("max_bytes"));
        let error = toml::from_str::<ResultsConfig>("secret = \"pass\"").unwrap_err();
        assert!(error.to_string().contains("`secrets`"), "{error}");
        let error = toml::from_str::<ResultsConfig>("secrets = \"deny\"").unwrap_err();
        assert!(error.to_string().contains("`block`"), "{error}");
    }
}
