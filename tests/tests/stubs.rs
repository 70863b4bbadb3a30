//! Typed APIs: `postern tools types` for real servers and for names that no language likes, checked by the
//! languages' own compilers.

use postern::stubs::{Target, declarations};
use postern::upstream::ToolDefinition;
use postern_tests::compilers::{cargo_check, mypy, tsc};
use postern_tests::words::exit;
use postern_tests::{Postern, Server, workspace_root};
use serde_json::{Map, Value, json};

const LANGUAGES: [&str; 3] = ["ts", "py", "rust"];

fn golden(name: &str) -> String {
    std::fs::read_to_string(workspace_root().join("host/src/stubs/golden").join(name)).expect("a golden file")
}

/// A script that uses what is declared, rightly, and leaves nothing `any`.
const USE_TS: &str = "\
export async function main(): Promise<string> {
  const { customers, nextCursor } = await tools.crm.list_customers({ limit: 5, sort: { by: 'name' } });
  const first: tools.crm.Customer | undefined = customers[0];
  const parent: tools.crm.Customer | null | undefined = first?.parent;
  const one = await tools.crm.get_customer({ id: parent?.id ?? 7 });
  await tools.crm.add_event({ event: { kind: 'visit', place: [1, 2] }, labels: { a: 'b' } });
  await tools.crm.query({ where: { and: [{ field: 'a', equals: 1 }, { and: [] }] } });
  const up: boolean = await tools.crm.ping();
  try {
    const found = await catalog.search('mail', 3);
    await callTool(found[0]?.name ?? '');
  } catch (error) {
    if (error instanceof ToolError && error.code === 'blocked') return error.tool;
  }
  return `${one.status} ${nextCursor ?? ''} ${up}`;
}
";

/// Each line is wrong in its own way.
const MISUSE_TS: [&str; 6] = [
    "tools.crm.list_customers({ limit: 'five' });",
    "tools.crm.list_customers({ limt: 5 });",
    "tools.crm.get_customer();",
    "tools.crm.list_customers({ status: 'gone' });",
    "tools.crm.nothing();",
    "tools.crm.add_event({ event: { kind: 'call' } });",
];

#[test]
fn typescript_takes_what_is_declared_and_finds_mistakes() {
    let files = [("crm.d.ts", golden("crm.d.ts")), ("use.ts", USE_TS.to_owned())];
    let Some(said) = check(tsc, &files) else { return };
    assert_eq!(said, "");
    let odd = "export const all = [tools['my-server']['get-env'](), tools['my-server'].getEnv(), callTool('my-server/then', { x: 1 }),\n\
        \ttools.words.import({ from: 'a', 'x-y': 'b', '日本': 1 }), tools.words.__init__(), tools.words.tree({ child: { child: {} } }),\n\
        \tcallTool('then/x', { deep: { a: 'b' } })];\n\
        export const ids: Promise<number[]> = tools.words.Call();\n";
    let files = [("odd.d.ts", golden("odd.d.ts")), ("use.ts", odd.to_owned())];
    assert_eq!(check(tsc, &files).expect("it was there"), "");
    let lines = MISUSE_TS.join("\n");
    let said = check(tsc, &[("crm.d.ts", golden("crm.d.ts")), ("use.ts", lines)]).expect("it was there");
    for line in 1..=MISUSE_TS.len() {
        assert!(said.contains(&format!("use.ts({line},")), "line {line} passed: {said}");
    }
}

const USE_PY: &str = "\
import asyncio
from postern import Customer, ToolError, call_tool, catalog, tools

async def main() -> list[str]:
    answer = await tools.crm.list_customers(limit=5, sort={'by': 'name'})
    customers: list[Customer] = answer['customers']
    one, up = await asyncio.gather(tools.crm.get_customer(id=customers[0]['id']), tools.crm.ping())
    await tools.crm.add_event(event={'kind': 'visit', 'place': (1, 2)}, labels={'a': 'b'})
    await tools.crm.query(where={'and': [{'field': 'a', 'equals': 1}, {'and': []}]})
    try:
        found = await catalog.search('mail', 3)
        await call_tool(found[0]['name'])
    except ToolError as error:
        if error.code == 'blocked':
            return [error.message]
    return [one['status'], answer.get('nextCursor') or '', str(up)]

