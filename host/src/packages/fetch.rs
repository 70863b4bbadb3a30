//! From the names of wheels to wheels in the cache: out of a folder, or from a package index.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use url::Url;

use super::index::{self, Index};
use super::wheel::MAX_WHEEL;
use super::{Package, State, Store, failure, normal, of, refused};
use crate::sandbox::hex;
use crate::{Error, Result};

/// Where wheels come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A folder that they lie in.
    Folder(PathBuf),
    /// A package index with the simple API in JSON (PEP 691).
    Index(Url),
}

impl Source {
    /// The index at this address, else the one that `POSTERN_PYTHON_INDEX` names, else pip's `PIP_INDEX_URL`, else
    /// PyPI.
    ///
    /// # Errors
    /// If the address is no http or https URL.
    pub fn index(address: Option<&str>) -> Result<Self> {
        index::address(address).map(Self::Index)
    }
}

/// A package that is now in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Which.
    pub package: Package,
    /// The file it came from; None: it was there already.
    pub from: Option<String>,
    /// Packages that it needs and that are not among those that were asked for.
    pub needs: Vec<String>,
}

/// How far a download is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Of which package.
    pub package: &'a Package,
    /// Bytes that are here.
    pub done: u64,
    /// Of so many, if the index says so.
    pub total: Option<u64>,
}

/// Brings packages into the cache; those that are there and whole are left as they are.
///
/// # Errors
/// That of the first one that cannot be had; those before it stay. Its code begins with `package-`, or is `io`.
pub async fn fetch(
    packages: &[Package],
    source: &Source,
    store: &Store,
    mut watch: impl FnMut(Progress<'_>),
) -> Result<Vec<Fetched>> {
    let mut client = None;
    let mut fetched = Vec::with_capacity(packages.len());
    for package in packages {
        let from = match (store.state(package), source) {
            (State::There, _) => None,
            (_, Source::Folder(folder)) => {
                let (wheel, bytes) = find(folder, package)?;
                keep(store, package, bytes).await?;
                Some(wheel.display().to_string())
            }
            (_, Source::Index(base)) => {
                let index = match &client {
                    Some(index) => index,
                    None => &*client.insert(Index::new(base.clone())?),
                };
                let (file, url) = index.find(package).await?;
                is_wheel(&file.filename).map_err(|error| of(package, error))?;
                let shown = index::shown(&url);
                let progress = |done, total| watch(Progress { package, done, total });
                let bytes = index.download(package, &file, url, progress).await?;
                keep(store, package, bytes).await?;
                Some(shown)
            }
        };
        let needs = store.requires(package);
        let needs = needs.into_iter().filter(|need| !packages.iter().any(|p| is_named(p, need))).collect();
        fetched.push(Fetched { package: package.clone(), from, needs });
    }
    Ok(fetched)
}

/// Unpacking computes and writes for a while: not where other tasks wait.
async fn keep(store: &Store, package: &Package, bytes: Vec<u8>) -> Result<()> {
    let (store, package) = (store.clone(), package.clone());
    tokio::task::spawn_blocking(move || store.add(&package, &bytes))
        .await
        .map_err(|e| Error::Sandbox(format!("a bug in postern: {e}")))?
}

/// What can be told from a name, before anything is downloaded.
fn is_wheel(name: &str) -> Result<()> {
    if !name.ends_with(".whl") {
        return Err(refused(format!("{name} is no wheel; a package that has to be built cannot be used")));
    }
    if !name.ends_with("-none-any.whl") {
        return Err(failure(
            "package-refused",
            format!("{name} is not of pure Python"),
            "only wheels whose name ends in -none-any.whl run in the sandbox".to_owned(),
        ));
    }
    Ok(())
}

/// Whether a requirement such as `six >=1.5` is about this package.
fn is_named(package: &Package, requirement: &str) -> bool {
    let end = requirement.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c));
    normal(&requirement[..end.unwrap_or(requirement.len())]) == normal(&package.name)
}

/// The wheel of this digest in a folder. Only files that are called like the package are read.
fn find(folder: &Path, package: &Package) -> Result<(PathBuf, Vec<u8>)> {
    let unreadable = |source| Error::Io { doing: "cannot read", path: folder.to_owned(), source };
    let mut others = Vec::new();
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (project, rest) = name.split_once('-').unwrap_or_default();
        if !name.ends_with(".whl") || normal(project) != normal(&package.name) {
            continue;
        }
        let bytes = read(&path).map_err(|error| of(package, error))?;
        let digest = hex(&Sha256::digest(&bytes));
        if digest == package.sha256 {
            return Ok((path, bytes));
        }
        if rest.starts_with(&format!("{}-", package.version)) {
            others.push(format!("{name} has {digest}"));
        }
    }
    if others.is_empty() {
        let message = format!("{package}: no wheel of this name and sha256 lies in {}", folder.display());
        return Err(failure("package-not-found", message, None));
    }
    let message = format!("{package}: no wheel has the sha256 {}", package.sha256);
    Err(failure("package-digest", message, format!("in {}, {}", folder.display(), others.join("; "))))
}

/// A wheel's bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let unreadable = |source| Error::Io { doing: "cannot read", path: path.to_owned(), source };
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_WHEEL + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_WHEEL {
        return Err(refused(format!("{} is larger than {} MiB", path.display(), MAX_WHEEL >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_requirement_names_a_package() {
        let six = Package::new("Six", "1.17.0", &"0".repeat(64)).unwrap();
        for requirement in
            ["six", "six >=1.5", "six>=1.5", "SIX[extra]", "six (>=1.5)", "six;python_version<'4'"]
        {
            assert!(is_named(&six, requirement), "{requirement}");
        }
        for requirement in ["sixer", "six-more>=1", ""] {
            assert!(!is_named(&six, requirement), "{requirement}");
        }
    }

    #[test]
    fn names_tell_what_is_no_pure_wheel() {
        assert!(is_wheel("six-1.17.0-py2.py3-none-any.whl").is_ok());
        for name in ["six-1.17.0.tar.gz", "numpy-2.0-cp314-cp314-manylinux_2_28_x86_64.whl"] {
            assert_eq!(is_wheel(name).unwrap_err().code(), "package-refused", "{name}");
        }
    }
}
