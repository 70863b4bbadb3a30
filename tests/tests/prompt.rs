//! What `postern prompt` says is true: every example in it runs, what it says there is is there, and what
//! it says is not there is not.

use postern::prompt::{absent, globals};
use postern::script::Language;
use postern_tests::words::exit;
use postern_tests::{Postern, Run, workspace_root};
use serde_json::{Value, json};

/// A language, its flag, and the ending of its files.
const LANGUAGES: [(Language, &str, &str); 3] =
    [(Language::JavaScript, "js", "js"), (Language::TypeScript, "ts", "ts"), (Language::Python, "py", "py")];

/// The demo's servers, which the examples are about.
fn acme() -> Postern {
    let mut postern = Postern::with_config(&workspace_root().join("examples/acme/postern.toml"));
    postern.permissive_guard();
    postern
}

fn prompt(postern: &Postern, flag: &str) -> String {
    let document = postern.json(&["prompt", "--lang", flag]);
    document["prompt"].as_str().expect("a prompt").to_owned()
}

/// The code blocks of a Markdown text.
fn examples(text: &str) -> Vec<String> {
    let mut examples = Vec::new();
    for (number, part) in text.split("```").enumerate() {
        if number % 2 == 1 {
            let (_label, code) = part.split_once('\n').expect("a label and code");
            examples.push(code.to_owned());
        }
    }
    examples
}

#[test]
fn every_example_runs() {
    let postern = acme();
    for (language, flag, ending) in LANGUAGES {
        let text = prompt(&postern, flag);
        let examples = examples(&text);
        let [find, work, fail] = &examples[..] else { panic!("three examples:\n{text}") };
        let run = |source: &str| -> Run { postern.run_file(&format!("example.{ending}"), source) };
        let name = language.name();

        let found = run(find);
        let value = found.ok();
        assert_eq!(value["found"][0]["name"], "crm/list_customers", "{name}: {value:#}");
        assert_eq!(value["first"]["name"], "crm/list_customers", "{name}: {value:#}");
        assert!(value["first"]["inputSchema"]["properties"]["status"].is_object(), "{name}: {value:#}");

        let worked = run(work);
        let churned = worked.ok()["churned"].as_u64().expect("how many");
        assert!(churned > 0 && worked.calls().len() as u64 == churned + 1, "{name}: {worked:#?}");
        assert!(worked.artifact("churned.json").is_some_and(|(bytes, _)| bytes > 100), "{name}: {worked:#?}");

        let failed = run(fail);
        let value = failed.ok();
        assert_eq!(value["failed"], "crm/get_customer", "{name}: {value:#}");
        assert!(value["why"].as_str().is_some_and(|why| why.contains("C-0")), "{name}: {value:#}");
        assert!(worked.warnings().is_empty() && found.warnings().is_empty() && failed.warnings().is_empty());
    }
}

#[test]
fn an_answer_as_the_prompt_wants_it_runs_as_it_is() {
    // One code block with words around it, as models write.
    let postern = acme();
    for (language, flag, _) in LANGUAGES {
        let text = prompt(&postern, flag);
        let block = text.split("```").nth(1).expect("a block");
        let run = postern.run_file("answer.md", &format!("Let me look first.\n\n```{block}```\n"));
        assert_eq!(run.ok()["found"][0]["name"], "crm/list_customers", "{}", language.name());
    }
}

#[test]
fn what_it_says_there_is_is_there_and_what_is_not_is_not() {
    let postern = acme();
    for (language, _, ending) in LANGUAGES {
        let there: Vec<&str> = globals(language).iter().map(|global| global.name).collect();
        let not_there = absent(language);
        let (names, missing) = (json!(there), json!(not_there));
        let source = match language {
            Language::Python => format!(
                "import subprocess, socket\n\
                 def there(name):\n    try: return eval(name) is not None\n    except NameError: return False\n\
                 def found(name):\n    try: __import__(name)\n    except ImportError: return False\n    return True\n\
                 def fails(call):\n    try: call()\n    except Exception: return True\n    return False\n\
                 result = {{'there': [name for name in {names} if not there(name)], 'absent': [name for name in {missing} if found(name)],\n\
                   'offline': fails(lambda: socket.create_connection(('127.0.0.1', 80), 1)) and fails(lambda: subprocess.run(['ls']))}}"
            ),
            _ => format!(
                "const kind = (name) => globalThis[name] === undefined ? 'undefined' : 'there';\n\
                 const offline = await fetch('https://example.com/').then(() => false, (e) => e instanceof TypeError);\n\
                 return {{ there: {names}.filter((name) => kind(name) === 'undefined'), absent: {missing}.filter((name) => kind(name) !== 'undefined'), offline }};"
            ),
        };
        let run = postern.run_file(&format!("globals.{ending}"), &source);
        assert_eq!(*run.ok(), json!({"there": [], "absent": [], "offline": true}), "{}", language.name());
    }
}

#[test]
fn it_is_printed_as_text_and_as_a_document() {
    let mut postern = acme();
    postern.set("profiles.typed.languages", vec!["ts".to_owned()]);
    let config = postern.write_config();
    let config = config.to_str().expect("UTF-8");
    for (language, flag, _) in LANGUAGES {
        let text = postern.command(&["prompt", "--lang", flag, "--config", config]);
        assert_eq!(text.exit, exit::OK, "{text:#?}");
        assert_eq!(text.stdout.trim_end(), prompt(&postern, flag).trim_end());
        assert!(
            text.stdout.contains(language.name()) && text.stdout.contains("crm, http, mail, web"),
            "{text:#?}"
        );
        let used = globals(language).iter().filter(|global| !global.usage.is_empty());
        for global in used {
            assert!(
                global.usage.starts_with(global.name) && text.stdout.contains(global.usage),
                "{global:?}"
            );
        }
    }
    let document: Value = postern.json(&["prompt", "--lang", "ts", "--profile", "typed"]);
    assert_eq!((&document["language"], &document["profile"]), (&json!("TypeScript"), &json!("typed")));
    let refused = postern.command(&["prompt", "--lang", "py", "--profile", "typed", "--config", config]);
    assert_eq!(refused.exit, exit::REFUSED, "{refused:#?}");
    let wrong = postern.command(&["prompt", "--profile", "tpyed", "--config", config]);
    assert!(wrong.exit == exit::SETUP && wrong.stderr.contains("typed"), "{wrong:#?}");
}
