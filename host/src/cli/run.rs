//! `postern run`.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use super::options::{ConfigOptions, LimitOptions};
use super::{approvals, show};
use crate::approval::{ApprovalMode, Question};
use crate::config::LanguageName;
use crate::constraints::Constraints;
use crate::ledger::InputLabels;
use crate::pins::Pins;
use crate::visible::visible;
use crate::{Error, Host, Result, Script};

/// The longest script that is read, in bytes.
const MAX_SCRIPT: u64 = 4 << 20;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The script: a file, or - for standard input
    #[arg(value_name = "FILE")]
    script: PathBuf,
    /// What the user asked for, in the user's own words
    #[arg(long, value_name = "TEXT", default_value = "")]
    intent: String,
    /// A rule the user set; may be given more than once
    #[arg(long, value_name = "TEXT")]
    constraint: Vec<String>,
    /// The language, whatever the file looks like
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<LanguageName>,
    /// Make the script's random numbers follow from this number, the same in each run
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// A file or folder the script may read, under /input
    #[arg(long, value_name = "PATH")]
    input: Vec<PathBuf>,
    /// What is said of an input, such as mails.txt=untrusted,secret: the PATH of an --input or its name, and one or two of
    /// trusted, untrusted, public, private, secret [default: what the configuration says, else trusted, private]
    #[arg(long, value_name = "PATH=LABELS", value_parser = parse_input_label)]
    input_label: Vec<(String, InputLabels)>,
    /// A tool the script may call, such as crm/* [default: what the configuration grants]
    #[arg(long, value_name = "PATTERN")]
    allow_tool: Vec<String>,
    /// The class of job that this is: a profile of the configuration, which narrows what it may do
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// What becomes of calls that a person has to decide [default: terminal]
    #[arg(long, value_name = "WHERE")]
    approvals: Option<Approvals>,
    /// Where the record of the run is kept
    #[arg(long, value_name = "FOLDER")]
    record_dir: Option<PathBuf>,
    /// Copy the proposed artifacts into this folder when the run has finished
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print one JSON document, and nothing else, on standard output
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    config: ConfigOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Approvals {
    /// Asked in the terminal, if there is one
    Terminal,
    /// They wait until somebody decides with `postern approvals`
    Queue,
    /// Nobody is asked; they fail with approval-required
    Never,
    /// They are refused
    Deny,
}

impl From<Approvals> for ApprovalMode {
    fn from(approvals: Approvals) -> Self {
        match approvals {
            Approvals::Terminal => Self::Terminal,
            Approvals::Queue => Self::Queue,
            Approvals::Never => Self::Never,
            Approvals::Deny => Self::Deny,
        }
    }
}

pub(super) async fn run(options: Options) -> Result<Exit> {
    let labels = input_labels(&options)?;
    let text = read_script(&options.script)?;
    let mut config = options.config.read()?;
    options.limits.apply(&mut config);
    if !options.allow_tool.is_empty() {
        config.allow_tools.clone_from(&options.allow_tool);
    }
    if let Some(mode) = options.approvals.map(ApprovalMode::from) {
        config.approvals.mode = mode;
        // A flag wins over the file, unless the profile is stricter.
        for profile in config.profiles.values_mut() {
            profile.approvals = profile.approvals.filter(|own| own.is_stricter_than(mode));
        }
    }
    if let Some(folder) = &options.record_dir {
        config.record_dir = Some(folder.clone());
    }
    for problem in std::mem::take(&mut config.problems) {
        show::note(&problem.to_string());
    }

    // Whoever sets a rule should know whether it is checked, or only read by the model.
    for clause in Constraints::compile(&options.constraint).explain() {
        show::note(&format!("rule {clause}"));
    }
    let pins = Pins::open(&Pins::default_path(options.config.config.as_deref()))?;
    let host = Host::builder(config).pins(pins).on_question(Arc::new(waits)).build()?;
    let cancel = CancellationToken::new();
    let report = tokio::select! {
        report = host.run(script(text, &options, &labels, &cancel)) => report,
        never = cancel_on_interrupt(&cancel) => match never {},
    };
    host.close().await;
    let report = report?;
    if options.json {
        show::print_json(&report);
    } else {
        show::report(&report, true);
    }
    if let Some(out) = options.out.as_ref().filter(|_| !report.artifacts.is_empty()) {
        host.promote(&report, out)?;
    }
    Ok(Exit::from(report.outcome))
}

