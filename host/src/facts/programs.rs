//! What single programs do with the words they are given.

use super::sql;

/// What a program may do that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It takes away what cannot be had back.
    Destroys,
    /// It sends something to another machine.
    Outside,
    /// It is git, told to run a program.
    GitOption,
}

/// The name of a program without folder, ending and case.
pub(super) fn base(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
    for ending in [".exe", ".cmd", ".bat"] {
        if let Some(name) = name.strip_suffix(ending) {
            return name.to_owned();
        }
    }
    name
}

/// Whether any word is a short option with this letter, alone or among others: `-rf` has `r`.
fn short(words: &[String], letter: char) -> bool {
    words.iter().any(|word| {
        word.strip_prefix('-').is_some_and(|rest| {
            !rest.starts_with('-') && rest.chars().all(|c| c.is_ascii_alphabetic()) && rest.contains(letter)
        })
    })
}

fn has(words: &[String], any: &[&str]) -> bool {
    words.iter().any(|word| {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        any.iter().any(|one| one.eq_ignore_ascii_case(name))
    })
}

fn first(words: &[String]) -> &str {
    words.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str)
}

/// Tells what a program does. `substitutes`: some of its words are the output of other commands.
pub(super) fn effects(program: &str, words: &[String], substitutes: bool, mut found: impl FnMut(Effect)) {
    if destroys(program, words) {
        found(Effect::Destroys);
    }
    if outside(program, words, substitutes) {
        found(Effect::Outside);
    }
    if program == "git" {
        if git_destroys(words) {
            found(Effect::Destroys);
        }
        if git_runs(words) {
            found(Effect::GitOption);
        }
    }
}

/// Whether these words, given to `rm`, would take a tree away.
pub(super) fn effects_of_rm(words: &[String]) -> bool {
    destroys("rm", words)
}

/// The file that a command saves what it fetches in.
pub(super) fn output_of(words: &[String]) -> Option<String> {
    let option: &[&str] = match base(&words[0]).as_str() {
        "curl" => &["-o", "--output"],
        "wget" => &["-O", "--output-document"],
        _ => return None,
    };
    let after =
        words.iter().position(|word| option.contains(&word.as_str())).and_then(|at| words.get(at + 1));
    // Without one the name is the link's own end.
    let own =
        || words.iter().skip(1).rfind(|word| word.contains('/')).and_then(|link| link.rsplit('/').next());
    after.cloned().or_else(|| own().filter(|name| !name.is_empty()).map(str::to_owned))
}

fn destroys(program: &str, words: &[String]) -> bool {
    match program {
        "rm" | "grm" => {
            short(words, 'r')
                || short(words, 'R')
                || has(words, &["--recursive", "--no-preserve-root"])
                || words.iter().any(|word| word == "*" || word.ends_with("/*") || word == "~" || word == "/")
        }
        "del" | "erase" | "rd" | "rmdir" => has(words, &["/s", "-recurse", "-r"]),
        "remove-item" | "ri" => has(words, &["-recurse", "-r", "-force"]),
        "format" => words.iter().any(|word| word.ends_with(':')),
        "shred" | "wipefs" | "sfdisk" | "blkdiscard" | "format-volume" | "clear-disk" | "srm" | "dropdb"
        | "dropuser" | "userdel" | "rimraf" | "trash-empty" => true,
        "fdisk" | "parted" | "sgdisk" | "gdisk" => !has(words, &["-l", "--list", "print", "-p"]),
        "dd" => words.iter().any(|word| word.starts_with("of=")),
        "chmod" | "chown" | "chgrp" => short(words, 'R') || has(words, &["--recursive"]),
        "find" => has(words, &["-delete"]),
        "truncate" => has(words, &["-s", "--size"]),
        "shutdown" | "reboot" | "halt" | "poweroff" => true,
        "init" => has(words, &["0", "6"]),
        "kill" => words.iter().any(|word| word == "-1" || word == "1") && words.len() > 1,
        "crontab" => short(words, 'r'),
        "iptables" | "nft" => short(words, 'F') || has(words, &["--flush", "flush"]),
        "rsync" => words.iter().any(|word| word.starts_with("--delete")),
        "kubectl" | "oc" => first(words) == "delete" || first(words) == "drain",
        "helm" => matches!(first(words), "uninstall" | "delete"),
        "terraform" | "tofu" | "pulumi" => first(words) == "destroy" || has(words, &["-destroy"]),
        "docker" | "podman" => {
            has(words, &["prune"])
                || (has(words, &["rm", "rmi"]) && (short(words, 'f') || has(words, &["volume", "--force"])))
        }
        "aws" | "gsutil" | "gcloud" | "az" => {
            has(words, &["rb", "terminate-instances", "delete-bucket", "delete-stack"])
                || (has(words, &["rm"]) && (has(words, &["--recursive"]) || short(words, 'r')))
                || (matches!(program, "gcloud" | "az") && has(words, &["delete"]))
        }
        "gh" => has(words, &["delete"]),
        "npm" | "cargo" => has(words, &["unpublish", "yank"]),
        "redis-cli" => has(words, &["flushall", "flushdb"]),
        "psql" | "mysql" | "sqlite3" | "mariadb" | "duckdb" => words.iter().any(|word| {
            let text =
                word.strip_prefix("--command=").or_else(|| word.strip_prefix("--execute=")).unwrap_or(word);
            text.contains(' ') && sql::read(text).destroys
        }),
        _ => program.starts_with("mkfs") || (program == "cryptsetup" && has(words, &["luksFormat", "erase"])),
    }
}

