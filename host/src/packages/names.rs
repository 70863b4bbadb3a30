//! Names and versions of packages, and names of files in them. Nothing here touches a file.

use std::collections::HashMap;

/// The longest path in a package, and the longest of its parts, in bytes.
const MAX_PATH: usize = 512;
const MAX_PART: usize = 200;

/// The name by which packages are told apart (PEP 503): lower case, and one dash for any run of `-`, `_` and `.`.
pub fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            c => normal.push(c.to_ascii_lowercase()),
        }
    }
    normal
}

/// Whether it can be the name of a package.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |c: u8| c.is_ascii_alphanumeric();
    let bytes = name.as_bytes();
    bytes.len() <= 100
        && bytes.first().copied().is_some_and(plain)
        && bytes.last().copied().is_some_and(plain)
        && bytes.iter().all(|byte| plain(*byte) || b"-_.".contains(byte))
}

/// Whether it can be a version; which of two is newer is nobody's question here.
pub(super) fn is_version(version: &str) -> bool {
    let bytes = version.as_bytes();
    bytes.len() <= 100
        && bytes.first().is_some_and(u8::is_ascii_digit)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_+!".contains(byte))
}

/// Whether a path of an archive leads to a place below the folder that it is unpacked into, on any system.
///
/// # Errors
/// What is wrong with it.
pub(super) fn is_safe(path: &str) -> Result<(), &'static str> {
    if path.len() > MAX_PATH {
        return Err("is too long");
    }
    if path.starts_with('/') {
        return Err("is absolute");
    }
    if path.contains(['\\', ':']) || path.chars().any(char::is_control) {
        return Err("has a character that no path should have");
    }
    for part in path.split('/') {
        match part {
            "" => return Err("has an empty part"),
            "." | ".." => return Err("leads elsewhere"),
            part if part.len() > MAX_PART => return Err("is too long"),
            // Some systems leave these out, and one name becomes another.
            part if part.ends_with(['.', ' ']) => return Err("ends in a dot or a space"),
            _ => {}
        }
    }
    Ok(())
}

/// Files that are to lie in one folder, and whose they are. Two names that a file system might take for the same one
/// are the same.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// By folded path: whose it is, or None for a folder, which several may share.
    taken: HashMap<String, Option<usize>>,
}

/// A path that somebody has already.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clash {
    /// Whose it is; None: there is a folder of that name, or a file where a folder would have to be.
    pub(super) with: Option<usize>,
}

impl Claims {
    pub(super) fn file(&mut self, path: &str, owner: usize) -> Result<(), Clash> {
        let folded = path.to_lowercase();
        self.folders_above(&folded)?;
        match self.taken.insert(folded, Some(owner)) {
            None => Ok(()),
            Some(with) => Err(Clash { with }),
        }
    }

    pub(super) fn folder(&mut self, path: &str) -> Result<(), Clash> {
        self.folders_above(&format!("{}/", path.to_lowercase()))
    }

    fn folders_above(&mut self, folded: &str) -> Result<(), Clash> {
        for (at, _) in folded.match_indices('/') {
            if let Some(file @ Some(_)) = self.taken.insert(folded[..at].to_owned(), None) {
                return Err(Clash { with: file });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_as_the_index_does() {
        for (name, expected) in
            [("Python_DateUtil", "python-dateutil"), ("zope.interface", "zope-interface"), ("a-_.b", "a-b")]
        {
            assert_eq!(normal(name), expected);
        }
        for name in ["six", "A1", "python-dateutil", "zope.interface", "x"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "-a", "a-", "a b", "a/b", "é", "a==1", "..", &"x".repeat(101)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn versions_are_exact() {
        for version in ["1", "2.9.0.post0", "1!2.0", "1.0+local.1", "26.1.0", "0.1.0a3"] {
            assert!(is_version(version), "{version}");
        }
        for version in ["", "==1.0", ">=1", "1.*", "latest", "1 ", "~=2", &"1".repeat(101)] {
            assert!(!is_version(version), "{version}");
        }
    }

    #[test]
    fn a_path_stays_in_its_folder() {
        for path in ["a", "a/b.py", "a-1.dist-info/METADATA", "a/...b", ".hidden", "ä/ö.py"] {
            assert_eq!(is_safe(path), Ok(()), "{path}");
        }
        for path in [
            "", "/", "/a", "a//b", "a/", "..", "../a", "a/../b", "a/..", ".", "./a", "a/./b", "a\\b", "C:/a",
            "a:b", "a\0b", "a\nb", "a\u{7f}", "a./b", "a /b", "a\u{85}b",
        ] {
            assert!(is_safe(path).is_err(), "{path:?}");
        }
        assert!(is_safe(&"x/".repeat(300)).is_err() && is_safe(&"x".repeat(201)).is_err());
    }

    #[test]
    fn a_path_is_claimed_once() {
        let mut claims = Claims::default();
        assert_eq!(claims.file("a/b.py", 0), Ok(()));
        assert_eq!(claims.folder("a"), Ok(()));
        assert_eq!(claims.file("a/c.py", 1), Ok(()), "a folder is shared");
        assert_eq!(claims.file("A/B.PY", 1), Err(Clash { with: Some(0) }), "case does not count");
        assert_eq!(claims.file("a", 1), Err(Clash { with: None }), "a file where a folder is");
        let mut claims = Claims::default();
        assert_eq!(claims.file("a", 0), Ok(()));
        assert_eq!(claims.file("a/b", 1), Err(Clash { with: Some(0) }), "a folder where a file is");
        assert_eq!(Claims::default().folder("x/y"), Ok(()));
    }
}
