//! Files: what the user gave cannot be changed, what is private is gone afterwards, what is proposed is
//! kept exactly, and no path leads out.

use std::path::Path;

use postern_tests::words::limit;
use postern_tests::{Postern, sha256};
use serde_json::{Value, json};

const ATTEMPT: &str = "const attempt = async (f) => { try { const v = await f(); return v === undefined ? 'done' : v; } catch (e) { return { code: e.code ?? e.name }; } };\n";

fn is_refused(value: &Value) -> bool {
    value["code"].is_string()
}

#[test]
fn input_is_read_only() {
    let mut postern = Postern::new();
    postern.write("data/a.txt", "original");
    postern.write("data/sub/b.txt", "below");
    let input = postern.path("data");
    postern.flags(["--input", input.to_str().expect("UTF-8")]);
    let run = postern.run_js(&format!(
        "{ATTEMPT}return {{\n\
           read: await attempt(() => fs.readFile('/input/a.txt', 'utf8')),\n\
           below: await attempt(() => fs.readFile('/input/sub/b.txt', 'utf8')),\n\
           list: await attempt(() => fs.readdir('/input')),\n\
           bad: await Promise.all([\n\
             attempt(() => fs.writeFile('/input/a.txt', 'changed')), attempt(() => fs.appendFile('/input/a.txt', 'more')),\n\
             attempt(() => fs.writeFile('/input/new.txt', 'new')), attempt(() => fs.rm('/input/a.txt')),\n\
             attempt(() => fs.rename('/input/a.txt', '/workspace/a.txt')), attempt(() => fs.rename('/input/a.txt', '/input/c.txt')),\n\
             attempt(() => fs.mkdir('/input/folder')), attempt(() => fs.rm('/input/sub', {{ recursive: true }})) ]),\n\
         }};"
    ));
    let value = run.ok();
    assert_eq!((&value["read"], &value["below"]), (&json!("original"), &json!("below")));
    assert_eq!(value["list"], json!(["a.txt", "sub"]));
    assert!(value["bad"].as_array().expect("a list").iter().all(is_refused), "{value:#}");
    assert_eq!(std::fs::read_to_string(postern.path("data/a.txt")).expect("it is there"), "original");
    assert_eq!(std::fs::read_dir(postern.path("data")).expect("it is there").count(), 2);
}

#[test]
fn a_single_file_can_be_the_input() {
    let mut postern = Postern::new();
    postern.write("data/one.txt", "one");
    postern.write("data/other.txt", "other");
    let input = postern.path("data/one.txt");
    postern.flags(["--input", input.to_str().expect("UTF-8")]);
    let run = postern.run_js(
        "return { list: await fs.readdir('/input'), text: await fs.readFile('/input/one.txt', 'utf8') };",
    );
    assert_eq!(*run.ok(), json!({"list": ["one.txt"], "text": "one"}));
}

#[cfg(unix)]
#[test]
fn links_in_the_input_do_not_lead_out() {
    use std::os::unix::fs::symlink;
    let mut postern = Postern::new();
    postern.write("secret/key.txt", "top-secret-8812");
    postern.write("data/a.txt", "fine");
    let data = postern.path("data");
    symlink(postern.path("secret"), data.join("absolute")).expect("a link");
    symlink("../secret/key.txt", data.join("relative")).expect("a link");
    symlink("/etc/passwd", data.join("passwd")).expect("a link");
    symlink("..", data.join("up")).expect("a link");
    symlink("a.txt", data.join("inside")).expect("a link");
    postern.flags(["--input", data.to_str().expect("UTF-8")]);
    let run = postern.run_js(&format!(
        "{ATTEMPT}return {{\n\
           bad: await Promise.all(['absolute/key.txt', 'relative', 'passwd', 'up/secret/key.txt', '../secret/key.txt', 'up', 'sub/../../secret/key.txt']\n\
             .map((path) => attempt(() => fs.readFile(`/input/${{path}}`, 'utf8')))),\n\
           listed: await Promise.all(['absolute', 'up'].map((path) => attempt(() => fs.readdir(`/input/${{path}}`)))),\n\
           inside: await attempt(() => fs.readFile('/input/inside', 'utf8')),\n\
         }};"
    ));
    let value = run.ok();
    assert!(value["bad"].as_array().expect("a list").iter().all(is_refused), "{value:#}");
    assert!(value["listed"].as_array().expect("a list").iter().all(is_refused), "{value:#}");
    assert_eq!(value["inside"], "fine");
    assert!(!run.process.stdout.contains("top-secret-8812"));
}

