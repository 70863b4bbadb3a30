//! A compiler for wasm32-wasip2 that also compiles C (QuickJS is C): a folder with `bin/rustc` and
//! `c.env`, linked as `.postern/wasm-toolchain`.
//!
//! rustup's target is taken where a C compiler for wasm is at hand, else Debian's packages are
//! unpacked into the cache (debian.rs). Either is tried out before it counts as ready.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::context::Context;
use crate::debian;
use crate::failure::{Because, Failure, Result};
use crate::process::{self, Log};
use crate::progress::Progress;
use crate::stamp;
use crate::step::{Acted, State, Step};

const TARGET: &str = "wasm32-wasip2";
/// Raised when the folder's contents change.
const RECIPE: &str = "1";
/// rustup's server may be out of reach; then there is another way and no reason to wait long.
const RUSTUP_LIMIT: Duration = Duration::from_secs(90);

pub(crate) struct Toolchain;

impl Step for Toolchain {
    fn name(&self) -> String {
        "wasm toolchain".into()
    }

    fn id(&self) -> &'static str {
        "wasm-toolchain"
    }

    fn check(&self, cx: &Context) -> Result<State> {
        let needed = |why: &str| Ok(State::Needed(why.into()));
        let Ok(dir) = fs::read_link(cx.local("wasm-toolchain")) else { return needed("not here yet") };
        let rustup = Source::rustup(cx)?;
        let source =
            [rustup, Some(Source::debian(cx))].into_iter().flatten().find(|source| source.dir == dir);
        let Some(source) = source else { return needed("the compilers it was made from have changed") };
        if let Err(why) = stamp::check(&dir, &source.key, cx.thorough) {
            return Ok(State::Needed(why));
        }
        match rustc_version(&dir) {
            Ok(version) => Ok(State::Right(format!("{version} ({})", source.word))),
            Err(_) => needed("its rustc does not run"),
        }
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let source = match Source::rustup(cx)? {
            Some(source) if from_rustup(&source, progress, log)? => source,
            _ => {
                let source = Source::debian(cx);
                if stamp::check(&source.dir, &source.key, false).is_err() {
                    debian::build(&source.dir, progress, log).map_err(|failure| failure.hint(NO_COMPILER))?;
                    finish(&source, progress, log)?;
                }
                source
            }
        };
        cx.link("wasm-toolchain", &source.dir)?;
        Ok(Acted::new(format!("{} ({})", rustc_version(&source.dir)?, source.word)))
    }
}

const NO_COMPILER: &str = "install the wasi-sdk and set WASI_SDK_PATH to it (any system; rustup then gives the rest), or \
     clang, llvm and wasi-libc (Debian), or set POSTERN_DEBIAN_MIRROR to a Debian archive that can be reached";

/// Where a toolchain can come from, and what its folder is called.
struct Source {
    word: &'static str,
    dir: PathBuf,
    key: String,
    c: Option<CCompiler>,
}

impl Source {
    /// rustup's compiler with a C compiler of this machine, if there is one.
    fn rustup(cx: &Context) -> Result<Option<Self>> {
        let Some(c) = CCompiler::find() else { return Ok(None) };
        let rustc = process::output(process::tool("rustc").current_dir(&cx.root).arg("-vV"))?;
        let clang = process::output(process::tool(&c.clang).arg("--version"))?;
        let key =
            stamp::sha256_parts([RECIPE.as_bytes(), rustc.as_bytes(), clang.as_bytes(), c.env().as_bytes()]);
        let dir = cx.cache.join(format!("wasm-rustup-{}", &key[..12]));
        Ok(Some(Self { word: "rustup", dir, key, c: Some(c) }))
    }

    fn debian(cx: &Context) -> Self {
        let key = stamp::sha256_parts([RECIPE.as_bytes(), debian::recipe().as_bytes()]);
        let dir = cx.cache.join(format!("wasm-debian-{}", &key[..12]));
        Self { word: "Debian", dir, key, c: None }
    }
}

/// A C compiler for wasm32-wasip2 that this machine has.
struct CCompiler {
    clang: PathBuf,
    ar: PathBuf,
    flags: String,
}

impl CCompiler {
    fn find() -> Option<Self> {
        if let Some(sdk) =
            std::env::var_os("WASI_SDK_PATH").filter(|path| !path.is_empty()).map(PathBuf::from)
        {
            let sysroot = sdk.join("share/wasi-sysroot");
            let flags = format!("--target={TARGET} --sysroot={}", sysroot.display());
            return Some(Self { clang: sdk.join("bin/clang"), ar: sdk.join("bin/llvm-ar"), flags });
        }
        let headers = ["/usr/include/wasm32-wasip2", "/usr/include/wasm32-wasi"];
        let headers = headers.iter().find(|dir| Path::new(dir).is_dir())?;
        let here = |name: &str| process::answers(Path::new(name)).then(|| PathBuf::from(name));
        let flags = format!("--target={TARGET} -isystem {headers}");
        Some(Self { clang: here("clang")?, ar: here("llvm-ar")?, flags })
    }

    fn env(&self) -> String {
        c_env(&self.clang, &self.ar, &self.flags)
    }
}

/// The variables that the `cc` crate reads, as a file for `set -a; . c.env`.
pub(crate) fn c_env(clang: &Path, ar: &Path, flags: &str) -> String {
    format!(
        "CC_wasm32_wasip2={}\nAR_wasm32_wasip2={}\nCFLAGS_wasm32_wasip2=\"{flags}\"\n",
        clang.display(),
        ar.display()
    )
}

