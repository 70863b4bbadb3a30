//! A zip archive that a stranger may have made: its directory is read here, strictly, and what it promises is checked
//! before anything is unpacked; only the unpacking of a single file is the zip crate's.
//!
//! Nothing here knows what a wheel is, and nothing here names a file on this machine.

use std::io::{Cursor, Read, Write};

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::names::{Claims, is_safe};
use super::refused;
use crate::Result;

/// Files and folders of one archive.
const MAX_ENTRIES: usize = 20_000;
/// All files together, unpacked.
const MAX_UNPACKED: u64 = 256 << 20;
/// By how much they may be larger than the archive, once they are larger than `FREE`.
const MAX_RATIO: u64 = 100;
const FREE: u64 = 1 << 20;

/// Lengths of the fixed parts of the format.
const END: usize = 22;
const RECORD: usize = 46;

/// One file or folder.
#[derive(Debug)]
pub(super) struct Entry {
    /// Relative, with `/`, safe on any system.
    pub(super) path: String,
    pub(super) folder: bool,
    /// Unpacked; more or less is an error.
    pub(super) bytes: u64,
}

/// An archive whose directory keeps its promises.
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    pub(super) entries: Vec<Entry>,
}

impl<'a> Archive<'a> {
    /// # Errors
    /// If it is no zip archive, or one that should not be unpacked.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self> {
        let entries = directory(bytes)?;
        let mut claims = Claims::default();
        let mut unpacked = 0u64;
        for entry in &entries {
            let claimed = if entry.folder { claims.folder(&entry.path) } else { claims.file(&entry.path, 0) };
            claimed.map_err(|_| refused(format!("{:?} is there twice", entry.path)))?;
            unpacked = unpacked.saturating_add(entry.bytes);
        }
        if unpacked > MAX_UNPACKED {
            return Err(refused(format!("it unpacks to more than {} MiB", MAX_UNPACKED >> 20)));
        }
        if unpacked > FREE && unpacked / MAX_RATIO > bytes.len() as u64 {
            return Err(refused(format!("it unpacks to more than {MAX_RATIO} times its size")));
        }
        let broken = |e: zip::result::ZipError| refused(format!("it is no zip archive: {e}"));
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
        // Files that lie upon each other are how a small archive becomes a large one.
        if zip.len() != entries.len() || zip.has_overlapping_files().map_err(broken)? {
            return Err(refused("its directory does not describe what is in it"));
        }
        Ok(Self { zip, entries })
    }

    /// Unpacks one file; gives its SHA-256.
    ///
    /// # Errors
    /// If it is not what the directory says. The inner error is of `to`.
    pub(super) fn copy(&mut self, at: usize, to: &mut impl Write) -> Result<std::io::Result<[u8; 32]>> {
        let Entry { path, bytes, .. } = &self.entries[at];
        let broken = |why: String| refused(format!("{path:?} cannot be unpacked: {why}"));
        let file = self.zip.by_index(at).map_err(|e| broken(e.to_string()))?;
        let mut file = file.take(bytes + 1);
        let (mut hash, mut done, mut block) = (Sha256::new(), 0, vec![0; 64 << 10]);
        loop {
            let read = file.read(&mut block).map_err(|e| broken(e.to_string()))?;
            if read == 0 {
                break;
            }
            done += read as u64;
            if done > *bytes {
                break;
            }
            hash.update(&block[..read]);
            if let Err(error) = to.write_all(&block[..read]) {
                return Ok(Err(error));
            }
        }
        if done != *bytes {
            return Err(broken("it is not as long as the archive says".into()));
        }
        Ok(Ok(hash.finalize().into()))
    }

    /// The text of a file that is at most so long.
    pub(super) fn text(&mut self, path: &str, most: u64) -> Result<String> {
        let found = self.entries.iter().position(|entry| !entry.folder && entry.path == path);
        let at = found.ok_or_else(|| refused(format!("it has no {path}")))?;
        if self.entries[at].bytes > most {
            return Err(refused(format!("{path} is longer than {most} bytes")));
        }
        let mut text = Vec::new();
        self.copy(at, &mut text)?.map_err(|e| refused(format!("{path}: {e}")))?;
        String::from_utf8(text).map_err(|_| refused(format!("{path} is no UTF-8 text")))
    }
}

/// What the archive's directory says. Nothing may lie before the first file or after the directory, and there is no
/// second disk and no form for more than 4 GiB: a reader of another mind would find another archive there.
fn directory(bytes: &[u8]) -> Result<Vec<Entry>> {
    let none = || refused("it is no zip archive, or has more in it than one");
    let end_at = bytes.len().checked_sub(END).ok_or_else(none)?;
    let end = &bytes[end_at..];
    let (count, size, start) = (number16(end, 10), number32(end, 12), number32(end, 16));
    let plain = end.starts_with(b"PK\x05\x06")
        && number32(end, 4) == 0
        && number16(end, 8) == count
        && number16(end, 20) == 0
        && start.checked_add(size) == Some(end_at);
    if !plain {
        return Err(none());
    }
    if count > MAX_ENTRIES {
        return Err(refused(format!("it has {count} files and folders; {MAX_ENTRIES} are allowed")));
    }
    let mut entries = Vec::with_capacity(count);
    let mut first = start;
    let mut rest = &bytes[start..end_at];
    while !rest.is_empty() {
        let (entry, at, after) = record(rest)?;
        first = first.min(at);
        entries.push(entry);
        rest = after;
    }
    if entries.len() != count {
        return Err(refused("its directory does not have the length that it says"));
    }
    if first != 0 {
        return Err(none());
    }
    Ok(entries)
}

/// The first record of a directory, where its file begins, and what comes after the record.
fn record(bytes: &[u8]) -> Result<(Entry, usize, &[u8])> {
    let torn = || refused("its directory is torn");
    if bytes.len() < RECORD || !bytes.starts_with(b"PK\x01\x02") {
        return Err(torn());
    }
    let (flags, method, size) = (number16(bytes, 8), number16(bytes, 10), number32(bytes, 24));
    let lengths = [28, 30, 32].map(|at| number16(bytes, at));
    let kind = number32(bytes, 38) >> 16 & 0o170_000;
    let name = bytes.get(RECORD..RECORD + lengths[0]).ok_or_else(torn)?;
    let after = bytes.get(RECORD + lengths.iter().sum::<usize>()..).ok_or_else(torn)?;
    let name = std::str::from_utf8(name).map_err(|_| refused("a name in it is no UTF-8 text"))?;
    let (path, folder) = name.strip_suffix('/').map_or((name, false), |path| (path, true));
    is_safe(path).map_err(|why| refused(format!("the path {name:?} {why}")))?;
    if kind != 0 && kind != if folder { 0o040_000 } else { 0o100_000 } {
        return Err(refused(format!("{path:?} is a link, or something else than a file")));
    }
    if flags & 1 != 0 {
        return Err(refused(format!("{path:?} is encrypted")));
    }
    if method != 0 && method != 8 {
        return Err(refused(format!("{path:?} is neither stored nor deflated")));
    }
    if folder && size != 0 {
        return Err(refused(format!("{path:?} is a folder with content")));
    }
    Ok((Entry { path: path.to_owned(), folder, bytes: size as u64 }, number32(bytes, 42), after))
}

/// Little-endian numbers at a place that the caller knows to be there.
fn number16(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn number32(bytes: &[u8], at: usize) -> usize {
    number16(bytes, at) | number16(bytes, at + 2) << 16
}
