//! What is Python's own: calls plain and awaited, results with attributes, files, time zones, values.

use postern_tests::words::{call, outcome};
use postern_tests::{Postern, Server};
use serde_json::{Value, json};

fn with_tools() -> Postern {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    postern
}

#[test]
fn calls_are_plain_or_awaited() {
    let postern = with_tools();
    for source in [
        "r = tools.t.echo(n=1, list=[1, {'a': None}])\nr",
        "tools.t.echo({'n': 1, 'list': [1, {'a': None}]})",
        "tools['t']['echo'](n=1, list=(1, {'a': None}))",
        "tools['t/echo'](n=1, list=[1, {'a': None}])",
        "call_tool('t/echo', {'n': 1}, list=[1, {'a': None}])",
        "await tools.t.echo(n=1, list=[1, {'a': None}])",
        "import asyncio\nasyncio.run(tools.t.echo(n=1, list=[1, {'a': None}]))",
        "import asyncio\n(await asyncio.gather(tools.t.echo(n=1, list=[1, {'a': None}])))[0]",
        "import asyncio\nawait asyncio.create_task(tools.t.echo(n=1, list=[1, {'a': None}]))",
        "import asyncio\nawait asyncio.wait_for(tools.t.echo(n=1, list=[1, {'a': None}]), 20)",
        "import asyncio\n[await c for c in asyncio.as_completed([tools.t.echo(n=1, list=[1, {'a': None}])])][0]",
        "import asyncio\nasync def one():\n    return await tools.t.echo(n=1, list=[1, {'a': None}])\nasync def main():\n    async with asyncio.TaskGroup() as g:\n        t = g.create_task(one())\n    return t.result()\nasyncio.run(main())",
        "import asyncio\nawait asyncio.to_thread(lambda: tools.t.echo(n=1, list=[1, {'a': None}]))",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n    r = list(pool.map(lambda n: tools.t.echo(n=n, list=[1, {'a': None}]), [1]))\nr[0]",
        "from tools import t\nt.echo(n=1, list=[1, {'a': None}])",
        "import postern\npostern.call_tool('t/echo', n=1, list=[1, {'a': None}])",
    ] {
        let run = postern.run_py(source);
        assert_eq!(*run.ok(), json!({"n": 1, "list": [1, {"a": null}]}), "{source}");
        assert_eq!(run.warnings(), "", "{source}");
        assert_eq!(run.calls().len(), 1, "{source}");
    }
}

#[test]
fn a_call_without_await_has_the_items_of_its_answer() {
    let run = with_tools()
        .run_py("import asyncio\nr = tools.t.echo(line=7, label='x', wait=True)\n[r.line, r.label, r.wait]");
    assert_eq!(*run.ok(), json!([7, "x", true]), "none is hidden by the call's own");
}

#[test]
fn one_large_write_is_whole() {
    let run = Postern::new().run_py(
        "import sys\nprint('x' * 200_000)\nprint('é' * 100_000, end='')\nsys.stderr.write('y' * 200_000)\nsys.stdout.buffer.write(b'z' * 70_000)",
    );
    assert_eq!(*run.ok(), 70_000);
    let expected = format!("{}\n{}{}", "x".repeat(200_000), "é".repeat(100_000), "z".repeat(70_000));
    assert!(run.stdout() == expected && run.stderr() == "y".repeat(200_000), "each byte is there");
}

#[test]
fn arguments_have_pythons_names_and_values() {
    let postern = with_tools();
    let run = postern.run_py(
        "import datetime, decimal, enum, pathlib, uuid\nclass C(enum.Enum):\n    RED = 'red'\n\
         tools.t.echo(from_='a', class_='b', when=datetime.date(2026, 7, 1), much=decimal.Decimal('12.50'),\n\
         \x20   path=pathlib.Path('/out/x'), colour=C.RED, many={3, 1, 2}, text='é\\u2603', pair=(1, 2), id=uuid.UUID(int=1))",
    );
    let expected = json!({"from": "a", "class": "b", "when": "2026-07-01", "much": 12.5, "path": "/out/x",
        "colour": "red", "many": [1, 2, 3], "text": "é☃", "pair": [1, 2], "id": "00000000-0000-0000-0000-000000000001"});
    assert_eq!(*run.ok(), expected);
    for (source, says) in [
        ("tools.t.echo(f=lambda: 1)", "a function"),
        ("tools.t.echo(n=float('nan'))", "nan"),
        ("tools.t.echo(b={'x': [b'raw']})", "bytes"),
        ("a = []\na.append(a)\ntools.t.echo(a=a)", "cycle"),
        ("tools.t.echo({(1, 2): 3})", "key"),
        ("tools.t.echo([1])", "by name"),
        ("tools.t.echo(1, 2)", "by name"),
        ("tools.t()", "tools.t.<tool>"),
        ("call_tool('t.echo')", "t/echo"),
        ("call_tool(7)", "server/tool"),
        ("tools.x = 1", "cannot be changed"),
    ] {
        let run = postern.run_py(source);
        assert!(run.script_error().contains(says), "{source}: {run:#?}");
        assert_eq!(run.calls().len(), 0, "{source}");
    }
    let run = postern.run_py("tools.t.echo(b={'x': [1, b'raw']})");
    assert!(run.script_error().contains("['b']['x'][1]"), "says where: {run:#?}");
}

