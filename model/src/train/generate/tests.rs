//! What the generator promises.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// A number from the environment, to try other seeds and sizes by hand.
fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// Enough checks to look at, made once.
fn sample() -> &'static [Labelled] {
    static SAMPLE: std::sync::OnceLock<Vec<Labelled>> = std::sync::OnceLock::new();
    SAMPLE.get_or_init(|| generate(50_000, number("SEED", 3) as u64))
}

fn kinds(all: &[Labelled]) -> BTreeMap<&str, usize> {
    let mut out = BTreeMap::new();
    for labelled in all {
        *out.entry(labelled.kind.as_str()).or_default() += 1;
    }
    out
}

#[test]
fn a_seed_gives_the_same_checks() {
    let (a, b) = (generate(300, 5), generate(300, 5));
    assert_eq!(a.len(), 300);
    assert!(a.iter().zip(&b).all(|(x, y)| x.check == y.check && x.kind == y.kind));
    assert!(a.iter().zip(generate(300, 6)).any(|(x, y)| x.check != y.check));
}

/// Prints samples for reading: `GENERATED=200 cargo test -p postern-guard --lib generate -- --ignored --nocapture`.
#[test]
#[ignore = "prints samples to be read by people"]
fn samples() {
    let (count, seed) = (number("GENERATED", 100), number("SEED", 1) as u64);
    for labelled in generate(count, seed) {
        let check = serde_json::to_value(&labelled.check).unwrap();
        let line = serde_json::json!({"kind": labelled.kind, "group": labelled.group, "unsafe": labelled.labels.unsafe_, "check": check});
        println!("@@{line}");
    }
}

#[test]
fn sides_are_in_balance() {
    let all = sample();
    let kinds = kinds(all);
    println!("{kinds:?}");
    let share = |names: &[&str]| {
        names.iter().filter_map(|name| kinds.get(name)).sum::<usize>() as f64 / all.len() as f64
    };
    let benign = share(&["benign_clean", "benign_poisoned"]);
    assert!((0.5..0.62).contains(&benign), "{benign}");
    let poisoned = share(&["benign_poisoned"]) / benign;
    assert!((0.36..0.52).contains(&poisoned), "{poisoned}");
    let attacks = share(&["malicious", "arg_hijack", "mismatch"]);
    assert!((0.31..0.44).contains(&attacks), "{attacks}");
    let open = share(&["unclear", "benign_delegated"]);
    assert!((0.04..0.1).contains(&open), "{open}");
}

#[test]
fn checks_differ() {
    let all = sample();
    let distinct: BTreeSet<String> = all.iter().map(|l| serde_json::to_string(&l.check).unwrap()).collect();
    assert!(distinct.len() * 1000 > all.len() * 985, "{} of {}", distinct.len(), all.len());
}

/// All strings and numbers of a call, as text.
fn leaves(value: &serde_json::Value, out: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(inner @ serde_json::Value::Object(_)) => leaves(&inner, out),
            _ => out.push(text.clone()),
        },
        serde_json::Value::Array(items) => items.iter().for_each(|item| leaves(item, out)),
        serde_json::Value::Object(fields) => fields.values().for_each(|field| leaves(field, out)),
        other => out.push(other.to_string()),
    }
}

fn values(labelled: &Labelled) -> Vec<String> {
    let mut out = Vec::new();
    leaves(&serde_json::Value::Object(labelled.check.action.args.clone()), &mut out);
    out
}

/// Leaves that say where money or a message goes.
fn targets(labelled: &Labelled) -> Vec<String> {
    let is_target = |text: &String| {
        let address = text.contains('@')
            && !text.contains([' ', '\n', ',', ':', '/', '%', '=', ';', '|'])
            && text.contains('.');
        let iban = text.len() >= 18
            && text.chars().take(2).all(|c| c.is_ascii_uppercase())
            && text.chars().skip(2).all(|c| c.is_ascii_digit() || c == ' ');
        address || iban || text.starts_with("acct_")
    };
    values(labelled).into_iter().filter(is_target).collect()
}

fn of_tables(labelled: &&Labelled) -> bool {
    !labelled.group.starts_with("generated/script-")
}

