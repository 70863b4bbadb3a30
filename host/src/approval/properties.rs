//! An approval is for one call: whichever single part of its binding changes, and however, the seal opens nothing.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Binding, Sealer, Unsealed};
use crate::policy::Agent;

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,4}", inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_binding() -> impl Strategy<Value = Binding> {
    let text = || "\\PC{1,12}";
    let arguments = prop::collection::vec(("[a-z]{1,4}", any_value()), 1..4);
    (text(), text(), text(), text(), text(), text(), text(), arguments, 1..i64::MAX / 2).prop_map(
        |(question, run, id, owner, tool, definition_sha256, policy_version, arguments, expires)| Binding {
            question,
            run,
            agent: Agent { id, owner },
            tool,
            definition_sha256,
            policy_version,
            arguments: arguments.into_iter().collect(),
            expires,
        },
    )
}

/// The binding with its `part`-th text changed in one way; the arguments are part 6, the time is the last.
fn changed(binding: &Binding, part: usize, way: usize) -> Binding {
    // A part that is added to the binding does not compile here before it is changed below.
    let Binding {
        mut question,
        mut run,
        agent,
        mut tool,
        mut definition_sha256,
        mut policy_version,
        mut arguments,
        mut expires,
    } = binding.clone();
    let Agent { mut id, mut owner } = agent;
    match part {
        0 => change_text(&mut run, way),
        1 => change_text(&mut id, way),
        2 => change_text(&mut owner, way),
        3 => change_text(&mut tool, way),
        4 => change_text(&mut definition_sha256, way),
        5 => change_text(&mut policy_version, way),
        6 => change_arguments(&mut arguments, way),
        7 => change_text(&mut question, way),
        _ => expires += [1, -1, 60, i64::MAX / 2][way % 4],
    }
    Binding {
        question,
        run,
        agent: Agent { id, owner },
        tool,
        definition_sha256,
        policy_version,
        arguments,
        expires,
    }
}

fn change_text(text: &mut String, way: usize) {
    match way % 4 {
        0 => text.push(' '),
        1 => text.insert(0, '\u{200b}'),
        2 => text.push('\0'),
        _ => text.clear(),
    }
}

fn change_arguments(arguments: &mut Map<String, Value>, way: usize) {
    let key = arguments.keys().next().expect("there is one at least").clone();
    match way % 4 {
        // The same as another type, or one level deeper.
        0 => {
            let value = arguments.insert(key.clone(), Value::Null).unwrap_or_default();
            arguments.insert(key, json!([value]));
        }
        1 => drop(arguments.remove(&key)),
        2 => drop(arguments.insert(format!("{key} "), json!(1))),
        _ => {
            let value = arguments.remove(&key).unwrap_or_default();
            arguments.insert(format!("{key}\u{200b}"), value);
        }
    }
}

proptest! {
    #[test]
    fn a_change_of_any_one_part_voids_it(binding in any_binding(), part in 0..9_usize, way in 0..4_usize) {
        let sealer = Sealer::new().expect("the system has random bytes");
        let seal = sealer.seal(&binding);
        let other = changed(&binding, part, way);
        prop_assert_ne!(&other, &binding);
        prop_assert_eq!(sealer.open(&seal, &other, 0), Err(Unsealed::Changed));
        // And what was tried in vain is not used up.
        prop_assert_eq!(sealer.open(&seal, &binding, 0), Ok(()));
    }

    #[test]
    fn what_moves_from_one_part_to_the_next_voids_it(binding in any_binding(), moved in "[a-z]{1,4}") {
        let sealer = Sealer::new().expect("the system has random bytes");
        let left = Binding { run: format!("{}{moved}", binding.run), ..binding.clone() };
        let right = Binding { tool: format!("{moved}{}", binding.tool), ..binding };
        prop_assert_eq!(sealer.open(&sealer.seal(&left), &right, 0), Err(Unsealed::Changed));
    }
}
