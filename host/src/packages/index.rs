//! A package index, by its simple API in JSON (PEP 691). What it answers is believed in nothing but where a file may
//! be: the digest says whether it is the one.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Response, StatusCode};
use serde::Deserialize;
use url::Url;

use super::wheel::MAX_WHEEL;
use super::{Package, failure, normal};
use crate::{Error, Result};

/// The index of everybody.
const PYPI: &str = "https://pypi.org/simple/";
/// Names another one, in this order; the second is pip's own.
const VARIABLES: [&str; 2] = ["POSTERN_PYTHON_INDEX", "PIP_INDEX_URL"];
const JSON: &str = "application/vnd.pypi.simple.v1+json";
/// The longest list of a package's files, in bytes.
const MAX_LIST: u64 = 32 << 20;
const CONNECT: Duration = Duration::from_secs(10);
/// Between two pieces of an answer.
const SILENCE: Duration = Duration::from_secs(30);

/// An index, and a client for it.
pub(super) struct Index {
    base: Url,
    client: Client,
}

/// A file that an index has.
#[derive(Debug, Deserialize)]
pub(super) struct Listed {
    pub(super) filename: String,
    url: String,
    #[serde(default)]
    hashes: Hashes,
    #[serde(default)]
    size: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct Hashes {
    #[serde(default)]
    sha256: Option<String>,
}

#[derive(Deserialize)]
struct Project {
    files: Vec<Listed>,
}

/// The address of the index: the one that was named, else that of a variable, else PyPI's.
///
/// # Errors
/// If it is no http or https URL.
pub(super) fn address(named: Option<&str>) -> Result<Url> {
    let set = || VARIABLES.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let text = named.map(str::to_owned).or_else(set).unwrap_or_else(|| PYPI.to_owned());
    // Without the last slash the last part would be replaced, not added to.
    let text = if text.ends_with('/') { text } else { text + "/" };
    match Url::parse(&text) {
        Ok(url) if ["http", "https"].contains(&url.scheme()) && url.has_host() => Ok(url),
        // It may hold a password, so it is not repeated.
        _ => Err(Error::Setting("the package index is no http or https URL".into())),
    }
}

/// An address without what nobody should read.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Neither fails for http and https.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

impl Index {
    pub(super) fn new(base: Url) -> Result<Self> {
        let client = Client::builder()
            .user_agent(concat!("postern/", env!("CARGO_PKG_VERSION")))
            .referer(false)
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .build()
            .map_err(|e| failure("package-index", format!("no client for HTTP: {}", cause(&e)), None))?;
        Ok(Self { base, client })
    }

    /// The file of this package, with its address.
    ///
    /// # Errors
    /// `package-index` if the index does not answer as it should, `package-not-found` if it has no such file.
    pub(super) async fn find(&self, package: &Package) -> Result<(Listed, Url)> {
        let place = format!("{}/", normal(&package.name));
        let url = self.base.join(&place).map_err(|e| self.fault(package, &e.to_string()))?;
        let answer = self.client.get(url).header(ACCEPT, JSON).send().await;
        let answer = answer.map_err(|e| self.fault(package, &cause(&e)))?;
        if answer.status() == StatusCode::NOT_FOUND {
            let message = format!("{package}: {} has no package of this name", shown(&self.base));
            return Err(failure("package-not-found", message, None));
        }
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_json = kind.starts_with(JSON) || kind.starts_with("application/json");
        if answer.status() == StatusCode::OK && !is_json {
            return Err(self.fault(package, "it does not answer in JSON (PEP 691)"));
        }
        let from = answer.url().clone();
        let text = self.body(package, answer, MAX_LIST, |_, _| ()).await?;
        let Project { mut files } = serde_json::from_slice(&text)
            .map_err(|e| self.fault(package, &format!("its list of files cannot be read: {e}")))?;
        let is = |file: &Listed| {
            file.hashes.sha256.as_ref().is_some_and(|sha256| sha256.eq_ignore_ascii_case(&package.sha256))
        };
        let at = files.iter().position(is).ok_or_else(|| self.not_there(package, &files))?;
        let file = files.swap_remove(at);
        let mut url = from.join(&file.url).map_err(|e| self.fault(package, &e.to_string()))?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err(self.fault(package, "the file's address is no http or https URL"));
        }
        if url.username().is_empty() && url.origin() == self.base.origin() {
            // Neither fails for http and https.
            let _ = url.set_username(self.base.username());
            let _ = url.set_password(self.base.password());
        }
        Ok((file, url))
    }