/// Says in the run's own terminal what it waits for, and where that is decided.
fn waits(question: &Question) {
    let id = approvals::short(&question.id);
    show::note(&format!(
        "{} waits for a person: postern approvals show {id}, then approve {id} or deny {id}",
        visible(&question.tool)
    ));
}

fn script(text: String, options: &Options, labels: &[InputLabels], cancel: &CancellationToken) -> Script {
    let name = options.script.display().to_string();
    let mut script = Script::new(text).name(name).intent(&options.intent).cancel(cancel.clone());
    for constraint in &options.constraint {
        script = script.constraint(constraint);
    }
    for (input, labels) in options.input.iter().zip(labels) {
        script = script.labelled_input(input, *labels);
    }
    if let Some(profile) = &options.profile {
        script = script.profile(profile);
    }
    if let Some(seed) = options.seed {
        script = script.seed(seed);
    }
    if let Some(language) = options.lang {
        script = script.language(language.into());
    }
    if !options.json && std::io::stderr().is_terminal() {
        script = script.observer(Arc::new(show::live_call));
    }
    script
}

/// The last `=` parts them: labels have none, a path may.
fn parse_input_label(text: &str) -> std::result::Result<(String, InputLabels), String> {
    let (path, labels) = text.rsplit_once('=').ok_or("write PATH=LABELS, such as mails.txt=untrusted")?;
    Ok((path.to_owned(), InputLabels::parse(labels)?))
}

/// The labels of each input, in their order.
fn input_labels(options: &Options) -> Result<Vec<InputLabels>> {
    let mut labels = vec![InputLabels::default(); options.input.len()];
    for (named, said) in &options.input_label {
        let is = |input: &PathBuf| {
            input == Path::new(named) || input.file_name().is_some_and(|name| name == named.as_str())
        };
        let mut fits = options.input.iter().zip(&mut labels).filter(|(input, _)| is(input));
        let wrong = |what: &str| Error::Setting(format!("--input-label {named}: {what}"));
        let (_, place) = fits.next().ok_or_else(|| wrong("there is no such --input"))?;
        if fits.next().is_some() {
            return Err(wrong("more than one --input is called so; write its whole path"));
        }
        if !place.is_empty() {
            return Err(wrong("it is labelled already; write all labels at once"));
        }
        *place = *said;
    }
    Ok(labels)
}

/// The first Ctrl-C ends the run in order; the second ends the process.
async fn cancel_on_interrupt(cancel: &CancellationToken) -> std::convert::Infallible {
    if tokio::signal::ctrl_c().await.is_ok() {
        cancel.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(Exit::Cancelled as i32);
        }
    }
    std::future::pending().await
}

fn read_script(path: &Path) -> Result<String> {
    let unreadable = |message: String| Error::Script { code: "script-unreadable", message, hint: None };
    let fault = |e: std::io::Error| unreadable(format!("{}: cannot be read: {e}", path.display()));
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().take(MAX_SCRIPT + 1).read_to_end(&mut bytes).map_err(fault)?;
    } else {
        let file = std::fs::File::open(path).map_err(fault)?;
        file.take(MAX_SCRIPT + 1).read_to_end(&mut bytes).map_err(fault)?;
    }
    if bytes.len() as u64 > MAX_SCRIPT {
        let message = format!("{}: is longer than {MAX_SCRIPT} bytes", path.display());
        let hint = Some("hand data over with --input and read it under /input".into());
        return Err(Error::Script { code: "script-too-large", message, hint });
    }
    String::from_utf8(bytes).map_err(|_| unreadable(format!("{}: is no UTF-8 text", path.display())))
}
