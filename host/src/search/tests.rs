//! Queries as models and people write them, over small catalogs.

use super::*;

const MAIL: &[(&str, &str, &str)] = &[
    ("send_email", "", "Sends a message to one or more people."),
    ("list_drafts", "", "Lists what was written and not sent yet."),
    ("archiveThread", "", "Moves a thread out of the inbox after you send an answer."),
];

const CRM: &[(&str, &str, &str)] = &[
    ("list_customers", "List customers", "All customers, by id."),
    ("get_customer", "Get a customer", "Reads one customer."),
    ("list_invoices", "", "Invoices of a customer, newest first."),
    ("create_invoice", "", "Writes an invoice."),
    ("deleteContact", "", "Removes a person."),
];

fn subjects<'a>(server: &'a str, tools: &'a [(&'a str, &'a str, &'a str)]) -> Vec<Subject<'a>> {
    let subject = |tool: &'a (&'a str, &'a str, &'a str)| Subject {
        server,
        name: tool.0,
        title: tool.1,
        description: tool.2,
        arguments: if tool.0 == "create_invoice" { vec!["dueDate", "currency"] } else { Vec::new() },
    };
    tools.iter().map(subject).collect()
}

/// The names that a query finds among those that `seen` lets through.
fn found_among(query: &str, seen: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let catalog = [("crm", CRM), ("mail", MAIL)];
    let segments: Vec<Segment> =
        catalog.iter().map(|(server, tools)| Segment::new(subjects(server, tools))).collect();
    let among = segments.iter().zip(&catalog);
    let parts: Vec<Part<'_>> = among
        .map(|(segment, (_, tools))| Part { segment, seen: tools.iter().map(|tool| seen(tool.0)).collect() })
        .collect();
    let hits = search(&parts, query).unwrap_or_default();
    hits.into_iter().map(|(part, number)| catalog[part].1[number].0).collect()
}

fn found(query: &str) -> Vec<&'static str> {
    found_among(query, |_| true)
}

#[test]
fn the_best_comes_first() {
    for (query, first) in [
        ("send mail", "send_email"),
        ("sending mails", "send_email"),
        ("SendEmail", "send_email"),
        ("sendemail", "send_email"),
        ("e-mail", "send_email"),
        ("list customers", "list_customers"),
        ("get customer by id", "get_customer"),
        ("invoice list", "list_invoices"),
        ("write an invoice", "create_invoice"),
        ("due date of an invoice", "create_invoice"),
        ("currency", "create_invoice"),
        ("contact", "deleteContact"),
        ("deletion", "deleteContact"),
        ("drafts", "list_drafts"),
        ("invoi", "create_invoice"),
        ("custmer list", "list_customers"),
        ("recieve or invioce", "create_invoice"),
        ("what can I use to archive a thread, please?", "archiveThread"),
        ("crm/get_customer", "get_customer"),
        ("mail.send_email", "send_email"),
    ] {
        assert_eq!(found(query).first(), Some(&first), "{query}: {:?}", found(query));
    }
}

#[test]
fn what_has_nothing_in_common_is_left_out() {
    assert_eq!(found("currency"), ["create_invoice"]);
    assert_eq!(found("quarterly weather"), [""; 0]);
    assert!(!found("send an email").contains(&"create_invoice"));
    // A tool that has one word of two comes after those that have both.
    let listed = found("list invoices");
    assert_eq!(listed[0], "list_invoices");
    assert!(listed.contains(&"create_invoice") && listed.contains(&"list_customers"), "{listed:?}");
}

#[test]
fn a_query_without_words_is_no_query() {
    let segment = Segment::new(subjects("mail", MAIL));
    let part = || [Part { segment: &segment, seen: vec![true; 3] }];
    assert!(search(&part(), " * ?").is_none() && search(&part(), "").is_none());
    // Words that say nothing are words all the same, if there are no others.
    assert!(search(&part(), "to you").is_some());
    assert_eq!(search(&[], "mail"), Some(Vec::new()));
}

#[test]
fn what_may_not_be_seen_has_no_part_in_anything() {
    // Rarity, and whether a word counts as misspelt, would tell of it.
    assert_eq!(found_among("invoice", |name| !name.contains("invoice")), [""; 0]);
    assert_eq!(found_among("contacts", |name| name != "deleteContact"), [""; 0]);
    let few = |name: &str| name == "get_customer" || name == "list_customers";
    assert_eq!(found_among("list customer", few), ["list_customers", "get_customer"]);
    let alone = Segment::new(subjects("crm", &CRM[..2]));
    let parts = [Part { segment: &alone, seen: vec![true; 2] }];
    assert_eq!(search(&parts, "list customer"), Some(vec![(0, 0), (0, 1)]));
    // `draft` is hidden, so a word near it is not known either, and `drafs` finds nothing.
    assert_eq!(found_among("drafs", |name| name == "list_drafts").len(), 1);
    assert_eq!(found_among("drafs", |name| name != "list_drafts"), [""; 0]);
}

#[test]
fn hostile_texts_cost_little_and_change_nothing() {
    let long = "invoice ".repeat(200_000);
    let mut tools = subjects("crm", CRM);
    tools.push(Subject { server: "crm", name: "spam", description: &long, ..Subject::default() });
    let segment = Segment::new(tools);
    let parts = [Part { segment: &segment, seen: vec![true; CRM.len() + 1] }];
    let hits = search(&parts, "invoice").unwrap_or_default();
    assert_eq!(
        hits.last(),
        Some(&(0, CRM.len())),
        "saying a word often does not make a tool the best: {hits:?}"
    );
    let query = "quarterly weather report ".repeat(10_000);
    assert!(search(&parts, &query).is_some());
}
