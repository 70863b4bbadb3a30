//! libtorch 2.11: the user's own where LIBTORCH names one, else taken out of PyPI's wheels. Ends in
//! the link `.postern/libtorch`, which .cargo/config.toml shows to every build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::context::Context;
use crate::failure::{Because, Failure, Result};
use crate::fetch::{self, Rule, Wheel};
use crate::process::{self, Log};
use crate::progress::Progress;
use crate::stamp;
use crate::step::{Acted, State, Step};

const VERSION: &str = "2.11.0";
/// Raised when the folder's layout changes.
const RECIPE: &str = "1";
const LOCK: &str = include_str!("../libtorch.lock");
/// libtorch_cpu.so needs no more than its neighbours; the wheel's own libtorch.so needs libtorch_cuda.
const LINKER_SCRIPT: &str = "INPUT ( libtorch_cpu.so libc10.so )\n";

pub(crate) struct Libtorch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Cpu,
    Cuda,
}

impl Set {
    fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        }
    }

    fn wheels(self) -> Vec<Wheel> {
        wheels(LOCK, self)
    }

    /// The key that everything in the folder follows from.
    fn key(self) -> String {
        let wheels = self.wheels();
        let digests = wheels.iter().map(|wheel| wheel.sha256.as_bytes());
        stamp::sha256_parts(
            [VERSION.as_bytes(), self.word().as_bytes(), RECIPE.as_bytes()].into_iter().chain(digests),
        )
    }

    fn dir(self, cx: &Context) -> PathBuf {
        cx.cache.join(format!("libtorch-{VERSION}-{}-{}", self.word(), &self.key()[..12]))
    }

    fn check(self, cx: &Context) -> std::result::Result<(), String> {
        stamp::check(&self.dir(cx), &self.key(), cx.thorough)
    }
}

/// CUDA when asked for or when a driver is there.
fn wanted(cx: &Context) -> Set {
    if cx.cuda || driver_present() { Set::Cuda } else { Set::Cpu }
}

fn driver_present() -> bool {
    let libraries = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/lib/wsl/lib",
        "/usr/local/nvidia/lib64",
    ];
    Path::new("/proc/driver/nvidia/version").exists()
        || libraries.iter().any(|dir| Path::new(dir).join("libcuda.so.1").exists())
}

impl Step for Libtorch {
    fn name(&self) -> String {
        "libtorch".into()
    }

    fn id(&self) -> &'static str {
        "libtorch"
    }

    fn check(&self, cx: &Context) -> Result<State> {
        if let Some(theirs) = &cx.user_libtorch {
            accept(theirs).map_err(|why| wrong_libtorch(theirs, &why))?;
            let note = format!("{VERSION} of LIBTORCH={}", theirs.display());
            let linked = cx.is_linked("libtorch", theirs);
            return Ok(if linked { State::Right(note) } else { State::Needed("not here yet".into()) });
        }
        // one of the user's that an earlier set-up linked to
        let link = cx.local("libtorch");
        if let Ok(target) = fs::read_link(&link)
            && !target.starts_with(&cx.cache)
            // made by set-up, in another cache folder
            && !target.join(stamp::FILE).exists()
            && !cx.cuda
            && accept(&link).is_ok()
        {
            return Ok(State::Right(format!("{VERSION} in {}", target.display())));
        }
        let set = wanted(cx);
        // the CUDA set does all that the CPU set does
        let better =
            set == Set::Cpu && cx.is_linked("libtorch", &Set::Cuda.dir(cx)) && Set::Cuda.check(cx).is_ok();
        let set = if better { Set::Cuda } else { set };
        if let Err(why) = set.check(cx) {
            return Ok(State::Needed(why));
        }
        if !cx.is_linked("libtorch", &set.dir(cx)) {
            return Ok(State::Needed("not here yet".into()));
        }
        Ok(State::Right(format!("{VERSION} ({}) in {}", set.word(), set.dir(cx).display())))
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        if let Some(theirs) = &cx.user_libtorch {
            cx.link("libtorch", theirs)?;
            return Ok(Acted::new(format!("{VERSION} of LIBTORCH={}", theirs.display())));
        }
        if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
            return Err(Failure::new("libtorch is fetched only for Linux with glibc on x86_64").hint(format!(
                "install libtorch {VERSION} (or PyTorch {VERSION}) and set LIBTORCH to the folder that holds its \
                 lib and include; or build with tch's feature `download-libtorch`"
            )));
        }
        let set = wanted(cx);
        let dir = set.dir(cx);
        if set.check(cx).is_err() {
            build(cx, set, &dir, progress, log)?;
        }
        cx.link("libtorch", &dir)?;
        Ok(Acted::new(format!("{VERSION} ({}) in {}", set.word(), dir.display())))
    }
}

