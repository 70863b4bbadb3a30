//! One rule against one call.

use super::call::{Changes, Cost, View};
use super::files::{self, Names, Under};
use super::money::Amount;
use super::rule::{Reach, Rule, Touch, What};
use super::spent::{Spent, is_tool};
use crate::facts::shown;
use crate::policy::Finding;

/// What a rule says of a call.
enum Says {
    Broken(Option<String>, String),
    Budget(Option<String>, String),
    Confirm(Option<String>, String),
    /// The request itself asks for it.
    Conflict(Option<String>, String),
}

/// Checks one rule. `text` is the clause as the user wrote it.
pub(super) fn one(
    rule: &Rule,
    text: &str,
    view: &View<'_>,
    own: &[String],
    spent: &Spent,
) -> Option<Finding> {
    let says = match rule {
        Rule::OnlyDomains { domains, reach } => domains_only(view, domains, *reach),
        Rule::NotDomains { domains, reach } => domains_never(view, domains, *reach),
        Rule::OnlyRecipients(allowed) => recipients_only(view, allowed),
        Rule::NotRecipients(forbidden) => recipients_never(view, forbidden),
        Rule::OnlyUnder { folders, touch } => only_under(view, folders, *touch),
        Rule::NotFiles { files, touch } => not_files(view, files, *touch),
        Rule::Each(most) => each(view, most),
        Rule::Total(most) => total(view, most, spent),
        Rule::Count { most, what } => count(view, *most, *what, spent),
        Rule::CountTool { most, tool } => count_tool(view, *most, tool, spent),
        Rule::ReadOnly => read_only(view),
        Rule::NothingOutside(reach) => nothing_outside(view, own, *reach),
        Rule::Hours { from, to, what } => hours(view, *from, *to, *what),
        Rule::Weekdays => weekdays(view),
        Rule::Confirm(what) => view
            .is(*what)
            .then(|| Says::Confirm(None, format!("it wants to be asked before {}", what.name()))),
        Rule::Never(what) => never(view, *what),
        Rule::Own(_) => None,
    }?;
    let (code, path, what) = match says {
        Says::Broken(path, what) => ("constraint-broken", path, what),
        Says::Budget(path, what) => ("constraint-budget", path, what),
        Says::Confirm(path, what) => ("constraint-confirm", path, what),
        Says::Conflict(path, what) => (
            "constraint-conflict",
            path,
            format!("{what}; but the request says \"{}\"", shown_long(view.call.intent)),
        ),
    };
    let message = format!("the constraint \"{}\": {what}", shown_long(text));
    Some(Finding { code, path, message })
}

/// A clause or request for a message.
fn shown_long(text: &str) -> String {
    const MOST: usize = 300;
    let mut short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    crate::visible::visible(&short)
}

/// Broken, unless the request itself asks for it.
fn broken_unless(asked: bool, path: Option<String>, what: String) -> Option<Says> {
    Some(if asked { Says::Conflict(path, what) } else { Says::Broken(path, what) })
}

// ----- whom it reaches

fn within(domain: &str, allowed: &str) -> bool {
    domain == allowed || domain.strip_suffix(allowed).is_some_and(|rest| rest.ends_with('.'))
}

/// Whether the call may reach somebody by mail or message.
fn reaches_people(view: &View<'_>) -> bool {
    view.is(What::Mail)
        || (view.changes != Changes::No
            && (view.call.outside || view.is(What::Share))
            && !(view.mailboxes.is_empty() && view.unresolved.is_empty()))
        || (view.changes == Changes::Yes && !view.mailboxes.is_empty())
}

fn domains_only(view: &View<'_>, domains: &[String], reach: Reach) -> Option<Says> {
    if reach != Reach::Web && reaches_people(view) {
        let other = view
            .mailboxes
            .iter()
            .find(|(_, mailbox)| !domains.iter().any(|domain| View::domain_of(mailbox) == domain));
        if let Some((path, mailbox)) = other {
            let asked = view.request_names(mailbox) || view.request_names(View::domain_of(mailbox));
            return broken_unless(asked, Some(path.clone()), format!("{} is elsewhere", shown(mailbox)));
        }
        if let Some((path, name)) = view.unresolved.first() {
            return Some(Says::Confirm(
                Some(path.clone()),
                format!("where {} is cannot be told", shown(name)),
            ));
        }
        if view.mailboxes.is_empty() {
            return Some(Says::Confirm(None, "whom it reaches cannot be told".into()));
        }
    }
    if reach != Reach::Mail {
        let bare: Vec<(String, String)> =
            view.bare_domains().map(|(path, domain)| (path.to_owned(), domain)).collect();
        let other = view
            .hosts
            .iter()
            .chain(&bare)
            .find(|(_, host)| !domains.iter().any(|domain| within(host, domain)));
        if let Some((path, host)) = other {
            return broken_unless(
                view.request_names(host),
                Some(path.clone()),
                format!("{} is elsewhere", shown(host)),
            );
        }
        if reach == Reach::Any
            && view.call.outside
            && view.hosts.is_empty()
            && view.mailboxes.is_empty()
            && bare.is_empty()
        {
            return Some(Says::Confirm(None, "where it sends cannot be told".into()));
        }
    }
    None
}

