//! Names of servers, tools and fields as identifiers of each language. The raw name is what travels; what
//! stands here is how a script or a guest writes it. For scripts this has to say what the runners' preludes
//! do (`guest-sdk/js/src/prelude/tools.js`, `guest-sdk/python/src/_postern/door.py`): a test runs both.

use std::collections::{HashMap, HashSet};

/// Names that `tools` and `tools.<server>` of a JavaScript script do not have, because the language asks for
/// them by itself; such a tool is called through `callTool`.
pub(super) const JS_UNREACHABLE: [&str; 6] =
    ["then", "toJSON", "toString", "valueOf", "constructor", "prototype"];

/// Words that cannot name a namespace of TypeScript, or a type in one without hiding another.
const TS_WORDS: [&str; 56] = [
    "any",
    "await",
    "bigint",
    "boolean",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "never",
    "new",
    "null",
    "number",
    "object",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "string",
    "super",
    "switch",
    "symbol",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "unknown",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// What Python's `keyword.iskeyword` says yes to.
const PY_KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

const RUST_KEYWORDS: [&str; 54] = [
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "Self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "_",
    "macro_rules",
];
/// Of these, the ones that `r#` does not help.
const RUST_PATHS: [&str; 5] = ["self", "Self", "super", "crate", "_"];

/// Letters, digits and `_` of ASCII, not beginning with a digit: the same in all languages. Other letters are
/// identifiers too, but not the same ones everywhere: Python folds them.
pub(super) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether `object.name` can be written in JavaScript. Reserved words can.
pub(super) fn js_property(name: &str) -> bool {
    is_identifier(&name.replace('$', "_"))
}

/// The namespace of a server's types.
pub(super) fn ts_namespace(server: &str) -> String {
    let name = ascii(server, "server");
    if TS_WORDS.contains(&name.as_str()) { name + "_" } else { name }
}

/// How Python writes `tools.<name>` or `tools.server.<name>`; `None` if an attribute cannot say it.
pub(super) fn py_attribute(name: &str) -> Option<String> {
    // What begins with `_` is the runner's own, and `import_` means `import`.
    let own = name.starts_with('_') || name == "ToolError";
    if own || !is_identifier(name) || unreserved(name) != name {
        return None;
    }
    Some(if is_py_keyword(name) { format!("{name}_") } else { name.to_owned() })
}

/// How Python writes the argument `name=...`; `None` if it has to stand in a dict.
pub(super) fn py_keyword(name: &str) -> Option<String> {
    // Inside a class `__x` would mean `_Class__x`.
    let mangled = name.starts_with("__");
    if mangled || !is_identifier(name) || unreserved(name) != name {
        return None;
    }
    Some(if is_py_keyword(name) { format!("{name}_") } else { name.to_owned() })
}

/// Whether a `TypedDict` can have this key in a class body.
pub(super) fn py_key(name: &str) -> bool {
    is_identifier(name) && !is_py_keyword(name) && !name.starts_with("__")
}

fn is_py_keyword(name: &str) -> bool {
    // `__debug__` is none, and cannot be used either.
    PY_KEYWORDS.contains(&name)
}

/// What the Python runner takes a name for.
fn unreserved(name: &str) -> &str {
    name.strip_suffix('_').filter(|stem| is_py_keyword(stem)).unwrap_or(name)
}

/// A function, module or field of Rust.
pub(super) fn rust_item(name: &str) -> String {
    let snake = snake(name);
    if RUST_PATHS.contains(&snake.as_str()) {
        snake + "_"
    } else if RUST_KEYWORDS.contains(&snake.as_str()) {
        format!("r#{snake}")
    } else {
        snake
    }
}

/// An identifier without its `r#`, which is how serde writes it.
pub(super) fn rust_plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// `readFile`, `read-file` and `read.file` as `read_file`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut before = '_';
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            let begins = c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit());
            if begins || (before == '-' && !out.is_empty()) {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
            before = c;
        } else if c == '_' {
            if before == '-' && !out.is_empty() {
                out.push('_');
            }
            out.push('_');
            before = '_';
        } else if before != '_' {
            before = '-';
        }
    }
    if out.chars().all(|c| c == '_') {
        return "unnamed".into();
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) { format!("_{out}") } else { out }
}

