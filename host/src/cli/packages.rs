//! `postern packages`: the wheels that profiles name. This is the only command that fetches code, and it runs none of it.

use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bytesize::ByteSize;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::exit::Exit;
use super::options::ConfigOptions;
use super::print::println;
use super::show;
use crate::packages::{self, Fetched, Package, Progress, Source, State, Store, Wheel};
use crate::{Config, Result};

/// How often a download says how far it is.
const REDRAWN: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    action: Action,
    /// Print one JSON document, and nothing else, on standard output
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(flatten)]
    config: ConfigOptions,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Bring the wheels that profiles name into the cache
    Fetch {
        /// Only those of this profile [default: of all profiles]
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Take them from this folder of wheels, and from nowhere else
        #[arg(long, value_name = "FOLDER", conflicts_with = "index")]
        from: Option<PathBuf>,
        /// The package index [default: POSTERN_PYTHON_INDEX, else PIP_INDEX_URL, else https://pypi.org/simple/]
        #[arg(long, value_name = "URL")]
        index: Option<String>,
    },
    /// Which wheels profiles name, and whether they are in the cache
    List {
        /// Only those of this profile [default: of all profiles]
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
    /// Look at a wheel: can it be used, and the line that names it in a profile
    Show {
        /// The wheel
        #[arg(value_name = "FILE")]
        wheel: PathBuf,
    },
}

pub(super) async fn run(options: Options) -> Result<Exit> {
    match options.action {
        Action::Fetch { profile, from, index } => {
            let config = options.config.read()?;
            let source = match from {
                Some(folder) => Source::Folder(folder),
                None => Source::index(index.as_deref())?,
            };
            fetch(&config, profile.as_deref(), &source, options.json).await
        }
        Action::List { profile } => list(&options.config.read()?, profile.as_deref(), options.json),
        Action::Show { wheel } => look(&wheel, options.json),
    }
}

/// The profiles that are meant, with their packages.
fn chosen<'a>(config: &'a Config, profile: Option<&'a str>) -> Result<Vec<(&'a str, &'a [Package])>> {
    match profile {
        Some(name) => Ok(vec![(name, &config.profile(name)?.packages)]),
        None => {
            Ok(config.profiles.iter().map(|(name, of)| (name.as_str(), of.packages.as_slice())).collect())
        }
    }
}

async fn fetch(config: &Config, profile: Option<&str>, source: &Source, json: bool) -> Result<Exit> {
    let store = Store::find();
    let mut all: Vec<Fetched> = Vec::new();
    for (name, packages) in chosen(config, profile)? {
        // A profile at a time: what one of them needs and does not name is its own affair.
        let mut shown = Shown::new(json);
        let fetched = packages::fetch(packages, source, &store, |progress| shown.draw(progress)).await;
        shown.clear();
        for one in fetched? {
            if !json {
                show_fetched(&one, name);
            }
            match all.iter_mut().find(|known| known.package == one.package) {
                Some(known) => known.needs.retain(|need| one.needs.contains(need)),
                None => all.push(one),
            }
        }
        if !packages.is_empty() {
            // Made now, so that a conflict is found by whoever names packages and not by a run.
            store.set(packages)?;
        }
    }
    if json {
        let packages: Vec<Value> = all
            .iter()
            .map(|Fetched { package, from, needs }| {
                let state = if from.is_some() { "fetched" } else { "there" };
                json!({"name": package.name, "version": package.version, "sha256": package.sha256, "state": state,
                       "from": from, "needs": needs})
            })
            .collect();
        show::print_json(&json!({"packages": packages}));
    } else if all.is_empty() {
        println!("no packages are named: see `packages` in [profiles.NAME]");
    }
    Ok(Exit::Done)
}

fn show_fetched(fetched: &Fetched, profile: &str) {
    match &fetched.from {
        Some(from) => println!("{} from {from}", fetched.package),
        None => println!("{} was there already", fetched.package),
    }
    for need in &fetched.needs {
        show::note(&format!(
            "{} needs {}, which the profile {profile} does not name",
            fetched.package,
            show::one_line(need)
        ));
    }
}

/// How far a download is, in one line of the terminal that is drawn again.
struct Shown {
    drawn: Option<Instant>,
    silent: bool,
}

impl Shown {
    fn new(json: bool) -> Self {
        Self { drawn: None, silent: json || !std::io::stderr().is_terminal() }
    }

    fn draw(&mut self, progress: Progress<'_>) {
        if self.silent || self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAWN) {
            return;
        }
        let of = progress.total.map(|total| format!(" of {}", ByteSize(total))).unwrap_or_default();
        // Whoever does not see it loses nothing.
        let _ = write!(std::io::stderr(), "\r\x1b[K{}: {}{of}", progress.package, ByteSize(progress.done));
        self.drawn = Some(Instant::now());
    }

    fn clear(&self) {
        if self.drawn.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn list(config: &Config, profile: Option<&str>, json: bool) -> Result<Exit> {
    let store = Store::find();
    let mut rows: Vec<(&Package, State, Vec<&str>)> = Vec::new();
    for (name, packages) in chosen(config, profile)? {
        for package in packages {
            match rows.iter_mut().find(|(known, ..)| *known == package) {
                Some((.., profiles)) => profiles.push(name),
                None => rows.push((package, store.state(package), vec![name])),
            }
        }
    }
    if json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|(package, state, profiles)| {
                json!({"name": package.name, "version": package.version, "sha256": package.sha256,
                       "state": state, "profiles": profiles})
            })
            .collect();
        show::print_json(&json!({"packages": rows}));
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        println!("no packages are named: see `packages` in [profiles.NAME]");
        return Ok(Exit::Done);
    }
    let mut table = show::table(&["package", "version", "sha256", "in the cache", "profiles"]);
    for (package, state, profiles) in &rows {
        let digest = show::short_digest(&package.sha256);
        table.add_row([&package.name, &package.version, digest, state.name(), &profiles.join(", ")]);
    }
    println!("{table}");
    if rows.iter().any(|(_, state, _)| *state != State::There) {
        show::note("`postern packages fetch` brings what is missing");
    }
    Ok(Exit::Done)
}

fn look(path: &std::path::Path, json: bool) -> Result<Exit> {
    let bytes = packages::read(path)?;
    let wheel = Wheel::read(&bytes).map_err(|error| packages::of(&path.display(), error))?;
    let package = wheel.package();
    let needs: Vec<&str> = wheel.requires().collect();
    if json {
        show::print_json(&json!({"name": package.name, "version": package.version, "sha256": package.sha256,
                                 "line": package.line(), "needs": needs}));
        return Ok(Exit::Done);
    }
    println!("{}", package.line());
    if !needs.is_empty() {
        show::note(&format!("it needs {}", show::one_line(&needs.join(", "))));
    }
    Ok(Exit::Done)
}
