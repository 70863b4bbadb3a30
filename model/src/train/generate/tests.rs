//! What the generator promises.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use super::*;

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
    let count = std::env::var("GENERATED").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    let seed = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    for labelled in generate(count, seed) {
        let check = serde_json::to_value(&labelled.check).unwrap();
        let line = serde_json::json!({"kind": labelled.kind, "group": labelled.group, "unsafe": labelled.labels.unsafe_, "check": check});
        println!("@@{line}");
    }
}

#[test]
fn sides_are_in_balance() {
    let all = generate(20_000, 1);
    let kinds = kinds(&all);
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
    let all = generate(20_000, 2);
    let distinct: BTreeSet<String> = all.iter().map(|l| serde_json::to_string(&l.check).unwrap()).collect();
    assert!(distinct.len() * 1000 > all.len() * 985, "{} of {}", distinct.len(), all.len());
}