fn build(cx: &Context, set: Set, dir: &Path, progress: &Progress, log: &Log) -> Result<()> {
    let wheels = set.wheels();
    let files = fetch::fetch(cx, &wheels, progress, log)?;
    let fresh = dir.with_extension("partial");
    let _ = fs::remove_dir_all(&fresh);
    let put = |name: &str, text: &str| {
        let path = fresh.join(name);
        fs::write(&path, text).because(|| format!("writing {}", path.display()))
    };
    for (wheel, file) in wheels.iter().zip(&files) {
        fetch::unpack(file, &fresh, &rules(set, &wheel.project().0), progress, log)?;
    }
    match set {
        Set::Cpu => put("lib/libtorch.so", LINKER_SCRIPT)?,
        Set::Cuda => {
            compare_with_metadata(&fresh, &wheels)?;
            fs::remove_dir_all(fresh.join("unused")).because(|| "removing what is for Python only".into())?;
        }
    }
    put("build-version", &format!("{VERSION}+{}\n", if set == Set::Cuda { "cu130" } else { "cpu" }))?;
    accept(&fresh).map_err(Failure::new)?;
    progress.note("loading the libraries");
    load(&fresh.join("lib/libtorch_cpu.so"))?;
    progress.note("noting every file's digest");
    stamp::settle(&fresh, dir, &set.key())?;
    fetch::discard(cx, &files);
    Ok(())
}

/// What is taken out of a wheel, by its project.
fn rules(set: Set, project: &str) -> Vec<Rule<'static>> {
    let headers = Rule::Tree { glob: "torch/include/*", strip: "torch/", to: "." };
    match (project, set) {
        ("torch", Set::Cpu) => vec![
            headers,
            Rule::Flat { glob: "torch/lib/libtorch_cpu.so", to: "lib" },
            Rule::Flat { glob: "torch/lib/libc10.so", to: "lib" },
            Rule::Flat { glob: "torch/lib/libgomp.so.1", to: "lib" },
        ],
        ("torch", Set::Cuda) => vec![
            headers,
            // for Python only, and would need it
            Rule::Flat { glob: "torch/lib/libtorch_python.so", to: "unused" },
            Rule::Flat { glob: "torch/lib/*.so*", to: "lib" },
            Rule::Flat { glob: "torch-*.dist-info/METADATA", to: "metadata/torch" },
        ],
        ("cuda-toolkit", _) => vec![Rule::Flat { glob: "*.dist-info/METADATA", to: "metadata/cuda-toolkit" }],
        // the two that libtorch_cpu.so names
        ("nvidia-cuda-cupti", Set::Cpu) => vec![Rule::Flat { glob: "nvidia/*/lib/libcupti.so.*", to: "lib" }],
        ("nvidia-cuda-runtime", Set::Cpu) => {
            vec![Rule::Flat { glob: "nvidia/*/lib/libcudart.so.*", to: "lib" }]
        }
        // all in one folder: the libraries look for each other beside themselves ($ORIGIN)
        _ => vec![Rule::Flat { glob: "nvidia/*/lib/*.so*", to: "lib" }],
    }
}

/// The wheels of a set, from the lock file's text.
fn wheels(lock: &str, set: Set) -> Vec<Wheel> {
    lock.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (row, sha256, file) = (words.next()?, words.next()?, words.next()?);
            (row == "cpu" || row == set.word()).then(|| Wheel { file: file.into(), sha256: sha256.into() })
        })
        .collect()
}

