//! What a run waits for: tool calls and timers. Holds the host's handles, so it is empty whenever no
//! run is going on.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::bindings::postern::sandbox::{catalog, tools};
use crate::bindings::wasi::clocks::monotonic_clock;
use crate::bindings::wasi::io::poll;
use crate::frames::quote;

const NS_PER_MS: f64 = 1e6;

/// A call in flight. The order of the fields matters: the pollable is a child of the pending, and
/// fields are dropped from top to bottom.
struct Call {
    ready: poll::Pollable,
    pending: tools::Pending,
}

/// Everything that is waited for, by the number the prelude knows it by.
#[derive(Default)]
struct Waiting {
    last: u32,
    calls: BTreeMap<u32, Call>,
    /// (due in ns, number), so in the order they fire; true if the timer repeats.
    timers: BTreeMap<(u64, u32), bool>,
    /// number -> due, to find a timer again.
    due: BTreeMap<u32, u64>,
}

thread_local! {
    static WAITING: RefCell<Waiting> = RefCell::new(Waiting::default());
}

/// Something that happened.
pub(crate) enum Event {
    /// A call has its answer: JSON text.
    Answer(u32, String),
    /// A call failed: JSON text of the error.
    Failure(u32, String),
    /// A timer is due.
    Timer(u32),
}

/// Starts a call and gives its number. `kind` is `call`, `search` or `describe`.
pub(crate) fn start(kind: String, name: String, text: String) -> u32 {
    let pending = match kind.as_str() {
        "search" => catalog::search(&name, text.parse().unwrap_or(u32::MAX)),
        "describe" => catalog::describe(&name),
        _ => tools::call(&name, &text),
    };
    let ready = pending.subscribe();
    WAITING.with_borrow_mut(|waiting| {
        waiting.last += 1;
        let number = waiting.last;
        waiting.calls.insert(number, Call { ready, pending });
        number
    })
}

/// Sets a timer and gives its number.
pub(crate) fn timer(ms: f64, repeats: bool) -> u32 {
    // `as` saturates: a wild number is a far future, never a panic.
    let due = monotonic_clock::now().saturating_add((ms * NS_PER_MS) as u64);
    WAITING.with_borrow_mut(|waiting| {
        waiting.last += 1;
        let number = waiting.last;
        waiting.timers.insert((due, number), repeats);
        waiting.due.insert(number, due);
        number
    })
}

/// Forgets a timer.
pub(crate) fn cancel(number: u32) {
    WAITING.with_borrow_mut(|waiting| {
        if let Some(due) = waiting.due.remove(&number) {
            waiting.timers.remove(&(due, number));
        }
    });
}

/// Drops everything; the host cancels the calls that are still in flight.
pub(crate) fn clear() {
    WAITING.with_borrow_mut(|waiting| *waiting = Waiting { last: waiting.last, ..Waiting::default() });
}

/// Whether a timer that fires once is due before `instant` (monotonic, ns).
pub(crate) fn timer_before(instant: u64) -> bool {
    WAITING.with_borrow(|waiting| waiting.timers.range(..(instant, 0)).any(|(_, repeats)| !repeats))
}

/// Waits until at least one call or timer is ready, and takes what is. `None` if there is nothing to
/// wait for.
pub(crate) fn wait() -> Option<Vec<Event>> {
    WAITING.with_borrow_mut(|waiting| {
        // Only the earliest timer needs a pollable.
        let alarm = waiting.timers.first_key_value().map(|((due, _), _)| {
            monotonic_clock::subscribe_duration(due.saturating_sub(monotonic_clock::now()))
        });
        let numbers: Vec<u32> = waiting.calls.keys().copied().collect();
        let mut list: Vec<&poll::Pollable> = waiting.calls.values().map(|call| &call.ready).collect();
        list.extend(&alarm);
        if list.is_empty() {
            return None; // poll() traps on an empty list
        }
        let ready = poll::poll(&list);
        drop(list);

        let mut events = Vec::new();
        for index in ready {
            let Some(number) = numbers.get(index as usize) else { continue }; // the alarm
            let Some(call) = waiting.calls.remove(number) else { continue };
            events.push(match call.pending.finish() {
                Ok(answer) => Event::Answer(*number, answer),
                Err(error) => Event::Failure(*number, error_json(&error)),
            });
        }
        if alarm.is_some() {
            let now = monotonic_clock::now();
            while let Some((&(due, number), _)) = waiting.timers.first_key_value() {
                if due > now {
                    break;
                }
                waiting.timers.remove(&(due, number));
                waiting.due.remove(&number);
                events.push(Event::Timer(number));
            }
        }
        Some(events)
    })
}

/// The name of an error code, as the contract spells it.
fn code(code: tools::ErrorCode) -> &'static str {
    use tools::ErrorCode as Code;
    match code {
        Code::InvalidArguments => "invalid-arguments",
        Code::UnknownTool => "unknown-tool",
        Code::NotGranted => "not-granted",
        Code::Blocked => "blocked",
        Code::ApprovalDenied => "approval-denied",
        Code::ApprovalRequired => "approval-required",
        Code::ApprovalExpired => "approval-expired",
        Code::CallLimit => "call-limit",
        Code::Timeout => "timeout",
        Code::Upstream => "upstream",
        Code::GuardUnavailable => "guard-unavailable",
        Code::Cancelled => "cancelled",
    }
}

fn error_json(error: &tools::ToolError) -> String {
    let details = match &error.details {
        Some(details) => format!(",\"details\":{}", quote(details)),
        None => String::new(),
    };
    format!(
        "{{\"code\":{},\"message\":{},\"retryable\":{}{details}}}",
        quote(code(error.code)),
        quote(&error.message),
        error.retryable
    )
}
