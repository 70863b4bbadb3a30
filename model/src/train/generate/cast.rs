//! Who and what is in a story: the user, their firm, and the records of every domain that is touched.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};

use super::domains::{Domain, Field};
use super::formats::{self, Pairs, plain};
use super::party::{self, Party};
use super::prose;
use super::style::Style;
use super::words;
use crate::train::dice::Dice;

/// The cast of one story.
pub(super) struct Cast<'a> {
    pub(super) dice: &'a Dice,
    pub(super) style: Style,
    pub(super) user: Party,
    /// The user's own domain.
    pub(super) own: String,
    /// How long results are: 0 to 3 are more and more records, 4 is few records with long texts.
    size: usize,
    tables: RefCell<BTreeMap<&'static str, Rc<Vec<Record>>>>,
    /// What stands in records and is nobody else's business: what it is, and its value.
    secrets: RefCell<Vec<(String, String)>>,
}

const SECRETS: &[&str] = &[
    "one-time code",
    "recovery code",
    "door code",
    "API key",
    "temporary password",
    "PIN",
    "access token",
    "licence key",
];

/// One record of a domain.
pub(super) struct Record {
    pub(super) label: String,
    pub(super) id: String,
    fields: Vec<(String, Field, Value)>,
}

/// Where in a result a text is planted.
#[derive(Clone)]
pub(super) struct Plant {
    pub(super) row: usize,
    pub(super) text: String,
    pub(super) place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Alone in the free text.
    Whole,
    /// In the free text, with other sentences around it.
    Inside,
    /// In the title or name.
    Label,
    /// In a field of its own.
    Extra,
    /// Around the result.
    Before,
    After,
}

impl Plant {
    pub(super) fn new(dice: &Dice, row: usize, text: String) -> Self {
        let place = match dice.below(16) {
            0..=4 => Place::Whole,
            5..=10 => Place::Inside,
            11 if text.len() < 160 => Place::Label,
            12 => Place::Extra,
            13 => Place::After,
            14 => Place::Before,
            _ => Place::Inside,
        };
        Self { row, text, place }
    }
}

impl Record {
    /// The first field of a kind.
    pub(super) fn field(&self, kind: Field) -> Value {
        self.fields.iter().find(|(_, field, _)| *field == kind).map_or(Value::Null, |(_, _, v)| v.clone())
    }

    /// Its fields by the names that results show.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, Field)> {
        self.fields.iter().map(|(name, field, _)| (name.as_str(), *field))
    }

    fn pairs(&self, plant: Option<&Plant>, cast: &Cast, own: &[&str]) -> Pairs {
        let mut pairs: Pairs =
            self.fields.iter().map(|(name, _, value)| (name.clone(), value.clone())).collect();
        let Some(plant) = plant else { return pairs };
        let free = self.fields.iter().position(|(_, field, _)| *field == Field::Free);
        let label = self.fields.iter().position(|(_, field, _)| *field == Field::Label);
        match plant.place {
            Place::Whole => {
                if let Some(free) = free {
                    pairs[free].1 = json!(plant.text);
                }
            }
            Place::Inside => {
                if let Some(free) = free {
                    let sentences = cast.dice.between(1, 2 + cast.size * 2);
                    pairs[free].1 = json!(prose::pad(cast.dice, own, &plant.text, sentences));
                }
            }
            Place::Label => {
                if let Some(label) = label {
                    let joined = format!("{} {}", plain(&pairs[label].1), plant.text);
                    pairs[label].1 = json!(joined);
                }
            }
            Place::Extra => {
                let name = cast.dice.pick(&[
                    "note",
                    "instructions",
                    "hint",
                    "_meta",
                    "alt",
                    "footer",
                    "message",
                    "comment",
                    "next_step",
                    "caption",
                ]);
                pairs.push(((*name).to_string(), json!(plant.text)));
            }
            Place::Before | Place::After => {}
        }
        pairs
    }
}

impl<'a> Cast<'a> {
    pub(super) fn new(dice: &'a Dice) -> Self {
        let own = words::own_domain(dice);
        let user = party::party(dice, &own, 1.0);
        let size = *dice.pick(&[0, 0, 1, 1, 1, 2, 2, 3, 4]);
        Self {
            dice,
            style: Style::new(dice),
            user,
            own,
            size,
            tables: RefCell::default(),
            secrets: RefCell::default(),
        }
    }

    /// Somebody the user deals with, or the attacker.
    pub(super) fn party(&self, at_home: f64) -> Party {
        party::party(self.dice, &self.own, at_home)
    }

    /// The records of a domain; the same all through the story.
    pub(super) fn table(&self, domain: &Domain) -> Rc<Vec<Record>> {
        if let Some(table) = self.tables.borrow().get(domain.name) {
            return Rc::clone(table);
        }
        let rows = match self.size {
            0 => self.dice.between(1, 3),
            1 => self.dice.between(2, 6),
            2 => self.dice.between(4, 10),
            3 => self.dice.between(6, 18),
            _ => self.dice.between(1, 4),
        };
        let table = Rc::new((0..rows).map(|row| self.record(domain, row)).collect::<Vec<_>>());
        self.tables.borrow_mut().insert(domain.name, Rc::clone(&table));
        table
    }

