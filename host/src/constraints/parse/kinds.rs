//! Whole kinds of calls: what changes, what leaves, what must be asked for, what never is done.

use super::{GLUE, Word, Words, has, negated, only};
use crate::constraints::rule::{Reach, Rule, What};

pub(super) fn read_only(words: &Words) -> Option<Rule> {
    const ACTS: &[&str] = &[
        "change",
        "changes",
        "modify",
        "edit",
        "alter",
        "touch",
        "update",
        "changed",
        "modified",
        "write",
        "writes",
        "edits",
        "modifications",
    ];
    const AROUND: &[&str] = &[
        "anything",
        "nothing",
        "something",
        "make",
        "do",
        "data",
        "read",
        "look",
        "access",
        "this",
        "task",
        "run",
        "everything",
        "stay",
        "keep",
        "mode",
        "work",
        "use",
        "tools",
        "queries",
        "calls",
    ];
    if !only(words, &[ACTS, AROUND, GLUE]) {
        return None;
    }
    let reads =
        has(words, &["read", "look"]) && has(words, &["only"]) && !negated(words) && !has(words, ACTS);
    // "no updates of data" speaks of everything only when it says so.
    let wide = has(words, &["anything", "nothing", "data", "everything"])
        || has(words, &["changes", "writes", "edits", "modifications"]);
    let none =
        (negated(words) || has(words, &["nothing"])) && has(words, ACTS) && wide && !has(words, &["only"]);
    (reads || none).then_some(Rule::ReadOnly)
}

pub(super) fn outside(words: &Words) -> Option<Rule> {
    const OUT: &[&str] =
        &["external", "externally", "outside", "out", "leave", "leaves", "outsiders", "leaving"];
    const IN: &[&str] = &["internal", "internally", "inside", "within"];
    const AROUND: &[&str] = &[
        "nothing",
        "anything",
        "send",
        "sent",
        "sending",
        "goes",
        "go",
        "company",
        "organisation",
        "organization",
        "house",
        "mail",
        "messages",
        "message",
        "communication",
        "recipients",
        "sharing",
        "share",
        "keep",
        "everything",
        "our",
        "contact",
        "contacts",
        "people",
        "parties",
        "party",
        "third",
        "data",
        "websites",
        "sites",
        "links",
        "this",
        "team",
        "all",
        "stay",
        "stays",
        "use",
        "calls",
        "anyone",
        "information",
        "else",
        "services",
        "write",
        "reply",
        "building",
        "network",
    ];
    if !only(words, &[OUT, IN, AROUND, GLUE]) {
        return None;
    }
    let not = negated(words) || has(words, &["nothing"]);
    let no_out = not && has(words, OUT) && !has(words, &["only"]);
    let stays_in = !not
        && has(words, IN)
        && (has(words, &["keep", "stay", "stays"]) && has(words, &["everything", "all", "data"])
            || has(words, &["only"]));
    if !no_out && !stays_in {
        return None;
    }
    let mail = has(words, &["mail", "messages", "message", "reply"]);
    let web = has(words, &["websites", "sites", "links"]);
    Some(Rule::NothingOutside(match (mail, web) {
        (true, false) => Reach::Mail,
        (false, true) => Reach::Web,
        _ => Reach::Any,
    }))
}

/// The kind of call that a word speaks of.
fn what_of(word: &str) -> Option<What> {
    Some(match word {
        "delete" | "deleting" | "deletions" | "deletion" | "remove" | "removing" | "erase" | "erasing"
        | "deleted" => What::Deletion,
        "pay" | "paying" | "payment" | "payments" | "buy" | "buying" | "purchase" | "spend" | "spending"
        | "money" => What::Payment,
        "mail" | "messages" | "message" => What::Mail,
        "post" | "posting" | "posts" | "publish" | "publishing" | "tweet" | "publicly" => What::Post,
        "share" | "sharing" | "invite" | "inviting" | "invitations" | "invites" => What::Share,
        "commands" | "command" | "scripts" | "programs" | "shell" => What::Run,
        "changes" | "change" | "changing" | "modify" | "modifying" | "modifications" | "edit" | "editing" => {
            What::Change
        }
        "write" | "writing" | "writes" | "overwrite" | "overwriting" => What::Write,
        _ => return None,
    })
}

/// The one kind of call that the words speak of, and the other words.
fn one_what(words: &Words) -> Option<(Option<What>, Vec<Word>)> {
    let mut found: Option<What> = None;
    let mut rest = Vec::new();
    for word in words {
        match what_of(&word.0) {
            // Writing a mail is mailing.
            Some(What::Write) if has(words, &["mail", "messages", "message"]) => {}
            Some(what) if found.is_some_and(|before| before != what) => return None,
            Some(what) => found = Some(what),
            None => rest.push(word.clone()),
        }
    }
    Some((found, rest))
}

pub(super) fn confirm(words: &Words) -> Option<Rule> {
    const ASKS: &[&str] = &[
        "ASK",
        "asking",
        "confirmation",
        "approval",
        "permission",
        "confirming",
        "ok",
        "consent",
        "approved",
        "confirmed",
    ];
    const AROUND: &[&str] = &[
        "first",
        "before",
        "anything",
        "everything",
        "every",
        "all",
        "sending",
        "send",
        "making",
        "make",
        "doing",
        "do",
        "me",
        "my",
        "user",
        "running",
        "run",
        "files",
        "records",
        "data",
        "need",
        "needs",
        "require",
        "requires",
        "EACH",
        "call",
        "calls",
        "step",
        "without",
        "something",
        "executing",
        "acting",
        "action",
        "out",
        "beforehand",
    ];
    if !has(words, ASKS) {
        return None;
    }
    let (what, rest) = one_what(words)?;
    if !only(&rest, &[ASKS, AROUND, GLUE]) {
        return None;
    }
    let nots = rest.iter().filter(|(word, _)| matches!(word.as_str(), "NOT" | "NO")).count();
    let unless = nots == 2 && what.is_some();
    let plain = nots == 0
        && (has(&rest, &["first", "before", "beforehand", "need", "needs", "require", "requires"])
            || (what.is_some() && has(&rest, &["ASK"])));
    let sends = has(&rest, &["sending", "send"]);
    let what = match what {
        Some(what) => what,
        // "ask before sending" may mean more than mail.
        None if sends => What::Change,
        None => What::Call,
    };
    (unless || plain).then_some(Rule::Confirm(what))
}

pub(super) fn never(words: &Words) -> Option<Rule> {
    const AROUND: &[&str] = &[
        "anything",
        "something",
        "send",
        "sending",
        "make",
        "making",
        "do",
        "files",
        "file",
        "records",
        "data",
        "items",
        "anyone",
        "anybody",
        "people",
        "run",
        "execute",
        "running",
        "nothing",
        "rows",
        "entries",
        "existing",
        "whatsoever",
        "at",
        "all",
    ];
    let (what, rest) = one_what(words)?;
    let what = what?;
    let not = negated(&rest) || has(&rest, &["nothing"]);
    let twice = rest.iter().filter(|(word, _)| matches!(word.as_str(), "NOT" | "NO")).count() > 1;
    // Who is named by a word such as "to" may be missing from this list, and so from the rule.
    let fits = not && !twice && only(&rest, &[AROUND, &["NOT", "NO", "any", "of", "to"]]);
    (fits && what != What::Write).then_some(Rule::Never(what))
}
