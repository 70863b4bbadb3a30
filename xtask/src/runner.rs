//! The JavaScript runner: the guest compiled to a component (shared between clones, since it takes a
//! minute), then pre-initialised into `.postern/runners/js.wasm`.

use std::fs;
use std::path::PathBuf;

use crate::context::Context;
use crate::failure::{Because, Failure, Result};
use crate::process::{self, Log};
use crate::progress::Progress;
use crate::stamp;
use crate::step::{Acted, State, Step};

/// What the guest is made from.
const SOURCES: [&str; 2] = ["guest-sdk/js", "wit"];
const COMPONENT: &str = "guest.wasm";

/// The guest as cargo compiles it.
pub(crate) struct JsGuest;

impl JsGuest {
    /// Follows from the sources, their lock file and the compilers.
    fn key(cx: &Context) -> Result<String> {
        let sources = stamp::sha256_sources(&cx.root, &SOURCES)?;
        Ok(stamp::sha256_parts([sources.as_bytes(), toolchain_key(cx)?.as_bytes()]))
    }

    fn dir(cx: &Context, key: &str) -> PathBuf {
        cx.cache.join(format!("js-guest-{}", &key[..12]))
    }
}

fn toolchain_key(cx: &Context) -> Result<String> {
    let toolchain = cx.local("wasm-toolchain");
    let version = process::output(process::tool(toolchain.join("bin/rustc")).arg("-vV"))?;
    let c = fs::read(toolchain.join("c.env")).because(|| "reading the wasm toolchain's c.env".into())?;
    Ok(stamp::sha256_parts([version.as_bytes(), &c]))
}

impl Step for JsGuest {
    fn name(&self) -> String {
        "JavaScript guest".into()
    }

    fn id(&self) -> &'static str {
        "js-guest"
    }

    fn check(&self, cx: &Context) -> Result<State> {
        let key = Self::key(cx)?;
        let dir = Self::dir(cx, &key);
        match stamp::check(&dir, &key, cx.thorough) {
            Ok(()) => Ok(State::Right(dir.join(COMPONENT).display().to_string())),
            Err(why) => Ok(State::Needed(why)),
        }
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let key = Self::key(cx)?;
        let dir = Self::dir(cx, &key);
        let fresh = dir.with_extension("partial");
        let _ = fs::remove_dir_all(&fresh);
        fs::create_dir_all(&fresh).because(|| format!("making {}", fresh.display()))?;
        let toolchain =
            fs::read_link(cx.local("wasm-toolchain")).because(|| "finding the wasm toolchain".into())?;
        let mut build = process::tool("sh");
        build
            .current_dir(&cx.root)
            .arg("guest-sdk/js/build.sh")
            .arg(&toolchain)
            .arg(fresh.join(COMPONENT))
            // one folder for each compiler: cargo would build everything again after a change anyway
            .env(
                "POSTERN_JS_TARGET_DIR",
                cx.cache.join(format!("guest-target-{}", &toolchain_key(cx)?[..12])),
            )
            .env("CARGO_TERM_COLOR", "never")
            // those of the cargo that runs us are about this machine's code
            .env_remove("CARGO_BUILD_TARGET")
            .env_remove("RUSTUP_TOOLCHAIN");
        log.run(&mut build, progress)?;
        stamp::settle(&fresh, &dir, &key)?;
        Ok(Acted::new(dir.join(COMPONENT).display().to_string()))
    }
}

/// The guest after its start-up, frozen.
pub(crate) struct JsRunner;

impl JsRunner {
    fn component(cx: &Context) -> Result<PathBuf> {
        Ok(JsGuest::dir(cx, &JsGuest::key(cx)?).join(COMPONENT))
    }

    /// Follows from the guest and the program that freezes it.
    fn key(cx: &Context) -> Result<String> {
        let guest = stamp::sha256_file(&Self::component(cx)?)?;
        let program = stamp::sha256_file(&cx.binary("postern-snapshot")?)?;
        Ok(stamp::sha256_parts([guest.as_bytes(), program.as_bytes()]))
    }
}

impl Step for JsRunner {
    fn name(&self) -> String {
        "JavaScript runner".into()
    }

    fn id(&self) -> &'static str {
        "js-runner"
    }

    fn check(&self, cx: &Context) -> Result<State> {
        let runner = cx.local("runners/js.wasm");
        let Ok(noted) = fs::read_to_string(cx.local("runners/js.stamp")) else {
            return Ok(State::Needed("not here yet".into()));
        };
        let (key, digest) = noted.trim().split_once(' ').unwrap_or_default();
        if key != Self::key(cx)? {
            return Ok(State::Needed("the guest or the snapshot program changed".into()));
        }
        match stamp::sha256_file(&runner) {
            Ok(now) if now == digest => Ok(State::Right(runner.display().to_string())),
            Ok(_) => Ok(State::Needed("js.wasm was changed".into())),
            Err(_) => Ok(State::Needed("js.wasm is missing".into())),
        }
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let runner = cx.local("runners/js.wasm");
        let fresh = cx.local("runners/js.wasm.new");
        let doing = || format!("writing {}", runner.display());
        fs::create_dir_all(cx.local("runners")).because(doing)?;
        let mut snapshot = cx.run("postern-snapshot")?;
        log.run(snapshot.arg(Self::component(cx)?).arg(&fresh), progress)?;
        let bytes = fs::metadata(&fresh).because(doing)?.len();
        if bytes == 0 {
            return Err(Failure::new("postern-snapshot wrote an empty file"));
        }
        let digest = stamp::sha256_file(&fresh)?;
        // the stamp last: a break in between is seen as a change and made again
        fs::rename(&fresh, &runner).because(doing)?;
        fs::write(cx.local("runners/js.stamp"), format!("{} {digest}\n", Self::key(cx)?)).because(doing)?;
        Ok(Acted::new(format!("{} ({:.1} MB)", runner.display(), bytes as f64 / 1e6)))
    }
}