def plain() -> None:
    for customer in tools.crm.list_customers()['customers']:
        print(customer.name)
    names: list[str] = tools.crm.query(where={'and': []})
    print(len(names))
";

const MISUSE_PY: [&str; 6] = [
    "tools.crm.list_customers(limit='five')",
    "tools.crm.list_customers(limt=5)",
    "tools.crm.get_customer()",
    "tools.crm.list_customers(status='gone')",
    "tools.crm.nothing()",
    "tools.crm.add_event(event={'kind': 'call'})",
];

#[test]
fn python_takes_what_is_declared_and_finds_mistakes() {
    let files = [("postern.pyi", golden("crm.pyi")), ("use.py", USE_PY.to_owned())];
    let Some(said) = check(mypy, &files) else { return };
    assert_eq!(said, "");
    let odd = "from postern import call_tool, tools\n\
        async def main() -> list[int]:\n    \
            call_tool('my-server/get-env')\n    \
            call_tool('my-server/then', x=1)\n    \
            tools.words.import_({'x-y': 'b', '日本': 1.5}, from_='a', self=True, type=7)\n    \
            call_tool('words/__init__')\n    \
            tools.words.tree(child={'child': {}})\n    \
            tools.then.x(deep={'a': 'b'})\n    \
            return await tools.words.Call()\n";
    let files = [("postern.pyi", golden("odd.pyi")), ("use.py", odd.to_owned())];
    assert_eq!(check(mypy, &files).expect("it was there"), "");
    let lines = format!("from postern import tools\n{}", MISUSE_PY.join("\n"));
    let said = check(mypy, &[("postern.pyi", golden("crm.pyi")), ("use.py", lines)]).expect("it was there");
    for line in 2..=MISUSE_PY.len() + 1 {
        assert!(said.contains(&format!("use.py:{line}: error")), "line {line} passed: {said}");
    }
}

const USE_RS: &str = "\
use crate::crm::crm::{self, AddEventArgs, AddEventEvent, AddEventEventVisit, AddEventEventVisitKind};
use crate::crm::crm::{GetCustomerArgs, ListCustomersArgs, Status};
use crate::crm::{ErrorCode, ToolError};

