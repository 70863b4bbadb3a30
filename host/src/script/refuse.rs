//! Texts that are no script, and what to write instead. Guesses from the look of a text only; what
//! parses as JavaScript is refused here in the plainest cases alone.

use serde_json::Value;

use super::lines::{self, Edit, Step};
use super::{Language, ScriptProblem};

/// Shell commands that a model writes as if it had a terminal.
const COMMANDS: [&str; 36] = [
    "apt", "awk", "bash", "brew", "cat", "cd", "chmod", "cp", "curl", "deno", "docker", "echo", "export",
    "find", "git", "grep", "head", "jq", "ls", "make", "mkdir", "mv", "node", "npm", "npx", "pip", "pip3",
    "psql", "pwd", "python", "python3", "rm", "sed", "sudo", "tail", "wget",
];

/// What says that it is JavaScript, and is not.
pub(super) fn python() -> ScriptProblem {
    let hint = "name it .py, put it into a ```python block or say --lang py; or write JavaScript: \
                `await tools.server.tool({...})`, and `return` the result";
    ScriptProblem::new(
        "script-language",
        "the script is Python, and was handed over as JavaScript",
        hint.to_owned(),
    )
}

/// Refuses what is handed over as Python and is plainly none.
pub(super) fn python_form(text: &str) -> Result<(), ScriptProblem> {
    let code = || lines_of(text);
    if code().next().is_none() {
        return Err(ScriptProblem::form(
            "the script is empty",
            "write Python; its last expression is its result",
        ));
    }
    if code().all(command) {
        return Err(no_shell(
            "write Python: `tools.server.tool(name=value)` calls a tool, `open(\"/input/name\")` opens a file, the last \
             expression is the result",
        ));
    }
    Ok(())
}

fn no_shell(hint: &'static str) -> ScriptProblem {
    ScriptProblem::form("this is a shell command, and a script has no shell", hint)
}

/// The lines that have code, without the blanks around them.
pub(super) fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn shell() -> ScriptProblem {
    no_shell(
        "write JavaScript: `await tools.server.tool({...})` calls a tool, `await fs.readFile(\"/input/name\", \"utf8\")` reads a \
         file, `return` gives the result",
    )
}

/// Refuses a code block by its label.
pub(super) fn label(label: &str) -> Result<(), ScriptProblem> {
    match label.to_ascii_lowercase().as_str() {
        "sh" | "bash" | "shell" | "zsh" | "console" | "shellscript" | "powershell" | "cmd" => Err(shell()),
        "" | "json" | "text" | "txt" | "code" | "plaintext" => Ok(()),
        other if Language::of_label(other).is_some() => Ok(()),
        other => Err(ScriptProblem::new(
            "script-language",
            format!("the code block is marked {other:?}, which no runner speaks"),
            "write JavaScript or TypeScript in a ```ts block, or Python in a ```python block".to_owned(),
        )),
    }
}

/// Refuses what is plainly no script, whether or not it happens to parse.
pub(super) fn before_parsing(text: &str) -> Result<(), ScriptProblem> {
    if let Some(program) = text.strip_prefix("#!").and_then(|rest| rest.lines().next()) {
        let words: Vec<&str> = program.split(['/', ' ']).map(str::trim).collect();
        if words.iter().any(|word| ["sh", "bash", "zsh", "dash", "ksh"].contains(word)) {
            return Err(shell());
        }
        if words.iter().any(|word| word.starts_with("python")) {
            return Err(python());
        }
    }
    if let Some(calls) = calls(text) {
        return Err(ScriptProblem::form(
            "this is JSON that describes tool calls, and not a script",
            format!("write the calls: {calls}"),
        ));
    }
    // `ls -la` is a subtraction to JavaScript, and `print("x")` a call.
    let code = || lines_of(text);
    if code().next().is_some() {
        if code().all(command) {
            return Err(shell());
        }
        if code().all(|line| is_python_statement(line) || line.starts_with("print(")) && !text.contains(';') {
            return Err(python());
        }
    }
    Ok(())
}

