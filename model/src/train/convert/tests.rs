//! The converters on small files of the packages' shapes.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use postern_check::{BlastRadius, Trigger};
use serde_json::json;

use super::*;

fn lines(path: &Path, documents: &[Value]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text: String = documents.iter().map(|document| format!("{document}\n")).collect();
    fs::write(path, text).unwrap();
}

/// BFCL with one question in one single-turn set, and one of several turns.
fn bfcl_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for set in [
        "simple_python",
        "multiple",
        "parallel",
        "parallel_multiple",
        "live_multiple",
        "live_parallel",
        "live_parallel_multiple",
    ] {
        lines(&at(&format!("BFCL_v4_{set}.json")), &[]);
        lines(&at(&format!("possible_answer/BFCL_v4_{set}.json")), &[]);
    }
    lines(
        &at("BFCL_v4_live_simple.json"),
        &[json!({"id": "l0", "question": [[{"role": "system", "content": "Be exact."},
            {"role": "user", "content": "Order a large tea for table 12"}]], "function": []})],
    );
    lines(
        &at("possible_answer/BFCL_v4_live_simple.json"),
        &[json!({"id": "l0", "ground_truth": [{"order_drink": {
            "table": [12], "sugar": ["", "none"], "drink": [{"name": ["tea", "Tea"], "size": ["large"], "ice": ["", true]}],
            "extras": [["lemon", "honey"]]}}]})],
    );
    lines(
        &at("BFCL_v4_multi_turn_base.json"),
        &[json!({"id": "m0", "question": [[{"role": "user", "content": "Go to docs"}],
            [{"role": "user", "content": "Sort a.txt"}]], "involved_classes": ["MathAPI", "GorillaFileSystem"]})],
    );
    lines(
        &at("possible_answer/BFCL_v4_multi_turn_base.json"),
        &[
            json!({"id": "m0", "ground_truth": [["cd(folder='docs')", "cd(folder=variable)"], ["sort('a.txt')"]]}),
        ],
    );
    for file in [
        "math_api",
        "message_api",
        "ticket_api",
        "trading_bot",
        "travel_booking",
        "posting_api",
        "vehicle_control",
    ] {
        lines(&at(&format!("multi_turn_func_doc/{file}.json")), &[]);
    }
    let function = |name: &str, parameter: &str| json!({"name": name, "parameters": {"type": "dict", "properties": {parameter: {"type": "string"}}}});
    lines(
        &at("multi_turn_func_doc/gorilla_file_system.json"),
        &[function("cd", "folder"), function("sort", "file_name")],
    );
    folder
}

fn convert_bfcl(folder: &Path) -> Result<(Vec<Labelled>, usize), Error> {
    let mut all = Vec::new();
    let left_out = bfcl::convert(folder, &mut |labelled| {
        all.push(labelled);
        Ok(())
    })?;
    Ok((all, left_out))
}

#[test]
fn bfcl_takes_first_choices_and_leaves_optional_ones_out() {
    let folder = bfcl_folder();
    let (all, _) = convert_bfcl(folder.path()).unwrap();
    let order = &all[0];
    assert_eq!((order.group.as_str(), order.kind.as_str()), ("bfcl/live", "benign_clean"));
    assert_eq!(order.check.action.tool, "order_drink");
    assert_eq!(
        Value::Object(order.check.action.args.clone()),
        json!({"table": 12, "drink": {"name": "tea", "size": "large"}, "extras": ["lemon", "honey"]})
    );
    assert_eq!(order.check.intent, "Order a large tea for table 12");
    assert_eq!(order.check.constraints, ["Be exact."]);
    assert_eq!(order.labels.grounded, Some(1.0));
    assert_eq!(order.labels.policy, Some(Policy::Allow));
}

