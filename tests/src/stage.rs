//! A scene for the gate: servers that play parts, what the user asked for, and a script; then what was
//! decided about each call and what reached its server.

use serde_json::{Value, json};

use crate::postern::Postern;
use crate::run::Run;
use crate::server::{Server, ServerLog};

/// Who decides beside the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deciding {
    /// The rules and the guard model, as a user has it.
    All,
    /// The rules alone: the guard is asked and nothing follows from it.
    Rules,
}

/// A scene.
#[derive(Debug)]
pub struct Stage {
    /// For whatever else a test wants to set.
    pub postern: Postern,
    logs: Vec<(String, ServerLog)>,
}

impl Stage {
    /// No servers yet.
    pub fn new(deciding: Deciding) -> Self {
        let mut postern = Postern::new();
        if deciding == Deciding::Rules {
            postern.permissive_guard();
        }
        Self { postern, logs: Vec::new() }
    }

    /// A server with these tools; `labels` is its table in the configuration.
    pub fn server(&mut self, name: &str, tools: Value, labels: &str) -> &mut Self {
        self.play(name, json!({"tools": tools}), labels)
    }

    /// A server with a whole story.
    pub fn play(&mut self, name: &str, story: Value, labels: &str) -> &mut Self {
        let log = self.postern.log(name);
        let server = Server::story(self.postern.folder(), &story).labels(labels).log(&log);
        self.postern.server(name, server);
        self.logs.push((name.to_owned(), log));
        self
    }

    /// Runs a script for this request under these rules.
    pub fn run(&self, intent: &str, constraints: &[&str], script: &str) -> Run {
        let script = self.postern.write("script.js", script);
        let mut words = vec![script.to_str().expect("UTF-8"), "--intent", intent];
        for constraint in constraints {
            words.extend(["--constraint", constraint]);
        }
        self.postern.run(&words)
    }

    /// Whether any call of this tool reached its server.
    pub fn reached(&self, tool: &str) -> bool {
        let (server, name) = tool.split_once('/').expect("server/tool");
        let (_, log) = self.logs.iter().find(|(known, _)| known == server).expect("a server of the stage");
        log.started().iter().any(|started| started == name)
    }

    /// The verdict on the last call of this tool, after making sure that only an allowed one reached its
    /// server.
    #[track_caller]
    pub fn verdict(&self, run: &Run, tool: &str) -> String {
        let calls: Vec<&Value> = run.calls().iter().filter(|call| call["tool"] == tool).collect();
        let last = calls.last().unwrap_or_else(|| panic!("{tool} was not called: {run:#?}"));
        let verdict = last["verdict"].as_str().expect("a verdict").to_owned();
        let allowed = calls.iter().any(|call| call["verdict"] == "allow");
        assert_eq!(self.reached(tool), allowed, "{tool} reached its server only if allowed: {run:#?}");
        verdict
    }

    /// Codes of the reasons of the last call of this tool.
    pub fn reasons(&self, run: &Run, tool: &str) -> Vec<String> {
        let last = run.calls().iter().rfind(|call| call["tool"] == tool).expect("a call of the tool");
        let reasons = last["reasons"].as_array().expect("reasons");
        reasons.iter().map(|reason| reason["code"].as_str().expect("a code").to_owned()).collect()
    }
}

/// A tool that answers a text, whatever it is asked.
pub fn tool(name: &str, arguments: &[&str], text: &str) -> Value {
    answering(name, arguments, json!([{"text": text}]))
}

/// A tool that answers a structured value, whatever it is asked.
pub fn structured(name: &str, arguments: &[&str], value: Value) -> Value {
    answering(name, arguments, json!([{"json": value}]))
}

/// A tool with text arguments (numbers where they are called `amount` or end in `_id`) and these answers.
pub fn answering(name: &str, arguments: &[&str], answers: Value) -> Value {
    let schema = |argument: &str| match argument {
        "amount" | "a" | "b" | "id" => json!({"type": "number"}),
        "confirmed" => json!({"type": "boolean"}),
        _ => json!({"type": "string"}),
    };
    let properties: serde_json::Map<String, Value> =
        arguments.iter().map(|argument| ((*argument).to_owned(), schema(argument))).collect();
    json!({"name": name, "description": format!("{}.", name.replace('_', " ")), "properties": properties, "answers": answers})
}

/// Makes every call in its own try, so that one refusal does not end the script.
pub const ATTEMPT: &str = "const attempt = async (call) => { try { return await call(); } catch (e) { console.log(e.code); return null; } };\n";
