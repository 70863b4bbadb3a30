//! `postern approvals`: what waits for a person, and deciding it. What a decision counts for is not known
//! here: the run that asked finds that out.

use clap::{Args, Subcommand};
use comfy_table::{Cell, Color};
use jiff::Timestamp;
use owo_colors::OwoColorize;
use serde_json::json;

use super::exit::Exit;
use super::print::{eprintln, println};
use super::show;
use crate::approval::{MOST_ALIKE, Question, Queue, Say, Standing, Waiting, login_name};
use crate::visible::visible;
use crate::{Result, record};

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    action: Action,
    /// Print one JSON document, and nothing else, on standard output
    #[arg(long, global = true)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// What waits, the oldest first
    List,
    /// One call, whole: arguments, where they came from, why somebody is asked
    Show {
        /// Its id, or the first characters of it
        id: String,
    },
    /// Let the call be made, once
    Approve {
        /// Its id, or the first characters of it
        id: String,
        /// And calls like it: this many in all [default: 200]
        #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "200", require_equals = true)]
        group: Option<u32>,
        /// Who decides, for the record [default: the login name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Refuse the call
    Deny {
        /// Its id, or the first characters of it
        id: String,
        /// Why; the script is told
        #[arg(long, value_name = "TEXT", default_value = "no reason was given")]
        reason: String,
        /// Who decides, for the record [default: the login name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
}

pub(super) fn run(options: Options) -> Result<Exit> {
    let queue = Queue::look(&record::state_folder())?;
    match options.action {
        Action::List => {
            let all = queue.list()?;
            if options.json {
                show::print_json(&json!({ "approvals": all }));
            } else {
                list(&all);
            }
        }
        Action::Show { id } => {
            let waiting = queue.find(&id)?;
            if options.json {
                show::print_json(&waiting);
            } else {
                show_one(&waiting);
            }
        }
        Action::Approve { id, group, by } => {
            let say = group.map_or(Say::Approve, |calls| Say::Group { calls });
            decide(&queue, &id, say, by, options.json)?;
        }
        Action::Deny { id, reason, by } => decide(&queue, &id, Say::Deny { reason }, by, options.json)?,
    }
    Ok(Exit::Done)
}

fn decide(queue: &Queue, id: &str, say: Say, by: Option<String>, json: bool) -> Result<()> {
    let by = by.or_else(login_name);
    let waiting = queue.answer(id, say.clone(), by.as_deref())?;
    if json {
        show::print_json(&json!({ "id": waiting.id, "answer": say, "by": by }));
        return Ok(());
    }
    let tool = waiting.question.as_ref().map(|question| visible(&question.tool)).unwrap_or_default();
    let id = short(&waiting.id);
    match say {
        Say::Approve => println!("{} {tool} may be called once ({id})", "✓".green()),
        Say::Group { calls } => {
            println!("{} {tool} may be called, and up to {calls} like it in all ({id})", "✓".green());
        }
        Say::Deny { .. } | Say::Void => println!("{} {tool} is refused ({id})", "✗".red().bold()),
    }
    Ok(())
}

fn list(all: &[Waiting]) {
    if all.is_empty() {
        eprintln!("nothing waits for a person");
        return;
    }
    let mut table = show::table(&["id", "state", "tool", "arguments", "because", "time left"]);
    for waiting in all {
        let id = Cell::new(short(&waiting.id));
        let Some(question) = &waiting.question else {
            let why = "the file is not what the run wrote";
            table.add_row([id, state(waiting.state), Cell::new(""), Cell::new(""), Cell::new(why)]);
            continue;
        };
        let arguments = visible(&serde_json::Value::Object(question.arguments.clone()).to_string());
        let because = question.reasons.first().map(|reason| visible(&reason.message)).unwrap_or_default();
        table.add_row([
            id,
            state(waiting.state),
            Cell::new(visible(&question.tool)),
            Cell::new(show::one_line(&arguments)),
            Cell::new(show::one_line(&because)),
            Cell::new(left(question)),
        ]);
    }
    println!("{table}");
}

fn show_one(waiting: &Waiting) {
    let standing = waiting.state;
    println!("{} {}  {}", "approval".bold(), waiting.id, coloured(standing));
    let Some(question) = &waiting.question else {
        println!("  the file is not what the run wrote: somebody changed it");
        return;
    };
    println!("  {:10} {}", "tool", visible(&question.tool).bold());
    for (number, line) in question.lines(usize::MAX).iter().enumerate() {
        println!("  {:10} {line}", if number == 0 { "arguments" } else { "" });
    }
    if !question.intent.is_empty() {
        println!("  {:10} {}", "for", visible(&question.intent));
    }
    for reason in &question.reasons {
        println!(
            "  {:10} {} {}",
            "because",
            visible(&reason.message).yellow(),
            format!("({})", visible(&reason.code)).dimmed()
        );
    }
    if let Some(guard) = question.guard() {
        println!("  {:10} {guard}", "the guard");
    }
    if let Some(group) = question.group() {
        println!("  {:10} {group} (--group)", "like it");
    }
    println!(
        "  {:10} {} for {} ({})",
        "run",
        visible(&question.run),
        visible(&question.agent.id),
        visible(&question.agent.owner)
    );
    println!("  {:10} {} left", "time", left(question));
    if standing == Standing::Waiting {
        let id = short(&waiting.id);
        let all = format!(" [--group[={MOST_ALIKE}]]");
        let group = if question.alike.is_some() { &all } else { "" };
        println!("\n  postern approvals approve {id}{group}\n  postern approvals deny {id} --reason TEXT");
    }
}

fn left(question: &Question) -> String {
    let seconds = question.expires.duration_since(Timestamp::now()).as_secs().max(0);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (hours, minutes, _) => format!("{hours}h {minutes}m"),
    }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Waiting => "waiting",
        Standing::Answered => "answered",
        Standing::Expired => "expired",
        Standing::Stale => "stale",
        Standing::Changed => "changed",
    }
}

fn state(standing: Standing) -> Cell {
    Cell::new(word(standing)).fg(match standing {
        Standing::Waiting => Color::Yellow,
        Standing::Answered => Color::Green,
        Standing::Expired | Standing::Stale => Color::DarkGrey,
        Standing::Changed => Color::Red,
    })
}

fn coloured(standing: Standing) -> String {
    let word = word(standing);
    match standing {
        Standing::Waiting => word.yellow().to_string(),
        Standing::Answered => word.green().to_string(),
        Standing::Expired | Standing::Stale => word.dimmed().to_string(),
        Standing::Changed => word.red().bold().to_string(),
    }
}

/// Enough of an id to name it among those that wait.
pub(super) fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}