/// The name with `_` for what no identifier has.
fn ascii(name: &str, empty: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.chars().all(|c| c == '_') {
        empty.to_owned()
    } else if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

/// `list_customers` as `ListCustomers`: letters and digits of ASCII, at least one. May begin with a digit.
pub(super) fn pascal(name: &str) -> String {
    let mut out = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.extend(letters);
    }
    if out.is_empty() { "Value".into() } else { out }
}

/// The same as the name of a type or variant.
pub(super) fn type_name(name: &str) -> String {
    let name = pascal(name);
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("V{name}")
    } else if name == "Self" {
        "Self_".into()
    } else {
        name
    }
}

/// Names in one scope: each is given once, and twins are told apart.
#[derive(Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// Definitions of the same name and meaning are one.
    shared: HashMap<(String, u64), String>,
}

impl Names {
    /// A scope in which these mean something already.
    pub(super) fn without<'a>(taken: impl IntoIterator<Item = &'a str>) -> Self {
        Self { taken: taken.into_iter().map(str::to_owned).collect(), shared: HashMap::new() }
    }

    /// This name, or with a number if it is taken.
    pub(super) fn unique(&mut self, name: &str) -> String {
        let numbered =
            std::iter::successors(Some(2_u32), |n| n.checked_add(1)).map(|n| format!("{name}_{n}"));
        let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !self.taken.contains(name));
        let free = free.unwrap_or_else(|| name.to_owned());
        self.taken.insert(free.clone());
        free
    }

    /// The name of a definition, and whether it is new. `longer` are tried before a number is put after it.
    pub(super) fn shared(&mut self, hint: &str, longer: &[&str], digest: u64) -> (String, bool) {
        let key = (hint.to_owned(), digest);
        if let Some(known) = self.shared.get(&key) {
            return (known.clone(), false);
        }
        let name = type_name(hint);
        let longer = longer.iter().map(|owner| type_name(&format!("{owner}_{hint}")));
        let free = std::iter::once(name.clone()).chain(longer).find(|name| !self.taken.contains(name));
        let name = self.unique(&free.unwrap_or(name));
        self.shared.insert(key, name.clone());
        (name, true)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn identifiers_of_each_language() {
        for (raw, snaked) in [
            ("list_customers", "list_customers"),
            ("readFile", "read_file"),
            ("get-env", "get_env"),
            ("a.b/c d", "a_b_c_d"),
            ("7zip", "_7zip"),
            ("__init__", "__init__"),
            ("HTTPGet", "httpget"),
            ("move", "r#move"),
            ("self", "self_"),
            ("日本", "unnamed"),
            ("--x--", "x"),
            ("v2Beta", "v2_beta"),
            ("", "unnamed"),
        ] {
            assert_eq!(rust_item(raw), snaked, "{raw}");
        }
        assert_eq!(pascal("list_customers-byID 2"), "ListCustomersByID2");
        assert_eq!(type_name("2d"), "V2d");
        assert_eq!(
            (ts_namespace("my-server").as_str(), ts_namespace("delete").as_str()),
            ("my_server", "delete_")
        );
        assert!(js_property("$a") && js_property("delete") && !js_property("a-b") && !js_property("é"));
    }

    #[test]
    fn python_says_a_name_as_its_runner_hears_it() {
        assert_eq!(py_attribute("list").unwrap(), "list");
        assert_eq!(py_attribute("import").unwrap(), "import_");
        for odd in ["get-env", "import_", "__init__", "_name", "ToolError", "é", ""] {
            assert_eq!(py_attribute(odd), None, "{odd}");
        }
        assert_eq!(py_keyword("from").unwrap(), "from_");
        assert_eq!(py_keyword("_x").unwrap(), "_x");
        for odd in ["from_", "x-y", "__x", "__debug__", ""] {
            assert_eq!(py_keyword(odd), None, "{odd}");
        }
        assert!(PY_KEYWORDS.is_sorted());
    }

    #[test]
    fn twins_are_told_apart_and_the_same_is_one() {
        let mut names = Names::without(["Customer"]);
        assert_eq!(names.shared("customer", &["list"], 1), ("ListCustomer".into(), true));
        assert_eq!(names.shared("customer", &["get"], 1), ("ListCustomer".into(), false));
        assert_eq!(names.shared("customer", &["list"], 2), ("Customer_2".into(), true));
        assert_eq!(names.unique("a"), "a");
        assert_eq!(names.unique("a"), "a_2");
    }
}
