//! `postern prompt`: the text that teaches a model to write scripts for this host.

use clap::Args;
use serde_json::json;

use super::exit::Exit;
use super::options::ConfigOptions;
use super::print::println;
use super::show;
use crate::Result;
use crate::config::LanguageName;
use crate::prompt::prompt;
use crate::script::Language;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// What the model is to write
    #[arg(long, value_name = "LANGUAGE", default_value = "js")]
    lang: LanguageName,
    /// The profile that the scripts will run under
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Print one JSON document, and nothing else, on standard output
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    config: ConfigOptions,
}

pub(super) fn run(options: Options) -> Result<Exit> {
    let config = options.config.read()?;
    let language = Language::from(options.lang);
    let text = prompt(&config, language, options.profile.as_deref())?;
    if options.json {
        show::print_json(&json!({"language": language.name(), "profile": options.profile, "prompt": text}));
    } else {
        println!("{}", text.trim_end());
    }
    Ok(Exit::Done)
}
