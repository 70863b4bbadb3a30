//! A call as the constraints see it: what it does, whom and what it reaches, what it costs.

use std::collections::BTreeSet;

use postern_check::key_words;
use serde_json::{Map, Value};

use super::money;
use super::parse::{domain, mailbox};
use super::rule::What;
use crate::facts::{self, Held, Leaf};

/// What the constraints are told of a call.
#[derive(Clone, Copy, Debug)]
pub struct ConstraintCall<'a> {
    /// The server's name in the configuration.
    pub server: &'a str,
    /// The tool's own name.
    pub tool: &'a str,
    /// As they would be sent.
    pub arguments: &'a Map<String, Value>,
    /// What the tool's definition says of side effects, where it may be believed.
    pub side_effects: Option<bool>,
    /// Known not to change anything: a trusted server says so.
    pub read_only: bool,
    /// It sends something out or does what cannot be taken back.
    pub outside: bool,
    /// The user's own request.
    pub intent: &'a str,
    /// The time of the call, in the user's zone.
    pub now: &'a jiff::ZonedDateTime,
}

/// Whether a call changes something, as far as can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changes {
    No,
    Yes,
    Unknown,
}

/// One text of the arguments.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) pointer: String,
    pub(super) words: Vec<String>,
    pub(super) value: String,
    /// Written for people, or a file's content.
    pub(super) prose: bool,
}

impl Text {
    pub(super) fn named(&self, any: &[&str]) -> bool {
        self.words.iter().any(|word| any.contains(&word.as_str()))
    }
}

/// What a payment moves.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    pub(super) pointer: String,
    /// The most that it may mean, in ten-thousandths.
    pub(super) value: i128,
    pub(super) currency: Option<&'static str>,
}

/// A call, looked at once for all rules.
pub(super) struct View<'a> {
    pub(super) call: &'a ConstraintCall<'a>,
    pub(super) intent: String,
    pub(super) tool: Vec<String>,
    pub(super) texts: Vec<Text>,
    /// Mailboxes that it may reach, with their pointers.
    pub(super) mailboxes: Vec<(String, String)>,
    /// Arguments named like recipients that hold no mailbox.
    pub(super) unresolved: Vec<(String, String)>,
    /// Hosts of the links it is given.
    pub(super) hosts: Vec<(String, String)>,
    pub(super) costs: Vec<Cost>,
    pub(super) acts: BTreeSet<What>,
    pub(super) changes: Changes,
    /// A command or SQL in it deletes.
    pub(super) destroys: bool,
}

const READS: &[&str] = &[
    "get",
    "list",
    "read",
    "search",
    "find",
    "show",
    "describe",
    "count",
    "fetch",
    "view",
    "lookup",
    "look",
    "check",
    "status",
    "info",
    "query",
    "browse",
    "summarize",
    "summarise",
    "diff",
    "log",
    "stat",
    "echo",
    "explain",
    "compare",
    "tree",
    "grep",
];
const CHANGE: &[&str] = &[
    "write",
    "insert",
    "update",
    "create",
    "alter",
    "modify",
    "set",
    "edit",
    "add",
    "upsert",
    "put",
    "move",
    "rename",
    "copy",
    "send",
    "reply",
    "forward",
    "commit",
    "push",
    "merge",
    "reset",
    "checkout",
    "apply",
    "save",
    "upload",
    "append",
    "replace",
    "enable",
    "disable",
    "start",
    "stop",
    "restart",
    "cancel",
    "approve",
    "assign",
    "close",
    "open_issue",
    "install",
    "patch",
    "reschedule",
    "book",
    "order",
    "schedule",
    "register",
    "subscribe",
    "unsubscribe",
    "draft",
    "submit",
    "execute",
];
const DELETES: &[&str] = &[
    "delete", "remove", "drop", "destroy", "purge", "erase", "wipe", "trash", "unlink", "rm", "truncate",
    "clear",
];
const PAYS: &[&str] = &[
    "pay", "payment", "payments", "transfer", "wire", "refund", "purchase", "buy", "charge", "checkout",
    "donate", "withdraw", "payout", "remit",
];
const MAILS: &[&str] =
    &["mail", "email", "emails", "mails", "gmail", "smtp", "outlook", "mailbox", "imap", "inbox"];
