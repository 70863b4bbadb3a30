//! Domains and mailboxes that may or may not be reached.

use super::{GLUE, Words, has, negated, only};
use crate::constraints::rule::{Reach, Rule};

/// Endings of names of files that are no domains here, though some are elsewhere.
pub(super) const FILE_ENDINGS: &[&str] = &[
    "yml",
    "yaml",
    "json",
    "toml",
    "txt",
    "md",
    "rs",
    "py",
    "sh",
    "js",
    "ts",
    "csv",
    "pdf",
    "xml",
    "ini",
    "cfg",
    "conf",
    "env",
    "zip",
    "log",
    "sql",
    "db",
    "key",
    "pem",
    "html",
    "htm",
    "css",
    "doc",
    "docx",
    "xls",
    "xlsx",
    "png",
    "jpg",
    "go",
    "java",
    "c",
    "h",
    "properties",
    "lock",
    "tf",
    "bak",
    "tar",
    "gz",
];

pub(in crate::constraints) fn domain(word: &str) -> Option<String> {
    let word = word.trim_end_matches('/');
    let word = word.split_once("://").map_or(word, |(_, rest)| rest);
    let marked = word.starts_with('@') || word.starts_with("*@") || word.starts_with("*.");
    let name = word.trim_start_matches("*@").trim_start_matches('@').trim_start_matches("*.").to_lowercase();
    let labels: Vec<&str> = name.split('.').collect();
    let fits = labels.len() >= 2
        && labels
            .iter()
            .all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-'))
        && labels.last().is_some_and(|last| last.len() >= 2 && last.chars().all(char::is_alphabetic));
    (fits && (marked || !labels.last().is_some_and(|last| FILE_ENDINGS.contains(last)))).then_some(name)
}

pub(in crate::constraints) fn mailbox(word: &str) -> Option<String> {
    let (local, host) = word.split_once('@')?;
    let fits =
        !local.is_empty() && local != "*" && local.chars().all(|c| c.is_alphanumeric() || "._+-".contains(c));
    (fits && domain(host).is_some()).then(|| word.to_lowercase())
}

pub(super) fn people(words: &Words) -> Option<Rule> {
    const MAIL: &[&str] = &[
        "mail",
        "reply",
        "replies",
        "forward",
        "recipients",
        "recipient",
        "addresses",
        "address",
        "message",
        "messages",
        "write",
        "mailing",
    ];
    const WEB: &[&str] = &[
        "fetch", "visit", "browse", "open", "download", "access", "load", "go", "website", "websites", "url",
        "urls", "links", "link", "site", "sites", "pages", "page", "calls", "read",
    ];
    const EITHER: &[&str] =
        &["send", "sent", "sending", "share", "contact", "use", "data", "information", "talk", "connect"];
    const AROUND: &[&str] = &[
        "inside",
        "within",
        "outside",
        "domain",
        "domains",
        "people",
        "anyone",
        "anybody",
        "someone",
        "ending",
        "anything",
        "nothing",
        "things",
        "files",
        "documents",
        "except",
        "other",
        "than",
        "addressed",
        "goes",
        "all",
        "every",
        "everything",
        "our",
        "my",
        "own",
        "company",
        "internal",
        "means",
        "we",
        "host",
        "hosts",
    ];
    let (mut domains, mut mailboxes, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for word in words {
        if let Some(mailbox) = mailbox(&word.1) {
            mailboxes.push(mailbox);
        } else if let Some(domain) = domain(&word.1) {
            domains.push(domain);
        } else {
            rest.push(word.clone());
        }
    }
    if (domains.is_empty() == mailboxes.is_empty()) || !only(&rest, &[MAIL, WEB, EITHER, AROUND, GLUE]) {
        return None;
    }
    let not = negated(&rest) || has(&rest, &["nothing"]);
    let only_word = has(&rest, &["only"]);
    let outside = has(&rest, &["outside", "except"]) || (has(&rest, &["other"]) && has(&rest, &["than"]));
    if !domains.is_empty()
        && !not
        && !only_word
        && has(&rest, &["our", "my", "own", "internal"])
        && has(&rest, &["domain", "domains", "means"])
    {
        return Some(Rule::Own(domains));
    }
    // "only" and "not" together, or neither, can mean too much.
    let keeps_to = (only_word && !not && !outside) || (not && outside && !only_word);
    let keeps_from = not && !outside && !only_word;
    if !keeps_to && !keeps_from {
        return None;
    }
    let (mail, web) = (has(&rest, MAIL), has(&rest, WEB));
    let bare_send = has(&rest, &["send", "sending", "sent"])
        && !has(&rest, &["data", "information", "anything", "nothing", "use", "share"]);
    let reach = match (mail, web) {
        (true, false) => Reach::Mail,
        (false, true) => Reach::Web,
        (false, false) if bare_send && keeps_to => Reach::Mail,
        _ => Reach::Any,
    };
    Some(match (domains.is_empty(), keeps_to) {
        (false, true) => Rule::OnlyDomains { domains, reach },
        (false, false) => Rule::NotDomains { domains, reach },
        (true, true) => Rule::OnlyRecipients(mailboxes),
        (true, false) => Rule::NotRecipients(mailboxes),
    })
}
