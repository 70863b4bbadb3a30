//! How one installation spells its tools and arguments. A style is drawn once for a story and stays the same in it.

use super::domains::{Act, Domain};
use crate::train::dice::{Dice, hash};

/// One installation's spelling.
pub(super) struct Style {
    salt: u64,
}

const SYNONYMS: &[(&str, &[&str])] = &[
    ("get", &["get", "get", "read", "fetch", "retrieve", "show", "load"]),
    ("list", &["list", "list", "get", "fetch", "show", "query", "find"]),
    ("search", &["search", "search", "find", "query", "lookup"]),
    ("create", &["create", "create", "add", "new", "make", "insert"]),
    ("add", &["add", "add", "create", "put", "insert"]),
    ("update", &["update", "update", "edit", "modify", "set", "patch", "change"]),
    ("delete", &["delete", "delete", "remove", "erase", "drop", "destroy"]),
    ("remove", &["remove", "delete", "drop"]),
    ("send", &["send", "send", "dispatch", "deliver", "submit"]),
    ("read", &["read", "read", "get", "open", "view"]),
];

impl Style {
    pub(super) fn new(dice: &Dice) -> Self {
        Self { salt: dice.bits() }
    }

    fn choose<'a>(&self, what: &str, options: &[&'a str]) -> &'a str {
        options.get((hash(self.salt, what) >> 7) as usize % options.len().max(1)).copied().unwrap_or_default()
    }

    /// The server's name.
    pub(super) fn server(&self, domain: &Domain) -> String {
        let name = self.choose(domain.name, domain.servers);
        match (hash(self.salt, "prefix") >> 9) % 14 {
            0 => format!("corp-{name}"),
            1 => format!("my-{name}"),
            2 => format!("{name}-mcp"),
            3 => format!("{name}_server"),
            _ => name.to_string(),
        }
    }

    /// The name of an act's tool.
    pub(super) fn tool(&self, domain: &Domain, act: &Act) -> String {
        self.named(domain, act.verbs)
    }

    /// A tool's name from several by spaces.
    pub(super) fn named(&self, domain: &Domain, verbs: &str) -> String {
        let options: Vec<&str> = verbs.split(' ').collect();
        let key = format!("{}/{verbs}", domain.name);
        let mut verb = self.choose(&key, &options).to_string();
        if let Some((first, rest)) = verb.clone().split_once('_')
            && let Some((_, others)) = SYNONYMS.iter().find(|(word, _)| *word == first)
        {
            verb = format!("{}_{rest}", self.choose(&format!("{key}/synonym"), others));
        }
        let server = self.server(domain);
        match (hash(self.salt, "form") >> 5) % 20 {
            0..=2 => format!("{server}.{}", camel(&verb)),
            3 => format!("{server}.{}", verb.replace('_', "-")),
            4 => verb,
            5 => format!("{server}_{verb}"),
            6 => camel(&format!("{}_{verb}", server.replace('-', "_"))),
            7 => format!("mcp__{server}__{verb}"),
            8 => format!("{server}.{server}_{verb}"),
            9 => format!("{server}.{}", verb.replace('_', ".")),
            _ => format!("{server}.{verb}"),
        }
    }

    /// The spelling of a name that has several, by spaces.
    pub(super) fn field(&self, names: &str) -> String {
        let options: Vec<&str> = names.split(' ').map(|name| name.trim_end_matches('?')).collect();
        let name = self.choose(names, &options);
        match (hash(self.salt, "fields") >> 5) % 8 {
            0 | 1 => camel(name),
            2 => name.replace('_', "-"),
            _ => name.to_string(),
        }
    }

    /// A choice that stays the same in the story.
    pub(super) fn steady(&self, what: &str, count: u64) -> u64 {
        (hash(self.salt, what) >> 11) % count.max(1)
    }
}

fn camel(name: &str) -> String {
    let mut out = String::new();
    let mut upper = false;
    for c in name.chars() {
        if c == '_' {
            upper = true;
        } else if upper {
            out.extend(c.to_uppercase());
            upper = false;
        } else {
            out.push(c);
        }
    }
    out
}