#[test]
fn results_are_dicts_and_lists_with_attributes() {
    let postern = with_tools();
    let run = postern.run_py(
        "import copy, json, pickle\nr = tools.t.echo(name='Ann', items=[{'id': 1}], deep={'a': {'b': 2}})\n\
         try:\n    r.nope\nexcept AttributeError as error:\n    said = str(error)\n\
         first, = r['items']\n\
         r.added = 3\n\
         {'attr': r.name, 'key': r['name'], 'inner': r.deep.a.b, 'first': first.id, 'items': callable(r.items),\n\
          'kinds': [isinstance(r, dict), type(r['items']) is list], 'said': said, 'json': json.dumps(r.deep), 'get': r.get('zz', 0),\n\
          'copies': [copy.deepcopy(r) == r, pickle.loads(pickle.dumps(r)) == r, {**r} == r, r.copy().name],\n\
          'print': str(r.deep), 'added': r['added'], 'has': [hasattr(r, 'name'), hasattr(r, 'x'), 'name' in r]}",
    );
    let value = run.ok();
    assert_eq!(
        (&value["attr"], &value["key"], &value["inner"], &value["first"]),
        (&json!("Ann"), &json!("Ann"), &json!(2), &json!(1))
    );
    assert_eq!(value["items"], true, "what dict has is dict's");
    assert_eq!(value["kinds"], json!([true, true]));
    assert!(
        value["said"].as_str().is_some_and(|said| said.contains("'nope'") && said.contains("'name'")),
        "{value}"
    );
    assert_eq!((&value["json"], &value["print"]), (&json!("{\"a\": {\"b\": 2}}"), &json!("{'a': {'b': 2}}")));
    assert_eq!(value["copies"], json!([true, true, true, "Ann"]));
    assert_eq!(
        (&value["get"], &value["added"], &value["has"]),
        (&json!(0), &json!(3), &json!([true, false, true]))
    );
}

#[test]
fn failed_calls_are_tool_errors() {
    let postern = with_tools();
    for call in ["tools.t.fail(message='no paper')", "await tools.t.fail(message='no paper')"] {
        let run = postern.run_py(&format!(
            "try:\n    {call}\nexcept Exception as error:\n    e = error\n\
             {{'kind': type(e).__name__, 'mro': isinstance(e, ToolError), 'code': e.code, 'text': str(e), 'message': e.message,\n\
              'retryable': e.retryable, 'tool': e.tool, 'hint': e.hint, 'details': e.details, 'whole': e}}"
        ));
        let value = run.ok();
        assert_eq!(
            (&value["kind"], &value["mro"], &value["code"]),
            (&json!("ToolError"), &json!(true), &json!(call::UPSTREAM))
        );
        assert!(
            value["text"].as_str().is_some_and(|text| text.contains("no paper"))
                && value["text"] == value["message"]
        );
        assert_eq!(
            (&value["retryable"], &value["tool"], &value["hint"]),
            (&json!(false), &json!("t/fail"), &Value::Null)
        );
        assert_eq!(
            (&value["whole"]["name"], &value["whole"]["code"]),
            (&json!("ToolError"), &json!(call::UPSTREAM))
        );
    }
    // Of several calls at once each tells its own.
    let run = postern.run_py(
        "import asyncio\nrs = await asyncio.gather(tools.t.echo(n=1), tools.t.fail(message='x'), tools.t.nope(), return_exceptions=True)\n\
         [r.code if isinstance(r, ToolError) else r for r in rs]",
    );
    assert_eq!(*run.ok(), json!([{"n": 1}, call::UPSTREAM, call::UNKNOWN_TOOL]));
}

