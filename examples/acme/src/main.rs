//! `acme-server`: the MCP server of the demo company Acme.
//!
//! One program, four servers: the first argument chooses which tools it offers, so that a
//! configuration can list `crm`, `web`, `http` and `mail` as the four upstreams they would be in
//! real life. Speaks MCP over stdin and stdout, or over streamable HTTP with `--http PORT`.
//!
//! It touches no network but the port that it listens on. What would leave the machine is written
//! to files, and the tools' descriptions say so.

mod crm;
mod customers;
mod http;
mod lines;
mod mail;
mod web;

use std::error::Error;
use std::process::ExitCode;

use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, ServiceExt};

const USAGE: &str = "usage: acme-server crm|web|http|mail [--http PORT]";

/// Where to speak MCP.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Listen {
    Stdio,
    /// Streamable HTTP on this loopback port; 0 takes a free one.
    Http(u16),
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((server, listen)) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let served = match server {
        "crm" => serve(crm::Crm, listen).await,
        "web" => serve(web::Web, listen).await,
        "http" => serve(http::Http::from_env(), listen).await,
        "mail" => serve(mail::Mail::from_env(), listen).await,
        other => {
            eprintln!("acme-server: there is no server `{other}`\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("acme-server {server}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// `None` if the arguments do not follow [`USAGE`].
fn parse(arguments: &[String]) -> Option<(&str, Listen)> {
    match arguments {
        [server] => Some((server, Listen::Stdio)),
        [server, flag, port] if flag == "--http" => Some((server, Listen::Http(port.parse().ok()?))),
        _ => None,
    }
}

async fn serve<S: ServerHandler + Clone>(server: S, listen: Listen) -> Result<(), Box<dyn Error>> {
    match listen {
        Listen::Stdio => {
            server.serve(stdio_pipes()).await?.waiting().await?;
        }
        Listen::Http(port) => serve_http(server, port).await?,
    }
    Ok(())
}

async fn serve_http<S: ServerHandler + Clone>(server: S, port: u16) -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    let address = listener.local_addr()?;
    // A web page that the user has open must not be able to talk to this server: only requests
    // made to a loopback name pass, and of those that name an origin only loopback ones.
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts([
            format!("127.0.0.1:{}", address.port()),
            format!("localhost:{}", address.port()),
        ])
        .with_allowed_origins(["http://127.0.0.1:*", "http://localhost:*"]);
    let service: StreamableHttpService<S, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(server.clone()), Default::default(), config);
    println!("listening on http://{address}/mcp");
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn arguments_follow_the_usage() {
        let parsed = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            parse(&words).map(|(server, listen)| (server.to_owned(), listen))
        };
        assert_eq!(parsed("crm"), Some(("crm".to_owned(), Listen::Stdio)));
        assert_eq!(parsed("mail --http 0"), Some(("mail".to_owned(), Listen::Http(0))));
        for wrong in ["", "crm web", "crm --http", "crm --http seventy", "crm --http 70000", "crm --port 1"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
