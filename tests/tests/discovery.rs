//! Finding tools, from scripts and on the command line, with the real program.

use postern_tests::words::exit;
use postern_tests::{Postern, Server};
use serde_json::{Value, json};

/// A mail server and an office, with what a first sentence and a schema look like in the wild.
fn postern() -> Postern {
    let mut postern = Postern::new();
    let text = || json!({"type": "string", "description": "x".repeat(2_000)});
    let tool = |name: &str, about: &str, argument: &str| json!({"name": name, "description": about, "properties": {argument: text()}, "answers": [{"json": {"done": name}}]});
    let mail = json!({"tools": [
        tool("send_email", "Sends a message to people. It cannot be called back.", "recipients"),
        tool("list_drafts", "Lists what is not sent yet.", "folder"),
        tool("archiveThread", "Puts a thread away.", "thread_id"),
    ]});
    let office = json!({
        "tools": [tool("book_room", "Books a room.", "starts_at"), tool("send_parcel", "Sends a parcel.", "address")],
        "then": {"after": 1, "tools": [tool("book_desk", "Books a desk.", "starts_at")]},
    });
    postern.permissive_guard();
    let (mail, office) = (Server::story(postern.folder(), &mail), Server::story(postern.folder(), &office));
    postern.server("mail", mail.grant(&["send_*", "list_*"])).server("office", office);
    postern
}

fn names(found: &Value) -> Vec<&str> {
    found.as_array().expect("a list").iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

#[test]
fn a_script_finds_what_is_granted_and_reads_types_on_demand() {
    let run = postern().run_js(
        "const [found, two, all, by_argument] = await Promise.all([\n\
           catalog.search('sending mails'), catalog.search('send', 2), catalog.search('', 50), catalog.search('recipient')]);\n\
         const code = (call) => call.then(() => 'ok', (e) => e.code);\n\
         return { found, two, all, by_argument, whole: await catalog.describe(found[0].name),\n\
           codes: [await code(catalog.describe('mail/archiveThread')), await code(catalog.describe('office/nope'))] };",
    );
    let value = run.ok();
    assert_eq!(
        value["found"][0],
        json!({"name": "mail/send_email", "description": "Sends a message to people."})
    );
    assert_eq!(names(&value["two"]).len(), 2, "{value:#}");
    let granted = ["mail/list_drafts", "mail/send_email", "office/book_room", "office/send_parcel"];
    assert_eq!(names(&value["all"]), granted);
    assert_eq!(names(&value["by_argument"]), ["mail/send_email"]);
    assert!(value["whole"]["inputSchema"]["properties"]["recipients"].is_object(), "{value:#}");
    assert_eq!(value["codes"], json!(["not-granted", "unknown-tool"]));
    assert!(run.calls().is_empty(), "looking around is no call: {run:#?}");
}

#[test]
fn a_script_finds_what_a_server_has_now() {
    let run = postern().run_js(
        "const before = await catalog.search('desk');\n\
         await tools.office.book_room({ starts_at: '9' });\n\
         let after = [];\n\
         for (let i = 0; i < 100 && !after.length; i++) {\n\
           after = await catalog.search('desk');\n\
           if (!after.length) await new Promise((r) => setTimeout(r, 20));\n\
         }\n\
         return { before, after, gone: await catalog.search('parcel') };",
    );
    let value = run.ok();
    assert_eq!(names(&value["before"]), [""; 0]);
    assert_eq!(names(&value["after"]), ["office/book_desk"]);
    assert_eq!(names(&value["gone"]), [""; 0]);
}

#[test]
fn the_command_line_finds_the_same() {
    let mut postern = postern();
    let search = |postern: &Postern, words: &[&str]| {
        let mut all = vec!["tools", "search"];
        all.extend(words);
        let document = postern.json(&all);
        assert!(document["problems"].is_array(), "{document:#}");
        names(&document["tools"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(search(&postern, &["send", "mail"])[0], "mail/send_email");
    assert_eq!(search(&postern, &["send", "--limit", "1"]).len(), 1);
    assert_eq!(search(&postern, &["archive"]), [""; 0], "it is not granted");
    postern.set("profiles.desk.tools", vec!["office/*".to_owned()]);
    assert_eq!(search(&postern, &["send", "--profile", "desk"]), ["office/send_parcel"]);

    let config = postern.write_config();
    let config = config.to_str().expect("UTF-8");
    let shown = postern.command(&["tools", "search", "send mail", "--config", config]);
    assert!(shown.stdout.contains("mail/send_email"), "{shown:#?}");
    assert!(shown.stdout.contains("Sends a message to people."), "{shown:#?}");
    assert!(!shown.stdout.contains("called back"), "{shown:#?}");
    let nothing = postern.command(&["tools", "search", "quantum", "--config", config]);
    assert!(nothing.exit == exit::OK && nothing.stderr.contains("tools list"), "{nothing:#?}");
    let wrong = postern.command(&["tools", "search", "send", "--profile", "dsek", "--config", config]);
    assert!(wrong.exit == exit::SETUP && wrong.stderr.contains("desk"), "{wrong:#?}");
    let described = postern.json(&["tools", "describe", "mail/send_email"]);
    assert!(described["inputSchema"]["properties"]["recipients"].is_object(), "{described:#}");
    // To whoever configures, what is not granted is listed too.
    let listed = postern.json(&["tools", "list", "archive"]);
    assert_eq!(
        (names(&listed["tools"]), &listed["tools"][0]["granted"]),
        (vec!["mail/archiveThread"], &json!(false))
    );
}