pub fn main() -> Result<String, ToolError> {
    let list = crm::list_customers(&ListCustomersArgs { limit: Some(5), status: Some(Status::Active), ..Default::default() });
    let up = crm::ping().wait()?;
    let customers = list.wait()?.customers;
    let parent = customers.first().and_then(|customer| customer.parent.as_deref());
    let one = match crm::get_customer(&GetCustomerArgs { id: parent.map_or(7, |parent| parent.id) }).wait() {
        Err(error) if error.code == ErrorCode::Upstream => return Ok(error.message),
        other => other?,
    };
    let visit = AddEventEventVisit { kind: AddEventEventVisitKind::Visit, place: Some((1.0, 2.0)) };
    let event = AddEventArgs { event: AddEventEvent::Visit(visit), customer_id: None, email: None, labels: None, again: None };
    crm::add_event(&event).wait()?;
    Ok(format!(\"{} {up}\", one.name))
}
";

#[test]
fn rust_takes_what_is_declared() {
    let (crm, odd) = (golden("crm.rs.txt"), golden("odd.rs.txt"));
    assert_eq!(cargo_check(&[("crm", &crm), ("odd", &odd), ("using", USE_RS)]), "");
}

/// Every tool of every real server that the tests install.
#[test]
fn tools_of_real_servers_compile_strictly() {
    let mut postern = Postern::new();
    let root = postern.folder().to_str().expect("UTF-8").to_owned();
    let known = [
        ("filesystem", Server::real("server-filesystem", [root.as_str()])),
        ("memory", Server::real("server-memory", [""; 0])),
        ("everything", Server::real("server-everything", [""; 0])),
        ("git", Server::real("mcp-server-git", [""; 0])),
        ("time", Server::real("mcp-server-time", ["--local-timezone=Europe/Berlin"])),
    ];
    let mut servers = 0;
    for (name, server) in known {
        if let Some(server) = server {
            postern.server(name, server);
            servers += 1;
        }
    }
    if servers == 0 {
        return;
    }
    let [ts, py, rust] = LANGUAGES.map(|lang| postern.json(&["tools", "types", "--lang", lang]));
    let tools = ts["tools"].as_array().expect("a list").len();
    // 14 + 9 + 13 + 12 + 2 in the versions that are pinned
    assert!(servers < 5 || tools >= 50, "{tools}: {:?}", ts["problems"]);
    assert_eq!(ts["problems"], json!([]));
    let text = |types: &Value| types["types"].as_str().expect("text").to_owned();
    eprintln!("{tools} tools: {} {} {} bytes", text(&ts).len(), text(&py).len(), text(&rust).len());
    if let Some(said) = check(tsc, &[("tools.d.ts", text(&ts))]) {
        assert_eq!(said, "");
    }
    if let Some(said) = check(mypy, &[("postern.pyi", text(&py))]) {
        assert_eq!(said, "");
    }
    assert_eq!(cargo_check(&[("tools", &text(&rust))]), "");
}

/// Schemas made at random, but the same each time: that they parse is tested in the host, here that they mean
/// something to a compiler.
#[test]
fn schemas_made_at_random_compile_strictly() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let tools: Vec<ToolDefinition> = (0..80)
        .map(|number| {
            let name = dice.of(&NAMES);
            let name = if number % 2 == 0 { format!("{name}{number}") } else { (*name).to_owned() };
            let server = *dice.of(&["one", "two", "odd-server", "class", "then"]);
            let mut tool = ToolDefinition::new(server, name, json!({"type": "object"}))
                .with_description(*dice.of(&NAMES));
            tool.input_schema = dice.object(0);
            tool.output_schema = (dice.below(3) > 0).then(|| dice.schema(0));
            tool
        })
        .collect();
    // Two tools of one name on one server are one in a catalog.
    let mut seen = std::collections::HashSet::new();
    let tools: Vec<&ToolDefinition> = tools.iter().filter(|tool| seen.insert(tool.id())).collect();
    let [ts, py, rust] = [Target::TypeScript, Target::Python, Target::Rust]
        .map(|target| declarations(tools.iter().copied(), target));
    if let Some(said) = check(tsc, &[("tools.d.ts", ts)]) {
        assert_eq!(said, "");
    }
    if let Some(said) = check(mypy, &[("postern.pyi", py)]) {
        assert_eq!(said, "");
    }
    assert_eq!(cargo_check(&[("tools", &rust)]), "");
}

const NAMES: [&str; 24] = [
    "a",
    "b",
    "list",
    "dict",
    "from",
    "self",
    "type",
    "class",
    "more",
    "arguments",
    "name",
    "x-y",
    "日本",
    "__init__",
    "*/ \"\"\" \\",
    "constructor",
    "$x",
    "7",
    "Value",
    "int",
    "Any",
    "Literal",
    "String",
    "",
];

/// Xorshift.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn object(&mut self, depth: usize) -> Value {
        let fields: Map<String, Value> =
            (0..self.below(5)).map(|_| ((*self.of(&NAMES)).to_owned(), self.schema(depth + 1))).collect();
        let required: Vec<&str> = (0..self.below(3)).map(|_| *self.of(&NAMES)).collect();
        let mut object = json!({"type": "object", "properties": fields, "required": required});
        match self.below(6) {
            0 => object["additionalProperties"] = self.schema(depth + 1),
            1 => object["additionalProperties"] = json!(false),
            2 => object["anyOf"] = (0..2).map(|_| self.object(depth + 1)).collect(),
            3 => object["description"] = json!(self.of(&NAMES)),
            _ => {}
        }
        if depth == 0 {
            object["$defs"] = json!({"a": self.schema(1), "b": self.object(1), "c": {"$ref": "#/$defs/a"}});
        }
        object
    }

    fn schema(&mut self, depth: usize) -> Value {
        let kinds = if depth > 4 { 8 } else { 13 };
        match self.below(kinds) {
            0 => json!({"type": self.of(&["string", "integer", "number", "boolean", "null"])}),
            1 => json!({"type": ["string", self.of(&["integer", "null"])], "description": self.of(&NAMES)}),
            2 => json!({"enum": [self.of(&NAMES), self.of(&NAMES), "type", 1]}),
            3 => json!({"const": self.of(&NAMES)}),
            4 => json!({"enum": [self.of(&NAMES), self.of(&NAMES), self.of(&NAMES)]}),
            5 => {
                json!({"$ref": self.of(&["#", "#/$defs/a", "#/$defs/b", "#/$defs/c", "#/properties/a", "#/nowhere"])})
            }
            6 => json!({"enum": [1.5, -2, true, null, [1]]}),
            7 => json!(self.below(2) == 0),
            8 => json!({"type": "array", "items": self.schema(depth + 1)}),
            9 => {
                let items = [self.schema(depth + 1), self.schema(depth + 1)];
                json!({"type": "array", "prefixItems": items, "items": self.below(2) == 0, "minItems": self.below(3)})
            }
            10 => json!({"anyOf": [self.schema(depth + 1), self.schema(depth + 1), self.object(depth + 1)]}),
            11 => json!({"type": "object", "additionalProperties": self.schema(depth + 1)}),
            _ => self.object(depth + 1),
        }
    }
}

