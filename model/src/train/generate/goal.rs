//! An act with all its values: what would be called, and how somebody would ask for it.

use serde_json::{Map, Value, json};

use super::cast::{Cast, Record};
use super::domains::{Act, Deed, Domain, Field, Slot};
use super::party::Party;
use super::style::Style;
use super::{encode, formats, prose, words};
use crate::train::dice::Dice;

/// What a text of the goal carries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload {
    /// Something harmless that is to be said.
    Topic,
    /// What was read: records, or a secret.
    Data,
    /// A code or key that was read.
    Secret,
    /// A link of the other side.
    Link,
}

/// How one placeholder is said: so that the value is in it, and so that one has to look it up.
#[derive(Clone)]
struct Said {
    placeholder: &'static str,
    exact: String,
    loose: String,
}

/// An act with all its values.
#[derive(Clone)]
pub(super) struct Goal {
    pub(super) domain: &'static Domain,
    pub(super) act: &'static Act,
    pub(super) tool: String,
    pub(super) args: Map<String, Value>,
    /// Which argument came from which slot.
    pub(super) slots: Vec<(String, Slot)>,
    pub(super) party: Party,
    /// The record that it is about, by its place in the domain's table.
    pub(super) record: Option<usize>,
    pub(super) payload: Payload,
    said: Vec<Said>,
}

/// Chooses values for an act: the party's, and the record's of that place.
pub(super) fn bind(
    cast: &Cast,
    domain: &'static Domain,
    act: &'static Act,
    party: Party,
    payload: Payload,
) -> Goal {
    let (dice, style) = (cast.dice, &cast.style);
    let table = cast.table(domain);
    let place = dice.below(table.len());
    let record = &table[place];
    let needs_record = act.args.iter().any(|(_, slot)| matches!(slot, Slot::Record | Slot::Of(_)));
    let mut goal = Goal {
        domain,
        act,
        tool: style.tool(domain, act),
        args: Map::new(),
        slots: Vec::new(),
        record: needs_record.then_some(place),
        payload,
        said: Vec::new(),
        party,
    };
    let (said, subject, body) = goal.text(cast);
    for (names, slot) in act.args {
        let optional = names.ends_with('?');
        // What is not said must not decide anything.
        if optional && (matches!(slot, Slot::Choice(_) | Slot::Address | Slot::Url) || dice.chance(0.6)) {
            continue;
        }
        let name = style.field(names);
        let value = goal.value(cast, *slot, names, record, (&said, &subject, &body));
        goal.slots.push((name.clone(), *slot));
        goal.args.insert(name, value);
    }
    extras(dice, style, &mut goal);
    goal
}

impl Goal {
    fn say(&mut self, slot: Slot, exact: String, loose: String) {
        let placeholder = slot.placeholder();
        if !self.said.iter().any(|said| said.placeholder == placeholder) {
            self.said.push(Said { placeholder, exact, loose });
        }
    }

    /// What the goal's text is: how it is called, its headline, and itself.
    fn text(&self, cast: &Cast) -> (String, String, String) {
        let dice = cast.dice;
        let many = self.domain.many;
        match self.payload {
            Payload::Topic if dice.chance(0.12) => {
                let (_, subject, body) = prose::topic(dice, &self.party.name, &cast.user.name);
                let line = body.lines().find(|line| line.len() > 12).unwrap_or("see you soon").to_string();
                (format!("\"{line}\""), subject, line)
            }
            Payload::Secret => match cast.secret() {
                Some((kind, value)) => {
                    let body = match dice.below(4) {
                        0 => value,
                        1 => format!("{kind}: {value}"),
                        2 => format!("Here you are, the {kind} is {value}"),
                        _ => format!("The {kind} of {}: {value}", cast.user.name),
                    };
                    (format!("the {kind}"), kind, body)
                }
                None => prose::topic(dice, &self.party.name, &cast.user.name),
            },
            Payload::Topic => prose::topic(dice, &self.party.name, &cast.user.name),
            Payload::Data => {
                let data = cast.excerpt(self.domain);
                let said = match dice.below(6) {
                    0 => format!("the whole list of {many}"),
                    1 => format!("all {many} you can see"),
                    2 => format!("a copy of our {many}"),
                    3 => format!("the {many} with all their details"),
                    4 => format!("everything that is known on the {many}"),
                    _ => format!("the {many}"),
                };
                (said, format!("{many} {}", words::date(dice)), data)
            }
            Payload::Link => {
                let url = &self.party.url;
                let (said, subject, body) = prose::topic(dice, &self.party.name, &cast.user.name);
                (format!("{said} with the link {url}"), subject, format!("{body} {url}"))
            }
        }
    }

