//! Wheels as strangers may make them, built here; what is let through, and what is kept where.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sha2::{Digest, Sha256};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;
use crate::sandbox::hex;

const WHEEL: &str = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
const METADATA: &str = "Metadata-Version: 2.1\nName: Some.Name\nVersion: 1.2\nRequires-Dist: six >=1.5\n\
     Requires-Dist: rich; extra == \"show\"\n\nVersion: 9.9 is not the version\n";

/// An archive of these files.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A good wheel, and these files; one of the same name takes the place of the good one.
fn wheel(more: &[(&str, &[u8])]) -> Vec<u8> {
    let mut files: Vec<(&str, &[u8])> = vec![
        ("some_name/__init__.py", b"x = 1\n".as_slice()),
        ("some_name-1.2.dist-info/WHEEL", WHEEL.as_bytes()),
        ("some_name-1.2.dist-info/METADATA", METADATA.as_bytes()),
        ("some_name-1.2.dist-info/RECORD", b"".as_slice()),
    ];
    for (name, content) in more {
        match files.iter_mut().find(|(known, _)| known == name) {
            Some(file) => file.1 = content,
            None => files.push((name, content)),
        }
    }
    archive(&files)
}

fn package(wheel: &[u8]) -> Package {
    Package::new("some-name", "1.2", &hex(&Sha256::digest(wheel))).unwrap()
}

/// What lies in a folder and below, with its content.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            match std::fs::symlink_metadata(&path).unwrap() {
                there if there.is_dir() => folders.push(path),
                _ => drop(
                    found
                        .insert(path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap()),
                ),
            }
        }
    }
    found
}

/// A store in a folder of its own, and the folder.
fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("packages"));
    (folder, store)
}

/// The same bytes with one text in the place of another of the same length.
fn patched(bytes: &[u8], from: &[u8], to: &[u8], times: usize) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let found: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    assert_eq!(found.len(), times, "{from:?}");
    for at in found {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

/// An archive behind so many other bytes, with a directory that counts them.
fn moved(archive: &[u8], by: u32) -> Vec<u8> {
    let mut bytes = archive.to_vec();
    let mut add = |at: usize| {
        let number = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) + by;
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    };
    let starts = |signature: &[u8]| -> Vec<usize> {
        (0..archive.len() - 4).filter(|at| archive[*at..].starts_with(signature)).collect()
    };
    for at in starts(b"PK\x01\x02") {
        add(at + 42);
    }
    for at in starts(b"PK\x05\x06") {
        add(at + 16);
    }
    bytes
}