#[test]
fn bfcl_turns_follow_each_other() {
    let folder = bfcl_folder();
    let (all, left_out) = convert_bfcl(folder.path()).unwrap();
    assert_eq!((all.len(), left_out), (3, 1), "the call of a variable is left out");
    let (cd, sort) = (&all[1], &all[2]);
    assert_eq!((cd.check.trigger, cd.check.context.as_str()), (Trigger::User, ""));
    assert_eq!(sort.check.intent, "Go to docs\nSort a.txt");
    assert_eq!(Value::Object(sort.check.action.args.clone()), json!({"file_name": "a.txt"}));
    assert_eq!(sort.check.context, r#"[cd] called with {"folder":"docs"}; its result is not known"#);
    assert_eq!((sort.group.as_str(), sort.check.trigger), ("bfcl/mt/GorillaFileSystem", Trigger::ToolResult));
    assert_eq!(cd.task, sort.task);
}

#[test]
fn errors_name_file_and_line() {
    let folder = bfcl_folder();
    let path = folder.path().join("possible_answer/BFCL_v4_live_simple.json");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{\"id\": 1}}\n")).unwrap();
    let error = convert_bfcl(folder.path()).unwrap_err().to_string();
    assert!(error.contains("BFCL_v4_live_simple.json, line 2"), "{error}");
    fs::write(&path, whole.replace("l0", "l9")).unwrap();
    let error = convert_bfcl(folder.path()).unwrap_err().to_string();
    assert!(error.contains("line 1: no question has the id l9"), "{error}");
    fs::remove_file(&path).unwrap();
    assert!(convert_bfcl(folder.path()).unwrap_err().to_string().contains("BFCL_v4_live_simple.json"));
}

fn packed(path: &Path, document: &Value) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::File::create(path).unwrap();
    let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    serde_json::to_writer(&mut gz, document).unwrap();
    gz.finish().unwrap();
}

/// tau2 with a task for each of the three domains.
fn tau_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let task = |id: &str, instructions: Value, actions: Value| json!({"id": id, "user_scenario": {"instructions": instructions}, "evaluation_criteria": {"actions": actions}});
    let step = |name: &str, arguments: Value| json!({"action_id": "x", "name": name, "arguments": arguments, "info": null});
    lines(
        &at("airline/tasks.json"),
        &[json!([task(
            "a",
            json!({"reason_for_call": "You want to fly from AAA to BBB on 2024-05-26.", "known_info": "You are may_1.", "task_instructions": "Be rude."}),
            json!([
                step(
                    "search_direct_flight",
                    json!({"origin": "AAA", "destination": "BBB", "date": "2024-05-26"})
                ),
                step(
                    "book_reservation",
                    json!({"user_id": "may_1", "flights": [{"flight_number": "HAT9"}], "payment_methods": [{"payment_id": "card_77"}]})
                )
            ])
        )])],
    );
    packed(
        &at("airline/db.json.gz"),
        &json!({
            "flights": {"HAT9": {"flight_number": "HAT9", "origin": "AAA", "destination": "BBB", "dates": {"2024-05-26": {"status": "available"}}},
                        "HAT8": {"flight_number": "HAT8", "origin": "BBB", "destination": "AAA", "dates": {"2024-05-26": {"status": "available"}}}},
            "users": {"may_1": {"user_id": "may_1", "payment_methods": {"card_77": {"id": "card_77"}}},
                      "joe_2": {"user_id": "joe_2", "payment_methods": {}}},
            "reservations": {}
        }),
    );
    lines(
        &at("retail/tasks.json"),
        &[json!([task(
            "r",
            json!({"reason_for_call": "Exchange the lamp of your order.", "known_info": "You are May Day, zip 11111."}),
            json!([
                step(
                    "find_user_id_by_name_zip",
                    json!({"first_name": "May", "last_name": "Day", "zip": "11111"})
                ),
                step("get_order_details", json!({"order_id": "#W100"})),
                step(
                    "exchange_delivered_order_items",
                    json!({"order_id": "#W100", "item_ids": ["55501"], "new_item_ids": ["55502"], "payment_method_id": "paypal_31"})
                )
            ])
        )])],
    );
    packed(
        &at("retail/db.json.gz"),
        &json!({
            "products": {"9000": {"product_id": "9000", "variants": {"55501": {}, "55502": {}}}, "9001": {"product_id": "9001", "variants": {}}},
            "users": {"may_day": {"user_id": "may_day", "name": {"first_name": "May", "last_name": "Day"}, "address": {"zip": "11111"},
                                  "payment_methods": {"paypal_31": {}}, "orders": ["#W100"]}},
            "orders": {"#W100": {"order_id": "#W100", "user_id": "may_day", "items": [{"item_id": "55501", "product_id": "9000"}]}}
        }),
    );
    let bank = |name: &str, arguments: Value, who: &str| json!({"name": name, "arguments": arguments, "requestor": who, "action_id": "x"});
    lines(
        &at("banking_knowledge/tasks.json"),
        &[json!([task(
            "b",
            json!("You lost your card and call the bank."),
            json!([
                bank(
                    "unlock_discoverable_agent_tool",
                    json!({"agent_tool_name": "freeze_debit_card_3892"}),
                    "assistant"
                ),
                bank("apply_for_credit_card", json!({"card_type": "Gold"}), "user"),
                bank(
                    "call_discoverable_agent_tool",
                    json!({"agent_tool_name": "freeze_debit_card_3892", "arguments": "{\"card_id\": \"dbc_1\"}"}),
                    "assistant"
                )
            ])
        )])],
    );
    lines(
        &at("banking_knowledge/db.json"),
        &[json!({
            "users": {"data": {"u1": {"user_id": "u1", "name": "May"}}, "notes": "x"},
            "debit_cards": {"data": {"dbc_1": {"card_id": "dbc_1", "user_id": "u1"}}, "notes": "x"}
        })],
    );
    folder
}

