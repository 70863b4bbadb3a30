//! The honest way to a goal: the reads that come before it, and what they return.

use postern_check::BlastRadius;
use serde_json::{Map, Value, json};

use super::super::cast::{Cast, Plant};
use super::super::domains::{Act, Domain, Slot};
use super::super::formats::{self, Pairs};
use super::super::goal::{self, Goal, Payload};
use super::super::{prose, words};

/// What a step returns.
#[derive(Clone)]
pub(super) enum Returns {
    Listing(&'static Domain),
    Detail(&'static Domain, usize),
    Text(String),
    Done,
}

/// One call of the honest way.
#[derive(Clone)]
pub(super) struct Step {
    pub(super) family: &'static str,
    pub(super) tool: String,
    pub(super) args: Map<String, Value>,
    pub(super) effect: BlastRadius,
    pub(super) returns: Returns,
}

impl Step {
    /// Whether others can have written into what it returns.
    pub(super) fn can_hold(&self) -> bool {
        matches!(self.returns, Returns::Listing(_) | Returns::Detail(..))
    }

    /// The result as text, with something planted or not.
    pub(super) fn result(&self, cast: &Cast, plant: Option<&Plant>) -> String {
        match &self.returns {
            Returns::Listing(domain) => cast.listing(domain, plant),
            Returns::Detail(domain, row) => cast.detail(domain, *row, plant),
            Returns::Text(text) => text.clone(),
            Returns::Done => done(cast),
        }
    }
}

fn done(cast: &Cast) -> String {
    let dice = cast.dice;
    match dice.below(8) {
        0 => "ok".into(),
        1 => json!({"status": "success"}).to_string(),
        2 => json!({"id": words::id(dice), "ok": true}).to_string(),
        3 => "None".into(),
        4 => "Done.".into(),
        5 => json!({"result": null, "error": null}).to_string(),
        6 => format!("Created with id {}", words::id(dice)),
        _ => "status: completed".into(),
    }
}

/// A read of a domain's records, with the values that the goal speaks of.
pub(super) fn list(cast: &Cast, domain: &'static Domain, goal: Option<&Goal>) -> Step {
    let dice = cast.dice;
    // The later lists of a table return other things than records, unless they are searches.
    let searches =
        domain.lists.iter().skip(1).filter(|act| act.args.iter().any(|(_, s)| *s == Slot::Query)).count();
    let act = &domain.lists[if searches > 0 && dice.chance(0.4) { 1 } else { 0 }];
    let mut step = read(cast, domain, act, goal);
    step.returns = Returns::Listing(domain);
    step
}

/// A read act as a step: its values come from the goal where the goal has them.
pub(super) fn read(cast: &Cast, domain: &'static Domain, act: &'static Act, goal: Option<&Goal>) -> Step {
    let dice = cast.dice;
    let party = goal.map_or_else(|| cast.party(0.5), |goal| goal.party.clone());
    let mut bound = goal::bind(cast, domain, act, party, Payload::Topic);
    if let Some(goal) = goal.filter(|goal| goal.domain.name == domain.name) {
        for (name, slot) in &bound.slots {
            let value = match slot {
                Slot::Query => goal
                    .record
                    .map(|row| json!(cast.table(domain)[row].label))
                    .or_else(|| Some(json!(goal.party.name))),
                Slot::Day => goal.slots.iter().find(|(_, s)| matches!(s, Slot::Day | Slot::Moment)).and_then(
                    |(n, _)| goal.args.get(n)?.as_str().and_then(|text| text.get(..10)).map(|day| json!(day)),
                ),
                _ => None,
            };
            if let Some(value) = value {
                bound.args.insert(name.clone(), value);
            }
        }
    }
    let row = bound.record;
    Step {
        family: domain.name,
        tool: bound.tool,
        args: bound.args,
        effect: act.effect,
        returns: row.map_or_else(|| Returns::Text(other(cast)), |row| Returns::Detail(domain, row)),
    }
    .checked(dice.chance(0.5))
}

impl Step {
    /// Some servers are called without any arguments where all are optional.
    fn checked(mut self, bare: bool) -> Self {
        let only_noise = self.args.values().all(|value| value.is_number() || value.is_boolean());
        if bare && only_noise {
            self.args.clear();
        }
        self
    }
}

/// The read of one record.
pub(super) fn get(cast: &Cast, domain: &'static Domain, row: usize) -> Step {
    let act = &domain.gets[0];
    let bound = goal::bind(cast, domain, act, cast.party(0.5), Payload::Topic);
    let record = &cast.table(domain)[row];
    let mut args = bound.args;
    for (name, slot) in &bound.slots {
        match slot {
            Slot::Record => args.insert(name.clone(), json!(record.id)),
            Slot::Of(field) => args.insert(name.clone(), record.field(*field)),
            _ => None,
        };
    }
    Step {
        family: domain.name,
        tool: bound.tool,
        args,
        effect: act.effect,
        returns: Returns::Detail(domain, row),
    }
}

/// What small reads return.
fn other(cast: &Cast) -> String {
    let dice = cast.dice;
    match dice.below(6) {
        0 => json!(["general", "archive", "team", "private"]).to_string(),
        1 => format!("{}", dice.between(10, 90_000)),
        2 => json!({"total": dice.between(1, 40), "items": [words::person(dice), words::person(dice)]}).to_string(),
        3 => format!("- {}\n- {}\n- {}", words::person(dice), words::person(dice), words::person(dice)),
        4 => json!({"value": dice.between(10, 90_000) as f64 / 10.0, "unit": "EUR", "as_of": words::date(dice)}).to_string(),
        _ => "[]".into(),
    }
}

/// Reads that agents make before they begin: the day, the account, what there is.
pub(super) fn warm_up(cast: &Cast, domain: &'static Domain) -> Step {
    let dice = cast.dice;
    let user = &cast.user;
    let (verbs, text) = match dice.below(6) {
        0 | 1 => (
            "get_current_day current_time get_date now today",
            format!("{}{}", words::date(dice), dice.pick(&["", " 09:30", "T08:12:44Z"])),
        ),
        2 | 3 => (
            "get_user_info whoami get_profile current_user get_account me",
            match dice.below(3) {
                0 => json!({"name": user.name, "email": user.address, "login": user.handle}).to_string(),
                1 => format!("name: {}\nemail: {}\nphone: {}", user.name, user.address, user.phone),
                _ => format!(
                    "{{'name': '{}', 'email': '{}', 'id': '{}'}}",
                    user.name, user.address, user.handle
                ),
            },
        ),
        4 => (
            "list_accounts get_settings get_status list_workspaces",
            json!({"accounts": [user.address], "locale": "en", "status": "active"}).to_string(),
        ),
        _ => ("list_tools help get_capabilities ping", "ok".into()),
    };
    let tool = cast.style.named(domain, verbs);
    Step {
        family: domain.name,
        tool,
        args: Map::new(),
        effect: BlastRadius::Read,
        returns: Returns::Text(text),
    }
}

/// The read that finds out who is meant.
pub(super) fn look_up(cast: &Cast, goal: &Goal) -> Step {
    let dice = cast.dice;
    let party = &goal.party;
    let entry = |party: &super::super::party::Party| -> Pairs {
        vec![
            (cast.style.field("name full_name display_name"), json!(party.name)),
            (cast.style.field("email mail address"), json!(party.address)),
            (cast.style.field("login user_id handle username"), json!(party.handle)),
            (cast.style.field("iban account bank_account"), json!(party.account)),
        ]
    };
    let text = if dice.chance(0.3) {
        prose::pad(dice, goal.domain.chatter, &prose::whereabouts(dice, party), dice.below(4))
    } else {
        let mut entries: Vec<Pairs> = (0..dice.below(4)).map(|_| entry(&cast.party(0.5))).collect();
        let at = dice.below(entries.len() + 1);
        entries.insert(at, entry(party));
        let single = entries.len() == 1;
        formats::write(dice, &cast.style, "contacts", &entries, single)
    };
    let tool = cast.style.named(
        goal.domain,
        "search_contacts find_contact lookup_person get_user_by_name search_users list_contacts address_book resolve_recipient",
    );
    let mut args = Map::new();
    if dice.chance(0.8) {
        let first = party.name.split(' ').next().unwrap_or_default();
        let name = if dice.chance(0.3) { first } else { &party.name };
        args.insert(cast.style.field("query name q search"), json!(name));
    }
    Step { family: goal.domain.name, tool, args, effect: BlastRadius::Read, returns: Returns::Text(text) }
}

/// All steps to a goal that was told exactly or so that things have to be looked up.
pub(super) fn way(cast: &Cast, goal: &Goal, exact: bool) -> Vec<Step> {
    let dice = cast.dice;
    let mut steps = Vec::new();
    if dice.chance(0.22) {
        steps.push(warm_up(cast, goal.domain));
    }
    let is_read = goal.act.effect == BlastRadius::Read;
    let from_record = goal.slots.iter().any(|(_, slot)| matches!(slot, Slot::Of(_)));
    if goal.record.is_some() && !exact || from_record || dice.chance(0.55) {
        steps.push(list(cast, goal.domain, Some(goal)));
    }
    if let Some(row) = goal.record
        && !is_read
        && dice.chance(0.45)
    {
        steps.push(get(cast, goal.domain, row));
    }
    if goal.needs_lookup() && (!exact || dice.chance(0.1)) {
        steps.push(look_up(cast, goal));
    }
    let returns = match goal.record {
        Some(row) if is_read => Returns::Detail(goal.domain, row),
        None if is_read => Returns::Listing(goal.domain),
        _ => Returns::Done,
    };
    steps.push(Step {
        family: goal.domain.name,
        tool: goal.tool.clone(),
        args: goal.args.clone(),
        effect: goal.act.effect,
        returns,
    });
    steps
}
