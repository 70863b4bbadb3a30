//! What Cedar's own validator does not see: words that no attribute ever is, servers and tools that
//! there are not, conditions that contradict themselves. A rule that can never apply protects nobody,
//! so it is refused when it is loaded. Works on Cedar's JSON form of one rule.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::schema::{ANY_CALL, Known, range, vocabulary};
use super::text::{Fault, literal};

/// Branches that are looked into before a condition is taken to be possible.
const MOST_BRANCHES: u32 = 4_096;

/// What is wrong with the rule. `text` is its own text; offsets count from its beginning.
pub(super) fn faults(rule: &Value, text: &str, known: &Known) -> Vec<Fault> {
    let mut found = Vec::new();
    names(rule, text, known, &mut found);
    scope(rule, text, &mut found);
    for condition in conditions(rule) {
        words(&condition["body"], text, &mut found);
    }
    if found.is_empty() && !possible(rule) {
        found.push(Fault::new(0, "this rule can never apply: its conditions contradict each other").hint(
            "each condition may be right by itself, but no call meets all of them (scores are 0 to 1000)",
        ));
    }
    found
}

/// The tools that the rule names.
pub(super) fn tools(rule: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each_entity(rule, &mut |kind, id| {
        if kind == "Action" && id != ANY_CALL {
            found.insert(id.to_owned());
        }
    });
    found
}

/// Whether the rule looks at single arguments.
pub(super) fn reads_arguments(rule: &Value) -> bool {
    match rule {
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            key == "hasTag" || key == "getTag" || (key == "attr" && value == "call") || reads_arguments(value)
        }),
        Value::Array(items) => items.iter().any(reads_arguments),
        _ => false,
    }
}

fn conditions(rule: &Value) -> impl Iterator<Item = &Value> {
    rule["conditions"].as_array().into_iter().flatten()
}

/// Cedar writes an entity as `{"type": .., "id": ..}`.
fn each_entity(json: &Value, see: &mut impl FnMut(&str, &str)) {
    match json {
        Value::Object(fields) => {
            if let (Some(Value::String(kind)), Some(Value::String(id))) =
                (fields.get("type"), fields.get("id"))
            {
                see(kind, id);
            }
            fields.values().for_each(|value| each_entity(value, see));
        }
        Value::Array(items) => items.iter().for_each(|item| each_entity(item, see)),
        _ => {}
    }
}

/// Servers and tools that there are not.
fn names(rule: &Value, text: &str, known: &Known, found: &mut Vec<Fault>) {
    each_entity(rule, &mut |kind, id| {
        let at = literal(text, id);
        let no_server = |server: &str| {
            Fault::new(at, format!("there is no server {server:?}")).near(server, known.server_names())
        };
        match (kind, id.split_once('/')) {
            ("Server", _) if !known.has_server(id) => found.push(no_server(id)),
            ("Action", None) if id != ANY_CALL => {
                let fault = Fault::new(at, format!("{id:?} is no tool's name"));
                found.push(fault.hint("write Action::\"server/tool\", or Action::\"call\" for every tool"));
            }
            ("Action", Some((server, _))) if !known.has_server(server) => found.push(no_server(server)),
            ("Action", Some((server, tool))) => {
                if let Some(tools) = known.tools(server).filter(|tools| !tools.contains(tool)) {
                    let fault = Fault::new(at, format!("the server {server:?} has no tool {tool:?}"));
                    found.push(fault.near(tool, tools.iter().map(String::as_str)));
                }
            }
            _ => {}
        }
    });
}

/// Heads that fit no call.
fn scope(rule: &Value, text: &str, found: &mut Vec<Fault>) {
    let mut actions = Vec::new();
    each_entity(&rule["action"], &mut |_, id| actions.push(id.to_owned()));
    if rule["action"]["op"] == "==" && actions.first().is_some_and(|id| id == ANY_CALL) {
        let fault = Fault::new(literal(text, ANY_CALL), "no call is Action::\"call\" itself: it is a group");
        found.push(fault.hint("write action in Action::\"call\", or action alone"));
    }
    let Some(server) = rule["resource"]["entity"]["id"].as_str() else { return };
    let of_server = |id: &String| id == ANY_CALL || id.split_once('/').is_some_and(|(of, _)| of == server);
    if !actions.is_empty() && !actions.iter().any(of_server) {
        let fault = Fault::new(0, format!("this rule can never apply: none of its tools is of {server:?}"));
        found.push(fault.hint("leave out the resource: the tool says which server it is of"));
    }
}