/// What is declared is what travels: the names of the declarations, used in a script, reach the server raw.
#[test]
fn declared_names_reach_their_tools() {
    let mut postern = Postern::new();
    let log = postern.log("odd");
    let names =
        ["get-env", "getEnv", "then", "import", "import_", "__init__", "list", "a.b", "constructor", "$x"];
    let tools: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "description": "Odd.", "properties": {}, "required": [], "answers": [{"text": name}]}))
        .collect();
    let server = Server::story(postern.folder(), &json!({"tools": tools})).log(&log);
    postern.permissive_guard().server("odd-one", server);
    let types = postern.json(&["tools", "types", "--lang", "ts", "--server", "odd-one", "--bare"]);
    let types = types["types"].as_str().expect("text").to_owned();
    let mut script = String::from("const said = [];\n");
    for name in names {
        let quoted = if types.contains(&format!("    \"{name}\"(")) {
            format!("[{name:?}]")
        } else {
            format!(".{name}")
        };
        let call = if types.contains(&format!("callTool(name: \"odd-one/{name}\"")) {
            format!("callTool({:?}, {{}})", format!("odd-one/{name}"))
        } else {
            format!("tools['odd-one']{quoted}({{}})")
        };
        script += &format!("said.push(await {call});\n");
    }
    script += "return said;";
    assert_eq!(postern.run_js(&script).ok(), &json!(names));
    assert_eq!(log.started(), names);
}

#[test]
fn the_command_says_what_it_is_asked() {
    let mut postern = Postern::new();
    let tools = json!({"tools": [
        {"name": "one", "description": "First.", "properties": {"a": {"type": "string"}}, "required": ["a"], "answers": [{"text": "1"}]},
        {"name": "two", "description": "Second.", "properties": {}, "required": [], "answers": [{"text": "2"}]},
    ]});
    let server = Server::story(postern.folder(), &tools).grant(&["one"]);
    postern.server("s", server);
    postern.server("silent", Server::stdio(["/nowhere/at/all"]));
    postern.write_config();
    let types = |words: &[&str]| {
        let finished = postern.command(&[&["tools", "types"][..], words].concat());
        assert_eq!(finished.exit, exit::OK, "{finished:#?}");
        (finished.stdout, finished.stderr)
    };
    let (all, warned) = types(&["--lang", "ts"]);
    assert!(
        all.contains("one(args: {") && all.contains("two(args?: {}): Promise<unknown>"),
        "{all}\n{warned}"
    );
    assert!(warned.contains("silent"), "{warned}");
    // A server that is not asked for is not started.
    let (one, warned) = types(&["--lang", "py", "--tool", "s/one", "--bare"]);
    assert!(
        one.contains("def one(self") && !one.contains("two") && !one.contains("class ToolError"),
        "{one}"
    );
    assert_eq!(warned, "");
    let (granted, _) = types(&["--lang", "rust", "--server", "s", "--granted"]);
    assert!(granted.contains("pub fn one(") && !granted.contains("pub fn two("), "{granted}");
    for (words, said) in [
        (["--server", "nobody"], "nobody"),
        (["--tool", "s/three"], "three"),
        (["--tool", "one"], "server/tool"),
    ] {
        let finished = postern.command(&["tools", "types", "--lang", "ts", words[0], words[1]]);
        assert!(finished.exit != exit::OK && finished.stderr.contains(said), "{finished:#?}");
    }
    assert_eq!(postern.command(&["tools", "types", "--lang", "cobol"]).exit, exit::USAGE);
}

fn check(compiler: fn(&[(&str, &str)]) -> Option<String>, files: &[(&str, String)]) -> Option<String> {
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    compiler(&files)
}
