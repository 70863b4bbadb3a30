//! Says whether a folder that set-up made is still what it made: a stamp beside the files holds a
//! key and, for every file, its size, time and SHA-256. A file is read again only when its time moved.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::failure::{Because, Failure, Result};

/// The stamp's name inside the folder it speaks for.
pub(crate) const FILE: &str = ".stamp.json";

/// SHA-256 of a file, in hex.
pub(crate) fn sha256_file(path: &Path) -> Result<String> {
    let doing = || format!("reading {}", path.display());
    let mut file = fs::File::open(path).because(doing)?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 18];
    loop {
        match file.read(&mut block).because(doing)? {
            0 => return Ok(hex(&hash.finalize())),
            n => hash.update(&block[..n]),
        }
    }
}

/// SHA-256 over named parts, in hex. Lengths go in too, so that parts cannot run into each other.
pub(crate) fn sha256_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// SHA-256 over the files under some paths (their names and contents), in hex. Folders that a build
/// fills (`target`, `__pycache__`) are left out; a path that does not exist is an error.
pub(crate) fn sha256_sources(root: &Path, paths: &[&str]) -> Result<String> {
    let mut files = Vec::new();
    for path in paths {
        let full = root.join(path);
        if full.is_dir() {
            walk(&full, &mut |file| files.push(file.to_path_buf()))?;
        } else {
            files.push(full);
        }
    }
    // below `root` only: the clone itself may lie in a folder of that name
    files.retain(|file| {
        !relative(root, file).split('/').any(|part| part == "target" || part == "__pycache__")
    });
    files.sort();
    let mut lines = String::new();
    for file in &files {
        lines.push_str(&format!("{} {}\n", sha256_file(file)?, relative(root, file)));
    }
    Ok(sha256_parts([lines.as_bytes()]))
}

/// Writes the stamp: the last thing done to a finished folder.
pub(crate) fn write(dir: &Path, key: &str) -> Result<()> {
    let mut files = BTreeMap::new();
    let mut paths = Vec::new();
    walk(dir, &mut |path| paths.push(path.to_path_buf()))?;
    for path in paths {
        let name = relative(dir, &path);
        if name == FILE || name.contains("__pycache__") {
            continue;
        }
        let seen = look(&path).ok_or_else(|| Failure::new(format!("{} vanished", path.display())))?;
        let digest = if seen.link.is_some() { String::new() } else { sha256_file(&path)? };
        files.insert(name, json!([seen.size, seen.modified, digest, seen.link]));
    }
    let text = json!({ "key": key, "files": files }).to_string();
    let path = dir.join(FILE);
    let fresh = dir.join(".stamp.new");
    fs::write(&fresh, text).because(|| format!("writing {}", fresh.display()))?;
    fs::rename(&fresh, &path).because(|| format!("renaming to {}", path.display()))
}

/// Stamps what was made in `fresh` and puts it in the place of what was there.
pub(crate) fn settle(fresh: &Path, dir: &Path, key: &str) -> Result<()> {
    write(fresh, key)?;
    let _ = fs::remove_dir_all(dir);
    fs::rename(fresh, dir).because(|| format!("renaming to {}", dir.display()))
}

/// Compares a folder with its stamp. `Err` holds why it is not right, in words.
///
/// With `thorough` every file is read again, whatever its time says.
pub(crate) fn check(dir: &Path, key: &str, thorough: bool) -> std::result::Result<(), String> {
    if !dir.is_dir() {
        return Err("not here yet".into());
    }
    let text = fs::read_to_string(dir.join(FILE)).map_err(|_| "left unfinished".to_string())?;
    let stamp: Value = serde_json::from_str(&text).map_err(|_| "its stamp is damaged".to_string())?;
    if stamp["key"].as_str() != Some(key) {
        return Err("made for another version".into());
    }
    let files = stamp["files"].as_object().ok_or("its stamp is damaged")?;
    for (name, noted) in files {
        let path = dir.join(name);
        let seen = look(&path).ok_or_else(|| format!("{name} is missing"))?;
        if noted[3].as_str() != seen.link.as_deref() {
            return Err(format!("{name} points elsewhere"));
        }
        if seen.link.is_some() {
            continue;
        }
        if noted[0].as_u64() != Some(seen.size) {
            return Err(format!("{name} has {} bytes, not {}", seen.size, noted[0]));
        }
        if thorough || noted[1].as_u64() != Some(seen.modified) {
            let digest = sha256_file(&path).map_err(|failure| failure.to_string())?;
            if noted[2].as_str() != Some(&digest) {
                return Err(format!("{name} was changed"));
            }
        }
    }
    Ok(())
}