/// The lock file must hold what torch's own metadata asks for, or a library would be missing at run time.
fn compare_with_metadata(dir: &Path, wheels: &[Wheel]) -> Result<()> {
    let read = |project: &str| {
        let path = dir.join("metadata").join(project).join("METADATA");
        fs::read_to_string(&path).because(|| format!("reading {}", path.display()))
    };
    let torch = read("torch")?;
    let mut asked = pins(&torch, &[]);
    let toolkit = read("cuda-toolkit")?;
    asked.extend(pins(&toolkit, &extras(&torch, "cuda-toolkit")));
    let have: Vec<(String, String)> = wheels.iter().map(Wheel::project).collect();
    match asked.iter().find(|asked| !have.iter().any(|have| fits(have, asked))) {
        Some((name, version)) => {
            Err(Failure::new(format!("torch asks for {name} {version}; xtask/libtorch.lock has another")))
        }
        None => Ok(()),
    }
}

fn fits(have: &(String, String), asked: &(String, String)) -> bool {
    have.0 == asked.0
        && match asked.1.strip_suffix(".*") {
            Some(start) => have.1 == start || have.1.starts_with(&format!("{start}.")),
            None => have.1 == asked.1,
        }
}

/// The requirements on NVIDIA's wheels that are pinned to one version and hold on Linux with these extras.
fn pins(metadata: &str, extras: &[String]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in metadata.lines().filter_map(|line| line.strip_prefix("Requires-Dist: ")) {
        let (what, marker) = line.split_once(';').unwrap_or((line, ""));
        let Some((name, version)) = what.split_once("==") else { continue };
        let name = name.split('[').next().unwrap_or(name).trim();
        let windows_only = marker.contains("win32") && !marker.contains("linux");
        let extra = marker.split_once("extra ==").map(|(_, extra)| quoted(extra));
        let chosen = extra.is_none_or(|extra| extras.contains(&extra));
        if (name.starts_with("nvidia-") || name == "cuda-toolkit") && chosen && !windows_only {
            found.push((name.to_string(), version.trim().to_string()));
        }
    }
    found
}

/// The extras that a requirement asks for: `name[a,b]==1` gives a and b.
fn extras(metadata: &str, project: &str) -> Vec<String> {
    metadata
        .lines()
        .filter_map(|line| line.strip_prefix("Requires-Dist: ")?.strip_prefix(project)?.strip_prefix('['))
        .filter_map(|rest| rest.split_once(']'))
        .flat_map(|(list, _)| list.split(',').map(|extra| extra.trim().to_string()))
        .collect()
}

fn quoted(text: &str) -> String {
    text.trim_start()
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|c| !matches!(c, '"' | '\''))
        .collect()
}

/// Whether a folder is a libtorch of the version that tch is made for; `Err` says why not.
fn accept(dir: &Path) -> std::result::Result<(), String> {
    let version = version_of(dir).ok_or("it holds neither build-version nor torch's version.h")?;
    if version.split('+').next() != Some(VERSION) {
        return Err(format!("it is libtorch {version}, and {VERSION} is needed"));
    }
    let found = ["libtorch_cpu.so", "libtorch_cpu.dylib", "torch_cpu.lib"]
        .iter()
        .any(|name| dir.join("lib").join(name).exists());
    if found { Ok(()) } else { Err("its lib folder holds no libtorch_cpu".into()) }
}

fn version_of(dir: &Path) -> Option<String> {
    if let Ok(text) = fs::read_to_string(dir.join("build-version")) {
        return Some(text.trim().to_string());
    }
    ["include/torch/headeronly/version.h", "include/torch/csrc/api/include/torch/version.h"]
        .iter()
        .find_map(|name| version_in_header(&fs::read_to_string(dir.join(name)).ok()?))
}

fn version_in_header(text: &str) -> Option<String> {
    let part = |name: &str| {
        let line =
            text.lines().find_map(|line| line.strip_prefix("#define TORCH_VERSION_")?.strip_prefix(name))?;
        line.trim().parse::<u32>().ok()
    };
    Some(format!("{}.{}.{}", part("MAJOR ")?, part("MINOR ")?, part("PATCH ")?))
}

fn wrong_libtorch(dir: &Path, why: &str) -> Failure {
    Failure::new(format!("LIBTORCH={} cannot be used: {why}", dir.display()))
        .hint(format!("set LIBTORCH to a libtorch {VERSION}, or unset it and set-up fetches one"))
}

