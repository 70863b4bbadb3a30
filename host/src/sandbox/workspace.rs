//! The folders a script sees: /input (what the user handed over, read-only), /packages (of a Python script's
//! profile, read-only), /workspace (private, deleted after the run) and /out (proposed artifacts).
//!
//! Folders are opened as capabilities (cap-std); paths that a guest gives are only ever resolved
//! inside them. The quota that goes with a folder is kept here and enforced in `files`.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use super::Limits;
use crate::{Error, Result};

/// A file or folder that the user hands to the run, read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Where it lies on the host.
    pub path: PathBuf,
    /// Its name under /input.
    pub name: String,
}

impl Input {
    /// The file or folder at `path`, under its own name.
    ///
    /// # Errors
    /// If nothing is there, or it has no name (as `/` has none).
    pub fn new(path: &Path) -> Result<Self> {
        let path = std::fs::canonicalize(path).map_err(|source| Error::Io {
            doing: "cannot read the input",
            path: path.to_owned(),
            source,
        })?;
        match path.file_name().and_then(|name| name.to_str()) {
            Some(name) => Ok(Self { name: name.to_owned(), path }),
            None => Err(Error::Setting(format!(
                "the input {} has no name that a script could use",
                path.display()
            ))),
        }
    }
}

/// One proposed artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactFile {
    /// Where the script wrote it, under /out.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content, in hex.
    pub sha256: String,
}

/// A folder that a guest may write to, and how full it may get.
#[derive(Debug)]
pub(crate) struct Quota {
    dir: Dir,
    max_bytes: u64,
    max_files: u64,
    /// An upper bound of what is there: writes are added, deletions are found by counting again.
    bytes: AtomicU64,
    files: AtomicU64,
    exceeded: AtomicBool,
    counting: Mutex<()>,
}

impl Quota {
    fn new(dir: Dir, max_bytes: u64, max_files: u64) -> Self {
        Self {
            dir,
            max_bytes,
            max_files,
            bytes: AtomicU64::new(0),
            files: AtomicU64::new(0),
            exceeded: AtomicBool::new(false),
            counting: Mutex::new(()),
        }
    }

    /// Takes room for growth by so much; false when there is none.
    pub(crate) fn take(&self, bytes: u64, files: u64) -> bool {
        if self.try_take(bytes, files) {
            return true;
        }
        let _one_at_a_time = self.counting.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut there_bytes, mut there_files) = (0, 0);
        if count(&self.dir, &mut there_bytes, &mut there_files, 64).is_err() {
            (there_bytes, there_files) = (u64::MAX / 2, u64::MAX / 2);
        }
        self.bytes.store(there_bytes, Ordering::Relaxed);
        self.files.store(there_files, Ordering::Relaxed);
        let room = self.try_take(bytes, files);
        if !room {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        room
    }

    fn try_take(&self, bytes: u64, files: u64) -> bool {
        let take = |counter: &AtomicU64, amount: u64, max: u64| {
            let add = |now: u64| now.checked_add(amount).filter(|after| amount == 0 || *after <= max);
            counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
        };
        if !take(&self.files, files, self.max_files) {
            return false;
        }
        let room = take(&self.bytes, bytes, self.max_bytes);
        if !room {
            self.files.fetch_sub(files, Ordering::Relaxed);
        }
        room
    }

    /// Whether something did not fit.
    pub(crate) fn exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }
}

fn count(dir: &Dir, bytes: &mut u64, files: &mut u64, levels: u32) -> io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        *files += 1;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            let levels = levels.checked_sub(1).ok_or(io::ErrorKind::InvalidInput)?;
            count(&entry.open_dir()?, bytes, files, levels)?;
        } else {
            *bytes += entry.metadata()?.len();
        }
    }
    Ok(())
}

/// The folders of one run.
#[derive(Debug)]
pub struct Workspace {
    /// Deleted when this is dropped.
    private: tempfile::TempDir,
    /// What /input itself shows: copies of single files, and an empty folder for each folder, over
    /// which the real one is mounted. None without inputs, and for a single folder.
    staging: Option<tempfile::TempDir>,
    out: PathBuf,
    inputs: Vec<Input>,
    packages: Option<PathBuf>,
    pub(crate) workspace_quota: Arc<Quota>,
    pub(crate) out_quota: Arc<Quota>,
}

