//! The streamable HTTP transport: headers from the configuration, bounded bodies, no way to another
//! origin; and what its errors mean without the URL, which may hold a secret.

use std::collections::{BTreeMap, HashMap};
use std::error::Error as StdError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::SseRetryPolicy;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use url::Url;

/// How long making the connection itself may take.
const TCP_CONNECT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;
/// Calls that may be under way on one server at once; what a run may do is the gate's business.
const MAX_CONCURRENT: usize = 64;

/// A stream that broke or ended is picked up again, where the server made that possible: a few times
/// within a second, after which its call fails. A server whose streams end all the time is asked
/// less often.
#[derive(Debug)]
struct BrieflyAgain {
    /// When counting began, and how many streams have ended since.
    ended: Mutex<(Instant, u32)>,
}

impl BrieflyAgain {
    const QUICK_IN_A_MINUTE: u32 = 10;

    fn new() -> Self {
        Self { ended: Mutex::new((Instant::now(), 0)) }
    }
}

impl SseRetryPolicy for BrieflyAgain {
    fn retry(&self, times: usize) -> Option<Duration> {
        match times {
            0 => {
                let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
                if ended.0.elapsed() > Duration::from_secs(60) {
                    *ended = (Instant::now(), 0);
                }
                ended.1 += 1;
                Some(Duration::from_millis(if ended.1 > Self::QUICK_IN_A_MINUTE { 5_000 } else { 200 }))
            }
            1 | 2 => Some(Duration::from_millis(150)),
            _ => None,
        }
    }
}

/// The transport to one endpoint.
///
/// # Errors
/// A message for people.
pub(super) fn transport(
    url: &Url,
    headers: &BTreeMap<String, String>,
    max_bytes: usize,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let origin = url.origin();
    let same_origin = Policy::custom(move |attempt| {
        if attempt.url().origin() != origin {
            attempt.error("the server redirects to another origin, which is not followed")
        } else if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error("the server redirects too often")
        } else {
            attempt.follow()
        }
    });
    let client = reqwest::Client::builder()
        .user_agent(concat!("postern/", env!("CARGO_PKG_VERSION")))
        .redirect(same_origin)
        .referer(false)
        .connect_timeout(TCP_CONNECT)
        .build()
        .map_err(|error| format!("no HTTP client: {}", request_failure(&error)))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(header_map(headers)?)
        .max_concurrent_requests(MAX_CONCURRENT)
        .max_sse_event_size(max_bytes)
        .max_json_response_size(max_bytes)
        .max_error_response_size(4 * 1024);
    config.retry_config = Arc::new(BrieflyAgain::new());
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn header_map(headers: &BTreeMap<String, String>) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let mut map = HashMap::new();
    for (name, value) in headers {
        let name =
            HeaderName::try_from(name.as_str()).map_err(|_| format!("`{name}` cannot be a header's name"))?;
        let mut value = HeaderValue::try_from(value.as_str())
            .map_err(|_| format!("the value of the header `{name}` cannot be sent"))?;
        // Keeps it out of every Debug output along the way.
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}

/// What went wrong, for people, without the URL. The second is true when the request certainly did
/// not reach the server.
pub(super) fn describe(error: &(dyn StdError + 'static)) -> (String, bool) {
    let mut layer = Some(error);
    let mut deepest = error;
    while let Some(current) = layer {
        if let Some(known) = current.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            return describe_http(known);
        }
        if let Some(known) = current.downcast_ref::<reqwest::Error>() {
            return (request_failure(known), known.is_connect());
        }
        deepest = current;
        layer = current.source();
    }
    (deepest.to_string(), false)
}

fn describe_http(error: &StreamableHttpError<reqwest::Error>) -> (String, bool) {
    match error {
        StreamableHttpError::Client(error) => (request_failure(error), error.is_connect()),
        StreamableHttpError::AuthRequired(_) => {
            ("the server wants a login (HTTP 401); put its token into `headers`".into(), true)
        }
        StreamableHttpError::InsufficientScope(_) => {
            ("the token does not allow this (HTTP 403)".into(), true)
        }
        StreamableHttpError::HttpStatus(status) => (status.to_string(), false),
        StreamableHttpError::SessionExpired => ("the session has expired".into(), true),
        other => (other.to_string(), false),
    }
}

/// reqwest's own text names the URL; its causes do not.
fn request_failure(error: &reqwest::Error) -> String {
    let mut deepest: Option<&(dyn StdError + 'static)> = error.source();
    while let Some(next) = deepest.and_then(StdError::source) {
        deepest = Some(next);
    }
    let what = if error.is_timeout() {
        "the connection timed out"
    } else if error.is_connect() {
        "cannot connect"
    } else if error.is_redirect() {
        "the redirect is not followed"
    } else {
        "the request failed"
    };
    match deepest {
        Some(cause) => format!("{what}: {cause}"),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_end_all_the_time_are_asked_for_less_often() {
        let policy = BrieflyAgain::new();
        let pauses: Vec<_> = (0..12).filter_map(|_| policy.retry(0)).collect();
        assert!(pauses[0] < Duration::from_millis(300) && pauses[11] > Duration::from_secs(1), "{pauses:?}");
        let lost: Duration = [policy_pause(0), policy_pause(1), policy_pause(2)].into_iter().sum();
        assert!(lost < Duration::from_secs(1));
        assert_eq!(policy.retry(3), None);
    }

    fn policy_pause(times: usize) -> Duration {
        BrieflyAgain::new().retry(times).unwrap_or_default()
    }
}
