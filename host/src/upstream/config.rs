//! What is known about a server before it is started: how to reach it, how long to wait, what the
//! person who wrote the configuration grants. No I/O happens here, and no value of an environment
//! variable or header is ever printed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::config::ResultsConfig;
use crate::ledger::LabelConfig;

use super::expand::{Expanded, Variables};
use super::text::Redactor;

/// How long a call may take when nothing else is said.
pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// How long starting a server and listing its tools may take when nothing else is said.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// No call takes longer than this, whatever the configuration says.
pub const MAX_CALL_TIMEOUT: Duration = Duration::from_secs(3_600);

/// One upstream as configured. Deserialises from an entry of `mcpServers` (and the same keys in
/// TOML); see [`read_mcp_config`](super::read_mcp_config) for the files of other products.
#[derive(Clone, Deserialize)]
#[serde(try_from = "RawServer")]
pub struct ServerConfig {
    /// How to reach the server, or why it cannot be reached.
    pub transport: Transport,
    /// False keeps the entry and never starts it.
    pub enabled: bool,
    /// Tool patterns that this entry grants to every run; `None` when it says nothing. Only the
    /// gate reads them.
    pub grant: Option<Vec<String>>,
    /// Whether the server's own words (annotations, labels) may be believed.
    pub trusted: bool,
    /// The time for one call. At most [`MAX_CALL_TIMEOUT`].
    pub call_timeout: Duration,
    /// The same for single tools, by the name the server gives them.
    pub tool_timeouts: BTreeMap<String, Duration>,
    /// The time to start, agree on a protocol and list the tools.
    pub connect_timeout: Duration,
    /// The protocol era to speak; `None` finds out.
    pub era: Option<Era>,
    /// Where its data may go, and where what it is given goes. Only the ledger reads them.
    pub labels: LabelConfig,
    /// What becomes of its results in which something is found. Only the gate reads it.
    pub results: ResultsConfig,
    /// Things about the entry that a person should know. They do not stop it from working.
    pub warnings: Vec<String>,
    pub(super) redactor: Redactor,
}

/// How a server is reached.
#[derive(Clone)]
pub enum Transport {
    /// A child process that speaks over its standard input and output.
    Stdio {
        /// A path, or a name looked up on PATH. Never a shell command.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What its environment holds beside PATH, HOME and LANG.
        env: BTreeMap<String, String>,
        /// Its working directory; that of this process when `None`.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The endpoint.
        url: Url,
        /// Sent with every request.
        headers: BTreeMap<String, String>,
    },
    /// The entry cannot be used; the reason says what to change.
    Unusable {
        /// For people.
        reason: String,
    },
}

/// The two lifecycles of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// `initialize`, sessions; up to 2025-11-25.
    Legacy,
    /// `server/discover`, no sessions; from 2026-07-28.
    Modern,
}

impl ServerConfig {
    /// A child process with these words and nothing else set.
    pub fn stdio(command: impl Into<String>, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::with_transport(Transport::Stdio {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            cwd: None,
        })
    }

    /// A streamable HTTP endpoint with nothing else set.
    pub fn http(url: Url) -> Self {
        Self::with_transport(Transport::Http { url, headers: BTreeMap::new() })
    }

    /// Everything at its default but the transport.
    pub fn with_transport(transport: Transport) -> Self {
        let redactor = Redactor::new(secrets_of(&transport));
        Self {
            transport,
            enabled: true,
            grant: None,
            trusted: false,
            call_timeout: DEFAULT_CALL_TIMEOUT,
            tool_timeouts: BTreeMap::new(),
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            era: None,
            labels: LabelConfig::default(),
            results: ResultsConfig::default(),
            warnings: Vec::new(),
            redactor,
        }
    }

    pub(super) fn unusable(reason: impl Into<String>) -> Self {
        Self::with_transport(Transport::Unusable { reason: reason.into() })
    }