    /// The bytes of a file; `watch` is told how many have come, of how many.
    ///
    /// # Errors
    /// `package-index`.
    pub(super) async fn download(
        &self,
        package: &Package,
        file: &Listed,
        url: Url,
        watch: impl FnMut(u64, Option<u64>),
    ) -> Result<Vec<u8>> {
        if file.size.is_some_and(|size| size > MAX_WHEEL) {
            return Err(
                self.fault(package, &format!("{} is larger than {} MiB", file.filename, MAX_WHEEL >> 20))
            );
        }
        let answer = self.client.get(url).send().await.map_err(|e| self.fault(package, &cause(&e)))?;
        self.body(package, answer, MAX_WHEEL, watch).await
    }

    async fn body(
        &self,
        package: &Package,
        mut answer: Response,
        most: u64,
        mut watch: impl FnMut(u64, Option<u64>),
    ) -> Result<Vec<u8>> {
        if answer.status() != StatusCode::OK {
            return Err(self.fault(package, &format!("it answers {}", answer.status())));
        }
        let total = answer.content_length();
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|e| self.fault(package, &cause(&e)))? {
            bytes.extend_from_slice(&piece);
            if bytes.len() as u64 > most {
                return Err(self.fault(package, &format!("its answer is longer than {} MiB", most >> 20)));
            }
            watch(bytes.len() as u64, total);
        }
        Ok(bytes)
    }

    fn fault(&self, package: &Package, why: &str) -> Error {
        let message = format!("{package} cannot be fetched from {}: {why}", shown(&self.base));
        let hint =
            "another index: --index URL or POSTERN_PYTHON_INDEX; wheels that are here already: --from FOLDER";
        failure("package-index", message, hint.to_owned())
    }

    fn not_there(&self, package: &Package, files: &[Listed]) -> Error {
        let message =
            format!("{package}: {} has no file with the sha256 {}", shown(&self.base), package.sha256);
        let stem = format!("-{}-", package.version);
        let same: Vec<&str> = files
            .iter()
            .map(|file| file.filename.as_str())
            .filter(|name| name.contains(&stem) && name.ends_with("-none-any.whl"))
            .collect();
        let hint = if same.is_empty() {
            format!("it has no pure wheel of version {}", package.version)
        } else {
            format!("it has {}; `postern packages show` prints the sha256 of a file", same.join(", "))
        };
        failure("package-not-found", message, hint)
    }
}

/// Why a request failed. reqwest's own text names the URL; its causes do not.
fn cause(error: &reqwest::Error) -> String {
    let mut cause = std::error::Error::source(error);
    let mut said = match error {
        e if e.is_timeout() => "no answer in time".to_owned(),
        e if e.is_connect() => "no connection".to_owned(),
        e if e.is_redirect() => "too many redirects".to_owned(),
        _ => "the answer broke off".to_owned(),
    };
    while let Some(inner) = cause {
        if inner.source().is_none() {
            said = format!("{said} ({inner})");
        }
        cause = inner.source();
    }
    said
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_index_is_named_by_its_address() {
        assert_eq!(
            address(Some("https://mirror.example/simple")).unwrap().as_str(),
            "https://mirror.example/simple/"
        );
        for wrong in ["", "mirror.example", "file:///srv/wheels", "ftp://a.example/", "https://"] {
            assert_eq!(address(Some(wrong)).unwrap_err().code(), "setting-invalid", "{wrong}");
        }
        let error = address(Some("htp://me:hunter22@a.example")).unwrap_err();
        assert!(!error.to_string().contains("hunter22"), "{error}");
    }

    #[test]
    fn no_password_is_shown() {
        let url = Url::parse("https://me:hunter22@a.example/simple/?token=hunter22#x").unwrap();
        assert_eq!(shown(&url), "https://a.example/simple/");
    }
}