#[test]
fn a_call_that_is_given_up_is_cancelled() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.permissive_guard().server("t", Server::test().log(&log));
    let run = postern.run_py(
        "import asyncio\ntry:\n    await asyncio.wait_for(tools.t.never(), 2)\nexcept TimeoutError:\n    r = 'given up'\nr",
    );
    assert_eq!(*run.ok(), "given up");
    assert!(log.eventually("cancel", "never"), "{:?}", log.events());
}

#[test]
fn the_catalog_answers_both_ways() {
    let postern = with_tools();
    for (wait, first) in [("", ""), ("await ", ""), ("", "import asyncio\n")] {
        let run = postern.run_py(&format!(
            "{first}found = {wait}catalog.search('echo', limit=3)\none = {wait}catalog.describe('t/echo')\n\
             [len(found) <= 3, any(t['name'] == 't/echo' for t in found), one['name'], one['inputSchema']['type']]"
        ));
        assert_eq!(*run.ok(), json!([true, true, "t/echo", "object"]), "{wait}");
    }
    let run = postern.run_py("catalog.describe(tools.t.echo).name");
    assert_eq!(*run.ok(), "t/echo");
}

#[test]
fn values_become_json() {
    let postern = Postern::new();
    for (source, value) in [
        ("None", json!(null)),
        ("x = 1", json!(null)),
        ("{'a': (1, 2.5, True, None)}", json!({"a": [1, 2.5, true, null]})),
        ("import datetime\ndatetime.datetime(2026, 7, 1, 12)", json!("2026-07-01T12:00:00")),
        ("import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\n[P(1)]", json!([{"x": 1}])),
        ("from collections import Counter\nCounter('aab')", json!({"a": 2, "b": 1})),
        ("(n * n for n in range(3))", json!([0, 1, 4])),
        ("{1: 'a', None: 'b', True: 'c'}", json!({"1": "c", "null": "b"})),
        ("float('nan')", json!(null)),
        ("[float('inf'), 1]", json!([null, 1])),
        ("10**20", json!(100000000000000000000_f64)),
        ("'\\ud800 half'", json!("\u{fffd} half")),
        ("ValueError('bad')", json!({"name": "ValueError", "message": "bad"})),
    ] {
        let run = postern.run_py(source);
        match source {
            "10**20" => assert_eq!(run.ok().as_f64(), value.as_f64()),
            _ => assert_eq!(*run.ok(), value, "{source}"),
        }
    }
    // What was perhaps never meant as a result is a note; what was is an error.
    let run = postern.run_py("print");
    assert_eq!((run.ok(), run.warnings().contains("no value")), (&Value::Null, true), "{run:#?}");
    for (source, says) in [
        ("result = {'f': print}", "['f']"),
        ("return b'raw'", "bytes"),
        ("def main():\n    return int", "class int"),
    ] {
        let run = postern.run_py(source);
        assert!(run.script_error().contains(says), "{source}: {run:#?}");
    }
}

#[test]
fn files_work_with_open_pathlib_csv_and_json() {
    let mut postern = Postern::new();
    postern.write("orders.csv", "id,total\na,10.5\nb,20\n");
    postern.write("folder/deep/note.txt", "hé");
    let (csv, folder, out) = (postern.path("orders.csv"), postern.path("folder"), postern.path("out"));
    let text = |path: &std::path::Path| path.to_str().expect("UTF-8").to_owned();
    postern.flags(["--input", &text(&csv), "--input", &text(&folder), "--out", &text(&out)]);
    let run = postern.run_py(
        "import csv, json, os, shutil\nfrom pathlib import Path\n\
         with open('/input/orders.csv', newline='') as f:\n    rows = list(csv.DictReader(f))\n\
         total = sum(float(r['total']) for r in rows)\n\
         Path('/out/sub').mkdir()\n\
         with open('/out/sub/report.json', 'w') as f:\n    json.dump({'total': total}, f)\n\
         with open('/workspace/log.txt', 'a') as f:\n    print('one', file=f)\n\
         shutil.copy('/input/folder/deep/note.txt', 'copy.txt')\n\
         refused = []\n\
         for how in (lambda: open('/input/orders.csv', 'a'), lambda: os.remove('/input/orders.csv'), lambda: Path('/input/x').mkdir(),\n\
         \x20           lambda: os.rename('/input/orders.csv', '/workspace/o')):\n    try:\n        how()\n        refused.append(None)\n    except OSError as error:\n        refused.append(type(error).__name__)\n\
         {'total': total, 'walk': sorted(str(p) for p in Path('/input').rglob('*') if p.is_file()), 'cwd': sorted(os.listdir()),\n\
          'copy': Path('copy.txt').read_text(), 'refused': refused, 'out': os.listdir('/out')}",
    );
    let value = run.ok();
    assert_eq!(value["total"], 30.5);
    assert_eq!(value["walk"], json!(["/input/folder/deep/note.txt", "/input/orders.csv"]));
    assert_eq!(
        (&value["cwd"], &value["copy"], &value["out"]),
        (&json!(["copy.txt", "log.txt"]), &json!("hé"), &json!(["sub"]))
    );
    assert!(value["refused"].as_array().expect("a list").iter().all(Value::is_string), "{value}");
    assert!(run.artifact("report.json").is_some(), "{run:#?}");
    assert_eq!(std::fs::read_to_string(out.join("sub/report.json")).expect("promoted"), "{\"total\": 30.5}");
}