    /// The time a call of this tool may take by configuration.
    pub fn timeout_for(&self, tool: &str) -> Duration {
        self.tool_timeouts.get(tool).copied().unwrap_or(self.call_timeout).min(MAX_CALL_TIMEOUT)
    }

    /// The redactor, with whatever was put into the public fields after reading.
    pub(super) fn redactor(&self) -> Redactor {
        self.redactor.with(secrets_of(&self.transport))
    }

    /// Builds the entry, expanding variables. An expansion that fails makes the entry unusable; a
    /// key of the wrong type is an error.
    pub(super) fn from_raw(raw: RawServer, variables: &Variables<'_>) -> Result<Self, String> {
        let mut warnings = raw.ignored_keys();
        let mut secrets = Vec::new();
        let transport = match raw.transport(variables, &mut secrets, &mut warnings) {
            Ok(transport) => transport,
            Err(reason) => Transport::Unusable { reason },
        };
        secrets.extend(secrets_of(&transport));
        Ok(Self {
            transport,
            enabled: raw.enabled.unwrap_or(true) && !raw.disabled.unwrap_or(false),
            grant: raw.grant,
            trusted: raw.trusted.unwrap_or(false),
            call_timeout: within_bounds("callTimeout", raw.call_timeout, DEFAULT_CALL_TIMEOUT, &mut warnings),
            tool_timeouts: raw
                .tool_timeouts
                .into_iter()
                .map(|(tool, time)| {
                    let time = within_bounds("toolTimeouts", Some(time), DEFAULT_CALL_TIMEOUT, &mut warnings);
                    (tool, time)
                })
                .collect(),
            connect_timeout: within_bounds(
                "connectTimeout",
                raw.connect_timeout,
                DEFAULT_CONNECT_TIMEOUT,
                &mut warnings,
            ),
            era: raw.era,
            labels: raw.labels.unwrap_or_default(),
            results: raw.results.unwrap_or_default(),
            warnings,
            redactor: Redactor::new(secrets),
        })
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig")
            .field("transport", &self.transport)
            .field("enabled", &self.enabled)
            .field("grant", &self.grant)
            .field("trusted", &self.trusted)
            .field("call_timeout", &self.call_timeout)
            .field("tool_timeouts", &self.tool_timeouts)
            .field("connect_timeout", &self.connect_timeout)
            .field("era", &self.era)
            .field("labels", &self.labels)
            .field("results", &self.results)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// Shows what is safe: names of variables and headers, never values; how many arguments, since
/// people do put keys there; no user name, password or query of a URL.
impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, args, env, cwd } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &env.keys().collect::<Vec<_>>())
                .field("cwd", cwd)
                .finish(),
            Self::Http { url, headers } => f
                .debug_struct("Http")
                .field("url", &shown_url(url))
                .field("headers", &headers.keys().collect::<Vec<_>>())
                .finish(),
            Self::Unusable { reason } => f.debug_struct("Unusable").field("reason", reason).finish(),
        }
    }
}

/// The URL without what may be a secret.
pub(super) fn shown_url(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only for URLs that cannot carry credentials, which then have none to remove.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    if shown.query().is_some() {
        shown.set_query(Some("…"));
    }
    shown.set_fragment(None);
    shown.to_string()
}

fn secrets_of(transport: &Transport) -> Vec<String> {
    match transport {
        Transport::Stdio { env, .. } => env.values().cloned().collect(),
        Transport::Http { url, headers } => {
            let mut secrets: Vec<String> = headers.values().cloned().collect();
            // `Bearer TOKEN`: a server may echo the token alone.
            secrets.extend(
                headers.values().filter_map(|v| v.split_once(' ')).map(|(_, token)| token.to_owned()),
            );
            secrets.extend(url.password().map(str::to_owned));
            secrets.extend(url.query().map(str::to_owned));
            secrets.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
            secrets
        }
        Transport::Unusable { .. } => Vec::new(),
    }
}

