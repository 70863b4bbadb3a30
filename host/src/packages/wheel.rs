//! A wheel: an archive of a known form, and whether it is one that the sandbox can use.

use std::fs::{File, OpenOptions};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::archive::Archive;
use super::names::Claims;
use super::store::{Content, ContentFile};
use super::{Package, failure, normal, refused};
use crate::sandbox::hex;
use crate::{Error, Result};

/// The largest wheel, in bytes.
pub const MAX_WHEEL: u64 = 64 << 20;
/// The longest WHEEL and METADATA.
const MAX_TEXT: u64 = 1 << 20;
/// The newest Python that a wheel may ask for by name: 3.14 is the runner's.
const PYTHON: u32 = 14;
/// Endings of files that only a machine of one kind can load.
const NATIVE: [&str; 4] = [".so", ".pyd", ".dylib", ".dll"];

/// A wheel of pure Python.
pub struct Wheel<'a> {
    archive: Archive<'a>,
    package: Package,
    requires: Vec<String>,
    /// Index in the archive, and the path below the folder that is put on the path of modules.
    files: Vec<(usize, String)>,
}

impl<'a> Wheel<'a> {
    /// Reads and checks it; unpacks nothing but its two texts.
    ///
    /// # Errors
    /// `package-refused`, if it is no wheel, not of pure Python, or should not be unpacked.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        if bytes.len() as u64 > MAX_WHEEL {
            return Err(refused(format!("it is larger than {} MiB", MAX_WHEEL >> 20)));
        }
        let mut archive = Archive::open(bytes)?;
        let info = info_folder(&archive)?;
        let about = Headers::read(&archive.text(&format!("{info}/WHEEL"), MAX_TEXT)?);
        if !about.first("Wheel-Version").is_some_and(|version| version.starts_with("1.")) {
            return Err(refused("its WHEEL names no Wheel-Version 1"));
        }
        is_pure(&archive, &about)?;
        let metadata = Headers::read(&archive.text(&format!("{info}/METADATA"), MAX_TEXT)?);
        let [name, version] = ["Name", "Version"].map(|key| metadata.first(key).unwrap_or_default());
        let package = Package::new(name, version, &hex(&Sha256::digest(bytes))).map_err(refused)?;
        let stem = info.trim_end_matches(".dist-info");
        let of = stem.rsplit_once('-').map_or(stem, |(name, _)| name);
        if normal(of) != normal(name) {
            return Err(refused(format!("it calls itself {name} and lies in {info}")));
        }
        let files = places(&archive, &format!("{stem}.data"))?;
        let requires = metadata.all("Requires-Dist").map(str::to_owned).collect();
        Ok(Self { archive, package, requires, files })
    }

    /// Name and version as its metadata has them, and the digest of its bytes.
    pub fn package(&self) -> &Package {
        &self.package
    }

    /// The packages that it needs, as it says it: `six >=1.5`. Those of its extras are left out.
    pub fn requires(&self) -> impl Iterator<Item = &str> {
        let of_extra = |requirement: &str| {
            requirement.split_once(';').is_some_and(|(_, marker)| marker.contains("extra"))
        };
        self.requires.iter().map(String::as_str).filter(move |requirement| !of_extra(requirement))
    }

    /// Unpacks it into a folder that is empty. Files cannot be written to afterwards.
    pub(super) fn unpack(mut self, to: &Path) -> Result<Content> {
        let mut files = Vec::with_capacity(self.files.len());
        for (at, path) in std::mem::take(&mut self.files) {
            let place = to.join(&path);
            let io = |source| Error::Io { doing: "cannot write", path: place.clone(), source };
            if let Some(folder) = place.parent() {
                crate::folders::private().create(folder).map_err(io)?;
            }
            let mut file = read_only(&place).map_err(io)?;
            let hash = self.archive.copy(at, &mut file)?.map_err(io)?;
            files.push(ContentFile { path, bytes: self.archive.entries[at].bytes, sha256: hex(&hash) });
        }
        let requires = self.requires().map(str::to_owned).collect();
        Ok(Content { package: self.package, requires, files })
    }
}

/// A new file that nobody can open for writing again. One that is there already is never overwritten.
fn read_only(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o444);
    let file = options.open(path)?;
    #[cfg(not(unix))]
    {
        let mut permissions = file.metadata()?.permissions();
        permissions.set_readonly(true);
        file.set_permissions(permissions)?;
    }
    Ok(file)
}

