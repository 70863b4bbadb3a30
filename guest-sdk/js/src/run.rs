//! One run: from a script's text to its value, or to an error that its author can use.

use std::cell::Cell;
use std::io::Write;

use rquickjs::context::EvalOptions;
use rquickjs::convert::List;
use rquickjs::promise::PromiseState;
use rquickjs::{CatchResultExt, CaughtError, Ctx, Function, Object, Promise, Result as JsResult, Value};

use crate::bindings::wasi::clocks::monotonic_clock;
use crate::bindings::{Completion, ScriptError};
use crate::engine;
use crate::events::{self, Event};
use crate::frames;
use crate::web;

/// How long after the end of a script its timers may still fire.
const GRACE_NS: u64 = 1_000_000_000;

thread_local! {
    /// When the run began (monotonic, ns).
    static STARTED: Cell<u64> = const { Cell::new(0) };
}

/// Runs one script.
pub(crate) fn run(source: &str) -> Result<Completion, ScriptError> {
    STARTED.set(monotonic_clock::now());
    web::seed();
    engine::with(|ctx, lib| {
        let outcome = value(ctx, lib, source);
        // The calls nobody asked about are known only now; those still in flight end here.
        let warnings = warnings(lib);
        events::clear();
        match outcome {
            Ok(value) => Ok(Completion { value, warnings }),
            Err(failure) => Err(ScriptError { warnings, ..report(lib, failure) }),
        }
    })
}

/// Why a script has no value.
enum Failure<'js> {
    /// It threw.
    Thrown(CaughtError<'js>),
    /// It waits for something that cannot happen.
    Deadlock,
}

impl<'js> From<CaughtError<'js>> for Failure<'js> {
    fn from(error: CaughtError<'js>) -> Self {
        Self::Thrown(error)
    }
}

/// The script's value, as JSON text.
fn value<'js>(ctx: &Ctx<'js>, lib: &Object<'js>, source: &str) -> Result<String, Failure<'js>> {
    let mut options = EvalOptions::default();
    options.filename = Some(frames::FILE.into());
    options.strict = false;
    // One line, so that line numbers are the script's own. The newline ends a trailing `//` comment.
    let wrapped = format!("{}{source}\n}})", frames::PREFIX);
    let script: Function = ctx.eval_with_options(wrapped, options).catch(ctx)?;
    let implied: Function = lib.get("implied").catch(ctx)?;
    let main: Promise = script.call((implied,)).catch(ctx)?;
    finish(ctx, lib, &main)?;
    let result: Value = match main.result() {
        Some(result) => result.catch(ctx)?,
        None => return Err(Failure::Deadlock),
    };
    let text = call::<String>(ctx, lib, "result", (result,))?;

    drain(ctx, lib)?;
    match unhandled(ctx, lib, &main)? {
        Some(reason) => Err(Failure::Thrown(caught(reason))),
        None => Ok(text),
    }
}

/// Runs the event loop until `main` is settled.
fn finish<'js>(ctx: &Ctx<'js>, lib: &Object<'js>, main: &Promise<'js>) -> Result<(), Failure<'js>> {
    loop {
        jobs(ctx);
        if main.state() != PromiseState::Pending {
            return Ok(());
        }
        match events::wait() {
            Some(events) => deliver(ctx, lib, events)?,
            // The reason it waits in vain may well be a rejection that nobody saw.
            None => match unhandled(ctx, lib, main)? {
                Some(reason) => return Err(Failure::Thrown(caught(reason))),
                None => return Err(Failure::Deadlock),
            },
        }
    }
}

/// Once the script itself is done: waits for the calls that somebody still wants, or that nobody
/// awaited, and for timers that fire soon.
fn drain<'js>(ctx: &Ctx<'js>, lib: &Object<'js>) -> Result<(), Failure<'js>> {
    let end = monotonic_clock::now().saturating_add(GRACE_NS);
    loop {
        jobs(ctx);
        if !call::<bool>(ctx, lib, "wanted", ())? && !events::timer_before(end) {
            return Ok(());
        }
        match events::wait() {
            Some(events) => deliver(ctx, lib, events)?,
            None => return Ok(()),
        }
    }
}

/// Runs promise jobs until there are none.
fn jobs(ctx: &Ctx<'_>) {
    while ctx.execute_pending_job() {}
}

/// Hands the prelude what happened, each with the promise jobs that follow from it.
fn deliver<'js>(ctx: &Ctx<'js>, lib: &Object<'js>, events: Vec<Event>) -> Result<(), Failure<'js>> {
    for event in events {
        match event {
            Event::Answer(number, text) => call::<()>(ctx, lib, "settleCall", (number, true, text))?,
            Event::Failure(number, text) => call::<()>(ctx, lib, "settleCall", (number, false, text))?,
            Event::Timer(number) => call::<()>(ctx, lib, "fire", (number,))?,
        }
        jobs(ctx);
    }
    Ok(())
}