#[test]
fn a_package_is_written_as_a_table() {
    #[derive(Debug, serde::Deserialize)]
    struct Profile {
        packages: Vec<Package>,
    }
    let read = |text: &str| toml::from_str::<Profile>(&format!("packages = [{text}]"));
    let sha = "A".repeat(64);
    let good = read(&format!("{{name = \"Six\", version = \"1.17.0\", sha256 = \"{sha}\"}}")).unwrap();
    assert_eq!(good.packages[0].sha256, "a".repeat(64));
    let again = read(&good.packages[0].line()).unwrap();
    assert_eq!(again.packages, good.packages, "the line that is shown is the form that is read");
    for (text, says) in [
        ("\"six\"".to_owned(), "postern packages show"),
        ("{name = \"six\"}".to_owned(), "version"),
        (format!("{{name = \"six\", version = \"1\", sha256 = \"{sha}\", url = \"x\"}}"), "url"),
        ("{name = \"six\", version = \"1\", sha256 = \"abc\"}".to_owned(), "64 hex digits"),
        (format!("{{name = \"six\", version = \"1\", sha256 = \"{}\"}}", "g".repeat(64)), "64 hex digits"),
        (format!("{{name = \"six\", version = \">=1\", sha256 = \"{sha}\"}}"), "exact version"),
        (format!("{{name = \"../six\", version = \"1\", sha256 = \"{sha}\"}}"), "name of a package"),
    ] {
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    let twice = [package(b"a"), Package { name: "Some_Name".into(), ..package(b"b") }];
    assert!(each_once(&twice).unwrap_err().contains("Some_Name"));
    assert_eq!(each_once(&twice[..1]), Ok(()));
}

#[test]
fn a_wheel_says_what_it_is() {
    let bytes = wheel(&[]);
    let read = Wheel::read(&bytes).unwrap();
    assert_eq!((read.package().name.as_str(), read.package().version.as_str()), ("Some.Name", "1.2"));
    assert_eq!(read.requires().collect::<Vec<_>>(), ["six >=1.5"], "what an extra needs is left out");
    for tag in ["py2.py3-none-any", "py314-none-any", "cp39-none-any"] {
        let text = WHEEL.replace("py3-none-any", tag);
        let bytes = wheel(&[("some_name-1.2.dist-info/WHEEL", text.as_bytes())]);
        assert!(Wheel::read(&bytes).is_ok(), "{tag}");
    }
}

#[test]
fn a_package_is_unpacked_once_and_read_only() {
    let (folder, store) = store();
    let bytes = wheel(&[
        ("some_name/data/a.txt", b"data"),
        ("some_name-1.2.data/purelib/other.py", b"y = 2\n"),
        ("some_name-1.2.data/scripts/tool", b"#!python\n"),
    ]);
    let package = package(&bytes);
    assert_eq!((store.state(&package), store.has(&package)), (State::Missing, false));
    store.add(&package, &bytes).unwrap();
    store.add(&package, &bytes).unwrap();
    assert_eq!(store.state(&package), State::There);
    let set = store.set(std::slice::from_ref(&package)).unwrap();
    assert_eq!(store.set(std::slice::from_ref(&package)).unwrap(), set);
    let files = tree(&set);
    assert_eq!(files[Path::new("other.py")], b"y = 2\n");
    assert_eq!(files[Path::new("some_name/data/a.txt")], b"data");
    assert_eq!(files.len(), 6, "programs are left out: {files:?}");
    for path in files.keys() {
        let permissions = std::fs::metadata(set.join(path)).unwrap().permissions();
        assert!(permissions.readonly(), "{path:?}");
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o333, 0, "{path:?}");
    }
    let names: Vec<String> = std::fs::read_dir(folder.path().join("packages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 2, "nothing half done is left: {names:?}");
}

#[test]
fn the_digest_and_the_name_must_be_those_that_were_asked_for() {
    let (folder, store) = store();
    let bytes = wheel(&[]);
    let right = package(&bytes);
    let code = |package: &Package, bytes: &[u8]| store.add(package, bytes).unwrap_err().code();
    assert_eq!(code(&Package { sha256: "0".repeat(64), ..right.clone() }, &bytes), "package-digest");
    assert_eq!(code(&right, &bytes[1..]), "package-digest");
    assert_eq!(code(&Package { name: "other".into(), ..right.clone() }, &bytes), "package-mismatch");
    let error = store.add(&Package { version: "1.20".into(), ..right.clone() }, &bytes).unwrap_err();
    assert_eq!(error.code(), "package-mismatch");
    assert!(error.hint().unwrap().contains("version = \"1.2\""), "{error}");
    assert!(!folder.path().join("packages").exists(), "nothing is unpacked before both are known");
    assert_eq!(store.set(&[right]).unwrap_err().code(), "package-missing");
}

#[test]
fn a_damaged_package_is_found_and_replaced() {
    let (folder, store) = store();
    let bytes = wheel(&[]);
    let package = package(&bytes);
    store.add(&package, &bytes).unwrap();
    let set = store.set(std::slice::from_ref(&package)).unwrap();
    let file = folder.path().join("packages").join(&package.sha256).join("files/some_name/__init__.py");
    std::fs::remove_file(&file).unwrap();
    assert_eq!((store.has(&package), store.state(&package)), (true, State::Damaged));
    std::fs::write(&file, "x = 2\n").unwrap();
    assert_eq!(store.state(&package), State::Damaged);
    store.add(&package, &bytes).unwrap();
    assert_eq!(store.state(&package), State::There);
    assert!(!set.exists(), "what was made of it is made again");
    assert_eq!(store.set(std::slice::from_ref(&package)).unwrap(), set);
}

#[cfg(unix)]
#[test]
fn a_folder_of_others_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, store) = store();
    let bytes = wheel(&[]);
    let package = package(&bytes);
    store.add(&package, &bytes).unwrap();
    let packages = folder.path().join("packages");
    std::fs::set_permissions(&packages, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(store.state(&package), State::Missing);
    assert!(store.add(&package, &bytes).is_err());
}

#[test]
fn two_packages_with_one_file_are_a_conflict() {
    let other = |file: &str| {
        archive(&[
            ("other-1.dist-info/WHEEL", WHEEL.as_bytes()),
            ("other-1.dist-info/METADATA", b"Name: other\nVersion: 1\n"),
            (file, b""),
        ])
    };
    for (file, conflict) in [
        ("some_name/__init__.py", true),
        ("Some_Name/__INIT__.py", true),
        ("some_name", true),
        ("some_name/__init__.py/x", true),
        ("some_name/more.py", false),
        ("other.py", false),
    ] {
        let (_folder, store) = store();
        let (first, second) = (wheel(&[]), other(file));
        let packages = [package(&first), Package::new("other", "1", &hex(&Sha256::digest(&second))).unwrap()];
        store.add(&packages[0], &first).unwrap();
        store.add(&packages[1], &second).unwrap();
        match store.set(&packages) {
            Ok(set) => assert!(!conflict && set.join(file).is_file(), "{file}"),
            Err(error) => {
                assert!(conflict && error.code() == "package-conflict", "{file}: {error}");
                assert!(error.to_string().contains("other 1"), "{error}");
            }
        }
        let reversed = [packages[1].clone(), packages[0].clone()];
        assert_eq!(store.set(&reversed).is_err(), conflict, "the order means nothing");
    }
}

/// An archive that must not be unpacked, and what is said of it.
fn hostile() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let about = |text: &str| wheel(&[("some_name-1.2.dist-info/WHEEL", text.as_bytes())]);
    let metadata = |text: &str| wheel(&[("some_name-1.2.dist-info/METADATA", text.as_bytes())]);
    let good = wheel(&[]);
    let with = |name: &str| wheel(&[(name, b"x".as_slice())]);
    // A name as long as that of a good file, put into its place in the archive: no writer would make such a one.
    let renamed = |to: &str| {
        patched(&wheel(&[("some_name/placeholder", b"x")]), b"some_name/placeholder", to.as_bytes(), 2)
    };
    let link = || {
        let mut zip = ZipWriter::new_append(std::io::Cursor::new(wheel(&[]))).unwrap();
        zip.add_symlink("some_name/link", "/etc/passwd", SimpleFileOptions::default()).unwrap();
        zip.finish().unwrap().into_inner()
    };
    let zeros = vec![0; 20 << 20];
    let many: Vec<String> = (0..20_001).map(|n| format!("d/{n}")).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
    let mut longer = good.clone();
    let at = longer.windows(4).position(|part| part == b"PK\x01\x02").unwrap();
    longer[at + 24] += 1;
    let mut encrypted = good.clone();
    encrypted[at + 8] |= 1;
    let mut method = good.clone();
    method[at + 10] = 12;
    let mut torn = good.clone();
    let length = torn.len();
    torn.drain(length - 30..length - 22);
    let mut after = good.clone();
    after.extend(b"#!/bin/sh\n");
    let mut before = b"#!/bin/sh\n".to_vec();
    before.extend(&good);
    let counted = moved(&before, 10);
    vec![
        ("nothing", Vec::new(), "no zip"),
        ("text", b"PK\x05\x06 is not enough, and neither is this".to_vec(), "no zip"),
        ("something after it", after, "no zip"),
        ("something before it", before, "no zip"),
        ("something before it that its directory counts", counted, "no zip"),
        ("a torn directory", torn, "no zip"),
        ("a file that leads up", renamed("some_name/../../../xx"), "leads elsewhere"),
        ("an absolute file", renamed("/etc/cron.d/something"), "absolute"),
        ("a file on a drive", renamed("C:/windows/system3212"), "character"),
        ("a backslash", renamed("some_name\\..\\..\\xxxxx"), "character"),
        ("a name with a line break", renamed("some_name/place\nolder"), "character"),
        ("a name with nothing in it", renamed("some_name//laceholder"), "empty part"),
        ("a name that ends in a dot", renamed("some_name/placeholde."), "dot"),
        (
            "a name that is no text",
            patched(&with("some_name/placeholder"), b"some_name/placeholder", b"some_name/placeholde\xff", 2),
            "UTF-8",
        ),
        ("a file that is there twice", renamed("some_name/__init__.py"), "twice"),
        ("a name in another case", with("some_name/__INIT__.PY"), "twice"),
        ("a file that is a folder too", with("some_name/__init__.py/x"), "twice"),
        (
            "two files that become one",
            wheel(&[("some_name-1.2.data/purelib/some_name/__init__.py", b"x")]),
            "twice",
        ),
        ("a link", link(), "link"),
        ("an encrypted file", encrypted, "encrypted"),
        ("another method", method, "deflated"),
        ("a file that is shorter than it says", longer, ""),
        ("a bomb", wheel(&[("some_name/zeros", &zeros)]), "times its size"),
        ("too many files", archive(&many), "20000"),
        ("no wheel", archive(&[("a.py", b"")]), "no .dist-info"),
        ("two wheels", with("other-1.dist-info/METADATA"), "more than one"),
        ("no WHEEL", archive(&[("a-1.dist-info/METADATA", b"")]), "WHEEL"),
        ("another Wheel-Version", about(&WHEEL.replace("1.0", "2.0")), "Wheel-Version"),
        ("a platform", about(&WHEEL.replace("none-any", "none-manylinux_2_28_x86_64")), "pure"),
        ("an ABI", about(&WHEEL.replace("py3-none", "cp314-cp314")), "pure"),
        ("not purelib", about(&WHEEL.replace("true", "false")), "pure"),
        ("Python 2", about(&WHEEL.replace("py3", "py2")), "Python 3"),
        ("a Python to come", about(&WHEEL.replace("py3", "py315")), "Python 3"),
        ("no tag", about("Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"), "Python 3"),
        ("machine code", with("some_name/_speed.cpython-314-x86_64-linux-gnu.so"), "machine code"),
        ("a library", with("some_name/lib/libx.so.1.2"), "machine code"),
        ("machine code for Windows", with("some_name/_speed.PYD"), "machine code"),
        ("machine code for macOS", with("some_name/x.dylib"), "machine code"),
        ("an odd data folder", with("some_name-1.2.data/elsewhere/x"), "places"),
        ("no name", metadata("Version: 1.2\n"), "name"),
        ("another name", metadata("Name: other\nVersion: 1.2\n"), "calls itself"),
        ("a name that is a path", metadata("Name: ../../x\nVersion: 1.2\n"), "name"),
        ("no version", metadata("Name: some-name\nVersion: new\n"), "version"),
    ]
}