/// The one folder that makes an archive a wheel.
fn info_folder(archive: &Archive<'_>) -> Result<String> {
    let mut found: Vec<&str> = archive
        .entries
        .iter()
        .map(|entry| entry.path.split('/').next().unwrap_or_default())
        .filter(|top| top.ends_with(".dist-info"))
        .collect();
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [one] => Ok(one.to_owned()),
        [] => Err(refused("it is no wheel: there is no .dist-info in it")),
        _ => Err(refused("it is no wheel: there is more than one .dist-info in it")),
    }
}

/// Whether it runs wherever Python 3 does. It has to say so itself, and nothing in it may say otherwise.
fn is_pure(archive: &Archive<'_>, about: &Headers) -> Result<()> {
    let not_pure = |message: String| {
        let hint = "only wheels tagged py3-none-any, of Python alone, run in the sandbox; look whether the package has \
                    one, or for another package";
        failure("package-refused", message, hint.to_owned())
    };
    let is_native = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
        NATIVE.iter().any(|ending| name.ends_with(ending)) || name.contains(".so.")
    };
    let tags: Vec<&str> = about.all("Tag").collect();
    if let Some(tag) = tags.iter().find(|tag| !tag.ends_with("-none-any")) {
        return Err(not_pure(format!("it is not of pure Python: it is built for {tag}")));
    }
    if let Some(native) = archive.entries.iter().find(|entry| is_native(&entry.path)) {
        return Err(not_pure(format!("it is not of pure Python: {} is machine code", native.path)));
    }
    if !about.first("Root-Is-Purelib").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Err(not_pure("it is not of pure Python: it says so itself (Root-Is-Purelib)".into()));
    }
    let for_python_3 = |tag: &&str| tag.split('-').next().is_some_and(|all| all.split('.').any(is_python_3));
    if !tags.iter().any(for_python_3) {
        return Err(not_pure(format!("it is not for Python 3.{PYTHON}: its tags are {}", tags.join(", "))));
    }
    Ok(())
}

/// `py3`, `py310`, `cp314`.
fn is_python_3(tag: &str) -> bool {
    let minor = tag.strip_prefix("py3").or_else(|| tag.strip_prefix("cp3"));
    minor.is_some_and(|minor| minor.is_empty() || minor.parse::<u32>().is_ok_and(|minor| minor <= PYTHON))
}

/// Where each file comes to lie: as it lies in the wheel, but for what a `.data` folder spreads out. What that has for
/// a machine (programs, headers, files beside the library) is left out.
fn places(archive: &Archive<'_>, data: &str) -> Result<Vec<(usize, String)>> {
    let mut claims = Claims::default();
    let mut files = Vec::new();
    for (at, entry) in archive.entries.iter().enumerate().filter(|(_, entry)| !entry.folder) {
        let within = entry.path.strip_prefix(data).and_then(|rest| rest.strip_prefix('/'));
        let path = match within.map(|rest| rest.split_once('/').unwrap_or((rest, ""))) {
            None => &entry.path,
            Some(("purelib" | "platlib", path)) if !path.is_empty() => path,
            Some(("scripts" | "headers" | "data", _)) => continue,
            Some(_) => return Err(refused(format!("{} is none of a wheel's places", entry.path))),
        };
        claims.file(path, 0).map_err(|_| refused(format!("{path:?} is there twice")))?;
        files.push((at, path.to_owned()));
    }
    Ok(files)
}

/// Lines of `Key: value` until the first empty one.
struct Headers(Vec<(String, String)>);

impl Headers {
    fn read(text: &str) -> Self {
        let lines = text.lines().take_while(|line| !line.trim().is_empty());
        // A line that begins with a space goes on with the one before; no value that is read here is so long.
        let lines = lines.filter(|line| !line.starts_with([' ', '\t']));
        Self(
            lines
                .filter_map(|line| line.split_once(':'))
                .map(|(key, value)| (key.trim().to_ascii_lowercase(), value.trim().to_owned()))
                .collect(),
        )
    }

    fn all<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a str> {
        let key = key.to_ascii_lowercase();
        self.0.iter().filter(move |(is, _)| *is == key).map(|(_, value)| value.as_str())
    }

    fn first(&self, key: &str) -> Option<&str> {
        self.all(key).next()
    }
}
