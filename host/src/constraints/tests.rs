#![allow(clippy::unwrap_used)]
use jiff::civil::date;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn compile(texts: &[&str]) -> Constraints {
    Constraints::compile(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
}

fn explained(text: &str) -> String {
    compile(&[text]).explain().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A call of `server/tool`, on a Monday at noon.
struct Case {
    server: &'static str,
    tool: &'static str,
    arguments: Map<String, Value>,
    side_effects: Option<bool>,
    read_only: bool,
    outside: bool,
    intent: String,
    now: jiff::ZonedDateTime,
}

fn case(id: &'static str, arguments: Value) -> Case {
    let (server, tool) = id.split_once('/').unwrap();
    Case {
        server,
        tool,
        arguments: arguments.as_object().unwrap().clone(),
        side_effects: None,
        read_only: false,
        outside: false,
        intent: String::new(),
        now: date(2026, 3, 2).at(12, 0, 0, 0).in_tz("UTC").unwrap(),
    }
}

impl Case {
    fn call(&self) -> ConstraintCall<'_> {
        ConstraintCall {
            server: self.server,
            tool: self.tool,
            arguments: &self.arguments,
            side_effects: self.side_effects,
            read_only: self.read_only,
            outside: self.outside,
            intent: &self.intent,
            now: &self.now,
        }
    }

    fn reads(mut self) -> Self {
        (self.read_only, self.side_effects) = (true, Some(false));
        self
    }

    fn outside(mut self) -> Self {
        self.outside = true;
        self
    }

    fn intent(mut self, intent: &str) -> Self {
        self.intent = intent.to_owned();
        self
    }

    fn says(&self, texts: &[&str]) -> String {
        let found = compile(texts).check(&self.call(), &Spent::default());
        for finding in &found {
            assert!(CODES.iter().any(|(code, _)| *code == finding.code));
        }
        let codes: Vec<&str> =
            found.iter().map(|finding| finding.code.trim_start_matches("constraint-")).collect();
        codes.join(" ")
    }
}

fn mail(to: &str) -> Case {
    case("mail/send", json!({"to": to, "subject": "Hi", "body": "See application.yml and eve@bad.example"}))
        .outside()
}

#[test]
fn what_is_understood_whole_is_checked() {
    for (text, expected) in [
        ("Only send to @corp.test", "checked: mail only to corp.test"),
        (
            "only mail to corp.test and never more than 100 EUR",
            "checked: mail only to corp.test; checked: at most 100 EUR in total",
        ),
        ("No e-mail outside example.com.", "checked: mail only to example.com"),
        ("Never send anything to bad.example", "checked: mail and links never to bad.example"),
        (
            "Only write to ann@corp.test or bob@corp.test",
            "checked: recipients only ann@corp.test, bob@corp.test",
        ),
        ("Do not email eve@bad.example", "checked: recipients never eve@bad.example"),
        ("Only fetch pages from docs.corp.test", "checked: links only to docs.corp.test"),
        ("Only write under ./out", "checked: writes only under out"),
        ("Do not write files outside the folder out", "checked: writes only under out"),
        ("Never read application.yml", "checked: no call names application.yml"),
        ("Do not modify src/main.rs", "checked: no writes to src/main.rs"),
        (
            "at most 200 EUR per payment, 1,000 in total",
            "checked: at most 200 EUR a payment; checked: at most 1000 EUR in total",
        ),
        ("No payment above $50", "checked: at most 50 USD a payment"),
        ("Never pay more than 1.250,50 EUR", "checked: at most 1250.50 EUR a payment"),
        ("Spend no more than 99.90 CHF", "checked: at most 99.90 CHF in total"),
        ("at most 3 mails", "checked: at most 3 mails"),
        ("Do not make more than 10 calls", "checked: at most 10 calls"),
        ("Send at most two e-mails", "checked: at most 2 mails"),
        ("at most 3 calls to crm/get", "checked: at most 3 calls of crm/get"),
        ("Read only", "checked: reads only"),
        ("read-only", "checked: reads only"),
        ("Do not change anything", "checked: reads only"),
        ("Please don't modify any data.", "checked: reads only"),
        ("Nothing leaves the company", "checked: no mail and links to the outside"),
        ("No external mail", "checked: no mail to the outside"),
        ("Do not send anything outside the company", "checked: no mail and links to the outside"),
        ("Only between 9:00 and 17:00", "checked: calls only between 9:00 and 17:00"),
        ("Only send mail between 9am and 5 pm", "checked: mails only between 9:00 and 17:00"),
        ("No calls after 18:30", "checked: calls only between 0:00 and 18:30"),
        ("only on weekdays", "checked: calls only from Monday to Friday"),
        ("Confirm changes first", "checked: asks before changes"),
        ("Ask me before deleting", "checked: asks before deletions"),
        ("Ask me before you delete anything", "checked: asks before deletions"),
        ("Never pay without asking me", "checked: asks before payments"),
        ("Do not delete anything", "checked: no deletions"),
        ("never pay", "checked: no payments"),
        ("Do not send any e-mails", "checked: no mails"),
        ("Work read-only.", "checked: reads only"),
        ("Stay inside /w/app", "checked: files only under /w/app"),
        ("Max 5 API calls", "checked: at most 5 calls"),
        ("Don't send money to anyone", "checked: no payments"),
        ("Never share anything with third parties", "checked: no mail and links to the outside"),
        ("Do not post anything publicly", "checked: no posts"),
        ("Our domain is corp.test", "checked: inside is corp.test"),
    ] {
        assert_eq!(explained(text), expected, "{text}");
    }
}

#[test]
fn what_is_not_understood_whole_is_left_to_the_model() {
    for text in [
        "Be polite",
        "Don't delete or modify any files",
        "Never send the report to press@news.test",
        "Do not delete the customers of Bern",
        "Only mail to colleagues who agreed at corp.test",
        "At most 1.000 EUR",
        "Never read application.yml unless it is short",
        "No payment above $50 except rent",
        "Do not ask me",
        "Only use cheap hotels",
        "Pay 200 EUR",
        "Send it to ann@corp.test",
        "between 3 and 5 hotels",
        "Prefer trains over 3 hours",
        "no more than 3 stars",
        "Do not change the subject",
        "Mail corp.test",
        "Never only mail to corp.test",
        "Keep it short",
        "write in English",
        "",
        "...",
        "Do not mention the 200 EUR",
        "at most 3 mails a day to Ann",
    ] {
        assert!(compile(&[text]).is_empty(), "{text}: {}", explained(text));
    }
}

#[test]
fn recipients_and_domains() {
    let only = &["Only send to @corp.test"];
    assert_eq!(mail("ann@corp.test").says(only), "");
    assert_eq!(mail("Ann <ANN@Corp.test>, bob@corp.test").says(only), "");
    assert_eq!(mail("ann@corp.test, eve@bad.example").says(only), "broken");
    assert_eq!(mail("eve@corp.test.bad.example").says(only), "broken");
    assert_eq!(mail("the client").says(only), "confirm");
    assert_eq!(mail("eve@bad.example").intent("Mail it to eve@bad.example").says(only), "conflict");
    assert_eq!(case("mail/create_rule", json!({"forward": "eve@bad.example"})).says(only), "broken");
    assert_eq!(case("mail/search", json!({"from": "eve@bad.example"})).reads().says(only), "");
    assert_eq!(case("fs/read_file", json!({"path": "a"})).reads().says(only), "");
    assert_eq!(mail("eve@mail.bad.example").says(&["Never send anything to bad.example"]), "broken");
    assert_eq!(
        case("web/fetch", json!({"url": "https://x.bad.example/"}))
            .reads()
            .says(&["Never send anything to bad.example"]),
        "broken"
    );
    let pages = &["Only fetch pages from docs.corp.test"];
    assert_eq!(case("web/fetch", json!({"url": "https://docs.corp.test/a"})).reads().says(pages), "");
    assert_eq!(
        case("web/fetch", json!({"url": "https://bad.example/docs.corp.test"})).reads().says(pages),
        "broken"
    );
    assert_eq!(mail("eve@bad.example").says(&["Do not email eve@bad.example"]), "broken");
    assert_eq!(mail("ann@corp.test").says(&["Do not email eve@bad.example"]), "");
}

#[test]
fn an_old_constraint_against_a_new_request_is_shown_as_such() {
    let call = mail("kim@client.test").intent("Send the summary to the client");
    let found = compile(&["no external mail"]).check(&call.call(), &Spent::default());
    assert_eq!(found[0].code, "constraint-conflict");
    assert!(
        found[0].message.contains("no external mail")
            && found[0].message.contains("Send the summary to the client")
    );
    let plain = mail("kim@client.test").intent("Summarise the notes");
    assert_eq!(plain.says(&["no external mail"]), "confirm");
    assert_eq!(plain.says(&["no external mail", "our domain is corp.test"]), "broken");
    assert_eq!(mail("ann@corp.test").says(&["no external mail", "our domain is corp.test"]), "");
    assert_eq!(
        case("fs/delete_file", json!({"path": "a"}))
            .intent("Delete the old drafts")
            .says(&["Do not delete anything"]),
        "conflict"
    );
    assert_eq!(
        case("fs/delete_file", json!({"path": "a"}))
            .intent("Count the deleted drafts")
            .says(&["Do not delete anything"]),
        "broken"
    );
}

#[test]
fn a_file_is_followed_whatever_the_tool() {
    let never = &["Never read application.yml"];
    for (id, arguments) in [
        ("fs/read_text_file", json!({"path": "/w/app/config/application.yml"})),
        ("fs/read_multiple_files", json!({"paths": ["a.txt", "./config/../application.yml"]})),
        ("git/git_show", json!({"revision": "HEAD:application.yml"})),
        ("git/git_show", json!({"revision": "HEAD:config/application.yml"})),
        ("fs/search_files", json!({"path": "/w", "pattern": "**/application.y*ml"})),
        ("fs/search_files", json!({"path": "/w", "pattern": "*.yml"})),
        ("fs/search_files", json!({"path": "/w", "pattern": "applicat"})),
        ("shell/run", json!({"command": "cat 'APPLICATION.yml'"})),
        ("fs/read_text_file", json!({"path": "config%2Fapplication.yml"})),
        ("grep/search", json!({"include": "application\\.yml"})),
        ("fs/read_text_file", json!({"path": "config\\application.yml"})),
    ] {
        assert_eq!(case(id, arguments.clone()).reads().says(never), "broken", "{id} {arguments}");
    }
    for (id, arguments) in [
        ("fs/read_text_file", json!({"path": "application.yml.md"})),
        ("fs/read_text_file", json!({"path": "src/main.rs"})),
        ("fs/search_files", json!({"path": "/w", "pattern": "*.rs"})),
        ("fs/list_directory", json!({"path": "."})),
        ("mail/send", json!({"to": "ann@corp.test", "body": "I did not read application.yml"})),
    ] {
        assert_eq!(case(id, arguments.clone()).reads().says(never), "", "{id} {arguments}");
    }
    assert_eq!(case("shell/run", json!({"command": "cat *"})).says(never), "confirm");
    assert_eq!(
        case("fs/read_file", json!({"path": "src/main.rs"})).reads().says(&["Do not modify src/main.rs"]),
        ""
    );
    assert_eq!(
        case("fs/edit_file", json!({"path": "src/main.rs"})).says(&["Do not modify src/main.rs"]),
        "broken"
    );
}

#[test]
fn writes_stay_under_their_folder() {
    let only = &["Only write under ./out"];
    for (path, expected) in [
        ("out/a.txt", ""),
        ("./out/b/../a.txt", ""),
        ("out/../a.txt", "broken"),
        ("output/a.txt", "broken"),
        ("../out/a.txt", "broken"),
        ("/w/out/a.txt", "confirm"),
        ("out%2f..%2fa.txt", "broken"),
    ] {
        assert_eq!(
            case("fs/write_file", json!({"path": path, "content": "see /etc/hosts"})).says(only),
            expected,
            "{path}"
        );
    }
    assert_eq!(case("fs/read_file", json!({"path": "a.txt"})).reads().says(only), "");
    assert_eq!(
        case("fs/move_file", json!({"source": "a.txt", "destination": "out/a.txt"})).says(only),
        "broken"
    );
    assert_eq!(case("fs/copy_file", json!({"source": "a.txt", "destination": "out/a.txt"})).says(only), "");
    assert_eq!(
        case("fs/write_file", json!({"path": "/w/app-secrets/x"})).says(&["Only write under /w/app"]),
        "broken"
    );
    assert_eq!(mail("ann@corp.test").says(only), "");
}

fn pay(amount: Value) -> Case {
    case("bank/pay", json!({"iban": "CH93", "amount": amount, "currency": "EUR"}))
}

#[test]
fn amounts_are_kept_to() {
    let each = &["at most 200 EUR per payment"];
    for (amount, expected) in [
        (json!(200), ""),
        (json!(200.01), "broken"),
        (json!("199,99"), ""),
        (json!("1,000"), "broken"),
        (json!("1.000"), "broken"),
        (json!("EUR 250"), "broken"),
        (json!(1e3), "broken"),
        (json!(-5), "confirm"),
        (json!(1e300), "broken"),
    ] {
        assert_eq!(pay(amount.clone()).says(each), expected, "{amount}");
    }
    assert_eq!(
        case("bank/pay", json!({"iban": "CH93", "amount": 10, "currency": "USD"})).says(each),
        "confirm"
    );
    assert_eq!(case("bank/pay", json!({"iban": "CH93"})).says(each), "confirm");
    assert_eq!(case("crm/get_invoice", json!({"amount": 900})).reads().says(each), "");
    assert_eq!(pay(json!(900)).intent("Pay the landlord 900").says(each), "conflict");
    assert_eq!(case("shop/pay", json!({"amount_cents": 20_000, "account": "a"})).says(each), "");
}

#[test]
fn what_a_run_spends_adds_up() {
    let constraints = compile(&["at most 200 EUR per payment, 500 in total", "at most 3 payments"]);
    let one = pay(json!(200));
    let mut spent = Spent::default();
    for _ in 0..2 {
        assert!(constraints.check(&one.call(), &spent).is_empty());
        spent.reserve(&one.call());
    }
    let found = constraints.check(&one.call(), &spent);
    assert_eq!(found.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["constraint-budget"]);
    let small = pay(json!(100));
    assert!(constraints.check(&small.call(), &spent).is_empty());
    let counted = spent.reserve(&small.call());
    let found = constraints.check(&pay(json!(1)).call(), &spent);
    assert_eq!(found.len(), 2, "{found:?}");
    spent.release(&counted);
    assert!(constraints.check(&small.call(), &spent).is_empty());
    let mut tools = Spent::default();
    let get = case("crm/get", json!({"id": 1})).reads();
    tools.reserve(&get.call());
    assert_eq!(compile(&["at most 1 call to crm/get"]).check(&get.call(), &tools).len(), 1);
}

#[test]
fn reading_is_told_from_changing() {
    let read_only = &["Read only"];
    for (case, expected) in [
        (case("crm/get_customer", json!({"id": 1})), ""),
        (case("crm/update_customer", json!({"id": 1})), "broken"),
        (case("crm/frobnicate", json!({"id": 1})), "confirm"),
        (case("crm/frobnicate", json!({"id": 1})).reads(), ""),
        (case("sqlite/read_query", json!({"query": "WITH d AS (SELECT 1) DELETE FROM t"})).reads(), "broken"),
        (case("sqlite/read_query", json!({"query": "SELECT 1"})).reads(), ""),
        (case("shell/run", json!({"command": "rm -rf x"})).reads(), "broken"),
        (mail("ann@corp.test"), "broken"),
    ] {
        assert_eq!(case.says(read_only), expected, "{}/{} {:?}", case.server, case.tool, case.arguments);
    }
    assert_eq!(
        case("device/update", json!({"id": 1, "confirmed": true})).says(&["Confirm changes first"]),
        "confirm"
    );
    assert_eq!(case("device/get", json!({"id": 1})).reads().says(&["Confirm changes first"]), "");
    assert_eq!(
        case("sqlite/write_query", json!({"query": "DELETE FROM t"})).says(&["Ask me before deleting"]),
        "confirm"
    );
    assert_eq!(
        case("chat/post", json!({"channel": "#x"})).outside().says(&["Nothing leaves the company"]),
        "confirm"
    );
    assert_eq!(
        case("web/fetch", json!({"url": "https://docs.test"})).reads().says(&["Nothing leaves the company"]),
        ""
    );
    assert_eq!(
        case("slack/post_message", json!({"channel": "#x"})).says(&["Nothing leaves the company"]),
        "confirm"
    );
    assert_eq!(case("web/fetch", json!({"url": "https://docs.test"})).outside().says(read_only), "confirm");
    assert_eq!(case("mail/create_draft", json!({"to": "a@b.test"})).says(&["Do not send any mail"]), "");
    assert_eq!(mail("a@b.test").says(&["Do not send any mail"]), "broken");
}

#[test]
fn hours_are_the_users() {
    let office = &["Only between 9:00 and 17:00"];
    for (hour, minute, expected) in [(8, 59, "broken"), (9, 0, ""), (16, 59, ""), (17, 0, "broken")] {
        let mut get = case("crm/get", json!({}));
        get.now = date(2026, 3, 2).at(hour, minute, 0, 0).in_tz("UTC").unwrap();
        assert_eq!(get.says(office), expected, "{hour}:{minute}");
    }
    let mut night = case("crm/get", json!({}));
    night.now = date(2026, 3, 7).at(23, 0, 0, 0).in_tz("UTC").unwrap();
    assert_eq!(night.says(&["Only from 22:00 to 6:00"]), "");
    assert_eq!(night.says(&["only on weekdays"]), "broken");
}

proptest! {
    #[test]
    fn any_constraint_and_call_can_be_given(
        text in "\\PC{0,80}|((only|never|no|at most|mail|to|pay|EUR|3|1,000|9:00|and|ask|before|corp.test|./out|delete|read|,|in total) ){0,12}",
        tool in "(send|pay|get|write_file|run)",
        key in "(to|path|amount|query|command|url|x)",
        value in "\\PC{0,40}",
        amount in any::<f64>(),
    ) {
        let constraints = compile(&[&text, "at most 5 EUR in total", "never read a.yml", "only write under ./out", "no external mail"]);
        constraints.explain();
        let arguments = json!({key: value, "amount": amount, "list": [value.clone()]});
        let case = Case { intent: text.clone(), ..case("x/t", arguments) };
        let call = ConstraintCall { tool: &tool, ..case.call() };
        let mut spent = Spent::default();
        constraints.check(&call, &spent);
        spent.reserve(&call);
        constraints.check(&call, &spent);
        let before = spent.clone();
        let counted = spent.reserve(&call);
        spent.release(&counted);
        prop_assert_eq!(before.count(super::rule::What::Call), spent.count(super::rule::What::Call));
    }
}