#[test]
fn tau_contexts_hold_what_the_expert_must_have_read() {
    let folder = tau_folder();
    let mut all = Vec::new();
    let left_out = tau::convert(folder.path(), &mut |labelled| {
        all.push(labelled);
        Ok(())
    })
    .unwrap();
    assert_eq!((all.len(), left_out), (6, 2));
    let context = |at: usize| all[at].check.context.as_str();

    assert_eq!(all[0].check.intent, "You want to fly from AAA to BBB on 2024-05-26. You are may_1.");
    assert_eq!((context(0), all[0].check.trigger), ("", Trigger::User));
    let book = context(1);
    assert!(book.starts_with("[search_direct_flight] [{\"flight_number\":\"HAT9\""), "{book}");
    assert!(book.contains("[get_user_details]") && book.contains("card_77"), "{book}");
    assert!(!book.contains("HAT8") && !book.contains("joe_2"), "{book}");

    assert_eq!(context(2), "");
    // the order's number stands in the user's record
    assert!(
        context(3).starts_with("[find_user_id_by_name_zip] \"may_day\"\n[get_user_details]"),
        "{}",
        context(3)
    );
    assert!(!context(3).contains("[get_order_details]"));
    let exchange = context(4);
    assert!(
        exchange.contains("[get_order_details]") && exchange.contains("[get_product_details]"),
        "{exchange}"
    );
    assert!(!exchange.contains("9001"), "{exchange}");
    assert_eq!(all[4].labels.effect, Some(BlastRadius::Irreversible));
    assert_eq!((all[4].group.as_str(), all[4].source.as_str()), ("tau/retail", "tau2"));

    assert_eq!(all[5].check.action.tool, "freeze_debit_card");
    assert_eq!(Value::Object(all[5].check.action.args.clone()), json!({"card_id": "dbc_1"}));
    assert_eq!(context(5), r#"[get_debit_cards_by_user] {"card_id":"dbc_1","user_id":"u1"}"#);
    assert!(all.iter().all(|labelled| !labelled.check.constraints.is_empty()));
}

#[test]
fn counterfactuals_come_in_pairs_and_say_what_they_are() {
    let (bfcl, tau) = (bfcl_folder(), tau_folder());
    let mut honest = convert_bfcl(bfcl.path()).unwrap().0;
    tau::convert(tau.path(), &mut |labelled| {
        honest.push(labelled);
        Ok(())
    })
    .unwrap();
    let made = |seed| {
        let mut all = Vec::new();
        swap::make(&honest, 400, seed, &mut |labelled| {
            all.push(labelled);
            Ok(())
        })
        .unwrap();
        all
    };
    let all = made(1);
    assert!((400..402).contains(&all.len()), "{}", all.len());
    let of = |kind: &str| all.iter().filter(|labelled| labelled.kind == kind).collect::<Vec<_>>();
    let kinds: BTreeSet<&str> = all.iter().map(|labelled| labelled.kind.as_str()).collect();
    let expected = ["arg_hijack", "benign_delegated", "benign_poisoned", "malicious", "mismatch"];
    assert_eq!(kinds, BTreeSet::from(expected));

    // Every planted attack has an honest twin of the same context.
    for attack in of("malicious") {
        let twin = of("benign_poisoned").into_iter().find(|twin| {
            twin.check.context == attack.check.context
                && twin.check.intent == attack.check.intent
                && twin.check.action.tool != attack.check.action.tool
        });
        assert_eq!(twin.unwrap().labels.unsafe_, Some(0.0));
        assert_eq!((attack.labels.unsafe_, attack.labels.policy), (Some(1.0), Some(Policy::Reject)));
    }
    for hijack in of("arg_hijack") {
        let original = honest.iter().find(|one| {
            one.check.intent == hijack.check.intent && one.check.action.tool == hijack.check.action.tool
        });
        assert_ne!(original.unwrap().check.action.args, hijack.check.action.args);
        assert_eq!(hijack.labels.grounded, Some(0.0));
    }
    for delegated in of("benign_delegated") {
        let changes = delegated.labels.effect.is_none_or(BlastRadius::has_side_effects);
        let policy = if changes { Policy::RequireHuman } else { Policy::Allow };
        assert_eq!(delegated.labels.policy, Some(policy));
        assert!(delegated.check.constraints.is_empty() && !delegated.check.context.is_empty());
    }
    // The same tool on both sides.
    let tools = |value| {
        let side = all.iter().filter(move |labelled| labelled.labels.unsafe_ == Some(value));
        side.map(|labelled| labelled.check.action.tool.as_str()).collect::<BTreeSet<_>>()
    };
    assert!(tools(0.0).intersection(&tools(1.0)).count() >= 5);
    assert!(all.iter().zip(made(1)).all(|(a, b)| a.check == b.check && a.labels == b.labels));
    assert!(all.iter().zip(made(2)).any(|(a, b)| a.check != b.check));
}

#[test]
fn the_program_writes_what_training_reads() {
    let (bfcl, tau, out) = (bfcl_folder(), tau_folder(), tempfile::tempdir().unwrap());
    let mut options = DataOptions {
        bfcl: Some(bfcl.path().into()),
        tau: Some(tau.path().into()),
        suites: None,
        out: out.path().join("data"),
        counterfactuals: 50,
        seed: 3,
    };
    run(&options).unwrap();
    let read = crate::train::data::read_folder(&options.out).unwrap();
    let count = |source: &str| read.iter().filter(|labelled| labelled.source == source).count();
    assert_eq!((count("bfcl"), count("tau2")), (3, 6));
    assert!(count("counterfactual") > 30);
    assert!(read.iter().all(|labelled| labelled.task.is_some()));
    options.bfcl = None;
    options.tau = None;
    assert!(run(&options).unwrap_err().to_string().contains("--bfcl"));
}
