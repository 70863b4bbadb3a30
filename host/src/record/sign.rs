//! The key that signs records: one for each user and machine, made when it is first needed. Both halves are PEM files
//! as other tools read them. The secret half never leaves its file for a record, a log or an error.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::folders;
use crate::sandbox::hex;
use crate::secret_file::{self, read_small};
use crate::{Error, Result};

const SECRET_FILE: &str = "record-key.pem";
const PUBLIC_FILE: &str = "record-key.pub.pem";
/// One line for each finished run: its id and the digest of its last line.
const FINISHED_FILE: &str = "finished.jsonl";

/// What stands before the 32 bytes of a secret key in PKCS #8 (RFC 8410).
const SECRET_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/// What stands before the 32 bytes of a public key (RFC 8410).
const PUBLIC_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The user's key.
pub struct RecordKey {
    secret: SigningKey,
    folder: PathBuf,
}

impl std::fmt::Debug for RecordKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RecordKey({})", self.public().fingerprint())
    }
}

impl RecordKey {
    /// The key in this folder; made there if there is none. Of several processes that want to make it, one does.
    ///
    /// # Errors
    /// If it can be neither read nor written, is no key, or others may read it.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(SECRET_FILE);
        let text = secret_file::read_or_make(&path, || Self::make(folder))?;
        let secret = from_pem(&text, "PRIVATE KEY", &SECRET_PREFIX).ok_or_else(|| {
            let message = "is no ed25519 key in PEM; move it away and a new one is made at the next run";
            Error::Config { path: path.clone(), message: message.into() }
        })?;
        let key = Self { secret: SigningKey::from_bytes(&secret), folder: folder.to_owned() };
        key.publish()?;
        Ok(key)
    }

    /// The half that anyone may have.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.secret.verifying_key())
    }

    /// The signature over a message, in hex.
    pub(super) fn sign(&self, message: &str) -> String {
        hex(&self.secret.sign(message.as_bytes()).to_bytes())
    }

    /// Notes away from the record that a run has finished, and how its journal ended.
    pub(super) fn note_finished(&self, run: &str, head: &str) -> std::io::Result<()> {
        let line = Finished { run: run.to_owned(), head: head.to_owned() };
        let mut line = serde_json::to_vec(&line)?;
        line.push(b'\n');
        File::options().append(true).create(true).open(self.folder.join(FINISHED_FILE))?.write_all(&line)
    }

    fn make(folder: &Path) -> Result<String> {
        folders::private().create(folder).map_err(fault("cannot make the key for records", folder))?;
        Ok(to_pem("PRIVATE KEY", &SECRET_PREFIX, &secret_file::random_key()?))
    }

    /// Puts the public half beside the secret one, if it is not there.
    fn publish(&self) -> Result<()> {
        let path = self.folder.join(PUBLIC_FILE);
        let text = self.public().to_pem();
        if read_small(&path).is_ok_and(|there| there == text) {
            return Ok(());
        }
        let write = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(text.as_bytes())?;
            file.persist(&path).map(drop).map_err(|e| e.error)
        };
        write().map_err(fault("cannot write the public key", &path))
    }
}

/// Half of a key that tells whether the other half signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads a PEM file.
    ///
    /// # Errors
    /// If it cannot be read, or is no ed25519 public key.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_small(path).map_err(fault("cannot read the public key", path))?;
        Self::from_pem(&text).ok_or_else(|| Error::Config {
            path: path.to_owned(),
            message: "is no ed25519 public key in PEM".into(),
        })
    }

    /// The public key in a folder for keys, if there is one.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub fn of(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(PUBLIC_FILE);
        if path.exists() { Self::read(&path).map(Some) } else { Ok(None) }
    }

    /// None: it is no such key.
    pub fn from_pem(text: &str) -> Option<Self> {
        let bytes = from_pem(text, "PUBLIC KEY", &PUBLIC_PREFIX)?;
        VerifyingKey::from_bytes(&bytes).ok().map(Self)
    }

    /// As a PEM file.
    pub fn to_pem(&self) -> String {
        to_pem("PUBLIC KEY", &PUBLIC_PREFIX, self.0.as_bytes())
    }

    /// SHA-256 of its DER form, in hex.
    pub fn fingerprint(&self) -> String {
        hex(&Sha256::digest([&PUBLIC_PREFIX[..], self.0.as_bytes()].concat()))
    }

    /// Whether this key's other half signed the message; the signature is in lower-case hex.
    pub(super) fn signed(&self, message: &str, signature: &str) -> bool {
        let bytes = from_hex(signature);
        let signature = bytes.and_then(|bytes| Signature::from_slice(&bytes).ok());
        signature.is_some_and(|signature| self.0.verify_strict(message.as_bytes(), &signature).is_ok())
    }
}

