//! Labels: who is trusted, where data goes, who may see it. The configuration says so, per server or
//! tool; where it is silent, the server's hints can only raise what is assumed.

use std::collections::BTreeMap;

use postern_check::evidence::Trust;
use serde::Deserialize;
use wildmatch::WildMatch;

use crate::policy::{Holds, Labels, Sink};
use crate::upstream::ToolDefinition;

/// `labels` of a server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabelConfig {
    /// Where what is given to its tools goes.
    pub sink: Option<Sink>,
    /// Who may see what its tools return.
    pub holds: Option<Holds>,
    /// Names of places on the user's own side (channels, repositories, mail domains, folders), with `*`
    /// and `?`. A call to nowhere else is no public sink; what a call to one of them returns is private.
    pub inside: Places,
    /// The same for single tools, by a pattern of their names; the longest pattern that fits counts.
    pub tools: ToolLabels,
}

/// `labels.tools.NAME` of a server. What it does not say, the server's labels say.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolLabelConfig {
    /// Where what is given to it goes.
    pub sink: Option<Sink>,
    /// Who may see what it returns.
    pub holds: Option<Holds>,
    /// As [`LabelConfig::inside`].
    pub inside: Places,
    /// Arguments that decide whom or what a call reaches, beside those that are named so.
    pub authority: Vec<String>,
}

/// Names of places, with `*` and `?`; capitals do not count. Made ready when they are read, for every call is held
/// against them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct Places(Vec<WildMatch>);

impl From<Vec<String>> for Places {
    fn from(patterns: Vec<String>) -> Self {
        Self(patterns.iter().map(|pattern| WildMatch::new_case_insensitive(pattern)).collect())
    }
}

impl Places {
    fn hold(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(name))
    }
}

/// Labels of tools by patterns of their names, made ready when they are read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "BTreeMap<String, ToolLabelConfig>")]
pub struct ToolLabels(
    /// The longest pattern first.
    Vec<(WildMatch, ToolLabelConfig)>,
);

impl From<BTreeMap<String, ToolLabelConfig>> for ToolLabels {
    fn from(tools: BTreeMap<String, ToolLabelConfig>) -> Self {
        let mut tools: Vec<(String, ToolLabelConfig)> = tools.into_iter().rev().collect();
        tools.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
        Self(tools.into_iter().map(|(pattern, config)| (WildMatch::new(&pattern), config)).collect())
    }
}

/// The labels of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labelled {
    pub(crate) labels: Labels,
    /// The configuration says that it is a public sink.
    pub(crate) sink_stated: bool,
    /// The configuration says what it holds.
    pub(crate) holds_stated: bool,
}

impl LabelConfig {
    /// What is said of one tool.
    pub(crate) fn tool(&self, name: &str) -> Option<&ToolLabelConfig> {
        self.tools.0.iter().find(|(pattern, _)| pattern.matches(name)).map(|(_, config)| config)
    }
}

/// The labels of a call of this tool with these targets (the values of its authority arguments).
pub(crate) fn label(
    config: Option<&LabelConfig>,
    trusted: bool,
    tool: &ToolDefinition,
    targets: &[&str],
) -> Labelled {
    let none = LabelConfig::default();
    let config = config.unwrap_or(&none);
    let own = config.tool(&tool.name);
    let sink = own.and_then(|own| own.sink).or(config.sink);
    let holds = own.and_then(|own| own.holds).or(config.holds);
    let inside = |target: &&str| {
        let target = target.trim();
        config.inside.hold(target) || own.is_some_and(|own| own.inside.hold(target))
    };

    let hints = &tool.annotations;
    let open = hints.open_world == Some(true);
    let harmless = trusted && hints.read_only == Some(true) && !open;
    let (inferred_sink, inferred_holds) = match (open, harmless) {
        (true, _) => (Sink::Public, Holds::Public),
        (false, true) => (Sink::None, Holds::Private),
        (false, false) => (Sink::Private, Holds::Private),
    };
    let mut labels = Labels {
        trust: if trusted { Trust::Trusted } else { Trust::Untrusted },
        sink: sink.unwrap_or(inferred_sink),
        holds: holds.unwrap_or(inferred_holds),
    };
    let (mut sink_stated, mut holds_stated) = (sink.is_some(), holds.is_some());
    if labels.sink == Sink::Public && !targets.is_empty() && targets.iter().all(inside) {
        labels.sink = Sink::Private;
        sink_stated = true;
    }
    if labels.holds == Holds::Public && targets.iter().any(inside) {
        labels.holds = Holds::Private;
        holds_stated = true;
    }
    Labelled { labels, sink_stated, holds_stated }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::upstream::Annotations;

    fn tool(open_world: Option<bool>, read_only: Option<bool>) -> ToolDefinition {
        let hints = Annotations { open_world, read_only, ..Annotations::default() };
        ToolDefinition::new("chat", "post", json!({})).with_annotations(hints)
    }

    fn config(text: &str) -> LabelConfig {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn hints_only_raise() {
        let of = |open, read_only, trusted| label(None, trusted, &tool(open, read_only), &[]).labels;
        assert_eq!(of(None, None, false).sink, Sink::Private);
        assert_eq!(of(Some(true), None, false).sink, Sink::Public);
        assert_eq!(
            of(Some(false), Some(true), false).sink,
            Sink::Private,
            "an untrusted hint lowers nothing"
        );
        assert_eq!(of(Some(false), Some(true), true).sink, Sink::None);
        assert_eq!(of(None, None, false).holds, Holds::Private);
        assert!(!label(None, false, &tool(Some(true), None), &[]).sink_stated);
    }

    #[test]
    fn places_inside_are_no_public_sink_and_private_to_read() {
        let config = config("sink = \"public\"\nholds = \"public\"\ninside = [\"#sales-*\"]");
        let of = |targets: &[&str]| label(Some(&config), false, &tool(None, None), targets).labels;
        assert_eq!(of(&["#public"]).sink, Sink::Public);
        assert_eq!(of(&["#Sales-eu"]).sink, Sink::Private);
        assert_eq!(of(&["#sales-eu", "#public"]).sink, Sink::Public, "one outside is enough");
        assert_eq!(of(&[]).sink, Sink::Public);
        assert_eq!(of(&["#sales-eu"]).holds, Holds::Private);
        assert_eq!(of(&["#public"]).holds, Holds::Public);
    }

    #[test]
    fn a_tool_is_labelled_by_its_longest_pattern() {
        let config = config(
            "holds = \"public\"\n[tools.\"*\"]\nsink = \"private\"\n[tools.\"po*\"]\nsink = \"public\"\n\
             [tools.\"p*\"]\nholds = \"secret\"",
        );
        assert_eq!(config.tool("pay").and_then(|own| own.holds), Some(Holds::Secret));
        assert_eq!(config.tool("read").and_then(|own| own.sink), Some(Sink::Private));
        let found = label(Some(&config), false, &tool(None, None), &[]);
        assert_eq!((found.labels.sink, found.labels.holds), (Sink::Public, Holds::Public));
        assert!(found.sink_stated && found.holds_stated);
        assert!(toml::from_str::<LabelConfig>("sinks = \"public\"").is_err());
    }
}
