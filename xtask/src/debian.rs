//! The wasm toolchain out of Debian's archive, for machines that rustup's server cannot serve or that
//! have no C compiler for wasm. Packages are unpacked into one folder and never installed: a private
//! apt fetches them and checks their signatures, and wrappers run them with their own loader.
//!
//! Versions cannot be pinned: a mirror of Debian's testing keeps only the newest. What is pinned is the
//! rule that compiler and libraries are of one version; the result is tried out by the caller.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Because, Failure, Result};
use crate::process::{self, Log};
use crate::progress::Progress;
use crate::wasm;

/// Tried in this order. forky has a current rustc; trixie is stable and will always be there.
const SUITES: [&str; 2] = ["forky", "trixie"];
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";
/// Where a `rustlib/HOST/bin` holds the wasm linkers.
const TOOLS: &str = "usr/lib/rustlib/x86_64-unknown-linux-gnu/bin";
/// Unpacked and of no use to a compiler.
const NOT_NEEDED: [&str; 4] = ["usr/share", "etc", "usr/lib/x86_64-linux-gnu/gconv", "usr/bin/rustdoc"];

/// What this recipe makes, in a text that changes when it does.
pub(crate) fn recipe() -> String {
    format!("debian 1 {}", SUITES.join(" "))
}

/// Fills `dir` with `bin/rustc`, `bin/clang`, `bin/llvm-ar`, `c.env`, MANIFEST and the packages' files.
pub(crate) fn build(dir: &Path, progress: &Progress, log: &Log) -> Result<()> {
    possible(dir)?;
    let _ = fs::remove_dir_all(dir);
    fs::create_dir_all(dir).because(|| format!("making {}", dir.display()))?;
    let mirrors = mirrors()?;
    for suite in SUITES {
        for mirror in &mirrors {
            match from_suite(dir, suite, mirror, progress, log) {
                Ok(()) => return Ok(()),
                Err(failure) => log.line(&format!("{suite} of {mirror} does not do: {failure}"))?,
            }
            let _ = fs::remove_dir_all(dir.join("root"));
        }
    }
    let _ = fs::remove_dir_all(dir);
    Err(Failure::new(format!("none of Debian's {} gave a wasm toolchain", SUITES.join(", "))))
}

fn possible(dir: &Path) -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(Failure::new("there is no wasm C compiler here, and Debian's is for Linux on x86_64"));
    }
    let missing = ["apt-get", "apt-cache", "dpkg-deb", "cc"]
        .into_iter()
        .find(|name| !process::answers(Path::new(name)));
    if let Some(missing) = missing {
        return Err(Failure::new(format!(
            "there is no wasm C compiler here, and Debian's cannot be had without {missing}"
        )));
    }
    if !Path::new(KEYRING).exists() {
        return Err(Failure::new(format!("{KEYRING} is missing")).hint("install debian-archive-keyring"));
    }
    // the path is written into shell scripts and compiler flags
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if !dir.to_string_lossy().chars().all(plain) {
        return Err(Failure::new(format!("{} has characters that the wrappers cannot hold", dir.display()))
            .hint("set POSTERN_CACHE to a folder with a plain name"));
    }
    Ok(())
}

/// Addresses of Debian's archive, best first: the user's, then those that this machine's apt knows.
fn mirrors() -> Result<Vec<String>> {
    if let Ok(mirror) = std::env::var("POSTERN_DEBIAN_MIRROR") {
        return Ok(vec![mirror.trim_end_matches('/').to_string()]);
    }
    // knows the origin of each, but only after an `apt-get update`
    let known = ["indextargets", "--format", "$(ORIGIN) $(REPO_URI)", "Created-By: Packages"];
    let known = process::output(process::tool("apt-get").args(known)).unwrap_or_default();
    let listed =
        process::output(process::tool("apt-get").args(["update", "--print-uris"])).unwrap_or_default();
    let found = mirrors_in(&known, &listed);
    if found.is_empty() {
        return Err(Failure::new("this machine's apt sources name no Debian archive"));
    }
    Ok(found)
}

