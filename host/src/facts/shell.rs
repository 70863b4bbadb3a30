//! What a shell command does: through wrappers, `sh -c`, substitutions and pipes.

use serde_json::Value;

use super::leaves::Leaf;
use super::programs::{self, Effect};
use super::shell_words::{Command, Pipeline, pipelines};
use super::{hosts, sensitive, shown};
use crate::policy::Finding;

/// Commands inside commands are followed this deep.
const DEPTH: usize = 5;
const SHELLS: &[&str] =
    &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "su", "pwsh", "powershell", "cmd"];
/// What takes a program from its input or from `-c` or `-e`.
const INTERPRETERS: &[&str] =
    &["python", "python3", "python2", "perl", "ruby", "node", "php", "lua", "deno", "bun", "osascript"];
/// What runs the command that its words hold.
const WRAPPERS: &[&str] = &[
    "sudo",
    "doas",
    "env",
    "nice",
    "nohup",
    "time",
    "timeout",
    "stdbuf",
    "setsid",
    "xargs",
    "command",
    "exec",
    "builtin",
    "busybox",
    "ionice",
    "chroot",
    "watch",
    "strace",
    "parallel",
    "unbuffer",
    "toybox",
    "runuser",
    "then",
    "do",
    "else",
    "if",
    "elif",
    "while",
    "until",
    "!",
    "{",
    "npx",
    "firejail",
    "proot",
    "caffeinate",
    "flock",
];

/// What was found in one command text.
#[derive(Default)]
struct Found {
    destroys: Option<String>,
    outside: Option<String>,
    git: Option<String>,
    sensitive: Option<String>,
    inside: Option<String>,
}

/// A command as one text.
pub(super) fn check(leaf: &Leaf<'_>, value: &str, out: &mut Vec<Finding>) {
    let mut found = Found::default();
    text(value, DEPTH, &mut found);
    report(found, leaf.path, out);
}

/// A command as an array of words, or an array of commands.
pub(super) fn argv(leaf: &Leaf<'_>, words: &[Value], out: &mut Vec<Finding>) {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    let mut found = Found::default();
    let as_one =
        shlex::try_join(words.iter().map(|word| word.trim_matches('\0'))).unwrap_or_else(|_| words.join(" "));
    text(&as_one, DEPTH, &mut found);
    for word in words.iter().filter(|word| word.contains(char::is_whitespace)) {
        text(word, DEPTH, &mut found);
    }
    report(found, leaf.path, out);
}

fn report(found: Found, path: &str, out: &mut Vec<Finding>) {
    let all = [
        ("shell-destroys", found.destroys, "this command destroys, or runs what it fetched"),
        ("shell-outside", found.outside, "this command sends to another machine"),
        ("git-option", found.git, "git would take this as an option that runs a program"),
        ("path-sensitive", found.sensitive, "this command touches a place that holds keys or runs by itself"),
        ("url-inside", found.inside, "this command reaches into a private network"),
    ];
    for (code, what, message) in all {
        if let Some(what) = what {
            out.push(Finding::at(code, path, format!("{message}: {}", shown(&what))));
        }
    }
}

fn text(value: &str, depth: usize, found: &mut Found) {
    if depth == 0 {
        // Nobody nests so deep for good reasons.
        found.destroys.get_or_insert_with(|| value.to_owned());
        return;
    }
    if value.replace(' ', "").contains(":(){:|:&};:") {
        found.destroys.get_or_insert_with(|| value.to_owned());
    }
    // What a shell puts spaces for.
    let value = if value.contains("IFS") {
        value.replace("${IFS}", " ").replace("$IFS", " ")
    } else {
        value.to_owned()
    };
    // Files that an earlier command has fetched.
    let mut loaded: Vec<String> = Vec::new();
    for pipeline in pipelines(&value) {
        self::pipeline(&pipeline, depth, found);
        for words in pipeline.iter().flat_map(|command| unwrap(&command.words)) {
            if words.iter().any(|word| loaded.iter().any(|file| same_file(word, file)))
                && runs_file(words, &loaded)
            {
                found.destroys.get_or_insert_with(|| words.join(" "));
            }
            loaded.extend(programs::output_of(words));
        }
        if pipeline.iter().any(fetches_one) {
            loaded.extend(pipeline.iter().flat_map(|command| command.writes.iter().cloned()));
        }
    }
}

