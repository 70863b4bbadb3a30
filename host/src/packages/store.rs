//! Packages in the cache: each wheel unpacked once, and one folder for each set of wheels that a profile names.
//!
//! ```text
//! packages/SHA256/files/...    what the wheel holds, read-only
//! packages/SHA256/files.json   which files, and their digests
//! packages/set-SHA256/...      the files of several wheels, side by side
//! ```
//!
//! A set is made of hard links: it costs no room, and files that nobody can write to may well have two names. Where
//! the file system has no links, it is copied. Whatever is made is made elsewhere and renamed, so nothing is ever there
//! by half.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::names::Claims;
use super::{Package, Wheel, failure, normal};
use crate::folders::{is_private, private};
use crate::sandbox::{cache_dir, hex};
use crate::{Error, Result};

/// The folder of the cache that packages are in.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// How a package is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Every file is there and is what it was.
    There,
    /// It was never fetched.
    Missing,
    /// A file is gone or was changed.
    Damaged,
}

/// What a wheel held, as it is noted beside its files.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) package: Package,
    /// Packages that it needs.
    pub(super) requires: Vec<String>,
    pub(super) files: Vec<ContentFile>,
}

/// One file of a wheel.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ContentFile {
    pub(super) path: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl State {
    /// Its name for people and machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::There => "there",
            Self::Missing => "missing",
            Self::Damaged => "damaged",
        }
    }
}

impl Store {
    /// The user's: `packages/` in [`cache_dir`].
    pub fn find() -> Self {
        Self::at(cache_dir().join("packages"))
    }

    /// Another folder. It is made when something is put into it.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Whether it was fetched. Looks at no file of it.
    pub fn has(&self, package: &Package) -> bool {
        is_private(&self.folder) && self.place(package).is_dir()
    }

    /// How it is kept; reads all of it.
    pub fn state(&self, package: &Package) -> State {
        if !self.has(package) {
            return State::Missing;
        }
        let whole = |content: &Content| content.files.iter().all(|file| is_whole(&self.files(package), file));
        match self.content(package) {
            Ok(content) if content.package.sha256 == package.sha256 && whole(&content) => State::There,
            _ => State::Damaged,
        }
    }

    /// The packages that a kept one says it needs.
    pub(super) fn requires(&self, package: &Package) -> Vec<String> {
        self.content(package).map(|content| content.requires).unwrap_or_default()
    }

    /// Unpacks a wheel, once its digest is known to be the one that was asked for. What is damaged is replaced.
    ///
    /// # Errors
    /// `package-digest`, `package-mismatch`, `package-refused`, or that it cannot be written.
    pub fn add(&self, package: &Package, wheel: &[u8]) -> Result<()> {
        let digest = hex(&Sha256::digest(wheel));
        if digest != package.sha256 {
            let message = format!("{package}: the wheel has the sha256 {digest}, not {}", package.sha256);
            let hint = "it is not the file that the profile names; nothing of it was unpacked".to_owned();
            return Err(failure("package-digest", message, hint));
        }
        let read = Wheel::read(wheel).map_err(|error| of(package, error))?;
        let own = read.package();
        if normal(&own.name) != normal(&package.name) || own.version != package.version {
            let message = format!("{package}: the wheel with this sha256 is {own}");
            return Err(failure("package-mismatch", message, format!("write it as {}", own.line())));
        }
        let fresh = self.fresh()?;
        let files = fresh.path().join("files");
        private().create(&files).map_err(io("cannot make", &files))?;
        let mut content = read.unpack(&files).map_err(|error| of(package, error))?;
        content.package = package.clone();
        let text =
            serde_json::to_vec(&content).map_err(|e| Error::Sandbox(format!("a bug in postern: {e}")))?;
        let list = fresh.path().join("files.json");
        fs::write(&list, text).map_err(io("cannot write", &list))?;
        if self.state(package) == State::Damaged {
            self.remove(package)?;
        }
        settle(fresh, &self.place(package))
    }

    /// The folder with the files of all these packages, made now if it is not there.
    ///
    /// # Errors
    /// `package-missing` if one was never fetched, `package-conflict` if two hold the same file.
    pub fn set(&self, packages: &[Package]) -> Result<PathBuf> {
        let missing: Vec<String> =
            packages.iter().filter(|package| !self.has(package)).map(ToString::to_string).collect();
        if !missing.is_empty() {
            let is = if missing.len() == 1 { "is" } else { "are" };
            let message =
                format!("{} {is} not in the cache; nothing is fetched during a run", missing.join(", "));
            return Err(failure("package-missing", message, "run `postern packages fetch`".to_owned()));
        }
        let mut digests: Vec<&str> = packages.iter().map(|package| package.sha256.as_str()).collect();
        digests.sort_unstable();
        let place = self.folder.join(format!("set-{}", hex(&Sha256::digest(digests.join("\n").as_bytes()))));
        if place.is_dir() {
            return Ok(place);
        }
        let contents: Vec<Content> =
            packages.iter().map(|package| self.content(package)).collect::<Result<_>>()?;
        without_conflict(&contents)?;
        let fresh = self.fresh()?;
        for (package, content) in packages.iter().zip(&contents) {
            let files = self.files(package);
            for ContentFile { path, .. } in &content.files {
                let (from, to) = (files.join(path), fresh.path().join(path));
                if let Some(folder) = to.parent() {
                    private().create(folder).map_err(io("cannot make", folder))?;
                }
                fs::hard_link(&from, &to)
                    .or_else(|_| fs::copy(&from, &to).map(drop))
                    .map_err(|source| damaged(package, &from, &source))?;
            }
        }
        settle(fresh, &place)?;
        Ok(place)
    }