/// Calls a function of the prelude.
fn call<'js, T: rquickjs::FromJs<'js>>(
    ctx: &Ctx<'js>,
    lib: &Object<'js>,
    name: &str,
    args: impl rquickjs::function::IntoArgs<'js>,
) -> Result<T, CaughtError<'js>> {
    lib.get::<_, Function>(name).and_then(|function| function.call(args)).catch(ctx)
}

/// The reason of a rejection that nobody handled, if there is one.
fn unhandled<'js>(
    ctx: &Ctx<'js>,
    lib: &Object<'js>,
    main: &Promise<'js>,
) -> Result<Option<Value<'js>>, CaughtError<'js>> {
    let reasons: Vec<Value> = call(ctx, lib, "unhandled", (main.clone(),))?;
    Ok(reasons.into_iter().next())
}

fn caught(reason: Value<'_>) -> CaughtError<'_> {
    match reason.clone().into_object().and_then(rquickjs::Exception::from_object) {
        Some(exception) => CaughtError::Exception(exception),
        None => CaughtError::Value(reason),
    }
}

fn warnings<'js>(lib: &Object<'js>) -> Vec<String> {
    let mut all = Vec::new();
    all.extend(lib.get::<_, Vec<String>>("notes").unwrap_or_default());
    for name in ["lostCalls", "lostTimers"] {
        if let Ok(list) = call::<Vec<String>>(lib.ctx(), lib, name, ()) {
            all.extend(list);
        }
    }
    // A loop that forgets `await` forgets it each time; fifty lines say it as well as ten thousand.
    const MOST: usize = 50;
    if all.len() > MOST {
        let more = all.len() - MOST;
        all.truncate(MOST);
        all.push(format!("and {more} more of the same kind"));
    }
    all
}

/// A failure as the contract wants it; warnings are the caller's.
fn report<'js>(lib: &Object<'js>, failure: Failure<'js>) -> ScriptError {
    let plain = |name: &str, message: String| ScriptError {
        name: name.into(),
        message,
        line: None,
        column: None,
        stack: String::new(),
        tool_error: None,
        warnings: Vec::new(),
    };
    let thrown = match failure {
        Failure::Deadlock => {
            let message = "the script waits for a promise that can never settle: nothing is pending, neither a \
                           tool call nor a timer";
            return plain("DeadlockError", message.into());
        }
        Failure::Thrown(CaughtError::Exception(exception)) => exception.into_object().into_value(),
        Failure::Thrown(CaughtError::Value(value)) => value,
        Failure::Thrown(CaughtError::Error(error)) => return plain("InternalError", error.to_string()),
    };
    let message = thrown
        .as_object()
        .and_then(|object| object.get::<_, String>("message").ok())
        .unwrap_or_else(|| "the script failed, and its error cannot be read".into());
    let Ok(parts) = call::<Vec<String>>(lib.ctx(), lib, "describe", (thrown,)) else {
        return plain("InternalError", message);
    };
    let [name, message, stack, below, tool] = &parts[..] else {
        return plain("InternalError", message);
    };
    let position = frames::position(stack);
    ScriptError {
        line: position.map(|(line, _)| line),
        column: position.map(|(_, column)| column),
        stack: frames::own(stack) + below,
        tool_error: Some(tool.clone()).filter(|text| !text.is_empty()),
        ..plain(name, message.clone())
    }
}

// ---- functions of the prelude's `host` ----------------------------------

/// Milliseconds since the run began.
pub(crate) fn now() -> f64 {
    monotonic_clock::now().saturating_sub(STARTED.get()) as f64 / 1e6
}

/// Writes a line to stdout (1) or stderr (2).
pub(crate) fn write(fd: u32, text: String) {
    // Two writes: a line break pushed onto a long text would make a second copy of it.
    let line = |stream: &mut dyn Write| {
        stream.write_all(text.as_bytes())?;
        stream.write_all(b"\n")?;
        stream.flush()
    };
    // Not println!: it panics, that is, traps, once the host takes no more. What the host does not
    // take it has counted, and the script goes on.
    let _ = match fd {
        2 => line(&mut std::io::stderr()),
        _ => line(&mut std::io::stdout()),
    };
}

/// The state of a promise, and what it holds.
pub(crate) fn promise<'js>(promise: Promise<'js>) -> JsResult<List<(&'static str, Value<'js>)>> {
    let ctx = promise.ctx().clone();
    Ok(List(match promise.state() {
        PromiseState::Pending => ("pending", engine::undefined(&ctx)),
        PromiseState::Resolved => {
            ("resolved", promise.result().transpose()?.unwrap_or_else(|| engine::undefined(&ctx)))
        }
        PromiseState::Rejected => {
            let _ = promise.result::<Value>();
            ("rejected", ctx.catch())
        }
    }))
}