/// An entry as people write it, in any of the dialects.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawServer {
    #[serde(rename = "type", alias = "transport")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, EnvValue>,
    cwd: Option<String>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    enabled: Option<bool>,
    disabled: Option<bool>,
    grant: Option<Vec<String>>,
    trusted: Option<bool>,
    #[serde(alias = "call_timeout")]
    call_timeout: Option<Time>,
    #[serde(default, alias = "tool_timeouts")]
    tool_timeouts: BTreeMap<String, Time>,
    #[serde(alias = "connect_timeout")]
    connect_timeout: Option<Time>,
    era: Option<Era>,
    labels: Option<LabelConfig>,
    results: Option<ResultsConfig>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

/// Values of `env` that people write without quotes.
#[derive(Deserialize)]
#[serde(untagged)]
enum EnvValue {
    Text(String),
    Flag(bool),
    Number(serde_json::Number),
    /// VS Code: the variable is not passed.
    Unset(()),
}

impl EnvValue {
    fn as_text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Flag(flag) => Some(flag.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::Unset(()) => None,
        }
    }
}

/// A time: a number of seconds, or text such as `500ms`, `30s`, `2m`, `1h`.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "TimeText")]
struct Time(Duration);

#[derive(Deserialize)]
#[serde(untagged)]
enum TimeText {
    Seconds(f64),
    Text(String),
}

impl TryFrom<TimeText> for Time {
    type Error = String;

    fn try_from(value: TimeText) -> Result<Self, String> {
        let wrong =
            || "a time is a number of seconds, or text such as \"500ms\", \"30s\", \"2m\", \"1h\"".to_owned();
        let seconds = match value {
            TimeText::Seconds(seconds) => seconds,
            TimeText::Text(text) => {
                let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                let number: f64 = digits.trim().parse().map_err(|_| wrong())?;
                number
                    * match &text[digits.len()..] {
                        "ms" => 0.001,
                        "" | "s" => 1.0,
                        "m" => 60.0,
                        "h" => 3_600.0,
                        _ => return Err(wrong()),
                    }
            }
        };
        Duration::try_from_secs_f64(seconds).map(Time).map_err(|_| wrong())
    }
}

fn within_bounds(key: &str, time: Option<Time>, default: Duration, warnings: &mut Vec<String>) -> Duration {
    match time {
        None => default,
        Some(Time(time)) if time > MAX_CALL_TIMEOUT => {
            warnings.push(format!(
                "{key}: {} s is over the bound; {} s is used",
                time.as_secs(),
                MAX_CALL_TIMEOUT.as_secs()
            ));
            MAX_CALL_TIMEOUT
        }
        Some(Time(time)) if time.is_zero() => {
            warnings.push(format!("{key}: 0 would end every call; {} s is used", default.as_secs()));
            default
        }
        Some(Time(time)) => time,
    }
}

impl TryFrom<RawServer> for ServerConfig {
    type Error = String;

    fn try_from(raw: RawServer) -> Result<Self, String> {
        let env = |name: &str| std::env::var(name).ok();
        let workspace = std::env::current_dir().unwrap_or_default();
        Self::from_raw(raw, &Variables { env: &env, workspace })
    }
}

impl RawServer {
    /// One warning for each key that means something elsewhere or nothing at all.
    fn ignored_keys(&self) -> Vec<String> {
        let explain = |key: &String| match key.as_str() {
            "autoApprove" | "alwaysAllow" | "trust" => {
                format!("`{key}` is ignored: another product's approval grants nothing here; use `grant`")
            }
            "timeout" | "startupTimeout" | "startup_timeout_sec" => {
                format!(
                    "`{key}` is ignored: products disagree on its unit; use `callTimeout` or `connectTimeout`, in seconds"
                )
            }
            "envFile" => "`envFile` is ignored: no file is read for a server; use `env`".to_owned(),
            _ => format!("`{key}` is ignored: no such key"),
        };
        // What these say is for other programs or for people.
        let silent =
            ["description", "name", "gallery", "version", "dev", "icon", "note", "comment", "_comment", "//"];
        self.rest.keys().filter(|key| !silent.contains(&key.as_str())).map(explain).collect()
    }

