//! Finding tools: among thousands, and after a server has changed what it has.

use std::time::{Duration, Instant};

use postern::gate::{Grants, Pattern, Tools};
use serde_json::json;

use super::{Raw, many_tools};

fn tools(upstreams: &postern::upstream::Upstreams) -> Tools {
    Tools::new(upstreams.clone(), Grants::new(vec![Pattern::parse("*/*").unwrap()]))
}

async fn names(tools: &Tools, query: &str, limit: usize) -> Vec<String> {
    tools.search(query, limit).await.tools.iter().map(|tool| tool.id()).collect()
}

#[tokio::test]
async fn a_tool_is_found_among_five_thousand() {
    let tools = tools(&many_tools::five_thousand());
    assert_eq!(names(&tools, "*", usize::MAX).await.len(), 5_000);
    for (query, first) in [
        ("send email with mail", "mail/sendEmail"),
        ("delete an order in the shop", "shop/deleteOrder"),
        ("payroll report export", "payroll/export_report"),
        ("assigning tickets in support", "support/assign_ticket"),
        ("hiring.create_contract", "hiring/create_contract"),
        ("lsit calender events", "calendar/listEvent"),
    ] {
        let found = names(&tools, query, 3).await;
        assert_eq!(
            found[0].to_lowercase().replace('_', ""),
            first.to_lowercase().replace('_', ""),
            "{query}: {found:?}"
        );
    }
}

/// The best of several, since a test machine has other things to do.
#[tokio::test]
async fn five_thousand_tools_are_indexed_within_a_second_and_searched_within_five_milliseconds() {
    let (mut indexing, mut searching) = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        let tools = tools(&many_tools::five_thousand());
        let began = Instant::now();
        assert_eq!(names(&tools, "send mail", 20).await.len(), 20);
        indexing = indexing.min(began.elapsed());
        for _ in 0..10 {
            let began = Instant::now();
            tools.search("find all unpaid invoices of a custmer", 20).await;
            searching = searching.min(began.elapsed());
        }
    }
    println!("index {indexing:?}, search {searching:?}");
    assert!(indexing < Duration::from_secs(1), "{indexing:?}");
    assert!(searching < Duration::from_millis(5), "{searching:?}");
}

#[tokio::test]
async fn a_changed_list_is_indexed_again() {
    let raw = Raw::new("drift");
    let tools = tools(&raw.upstreams);
    assert_eq!(names(&tools, "new", 5).await, [""; 0]);
    assert!(names(&tools, "echo", 5).await.contains(&"raw/echo".to_owned()));
    raw.call("change", json!({})).await.unwrap();
    let mut found = Vec::new();
    for _ in 0..100 {
        found = names(&tools, "new", 5).await;
        if !found.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(found, ["raw/new"]);
    assert_eq!(raw.got_method("tools/list").len(), 2, "once for the change, and not for each search");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_a_problem_and_no_more() {
    let script = super::root().join("host/tests/fixtures/raw_server.py");
    let args = [script.to_str().unwrap(), "never-starts-and-is-not-there"];
    let gone = postern::upstream::ServerConfig::stdio("/nowhere/at/all", args);
    let upstreams = postern::upstream::Upstreams::builder()
        .with_server("gone", gone)
        .with_server(
            "raw",
            postern::upstream::ServerConfig::stdio(super::python(), [script.to_str().unwrap(), "pages"]),
        )
        .build();
    let found = tools(&upstreams).search("", 100).await;
    assert_eq!(found.problems.iter().map(|problem| problem.server.as_str()).collect::<Vec<_>>(), ["gone"]);
    assert_eq!(found.tools.len(), 9);
    // What nothing is granted of is not even started.
    let only = Grants::new(vec![Pattern::parse("raw/*").unwrap()]);
    assert!(Tools::new(upstreams, only).search("", 100).await.problems.is_empty());
}