fn domains_never(view: &View<'_>, domains: &[String], reach: Reach) -> Option<Says> {
    let forbidden = |host: &str| domains.iter().any(|domain| within(host, domain));
    if reach != Reach::Web {
        if let Some((path, mailbox)) =
            view.mailboxes.iter().find(|(_, mailbox)| forbidden(View::domain_of(mailbox)))
        {
            let asked = view.request_names(mailbox) || view.request_names(View::domain_of(mailbox));
            return broken_unless(asked, Some(path.clone()), format!("{} is forbidden", shown(mailbox)));
        }
        if reach == Reach::Mail
            && view.is(What::Mail)
            && let Some((path, name)) = view.unresolved.first()
        {
            return Some(Says::Confirm(
                Some(path.clone()),
                format!("where {} is cannot be told", shown(name)),
            ));
        }
    }
    if reach != Reach::Mail {
        let bare: Vec<(String, String)> =
            view.bare_domains().map(|(path, domain)| (path.to_owned(), domain)).collect();
        if let Some((path, host)) = view.hosts.iter().chain(&bare).find(|(_, host)| forbidden(host)) {
            return broken_unless(
                view.request_names(host),
                Some(path.clone()),
                format!("{} is forbidden", shown(host)),
            );
        }
    }
    None
}

fn recipients_only(view: &View<'_>, allowed: &[String]) -> Option<Says> {
    if !reaches_people(view) {
        return None;
    }
    if let Some((path, mailbox)) = view.mailboxes.iter().find(|(_, mailbox)| !allowed.contains(mailbox)) {
        return broken_unless(
            view.request_names(mailbox),
            Some(path.clone()),
            format!("{} is not among them", shown(mailbox)),
        );
    }
    let (path, name) = view.unresolved.first()?;
    Some(Says::Confirm(Some(path.clone()), format!("who {} is cannot be told", shown(name))))
}

fn recipients_never(view: &View<'_>, forbidden: &[String]) -> Option<Says> {
    let (path, mailbox) = view.mailboxes.iter().find(|(_, mailbox)| forbidden.contains(mailbox))?;
    broken_unless(view.request_names(mailbox), Some(path.clone()), format!("{} is forbidden", shown(mailbox)))
}

fn nothing_outside(view: &View<'_>, own: &[String], reach: Reach) -> Option<Says> {
    const OTHERS: &[&str] = &[
        "client",
        "clients",
        "customer",
        "customers",
        "supplier",
        "suppliers",
        "partner",
        "partners",
        "vendor",
        "vendors",
        "external",
        "public",
        "press",
    ];
    let asks_others = || {
        let words: Vec<&str> = view.intent.split(|c: char| !c.is_alphanumeric()).collect();
        words.iter().any(|word| OTHERS.contains(word)) && requests(&view.intent, What::Mail)
    };
    if reach != Reach::Web && reaches_people(view) {
        let known = !own.is_empty();
        let other = view
            .mailboxes
            .iter()
            .find(|(_, mailbox)| !own.iter().any(|domain| View::domain_of(mailbox) == domain));
        if let Some((path, mailbox)) = other {
            let named = view.request_names(mailbox) || view.request_names(View::domain_of(mailbox));
            let what = format!("{} may be outside", shown(mailbox));
            if named || asks_others() {
                return Some(Says::Conflict(Some(path.clone()), what));
            }
            return Some(if known {
                Says::Broken(Some(path.clone()), what)
            } else {
                Says::Confirm(Some(path.clone()), what)
            });
        }
        if let Some((path, name)) = view.unresolved.first() {
            let what = format!("whether {} is outside cannot be told", shown(name));
            return Some(if asks_others() {
                Says::Conflict(Some(path.clone()), what)
            } else {
                Says::Confirm(Some(path.clone()), what)
            });
        }
        if view.mailboxes.is_empty() {
            return Some(Says::Confirm(None, "whom it reaches cannot be told".into()));
        }
        return None;
    }
    // Reading from elsewhere sends nothing but the question.
    let sends = view.call.outside
        || view.is(What::Post)
        || view.is(What::Share)
        || (view.changes == Changes::Yes && !view.hosts.is_empty());
    if reach == Reach::Mail || !(sends || (reach == Reach::Web && !view.hosts.is_empty())) {
        return None;
    }
    match view.hosts.iter().find(|(_, host)| !own.iter().any(|domain| within(host, domain))) {
        Some((path, host)) => {
            let what = format!("{} may be outside", shown(host));
            if view.request_names(host) {
                return Some(Says::Conflict(Some(path.clone()), what));
            }
            Some(if own.is_empty() {
                Says::Confirm(Some(path.clone()), what)
            } else {
                Says::Broken(Some(path.clone()), what)
            })
        }
        None if view.hosts.is_empty() => Some(Says::Confirm(None, "it may send something out".into())),
        None => None,
    }
}

