//! Wheels: fetched by file name and sha256 from the package index that pip is set up for, and unpacked.
//! The work is done by fetch.py, since a fresh machine has Python and this crate has no HTTP client.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Because, Failure, Result};
use crate::process::{self, Log};
use crate::progress::Progress;

const SCRIPT: &str = include_str!("fetch.py");

/// One wheel: always the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wheel {
    pub(crate) file: String,
    pub(crate) sha256: String,
}

impl Wheel {
    /// Project and version, from the file name.
    pub(crate) fn project(&self) -> (String, String) {
        let mut parts = self.file.split('-');
        let name = parts.next().unwrap_or_default().replace(['_', '.'], "-").to_lowercase();
        (name, parts.next().unwrap_or_default().to_string())
    }
}

/// Which members of a wheel go where.
pub(crate) enum Rule<'a> {
    /// Members that match, without the prefix, below the folder.
    Tree { glob: &'a str, strip: &'a str, to: &'a str },
    /// Members that match, by their last name only, into the folder.
    Flat { glob: &'a str, to: &'a str },
}

impl Rule<'_> {
    fn json(&self) -> Value {
        match self {
            Self::Tree { glob, strip, to } => json!({ "match": glob, "strip": strip, "to": to }),
            Self::Flat { glob, to } => json!({ "match": glob, "to": to }),
        }
    }
}

/// The Python 3 of this machine: $POSTERN_PYTHON, else python3, else python.
pub(crate) fn python() -> Result<PathBuf> {
    let named = std::env::var_os("POSTERN_PYTHON").filter(|name| !name.is_empty()).map(PathBuf::from);
    let tried = named.map_or_else(|| vec!["python3".into(), "python".into()], |named| vec![named]);
    tried.into_iter().find(|program| is_python_3(program)).ok_or_else(|| {
        Failure::new("Python 3 was not found").hint(
            "install Python 3.8 or later as `python3`, or set POSTERN_PYTHON to it; set-up fetches wheels with it",
        )
    })
}

