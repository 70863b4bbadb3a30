//! Where this user's files lie: named by a variable of ours, else by the desktop's, else in the home. And folders
//! that are nobody else's.

use std::fs::DirBuilder;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Makes folders, and those above them, that only this user may enter.
pub(crate) fn private() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Writes a file that only this user may read, over what is there. Renamed into place, so that another process never
/// sees half of it.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(Into::into)
}

/// Whether nobody but this user can have put something into the folder.
pub(crate) fn is_private(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::symlink_metadata(folder).is_ok_and(|there| {
            there.is_dir() && there.uid() == rustix::process::geteuid().as_raw() && there.mode() & 0o022 == 0
        })
    }
    #[cfg(not(unix))]
    folder.is_dir()
}

/// The value of `own`; else `postern` in the value of `xdg`; else `under_home` in the home folder. None
/// where none of the three is set. A variable that is empty counts as not set.
pub(crate) fn of_user(own: &str, xdg: &str, under_home: &str) -> Option<PathBuf> {
    let set =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    set(own).or_else(|| Some(set(xdg)?.join("postern"))).or_else(|| Some(set("HOME")?.join(under_home)))
}