    fn place(&self, package: &Package) -> PathBuf {
        self.folder.join(&package.sha256)
    }

    fn files(&self, package: &Package) -> PathBuf {
        self.place(package).join("files")
    }

    fn content(&self, package: &Package) -> Result<Content> {
        let path = self.place(package).join("files.json");
        let text = fs::read(&path).map_err(|e| damaged(package, &path, &e))?;
        serde_json::from_slice(&text).map_err(|e| damaged(package, &path, &e))
    }

    /// A folder in which something is made.
    fn fresh(&self) -> Result<tempfile::TempDir> {
        private().create(&self.folder).map_err(io("cannot make", &self.folder))?;
        if !is_private(&self.folder) {
            let others = io::Error::other("others can write to this folder, or it belongs to somebody else");
            return Err(io("cannot keep packages in", &self.folder)(others));
        }
        // Whatever its own mode: the folder that it lies in is this user's alone.
        tempfile::Builder::new()
            .prefix(".fresh-")
            .tempdir_in(&self.folder)
            .map_err(io("cannot make a folder in", &self.folder))
    }

    /// A damaged package, and all sets: their files may be the very same.
    fn remove(&self, package: &Package) -> Result<()> {
        let listed = fs::read_dir(&self.folder).map_err(io("cannot read", &self.folder))?;
        let sets = listed.filter_map(|entry| entry.ok()).map(|entry| entry.path());
        let is_set =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("set-"));
        for path in sets.filter(is_set).chain([self.place(package)]) {
            // Renamed first: a folder that is being removed must not pass for one that is there.
            let gone = self.fresh()?;
            fs::rename(&path, gone.path().join("gone")).map_err(io("cannot remove", &path))?;
        }
        Ok(())
    }
}

/// The same error, saying of which package or file.
pub(crate) fn of(what: &dyn std::fmt::Display, error: Error) -> Error {
    match error {
        Error::Package { code, message, hint } => {
            Error::Package { code, message: format!("{what}: {message}"), hint }
        }
        other => other,
    }
}

fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::Io { doing, path, source }
}

fn damaged(package: &Package, path: &Path, why: &dyn std::fmt::Display) -> Error {
    let message = format!("{package} is damaged in the cache: {}: {why}", path.display());
    failure("package-missing", message, "run `postern packages fetch`".to_owned())
}

/// Renames what is ready into its place. That somebody else was quicker is no error: they made the same.
fn settle(fresh: tempfile::TempDir, place: &Path) -> Result<()> {
    match fs::rename(fresh.path(), place) {
        Ok(()) => {
            // Nothing is at the old place that could be removed.
            let _ = fresh.keep();
            Ok(())
        }
        Err(_) if place.is_dir() => Ok(()),
        Err(error) => Err(io("cannot make", place)(error)),
    }
}

fn is_whole(folder: &Path, file: &ContentFile) -> bool {
    let read = || {
        let opened = fs::File::open(folder.join(&file.path))?;
        let mut hash = Sha256::new();
        let mut rest = opened.take(file.bytes + 1);
        let mut block = vec![0; 64 << 10];
        loop {
            match rest.read(&mut block)? {
                0 => return Ok::<_, io::Error>(hex(&hash.finalize())),
                n => hash.update(&block[..n]),
            }
        }
    };
    read().is_ok_and(|digest| digest == file.sha256)
}

/// Two packages with the same file: which of the two a script would get would be chance.
fn without_conflict(contents: &[Content]) -> Result<()> {
    let mut claims = Claims::default();
    for (at, content) in contents.iter().enumerate() {
        for ContentFile { path, .. } in &content.files {
            if let Err(clash) = claims.file(path, at) {
                let other = clash
                    .with
                    .map_or_else(|| "another package".to_owned(), |with| contents[with].package.to_string());
                let message = format!("{other} and {} both hold {path}", content.package);
                let hint = "one profile cannot have both; make a profile for each".to_owned();
                return Err(failure("package-conflict", message, hint));
            }
        }
    }
    Ok(())
}