/// Tries rustup's target. `false`: it cannot be had or does not work with this C compiler.
fn from_rustup(source: &Source, progress: &Progress, log: &Log) -> Result<bool> {
    if stamp::check(&source.dir, &source.key, false).is_ok() {
        return Ok(true);
    }
    let Some(c) = &source.c else { return Ok(false) };
    let mut rustup = process::tool("rustup");
    rustup.args(["target", "add", TARGET]);
    // rustup may be absent where the distribution's rustc has the target
    if let Err(failure) = log.run_for(&mut rustup, progress, Some(RUSTUP_LIMIT)) {
        log.line(&failure.to_string())?;
    }
    let libdir =
        process::output(process::tool("rustc").args(["--print", "target-libdir", "--target", TARGET]))?;
    if !Path::new(libdir.trim()).is_dir() {
        return Ok(false);
    }
    let sysroot = process::output(process::tool("rustc").args(["--print", "sysroot"]))?;
    let rustc = Path::new(sysroot.trim()).join("bin/rustc");
    let bin = source.dir.join("bin");
    let doing = || format!("writing {}", source.dir.display());
    let _ = fs::remove_dir_all(&source.dir);
    fs::create_dir_all(&bin).because(doing)?;
    script(&bin.join("rustc"), &format!("exec '{}' \"$@\"", rustc.display()))?;
    fs::write(source.dir.join("c.env"), c.env()).because(doing)?;
    if let Err(failure) = finish(source, progress, log) {
        log.line(&failure.to_string())?;
        let _ = fs::remove_dir_all(&source.dir);
        return Ok(false);
    }
    Ok(true)
}

/// Tries the toolchain out and stamps it.
fn finish(source: &Source, progress: &Progress, log: &Log) -> Result<()> {
    progress.note("trying the compilers out");
    try_out(&source.dir, progress, log)?;
    progress.note("noting every file's digest");
    stamp::write(&source.dir, &source.key)
}

/// Writes an executable shell script of one line.
pub(crate) fn script(path: &Path, line: &str) -> Result<()> {
    let doing = || format!("writing {}", path.display());
    fs::write(path, format!("#!/bin/sh\n{line}\n")).because(doing)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).because(doing)?;
    }
    Ok(())
}

fn rustc_version(dir: &Path) -> Result<String> {
    let text = process::output(process::tool(dir.join("bin/rustc")).arg("-V"))?;
    // rustc 1.97.1 (…) gives the first two words
    Ok(text.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
}

const MACRO: &str = "extern crate proc_macro;\n\
    #[proc_macro]\n\
    pub fn answer(_: proc_macro::TokenStream) -> proc_macro::TokenStream { \"40 + 2\".parse().unwrap() }\n";
const C_CODE: &str = "#include <math.h>\n#include <stdio.h>\n\
    int twice(int n) { printf(\"%f\\n\", sqrt(n)); return n * 2; }\n";
const GUEST: &str = "unsafe extern \"C\" { fn twice(n: i32) -> i32; }\n\
    fn main() { println!(\"{} {:?}\", unsafe { twice(answers::answer!()) }, std::time::Instant::now()); }\n";
const HOST: &str = "fn main() { print!(\"{}\", answers::answer!()) }\n";

/// Compiles what a guest with C code needs: a macro and a program for this machine (build scripts
/// are such), and a component that uses the macro and C. Needs no network.
fn try_out(dir: &Path, progress: &Progress, log: &Log) -> Result<()> {
    let work = dir.join(".try");
    let _ = fs::remove_dir_all(&work);
    let put = |name: &str, text: &str| fs::write(work.join(name), text).because(|| format!("writing {name}"));
    fs::create_dir_all(&work).because(|| format!("making {}", work.display()))?;
    put("macro.rs", MACRO)?;
    put("twice.c", C_CODE)?;
    put("guest.rs", GUEST)?;
    put("host.rs", HOST)?;
    let rustc = |args: &str| {
        let mut rustc = clean(process::tool(dir.join("bin/rustc")));
        rustc.current_dir(&work).args(["--edition", "2024"]).args(args.split(' '));
        rustc
    };
    let with_c = |line: &str| {
        let mut shell = clean(process::tool("sh"));
        shell.current_dir(&work).arg("-c").arg(format!("set -eu; . '{}/c.env'; {line}", dir.display()));
        shell
    };
    log.run(&mut rustc("--crate-type proc-macro --crate-name answers macro.rs"), progress)?;
    log.run(&mut rustc("--extern answers=libanswers.so host.rs -o host"), progress)?;
    let said = process::output(&mut process::tool(work.join("host")))?;
    if said != "42" {
        return Err(Failure::new(format!("a program compiled for this machine printed `{said}`, not 42")));
    }
    log.run(&mut with_c("$CC_wasm32_wasip2 $CFLAGS_wasm32_wasip2 -O -c twice.c -o twice.o"), progress)?;
    log.run(&mut with_c("$AR_wasm32_wasip2 rcs libtwice.a twice.o"), progress)?;
    let guest = "-O --target wasm32-wasip2 -L . -l static=twice --extern answers=libanswers.so guest.rs -o guest.wasm";
    log.run(&mut rustc(guest), progress)?;
    let wasm = fs::read(work.join("guest.wasm")).because(|| "reading the component".into())?;
    // "\0asm", version 13, layer 1: a component and not a core module
    if !wasm.starts_with(b"\0asm\x0d\0\x01\0") {
        return Err(Failure::new("what was compiled for wasm32-wasip2 is not a component"));
    }
    fs::remove_dir_all(&work).because(|| format!("removing {}", work.display()))
}

/// Flags meant for this machine's code must not reach the guest compiler.
fn clean(mut command: Command) -> Command {
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "LD_PRELOAD"] {
        command.env_remove(name);
    }
    command
}