struct Seen {
    size: u64,
    /// Nanoseconds since 1970.
    modified: u64,
    /// Where a symbolic link points.
    link: Option<String>,
}

fn look(path: &Path) -> Option<Seen> {
    let meta = fs::symlink_metadata(path).ok()?;
    let link =
        meta.is_symlink().then(|| fs::read_link(path).unwrap_or_default().to_string_lossy().into_owned());
    let modified = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Seen { size: meta.len(), modified: u64::try_from(modified.as_nanos()).ok()?, link })
}

/// Calls `each` for every file and link under `dir`; links are not followed.
fn walk(dir: &Path, each: &mut dyn FnMut(&Path)) -> Result<()> {
    let doing = || format!("listing {}", dir.display());
    for entry in fs::read_dir(dir).because(doing)? {
        let entry = entry.because(doing)?;
        if entry.file_type().because(doing)?.is_dir() {
            walk(&entry.path(), each)?;
        } else {
            each(&entry.path());
        }
    }
    Ok(())
}

fn relative(dir: &Path, path: &Path) -> String {
    path.strip_prefix(dir).unwrap_or(path).to_string_lossy().into_owned()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn made() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("lib")).unwrap();
        fs::write(dir.path().join("lib/a.so"), "0123456789").unwrap();
        std::os::unix::fs::symlink("a.so", dir.path().join("lib/b.so")).unwrap();
        write(dir.path(), "v1").unwrap();
        dir
    }

    #[test]
    fn an_untouched_folder_is_right_and_extra_files_do_not_matter() {
        let dir = made();
        assert_eq!(check(dir.path(), "v1", true), Ok(()));
        fs::write(dir.path().join("lib/extra"), "x").unwrap();
        assert_eq!(check(dir.path(), "v1", false), Ok(()));
    }

    #[test]
    fn every_kind_of_damage_is_named() {
        let why = |damage: &dyn Fn(&Path)| {
            let dir = made();
            damage(dir.path());
            check(dir.path(), "v1", false).unwrap_err()
        };
        assert_eq!(
            why(&|dir| fs::write(dir.join("lib/a.so"), "01234").unwrap()),
            "lib/a.so has 5 bytes, not 10"
        );
        assert_eq!(
            why(&|dir| fs::write(dir.join("lib/a.so"), "012345678X").unwrap()),
            "lib/a.so was changed"
        );
        assert_eq!(why(&|dir| fs::remove_file(dir.join("lib/a.so")).unwrap()), "lib/a.so is missing");
        assert_eq!(why(&|dir| fs::remove_file(dir.join(FILE)).unwrap()), "left unfinished");
        assert_eq!(why(&|dir| fs::write(dir.join(FILE), "{").unwrap()), "its stamp is damaged");
        let relinked = why(&|dir| {
            fs::remove_file(dir.join("lib/b.so")).unwrap();
            std::os::unix::fs::symlink("/elsewhere", dir.join("lib/b.so")).unwrap();
        });
        assert_eq!(relinked, "lib/b.so points elsewhere");
    }

    #[test]
    fn another_key_is_not_right() {
        let dir = made();
        assert_eq!(check(dir.path(), "v2", false).unwrap_err(), "made for another version");
        assert_eq!(check(&dir.path().join("none"), "v1", false).unwrap_err(), "not here yet");
    }

    #[test]
    fn a_change_that_keeps_size_and_time_is_seen_only_by_the_thorough_check() {
        let dir = made();
        let path = dir.path().join("lib/a.so");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "012345678X").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        assert_eq!(check(dir.path(), "v1", false), Ok(()));
        assert_eq!(check(dir.path(), "v1", true).unwrap_err(), "lib/a.so was changed");
    }

    #[test]
    fn the_digest_of_sources_follows_names_and_contents_and_leaves_builds_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("src/target")).unwrap();
        fs::write(root.join("src/a"), "1").unwrap();
        fs::write(root.join("lock"), "1").unwrap();
        let first = sha256_sources(root, &["src", "lock"]).unwrap();
        fs::write(root.join("src/target/built"), "1").unwrap();
        assert_eq!(sha256_sources(root, &["src", "lock"]).unwrap(), first);
        fs::rename(root.join("src/a"), root.join("src/b")).unwrap();
        assert_ne!(sha256_sources(root, &["src", "lock"]).unwrap(), first);
        assert!(sha256_sources(root, &["gone"]).is_err());
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(sha256_parts([&b"ab"[..], b"c"]), sha256_parts([&b"a"[..], b"bc"]));
        assert_eq!(
            hex(&Sha256::digest(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