/// Words that an attribute can never be.
fn words(expression: &Value, text: &str, found: &mut Vec<Fault>) {
    let mut check = |path: &Value, value: &Value| {
        let Some(path) = path_of(path) else { return };
        let Some(allowed) = vocabulary(&path) else { return };
        for word in strings(value) {
            if !allowed.contains(&word) {
                let what = match path.as_str() {
                    "context.findings" => format!("there is no finding {word:?}"),
                    _ => format!("{path} is never {word:?}"),
                };
                found.push(Fault::new(literal(text, word), what).near(word, allowed.iter().copied()));
            }
        }
    };
    if let Some((operator, inner)) = operation(expression) {
        let (left, right) = (&inner["left"], &inner["right"]);
        match operator {
            "==" | "!=" => {
                check(left, right);
                check(right, left);
            }
            // `context.findings.contains("x")`, and `["x", "y"].contains(context.sink)`.
            "contains" | "containsAll" | "containsAny" => {
                check(left, right);
                check(right, left);
            }
            _ => {}
        }
    }
    match expression {
        Value::Object(fields) => fields.values().for_each(|value| words(value, text, found)),
        Value::Array(items) => items.iter().for_each(|item| words(item, text, found)),
        _ => {}
    }
}

/// The operator of an expression and what it works on: Cedar writes `{"==": {"left": .., "right": ..}}`.
fn operation(expression: &Value) -> Option<(&str, &Value)> {
    let fields = expression.as_object()?;
    let (operator, inner) = fields.iter().next().filter(|_| fields.len() == 1)?;
    Some((operator, inner))
}

/// `context.scores.unsafe`, if the expression is a chain of attributes.
fn path_of(expression: &Value) -> Option<String> {
    match operation(expression)? {
        ("Var", name) => Some(name.as_str()?.to_owned()),
        (".", inner) => Some(format!("{}.{}", path_of(&inner["left"])?, inner["attr"].as_str()?)),
        _ => None,
    }
}