fn same_file(word: &str, file: &str) -> bool {
    word.trim_start_matches("./") == file.trim_start_matches("./")
}

/// Whether a command runs one of these files, or makes it a program.
fn runs_file(words: &[String], files: &[String]) -> bool {
    let program = programs::base(&words[0]);
    let is_file = files.iter().any(|file| same_file(&words[0], file));
    is_file
        || SHELLS.contains(&program.as_str())
        || INTERPRETERS.contains(&program.as_str())
        || matches!(program.as_str(), "source" | "." | "chmod")
}

fn pipeline(pipeline: &Pipeline, depth: usize, found: &mut Found) {
    let joined = || pipeline.iter().map(|c| c.words.join(" ")).collect::<Vec<_>>().join(" | ");
    let mut fetched = false;
    let mut printed: Option<&[String]> = None;
    for command in pipeline {
        for target in &command.writes {
            if is_device(target) {
                found.destroys.get_or_insert_with(|| format!("> {target}"));
            }
            if target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/") {
                found.outside.get_or_insert_with(|| format!("> {target}"));
            }
            if sensitive::is(target) {
                found.sensitive.get_or_insert_with(|| format!("> {target}"));
            }
        }
        let runs = unwrap(&command.words);
        for words in &runs {
            let program = programs::base(&words[0]);
            let takes = SHELLS.contains(&program.as_str()) || INTERPRETERS.contains(&program.as_str());
            let sources = matches!(program.as_str(), "eval" | "source" | ".");
            let inner_fetches = command.inner.iter().any(|inner| pipelines(inner).iter().any(fetches));
            if (takes && fetched && reads_input(words)) || ((takes || sources) && inner_fetches) {
                found.destroys.get_or_insert_with(joined);
            }
            if let Some(echoed) = printed.filter(|_| takes && reads_input(words)) {
                text(&echoed.join(" "), depth - 1, found);
            }
            if takes && SHELLS.contains(&program.as_str()) {
                command.input.iter().for_each(|input| text(input, depth - 1, found));
            }
            one(&program, words, command, depth, found);
        }
        for inner in &command.inner {
            text(inner, depth - 1, found);
        }
        fetched |= fetches_one(command);
        let first = command.words.first().map(|word| programs::base(word));
        printed = matches!(first.as_deref(), Some("echo" | "printf")).then(|| &command.words[1..]);
    }
}

