//! JSON Lines in which every line holds the digest of the one before, and seals sign where it has got to. Writes them,
//! and reads them back strictly. Knows nothing of what the lines say.
//!
//! A line is `{"seq":N,"prev":"...",...}`; `prev` is the SHA-256, in hex, of the line before without its line end, and
//! in the first line of whatever the file is bound to. A seal is such a line with `"type":"seal"` and a signature over
//! the text that [`sealed_text`] makes.

use std::fs::File;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sign::{PublicKey, RecordKey};
use crate::sandbox::hex;

/// After so many lines without one there is a seal.
const SEAL_EVERY: u32 = 32;

/// What is written to one file.
#[derive(Debug)]
pub(super) struct Chain {
    file: File,
    run: String,
    name: &'static str,
    /// Bytes in the file, for taking back half a line.
    length: u64,
    next: u64,
    head: String,
    unsealed: u32,
    /// Half a line could not be taken back: whatever follows would not be read.
    broken: bool,
}

#[derive(Serialize)]
struct Line<'a, T> {
    seq: u64,
    prev: &'a str,
    #[serde(flatten)]
    entry: &'a T,
}

impl Chain {
    /// Goes on in a file that has `next` lines and `length` bytes and ends in `head`.
    pub(super) fn resume(
        file: File,
        run: &str,
        name: &'static str,
        (next, length, head): (u64, u64, String),
    ) -> Self {
        Self { file, run: run.to_owned(), name, length, next, head, unsealed: 0, broken: false }
    }

    /// Appends lines, and a seal if it is asked for or due. Either all of it is written or nothing.
    pub(super) fn append<T: Serialize>(
        &mut self,
        entries: &[T],
        key: &RecordKey,
        seal: bool,
    ) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier line could not be written whole"));
        }
        let mut text = Vec::new();
        let (mut next, mut head) = (self.next, self.head.clone());
        let mut push = |line: Vec<u8>| {
            head = digest(&line);
            next += 1;
            text.extend_from_slice(&line);
            text.push(b'\n');
            (next, head.clone())
        };
        let mut at = (self.next, self.head.clone());
        for entry in entries {
            at = push(serde_json::to_vec(&Line { seq: at.0, prev: &at.1, entry })?);
        }
        let mut unsealed = self.unsealed + u32::try_from(entries.len()).unwrap_or(u32::MAX);
        if seal || unsealed >= SEAL_EVERY {
            let signature = key.sign(&sealed_text(&self.run, self.name, at.0, &at.1));
            at = push(seal_line(at.0, &at.1, &signature).into_bytes());
            unsealed = 0;
        }
        if let Err(error) = self.file.write_all(&text) {
            self.broken = self.file.set_len(self.length).is_err();
            return Err(error);
        }
        self.length += text.len() as u64;
        (self.next, self.head) = at;
        self.unsealed = unsealed;
        Ok(())
    }

    /// Digest of the last line.
    pub(super) fn head(&self) -> &str {
        &self.head
    }
}

/// What a seal signs: which run, which file, how many lines come before, and the digest of the last of them.
fn sealed_text(run: &str, name: &str, seq: u64, prev: &str) -> String {
    format!("postern-seal-1 {run} {name} {seq} {prev}")
}

/// A seal has exactly one form, for nothing after it would tell that it was written otherwise.
fn seal_line(seq: u64, prev: &str, signature: &str) -> String {
    format!(r#"{{"seq":{seq},"prev":"{prev}","type":"seal","signature":"{signature}"}}"#)
}

/// SHA-256 in hex.
pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A file as read back, up to its first fault.
#[derive(Debug, Default)]
pub(super) struct Checked<T> {
    /// What the lines say, without the seals.
    pub(super) entries: Vec<T>,
    /// Lines that are in order, seals too.
    pub(super) lines: u64,
    /// Lines up to the last good seal.
    pub(super) sealed: u64,
    /// Whether the last line is a good seal, or would be if there were a key to tell.
    pub(super) ends_sealed: bool,
    /// Bytes of these lines.
    pub(super) length: u64,
    /// Digest of the last of these lines.
    pub(super) head: String,
    /// Bytes after the last line end.
    pub(super) rest: usize,
    /// The first line that is wrong, from 1, and how.
    pub(super) fault: Option<(u64, String)>,
}

#[derive(Deserialize)]
struct Link {
    seq: u64,
    prev: String,
    r#type: String,
    #[serde(default)]
    signature: String,
}

/// Reads a file. Without a key, seals are not checked, and nothing counts as sealed.
pub(super) fn check<T: for<'a> Deserialize<'a>>(
    bytes: &[u8],
    run: &str,
    name: &str,
    anchor: &str,
    key: Option<&PublicKey>,
) -> Checked<T> {
    let mut out = Checked {
        entries: Vec::new(),
        lines: 0,
        sealed: 0,
        ends_sealed: false,
        length: 0,
        head: anchor.to_owned(),
        rest: 0,
        fault: None,
    };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    out.rest = bytes.len() - whole;
    for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
        let content = &line[..line.len() - 1];
        if let Err(message) = out.take(content, run, name, key) {
            out.fault = Some((out.lines + 1, message));
            break;
        }
        out.length += line.len() as u64;
    }
    out
}

impl<T: for<'a> Deserialize<'a>> Checked<T> {
    fn take(&mut self, line: &[u8], run: &str, name: &str, key: Option<&PublicKey>) -> Result<(), String> {
        let link: Link =
            serde_json::from_slice(line).map_err(|e| format!("it is no line of a chained file: {e}"))?;
        if link.prev != self.head {
            let before = if self.lines == 0 { "what the file is bound to" } else { "the line before" };
            return Err(format!("its prev is not the digest of {before}"));
        }
        if link.seq != self.lines {
            return Err(format!("its seq is {}, where {} comes next", link.seq, self.lines));
        }
        self.ends_sealed = link.r#type == "seal";
        if self.ends_sealed {
            if line != seal_line(link.seq, &link.prev, &link.signature).as_bytes() {
                return Err("it is not written as a seal is".into());
            }
            if let Some(key) = key {
                if !key.signed(&sealed_text(run, name, link.seq, &link.prev), &link.signature) {
                    return Err("its signature does not fit".into());
                }
                self.sealed = self.lines + 1;
            }
        } else {
            let entry = serde_json::from_slice(line);
            self.entries.push(entry.map_err(|e| format!("it does not say what such a line says: {e}"))?);
        }
        self.lines += 1;
        self.head = digest(line);
        Ok(())
    }
}