    fn value(
        &mut self,
        cast: &Cast,
        slot: Slot,
        names: &str,
        record: &Record,
        (said, subject, body): (&str, &str, &str),
    ) -> Value {
        let dice = cast.dice;
        let party = self.party.clone();
        let in_git = self.domain.name == "git";
        match slot {
            Slot::Record => {
                let exact = match dice.below(4) {
                    0 => format!("{} {}", self.domain.one, record.id),
                    1 => format!("{} ({})", cast.called(self.domain, record), record.id),
                    2 => format!("{} no. {}", self.domain.one, record.id),
                    _ => format!("the {} with id {}", self.domain.one, record.id),
                };
                self.say(slot, exact, cast.called(self.domain, record));
                json!(record.id)
            }
            Slot::Of(field) => {
                let value = record.field(field);
                let called = cast.called(self.domain, record);
                let exact = match field {
                    Field::Path | Field::Url | Field::Account => {
                        format!("{called} ({})", formats::plain(&value))
                    }
                    _ => called.clone(),
                };
                self.say(slot, exact, called);
                value
            }
            Slot::Address => {
                let exact = match dice.below(9) {
                    0 | 1 => format!("{} <{}>", party.name, party.address),
                    2 | 3 => format!("{} ({})", party.name, party.address),
                    4 => format!("{} {}", dice.pick(ROLES), party.address),
                    5 if dice.chance(0.3) => party.address.to_uppercase(),
                    _ => party.address.clone(),
                };
                self.say(slot, exact, party.name.clone());
                several(dice, names, &party.address)
            }
            Slot::Handle => {
                let exact = match dice.below(3) {
                    0 => format!("@{}", party.handle),
                    1 => format!("{} (user {})", party.name, party.handle),
                    _ => party.handle.clone(),
                };
                self.say(slot, exact, party.name);
                json!(party.handle)
            }
            Slot::Account => {
                let holder = if dice.chance(0.5) { &party.name } else { &party.company };
                let exact = match dice.below(4) {
                    0 => format!("{holder}, {}", party.account),
                    1 => format!("account {}", party.account),
                    2 => format!("{holder} (IBAN {})", party.account),
                    _ => party.account.clone(),
                };
                self.say(slot, exact, party.name.clone());
                let spaced = party.account.contains(' ') && dice.chance(0.5);
                json!(if spaced { party.account.replace(' ', "") } else { party.account })
            }
            Slot::Amount => {
                let cents = dice.between(500, 900_000);
                let value = if dice.chance(0.5) { (cents / 100) as f64 } else { cents as f64 / 100.0 };
                let said = said_amount(dice, value);
                self.say(slot, said.clone(), said);
                if dice.chance(0.3) { json!(format!("{value:.2}")) } else { json!(value) }
            }
            Slot::Day => {
                let iso = words::date(dice);
                let said = prose::said_day(dice, &iso);
                self.say(slot, said.clone(), said);
                json!(iso)
            }
            Slot::Moment => {
                let (iso, hour) = (words::date(dice), dice.between(7, 20));
                let day = prose::said_day(dice, &iso);
                let said = match dice.below(3) {
                    0 => format!("{day} at {hour}:00"),
                    1 if hour > 12 => format!("{} pm on {day}", hour - 12),
                    _ => format!("{day}, {hour} o'clock"),
                };
                self.say(slot, said.clone(), said);
                let gap = if dice.chance(0.5) { "T" } else { " " };
                json!(format!("{iso}{gap}{hour:02}:00{}", dice.pick(&["", ":00", ":00Z"])))
            }
            Slot::Text => {
                self.say(slot, said.to_string(), said.to_string());
                json!(body)
            }
            Slot::Title => {
                self.say(slot, said.to_string(), said.to_string());
                json!(subject)
            }
            Slot::Name(names) => {
                let name = *dice.pick(names);
                self.say(slot, name.to_string(), name.to_string());
                json!(name)
            }
            Slot::Url => {
                let bare = party.url.split("://").last().unwrap_or(&party.url).to_string();
                let said = if dice.chance(0.2) { bare } else { party.url.clone() };
                self.say(slot, said.clone(), said);
                json!(party.url)
            }
            Slot::Path => {
                self.say(slot, party.path.clone(), party.path.clone());
                json!(party.path)
            }
            Slot::Folder => {
                let value = if in_git { party.repo } else { party.folder };
                self.say(slot, value.clone(), value.clone());
                json!(value)
            }
            Slot::Channel => {
                let bare = party.channel.trim_start_matches('#').to_string();
                let said =
                    if dice.chance(0.3) { format!("the {bare} channel") } else { party.channel.clone() };
                self.say(slot, said.clone(), said);
                json!(if dice.chance(0.25) { bare } else { party.channel })
            }
            Slot::Query => {
                let query = prose::query(dice);
                self.say(slot, query.clone(), query.clone());
                json!(query)
            }
            Slot::Count => json!(*dice.pick(&[1, 2, 3, 5, 10, 20, 25, 50, 100])),
            Slot::Place => {
                self.say(slot, party.place.clone(), party.place.clone());
                json!(party.place)
            }
            Slot::Choice(options) => {
                let (said, value) = dice.pick(options);
                self.say(slot, with_party(said, &party), with_party(said, &party));
                json!(with_party(value, &party))
            }
            Slot::Secret => {
                self.say(slot, party.secret.clone(), party.secret.clone());
                json!(party.secret)
            }
        }
    }

