//! Language runtimes: where their components lie, and their compiled code in a cache.
//!
//! Compiled code is native code, so loading it is as dangerous as running a program: only files that
//! this user's own process wrote are loaded, and only if their digest is the one noted beside them (`digests`).

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use wasmtime::Engine;
use wasmtime::component::Component;

use super::Sandbox;
use super::bindings::RunnerPre;
use super::digests::digest;
use super::linker::without_network;
use super::run::Guest;
use crate::folders::is_private;
use crate::script::Language;
use crate::{Error, Result, folders};

/// Where runners and their compiled code are.
#[derive(Debug)]
pub struct Runners {
    components: PathBuf,
    cache: PathBuf,
    javascript: OnceLock<CompiledRunner>,
    python: OnceLock<CompiledRunner>,
}

/// A runner, ready to be instantiated. Cheap to clone.
#[derive(Clone)]
pub struct CompiledRunner {
    pub(crate) pre: Arc<RunnerPre<Guest>>,
    /// What it runs; TypeScript is JavaScript by then.
    pub(crate) language: Language,
    /// BLAKE3 of the component, in hex.
    pub digest: Arc<str>,
    /// Whether it had to be compiled just now.
    pub compiled_now: bool,
}

impl std::fmt::Debug for CompiledRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledRunner").field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl Runners {
    /// Components from one folder, compiled code in another. Nothing is read yet.
    pub fn new(components: impl Into<PathBuf>, cache: impl Into<PathBuf>) -> Self {
        Self {
            components: components.into(),
            cache: cache.into(),
            javascript: OnceLock::new(),
            python: OnceLock::new(),
        }
    }

    /// The usual places. Components: `POSTERN_RUNNERS`, else `runners/` beside the program, else what
    /// set-up put into the source tree. Compiled code: `compiled/` in [`cache_dir`].
    pub fn find() -> Self {
        let beside =
            || Some(std::env::current_exe().ok()?.parent()?.join("runners")).filter(|path| path.is_dir());
        let source_tree = || Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(".postern").join("runners");
        let components = std::env::var_os("POSTERN_RUNNERS")
            .map(PathBuf::from)
            .or_else(beside)
            .unwrap_or_else(source_tree);
        Self::new(components, cache_dir().join("compiled"))
    }

    /// Where the components are.
    pub fn components(&self) -> &Path {
        &self.components
    }

    /// The runner of a language, compiled now if the cache does not have it. For Python that takes half a minute of
    /// computing.
    ///
    /// # Errors
    /// If the component is missing or damaged, or cannot be compiled.
    pub fn of(&self, language: Language, sandbox: &Sandbox) -> Result<CompiledRunner> {
        let (slot, language, file) = match language {
            Language::JavaScript | Language::TypeScript => {
                (&self.javascript, Language::JavaScript, "js.wasm")
            }
            Language::Python => (&self.python, Language::Python, "python.wasm"),
        };
        if let Some(runner) = slot.get() {
            return Ok(runner.clone());
        }
        let runner = self.load(language, file, sandbox)?;
        Ok(slot.get_or_init(|| runner).clone())
    }

    fn load(&self, language: Language, file: &str, sandbox: &Sandbox) -> Result<CompiledRunner> {
        let path = self.components.join(file);
        let unreadable = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::NotFound => {
                Error::RunnerMissing { language: language.name(), path: path.clone() }
            }
            _ => Error::Io { doing: "cannot read", path: path.clone(), source },
        };
        let digest = digest(&path, &self.cache).map_err(unreadable)?;
        let key = format!("{digest}-{:016x}", settings(&sandbox.engine));
        let bad = |e: wasmtime::Error| Error::Component {
            name: path.display().to_string(),
            message: format!("{e:#}"),
        };
        let cached = load_compiled(&sandbox.engine, &self.cache, &key);
        let compiled_now = cached.is_none();
        let component = match cached {
            Some(component) => component,
            None => {
                let wasm = std::fs::read(&path).map_err(unreadable)?;
                compile(&sandbox.engine, &wasm, &self.cache, &key).map_err(bad)?
            }
        };
        let pre = match language {
            // CPython's runtime links sockets.
            Language::Python => without_network(&sandbox.linker, &sandbox.engine, &component)
                .and_then(|linker| linker.instantiate_pre(&component)),
            Language::JavaScript | Language::TypeScript => sandbox.linker.instantiate_pre(&component),
        };
        let pre = Arc::new(pre.and_then(RunnerPre::new).map_err(bad)?);
        Ok(CompiledRunner { pre, language, digest: Arc::from(digest.as_str()), compiled_now })
    }
}