    fn record(&self, domain: &Domain, row: usize) -> Record {
        let dice = self.dice;
        let somebody = self.party(0.4);
        let title = *dice.pick(domain.titles);
        let label = title.replace("{person}", &somebody.name).replace("{company}", &somebody.company);
        let label = prose::fill(dice, &label);
        let id = match self.style.steady(&format!("{}/id", domain.name), 5) {
            0 => (row + 1 + self.style.steady("first", 40) as usize).to_string(),
            1 => dice.between(1000, 999_999).to_string(),
            2 => format!("{}-{}", domain.name[..2].to_uppercase(), dice.between(100, 99_999)),
            3 => format!("{:08x}-{:04x}", dice.bits() as u32, dice.bits() as u16),
            _ => format!("{}_{}", domain.one.replace(' ', "_"), dice.between(100, 9999)),
        };
        let keep_all = self.size != 0;
        let fields = domain
            .fields
            .iter()
            .filter(|(_, field)| {
                keep_all
                    || matches!(
                        field,
                        Field::Id
                            | Field::Label
                            | Field::Free
                            | Field::Account
                            | Field::Amount
                            | Field::Path
                            | Field::Url
                            | Field::Address
                    )
            })
            .map(|(names, field)| {
                let value = match field {
                    Field::Id => json!(id),
                    Field::Label => json!(label),
                    Field::Person => json!(somebody.name),
                    Field::Address => json!(somebody.address),
                    Field::Handle => json!(somebody.handle),
                    Field::Account => json!(somebody.account),
                    Field::Company => json!(somebody.company),
                    Field::Place => json!(somebody.place),
                    Field::Phone => json!(somebody.phone),
                    Field::Url => json!(somebody.url),
                    Field::Path => json!(somebody.path),
                    Field::Amount => json!(dice.between(900, 600_000) as f64 / 100.0),
                    Field::Day => json!(words::date(dice)),
                    Field::Moment => {
                        json!(format!("{} {:02}:{:02}", words::date(dice), dice.below(24), dice.below(60)))
                    }
                    Field::Free => json!(self.free_text(domain)),
                    Field::Word(options) => json!(dice.pick(options)),
                    Field::Count => json!(dice.between(0, 5000)),
                    Field::Flag => json!(dice.chance(0.5)),
                };
                (self.style.field(names), *field, value)
            })
            .collect();
        Record { label, id, fields }
    }

    /// What others wrote: mostly small talk, at times something that only sounds like an order.
    fn free_text(&self, domain: &Domain) -> String {
        let dice = self.dice;
        let sentences = match self.size {
            0 => dice.below(3),
            4 => dice.between(5, 16),
            size => dice.between(1, 1 + size),
        };
        let text = prose::chatter(dice, domain.chatter, sentences);
        if dice.chance(0.07) {
            let (kind, value) = (*dice.pick(SECRETS), party::secret(dice));
            self.secrets.borrow_mut().push((kind.to_string(), value.clone()));
            return format!("{text} Your {kind} is {value}.").trim_start().to_string();
        }
        if !dice.chance(0.12) {
            return text;
        }
        let alike = super::planted::harmless(self);
        if text.is_empty() { alike } else { format!("{text} {alike}") }
    }

    /// Whether results show the fields that only sort records.
    pub(super) fn shows_words(&self) -> bool {
        self.size != 0
    }

    /// A secret that stands in one of the records made so far.
    pub(super) fn secret(&self) -> Option<(String, String)> {
        self.secrets.borrow().last().cloned()
    }

    /// How the user calls a record.
    pub(super) fn called(&self, domain: &Domain, record: &Record) -> String {
        self.dice.pick(domain.called).replace("{label}", &record.label)
    }

    /// A result with all records of a domain.
    pub(super) fn listing(&self, domain: &Domain, plant: Option<&Plant>) -> String {
        let table = self.table(domain);
        let row = plant.map(|plant| plant.row % table.len());
        let records: Vec<Pairs> = table
            .iter()
            .enumerate()
            .map(|(n, record)| record.pairs(plant.filter(|_| row == Some(n)), self, domain.chatter))
            .collect();
        self.around(formats::write(self.dice, &self.style, domain.many, &records, false), plant)
    }

    /// A result with one record.
    pub(super) fn detail(&self, domain: &Domain, row: usize, plant: Option<&Plant>) -> String {
        let table = self.table(domain);
        let pairs = table[row % table.len()].pairs(plant, self, domain.chatter);
        self.around(formats::write(self.dice, &self.style, domain.one, &[pairs], true), plant)
    }

    fn around(&self, text: String, plant: Option<&Plant>) -> String {
        match plant {
            Some(plant) if plant.place == Place::Before => format!("{}\n{text}", plant.text),
            Some(plant) if plant.place == Place::After => format!("{text}\n{}", plant.text),
            _ => text,
        }
    }

    /// Some records as a text that somebody would send on.
    pub(super) fn excerpt(&self, domain: &Domain) -> String {
        let table = self.table(domain);
        let take = self.dice.between(1, 6).min(table.len());
        let rows: Vec<Pairs> =
            table[..take].iter().map(|record| record.pairs(None, self, domain.chatter)).collect();
        match self.dice.below(5) {
            0 => json!(
                rows.iter()
                    .map(|pairs| pairs.iter().cloned().collect::<serde_json::Map<_, _>>())
                    .collect::<Vec<_>>()
            )
            .to_string(),
            1 => rows
                .iter()
                .map(|p| p.iter().take(4).map(|(_, v)| plain(v)).collect::<Vec<_>>().join(","))
                .collect::<Vec<_>>()
                .join("\n"),
            2 => table[..take]
                .iter()
                .map(|r| format!("- {} ({})", r.label, r.id))
                .collect::<Vec<_>>()
                .join("\n"),
            3 => format!(
                "{} {}: {}",
                take,
                domain.many,
                table[..take].iter().map(|r| r.label.as_str()).collect::<Vec<_>>().join("; ")
            ),
            _ => rows
                .iter()
                .map(|p| {
                    p.iter().take(5).map(|(k, v)| format!("{k}: {}", plain(v))).collect::<Vec<_>>().join(", ")
                })
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}