fn mirrors_in(known: &str, listed: &str) -> Vec<String> {
    let of_debian = known.lines().filter_map(|line| line.strip_prefix("Debian "));
    // 'http://host/debian/dists/bookworm/InRelease' host_debian_... 0
    let any =
        listed.lines().filter_map(|line| line.strip_prefix('\'')?.split_once("/dists/")).map(|(uri, _)| uri);
    let (named, other): (Vec<&str>, Vec<&str>) =
        any.partition(|uri| uri.trim_end_matches('/').ends_with("/debian"));
    let mut found: Vec<String> = Vec::new();
    for uri in of_debian.chain(named).chain(other) {
        let uri = uri.trim_end_matches('/');
        if !uri.contains("security") && !found.iter().any(|old| old == uri) {
            found.push(uri.to_string());
        }
    }
    found
}

fn from_suite(dir: &Path, suite: &str, mirror: &str, progress: &Progress, log: &Log) -> Result<()> {
    progress.note(&format!("reading the package list of {suite}"));
    let apt = Apt::open(dir.join(".apt"), suite, mirror, progress, log)?;
    let (packages, llvm) = choose(&apt)?;
    progress.note(&format!("fetching {} packages", packages.len()));
    let debs = apt.download(&packages, progress, log)?;
    let root = dir.join("root");
    fs::create_dir_all(&root).because(|| format!("making {}", root.display()))?;
    let mut manifest = format!("suite {suite}\n");
    for (number, deb) in debs.iter().enumerate() {
        progress.note(&format!("unpacking package {} of {}", number + 1, debs.len()));
        log.run(process::tool("dpkg-deb").arg("-x").arg(deb).arg(&root), progress)?;
        let name = deb.file_name().unwrap_or_default().to_string_lossy();
        manifest.push_str(&format!("{}  {name}\n", crate::stamp::sha256_file(deb)?));
    }
    for name in NOT_NEEDED {
        let path = root.join(name);
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    arrange(dir, &llvm)?;
    fs::write(dir.join("MANIFEST"), manifest).because(|| "writing MANIFEST".into())?;
    fs::remove_dir_all(dir.join(".apt")).because(|| "removing the private apt".into())
}

/// The packages, as apt's `name=version`, and LLVM's major version.
fn choose(apt: &Apt) -> Result<(Vec<String>, String)> {
    let of = |package: &str| {
        apt.candidate(package)?.ok_or_else(|| Failure::new(format!("it has no package {package}")))
    };
    let rustc = of("rustc")?;
    let versions = [rustc.clone(), of("libstd-rust-dev")?, of("libstd-rust-dev-wasm32")?];
    if versions.iter().any(|version| source_version(version) != source_version(&rustc)) {
        return Err(Failure::new(format!(
            "its compiler and libraries differ in version: {}",
            versions.join(", ")
        )));
    }
    let rust = ["libstd-rust-dev", "libstd-rust-dev-wasm32"];
    let llvm = apt
        .closure(&rust)?
        .iter()
        .find_map(|package| Some(package.strip_prefix("libllvm")?.split('=').next()?.to_string()))
        .ok_or_else(|| Failure::new("its rustc names no libllvm"))?;
    // the libraries with all they need, down to libc; the programs without what they depend on (a
    // compiler for this machine, which it has)
    let mut packages = apt.closure(&[rust[0], rust[1], &format!("lld-{llvm}")])?;
    packages.push(format!("rustc={rustc}"));
    packages.push(format!("rust-llvm={}", of("rust-llvm")?));
    packages.push("wasi-libc".into());
    for name in
        ["clang-{}", "libclang-cpp{}", "libclang-common-{}-dev", "libclang-rt-{}-dev-wasm32", "llvm-{}"]
    {
        packages.push(name.replace("{}", &llvm));
    }
    Ok((packages, llvm))
}

/// A package version without the suffix of a binary-only rebuild.
fn source_version(version: &str) -> &str {
    match version.rsplit_once("+b") {
        Some((source, rebuild)) if rebuild.chars().all(|c| c.is_ascii_digit()) => source,
        _ => version,
    }
}

/// Puts the wrappers in place.
fn arrange(dir: &Path, llvm: &str) -> Result<()> {
    let root = dir.join("root");
    let llvm_bin = root.join(format!("usr/lib/llvm-{llvm}/bin"));
    let tools = root.join(TOOLS);
    let libraries = root.join(LIBRARIES);
    let loader = ["lib64", "usr/lib64", LIBRARIES]
        .iter()
        .map(|folder| root.join(folder).join("ld-linux-x86-64.so.2"))
        .find(|path| path.exists())
        .ok_or_else(|| Failure::new("no dynamic loader was unpacked"))?;
    let wrap = |path: PathBuf, program: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).because(|| format!("making {}", parent.display()))?;
        }
        let _ = fs::remove_file(&path);
        let line = format!(
            "exec {} --inhibit-cache --library-path {} --argv0 {name} {} \"$@\"",
            loader.display(),
            libraries.display(),
            program.display()
        );
        wasm::script(&path, &line)
    };
    let lld = llvm_bin.join("lld");
    if !lld.exists() {
        return Err(Failure::new(format!("{} was not unpacked", lld.display())));
    }
    wrap(tools.join("wasm-component-ld"), &component_linker(&tools)?)?;
    wrap(tools.join("wasm-ld"), &lld)?;
    wrap(tools.join("rust-lld"), &lld)?;
    let _ = fs::remove_dir_all(tools.join("gcc-ld"));
    let bin = dir.join("bin");
    wrap(bin.join("rustc"), &root.join("usr/bin/rustc"))?;
    wrap(bin.join("clang"), &llvm_bin.join("clang"))?;
    wrap(bin.join("llvm-ar"), &llvm_bin.join("llvm-ar"))?;
    let sysroot = process::output(process::tool(bin.join("rustc")).args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()) != root.join("usr") {
        return Err(Failure::new(format!("its rustc takes {} for its own folder", sysroot.trim())));
    }
    let headers = ["wasm32-wasip2", "wasm32-wasi"]
        .iter()
        .map(|name| root.join("usr/include").join(name))
        .find(|path| path.is_dir())
        .ok_or_else(|| Failure::new("wasi-libc brought no headers"))?;
    let flags = format!(
        "--target=wasm32-wasip2 -resource-dir={} -isystem {}",
        root.join(format!("usr/lib/llvm-{llvm}/lib/clang/{llvm}")).display(),
        headers.display()
    );
    let path = dir.join("c.env");
    fs::write(&path, wasm::c_env(&bin.join("clang"), &bin.join("llvm-ar"), &flags))
        .because(|| format!("writing {}", path.display()))
}