impl Workspace {
    /// Makes /workspace in the system's folder for temporary files, and takes `out`, which must
    /// exist and be empty, for /out.
    ///
    /// # Errors
    /// If a folder cannot be made or opened, or an input does not exist.
    pub fn create(out: &Path, inputs: &[Input], limits: &Limits) -> Result<Self> {
        let parent = std::env::temp_dir();
        let private = tempfile::Builder::new()
            .prefix("postern-")
            .tempdir_in(&parent)
            .map_err(|source| Error::Io { doing: "cannot make a workspace in", path: parent, source })?;
        let staging = match inputs {
            [] => None,
            [one] if one.path.is_dir() => None,
            several => Some(stage(several)?),
        };
        let quota = |path: &Path, max_bytes| {
            let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(|source| Error::Io {
                doing: "cannot open",
                path: path.to_owned(),
                source,
            })?;
            Ok::<_, Error>(Arc::new(Quota::new(dir, max_bytes, limits.workspace_files)))
        };
        Ok(Self {
            workspace_quota: quota(private.path(), limits.workspace_bytes)?,
            out_quota: quota(out, limits.artifact_bytes)?,
            out: out.to_owned(),
            inputs: inputs.to_vec(),
            packages: None,
            staging,
            private,
        })
    }

    /// The same with a folder of packages, which the script may only read.
    #[must_use]
    pub fn with_packages(mut self, folder: Option<PathBuf>) -> Self {
        self.packages = folder;
        self
    }

    /// Opens the folders to a guest.
    pub(crate) fn mount(&self, wasi: &mut WasiCtxBuilder) -> Result<()> {
        let mut open = |path: &Path, name: &str, perms| {
            wasi.preopened_dir(path, name, perms).map(drop).map_err(|e| Error::Io {
                doing: "cannot open",
                path: path.to_owned(),
                source: io::Error::other(format!("{e:#}")),
            })
        };
        open(self.private.path(), "/workspace", FsPerms::ReadWrite)?;
        open(&self.out, "/out", FsPerms::ReadWrite)?;
        if let Some(packages) = &self.packages {
            open(packages, "/packages", FsPerms::ReadOnly)?;
        }
        match (&self.staging, self.inputs.first()) {
            (Some(staging), _) => open(staging.path(), "/input", FsPerms::ReadOnly)?,
            // A single folder is /input itself, and can be reached by its name too.
            (None, Some(folder)) => open(&folder.path, "/input", FsPerms::ReadOnly)?,
            (None, None) => {}
        }
        for input in self.inputs.iter().filter(|input| input.path.is_dir()) {
            open(&input.path, &format!("/input/{}", input.name), FsPerms::ReadOnly)?;
        }
        Ok(())
    }

    /// A hand that puts files into /out while the run goes on.
    pub fn artifact_writer(&self) -> ArtifactWriter {
        ArtifactWriter(Arc::clone(&self.out_quota))
    }

    /// What lies in /out, sorted by path.
    ///
    /// # Errors
    /// If it cannot be read, or something there is neither file nor folder.
    pub fn artifacts(&self) -> Result<Vec<ArtifactFile>> {
        let mut found = Vec::new();
        hash_files(&self.out_quota.dir, "/out", &mut found).map_err(|source| Error::Io {
            doing: "cannot read the artifacts in",
            path: self.out.clone(),
            source,
        })?;
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

fn stage(inputs: &[Input]) -> Result<tempfile::TempDir> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { doing: "cannot read the input", path, source }
    };
    let staging =
        tempfile::Builder::new().prefix("postern-input-").tempdir().map_err(io(&std::env::temp_dir()))?;
    for input in inputs {
        let place = staging.path().join(&input.name);
        if place.exists() {
            return Err(Error::Setting(format!("two inputs are called {}", input.name)));
        }
        if std::fs::metadata(&input.path).map_err(io(&input.path))?.is_dir() {
            std::fs::create_dir(&place).map_err(io(&place))?;
        } else {
            std::fs::copy(&input.path, &place).map_err(io(&input.path))?;
        }
    }
    Ok(staging)
}

