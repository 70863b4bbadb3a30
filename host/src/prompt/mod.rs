//! The system prompt that teaches a model to write scripts for this host. Nothing in it is told from
//! memory: limits, grants and approvals are those of the configuration, error codes those of
//! [`ToolErrorCode`](crate::ToolErrorCode), globals those of [`globals()`], which a test asks the runners
//! for; and every example in it is run by a test.
//!
//! What must never be here: texts of servers. A prompt is obeyed, and what a server says is not.

mod globals;
mod text;

pub use globals::{Global, absent, globals};

use crate::approval::ApprovalMode;
use crate::config::Config;
use crate::grants::Grants;
use crate::sandbox::Limits;
use crate::script::Language;
use crate::{Error, Result};

/// The prompt for scripts in this language, as they would run under this configuration and profile.
///
/// It stays under 900 tokens, whatever is configured, by an estimate that counts rather too many.
///
/// # Errors
/// If there is no such profile, it does not admit the language, or its limits or patterns mean nothing.
pub fn prompt(config: &Config, language: Language, profile: Option<&str>) -> Result<String> {
    let mut limits = config.limits.clone();
    let mut approvals = config.approvals.mode;
    let mut inputs = true;
    let mut packages = Vec::new();
    if let Some(name) = profile {
        let profile = config.profile(name)?;
        if !profile.admits_language(language) {
            return Err(Error::Profile {
                code: "profile-refused",
                message: format!("the profile {name} admits no {}", language.name()),
                hint: Some("`postern profiles` shows what each admits".into()),
            });
        }
        limits = profile.limits(&limits).map_err(|e| Error::Setting(format!("profiles.{name}: {e}")))?;
        approvals = approvals.narrowed(profile.approvals);
        inputs = profile.mounts.as_ref().is_none_or(|mounts| !mounts.is_empty());
        packages = profile.packages.iter().map(|package| package.name.as_str()).collect();
    }
    let grants = config.grants_under(profile)?;
    let servers = servers(config, &grants);
    Ok(text::write(&Facts { language, limits, approvals, inputs, servers, packages }))
}

/// What the text depends on.
struct Facts<'a> {
    language: Language,
    limits: Limits,
    /// What becomes of calls that a person would have to approve.
    approvals: ApprovalMode,
    /// Whether the user can hand files to the script.
    inputs: bool,
    /// Of which something is granted.
    servers: Vec<&'a str>,
    /// What Python scripts can import beside the standard library.
    packages: Vec<&'a str>,
}

/// The servers of which a run may call something. Their names are the user's own words.
fn servers<'a>(config: &'a Config, grants: &Grants) -> Vec<&'a str> {
    let enabled = config.servers.iter().filter(|(_, server)| server.enabled);
    enabled.map(|(name, _)| name.as_str()).filter(|name| grants.any_of(name)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::ToolErrorCode;

    const BOTH: [Language; 2] = [Language::JavaScript, Language::Python];

    fn config(text: &str) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("postern.toml");
        std::fs::write(&path, text).unwrap();
        Config::read(&path).unwrap()
    }

    /// More than the vocabularies of today's models need: every mark counts as a token, and so do six letters
    /// of a word, each digit, and 3.2 bytes.
    fn tokens_at_most(text: &str) -> usize {
        let marks = text.chars().filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && *c != '_').count();
        let digits = text.chars().filter(char::is_ascii_digit).count();
        let mut letters = 0;
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
            // camelCase is two words.
            let capitals = word.chars().skip(1).filter(|c| c.is_uppercase()).count();
            letters += word.chars().count().div_ceil(6).max(1 + capitals.min(2));
        }
        (marks + digits + letters).max((text.len() as f64 / 3.2).ceil() as usize)
    }

    #[test]
    fn it_stays_under_900_tokens_whatever_is_configured() {
        let servers: String = (0..60)
            .map(|n| format!("[servers.a-server-with-a-long-name-{n}]\ncommand = \"x\"\ngrant = [\"*\"]\n"))
            .collect();
        let packages: String = (0..40)
            .map(|n| format!("{{name = \"a-package-{n}\", version = \"1.0\", sha256 = \"{n:064}\"}},"))
            .collect();
        let large = config(&format!(
            "{servers}[limits]\nwall_time = \"1h 59m 59s 999ms\"\nmemory = 1073741823\nmax_calls = 1000000\n\
             [profiles.p]\npackages = [{packages}]\nmounts = []\napprovals = \"deny\"\n"
        ));
        for language in BOTH {
            for (config, profile) in [(&Config::default(), None), (&large, None), (&large, Some("p"))] {
                let text = prompt(config, language, profile).unwrap();
                let tokens = tokens_at_most(&text);
                assert!(tokens < 900, "{}: {tokens} tokens, {} bytes:\n{text}", language.name(), text.len());
            }
        }
    }

    #[test]
    fn it_says_what_is_in_force() {
        let config = config(
            &"[servers.crm]\ncommand = \"x\"\ngrant = [\"list_*\"]\n[servers.mail]\ncommand = \"x\"\ngrant = [\"*\"]\n\
             [servers.off]\ncommand = \"x\"\n[limits]\nwall_time = \"45s\"\nmax_calls = 77\n\
             [approvals]\nmode = \"never\"\n\
             [profiles.quiet]\ntools = [\"mail/*\"]\nmounts = []\napprovals = \"deny\"\npackages = [\n\
             {name = \"tabulate\", version = \"0.9.0\", sha256 = \"SHA\"}, {name = \"Requests\", version = \"2\", sha256 = \"SHA\"}]\n\
             [profiles.quiet.limits]\nmax_calls = 5\n[profiles.typed]\nlanguages = [\"ts\"]\n"
                .replace("SHA", &"0".repeat(64)),
        );
        for language in BOTH {
            let text = prompt(&config, language, None).unwrap();
            for part in
                ["45s", "77 calls", "crm, mail", "/input: files", "approval-required: needs a person; nobody"]
            {
                assert!(text.contains(part), "{part}:\n{text}");
            }
            assert!(!text.contains("off"), "nothing of it is granted:\n{text}");
            let quiet = prompt(&config, language, Some("quiet")).unwrap();
            for part in ["45s", "5 calls", "this run: mail.", "is empty"] {
                assert!(quiet.contains(part), "{part}:\n{quiet}");
            }
            let python = language == Language::Python;
            assert_eq!(quiet.contains("and these packages: tabulate, Requests."), python, "{quiet}");
            assert_eq!(quiet.contains("pip, numpy"), python, "what is there is not called absent: {quiet}");
        }
        assert!(prompt(&config, Language::TypeScript, Some("typed")).is_ok());
        let refused = prompt(&config, Language::Python, Some("typed")).unwrap_err();
        assert_eq!(refused.code(), "profile-refused");
        assert_eq!(prompt(&config, Language::Python, Some("quite")).unwrap_err().code(), "profile-unknown");
    }

    #[test]
    fn it_knows_every_code_and_every_global() {
        for language in BOTH {
            let text = prompt(&Config::default(), language, None).unwrap();
            for code in ToolErrorCode::ALL {
                assert!(text.contains(&format!("\n{code}: ")), "{code}:\n{text}");
            }
            let names =
                globals(language).iter().map(|global| global.name).chain(absent(language).iter().copied());
            for name in names {
                assert!(text.contains(name), "{name}:\n{text}");
            }
        }
        // What a script's function may ask for is what the prompt says there is.
        let told: Vec<&str> = globals(Language::JavaScript).iter().map(|global| global.name).collect();
        assert!(crate::script::HANDED.iter().all(|name| told.contains(name)), "{told:?}");
    }
}