/// The program that turns a core module into a component: packaged, or of any rustup toolchain.
/// Returns where it lies after making room for its wrapper.
fn component_linker(tools: &Path) -> Result<PathBuf> {
    let doing = || "taking wasm-component-ld over".to_string();
    let kept = tools.join("wasm-component-ld.bin");
    let packaged = tools.join("wasm-component-ld");
    if packaged.exists() {
        fs::rename(&packaged, &kept).because(doing)?;
        return Ok(kept);
    }
    let sysroot = process::output(process::tool("rustc").args(["--print", "sysroot"]))?;
    let theirs = Path::new(sysroot.trim()).join("lib/rustlib/x86_64-unknown-linux-gnu/bin/wasm-component-ld");
    fs::create_dir_all(tools).because(doing)?;
    fs::copy(theirs, &kept).because(doing)?;
    Ok(kept)
}

/// An apt of its own: own sources, own lists, and nothing counted as installed.
struct Apt {
    dir: PathBuf,
}

impl Apt {
    fn open(dir: PathBuf, suite: &str, mirror: &str, progress: &Progress, log: &Log) -> Result<Self> {
        let doing = || format!("making {}", dir.display());
        let _ = fs::remove_dir_all(&dir);
        for name in ["state", "lists/partial", "cache/archives/partial", "debs"] {
            fs::create_dir_all(dir.join(name)).because(doing)?;
        }
        fs::write(dir.join("status"), "").because(doing)?;
        // `signed-by`: whatever the mirror, only Debian's own keys count
        let source =
            format!("deb [arch=amd64 lang=none target=Packages signed-by={KEYRING}] {mirror} {suite} main\n");
        fs::write(dir.join("sources.list"), source).because(doing)?;
        let apt = Self { dir };
        log.run(apt.command("apt-get").args(["-o", "APT::Update::Error-Mode=any", "update"]), progress)?;
        Ok(apt)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = process::tool(program);
        let own = |name: &str| self.dir.join(name).display().to_string();
        command.env("LC_ALL", "C").arg("-q");
        for (option, value) in [
            ("Dir::Etc::sourcelist", own("sources.list")),
            ("Dir::Etc::sourceparts", "/dev/null".into()),
            ("Dir::Etc::preferences", "/dev/null".into()),
            ("Dir::Etc::preferencesparts", "/dev/null".into()),
            ("Dir::State", own("state")),
            ("Dir::State::lists", own("lists")),
            ("Dir::State::status", own("status")),
            ("Dir::Cache", own("cache")),
            ("Acquire::Languages", "none".into()),
            ("Acquire::Retries", "3".into()),
            ("APT::Architecture", "amd64".into()),
            ("APT::Architectures::", "amd64".into()),
            ("APT::Install-Recommends", "false".into()),
            ("APT::Default-Release", String::new()),
            // the folder may lie where apt's own user cannot go
            ("APT::Sandbox::User", "root".into()),
        ] {
            command.arg("-o").arg(format!("{option}={value}"));
        }
        command
    }

