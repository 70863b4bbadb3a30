//! What a clause means once it is understood.

use std::fmt;

use super::money::Amount;

/// What calls a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum What {
    /// Every call.
    Call,
    /// Every call that is not known only to read.
    Change,
    Mail,
    Payment,
    Deletion,
    /// Putting something where many see it.
    Post,
    /// Letting somebody in.
    Share,
    /// Running a command or program.
    Run,
    /// Writing to a file or record.
    Write,
}

impl What {
    /// In the plural, for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Call => "calls",
            Self::Change => "changes",
            Self::Mail => "mails",
            Self::Payment => "payments",
            Self::Deletion => "deletions",
            Self::Post => "posts",
            Self::Share => "invitations",
            Self::Run => "commands",
            Self::Write => "writes",
        }
    }
}

/// What is reached: by mail and message, on the web, or either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Mail,
    Web,
    Any,
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mail => "mail",
            Self::Web => "links",
            Self::Any => "mail and links",
        })
    }
}

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// Only changing it counts.
    Write,
    /// Naming it at all counts.
    Any,
}

/// A clause that can be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    OnlyDomains {
        domains: Vec<String>,
        reach: Reach,
    },
    NotDomains {
        domains: Vec<String>,
        reach: Reach,
    },
    OnlyRecipients(Vec<String>),
    NotRecipients(Vec<String>),
    OnlyUnder {
        folders: Vec<String>,
        touch: Touch,
    },
    NotFiles {
        files: Vec<String>,
        touch: Touch,
    },
    Each(Amount),
    Total(Amount),
    Count {
        most: u32,
        what: What,
    },
    /// At most so many calls of one tool, `server/tool` or its own name.
    CountTool {
        most: u32,
        tool: String,
    },
    ReadOnly,
    NothingOutside(Reach),
    /// Minutes of the day, from and to.
    Hours {
        from: u16,
        to: u16,
        what: What,
    },
    Weekdays,
    Confirm(What),
    Never(What),
    /// Domains that are the user's own; forbids nothing.
    Own(Vec<String>),
}

fn list(items: &[String]) -> String {
    items.join(", ")
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyDomains { domains, reach } => write!(f, "{reach} only to {}", list(domains)),
            Self::NotDomains { domains, reach } => write!(f, "{reach} never to {}", list(domains)),
            Self::OnlyRecipients(mailboxes) => write!(f, "recipients only {}", list(mailboxes)),
            Self::NotRecipients(mailboxes) => write!(f, "recipients never {}", list(mailboxes)),
            Self::OnlyUnder { folders, touch: Touch::Write } => {
                write!(f, "writes only under {}", list(folders))
            }
            Self::OnlyUnder { folders, touch: Touch::Any } => write!(f, "files only under {}", list(folders)),
            Self::NotFiles { files, touch: Touch::Write } => write!(f, "no writes to {}", list(files)),
            Self::NotFiles { files, touch: Touch::Any } => write!(f, "no call names {}", list(files)),
            Self::Each(amount) => write!(f, "at most {amount} a payment"),
            Self::Total(amount) => write!(f, "at most {amount} in total"),
            Self::Count { most, what } => write!(f, "at most {most} {}", what.name()),
            Self::CountTool { most, tool } => write!(f, "at most {most} calls of {tool}"),
            Self::ReadOnly => f.write_str("reads only"),
            Self::NothingOutside(reach) => write!(f, "no {reach} to the outside"),
            Self::Hours { from, to, what } => write!(
                f,
                "{} only between {}:{:02} and {}:{:02}",
                what.name(),
                from / 60,
                from % 60,
                to / 60,
                to % 60
            ),
            Self::Weekdays => f.write_str("calls only from Monday to Friday"),
            Self::Confirm(what) => write!(f, "asks before {}", what.name()),
            Self::Never(what) => write!(f, "no {}", what.name()),
            Self::Own(domains) => write!(f, "inside is {}", list(domains)),
        }
    }
}