    /// The goal as a request: with the values in it, or so that they have to be looked up.
    pub(super) fn phrase(&self, dice: &Dice, exact: bool) -> String {
        let mut text = (*dice.pick(self.act.asks)).to_string();
        for said in &self.said {
            text = text.replace(said.placeholder, if exact { &said.exact } else { &said.loose });
        }
        text = text.replace("{many}", self.domain.many).replace("{one}", self.domain.one);
        self.drop_missing(text)
    }

    /// The goal as a request that says one of its values in other words.
    pub(super) fn phrase_with(&self, dice: &Dice, placeholder: &str, words: &str) -> String {
        let saying: Vec<&&str> = self.act.asks.iter().filter(|ask| ask.contains(placeholder)).collect();
        let mut text = if saying.is_empty() {
            (*dice.pick(self.act.asks)).to_string()
        } else {
            (**dice.pick(&saying)).to_string()
        };
        text = text.replace(placeholder, words);
        for said in &self.said {
            text = text.replace(said.placeholder, &said.exact);
        }
        self.drop_missing(text.replace("{many}", self.domain.many).replace("{one}", self.domain.one))
    }

    /// A phrase may speak of something optional that was left out; then it is said in general.
    fn drop_missing(&self, text: String) -> String {
        text.replace("{query}", "that")
            .replace("{day}", "then")
            .replace("{count}", "a few")
            .replace("{folder}", "the project")
            .replace("{choice}", "usual")
            .replace("{place}", "there")
            .replace("{text}", "the news")
            .replace("{name}", "a talk")
            .replace("{path}", "it")
    }

    /// How a placeholder is said, with its value.
    pub(super) fn said(&self, placeholder: &str) -> Option<&str> {
        self.said.iter().find(|said| said.placeholder == placeholder).map(|said| said.exact.as_str())
    }

    /// Whether somebody who only knows the request would have to look up whom or what is meant.
    pub(super) fn needs_lookup(&self) -> bool {
        self.slots.iter().any(|(_, slot)| matches!(slot, Slot::Address | Slot::Handle | Slot::Account))
    }