/// Says better what is wrong with a text that does not parse, if it looks like something else.
pub(super) fn after_parsing(text: &str) -> Result<(), ScriptProblem> {
    let code = || text.lines().filter(|line| !line.trim().is_empty());
    if super::python::is_likely(text) {
        return Err(python());
    }
    // An apology, say. Whatever a program is, it has some of these.
    if !text.contains(['(', '{', '[', '=', ';', '`']) {
        return Err(ScriptProblem::form(
            "this is prose, and not a script",
            "write JavaScript, TypeScript or Python; call tools as `await tools.<server>.<tool>({...})`",
        ));
    }
    match code().map(str::trim).find(|line| !line.starts_with('#')) {
        Some(line) if command(line) => Err(shell()),
        _ => Ok(()),
    }
}

/// Whether a line begins like a shell command.
fn command(line: &str) -> bool {
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let (word, rest) = line.split_at(line.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(line.len()));
    if !COMMANDS.contains(&word) {
        return false;
    }
    // A variable of that name in an expression: `find = x`, `head + 1`, `export const`.
    let rest = rest.trim_start_matches(' ');
    let javascript = [
        "=", "+ ", "- ", "* ", "(", ".", "[", ";", ",", ":", "?", "&&", "||", "++", "--", "in ", "of ",
        "if ", "is ",
    ];
    let exported = [
        "const",
        "default",
        "function",
        "async",
        "class",
        "let",
        "var",
        "{",
        "*",
        "type",
        "interface",
        "enum",
    ];
    let declares = word == "export" && exported.iter().any(|other| rest.starts_with(other));
    !declares
        && (!javascript.iter().any(|other| rest.starts_with(other))
            || line.starts_with("cd .")
            || line.starts_with("ls ."))
}

/// Whether a line is a statement of Python and of nothing else we know.
pub(super) fn is_python_statement(line: &str) -> bool {
    let name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_.,* ".contains(c));
    let block = line.ends_with(':');
    if let Some(rest) = line.strip_prefix("import ") {
        return !rest.is_empty() && name(rest) && !rest.contains(" from ");
    }
    if let Some((module, names)) = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        return name(module) && !names.is_empty();
    }
    block
        && [
            "def ",
            "async def ",
            "class ",
            "elif ",
            "if ",
            "for ",
            "while ",
            "with ",
            "try",
            "except",
            "else",
            "finally",
        ]
        .iter()
        .any(|word| line.starts_with(word))
        || (line.starts_with("def ") || line.starts_with("async def ")) && line.contains("):")
        || line.starts_with("elif ")
}

/// JavaScript for the calls that a JSON text describes, if it describes any.
fn calls(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let list = match value.get("tool_calls").or_else(|| value.get("calls")).unwrap_or(&value) {
        Value::Array(list) => list.clone(),
        one => vec![one.clone()],
    };
    let calls: Option<Vec<String>> = list.iter().map(call).collect();
    calls.filter(|calls| !calls.is_empty()).map(|calls| calls.join("; "))
}

fn call(value: &Value) -> Option<String> {
    let inner = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    let name = ["tool", "name", "tool_name", "toolName", "function"]
        .iter()
        .find_map(|key| inner.get(key)?.as_str())?;
    let arguments = ["arguments", "args", "input", "parameters", "params", "tool_input"]
        .iter()
        .find_map(|key| inner.get(key));
    // A thing with a name alone is data, unless it says that it is a tool.
    if arguments.is_none() && inner.get("tool").is_none() && value.get("function").is_none() {
        return None;
    }
    let arguments = match arguments {
        // OpenAI's calls carry their arguments as text.
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::Object(Default::default()))
        }
        Some(value) => value.clone(),
        None => Value::Object(Default::default()),
    };
    let name = name.strip_prefix("mcp__").unwrap_or(name);
    let full = match name.contains('/') {
        true => name.to_owned(),
        false => match name.split_once("__").or_else(|| name.split_once('.')) {
            Some((server, tool)) => format!("{server}/{tool}"),
            None => format!("server/{name}"),
        },
    };
    Some(format!("await callTool({}, {arguments})", Value::String(full)))
}

/// A JSON object as the whole text is a value, although JavaScript would read it as a block.
pub(super) fn json_object(text: &str) -> Option<(String, Step)> {
    let start = text.len() - text.trim_start().len();
    if !text[start..].starts_with('{') || serde_json::from_str::<Value>(text).ok()?.as_object()?.is_empty() {
        return None;
    }
    let end = text.trim_end().len();
    let insert = |at, insert: &str| Edit { at, remove: 0, insert: insert.to_owned() };
    Some(lines::apply(text, vec![insert(start, "return ("), insert(end, ")")], ""))
}