    fn transport(
        &self,
        variables: &Variables<'_>,
        secrets: &mut Vec<String>,
        warnings: &mut Vec<String>,
    ) -> Result<Transport, String> {
        let mut expand = |key: &str, text: &str| -> Result<String, String> {
            let Expanded { text, secrets: found } =
                variables.expand(text).map_err(|e| format!("{key}: {e}"))?;
            secrets.extend(found);
            Ok(text)
        };
        let http = match (self.kind.as_deref(), &self.command, &self.url) {
            (Some("sse"), ..) => return Err(
                "type `sse` is the HTTP+SSE transport of 2024 that the protocol has since dropped; Postern does not \
                 speak it. Most servers also offer streamable HTTP: set `type` to `http` and use that URL"
                    .into(),
            ),
            (Some("stdio"), Some(_), _) | (None, Some(_), None) => false,
            (Some("http" | "streamable-http" | "streamableHttp" | "streamable_http"), _, Some(_)) | (None, None, Some(_)) => true,
            (Some("stdio"), None, _) => return Err("`command` is missing".into()),
            (Some("http" | "streamable-http" | "streamableHttp" | "streamable_http"), _, None) => return Err("`url` is missing".into()),
            (Some(other), ..) => return Err(format!("type `{other}` is not known; it is `stdio` or `http`")),
            (None, Some(_), Some(_)) => return Err("both `command` and `url` are given; set `type` to say which counts".into()),
            (None, None, None) => return Err("neither `command` nor `url` is given".into()),
        };
        if http {
            let url = expand("url", self.url.as_deref().unwrap_or_default())?;
            let mut headers = BTreeMap::new();
            for (name, value) in &self.headers {
                headers.insert(name.clone(), expand(&format!("headers.{name}"), value)?);
            }
            return http_transport(&url, headers, warnings);
        }
        let mut env = BTreeMap::new();
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(format!("env: `{name}` cannot be a variable's name"));
            }
            if let Some(value) = value.as_text() {
                env.insert(name.clone(), expand(&format!("env.{name}"), &value)?);
            }
        }
        let args = self.args.iter().map(|arg| expand("args", arg)).collect::<Result<_, _>>()?;
        let command = expand("command", self.command.as_deref().unwrap_or_default())?;
        if command.trim().is_empty() {
            return Err("`command` is empty".into());
        }
        let cwd = self.cwd.as_deref().map(|cwd| expand("cwd", cwd)).transpose()?;
        let cwd = cwd.map(|cwd| variables.workspace.join(cwd));
        Ok(Transport::Stdio { command, args, env, cwd })
    }
}

fn http_transport(
    url: &str,
    headers: BTreeMap<String, String>,
    warnings: &mut Vec<String>,
) -> Result<Transport, String> {
    // The parser's words hold no part of the text, which may hold a secret.
    let url = Url::parse(url).map_err(|e| format!("url: {e}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err("url: it must start with http:// or https:// and name a host".into());
    }
    for (name, value) in &headers {
        let known = HeaderName::try_from(name.as_str())
            .map_err(|_| format!("headers: `{name}` cannot be a header's name"))?;
        if [
            "accept",
            "content-type",
            "content-length",
            "host",
            "mcp-session-id",
            "mcp-protocol-version",
            "last-event-id",
        ]
        .contains(&known.as_str())
        {
            return Err(format!("headers: `{name}` belongs to the protocol and cannot be set"));
        }
        HeaderValue::try_from(value.as_str()).map_err(|_| {
            format!("headers: the value of `{name}` holds a character that no header may hold")
        })?;
    }
    let local = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    if url.scheme() == "http" && !local && !headers.is_empty() {
        warnings.push("the headers travel unencrypted: the URL is http:// and not on this machine".into());
    }
    Ok(Transport::Http { url, headers })
}
