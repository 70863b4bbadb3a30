//! The QuickJS context: its limits, its modules, and the prelude that gives a script everything
//! beyond plain ECMAScript. Made before the snapshot; must never touch the host.

use std::cell::RefCell;

use rquickjs::context::EvalOptions;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{
    CatchResultExt, Context, Ctx, Exception, Function, Module, Object, Persistent, Result, Runtime,
    TypedArray, Value,
};

use crate::{events, files, frames, run, web};

/// Bytes of shadow stack that QuickJS may use before it throws RangeError. The linker gives twice
/// this (.cargo/config.toml). The native stack that goes with it is up to 32 times as much: a host
/// needs `max_wasm_stack` of 16 MiB.
const JS_STACK: usize = 512 << 10;

/// Bytes of heap before the first collection of garbage. QuickJS would begin at 256 KiB, which the
/// prelude alone nearly takes: each short script would then walk, and so copy, the whole snapshot.
const FIRST_COLLECTION: usize = 8 << 20;

/// What the prelude consists of, in the order it runs. A file's name is the one in stack traces;
/// frames of `postern:` are never shown to anybody.
const PRELUDE: &[(&str, &str)] = &[
    ("postern:core", include_str!("prelude/core.js")),
    ("postern:json", include_str!("prelude/json.js")),
    ("postern:tools", include_str!("prelude/tools.js")),
    ("postern:timers", include_str!("prelude/timers.js")),
    ("postern:failure", include_str!("prelude/failure.js")),
    ("postern:inspect", include_str!("prelude/inspect.js")),
    ("postern:console", include_str!("prelude/console.js")),
    ("postern:web", include_str!("prelude/web.js")),
    ("postern:url", include_str!("prelude/url.js")),
    ("postern:dates", include_str!("prelude/dates.js")),
    ("postern:clone", include_str!("prelude/clone.js")),
    ("postern:files", include_str!("prelude/files.js")),
];

/// The context and the prelude's functions that Rust calls.
pub(crate) struct Engine {
    runtime: Runtime,
    context: Context,
    lib: Persistent<Object<'static>>,
}

thread_local! {
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// Makes the engine, if there is none yet.
pub(crate) fn prepare() {
    with(|_, _| ());
}

/// Runs `job` in the context, with the prelude's `lib`.
pub(crate) fn with<T>(job: impl for<'js> FnOnce(&Ctx<'js>, &Object<'js>) -> T) -> T {
    ENGINE.with_borrow_mut(|slot| {
        let engine = slot.get_or_insert_with(|| {
            // Fixed text, and the build runs it when it makes the snapshot: only then can this fail.
            build().unwrap_or_else(|error| panic!("the prelude does not run: {error}"))
        });
        // The stack may start elsewhere than where the context was made.
        engine.runtime.set_max_stack_size(JS_STACK);
        engine.context.with(|ctx| {
            let lib = engine.lib.clone().restore(&ctx).expect("lib belongs to this runtime");
            job(&ctx, &lib)
        })
    })
}

fn build() -> std::result::Result<Engine, String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    runtime.set_max_stack_size(JS_STACK);
    runtime.set_loader(Modules, Modules);
    let context = Context::full(&runtime).map_err(|error| error.to_string())?;
    let (lib, rejection) =
        context.with(|ctx| prelude(&ctx).catch(&ctx).map_err(|error| error.to_string()))?;
    runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, handled| {
        let told = rejection.clone().restore(&ctx).and_then(|f| f.call::<_, ()>((promise, reason, handled)));
        if told.is_err() {
            // No memory or no stack left to remember it: the error that says so follows anyway.
            ctx.catch();
        }
    })));
    // What the prelude left behind is not worth a place in the snapshot.
    runtime.run_gc();
    runtime.set_gc_threshold(FIRST_COLLECTION);
    Ok(Engine { runtime, context, lib })
}

/// Runs the prelude. Gives its `lib`, and the function that is told of rejections.
fn prelude(ctx: &Ctx<'_>) -> Result<(Persistent<Object<'static>>, Persistent<Function<'static>>)> {
    let host = host_functions(ctx)?;
    let lib = Object::new(ctx.clone())?;
    for (name, text) in PRELUDE {
        let mut options = EvalOptions::default();
        options.filename = Some((*name).to_owned());
        let part: Function = ctx.eval_with_options(*text, options)?;
        part.call::<_, ()>((host.clone(), lib.clone()))?;
    }
    let rejection: Function = lib.get("rejection")?;
    Ok((Persistent::save(ctx, lib), Persistent::save(ctx, rejection)))
}

/// The `host` object of the prelude.
fn host_functions<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    host.set("start", Function::new(ctx.clone(), events::start)?)?;
    host.set("timer", Function::new(ctx.clone(), events::timer)?)?;
    host.set("cancel", Function::new(ctx.clone(), events::cancel)?)?;
    host.set("now", Function::new(ctx.clone(), run::now)?)?;
    host.set("write", Function::new(ctx.clone(), run::write)?)?;
    host.set("promise", Function::new(ctx.clone(), run::promise)?)?;
    host.set("frames", Function::new(ctx.clone(), |stack: String| frames::own(&stack))?)?;
    host.set("position", Function::new(ctx.clone(), |stack: String| frames::position_list(&stack))?)?;
    web::register(ctx, &host)?;
    files::register(ctx, &host)?;
    Ok(host)
}

/// The modules that `import(...)` finds: those that `require` of files.js knows, and no other.
struct Modules;

impl Resolver for Modules {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        _base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        Ok(name.to_owned())
    }
}

impl Loader for Modules {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        // `require` throws, and says which modules exist, if there is none of this name.
        let require: Function = ctx.globals().get("require")?;
        let exports: Object = require.call((name,))?;
        let mut source = String::from("const m = globalThis.require(");
        source.push_str(&frames::quote(name));
        source.push_str(");\nexport default m;\n");
        for key in exports.keys::<String>() {
            let key = key?;
            source.push_str(&format!("export const {key} = m.{key};\n"));
        }
        Module::declare(ctx.clone(), name, source)
    }
}

/// Throws an Error that carries `code`, as Node's do.
pub(crate) fn throw_coded(ctx: &Ctx<'_>, name: Option<&str>, code: &str, message: &str) -> rquickjs::Error {
    let made = Exception::from_message(ctx.clone(), message).and_then(|error| {
        let object = error.as_object();
        object.set("code", code)?;
        if let Some(name) = name {
            object.set("name", name)?;
        }
        Ok(error)
    });
    match made {
        Ok(error) => error.throw(),
        Err(error) => error,
    }
}

/// Runs `job` over the bytes of a view, without copying them. `job` must not run JavaScript.
pub(crate) fn with_bytes<T>(view: &TypedArray<'_, u8>, job: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: the slice is good for as long as no JavaScript runs; the jobs of `web` and `files` decode
    // text and write files, and hold no context to run anything with.
    #[allow(unsafe_code)]
    let bytes = unsafe { view.as_bytes() };
    job(bytes.unwrap_or_default())
}

/// A value for which there is nothing to say.
pub(crate) fn undefined<'js>(ctx: &Ctx<'js>) -> Value<'js> {
    Value::new_undefined(ctx.clone())
}