// ----- files

fn only_under(view: &View<'_>, folders: &[String], touch: Touch) -> Option<Says> {
    if touch == Touch::Write && view.changes == Changes::No {
        return None;
    }
    const PATHS: &[&str] = &[
        "path",
        "paths",
        "file",
        "files",
        "filename",
        "filepath",
        "dir",
        "directory",
        "folder",
        "destination",
        "dest",
        "dst",
        "target",
        "output",
    ];
    const SOURCES: &[&str] = &["source", "src"];
    let copies = view.tool.iter().any(|word| word == "copy" || word == "cp");
    let mut unknown = None;
    for text in view.texts.iter().filter(|text| !text.prose) {
        let path_like = text.value.contains(['/', '\\', '.'])
            || text.named(&["path", "paths", "filename", "filepath", "file"]);
        let source = text.named(SOURCES) && !(copies && touch == Touch::Write);
        if !((text.named(PATHS) || source) && path_like) || text.value.contains("://") {
            continue;
        }
        match files::under(&text.value, folders) {
            Under::Yes => {}
            Under::No => {
                let asked = view.request_names(&text.value);
                return broken_unless(
                    asked,
                    Some(text.pointer.clone()),
                    format!("{} is elsewhere", shown(&text.value)),
                );
            }
            Under::Unknown => unknown = unknown.or(Some(text)),
        }
    }
    if let Some(text) = unknown {
        return Some(Says::Confirm(
            Some(text.pointer.clone()),
            format!("where {} is cannot be told", shown(&text.value)),
        ));
    }
    // A command writes where it likes.
    let runs = view.is(What::Run)
        && view.texts.iter().any(|text| text.named(&["command", "cmd", "commands", "script", "code"]));
    (runs && view.changes != Changes::No)
        .then(|| Says::Confirm(None, "where a command writes cannot be told".into()))
}

fn not_files(view: &View<'_>, wanted: &[String], touch: Touch) -> Option<Says> {
    if touch == Touch::Write && view.changes == Changes::No {
        return None;
    }
    let mut perhaps = None;
    for text in &view.texts {
        for file in wanted {
            match files::names(view, text, file) {
                Some(Names::Yes) => {
                    let asked = view.request_names(file)
                        && !view.intent.contains("not ")
                        && !view.intent.contains("never");
                    return broken_unless(
                        asked,
                        Some(text.pointer.clone()),
                        format!("{} names {file}", shown(&text.value)),
                    );
                }
                Some(Names::Perhaps) => perhaps = perhaps.or(Some((text, file))),
                None => {}
            }
        }
    }
    let (text, file) = perhaps?;
    Some(Says::Confirm(Some(text.pointer.clone()), format!("{} may show {file}", shown(&text.value))))
}

// ----- money and counts

/// Whether two currencies can be compared: the same, or one of them not named.
fn comparable(cost: &Cost, most: &Amount) -> bool {
    cost.currency.is_none() || most.currency.is_none() || cost.currency == most.currency
}

fn each(view: &View<'_>, most: &Amount) -> Option<Says> {
    if !view.is(What::Payment) {
        return None;
    }
    if view.costs.is_empty() {
        return Some(Says::Confirm(None, "what it pays cannot be told".into()));
    }
    for cost in &view.costs {
        let path = Some(cost.pointer.clone());
        let amount = Amount { value: cost.value, currency: cost.currency };
        if !comparable(cost, most) {
            return Some(Says::Confirm(path, format!("{amount} cannot be compared with {most}")));
        }
        if cost.value > most.value {
            let plain = Amount { value: cost.value, currency: None }.to_string();
            return broken_unless(view.request_names(&plain), path, format!("{amount} is more than {most}"));
        }
        if cost.value < 0 {
            return Some(Says::Confirm(path, format!("{amount} is less than nothing")));
        }
    }
    None
}

