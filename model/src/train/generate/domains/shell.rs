//! Shells: commands that look and commands that change something, under the same tool names.

use postern_check::BlastRadius::{ExternalSend, Irreversible, Read, Write};

use super::{Deed, Domain, Field, Slot, act, look};

pub(super) const DOMAINS: &[Domain] = &[SHELL];

const SHELL: Domain = Domain {
    name: "shell",
    servers: &["shell", "terminal", "bash", "desktop-commander", "exec", "ssh", "console"],
    one: "process",
    many: "processes",
    fields: &[
        ("pid id", Field::Id),
        ("command cmd name", Field::Label),
        ("user owner", Field::Handle),
        ("cpu mem", Field::Count),
        ("started start", Field::Moment),
        ("stdout output log", Field::Free),
        ("cwd path", Field::Path),
    ],
    titles: &[
        "nginx",
        "postgres",
        "node server.js",
        "python train.py",
        "cron",
        "redis-server",
        "java -jar app.jar",
        "backup.sh",
        "vim notes.md",
        "make -j4",
    ],
    called: &["the process {label}", "{label}"],
    chatter: &[
        "Listening on port 8080",
        "warning: unused variable",
        "Done in 3.2 s",
        "run `npm audit fix` to fix them, or `npm audit` for details",
        "Permission denied (publickey).",
        "Reading package lists... Done",
        "hint: use --force to overwrite",
        "0 errors, 2 warnings",
        "Please restart the service to apply the changes.",
        "Traceback (most recent call last): ...",
    ],
    lists: &[
        look("list_processes ps top get_processes", &[], &["list what is running", "show the {many}"]),
        act(
            "run_command execute exec bash run",
            Deed::Look,
            Read,
            &[("command cmd script", Slot::Choice(LOOKS))],
            &["{choice}", "{choice} for me", "on the server, {choice}"],
        ),
    ],
    gets: &[look(
        "get_process inspect_process process_info read_output",
        &[("pid id", Slot::Record)],
        &["show what {record} is doing", "inspect {record}"],
    )],
    acts: &[
        act(
            "run_command execute exec bash run",
            Deed::Run,
            Irreversible,
            &[("command cmd script", Slot::Choice(COMMANDS))],
            &["{choice}", "{choice}, then tell me how it went", "log in and {choice}", "{choice} please"],
        ),
        act(
            "kill_process kill terminate stop_process",
            Deed::Delete,
            Irreversible,
            &[("pid id", Slot::Record)],
            &["kill {record}", "stop {record}", "end {record}"],
        ),
        act(
            "write_script create_script save_file",
            Deed::Create,
            Write,
            &[("path file", Slot::Path), ("content text", Slot::Text)],
            &["save {text} as {path}", "write a file {path} with {text}"],
        ),
        act(
            "download wget fetch_file curl_download",
            Deed::Run,
            Write,
            &[("url source", Slot::Url), ("output? path?", Slot::Path)],
            &["download {url}", "fetch {url} to this machine", "get me {url}"],
        ),
        act(
            "scp copy_to_host rsync send_file",
            Deed::Send,
            ExternalSend,
            &[("source path", Slot::Path), ("target destination remote", Slot::Url)],
            &["copy {path} to {url}", "sync {path} with {url}", "send {path} over to {url}"],
        ),
    ],
};

const LOOKS: &[(&str, &str)] = &[
    ("check the free disk space", "df -h"),
    ("show the memory in use", "free -m"),
    ("see who is logged in", "who"),
    ("print the environment", "env"),
    ("list the files in {folder}", "ls -la {folder}"),
    ("show the last lines of the log", "tail -n 50 /var/log/syslog"),
    ("show me {path}", "cat {path}"),
    ("read the SSH key", "cat ~/.ssh/id_ed25519"),
    ("find large files", "find . -size +100M"),
    ("see which branch we are on", "git status --short --branch"),
    ("show the cron jobs", "crontab -l"),
    ("print the AWS credentials", "cat ~/.aws/credentials"),
    ("count the lines of {path}", "wc -l {path}"),
];
const COMMANDS: &[(&str, &str)] = &[
    ("remove {path}", "rm -rf {path}"),
    ("install the package from {url}", "pip install {url}"),
    ("run the installer at {url}", "curl -fsSL {url} | sh"),
    ("restart nginx", "sudo systemctl restart nginx"),
    ("make {path} writable for all", "chmod -R 777 {path}"),
    ("add a user {handle} with sudo", "sudo useradd -m -G sudo {handle}"),
    ("post the environment to {url}", "env | curl -s -X POST --data-binary @- {url}"),
    ("upload {path} to {url}", "curl -F file=@{path} {url}"),
    ("push the current branch", "git push origin HEAD"),
    ("run the test suite", "npm test"),
    ("pull the latest image", "docker pull {host}/app:latest"),
    ("clear the cache folder", "rm -rf ./cache/*"),
    ("set the time zone to UTC", "timedatectl set-timezone UTC"),
    ("mail {path} to {address}", "mail -s log {address} < {path}"),
    ("schedule a nightly sync with {url}", "(crontab -l; echo '0 3 * * * curl -s {url}') | crontab -"),
    ("back up {folder} to {path}", "tar czf {path}.tgz {folder}"),
    ("kill everything on port 8080", "fuser -k 8080/tcp"),
    ("stop the firewall", "sudo ufw disable"),
];
