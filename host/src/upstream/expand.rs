//! `${…}` in server settings, replaced on the host before a server is started. Says which variable
//! is missing, never what a variable holds.

use std::path::PathBuf;

/// Where variables come from. Tests and embedders may bring their own.
pub(super) struct Variables<'a> {
    /// Looks an environment variable up.
    pub(super) env: &'a dyn Fn(&str) -> Option<String>,
    /// What `${workspaceFolder}` means.
    pub(super) workspace: PathBuf,
}

/// What an expansion made, and the values that went into it.
#[derive(Default)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// Values of environment variables: secrets until somebody says otherwise.
    pub(super) secrets: Vec<String>,
}

impl Variables<'_> {
    /// Replaces `${env:NAME}`, `${NAME}`, `${NAME:-default}`, `${workspaceFolder}`, `${userHome}` and
    /// `${pathSeparator}`. A `$` not followed by `{` stays as it is.
    pub(super) fn expand(&self, text: &str) -> Result<Expanded, String> {
        let mut out = Expanded::default();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            out.text.push_str(&rest[..start]);
            let after = &rest[start + 2..];
            let end = after.find('}').ok_or("`${` without a closing `}`")?;
            self.variable(&after[..end], &mut out)?;
            rest = &after[end + 1..];
        }
        out.text.push_str(rest);
        Ok(out)
    }

    fn variable(&self, name: &str, out: &mut Expanded) -> Result<(), String> {
        match name {
            "workspaceFolder" => out.text.push_str(&self.workspace.to_string_lossy()),
            "pathSeparator" | "/" => out.text.push(std::path::MAIN_SEPARATOR),
            "userHome" => out.text.push_str(&(self.env)("HOME").ok_or("${userHome}: HOME is not set")?),
            _ if name.starts_with("input:") => {
                return Err(format!(
                    "${{{name}}} asks a person when VS Code starts the server; Postern does not. \
                     Put the value into an environment variable and write ${{env:NAME}}"
                ));
            }
            _ => {
                let plain = name.strip_prefix("env:").unwrap_or(name);
                let (plain, default) = match plain.split_once(":-") {
                    Some((plain, default)) => (plain, Some(default)),
                    None => (plain, None),
                };
                let known =
                    !plain.is_empty() && plain.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                if !known {
                    return Err(format!(
                        "${{{name}}} is not a variable that Postern knows; use ${{env:NAME}}"
                    ));
                }
                match ((self.env)(plain), default) {
                    (Some(value), _) => {
                        out.text.push_str(&value);
                        out.secrets.push(value);
                    }
                    (None, Some(default)) => out.text.push_str(default),
                    (None, None) => return Err(format!("the environment variable {plain} is not set")),
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn expand(text: &str) -> Result<String, String> {
        let env = |name: &str| (name == "TOKEN").then(|| "s3cret-value".to_owned());
        Variables { env: &env, workspace: "/ws".into() }.expand(text).map(|e| e.text)
    }

    #[test]
    fn known_forms() {
        assert_eq!(expand("Bearer ${env:TOKEN}").unwrap(), "Bearer s3cret-value");
        assert_eq!(expand("${TOKEN}${NOPE:-x}").unwrap(), "s3cret-valuex");
        assert_eq!(expand("${workspaceFolder}/a $5 $x").unwrap(), "/ws/a $5 $x");
    }

    #[test]
    fn faults_name_the_variable_and_no_value() {
        assert_eq!(
            expand("${env:TOKEN} ${MISSING}").unwrap_err(),
            "the environment variable MISSING is not set"
        );
        assert!(expand("${input:key}").unwrap_err().contains("asks a person"));
        assert!(expand("${command:x}").unwrap_err().contains("${command:x}"));
        assert!(expand("${TOKEN").unwrap_err().contains("closing"));
    }
}