/// The commands that a command's words hold: behind assignments and wrappers.
fn unwrap(words: &[String]) -> Vec<&[String]> {
    let mut at = 0;
    let mut out: Vec<&[String]> = Vec::new();
    loop {
        while words.get(at).is_some_and(|word| is_assignment(word)) {
            at += 1;
        }
        let Some(word) = words.get(at) else { return out };
        out.push(&words[at..]);
        if !WRAPPERS.contains(&programs::base(word).as_str()) {
            return out;
        }
        // Options of the wrapper; what follows one may be its value or the command.
        at += 1;
        while let Some(word) = words.get(at) {
            let skipped = word.starts_with('-') || is_assignment(word) || is_duration(word);
            if !skipped {
                let value = at > 0 && words[at - 1].starts_with('-') && at + 1 < words.len();
                if !value {
                    break;
                }
                out.push(&words[at..]);
                if WRAPPERS.contains(&programs::base(word).as_str())
                    || SHELLS.contains(&programs::base(word).as_str())
                {
                    break;
                }
            }
            at += 1;
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with('-')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn is_duration(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 's' | 'm' | 'h'))
}

fn is_device(target: &str) -> bool {
    const FINE: &[&str] = &["null", "stdout", "stderr", "stdin", "tty", "zero", "full"];
    target.strip_prefix("/dev/").is_some_and(|device| {
        !FINE.contains(&device)
            && !device.starts_with("fd/")
            && !device.starts_with("tcp/")
            && !device.starts_with("udp/")
            && !device.starts_with("pts/")
            && !device.starts_with("shm/")
    })
}

/// Whether a shell or interpreter takes its program from its input.
fn reads_input(words: &[String]) -> bool {
    words[1..].iter().all(|word| word.starts_with('-'))
}

fn fetches(pipeline: &Pipeline) -> bool {
    pipeline.iter().any(fetches_one)
}

/// Whether a command gives what came from elsewhere or was encoded.
fn fetches_one(command: &Command) -> bool {
    unwrap(&command.words).iter().any(|words| {
        let has = |any: &[&str]| words[1..].iter().any(|word| any.contains(&word.as_str()));
        match programs::base(&words[0]).as_str() {
            "curl" | "wget" | "fetch" | "aria2c" | "http" | "iwr" | "invoke-webrequest" | "nc" | "ncat" => {
                true
            }
            "base64" | "base32" => has(&["-d", "-D", "--decode", "-di"]),
            "xxd" => words[1..].iter().any(|word| word.starts_with('-') && word.contains('r')),
            "openssl" => has(&["-d", "base64", "enc"]),
            _ => false,
        }
    })
}

fn one(program: &str, words: &[String], command: &Command, depth: usize, found: &mut Found) {
    let said = || words.join(" ");
    // The program that `sh -c` and its like are given.
    if SHELLS.contains(&program) {
        for (at, word) in words.iter().enumerate().skip(1) {
            let lower = word.to_ascii_lowercase();
            let gives = (word.starts_with('-') && !word.starts_with("--") && word.contains('c'))
                || matches!(lower.as_str(), "/c" | "/k" | "-command" | "--command");
            if let Some(inner) = words.get(at + 1).filter(|_| gives) {
                let rest = if matches!(program, "cmd" | "powershell" | "pwsh") {
                    words[at + 1..].join(" ")
                } else {
                    inner.clone()
                };
                text(&rest, depth - 1, found);
                break;
            }
            if matches!(lower.as_str(), "-enc" | "-encodedcommand" | "-ec") {
                found.destroys.get_or_insert_with(said);
            }
        }
    }
    // A name that is only made when the command runs, with options that take everything away.
    let computed = words[0].contains('$');
    if computed && programs::effects_of_rm(&words[1..]) {
        found.destroys.get_or_insert_with(said);
    }
    // `{rm,-rf,x}` is three words to a shell.
    if let Some(inner) =
        words[0].strip_prefix('{').and_then(|word| word.strip_suffix('}')).filter(|word| word.contains(','))
    {
        text(&inner.replace(',', " "), depth - 1, found);
    }
    if program == "eval" {
        text(&words[1..].join(" "), depth - 1, found);
    }
    if program == "env" {
        let split = words.iter().position(|word| word == "-S" || word == "--split-string");
        if let Some(inner) = split.and_then(|at| words.get(at + 1)) {
            text(inner, depth - 1, found);
        }
    }
    if program == "find" {
        let exec =
            words.iter().position(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"));
        if let Some(inner) = exec.and_then(|at| words.get(at + 1..)).filter(|inner| !inner.is_empty()) {
            one(&programs::base(&inner[0]), inner, &Command::default(), depth, found);
        }
    }
    if INTERPRETERS.contains(&program)
        && let Some(code) =
            words.iter().position(|word| matches!(word.as_str(), "-c" | "-e" | "-r" | "--eval"))
    {
        for code in &words[code + 1..] {
            programs::code(code, |effect| mark(effect, said(), found));
        }
    }
    programs::effects(program, &words[1..], !command.inner.is_empty(), |effect| mark(effect, said(), found));
    for word in &words[1..] {
        let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
        let value = value.trim_start_matches('@');
        if sensitive::is(value) && !value.contains(' ') {
            found.sensitive.get_or_insert_with(|| word.clone());
        }
        if value.contains("://")
            && hosts::of_url(value).is_some_and(|host| host.inside() && !host.is_loopback())
        {
            found.inside.get_or_insert_with(|| word.clone());
        }
    }
}

fn mark(effect: Effect, said: String, found: &mut Found) {
    let place = match effect {
        Effect::Destroys => &mut found.destroys,
        Effect::Outside => &mut found.outside,
        Effect::GitOption => &mut found.git,
    };
    place.get_or_insert(said);
}

#[cfg(test)]
mod tests;