fn is_python_3(program: &Path) -> bool {
    process::tool(program)
        .args(["-c", "import sys; sys.exit(sys.version_info < (3, 8))"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Makes every wheel available and returns where each one is, in the order asked.
///
/// A wheel that lies in a folder of $POSTERN_WHEELS is used from there. What our own client cannot
/// get is tried once more with `pip download`, which knows more ways to log in.
pub(crate) fn fetch(cx: &Context, wheels: &[Wheel], progress: &Progress, log: &Log) -> Result<Vec<PathBuf>> {
    let to = cx.cache.join("downloads");
    let ready: Vec<String> = std::env::var_os("POSTERN_WHEELS")
        .map(|dirs| std::env::split_paths(&dirs).map(|dir| dir.to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    let request = json!({
        "op": "fetch",
        "to": to,
        "ready": ready,
        "wheels": wheels.iter().map(|w| json!({ "file": w.file, "sha256": w.sha256 })).collect::<Vec<_>>(),
    });
    // two set-ups must not write to one half-fetched file
    let _lock = cx.lock("downloads", progress)?;
    let files = match ask(&request, progress, log) {
        Ok(files) => files,
        Err(failure) => {
            log.line(&format!("{failure}\ntrying pip instead"))?;
            progress.note("trying pip instead");
            if wheels.iter().any(|wheel| pip_download(wheel, &to, progress, log).is_err()) {
                return Err(failure.hint(format!(
                    "is the package index reachable? Behind a mirror set PIP_INDEX_URL (or pip's configuration); \
                     without a network put these files into a folder and set POSTERN_WHEELS to it: {}. \
                     A broken download goes on where it stopped: run the command again",
                    wheels.iter().map(|wheel| wheel.file.as_str()).collect::<Vec<_>>().join(", ")
                )));
            }
            // the digests are compared once more, by the same code as always
            ask(&request, progress, log)?
        }
    };
    Ok(files)
}

/// Removes fetched wheels that have been unpacked; files of the user's own folders stay.
pub(crate) fn discard(cx: &Context, files: &[PathBuf]) {
    let ours = cx.cache.join("downloads");
    for file in files.iter().filter(|file| file.starts_with(&ours)) {
        // only disk space is at stake
        let _ = std::fs::remove_file(file);
    }
}

/// Unpacks the members that the rules choose; a rule that chooses none is an error.
pub(crate) fn unpack(wheel: &Path, to: &Path, rules: &[Rule], progress: &Progress, log: &Log) -> Result<()> {
    let rules: Vec<Value> = rules.iter().map(Rule::json).collect();
    let request = json!({ "op": "unpack", "wheel": wheel, "to": to, "rules": rules });
    ask(&request, progress, log)?;
    Ok(())
}

/// Runs fetch.py on one request; returns the files it reported as ready.
fn ask(request: &Value, progress: &Progress, log: &Log) -> Result<Vec<PathBuf>> {
    let mut command = process::tool(python()?);
    command.arg("-c").arg(SCRIPT).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log.end()?);
    let doing = || "running fetch.py".to_string();
    let mut child = command.spawn().because(doing)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(request.to_string().as_bytes()).because(doing)?;
    }
    let mut files = Vec::new();
    let stdout = child.stdout.take().ok_or_else(|| Failure::new("fetch.py has no stdout"))?;
    for line in BufReader::new(stdout).lines() {
        let line = line.because(doing)?;
        let told: Value = serde_json::from_str(&line).because(|| format!("fetch.py said {line}"))?;
        if let Some(path) = told["ready"].as_str() {
            files.push(path.into());
        } else if let (Some(phase), Some(file)) = (told["phase"].as_str(), told["file"].as_str()) {
            let project = file.split('-').next().unwrap_or(file);
            let number = |key: &str| told[key].as_u64().unwrap_or(0);
            progress.bytes(&format!("{phase} {project}"), number("done"), number("total"));
        }
    }
    let status = child.wait().because(doing)?;
    if status.success() {
        Ok(files)
    } else {
        Err(Failure::new("fetching or unpacking failed").log(log.path()))
    }
}

fn pip_download(wheel: &Wheel, to: &Path, progress: &Progress, log: &Log) -> Result<()> {
    let (name, version) = wheel.project();
    let list = to.join(format!("{}.txt", &wheel.sha256[..16]));
    std::fs::write(&list, format!("{name}=={version} --hash=sha256:{}\n", wheel.sha256))
        .because(|| format!("writing {}", list.display()))?;
    let mut pip: Command = process::tool(python()?);
    pip.args(["-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:"]);
    pip.args(pip_tags(&wheel.file)).arg("--dest").arg(to).arg("-r").arg(&list);
    let result = log.run(&mut pip, progress);
    let _ = std::fs::remove_file(&list);
    result
}

/// The options that make pip take this very wheel whatever Python it runs on.
fn pip_tags(file: &str) -> Vec<String> {
    let stem = file.strip_suffix(".whl").unwrap_or(file);
    let mut tags = stem.rsplit('-');
    let (platform, abi, python) =
        (tags.next().unwrap_or("any"), tags.next().unwrap_or("none"), tags.next().unwrap_or("py3"));
    let mut options = Vec::new();
    for name in platform.split('.') {
        options.extend(["--platform".to_string(), name.to_string()]);
    }
    options.extend(["--abi".to_string(), abi.to_string()]);
    if let Some(version) = python.strip_prefix("cp") {
        options.extend(["--implementation", "cp", "--python-version", version].map(String::from));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wheel(file: &str) -> Wheel {
        Wheel { file: file.into(), sha256: "0".repeat(64) }
    }

    #[test]
    fn a_wheel_name_gives_project_and_version() {
        let (name, version) = wheel("nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl").project();
        assert_eq!((name.as_str(), version.as_str()), ("nvidia-cuda-cupti", "13.0.85"));
    }

    #[test]
    fn pip_is_told_every_tag_of_the_wheel() {
        assert_eq!(
            pip_tags("torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl").join(" "),
            "--platform manylinux_2_28_x86_64 --abi cp311 --implementation cp --python-version 311"
        );
        assert_eq!(
            pip_tags("a-1-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl").join(" "),
            "--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 --abi none"
        );
    }
}
