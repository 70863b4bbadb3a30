//! From a text as a model writes it to a source that a runner takes: which language it is in, which
//! part of it is the script, and the form `run-source` wants: of JavaScript the body of an async function, of
//! Python the script itself.
//!
//! Everything here is pure: text in, text out, no files, no network, no clock.
//!
//! - `fence` finds the script in Markdown
//! - `refuse` knows the texts that are no script, and says what to write instead
//! - `parse` runs the parser where no text can overflow the stack
//! - `typescript` takes the types out
//! - `python` knows Python when it sees it
//! - `dialect` makes the many ways to write a script into one
//! - `lines` leads from a place in the result back to the text

mod dialect;
mod fence;
mod lines;
mod parse;
mod python;
mod refuse;
mod typescript;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

/// What a script's function may ask for by name.
#[cfg(test)]
pub(crate) use dialect::ONE_BY_ONE as HANDED;
pub use lines::LineMap;

use parse::Syntax;

/// Longer texts are refused: a script is written by a model, data belongs into files.
pub const MAX_BYTES: usize = 1 << 20;

/// The name that the JavaScript runner gives the source in a stack trace.
pub const SOURCE_NAME: &str = "script.js";

/// The name that the Python runner gives it.
pub const PYTHON_SOURCE_NAME: &str = "script.py";

/// The modules that a script can import, with or without `node:`.
pub const MODULES: [&str; 6] = ["fs", "fs/promises", "path", "path/posix", "url", "timers/promises"];

/// What a script is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// JavaScript.
    JavaScript,
    /// TypeScript: its types are taken out, never checked.
    TypeScript,
    /// Python.
    Python,
}

impl Language {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Python => "Python",
        }
    }

    /// The language of a fence's label or a file's extension.
    fn of_label(label: &str) -> Option<Self> {
        match label.to_ascii_lowercase().as_str() {
            "js" | "javascript" | "mjs" | "cjs" | "jsx" | "node" | "ecmascript" => Some(Self::JavaScript),
            "ts" | "typescript" | "mts" | "cts" | "tsx" | "deno" => Some(Self::TypeScript),
            "py" | "python" | "python3" | "py3" => Some(Self::Python),
            _ => None,
        }
    }
}

/// A script that a runner can take.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// What `run-source` is handed.
    pub source: String,
    /// What the text was written in.
    pub language: Language,
    /// Leads from places in `source` back to the text.
    pub map: LineMap,
}

/// Why a text cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptProblem {
    /// A stable name: `script-syntax`, `script-form`, `script-language`, `script-too-large`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// Where in the user's text, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// The line, and a caret below the place.
    pub excerpt: Option<String>,
}

impl ScriptProblem {
    /// The name of the error, as a script would see it.
    pub fn name(&self) -> &'static str {
        match self.code {
            "script-syntax" => "SyntaxError",
            _ => "ScriptError",
        }
    }

    fn new(code: &'static str, message: impl Into<String>, hint: impl Into<Option<String>>) -> Self {
        Self { code, message: message.into(), hint: hint.into(), line: None, column: None, excerpt: None }
    }

    /// A text that is no script in the form it has.
    fn form(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new("script-form", message, Some(hint.into()))
    }

    /// The same, at a place of the user's text.
    fn at(mut self, text: &str, line: u32, column: u32) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self.excerpt = lines::excerpt(text, line, column);
        self
    }
}

impl From<ScriptProblem> for crate::Error {
    fn from(problem: ScriptProblem) -> Self {
        let place = match (problem.line, problem.column) {
            (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
            _ => String::new(),
        };
        let excerpt = problem.excerpt.iter().map(|excerpt| format!("\n{excerpt}")).collect::<String>();
        let name = if problem.code == "script-syntax" { "SyntaxError: " } else { "" };
        Self::Script {
            code: problem.code,
            message: format!("{name}{}{place}{excerpt}", problem.message),
            hint: problem.hint,
        }
    }
}

/// Makes `text` into something that a runner takes.
///
/// `language` is what the caller knows for sure; without it, a fence's label, the extension of `name`
/// and the text itself decide. `name` is a file name, if there is one, and any name otherwise.
pub fn prepare(text: &str, language: Option<Language>, name: &str) -> Result<Prepared, ScriptProblem> {
    if text.len() > MAX_BYTES {
        let message = format!("the script has {} bytes; at most {MAX_BYTES} are allowed", text.len());
        let hint = "put data into a file and give it to the run with --input".to_owned();
        return Err(ScriptProblem::new("script-too-large", message, hint));
    }
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if body.trim().is_empty() {
        return Err(ScriptProblem::form(
            "the script is empty",
            "write JavaScript or TypeScript that `return`s its result, or Python that ends with it",
        ));
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let language = language.or_else(|| Language::of_label(extension));

    let whole = fence::Part { text: body, label: "", first_line: 1 };
    part_of(text, language, if fence::any(body) { fence::only(body, language)? } else { whole })
}

/// Prepares the part of `text` that is the script.
fn part_of(text: &str, language: Option<Language>, part: fence::Part<'_>) -> Result<Prepared, ScriptProblem> {
    let language = language.or_else(|| Language::of_label(part.label));
    refuse::label(part.label)?;
    if language == Some(Language::Python) || language.is_none() && python::is_meant(part.text) {
        return python::prepare(part);
    }
    refuse::before_parsing(part.text)?;

    // A `#!` line names a program for the shell. Inside a function it would be no comment; this is.
    let code = match part.text.strip_prefix("#!") {
        Some(rest) => format!("//{rest}"),
        None => part.text.to_owned(),
    };
    parse::guarded(&code, || {
        let map = LineMap::below(part.first_line - 1);
        let (code, map) = match dialect::name_function(&code) {
            Some((named, step)) => (named, map.then(step)),
            None => (code.clone(), map),
        };
        if let Some(whole) = refuse::json_object(&code) {
            let (source, edits) = whole;
            return Ok(Prepared { source, language: Language::JavaScript, map: map.then(edits) });
        }
        let (language, javascript, map) = match parse::which(&code, language) {
            Ok(Syntax::JavaScript) => (Language::JavaScript, code.clone(), map),
            Ok(Syntax::TypeScript) => {
                let (javascript, step) =
                    typescript::strip(&code).map_err(|fault| fault.problem(text, &map))?;
                (Language::TypeScript, javascript, map.then(step))
            }
            Err(_) if language.is_none() && python::is_likely(part.text) => return python::prepare(part),
            Err(fault) => {
                refuse::after_parsing(part.text)?;
                return Err(fault.problem(text, &map));
            }
        };
        let (source, edits) = dialect::one(&javascript).map_err(|fault| fault.problem(text, &map))?;
        Ok(Prepared { source, language, map: map.then(edits) })
    })
}
