//! The Python runner: CPython, its library and guest-sdk/python as one component, made by componentize-py. It is
//! shared between clones, since it takes half a minute, and `.postern/runners/python.wasm` is a link to it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::failure::{Because, Failure, Result};
use crate::fetch::{self, Rule, Wheel};
use crate::process::{self, Log};
use crate::progress::Progress;
use crate::stamp;
use crate::step::{Acted, State, Step};

/// What the component is made from.
const SOURCES: [&str; 3] = ["guest-sdk/python/src", "guest-sdk/python/wit", "wit"];
const COMPONENT: &str = "python.wasm";
const LINK: &str = "runners/python.wasm";
/// Raised when the same sources are to be built in another way.
const RECIPE: &str = "1";
/// componentize-py holds CPython 3.14 and all of its library.
const COMPONENTIZE: [(&str, &str, &str, &str); 4] = [
    (
        "linux",
        "x86_64",
        "componentize_py-0.25.1-cp39-abi3-manylinux_2_28_x86_64.whl",
        "8623cd8cab8453cb0cd8bf03f3c7103420d06f2f3d360186a280a70a1ca5e89f",
    ),
    (
        "linux",
        "aarch64",
        "componentize_py-0.25.1-cp39-abi3-manylinux_2_28_aarch64.whl",
        "7b6a87c520358166843af0daa86d2312d7af4cbcbbf1e598951085cf7f2991ca",
    ),
    (
        "macos",
        "aarch64",
        "componentize_py-0.25.1-cp39-abi3-macosx_11_0_arm64.whl",
        "a556991534cc496207a9d2ca733c4b0f17ed38ef56a8d6b5f1847fdf1225dd1b",
    ),
    (
        "macos",
        "x86_64",
        "componentize_py-0.25.1-cp39-abi3-macosx_10_12_x86_64.whl",
        "65fbc4a94df1de8acf7da50a1f5ed1711230188844e53e6332d99029be4e0afa",
    ),
];
/// Time zones; the component keeps them in its memory.
const TZDATA: (&str, &str) = (
    "tzdata-2026.6-py2.py3-none-any.whl",
    "0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec",
);
/// componentize-py is no module that can be run, but a function.
const PROGRAM: &str =
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import componentize_py; componentize_py.script()";

/// The component.
pub(crate) struct PythonRunner;

fn wheels() -> Result<[Wheel; 2]> {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let ours = COMPONENTIZE.iter().find(|wheel| (wheel.0, wheel.1) == (os, arch));
    let (_, _, file, sha256) =
        ours.ok_or_else(|| Failure::new(format!("there is no componentize-py for {os} on {arch}")))?;
    let wheel = |file: &str, sha256: &str| Wheel { file: file.into(), sha256: sha256.into() };
    Ok([wheel(file, sha256), wheel(TZDATA.0, TZDATA.1)])
}

impl PythonRunner {
    /// Follows from the sources and the wheels.
    fn key(cx: &Context) -> Result<String> {
        let sources = stamp::sha256_sources(&cx.root, &SOURCES)?;
        let [componentize, tzdata] = wheels()?;
        let parts = [&sources, &componentize.sha256, &tzdata.sha256].map(|part| part.as_bytes());
        Ok(stamp::sha256_parts(parts.into_iter().chain([RECIPE.as_bytes()])))
    }

    fn dir(cx: &Context, key: &str) -> PathBuf {
        cx.cache.join(format!("python-runner-{}", &key[..12]))
    }
}

impl Step for PythonRunner {
    fn name(&self) -> String {
        "Python runner".into()
    }

    fn id(&self) -> &'static str {
        "python-runner"
    }

    fn check(&self, cx: &Context) -> Result<State> {
        let key = Self::key(cx)?;
        let dir = Self::dir(cx, &key);
        Ok(match stamp::check(&dir, &key, cx.thorough) {
            Err(why) => State::Needed(why),
            Ok(()) if !cx.is_linked(LINK, &dir.join(COMPONENT)) => State::Needed("not here yet".into()),
            Ok(()) => State::Right(dir.join(COMPONENT).display().to_string()),
        })
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let key = Self::key(cx)?;
        let dir = Self::dir(cx, &key);
        let component = dir.join(COMPONENT);
        if stamp::check(&dir, &key, cx.thorough).is_err() {
            let fresh = dir.with_extension("partial");
            let _ = fs::remove_dir_all(&fresh);
            fs::create_dir_all(&fresh).because(|| format!("making {}", fresh.display()))?;
            let tools = fresh.join("tools");
            for wheel in fetch::fetch(cx, &wheels()?, progress, log)? {
                let everything = [Rule::Tree { glob: "*", strip: "", to: "." }];
                fetch::unpack(&wheel, &tools, &everything, progress, log)?;
            }
            // CPython puts compiled files beside the sources it imports: it gets sources of its own.
            let app = fresh.join("app");
            copy_sources(&cx.root.join("guest-sdk/python/src"), &app)?;
            progress.note("componentize-py");
            let mut build = process::tool(fetch::python()?);
            build.current_dir(&cx.root).args(["-c", PROGRAM]).arg(&tools);
            for wit in ["wit", "guest-sdk/python/wit/clocks.wit", "guest-sdk/python/wit/python-runner.wit"] {
                build.args(["-d", wit]);
            }
            build.args(["-w", "postern:python-runner/python-runner@0.1.0", "componentize", "app"]);
            build.arg("-p").arg(&app).arg("-p").arg(&tools);
            build.arg("-o").arg(fresh.join(COMPONENT));
            // It would look for more modules there.
            build.env_remove("VIRTUAL_ENV").env("PYTHONDONTWRITEBYTECODE", "1");
            log.run(&mut build, progress)?;
            for used in [&tools, &app] {
                fs::remove_dir_all(used).because(|| format!("removing {}", used.display()))?;
            }
            // The wheels stay in the cache: the sources change far more often than they do.
            stamp::settle(&fresh, &dir, &key)?;
        }
        cx.link(LINK, &component)?;
        let bytes = fs::metadata(&component).because(|| format!("reading {}", component.display()))?.len();
        Ok(Acted::new(format!("{} ({:.1} MB)", component.display(), bytes as f64 / 1e6)))
    }
}

/// Copies a folder of sources, without what Python compiled there.
fn copy_sources(from: &Path, to: &Path) -> Result<()> {
    let doing = || format!("copying {}", from.display());
    fs::create_dir_all(to).because(doing)?;
    for entry in fs::read_dir(from).because(doing)? {
        let entry = entry.because(doing)?;
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().because(doing)?.is_dir() {
            if name != "__pycache__" {
                copy_sources(&path, &to.join(name))?;
            }
        } else {
            fs::copy(&path, to.join(name)).because(doing)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn sources_are_copied_without_what_was_compiled() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(from.path().join("a/__pycache__")).unwrap();
        fs::write(from.path().join("a/b.py"), "1").unwrap();
        fs::write(from.path().join("a/__pycache__/b.pyc"), "2").unwrap();
        copy_sources(from.path(), &to.path().join("copy")).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("copy/a/b.py")).unwrap(), "1");
        assert!(!to.path().join("copy/a/__pycache__").exists());
    }

    #[test]
    fn every_wheel_is_of_one_version_and_pinned() {
        for (_, _, file, sha256) in COMPONENTIZE {
            let wheel = Wheel { file: file.into(), sha256: sha256.into() };
            assert_eq!(wheel.project(), ("componentize-py".to_string(), "0.25.1".to_string()));
            assert_eq!(sha256.len(), 64);
        }
    }
}