#[test]
fn hostile_wheels_are_refused_and_leave_nothing() {
    for (what, bytes, says) in hostile() {
        let (folder, store) = store();
        let error = store.add(&package(&bytes), &bytes).unwrap_err();
        assert_eq!(error.code(), "package-refused", "{what}: {error}");
        assert!(error.to_string().contains(says), "{what}: {error}");
        assert!(error.to_string().starts_with("some-name 1.2: "), "{what}: {error}");
        let left = folder.path().join("packages");
        assert!(
            !left.exists() || std::fs::read_dir(&left).unwrap().next().is_none(),
            "{what} left something"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), usize::from(left.exists()), "{what}");
    }
}

/// What came of a wheel lies in its own folder, as plain files, or there is nothing.
fn stays_in_its_folder(bytes: &[u8]) -> Result<(), TestCaseError> {
    let (folder, store) = store();
    let added = store.add(&package(bytes), bytes);
    let packages = folder.path().join("packages");
    prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), usize::from(packages.exists()));
    let expected = usize::from(added.is_ok());
    if packages.exists() {
        prop_assert_eq!(std::fs::read_dir(&packages).unwrap().count(), expected);
    }
    if added.is_ok() {
        prop_assert_eq!(store.state(&package(bytes)), State::There);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_wheel_with_changed_bytes_harms_nothing(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = wheel(&[("some_name/data", b"data data data data"), ("some_name/sub/x.py", b"1")]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        stays_in_its_folder(&bytes)?;
    }

    #[test]
    fn a_wheel_with_any_names_harms_nothing(names in proptest::collection::vec("[./\\\\:a-bA é\u{0}-\u{1f}]{1,12}", 1..5)) {
        let mut zip = ZipWriter::new_append(std::io::Cursor::new(wheel(&[]))).unwrap();
        for name in &names {
            // Some are refused by the writer already.
            if zip.start_file(name.as_str(), SimpleFileOptions::default()).is_ok() {
                zip.write_all(b"x").unwrap();
            }
        }
        stays_in_its_folder(&zip.finish().unwrap().into_inner())?;
    }
}
