//! `[policy]`: which policy texts are in force.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::Digest;

use crate::Result;
use crate::policy::Source;

/// `[policy]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyConfig {
    /// A file with rules in Cedar.
    pub file: Option<PathBuf>,
    /// The file is the whole policy. Otherwise its rules are added to the default ones.
    pub replace_default: bool,
    /// What the file held when the configuration was read.
    #[serde(skip)]
    source: Option<Source>,
}

impl PolicyConfig {
    /// The texts that apply to every run, the default one first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn sources(&self) -> Result<Vec<Source>> {
        let own = source(self.file.as_deref(), self.source.as_ref())?;
        Ok(match own {
            Some(own) if self.replace_default => vec![own],
            own => std::iter::once(Source::builtin()).chain(own).collect(),
        })
    }

    /// Reads the file now, so that the configuration and its digest are of one moment.
    pub(super) fn read(&mut self, digest: &mut sha2::Sha256) -> Result<()> {
        read_now(self.file.as_deref(), &mut self.source, digest)
    }
}

/// Reads a policy file once and takes it into the digest.
pub(super) fn read_now(
    file: Option<&Path>,
    source: &mut Option<Source>,
    digest: &mut sha2::Sha256,
) -> Result<()> {
    if let Some(file) = file {
        let read = Source::read(file)?;
        digest.update(read.text.as_bytes());
        *source = Some(read);
    }
    Ok(())
}

/// What was read from this file, or what it holds now if it was named since.
pub(super) fn source(file: Option<&Path>, read: Option<&Source>) -> Result<Option<Source>> {
    match (file, read) {
        (Some(file), Some(read)) if read.path == file => Ok(Some(read.clone())),
        (Some(file), _) => Source::read(file).map(Some),
        (None, _) => Ok(None),
    }
}