fn outside(program: &str, words: &[String], substitutes: bool) -> bool {
    let remote = |word: &String| {
        !word.starts_with(['-', '/', '.'])
            && word.split_once(':').is_some_and(|(host, _)| host.len() > 1 && !host.contains('/'))
    };
    match program {
        "nc" | "ncat" | "netcat" | "socat" | "telnet" | "ssh" | "sftp" | "ftp" | "tftp" | "lftp"
        | "sendmail" | "mailx" | "mutt" | "msmtp" | "swaks" | "ngrok" | "cloudflared" | "croc"
        | "magic-wormhole" | "wormhole" | "rclone" => true,
        "mail" => !words.is_empty(),
        "scp" | "rsync" => words.iter().any(remote),
        "curl" => {
            const SENDS: &[&str] = &[
                "--data",
                "--data-raw",
                "--data-binary",
                "--data-urlencode",
                "--data-ascii",
                "--form",
                "--form-string",
                "--upload-file",
                "--json",
                "--url-query",
            ];
            let method = |word: &String| {
                ["POST", "PUT", "PATCH", "DELETE"].iter().any(|method| {
                    word.eq_ignore_ascii_case(method)
                        || word.strip_prefix("-X").is_some_and(|rest| rest.eq_ignore_ascii_case(method))
                        || word
                            .strip_prefix("--request=")
                            .is_some_and(|rest| rest.eq_ignore_ascii_case(method))
                })
            };
            has(words, SENDS)
                || words.iter().any(|word| ["-d", "-F", "-T"].iter().any(|option| word.starts_with(option)))
                || words.iter().any(method)
                || carries(words, substitutes)
        }
        "wget" => {
            has(words, &["--post-data", "--post-file", "--body-data", "--body-file", "--method"])
                || carries(words, substitutes)
        }
        "http" | "https" | "xh" => words
            .iter()
            .any(|word| matches!(word.as_str(), "POST" | "PUT" | "PATCH" | "DELETE") || word.contains('=')),
        "iwr" | "irm" | "invoke-webrequest" | "invoke-restmethod" => {
            has(words, &["-method", "-body", "-infile"]) || carries(words, substitutes)
        }
        // What is put into a name that is looked up leaves the house too.
        "dig" | "nslookup" | "host" | "ping" => substitutes || words.iter().any(|word| word.contains('$')),
        "openssl" => first(words) == "s_client",
        "aws" | "gsutil" => {
            has(words, &["cp", "sync", "mv"])
                && words.last().is_some_and(|word| word.starts_with("s3://") || word.starts_with("gs://"))
        }
        _ => false,
    }
}

/// A link with something put into it when the command runs.
fn carries(words: &[String], substitutes: bool) -> bool {
    words
        .iter()
        .any(|word| (word.contains("$()") && substitutes) || (word.contains('$') && word.contains('.')))
}

/// Where git's own options end: its command and the words after it.
fn git_command(words: &[String]) -> (&str, &[String]) {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "-c" | "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--config-env" => at += 2,
            word if word.starts_with('-') => at += 1,
            command => return (command, &words[at + 1..]),
        }
    }
    ("", &[])
}

fn git_destroys(words: &[String]) -> bool {
    let (command, rest) = git_command(words);
    match command {
        "push" => {
            short(rest, 'f')
                || short(rest, 'd')
                || has(rest, &["--force", "--mirror", "--delete", "--prune", "--force-with-lease"])
                || rest.iter().any(|word| word.starts_with('+') || (word.starts_with(':') && word.len() > 1))
        }
        "reset" => has(rest, &["--hard"]),
        "clean" => short(rest, 'f') || has(rest, &["--force"]),
        "branch" => short(rest, 'D'),
        "filter-branch" | "filter-repo" => true,
        "reflog" => first(rest) == "expire",
        "update-ref" => short(rest, 'd'),
        "stash" => matches!(first(rest), "clear" | "drop"),
        _ => false,
    }
}

fn git_runs(words: &[String]) -> bool {
    words.iter().any(|word| super::git::runs_a_program(word))
        || words.windows(2).any(|pair| pair[0] == "-c" && super::git::runs_by_setting(&pair[1]))
}

/// What a line of another language does, by the calls that stand in it.
pub(super) fn code(code: &str, mut found: impl FnMut(Effect)) {
    const DESTROYS: &[&str] = &[
        "rmtree",
        "rmSync",
        "rimraf",
        "removedirs",
        "remove_tree",
        "rm_rf",
        "rm_r(",
        "unlink",
        "os.remove(",
        "rmdirSync",
        "rm -r",
        "rm -f",
    ];
    const OUTSIDE: &[&str] = &[
        "requests.post",
        "requests.put",
        "socket.socket",
        "fsockopen",
        "smtplib",
        "net.connect",
        "TCPSocket",
    ];
    if DESTROYS.iter().any(|part| code.contains(part)) {
        found(Effect::Destroys);
    }
    if OUTSIDE.iter().any(|part| code.contains(part)) {
        found(Effect::Outside);
    }
}