#[test]
fn paths_that_climb_stay_inside() {
    let postern = Postern::new();
    postern.write("outside.txt", "top-secret-8812");
    let run = postern.run_js(&format!(
        "{ATTEMPT}return await Promise.all(['../outside.txt', '/workspace/../../outside.txt', '/out/../../../etc/passwd', '/etc/passwd', '//etc/passwd',\n\
           '/proc/self/cwd/outside.txt', '/dev/null', '/workspace/..//..', 'C:\\\\Windows', ''].flatMap((path) => [\n\
             attempt(() => fs.readFile(path, 'utf8')), attempt(() => fs.writeFile(path, 'x')) ]));"
    ));
    // A backslash is an ordinary character in a name: that one may be written inside the workspace.
    let refused = run.ok().as_array().expect("a list").iter().filter(|value| is_refused(value)).count();
    assert!(refused >= 19 - 1, "{run:#?}");
    assert_eq!(std::fs::read_to_string(postern.path("outside.txt")).expect("it is there"), "top-secret-8812");
    assert!(!run.process.stdout.contains("top-secret-8812"));
}

/// Every file below `folder` that holds `marker`.
fn files_with(folder: &Path, marker: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_with(&path, marker));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).contains(marker) {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_workspace_is_gone_after_the_run_however_it_ended() {
    let mut postern = Postern::new();
    let temporary = postern.path("tmp");
    std::fs::create_dir(&temporary).expect("a new folder");
    postern.env("TMPDIR", temporary.to_str().expect("UTF-8")).flags(["--wall-time", "500ms"]);
    // Built at run time, so that the copy of the script in the record does not hold it.
    let write = "await fs.mkdir('/workspace/d'); await fs.writeFile('/workspace/d/f', ['marker', 6 * 111].join('-'));";
    let run = |end: &str| {
        let run = postern.run_js(&format!("{write} {end}"));
        assert_eq!(files_with(postern.folder(), "marker-666"), Vec::<std::path::PathBuf>::new(), "{end}");
        run
    };
    assert_eq!(*run("return (await fs.readFile('/workspace/d/f', 'utf8')).length;").ok(), 10);
    assert_eq!(run("throw new Error('early');").script_error(), "early");
    run("for (;;) ;").limit(limit::WALL_TIME);
    let left = std::fs::read_dir(&temporary).expect("a folder").count();
    assert_eq!(left, 0, "temporary files are left");
}

#[test]
fn artifacts_are_kept_as_they_are() {
    let mut postern = Postern::new();
    let out = postern.path("kept");
    postern.flags(["--out", out.to_str().expect("UTF-8")]);
    let run = postern.run_js(
        "await fs.mkdir('/out/a/b', { recursive: true });\n\
         await fs.writeFile('/out/a/b/data.bin', Uint8Array.from({ length: 70_000 }, (_, i) => i % 256));\n\
         await fs.writeFile('/out/empty', '');\n\
         await fs.writeFile('/out/grüße.txt', 'grüße');\n\
         await fs.writeFile('/out/twice', 'first'); await fs.writeFile('/out/twice', 'second');\n\
         await fs.writeFile('/out/removed', 'x'); await fs.rm('/out/removed');",
    );
    run.ok();
    let bytes: Vec<u8> = (0..70_000u32).map(|i| (i % 256) as u8).collect();
    for (name, content) in [
        ("a/b/data.bin", &bytes[..]),
        ("empty", b""),
        ("grüße.txt", "grüße".as_bytes()),
        ("twice", b"second"),
    ] {
        assert_eq!(run.artifact(name), Some((content.len() as u64, sha256(content).as_str())), "{name}");
        assert_eq!(std::fs::read(out.join(name)).expect("promoted"), content, "{name}");
    }
    assert_eq!(run.document["artifacts"].as_array().expect("a list").len(), 4);
}

#[test]
fn without_out_artifacts_are_proposed_and_promoted_nowhere() {
    let postern = Postern::new();
    let run = postern.run_js("await fs.writeFile('/out/a.txt', 'kept in the record');");
    run.ok();
    assert_eq!(run.artifact("a.txt"), Some((18, sha256(b"kept in the record").as_str())));
    assert!(!postern.path("a.txt").exists() && !postern.path("out").exists());
}

#[test]
fn an_input_that_is_not_there_is_an_error_before_the_run() {
    let mut postern = Postern::new();
    postern.flags(["--input", "nowhere/at-all"]);
    let script = postern.write("script.js", "return 1;");
    let finished = postern.run_raw(&[script.to_str().expect("UTF-8")], &[]);
    assert!(finished.exit != 0 && finished.stderr.contains("nowhere/at-all"), "{finished:#?}");
}
