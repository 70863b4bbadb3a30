//! Digests of the large files that each process begins with. Hashing runner and compiled code takes longer than all else
//! of a short run, so a digest is noted together with what tells that the file is still the same: size, inode, and
//! when its content and its entry were last changed. The last can only be set by the clock.
//!
//! Never here: a note from a folder that others can write to, and a note of a file that was changed just now: another
//! change within the same tick of the clock could not be told from it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::folders::{is_private, replace};

/// So long a file has to be as it is before its digest is noted. File systems' clocks tick at least so often.
const SETTLED: Duration = Duration::from_secs(3);

/// BLAKE3 of a file, in hex: as noted in the folder `notes`, or made now.
pub(super) fn digest(path: &Path, notes: &Path) -> io::Result<String> {
    noted_or_made(path, notes, SETTLED)
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Note {
    file: Identity,
    digest: String,
}

/// What does not stay the same when a file's content changes.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> io::Result<Option<Self>> {
        use std::os::unix::fs::MetadataExt;
        let path = path.canonicalize()?;
        let there = std::fs::metadata(&path)?;
        Ok(Some(Self {
            device: there.dev(),
            inode: there.ino(),
            bytes: there.size(),
            modified: (there.mtime(), there.mtime_nsec()),
            changed: (there.ctime(), there.ctime_nsec()),
            path,
        }))
    }

    /// Elsewhere nothing is as hard to set as the time of change.
    #[cfg(not(unix))]
    fn of(_: &Path) -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// Whether it has been as it is for so long. A time in the future is none that can be believed.
    fn is_settled(&self, settled: Duration) -> bool {
        let last = self.changed.max(self.modified);
        let (Ok(seconds), Ok(nanos)) = (u64::try_from(last.0), u32::try_from(last.1)) else { return false };
        let last = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos);
        SystemTime::now().duration_since(last).is_ok_and(|age| age >= settled)
    }
}

fn noted_or_made(path: &Path, notes: &Path, settled: Duration) -> io::Result<String> {
    let before = Identity::of(path)?.filter(|_| is_private(notes));
    let Some(identity) = before else { return made(path) };
    let place =
        notes.join(format!("{}.seen", blake3::hash(identity.path.as_os_str().as_encoded_bytes()).to_hex()));
    let note = std::fs::read(&place).ok().and_then(|text| serde_json::from_slice::<Note>(&text).ok());
    if let Some(note) = note.filter(|note| note.file == identity) {
        return Ok(note.digest);
    }
    let digest = made(path)?;
    if identity.is_settled(settled) && Identity::of(path)?.as_ref() == Some(&identity) {
        // Without the note the next process hashes again, and that is all.
        let _ = keep(&place, &Note { file: identity, digest: digest.clone() });
    }
    Ok(digest)
}

/// Read in pieces: to have all of it in memory would cost more than the hashing does.
fn made(path: &Path) -> io::Result<String> {
    let mut hash = blake3::Hasher::new();
    hash.update_reader(std::fs::File::open(path)?)?;
    Ok(hash.finalize().to_hex().to_string())
}

fn keep(place: &Path, note: &Note) -> io::Result<()> {
    replace(place, serde_json::to_string(note)?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("code"), "one").unwrap();
        folder
    }

    fn seen(folder: &Path) -> Vec<PathBuf> {
        let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| path.extension().is_some_and(|ending| ending == "seen")).collect()
    }

    /// Longer than a tick of any file system's clock.
    fn tick() {
        std::thread::sleep(Duration::from_millis(30));
    }

    #[test]
    fn a_note_counts_while_the_file_is_as_it_was() {
        let folder = notes();
        let code = folder.path().join("code");
        let digest = || noted_or_made(&code, folder.path(), Duration::ZERO).unwrap();
        let one = digest();
        assert_eq!(one, blake3::hash(b"one").to_hex().to_string());
        // What is noted is what is said: the file is not read again.
        let [place] = &seen(folder.path())[..] else { panic!("one note") };
        let mut note: Note = serde_json::from_slice(&std::fs::read(place).unwrap()).unwrap();
        note.digest = "noted".into();
        keep(place, &note).unwrap();
        assert_eq!(digest(), "noted");
        tick();
        std::fs::write(&code, "two").unwrap();
        assert_eq!(digest(), blake3::hash(b"two").to_hex().to_string());
        // The old time of change put back does not help: its entry has changed.
        tick();
        let before = std::fs::metadata(&code).unwrap().modified().unwrap();
        std::fs::write(&code, "six").unwrap();
        std::fs::File::options().write(true).open(&code).unwrap().set_modified(before).unwrap();
        assert_eq!(digest(), blake3::hash(b"six").to_hex().to_string());
        for broken in ["", "{}", "\u{0}"] {
            std::fs::write(place, broken).unwrap();
            assert_eq!(digest(), blake3::hash(b"six").to_hex().to_string());
        }
    }

    #[test]
    fn what_was_changed_just_now_is_not_noted() {
        let folder = notes();
        digest(&folder.path().join("code"), folder.path()).unwrap();
        assert!(seen(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_of_others_is_not_believed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = notes();
        let code = folder.path().join("code");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        noted_or_made(&code, folder.path(), Duration::ZERO).unwrap();
        assert!(seen(folder.path()).is_empty());
        let made = noted_or_made(&code, &folder.path().join("nowhere"), Duration::ZERO).unwrap();
        assert_eq!(made, blake3::hash(b"one").to_hex().to_string());
    }
}