fn hash_files(dir: &Dir, at: &str, found: &mut Vec<ArtifactFile>) -> io::Result<()> {
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        let path = format!("{at}/{}", name.to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            hash_files(&entry.open_dir()?, &path, found)?;
        } else if kind.is_file() {
            let mut file = entry.open()?;
            let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 64 << 10]);
            loop {
                let read = file.read(&mut buffer)?;
                if read == 0 {
                    break;
                }
                hash.update(&buffer[..read]);
                bytes += read as u64;
            }
            found.push(ArtifactFile { path, bytes, sha256: hex(&hash.finalize()) });
        } else {
            // Links and special files are never artifacts; the guest has no way to make one.
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{path} is no plain file")));
        }
    }
    Ok(())
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
        text
    })
}

/// Puts files that a tool returned (images, blobs) into /out.
#[derive(Clone, Debug)]
pub struct ArtifactWriter(Arc<Quota>);

impl ArtifactWriter {
    /// Writes a new file; if the name is taken, a number is added. Gives its path under /out.
    ///
    /// # Errors
    /// If it does not fit into the artifact limit, or cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<String> {
        let name = safe_name(name);
        let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, "bin"));
        if !self.0.take(bytes.len() as u64, 1) {
            return Err(io::Error::new(
                io::ErrorKind::StorageFull,
                "it does not fit into the artifact limit",
            ));
        }
        for number in 1..10_000 {
            let name = if number == 1 { name.clone() } else { format!("{stem}-{number}.{extension}") };
            match self.0.dir.open_with(&name, OpenOptions::new().write(true).create_new(true)) {
                Ok(mut file) => {
                    file.write_all(bytes)?;
                    return Ok(format!("/out/{name}"));
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// A file name of plain characters, whatever a server called it.
fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = last.chars().take(100).map(plain).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "artifact.bin".into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(limits: &Limits) -> (tempfile::TempDir, Workspace) {
        let out = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(out.path(), &[], limits).unwrap();
        (out, workspace)
    }

    #[test]
    fn a_quota_finds_room_that_was_given_back() {
        let limits = Limits { workspace_bytes: 100, workspace_files: 3, ..Limits::default() };
        let (_out, workspace) = workspace(&limits);
        let quota = &workspace.workspace_quota;
        assert!(quota.take(90, 1));
        // Nothing was written after all.
        assert!(quota.take(90, 1));
        quota.dir.write("a", [0; 90]).unwrap();
        assert!(!quota.take(11, 0));
        assert!(quota.exceeded());
        assert!(quota.take(10, 0));
    }

    #[test]
    fn the_workspace_is_gone_after_the_run() {
        let (_out, workspace) = workspace(&Limits::default());
        let path = workspace.private.path().to_owned();
        assert!(path.exists());
        drop(workspace);
        assert!(!path.exists());
    }

    #[test]
    fn artifacts_are_listed_with_their_digests() {
        let (_out, workspace) = workspace(&Limits::default());
        let writer = workspace.artifact_writer();
        assert_eq!(writer.write("../../a b.png", b"abc").unwrap(), "/out/a_b.png");
        assert_eq!(writer.write("a_b.png", b"").unwrap(), "/out/a_b-2.png");
        assert_eq!(writer.write("...", b"").unwrap(), "/out/artifact.bin");
        let artifacts = workspace.artifacts().unwrap();
        assert_eq!(artifacts.len(), 3);
        assert_eq!(artifacts[1].path, "/out/a_b.png");
        assert_eq!(artifacts[1].sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_no_artifact() {
        let (out, workspace) = workspace(&Limits::default());
        std::os::unix::fs::symlink("/etc/passwd", out.path().join("x")).unwrap();
        assert!(workspace.artifacts().is_err());
    }
}