const POSTS: &[&str] = &["post", "publish", "tweet", "announce", "broadcast"];
const SHARES: &[&str] = &["share", "invite", "grant", "collaborator", "collaborators"];
const RUNS: &[&str] = &["run", "exec", "execute", "shell", "bash", "terminal", "command", "spawn"];
const SENDS: &[&str] = &["send", "reply", "forward", "compose", "deliver", "respond"];
const RECIPIENT: &[&str] = &[
    "to",
    "cc",
    "bcc",
    "recipient",
    "recipients",
    "attendees",
    "attendee",
    "invitee",
    "invitees",
    "participants",
    "forward",
    "addressee",
    "email",
    "emails",
];
const AMOUNT: &[&str] = &["amount", "sum", "total", "price", "cost", "fee"];
const ACCOUNT: &[&str] =
    &["iban", "payee", "recipient", "account", "beneficiary", "creditor", "to", "merchant"];

fn any(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

impl<'a> View<'a> {
    /// Looks at a call.
    pub(super) fn of(call: &'a ConstraintCall<'a>) -> Self {
        let mut view = Self {
            call,
            intent: call.intent.to_lowercase(),
            tool: key_words(call.tool),
            texts: Vec::new(),
            mailboxes: Vec::new(),
            unresolved: Vec::new(),
            hosts: Vec::new(),
            costs: Vec::new(),
            acts: BTreeSet::new(),
            changes: Changes::Unknown,
            destroys: false,
        };
        let mut currency = None;
        let (mut account, mut effects) = (false, false);
        facts::each_leaf(&Value::Null, call.arguments, &mut |leaf| {
            account |= leaf.named(ACCOUNT);
            match leaf.held {
                Held::Text(text) => {
                    if leaf.named(&["currency"]) || leaf.words.last().is_some_and(|word| word == "currency") {
                        currency = money::currency(text.trim());
                    }
                    effects |= view.text(leaf, text);
                }
                Held::Number(number) if leaf.named(AMOUNT) => {
                    let value = money::number(&number.to_string()).or_else(|| rounded(number.as_f64()?));
                    view.costs.push(Cost {
                        pointer: leaf.path.to_owned(),
                        value: scaled(leaf, value.unwrap_or(i128::MAX)),
                        currency: None,
                    });
                }
                _ => {}
            }
        });
        for cost in &mut view.costs {
            cost.currency = cost.currency.or(currency);
        }
        view.judge(account, effects);
        view
    }

    /// Takes one text; true if a command or SQL in it changes something.
    fn text(&mut self, leaf: &Leaf<'_>, text: &str) -> bool {
        const PROSE: &[&str] = &[
            "body",
            "message",
            "text",
            "content",
            "contents",
            "description",
            "comment",
            "note",
            "notes",
            "summary",
            "title",
            "subject",
            "caption",
            "html",
            "markdown",
            "reason",
        ];
        let prose = leaf.words.last().is_some_and(|word| PROSE.contains(&word.as_str()));
        let pointer = || leaf.path.to_owned();
        if leaf.named(AMOUNT)
            && let Some((_, most, currency)) = money::amount(text)
        {
            self.costs.push(Cost { pointer: pointer(), value: scaled(leaf, most), currency });
        }
        let sender = leaf.named(&["from", "sender", "reply"]);
        if !prose && !sender {
            self.recipients(leaf, text);
        }
        if !prose {
            for word in text.split_whitespace().filter(|word| word.contains("://")) {
                let host = url::Url::parse(word).ok().and_then(|url| url.host_str().map(str::to_lowercase));
                if let Some(host) = host {
                    self.hosts.push((pointer(), host));
                }
            }
        }
        let deeds = if prose { facts::Deeds::default() } else { facts::deeds(leaf, text) };
        self.destroys |= deeds.destroys;
        self.texts.push(Text {
            pointer: pointer(),
            words: leaf.words.to_vec(),
            value: text.to_owned(),
            prose,
        });
        deeds.changes || deeds.destroys
    }

    fn recipients(&mut self, leaf: &Leaf<'_>, text: &str) {
        let is_recipient = leaf.named(RECIPIENT);
        let mut found = false;
        for part in text.split([',', ';', '\n', '\r']) {
            let address = match (part.rfind('<'), part.rfind('>')) {
                (Some(open), Some(close)) if open < close => &part[open + 1..close],
                _ => part,
            };
            let address = postern_check::evidence::fold(address.trim().trim_start_matches("mailto:"));
            if let Some(mailbox) = mailbox(address.trim()) {
                found = true;
                self.mailboxes.push((leaf.path.to_owned(), mailbox));
            } else if is_recipient && !part.trim().is_empty() {
                self.unresolved.push((leaf.path.to_owned(), part.trim().to_owned()));
            }
        }
        // What is a link or a path is no recipient that is missing.
        if !found && text.starts_with(['/', '.']) {
            self.unresolved.retain(|(path, _)| path != leaf.path);
        }
    }

    fn judge(&mut self, account: bool, effects: bool) {
        let (call, tool) = (self.call, &self.tool);
        let server = key_words(call.server);
        let mut acts = BTreeSet::from([What::Call]);
        let reads = call.read_only || call.side_effects == Some(false);
        if any(tool, DELETES) || self.destroys {
            acts.insert(What::Deletion);
        }
        let named_reads = tool.first().is_some_and(|word| READS.contains(&word.as_str()))
            || (any(tool, READS) && !any(tool, CHANGE) && !any(tool, DELETES));
        let mails = any(tool, MAILS) || any(&server, MAILS);
        if mails
            && (any(tool, SENDS)
                || any(tool, &["forward", "rule"])
                || (!named_reads && !any(tool, &["draft", "drafts"]) && !self.mailboxes.is_empty()))
            || (any(tool, SENDS) && !self.mailboxes.is_empty())
        {
            acts.insert(What::Mail);
        }
        if !named_reads && !reads && (any(tool, PAYS) || (account && !self.costs.is_empty())) {
            acts.insert(What::Payment);
        }
        for (words, what) in [(POSTS, What::Post), (SHARES, What::Share), (RUNS, What::Run)] {
            if any(tool, words) && !named_reads {
                acts.insert(what);
            }
        }
        let changing = any(tool, CHANGE) || any(tool, DELETES) || effects;
        self.changes = if effects {
            Changes::Yes
        } else if reads {
            Changes::No
        } else if call.side_effects == Some(true)
            || changing
            || acts.len() > 1
            || (call.outside && !named_reads)
        {
            Changes::Yes
        } else if call.outside {
            // It sounds like reading, and may send something all the same.
            Changes::Unknown
        } else if named_reads {
            Changes::No
        } else {
            Changes::Unknown
        };
        if self.changes == Changes::Yes {
            acts.insert(What::Write);
        }
        if self.changes != Changes::No {
            acts.insert(What::Change);
        }
        self.acts = acts;
    }

    /// Whether the call is of this kind.
    pub(super) fn is(&self, what: What) -> bool {
        self.acts.contains(&what)
    }

    /// The domain of a mailbox.
    pub(super) fn domain_of(mailbox: &str) -> &str {
        mailbox.rsplit_once('@').map_or("", |(_, domain)| domain)
    }

    /// Whether the request names a mailbox, domain or file as a word of its own.
    pub(super) fn request_names(&self, value: &str) -> bool {
        let value = value.to_lowercase();
        !value.is_empty()
            && self.intent.match_indices(&value).any(|(at, found)| {
                let before = self.intent[..at].chars().next_back();
                let after = self.intent[at + found.len()..].chars().next();
                before.is_none_or(|c| !c.is_alphanumeric())
                    && after.is_none_or(|c| !c.is_alphanumeric() && c != '-')
            })
    }

    /// Whether a text is a domain by itself; for rules on anything that is reached.
    pub(super) fn bare_domains(&self) -> impl Iterator<Item = (&str, String)> {
        self.texts
            .iter()
            .filter(|text| {
                !text.prose && text.named(&["domain", "host", "hostname", "url", "site", "website"])
            })
            .filter_map(|text| Some((text.pointer.as_str(), domain(text.value.trim())?)))
    }
}

/// `amount_cents` counts hundredths.
fn scaled(leaf: &Leaf<'_>, value: i128) -> i128 {
    if leaf.named(&["cents", "minor", "pence", "rappen"]) { value / 100 } else { value }
}

/// A number that is no plain decimal (`1e3`), to the nearest ten-thousandth and never down.
fn rounded(value: f64) -> Option<i128> {
    const MOST: f64 = 1e18;
    let scaled = (value * 10_000.0).ceil();
    (scaled.is_finite() && scaled.abs() < MOST).then_some(scaled as i128)
}