    fn candidate(&self, package: &str) -> Result<Option<String>> {
        let text = process::output(self.command("apt-cache").args(["policy", package]))?;
        Ok(candidate_in(&text).map(String::from))
    }

    /// The packages with everything they depend on, as `name=version`.
    fn closure(&self, packages: &[&str]) -> Result<Vec<String>> {
        let text = process::output(self.command("apt-get").args(["-s", "install"]).args(packages))?;
        Ok(installs_in(&text))
    }

    fn download(&self, packages: &[String], progress: &Progress, log: &Log) -> Result<Vec<PathBuf>> {
        let debs = self.dir.join("debs");
        log.run(self.command("apt-get").current_dir(&debs).arg("download").args(packages), progress)?;
        let doing = || format!("listing {}", debs.display());
        let mut files = Vec::new();
        for entry in fs::read_dir(&debs).because(doing)? {
            files.push(entry.because(doing)?.path());
        }
        files.retain(|file| file.extension().is_some_and(|end| end == "deb"));
        files.sort();
        Ok(files)
    }
}

/// The candidate version in the answer of `apt-cache policy`.
fn candidate_in(text: &str) -> Option<&str> {
    let version = text.lines().find_map(|line| line.trim().strip_prefix("Candidate:"))?.trim();
    (version != "(none)").then_some(version)
}

/// `Inst name (version suite [arch]) …` lines of a simulated installation, as `name=version`.
fn installs_in(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            let (name, rest) = line.strip_prefix("Inst ")?.split_once(' ')?;
            let version = rest.split('(').nth(1)?.split(' ').next()?;
            Some(format!("{}={version}", name.split(':').next()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_apt_are_read() {
        let policy = "rustc:\n  Installed: (none)\n  Candidate: 1.97.1+dfsg1-1\n  Version table:\n";
        assert_eq!(candidate_in(policy), Some("1.97.1+dfsg1-1"));
        assert_eq!(candidate_in("x:\n  Candidate: (none)\n"), None);
        assert_eq!(candidate_in(""), None);
        let simulated = "Reading...\nInst gcc-16-base (16.2.0-3 Debian:testing [amd64])\n\
            Inst libllvm22:amd64 (1:22.1.8-1+b2 Debian:testing [amd64]) []\nConf libllvm22 (1)\n";
        assert_eq!(installs_in(simulated), ["gcc-16-base=16.2.0-3", "libllvm22=1:22.1.8-1+b2"]);
    }

    #[test]
    fn a_rebuild_is_the_same_version() {
        assert_eq!(source_version("1:22.1.8-1+b2"), "1:22.1.8-1");
        assert_eq!(source_version("1.97.1+dfsg1-1"), "1.97.1+dfsg1-1");
        assert_eq!(source_version("1.0+beta"), "1.0+beta");
    }

    #[test]
    fn mirrors_come_best_first_once_and_without_the_security_archive() {
        let known =
            "Debian http://a/debian/\nDebian http://a/debian-security/\nDocker https://d/linux/debian\n";
        let listed = "'http://x/other/dists/s/InRelease' a 0\n'http://b/debian/dists/s/InRelease' b 0\n\
            'http://a/debian/dists/s/InRelease' c 0\n'http://b/debian-security/dists/s/InRelease' d 0\nnoise\n";
        assert_eq!(mirrors_in(known, listed), ["http://a/debian", "http://b/debian", "http://x/other"]);
    }
}