/// `POSTERN_CACHE`, else `postern` in the user's cache folder.
pub fn cache_dir() -> PathBuf {
    folders::of_user("POSTERN_CACHE", "XDG_CACHE_HOME", ".cache/postern")
        .unwrap_or_else(|| std::env::temp_dir().join("postern-cache").join(user()))
}

/// Stands for everything of the engine that compiled code depends on.
fn settings(engine: &Engine) -> u64 {
    // Keyed by nothing random: the same settings give the same number in every process.
    let mut hasher = std::hash::DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

/// Keeps users apart in a folder that all share.
fn user() -> String {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw().to_string();
    #[cfg(not(unix))]
    String::from("user")
}

fn load_compiled(engine: &Engine, cache: &Path, key: &str) -> Option<Component> {
    if !is_private(cache) {
        return None;
    }
    let code = cache.join(format!("{key}.cwasm"));
    let noted = std::fs::read_to_string(cache.join(format!("{key}.blake3"))).ok()?;
    if digest(&code, cache).ok()? != noted.trim() {
        tracing::warn!(path = %code.display(), "the compiled code is damaged and is made again");
        return None;
    }
    // SAFETY: the file lies in a folder that only this user can write to, was written there by `store`
    // below, and is what was written: the digest says so, made now or when the file last changed. wasmtime refuses another version or settings.
    #[allow(unsafe_code, reason = "loading compiled code has no safe form")]
    let component = unsafe { Component::deserialize_file(engine, &code) };
    component.ok()
}

fn compile(engine: &Engine, wasm: &[u8], cache: &Path, key: &str) -> wasmtime::Result<Component> {
    let code = engine.precompile_component(wasm)?;
    if let Err(error) = store(cache, key, &code) {
        // The run can go on; the next one pays again.
        tracing::warn!(path = %cache.display(), %error, "cannot keep the compiled code");
        return Component::from_binary(engine, wasm);
    }
    match load_compiled(engine, cache, key) {
        Some(component) => Ok(component),
        None => Component::from_binary(engine, wasm),
    }
}

fn store(cache: &Path, key: &str, code: &[u8]) -> std::io::Result<()> {
    folders::private().create(cache)?;
    if !is_private(cache) {
        return Err(std::io::Error::other("others can write to this folder, or it belongs to somebody else"));
    }
    folders::replace(&cache.join(format!("{key}.cwasm")), code)?;
    folders::replace(&cache.join(format!("{key}.blake3")), blake3::hash(code).to_hex().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_runner_says_what_to_do() {
        let empty = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::new(Runners::new(empty.path(), empty.path())).unwrap();
        let error = sandbox.runners().of(Language::JavaScript, &sandbox).unwrap_err();
        assert_eq!(error.code(), "runner-missing");
        assert!(error.hint().unwrap().contains("cargo xtask setup"));
    }

    #[test]
    fn damaged_code_is_not_loaded() {
        let cache = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::new(Runners::new("", cache.path())).unwrap();
        let wasm = b"\0asm\x0d\0\x01\0"; // the empty component
        compile(&sandbox.engine, wasm, cache.path(), "k").unwrap();
        assert!(load_compiled(&sandbox.engine, cache.path(), "k").is_some());
        let code = cache.path().join("k.cwasm");
        let mut bytes = std::fs::read(&code).unwrap();
        bytes[100] ^= 1;
        std::fs::write(&code, bytes).unwrap();
        assert!(load_compiled(&sandbox.engine, cache.path(), "k").is_none());
    }
}
