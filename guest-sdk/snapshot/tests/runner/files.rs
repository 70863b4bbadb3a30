//! `fs` and `path` over the folders of a run.

use serde_json::json;

use crate::host::{End, error, run, value};

#[test]
fn files_are_read_and_written() {
    assert_eq!(value("return await fs.readFile('/input/hello.txt', 'utf8')"), json!("hello, grüße\n"));
    assert_eq!(
        value("const b = await fs.readFile('/input/hello.txt'); return [b instanceof Uint8Array, b.length]"),
        json!([true, 15])
    );
    assert_eq!(
        value(
            "await fs.writeFile('a.txt', 'one'); await fs.appendFile('a.txt', '\\ntwo'); await fs.writeFile('/workspace/b.bin', new Uint16Array([0x4241]).buffer); return [await fs.readFile('/workspace/a.txt', {encoding: 'utf-8'}), await fs.readFile('./b.bin', 'utf8')]"
        ),
        json!(["one\ntwo", "AB"])
    );
    let ran = run(
        "await fs.mkdir('/out/x/y', {recursive: true}); await fs.mkdir('/out/x/y', {recursive: true}); await fs.writeFile('/out/x/y/r.md', '# r'); return 1",
    );
    assert!(matches!(ran.end, End::Value(_)), "{:?}", ran.end);
    assert_eq!(std::fs::read_to_string(ran.out.join("x/y/r.md")).unwrap(), "# r");
}

#[test]
fn folders() {
    assert_eq!(
        value(
            "await fs.mkdir('d/e', {recursive: true}); await fs.writeFile('d/f.txt', 'x'); await fs.writeFile('d/e/g.txt', 'y'); const list = await fs.readdir('d', {withFileTypes: true}); return [await fs.readdir('/workspace'), list.map(x => [x.name, x.isDirectory(), x.isFile()]), await fs.readdir('d', {recursive: true}), await fs.readdir('/')]"
        ),
        json!([
            ["d"],
            [["e", true, false], ["f.txt", false, true]],
            ["e", "f.txt", "e/g.txt"],
            ["input", "out", "workspace"]
        ])
    );
    assert_eq!(
        value(
            "await fs.mkdir('d/e', {recursive: true}); await fs.writeFile('d/e/g', 'y'); await fs.rename('d/e/g', '/out/h'); await fs.copyFile('/out/h', 'i'); await fs.rm('d', {recursive: true}); await fs.rm('nothing', {force: true}); await fs.unlink('i'); return [await fs.exists('d'), await fs.exists('i'), fs.readFileSync('/out/h', 'utf8'), fs.existsSync('/out/h')]"
        ),
        json!([false, false, "y", true])
    );
    assert_eq!(
        value(
            "await fs.writeFile('s', 'abc'); const s = await fs.stat('s'); return [s.size, s.isFile(), s.isDirectory(), Math.abs(Date.now() - s.mtimeMs) < 60000, (await fs.stat('/input')).isDirectory()]"
        ),
        json!([3, true, false, true, true])
    );
}

#[test]
fn errors_are_node_s() {
    let wrong = [
        ("fs.readFile('nothing')", "ENOENT", "ENOENT: no such file or directory, open '/workspace/nothing'"),
        (
            "fs.readFile('/etc/passwd')",
            "EACCES",
            "a script's files are under /input (read only), /workspace and /out",
        ),
        ("fs.readFile('../../etc/passwd')", "EACCES", "'/etc/passwd'"),
        ("fs.readFile('/input')", "EISDIR", "EISDIR"),
        ("fs.readdir('/input/hello.txt')", "ENOTDIR", "ENOTDIR"),
        ("fs.mkdir('/out/a/b')", "ENOENT", "ENOENT"),
        ("fs.rm('/workspace/nothing')", "ENOENT", "ENOENT"),
        ("fs.writeFile('/input/new.txt', 'x')", "", ""),
        ("fs.unlink('/input/hello.txt')", "", ""),
        ("(fs.mkdirSync('dd'), fs.rm('dd'))", "EISDIR", "EISDIR"),
    ];
    for (source, code, message) in wrong {
        let got = value(&format!(
            "try {{ await {source}; return 'no error' }} catch (e) {{ return [e.code, e.message] }}"
        ));
        let (got_code, got_message) = (got[0].as_str().unwrap(), got[1].as_str().unwrap());
        if code.is_empty() {
            assert!(["EROFS", "EACCES", "EPERM"].contains(&got_code), "{source}: {got}");
        } else {
            assert_eq!(got_code, code, "{source}");
        }
        assert!(got_message.contains(message), "{source}: {got_message}");
    }
    let thrown = error("\nawait fs.readFile('nothing', 'utf8')");
    assert_eq!(thrown.line, Some(2), "{thrown:?}");
    assert_eq!(error("await fs.writeFile('x', {a: 1})").name, "TypeError");
    assert!(error("await fs.readFile('x', 'utf8', () => {})").message.contains("gives a promise"));
}

#[test]
fn paths() {
    assert_eq!(
        value(
            "const path = require('path'); return [path.join('a', '..', 'b', './c/'), path.resolve('x', '../y'), path.basename('/a/b.txt', '.txt'), path.extname('a.tar.gz'), path.dirname('/a/b'), path.relative('/a/b', '/a/c/d'), path.isAbsolute('/x'), path.parse('/a/b.md').name, path.normalize('//a//b/..')]"
        ),
        json!(["b/c/", "/workspace/y", "b", ".gz", "/a", "../c/d", true, "b", "/a"])
    );
    assert_eq!(
        value(
            "return [require('fs') === fs, require('node:fs/promises').readFile === fs.readFile, require('fs').promises === fs]"
        ),
        json!([true, true, true])
    );
}