/// Loads a library with everything it needs, in another process.
fn load(library: &Path) -> Result<()> {
    let mut python = process::tool(fetch::python()?);
    python.args(["-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])"]).arg(library).stdout(Stdio::null());
    process::output(&mut python).map(drop).map_err(|failure| {
        Failure::new(format!("{} does not load: {failure}", library.display()))
            .hint("glibc 2.28 or later and libstdc++ are needed (Debian: libstdc++6)")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_lock_file_gives_both_sets_with_whole_digests() {
        let cpu = wheels(LOCK, Set::Cpu);
        let names: Vec<String> = cpu.iter().map(|wheel| wheel.project().0).collect();
        assert_eq!(names, ["torch", "nvidia-cuda-cupti", "nvidia-cuda-runtime"]);
        let cuda = wheels(LOCK, Set::Cuda);
        assert!(cuda.starts_with(&cpu) && cuda.len() > 12);
        assert!(cuda.iter().all(|wheel| wheel.sha256.len() == 64 && wheel.file.ends_with(".whl")));
        assert_ne!(Set::Cpu.key(), Set::Cuda.key());
    }

    const TORCH: &str = "Name: torch\nRequires-Dist: filelock\n\
        Requires-Dist: cuda-toolkit[cublas,cudart]==13.0.2; platform_system == \"Linux\"\n\
        Requires-Dist: nvidia-nccl-cu13==2.28.9; platform_system == \"Linux\"\n\
        Requires-Dist: triton==3.6.0; platform_system == \"Linux\"\n";
    const TOOLKIT: &str = "Requires-Dist: nvidia-cublas==13.1.0.3.*; (sys_platform == \"win32\" or sys_platform == \"linux\") and extra == \"cublas\"\n\
        Requires-Dist: nvidia-npp==1.*; extra == 'npp'\n\
        Requires-Dist: nvidia-cuda-runtime==13.0.96.*; sys_platform == \"linux\" and extra == \"cudart\"\n";

    #[test]
    fn what_the_metadata_asks_for_is_read_through_the_toolkit() {
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(pins(TORCH, &[]), [pair("cuda-toolkit", "13.0.2"), pair("nvidia-nccl-cu13", "2.28.9")]);
        assert_eq!(extras(TORCH, "cuda-toolkit"), ["cublas", "cudart"]);
        let asked = pins(TOOLKIT, &extras(TORCH, "cuda-toolkit"));
        assert_eq!(asked, [pair("nvidia-cublas", "13.1.0.3.*"), pair("nvidia-cuda-runtime", "13.0.96.*")]);
    }

    #[test]
    fn a_set_that_lacks_what_the_metadata_asks_for_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for (project, text) in [("torch", TORCH), ("cuda-toolkit", TOOLKIT)] {
            let folder = dir.path().join("metadata").join(project);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("METADATA"), text).unwrap();
        }
        let all = wheels(LOCK, Set::Cuda);
        compare_with_metadata(dir.path(), &all).unwrap();
        let fewer: Vec<Wheel> = all.into_iter().filter(|wheel| !wheel.file.contains("cublas")).collect();
        let refused = compare_with_metadata(dir.path(), &fewer).unwrap_err().to_string();
        assert!(refused.contains("nvidia-cublas 13.1.0.3.*"), "{refused}");
    }

    #[test]
    fn a_libtorch_of_another_version_is_refused_with_its_version() {
        let dir = tempfile::tempdir().unwrap();
        assert!(accept(dir.path()).unwrap_err().contains("build-version"));
        let header = dir.path().join("include/torch/headeronly");
        fs::create_dir_all(&header).unwrap();
        let text = |minor| {
            format!(
                "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR {minor}\n#define TORCH_VERSION_PATCH 0\n"
            )
        };
        fs::write(header.join("version.h"), text(12)).unwrap();
        assert_eq!(accept(dir.path()).unwrap_err(), "it is libtorch 2.12.0, and 2.11.0 is needed");
        fs::write(header.join("version.h"), text(11)).unwrap();
        assert_eq!(accept(dir.path()).unwrap_err(), "its lib folder holds no libtorch_cpu");
        fs::create_dir(dir.path().join("lib")).unwrap();
        fs::write(dir.path().join("lib/libtorch_cpu.so"), "").unwrap();
        accept(dir.path()).unwrap();
        fs::write(dir.path().join("build-version"), "2.10.0+cpu\n").unwrap();
        assert!(accept(dir.path()).is_err());
    }
}