#[test]
fn an_analysis_of_a_hundred_thousand_rows_fits_the_defaults() {
    let mut postern = Postern::new();
    let mut csv = String::from("id,region,product,quantity,price,day,note\n");
    for id in 0..100_000_u32 {
        csv.push_str(&format!(
            "{id},region-{},product-{},{},{}.{:02},2026-{:02}-{:02},some words about row {id}\n",
            id % 7,
            id % 50,
            id % 9 + 1,
            id % 200,
            id % 100,
            id % 12 + 1,
            id % 28 + 1
        ));
    }
    postern.write("sales.csv", csv);
    let input = postern.path("sales.csv");
    postern.flags(["--input", input.to_str().expect("UTF-8")]);
    let run = postern.run_py(
        "import csv, json, statistics\nfrom collections import defaultdict\nfrom decimal import Decimal\n\
         with open('/input/sales.csv', newline='') as f:\n    rows = list(csv.DictReader(f))\n\
         by = defaultdict(float)\nmonths = defaultdict(list)\n\
         for row in rows:\n    value = int(row['quantity']) * float(row['price'])\n    by[row['region']] += value\n    months[row['day'][:7]].append(value)\n\
         top = sorted(rows, key=lambda r: float(r['price']), reverse=True)[:3]\n\
         with open('/workspace/rows.json', 'w') as f:\n    json.dump(rows, f)\n\
         with open('/workspace/rows.json') as f:\n    again = json.load(f)\n\
         {'rows': len(rows), 'regions': len(by), 'months': {m: round(statistics.fmean(v), 2) for m, v in sorted(months.items())}, 'same': again == rows, 'top': top[0]['price']}",
    );
    let value = run.ok();
    assert_eq!(
        (&value["rows"], &value["regions"], &value["same"]),
        (&json!(100_000), &json!(7), &json!(true))
    );
    assert_eq!(value["months"].as_object().map(serde_json::Map::len), Some(12));
    assert_eq!(value["top"], "199.99");
}

#[test]
fn the_time_zone_database_is_there() {
    let run = Postern::new().run_py(
        "from datetime import datetime, timedelta\nfrom zoneinfo import ZoneInfo, available_timezones\n\
         start = datetime(2026, 3, 28, 12, tzinfo=ZoneInfo('Europe/Oslo'))\n\
         [str(start + timedelta(days=1)), start.astimezone(ZoneInfo('Asia/Tokyo')).isoformat(), len(available_timezones()) > 400]",
    );
    assert_eq!(*run.ok(), json!(["2026-03-29 12:00:00+02:00", "2026-03-28T20:00:00+09:00", true]));
}

#[test]
fn a_script_can_end_early() {
    let postern = Postern::new();
    assert_eq!(*postern.run_py("import sys\nresult = 3\nsys.exit()").ok(), 3);
    assert_eq!(*postern.run_py("result = 3\nexit(0)").ok(), 3);
    let run = postern.run_py("import sys\nprint('before')\nsys.exit(2)");
    assert!(run.script_error().contains("exit code 2"), "{run:#?}");
    assert_eq!(run.stdout(), "before\n");
    let run = postern.run_py("import os\nos._exit(0)");
    assert_eq!(run.outcome(), outcome::OK, "{run:#?}");
}

#[test]
fn doctor_knows_of_the_runner() {
    let document = Postern::new().json(&["doctor"]);
    let findings = document["findings"].as_array().expect("findings");
    assert!(
        findings.iter().any(|finding| finding["name"] == "Python runner" && finding["ok"] == true),
        "{document:#}"
    );
}