#[derive(Serialize, Deserialize)]
struct Finished {
    run: String,
    head: String,
}

/// How the journals of finished runs ended, as noted beside the key when they did.
#[derive(Clone, Debug, Default)]
pub struct FinishedRuns(HashMap<String, String>);

impl FinishedRuns {
    /// As noted in a folder for keys; none where nothing is.
    ///
    /// # Errors
    /// If there are notes and they cannot be read.
    pub fn of(folder: &Path) -> Result<Self> {
        let path = folder.join(FINISHED_FILE);
        let text = match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            text => text.map_err(fault("cannot read", &path))?,
        };
        // A line that was cut off with its process says nothing.
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Finished>(line).ok());
        Ok(Self(lines.map(|line| (line.run, line.head)).collect()))
    }

    /// Digest of the last line of a run's journal.
    pub(super) fn head(&self, run: &str) -> Option<&str> {
        self.0.get(run).map(String::as_str)
    }
}

fn fault(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { doing, path, source }
}

fn to_pem(label: &str, prefix: &[u8], key: &[u8; 32]) -> String {
    let body = STANDARD.encode([prefix, key].concat());
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

fn from_pem(text: &str, label: &str, prefix: &[u8]) -> Option<[u8; 32]> {
    let body = text.trim().strip_prefix(&format!("-----BEGIN {label}-----"))?;
    let body = body.strip_suffix(&format!("-----END {label}-----"))?;
    let body: String = body.split_whitespace().collect();
    STANDARD.decode(body).ok()?.strip_prefix(prefix)?.try_into().ok()
}

/// Lower-case hex, and nothing else.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        _ => None,
    };
    let pair = |pair: &[u8]| Some((digit(pair[0])? << 4) | digit(pair[1])?);
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_key_is_made_once_and_kept() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("state");
        let first = RecordKey::open(&folder).unwrap();
        let second = RecordKey::open(&folder).unwrap();
        assert_eq!(first.public(), second.public());
        assert_eq!(PublicKey::of(&folder).unwrap().unwrap(), first.public());
        let signature = first.sign("a message");
        assert!(first.public().signed("a message", &signature));
        assert!(!first.public().signed("another message", &signature));
        assert!(!first.public().signed("a message", &signature.to_uppercase()));
        let other = RecordKey::open(&home.path().join("other")).unwrap();
        assert!(!other.public().signed("a message", &signature));
    }

    #[test]
    fn many_at_once_make_one_key() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("state");
        let open = || RecordKey::open(&folder).unwrap().public().fingerprint();
        let mut keys: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        keys.dedup();
        assert_eq!(keys.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_the_key() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        RecordKey::open(home.path()).unwrap();
        let path = home.path().join(SECRET_FILE);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = RecordKey::open(home.path()).unwrap_err();
        assert!(error.to_string().contains("can be read by others"), "{error}");
    }

    #[test]
    fn a_damaged_key_is_an_error_and_stays() {
        let home = tempfile::tempdir().unwrap();
        RecordKey::open(home.path()).unwrap();
        let path = home.path().join(SECRET_FILE);
        std::fs::write(&path, "nonsense").unwrap();
        let error = RecordKey::open(home.path()).unwrap_err();
        assert_eq!(error.code(), "config-invalid");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "nonsense");
    }

    #[test]
    fn the_secret_is_not_in_its_debug_form() {
        let home = tempfile::tempdir().unwrap();
        let key = RecordKey::open(home.path()).unwrap();
        let shown = format!("{key:?}");
        assert!(!shown.contains(&hex(key.secret.as_bytes())), "{shown}");
        assert!(shown.contains(&key.public().fingerprint()));
    }
}
