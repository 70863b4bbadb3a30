//! What a script finds without importing anything, one table for each language.

use crate::script::Language;

/// A name that a script can use.
#[derive(Debug)]
pub struct Global {
    /// The name.
    pub name: &'static str,
    /// How it is used, as code; empty where that is what it is everywhere.
    pub usage: &'static str,
    /// What that does.
    pub about: &'static str,
}

const fn global(name: &'static str, usage: &'static str, about: &'static str) -> Global {
    Global { name, usage, about }
}

/// As everybody knows it.
const fn usual(name: &'static str) -> Global {
    global(name, "", "")
}

const FOUND: &str = "what is granted, best first: `[{name, title?, description?}]`";
const DESCRIBED: &str = "`{name, description?, inputSchema, outputSchema?}`";

static JAVASCRIPT: &[Global] = &[
    global("tools", "tools.SERVER.TOOL({...})", "calls a tool with one object; gives a promise"),
    global("callTool", "callTool(\"server/tool\", {...})", "the same for any name"),
    global("catalog", "catalog.search(words, limit?)", FOUND),
    global("catalog", "catalog.describe(\"server/tool\")", DESCRIBED),
    global("fs", "fs", "as node:fs/promises: readFile, writeFile, readdir, ..."),
    usual("ToolError"),
    usual("console"),
    usual("setTimeout"),
    usual("URL"),
    usual("TextDecoder"),
    usual("structuredClone"),
];

static PYTHON: &[Global] = &[
    global("tools", "tools.SERVER.TOOL(name=value)", "calls a tool; can be awaited"),
    global("call_tool", "call_tool(\"server/tool\", {...})", "the same for any name"),
    global("catalog", "catalog.search(words, limit)", FOUND),
    global("catalog", "catalog.describe(\"server/tool\")", DESCRIBED),
    usual("ToolError"),
];

/// What scripts of this language find.
pub fn globals(language: Language) -> &'static [Global] {
    match language {
        Language::JavaScript | Language::TypeScript => JAVASCRIPT,
        Language::Python => PYTHON,
    }
}

/// What scripts of this language look for in vain: names in JavaScript, modules in Python.
pub fn absent(language: Language) -> &'static [&'static str] {
    match language {
        Language::JavaScript | Language::TypeScript => &["process", "Buffer", "Intl"],
        Language::Python => &["requests", "numpy", "pandas"],
    }
}
