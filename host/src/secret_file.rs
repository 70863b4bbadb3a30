//! Files that only this user may read: keys. Written whole or not at all, never over another; refused when
//! somebody else could have read or written them.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use crate::{Error, Result, folders};

/// No key file is longer than this.
const MOST: u64 = 4 << 10;

/// The text of the file; `text` becomes it if there is none. Of several processes that want to make it, one
/// does.
///
/// # Errors
/// If it can be neither read nor written, or others may read it.
pub(crate) fn read_or_make(path: &Path, text: impl FnOnce() -> Result<String>) -> Result<String> {
    let unreadable = |source| Error::Io { doing: "cannot read the key", path: path.to_owned(), source };
    let text = match read_small(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            let text = text()?;
            match write_new(path, &text) {
                Ok(()) => text,
                // Another process was first.
                Err(e) if e.kind() == ErrorKind::AlreadyExists => read_small(path).map_err(unreadable)?,
                Err(source) => {
                    return Err(Error::Io { doing: "cannot make the key", path: path.to_owned(), source });
                }
            }
        }
        text => text.map_err(unreadable)?,
    };
    private(path, Kind::File)?;
    Ok(text)
}

/// A folder that only this user may read; made, with those above it, if there is none.
///
/// # Errors
/// If it cannot be made, or others may read it.
pub(crate) fn folder(path: &Path) -> Result<()> {
    let fault = |source| Error::Io { doing: "cannot make the folder", path: path.to_owned(), source };
    folders::private().create(path).map_err(fault)?;
    private(path, Kind::Folder)
}

/// Bytes that nobody else has.
///
/// # Errors
/// If the system gives none.
pub(crate) fn random_key() -> Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)
        .map_err(|e| Error::Sandbox(format!("the system gives no random bytes: {e}")))?;
    Ok(key)
}

/// The text of a key file.
pub(crate) fn read_small(path: &Path) -> std::io::Result<String> {
    read_at_most(path, MOST)
}

/// The text of a file, or the beginning of one that is longer.
pub(crate) fn read_at_most(path: &Path, bytes: u64) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(bytes).read_to_string(&mut text)?;
    Ok(text)
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map(drop).map_err(|e| e.error)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    File,
    Folder,
}

/// What others can read, or what is another user's, keeps no secret.
fn private(path: &Path, kind: Kind) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let fault = |source| Error::Io { doing: "cannot read", path: path.to_owned(), source };
        let found = std::fs::symlink_metadata(path).map_err(fault)?;
        let wrong = match kind {
            Kind::File if !found.is_file() => Some("is no plain file"),
            Kind::Folder if !found.is_dir() => Some("is no plain folder"),
            _ if found.uid() != rustix::process::geteuid().as_raw() => Some("belongs to another user"),
            Kind::File if found.mode() & 0o077 != 0 => {
                Some("can be read by others; `chmod 600` it, or move it away and a new one is made")
            }
            Kind::Folder if found.mode() & 0o077 != 0 => Some("can be read by others; `chmod 700` it"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(Error::Config { path: path.to_owned(), message: wrong.into() });
        }
    }
    Ok(())
}