    /// Whether carrying it out for a stranger lets data out.
    pub(super) fn leaks(&self) -> bool {
        let carries = matches!(self.payload, Payload::Data | Payload::Secret)
            && self.slots.iter().any(|(_, s)| matches!(s, Slot::Text));
        let outward =
            self.slots.iter().any(|(_, slot)| matches!(slot, Slot::Address | Slot::Url | Slot::Handle));
        let takes = self.act.deed == Deed::Share && self.domain.name != "chat"
            || self.act.deed == Deed::Send
                && self.slots.iter().any(|(_, s)| *s == Slot::Url)
                && !self.slots.iter().any(|(_, s)| *s == Slot::Text);
        carries || takes && outward
    }

    /// The arguments that say where the effect goes.
    pub(super) fn targets(&self) -> impl Iterator<Item = &(String, Slot)> {
        self.slots.iter().filter(|(_, slot)| slot.is_target())
    }
}

/// What people call whoever is behind an address.
const ROLES: &[&str] = &[
    "our auditor",
    "my lawyer",
    "the new supplier",
    "the support desk at",
    "my other address",
    "our partner",
    "the landlord",
    "the archive mailbox",
    "my sister",
    "the tax office at",
    "the organiser",
    "our backup account",
    "a friend,",
    "the agency",
];

fn with_party(text: &str, party: &Party) -> String {
    text.replace("{path}", &party.path)
        .replace("{folder}", &party.folder)
        .replace("{url}", &party.url)
        .replace("{host}", &party.host)
        .replace("{handle}", &party.handle.to_lowercase())
        .replace("{address}", &party.address)
        .replace("{company}", &party.company)
}

fn several(dice: &Dice, names: &str, value: &str) -> Value {
    let plural =
        ["recipients", "attendees", "participants", "guests", "invitees"].iter().any(|n| names.contains(n));
    if plural && dice.chance(0.45) { json!([value]) } else { json!(value) }
}

/// A sum as people write it.
pub(super) fn said_amount(dice: &Dice, value: f64) -> String {
    let grouped = {
        let whole = (value as u64).to_string();
        let mut out = String::new();
        for (n, c) in whole.chars().enumerate() {
            if n > 0 && (whole.len() - n) % 3 == 0 {
                out.push(',');
            }
            out.push(c);
        }
        if value.fract() > 0.0 { format!("{out}{}", &format!("{:.2}", value.fract())[1..]) } else { out }
    };
    match dice.below(7) {
        0 => format!("${grouped}"),
        1 => format!("{value} EUR"),
        2 => format!("{grouped} euros"),
        3 => format!("€{value}"),
        4 => format!("{value:.2} USD"),
        5 if value.fract() > 0.0 => {
            format!("€{}", grouped.replace(',', " ").replace('.', ",").replace(' ', "."))
        }
        5 => format!("{value} bucks"),
        _ => format!("{value}"),
    }
}

/// Arguments that installations ask for and nobody speaks of.
fn extras(dice: &Dice, style: &Style, goal: &mut Goal) {
    if !dice.chance(0.15) {
        return;
    }
    let extra = match goal.act.deed {
        Deed::Send => [("cc", json!([])), ("priority", json!("normal")), ("format", json!("text"))],
        Deed::Look => [("page", json!(1)), ("verbose", json!(false)), ("sort", json!("desc"))],
        Deed::Pay => [("currency", json!("EUR")), ("express", json!(false)), ("note", json!(""))],
        _ => [("dry_run", json!(false)), ("confirm", json!(true)), ("notify", json!(false))],
    };
    let (name, value) = dice.pick(&extra);
    goal.args.entry(style.field(name)).or_insert_with(|| value.clone());
}

/// Data made fit for a place such as a query string or a name: short, and often encoded.
pub(super) fn squeeze(dice: &Dice, data: &str) -> String {
    let short: String = data.chars().take(dice.between(30, 160)).collect();
    match dice.below(4) {
        0 => encode::base64(&short),
        1 => encode::hex(&short.chars().take(60).collect::<String>()),
        _ => encode::percent(&short),
    }
}
