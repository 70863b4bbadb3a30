//! Pure-Python packages for scripts: a profile names wheels by name, version and digest, `fetch` brings them into the
//! cache, and a run puts them before the script, read-only.
//!
//! What must never be here: anything that is fetched during a run, and any code of a package that runs outside the
//! sandbox.

mod archive;
mod fetch;
mod index;
mod names;
mod store;
#[cfg(test)]
mod tests;
mod wheel;

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::Error;

pub(crate) use fetch::read;
pub use fetch::{Fetched, Progress, Source, fetch};
pub use names::normal;
pub(crate) use store::of;
pub use store::{State, Store};
pub use wheel::{MAX_WHEEL, Wheel};

/// One wheel, always the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Package {
    /// As the package index writes it; case and the kind of dash do not count.
    pub name: String,
    /// Exactly as the wheel says it.
    pub version: String,
    /// SHA-256 of the wheel, 64 hex digits in lower case.
    pub sha256: String,
}

impl Package {
    /// # Errors
    /// A sentence that says which of the three is none.
    pub fn new(name: &str, version: &str, sha256: &str) -> Result<Self, String> {
        if !names::is_name(name) {
            return Err(format!("{name:?} is no name of a package: letters, digits and - _ . within"));
        }
        if !names::is_version(version) {
            return Err(format!(
                "{version:?} is no version of {name}: one exact version, such as \"1.17.0\", without == or >="
            ));
        }
        if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("the sha256 of {name} is not 64 hex digits"));
        }
        Ok(Self { name: name.into(), version: version.into(), sha256: sha256.to_ascii_lowercase() })
    }

    /// The line that names it in a profile.
    pub fn line(&self) -> String {
        let Self { name, version, sha256 } = self;
        format!("{{ name = \"{name}\", version = \"{version}\", sha256 = \"{sha256}\" }}")
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl<'de> Deserialize<'de> for Package {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

/// A package as it is written.
struct Written;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    name: String,
    version: String,
    sha256: String,
}

impl<'de> Visitor<'de> for Written {
    type Value = Package;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with name, version and sha256")
    }

    /// A name alone would be another thing tomorrow; so it is said what is missing.
    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Package, E> {
        Err(E::custom(
            "a package is a table, { name = \"six\", version = \"1.17.0\", sha256 = \"64 hex digits\" }; \
             `postern packages show FILE.whl` prints it",
        ))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Package, A::Error> {
        let Fields { name, version, sha256 } = Fields::deserialize(MapAccessDeserializer::new(map))?;
        Package::new(&name, &version, &sha256).map_err(A::Error::custom)
    }
}

/// Whether each name is there once.
///
/// # Errors
/// A sentence that names the one that is there twice.
pub(crate) fn each_once(packages: &[Package]) -> Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    match packages.iter().find(|package| !seen.insert(normal(&package.name))) {
        Some(twice) => Err(format!("{} is named twice; a profile has one version of a package", twice.name)),
        None => Ok(()),
    }
}

fn failure(code: &'static str, message: impl Into<String>, hint: impl Into<Option<String>>) -> Error {
    Error::Package { code, message: message.into(), hint: hint.into() }
}

/// A wheel that cannot be used whatever is done about it.
fn refused(message: impl Into<String>) -> Error {
    failure("package-refused", message, None)
}