fn total(view: &View<'_>, most: &Amount, spent: &Spent) -> Option<Says> {
    if let Some(says) = each(view, most) {
        return Some(says);
    }
    if !view.is(What::Payment) {
        return None;
    }
    let (before, others) = spent.amount(most.currency);
    let now = view.costs.iter().fold(before, |sum, cost| sum.saturating_add(cost.value.max(0)));
    let path = view.costs.first().map(|cost| cost.pointer.clone());
    if now > most.value {
        let sum = Amount { value: now, currency: most.currency };
        return Some(Says::Budget(path, format!("with this payment it would be {sum}, more than {most}")));
    }
    others.then(|| Says::Confirm(path, "some was paid in another currency".into()))
}

fn count(view: &View<'_>, most: u32, what: What, spent: &Spent) -> Option<Says> {
    if !view.is(what) {
        return None;
    }
    let next = spent.count(what).saturating_add(1);
    (next > most).then(|| Says::Budget(None, format!("this would be number {next} of the {}", what.name())))
}

fn count_tool(view: &View<'_>, most: u32, tool: &str, spent: &Spent) -> Option<Says> {
    let id = format!("{}/{}", view.call.server, view.call.tool);
    let next = spent.of_tool(tool).saturating_add(1);
    (is_tool(&id, tool) && next > most)
        .then(|| Says::Budget(None, format!("this would be call {next} of {tool}")))
}

// ----- whole kinds

fn read_only(view: &View<'_>) -> Option<Says> {
    match view.changes {
        Changes::No => None,
        Changes::Yes => {
            let kinds = [What::Deletion, What::Payment, What::Mail, What::Post, What::Share, What::Write];
            let asked = kinds.iter().any(|what| view.is(*what) && requests(&view.intent, *what))
                && !view.intent.contains("read only")
                && !view.intent.contains("read-only");
            broken_unless(asked, None, format!("{} changes something", shown(view.call.tool)))
        }
        Changes::Unknown => Some(Says::Confirm(
            None,
            format!("whether {} changes something cannot be told", shown(view.call.tool)),
        )),
    }
}

fn never(view: &View<'_>, what: What) -> Option<Says> {
    if what == What::Change {
        return read_only(view);
    }
    view.is(what)
        .then(|| broken_unless(requests(&view.intent, what), None, format!("it forbids {}", what.name())))
        .flatten()
}

/// Whether the request asks for such a call: one of its verbs stands where an order begins.
fn requests(intent: &str, what: What) -> bool {
    let verbs: &[&str] = match what {
        What::Mail => &["send", "mail", "email", "reply", "forward", "write", "answer"],
        What::Payment => &["pay", "transfer", "buy", "purchase", "wire", "refund", "donate", "order"],
        What::Deletion => &["delete", "remove", "drop", "erase", "purge", "clear", "wipe"],
        What::Post => &["post", "publish", "tweet", "announce"],
        What::Share => &["share", "invite", "grant", "add"],
        What::Run => &["run", "execute", "start"],
        What::Write | What::Change => &[
            "write", "update", "change", "create", "edit", "save", "add", "set", "insert", "rename", "move",
            "fix",
        ],
        What::Call => &[],
    };
    const LEADS: &[&str] =
        &["and", "then", "please", "also", "to", "can", "could", "you", "must", "should", "now", "kindly"];
    let mut begins = true;
    for raw in intent.split_whitespace() {
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric() && c != '-').replace("e-mail", "email");
        if begins && verbs.contains(&word.as_str()) {
            return true;
        }
        begins = LEADS.contains(&word.as_str()) || raw.ends_with(['.', ',', ';', ':', '!', '?']);
    }
    false
}

fn hours(view: &View<'_>, from: u16, to: u16, what: What) -> Option<Says> {
    if !view.is(what) {
        return None;
    }
    let now = view.call.now.time();
    let minute = u16::try_from(i32::from(now.hour()) * 60 + i32::from(now.minute())).unwrap_or(0);
    let inside = if from <= to { (from..to).contains(&minute) } else { minute >= from || minute < to };
    (!inside).then(|| Says::Broken(None, format!("it is {:02}:{:02} now", now.hour(), now.minute())))
}

fn weekdays(view: &View<'_>) -> Option<Says> {
    let weekend =
        matches!(view.call.now.weekday(), jiff::civil::Weekday::Saturday | jiff::civil::Weekday::Sunday);
    weekend.then(|| Says::Broken(None, "today is no weekday".into()))
}