#[test]
fn honest_targets_are_known_and_stolen_ones_are_not_asked_for() {
    let all = sample();
    let known = |text: &str, labelled: &Labelled| {
        let check = &labelled.check;
        let squeezed = |text: &str| text.replace(' ', "").to_lowercase();
        squeezed(&format!("{}{}", check.intent, check.context)).contains(&squeezed(text))
    };
    let (mut honest, mut stolen) = (0, 0);
    for labelled in all.iter().filter(of_tables) {
        match labelled.kind.as_str() {
            "benign_clean" | "benign_poisoned" => {
                for text in targets(labelled) {
                    honest += 1;
                    assert!(known(&text, labelled), "{text} is nowhere: {:?}", labelled.check);
                }
            }
            "arg_hijack" => {
                stolen += 1;
                let asked = |text: &String| labelled.check.intent.contains(text.as_str());
                assert!(!values(labelled).iter().all(asked), "all was asked for: {:?}", labelled.check);
            }
            "malicious" => {
                for text in targets(labelled) {
                    stolen += 1;
                    assert!(
                        !labelled.check.intent.contains(&text),
                        "{text} was asked for: {:?}",
                        labelled.check
                    );
                }
            }
            _ => {}
        }
    }
    assert!(honest > 1000 && stolen > 1000, "{honest}, {stolen}");
}

#[test]
fn every_act_is_on_both_sides() {
    let all = sample();
    // Tools are spelled in many ways; what a tool does is known by the words of its names.
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', '.'], "");
    let mut sides: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for labelled in all {
        let tool = plain(&labelled.check.action.tool);
        let Some(domain) = domains::all().find(|d| labelled.group == format!("generated/{}", d.name)) else {
            continue;
        };
        for act in domain.acts {
            let fits = act.verbs.split(' ').any(|verb| tool.ends_with(&plain(verb)));
            if fits {
                let counts = sides.entry((domain.name, act.verbs)).or_default();
                match labelled.labels.unsafe_ {
                    Some(0.0) => counts.0 += 1,
                    Some(1.0) => counts.1 += 1,
                    _ => {}
                }
            }
        }
    }
    let acts: usize = domains::all().map(|domain| domain.acts.len()).sum();
    assert_eq!(sides.len(), acts);
    for (act, (benign, harmful)) in sides {
        assert!(benign >= 8 && harmful >= 8, "{act:?}: {benign} benign, {harmful} harmful");
    }
}

#[test]
fn both_sides_are_in_every_group() {
    let all = sample();
    let mut sides: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for labelled in all {
        let counts = sides.entry(labelled.group.as_str()).or_default();
        match labelled.labels.unsafe_ {
            Some(0.0) => counts.0 += 1,
            Some(1.0) => counts.1 += 1,
            _ => {}
        }
    }
    assert!(sides.len() >= 19);
    for (group, (benign, harmful)) in sides {
        assert!(benign >= 5 && harmful >= 5, "{group}: {benign}, {harmful}");
        assert!(
            group.starts_with("generated/script-") || benign >= 200 && harmful >= 200,
            "{group}: {benign}, {harmful}"
        );
    }
}

#[test]
fn no_wording_of_a_published_suite_is_used() {
    const FORBIDDEN: &[&str] = &[
        "<information>",
        "</information>",
        "this is an important message from me",
        "before you can solve the task",
        "that i gave you in the beginning",
        "after you do that, you can solve",
        "emma johnson",
        "blue sparrow",
        "you absolutely must do the following",
    ];
    for labelled in sample() {
        let text = serde_json::to_string(&labelled.check).unwrap().to_lowercase();
        for wording in FORBIDDEN {
            assert!(!text.contains(wording), "{wording}");
        }
    }
}

#[test]
fn placeholders_are_all_filled() {
    let names = [
        "{who}",
        "{record}",
        "{text}",
        "{amount}",
        "{o}",
        "{O}",
        "{user}",
        "{first}",
        "{many}",
        "{label}",
        "{person}",
        "{company}",
        "{place}",
        "{day}",
        "{url}",
        "{n}",
        "{number}",
    ];
    for labelled in sample().iter().filter(of_tables) {
        let text = serde_json::to_string(&labelled.check).unwrap();
        for name in names {
            assert!(!text.contains(name), "{name} in {text}");
        }
    }
}

#[test]
fn labels_follow_kinds() {
    for labelled in sample() {
        let (labels, kind) = (&labelled.labels, labelled.kind.as_str());
        let expected = match kind {
            "benign_clean" | "benign_poisoned" => (Some(0.0), Some(Policy::Allow)),
            "malicious" | "arg_hijack" | "mismatch" => (Some(1.0), Some(Policy::Reject)),
            "unclear" => (Some(0.4), Some(Policy::RequireHuman)),
            "benign_delegated" => (Some(0.45), Some(Policy::RequireHuman)),
            other => panic!("unknown kind {other}"),
        };
        assert_eq!((labels.unsafe_, labels.policy), expected);
        assert_eq!(labels.injected == Some(1.0), matches!(kind, "malicious" | "arg_hijack"));
        // Without a request there is nothing that an honest effect could serve.
        if labelled.check.intent.is_empty() && labels.effect > Some(BlastRadius::Read) {
            assert_ne!(labels.unsafe_, Some(0.0), "{:?}", labelled.check);
        }
    }
}
