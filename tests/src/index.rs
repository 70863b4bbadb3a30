//! A package index on this machine, with the simple API in JSON.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use serde_json::json;

const JSON: &str = "application/vnd.pypi.simple.v1+json";

/// Answers until it is dropped.
#[derive(Debug)]
pub struct PackageIndex {
    address: SocketAddr,
    files: Arc<Files>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Debug, Default)]
struct Files {
    /// By name: the digest that the index tells, and the bytes that it gives.
    all: BTreeMap<String, (String, Vec<u8>)>,
    /// The index speaks HTML alone, as old ones do.
    html: bool,
    /// Paths that were asked for.
    asked: Mutex<Vec<String>>,
}

impl PackageIndex {
    /// With these files: name, the digest that is told of it, bytes.
    pub fn start(files: impl IntoIterator<Item = (String, String, Vec<u8>)>) -> Self {
        let all = files.into_iter().map(|(name, digest, bytes)| (name, (digest, bytes))).collect();
        Self::serve(Files { all, ..Files::default() })
    }

    /// An index that knows nothing of JSON.
    pub fn of_html() -> Self {
        Self::serve(Files { html: true, ..Files::default() })
    }

    fn serve(files: Files) -> Self {
        let files = Arc::new(files);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new()
            .route("/simple/{project}/", get(project))
            .route("/files/{name}", get(file))
            .with_state(Arc::clone(&files));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self { address, files, _runtime: runtime }
    }

    /// Its address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}/simple", self.address)
    }

    /// The paths that it was asked for until now.
    pub fn asked(&self) -> Vec<String> {
        self.files.asked.lock().unwrap().clone()
    }
}

type Answer = Result<(HeaderMap, Vec<u8>), StatusCode>;

fn answer(kind: &str, bytes: Vec<u8>) -> Answer {
    Ok((HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]), bytes))
}

async fn project(State(files): State<Arc<Files>>, Path(project): Path<String>, headers: HeaderMap) -> Answer {
    files.asked.lock().unwrap().push(format!("/simple/{project}/"));
    if files.html {
        return answer("text/html", b"<!DOCTYPE html><a href=\"x.whl\">x.whl</a>".to_vec());
    }
    if headers.get(ACCEPT).is_none_or(|accept| accept != JSON) {
        return Err(StatusCode::NOT_ACCEPTABLE);
    }
    let is_of =
        |name: &str| name.split('-').next().unwrap().replace(['_', '.'], "-").to_lowercase() == project;
    let listed: Vec<_> = files
        .all
        .iter()
        .filter(|(name, _)| is_of(name))
        // Relative to this answer's own address, as an index may write it.
        .map(|(name, (digest, _))| json!({"filename": name, "url": format!("../../files/{name}"), "hashes": {"sha256": digest}}))
        .collect();
    if listed.is_empty() {
        return Err(StatusCode::NOT_FOUND);
    }
    let document = json!({"meta": {"api-version": "1.1"}, "name": project, "files": listed});
    answer(JSON, serde_json::to_vec(&document).unwrap())
}

async fn file(State(files): State<Arc<Files>>, Path(name): Path<String>) -> Answer {
    files.asked.lock().unwrap().push(format!("/files/{name}"));
    let (_, bytes) = files.all.get(&name).ok_or(StatusCode::NOT_FOUND)?;
    answer("application/octet-stream", bytes.clone())
}
