//! Set-up as a list of steps: each one looks first, acts only when it must, and looks again.

use std::time::Duration;

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::process::Log;
use crate::progress::Progress;

/// What a look at a step's output found.
pub(crate) enum State {
    /// There and right; says what it is.
    Right(String),
    /// Missing or wrong; says why.
    Needed(String),
    /// Only its own tool can tell, and is quick to (cargo).
    Ask,
    /// Not possible here and not necessary; says why.
    LeftOut(String),
}

/// What acting did.
pub(crate) struct Acted {
    /// What is there now.
    pub(crate) note: String,
    /// For [`State::Ask`]: whether the tool found something to do.
    pub(crate) changed: bool,
}

impl Acted {
    pub(crate) fn new(note: impl Into<String>) -> Self {
        Self { note: note.into(), changed: true }
    }
}

/// One step of set-up.
pub(crate) trait Step {
    /// A few words for people.
    fn name(&self) -> String;
    /// A short word for the log file and the lock.
    fn id(&self) -> &'static str;
    /// Looks whether the output is there and right. Changes nothing.
    fn check(&self, cx: &Context) -> Result<State>;
    /// Makes the output. Whatever is half done must be taken up or thrown away here.
    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted>;
}

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Already,
    Done,
    LeftOut,
}

/// One line of the summary.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) ending: Ending,
    pub(crate) note: String,
    pub(crate) seconds: f64,
}

/// Runs the steps in order and prints a line for each; stops at the first that fails.
pub(crate) fn run(cx: &Context, steps: &[&dyn Step]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for step in steps {
        let name = step.name();
        let progress = Progress::start(&name);
        let result = run_one(cx, *step, &progress);
        progress.clear();
        let (ending, note) = match result {
            Ok(ended) => ended,
            Err(failure) => {
                eprintln!("{name}: FAILED");
                return Err(failure);
            }
        };
        let row = Row { name, ending, note, seconds: progress.seconds() };
        eprintln!("{}", line(&row));
        rows.push(row);
    }
    Ok(rows)
}

fn run_one(cx: &Context, step: &dyn Step, progress: &Progress) -> Result<(Ending, String)> {
    progress.note("looking");
    match step.check(cx)? {
        State::Right(note) => return Ok((Ending::Already, note)),
        State::LeftOut(why) => return Ok((Ending::LeftOut, why)),
        State::Needed(_) | State::Ask => {}
    }
    let _lock = cx.lock(step.id(), progress)?;
    // another set-up may have done it while this one waited
    let asked = match step.check(cx)? {
        State::Right(note) => return Ok((Ending::Already, note)),
        State::LeftOut(why) => return Ok((Ending::LeftOut, why)),
        State::Needed(why) => {
            if why != "not here yet" {
                progress.clear();
                eprintln!("{}: again, because {why}", step.name());
            }
            false
        }
        State::Ask => true,
    };
    let log = Log::start(cx, step.id())?;
    let acted = step.act(cx, progress, &log).map_err(|failure| failure.log(log.path()))?;
    if asked {
        return Ok((if acted.changed { Ending::Done } else { Ending::Already }, acted.note));
    }
    match step.check(cx)? {
        State::Right(_) => Ok((Ending::Done, acted.note)),
        State::Needed(why) => {
            Err(Failure::new(format!("it ran, but the result is not right: {why}")).log(log.path()))
        }
        State::Ask | State::LeftOut(_) => Err(Failure::new("it ran, but its result cannot be looked at")),
    }
}

fn line(row: &Row) -> String {
    let how = match row.ending {
        Ending::Already => "ok (already)".to_string(),
        Ending::Done => format!("done in {}", seconds(row.seconds)),
        Ending::LeftOut => "left out".to_string(),
    };
    format!("{}: {how}, {}", row.name, row.note)
}

/// The last line: what set-up did, in one sentence.
pub(crate) fn summary(rows: &[Row], total: Duration) -> String {
    let of = |ending: Ending| rows.iter().filter(move |row| row.ending == ending);
    let done: Vec<String> =
        of(Ending::Done).map(|row| format!("{} ({})", row.name, seconds(row.seconds))).collect();
    let left: Vec<&str> = of(Ending::LeftOut).map(|row| row.name.as_str()).collect();
    let mut text = format!("set-up: ready in {}; ", seconds(total.as_secs_f64()));
    match done.len() {
        0 => text.push_str(&format!("all {} steps were right already", of(Ending::Already).count())),
        _ => {
            text.push_str(&format!("did {}; {} right already", done.join(", "), of(Ending::Already).count()))
        }
    }
    if !left.is_empty() {
        text.push_str(&format!("; left out {}", left.join(", ")));
    }
    text
}

/// Seconds for people.
pub(crate) fn seconds(value: f64) -> String {
    match value {
        v if v < 10.0 => format!("{v:.1} s"),
        v if v < 120.0 => format!("{v:.0} s"),
        v => format!("{:.0} min {:02.0} s", (v / 60.0).floor(), (v % 60.0).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, ending: Ending) -> Row {
        Row { name: name.into(), ending, note: "n".into(), seconds: 12.3 }
    }

    #[test]
    fn the_summary_says_what_was_done_and_what_was_not() {
        let second = Duration::from_secs(1);
        let rows = [row("a", Ending::Already), row("b", Ending::Already)];
        assert_eq!(summary(&rows, second), "set-up: ready in 1.0 s; all 2 steps were right already");
        let rows = [row("a", Ending::Already), row("b", Ending::Done), row("c", Ending::LeftOut)];
        assert_eq!(
            summary(&rows, second),
            "set-up: ready in 1.0 s; did b (12 s); 1 right already; left out c"
        );
    }

    #[test]
    fn lines_and_seconds_read_well() {
        assert_eq!(line(&row("a", Ending::Done)), "a: done in 12 s, n");
        assert_eq!(line(&row("a", Ending::Already)), "a: ok (already), n");
        assert_eq!(seconds(0.04), "0.0 s");
        assert_eq!(seconds(119.6), "120 s");
        assert_eq!(seconds(185.9), "3 min 05 s");
    }
}
