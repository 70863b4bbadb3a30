//! Where things are: the clone, the cache that clones share, the links from one to the other, and
//! the locks that keep two set-ups apart.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::failure::{Because, Failure, Result};
use crate::process;
use crate::progress::Progress;

/// What every step gets to know.
pub(crate) struct Context {
    /// The clone.
    pub(crate) root: PathBuf,
    /// The folder that all clones share.
    pub(crate) cache: PathBuf,
    /// `--cuda` was given.
    pub(crate) cuda: bool,
    /// `--verify` was given: read every file again.
    pub(crate) thorough: bool,
    /// LIBTORCH as the user set it, not as .cargo/config.toml does.
    pub(crate) user_libtorch: Option<PathBuf>,
    /// Binaries by name, filled in by the step that builds them.
    pub(crate) binaries: RefCell<BTreeMap<String, PathBuf>>,
    target_dir: OnceCell<PathBuf>,
}

impl Context {
    pub(crate) fn new(cuda: bool, thorough: bool) -> Result<Self> {
        let root = find_root()?;
        let cache = cache_root(|name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
            .ok_or_else(|| {
                Failure::new("neither HOME nor POSTERN_CACHE is set").hint("set POSTERN_CACHE to a folder")
            })?;
        fs::create_dir_all(&cache).because(|| format!("making the cache folder {}", cache.display()))?;
        let cache = cache.canonicalize().because(|| format!("opening {}", cache.display()))?;
        fs::create_dir_all(root.join(".postern/logs")).because(|| "making .postern in the clone".into())?;
        let user_libtorch = env::var_os("LIBTORCH")
            .map(PathBuf::from)
            .filter(|path| !path.as_os_str().is_empty() && *path != root.join(".postern/libtorch"))
            .map(|path| std::path::absolute(&path).unwrap_or(path));
        Ok(Self {
            root,
            cache,
            cuda,
            thorough,
            user_libtorch,
            binaries: RefCell::default(),
            target_dir: OnceCell::new(),
        })
    }

    /// `.postern/NAME` in the clone.
    pub(crate) fn local(&self, name: &str) -> PathBuf {
        self.root.join(".postern").join(name)
    }

    /// Cargo's target folder for this clone, wherever configuration put it.
    pub(crate) fn target_dir(&self) -> Result<&Path> {
        if let Some(dir) = self.target_dir.get() {
            return Ok(dir);
        }
        let mut cargo = process::cargo(self);
        cargo.args(["metadata", "--format-version=1", "--no-deps", "--offline"]);
        let text = process::output(&mut cargo)?;
        let metadata: Value = serde_json::from_str(&text).because(|| "reading cargo metadata".into())?;
        let dir = metadata["target_directory"]
            .as_str()
            .ok_or_else(|| Failure::new("cargo metadata names no target_directory"))?;
        Ok(self.target_dir.get_or_init(|| dir.into()))
    }

    /// A binary that the build step made, in this run or (with `--only`) in an earlier one.
    pub(crate) fn binary(&self, name: &str) -> Result<PathBuf> {
        if let Some(path) = self.binaries.borrow().get(name) {
            return Ok(path.clone());
        }
        let path = self.target_dir()?.join("debug").join(format!("{name}{}", env::consts::EXE_SUFFIX));
        if path.is_file() {
            return Ok(path);
        }
        Err(Failure::new(format!("the workspace's program `{name}` is not built"))
            .hint("run `cargo xtask setup`"))
    }

    /// A command that runs one of our binaries, in the clone.
    pub(crate) fn run(&self, name: &str) -> Result<Command> {
        let mut command = Command::new(self.binary(name)?);
        command.current_dir(&self.root);
        Ok(command)
    }

    /// Waits until no other set-up works on `name`, and keeps them away until the file is dropped.
    pub(crate) fn lock(&self, name: &str, progress: &Progress) -> Result<File> {
        let dir = self.cache.join("locks");
        let path = dir.join(format!("{name}.lock"));
        let doing = || format!("locking {}", path.display());
        fs::create_dir_all(&dir).because(doing)?;
        let file = File::options().create(true).append(true).open(&path).because(doing)?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => progress.note("waiting for another set-up"),
            Err(TryLockError::Error(error)) => return Err(error).because(doing),
        }
        file.lock().because(doing)?;
        Ok(file)
    }

    /// Makes `.postern/NAME` a link to `to`, in one step that cannot leave it missing.
    pub(crate) fn link(&self, name: &str, to: &Path) -> Result<()> {
        let link = self.local(name);
        let doing = || format!("linking {} to {}", link.display(), to.display());
        if fs::read_link(&link).is_ok_and(|old| old == to) {
            return Ok(());
        }
        if let Some(parent) = link.parent() {
            fs::create_dir_all(parent).because(doing)?;
        }
        let fresh = link.with_extension(format!("new{}", std::process::id()));
        symlink(to, &fresh).because(doing)?;
        if link.is_dir() && !link.is_symlink() {
            let _ = fs::remove_file(&fresh);
            return Err(
                Failure::new(format!("{} is a folder, not a link", link.display())).hint("move it away")
            );
        }
        fs::rename(&fresh, &link).because(doing)
    }

    /// Whether `.postern/NAME` is a link to `to`.
    pub(crate) fn is_linked(&self, name: &str, to: &Path) -> bool {
        fs::read_link(self.local(name)).is_ok_and(|old| old == to)
    }
}

#[cfg(unix)]
fn symlink(to: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, link)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "set-up is written for Linux and macOS"))
}

/// The clone that cargo ran this program in (not the one it was compiled in: a target folder can
/// serve several).
fn find_root() -> Result<PathBuf> {
    let start = match env::var_os("CARGO_MANIFEST_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => env::current_dir().because(|| "finding the current folder".into())?,
    };
    start
        .ancestors()
        .find(|dir| dir.join("xtask/Cargo.toml").is_file() && dir.join("Cargo.lock").is_file())
        .map(Path::to_path_buf)
        .ok_or_else(|| {
            Failure::new("this is not inside a clone of Postern").hint("run `cargo xtask` in the clone")
        })
}

/// POSTERN_CACHE, else XDG_CACHE_HOME/postern, else ~/.cache/postern.
fn cache_root(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if let Some(dir) = variable("POSTERN_CACHE") {
        return Some(dir);
    }
    // the XDG rules say that a relative path there is to be ignored
    variable("XDG_CACHE_HOME")
        .filter(|dir| dir.is_absolute())
        .or_else(|| Some(variable("HOME")?.join(".cache")))
        .map(|dir| dir.join("postern"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_with(set: &[(&str, &str)]) -> Option<PathBuf> {
        cache_root(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value)))
    }

    #[test]
    fn the_cache_folder_follows_the_variables_in_order() {
        assert_eq!(root_with(&[]), None);
        assert_eq!(root_with(&[("HOME", "/h")]), Some("/h/.cache/postern".into()));
        assert_eq!(root_with(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]), Some("/x/postern".into()));
        assert_eq!(root_with(&[("HOME", "/h"), ("XDG_CACHE_HOME", "x")]), Some("/h/.cache/postern".into()));
        assert_eq!(root_with(&[("POSTERN_CACHE", "/p"), ("XDG_CACHE_HOME", "/x")]), Some("/p".into()));
    }
}
