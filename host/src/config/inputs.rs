//! What is said of inputs: `[inputs]`, and the mounts of profiles. Decides nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::ledger::{InputLabels, PathLabels};

/// A host path that may be given to a script, and what is said of what lies there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "MountForm")]
pub struct Mount {
    /// The path.
    pub path: PathBuf,
    /// Labels, which can only make those of `[inputs]` and the command line stricter.
    pub labels: InputLabels,
}

/// As it is written: a path alone, or a table.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a path, or a table with path, trust and holds")]
enum MountForm {
    Path(PathBuf),
    Labelled(LabelledMount),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelledMount {
    path: PathBuf,
    #[serde(default)]
    trust: Option<postern_check::evidence::Trust>,
    #[serde(default)]
    holds: Option<crate::policy::Holds>,
}

impl From<MountForm> for Mount {
    fn from(form: MountForm) -> Self {
        match form {
            MountForm::Path(path) => path.into(),
            MountForm::Labelled(LabelledMount { path, trust, holds }) => {
                Self { path, labels: InputLabels { trust, holds } }
            }
        }
    }
}

impl From<PathBuf> for Mount {
    fn from(path: PathBuf) -> Self {
        Self { path, labels: InputLabels::default() }
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match self.labels.to_string() {
            labels if labels.is_empty() => Ok(()),
            labels => write!(f, " ({labels})"),
        }
    }
}

/// The same with real paths. What is not there is left out: nothing can lie in it.
pub(crate) fn real<'a>(labelled: impl Iterator<Item = (&'a PathBuf, InputLabels)>) -> PathLabels {
    labelled.filter_map(|(path, labels)| Some((path.canonicalize().ok()?, labels))).collect()
}

/// Paths of `[inputs]` are relative to the file.
pub(super) fn make_absolute(inputs: &mut BTreeMap<PathBuf, InputLabels>, base: &Path) {
    *inputs = std::mem::take(inputs).into_iter().map(|(path, labels)| (base.join(path), labels)).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Mounts {
        mounts: Vec<Mount>,
    }

    #[test]
    fn a_mount_is_a_path_or_a_table() {
        let text = "mounts = [\"a:b=c\", {path = \"in\", trust = \"untrusted\", holds = \"secret\"}]";
        let Mounts { mounts } = toml::from_str(text).unwrap();
        assert_eq!(mounts[0], PathBuf::from("a:b=c").into());
        assert_eq!(mounts[1].to_string(), "in (untrusted, secret)");
        for wrong in
            ["{path = \"in\", trusted = true}", "{trust = \"untrusted\"}", "{path = \"a\", holds = \"x\"}"]
        {
            assert!(toml::from_str::<Mounts>(&format!("mounts = [{wrong}]")).is_err(), "{wrong}");
        }
    }
}