/// The string, or the strings of the set, that the expression is.
fn strings(expression: &Value) -> Vec<&str> {
    match operation(expression) {
        Some(("Value", Value::String(word))) => vec![word],
        Some(("Value", Value::Array(items))) => items.iter().filter_map(Value::as_str).collect(),
        Some(("Set", Value::Array(items))) => items.iter().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Whether some call could meet all conditions. Errs on the side of yes.
fn possible(rule: &Value) -> bool {
    let pending =
        conditions(rule).map(|condition| (&condition["body"], condition["kind"] == "when")).collect();
    satisfiable(pending, Vec::new(), World::default(), &mut MOST_BRANCHES.clone())
}

/// Whether all of `pending` and one side of each of the alternatives can be as wanted.
fn satisfiable<'a>(
    mut pending: Vec<(&'a Value, bool)>,
    mut alternatives: Vec<(&'a Value, &'a Value, bool)>,
    mut world: World,
    branches: &mut u32,
) -> bool {
    while let Some((expression, wanted)) = pending.pop() {
        match (operation(expression), wanted) {
            (Some(("&&", inner)), true) | (Some(("||", inner)), false) => {
                pending.extend([(&inner["left"], wanted), (&inner["right"], wanted)]);
            }
            (Some(("||", inner)), true) | (Some(("&&", inner)), false) => {
                alternatives.push((&inner["left"], &inner["right"], wanted));
            }
            (Some(("!", inner)), _) => pending.push((&inner["arg"], !wanted)),
            (Some(("Value", Value::Bool(value))), _) if *value == wanted => {}
            (Some(("Value", Value::Bool(_))), _) => return false,
            _ if !world.assume(expression, wanted) => return false,
            _ => {}
        }
    }
    let Some((left, right, wanted)) = alternatives.pop() else { return true };
    [left, right].into_iter().any(|side| {
        let Some(fewer) = branches.checked_sub(1) else { return true };
        *branches = fewer;
        satisfiable(vec![(side, wanted)], alternatives.clone(), world.clone(), branches)
    })
}

/// What has been assumed so far of one call.
#[derive(Clone, Default)]
struct World {
    numbers: BTreeMap<String, (i64, i64)>,
    words: BTreeMap<String, Word>,
    /// Everything else, by its JSON text.
    truths: BTreeMap<String, bool>,
}

#[derive(Clone, Default)]
struct Word {
    is: Option<String>,
    is_not: BTreeSet<String>,
}

impl World {
    /// False: this contradicts what was assumed before.
    fn assume(&mut self, expression: &Value, wanted: bool) -> bool {
        let Some((operator, inner)) = operation(expression) else { return true };
        let (left, right) = (&inner["left"], &inner["right"]);
        match operator {
            "<" => self.less(left, right, wanted, expression),
            ">" => self.less(right, left, wanted, expression),
            ">=" => self.less(left, right, !wanted, expression),
            "<=" => self.less(right, left, !wanted, expression),
            "==" => self.equal(left, right, wanted),
            "!=" => self.equal(left, right, !wanted),
            _ => self.truth(expression.to_string(), wanted),
        }
    }

    /// `left < right`, or its opposite.
    fn less(&mut self, left: &Value, right: &Value, wanted: bool, whole: &Value) -> bool {
        match ((path_of(left), number(left)), (path_of(right), number(right))) {
            ((Some(path), _), (_, Some(bound))) => match wanted {
                true => self.between(path, i64::MIN, bound.saturating_sub(1)),
                false => self.between(path, bound, i64::MAX),
            },
            ((_, Some(bound)), (Some(path), _)) => match wanted {
                true => self.between(path, bound.saturating_add(1), i64::MAX),
                false => self.between(path, i64::MIN, bound),
            },
            ((Some(left), _), (Some(right), _)) => self.truth(format!("{left} < {right}"), wanted),
            _ => self.truth(whole.to_string(), wanted),
        }
    }

    fn equal(&mut self, left: &Value, right: &Value, wanted: bool) -> bool {
        let (path, value) = match (path_of(left), path_of(right)) {
            (Some(path), None) => (path, right),
            (None, Some(path)) => (path, left),
            _ => return self.truth(format!("{left} == {right}"), wanted),
        };
        match operation(value) {
            Some(("Value", Value::String(word))) => self.word(path, word, wanted),
            Some(("Value", Value::Bool(value))) => {
                let expression = if path_of(left).is_some() { left } else { right };
                self.truth(expression.to_string(), *value == wanted)
            }
            Some(("Value", Value::Number(_))) if wanted => {
                number(value).is_none_or(|number| self.between(path, number, number))
            }
            _ => self.truth(format!("{path} == {value}"), wanted),
        }
    }

    fn between(&mut self, path: String, low: i64, high: i64) -> bool {
        let entry = self.numbers.entry(path);
        let bounds = range(entry.key());
        let known = entry.or_insert(bounds);
        *known = (known.0.max(low), known.1.min(high));
        known.0 <= known.1
    }

    fn word(&mut self, path: String, word: &str, wanted: bool) -> bool {
        let allowed = vocabulary(&path);
        let known = self.words.entry(path).or_default();
        if !wanted {
            known.is_not.insert(word.to_owned());
            let none_left = allowed.is_some_and(|all| all.iter().all(|word| known.is_not.contains(*word)));
            return !none_left && known.is.as_deref() != Some(word);
        }
        let other = known.is.as_deref().is_some_and(|is| is != word);
        known.is = Some(word.to_owned());
        !other && !known.is_not.contains(word)
    }

    fn truth(&mut self, what: String, wanted: bool) -> bool {
        *self.truths.entry(what).or_insert(wanted) == wanted
    }
}

fn number(expression: &Value) -> Option<i64> {
    match operation(expression)? {
        ("Value", Value::Number(number)) => number.as_i64(),
        ("neg", inner) => number(&inner["arg"]).map(i64::wrapping_neg),
        _ => None,
    }
}
