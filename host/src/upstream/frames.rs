//! What a child process writes to its standard output, reduced to protocol messages. People's
//! servers also write banners, logs and progress bars there; each such line costs one warning for
//! the server and nothing else. A message too large or too deep to be read ends its own call.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// How much of each end of an oversized line is kept to find out which call it answers.
const ENDS: usize = 256;

/// What one line is.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// A message, to be passed on as it is.
    Message,
    /// Spaces only.
    Blank,
    /// Not for us.
    Noise,
    /// An answer to the request with this id (as JSON) that cannot be read; the reason is for people.
    Unreadable { id: String, reason: String },
}

/// Told about everything that is not passed on.
pub(super) trait Observer: Send {
    /// A line that is no message; the text is its beginning.
    fn noise(&mut self, beginning: &[u8]);
    /// A message; false keeps it back.
    fn message(&mut self, _text: &[u8]) -> bool {
        true
    }
}

/// Copies messages from a child's output to the client, until the child closes its output or the
/// client goes away.
pub(super) async fn pump<R, W>(from: R, to: Arc<Mutex<W>>, max_bytes: usize, mut observer: impl Observer)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut reader = BufReader::with_capacity(64 * 1024, from);
    let mut line = LineBuffer::new(max_bytes);
    while let Ok(true) = line.read(&mut reader).await {
        for (kind, text) in line.messages() {
            let sent = match kind {
                Line::Blank => Ok(()),
                Line::Noise => {
                    observer.noise(&text[..text.len().min(ENDS)]);
                    Ok(())
                }
                Line::Message if observer.message(text) => send_line(&to, text).await,
                Line::Message => Ok(()),
                Line::Unreadable { id, reason } => {
                    to.lock().await.write_all(error_response(&id, &reason).as_bytes()).await
                }
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// One whole line at a time, since answers of ours go the same way.
async fn send_line<W: AsyncWrite + Unpin>(to: &Mutex<W>, text: &[u8]) -> std::io::Result<()> {
    let mut to = to.lock().await;
    to.write_all(text).await?;
    to.write_all(b"\n").await
}

/// The JSON-RPC error that stands in for an answer which cannot be used.
pub(super) fn error_response(id: &str, reason: &str) -> String {
    let reason = serde_json::Value::from(reason);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32603,\"message\":{reason}}}}}\n")
}

/// One line, held up to a limit; of a longer one both ends.
struct LineBuffer {
    bytes: Vec<u8>,
    /// The last bytes of an oversized line.
    tail: Vec<u8>,
    length: usize,
    max_bytes: usize,
}

impl LineBuffer {
    fn new(max_bytes: usize) -> Self {
        Self { bytes: Vec::new(), tail: Vec::new(), length: 0, max_bytes }
    }

    /// Reads the next line. False at the end of the stream; what stands there
    /// without a line feed is half a message and is dropped.
    async fn read<R: AsyncRead + Unpin>(&mut self, reader: &mut BufReader<R>) -> std::io::Result<bool> {
        self.bytes.clear();
        // One large message must not hold its memory for the life of the server.
        self.bytes.shrink_to(1024 * 1024);
        self.tail.clear();
        self.length = 0;
        loop {
            let available = reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(false);
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            let chunk = &available[..newline.unwrap_or(taken)];
            self.length = self.length.saturating_add(chunk.len());
            if self.length <= self.max_bytes {
                self.bytes.extend_from_slice(chunk);
            } else {
                self.bytes.truncate(ENDS.min(self.max_bytes));
                self.keep_tail(&chunk[chunk.len().saturating_sub(ENDS)..]);
            }
            reader.consume(taken);
            if newline.is_some() {
                return Ok(true);
            }
        }
    }

    fn keep_tail(&mut self, chunk: &[u8]) {
        self.tail.extend_from_slice(chunk);
        let surplus = self.tail.len().saturating_sub(ENDS);
        self.tail.drain(..surplus);
    }

    /// What the line holds: one thing, or several messages as the protocol of March 2025 allows.
    fn messages(&self) -> Vec<(Line, &[u8])> {
        if self.length > self.max_bytes {
            let reason = format!(
                "the server's answer is {} bytes long; at most {} are accepted",
                self.length, self.max_bytes
            );
            let kind = match id_of_oversized(&self.bytes, &self.tail) {
                Some(id) => Line::Unreadable { id, reason },
                None => Line::Noise,
            };
            return vec![(kind, &self.bytes)];
        }
        let text = self.bytes.trim_ascii();
        if text.starts_with(b"[")
            && let Ok(list) = serde_json::from_slice::<Vec<&RawValue>>(text)
        {
            return list
                .into_iter()
                .map(|item| (classify(item.get().as_bytes()), item.get().as_bytes()))
                .collect();
        }
        vec![(classify(text), text)]
    }
}

#[derive(Deserialize)]
struct Shallow<'a> {
    #[serde(borrow)]
    jsonrpc: &'a RawValue,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<IgnoredAny>,
}

/// The id and method of a message, as they stand there.
pub(super) fn id_and_method(text: &[u8]) -> (Option<&str>, Option<&str>) {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
        #[serde(borrow)]
        method: Option<&'a RawValue>,
    }
    match serde_json::from_slice::<Head<'_>>(text) {
        Ok(head) => (head.id.map(RawValue::get), head.method.map(RawValue::get)),
        Err(_) => (None, None),
    }
}

fn classify(text: &[u8]) -> Line {
    if text.is_empty() {
        return Line::Blank;
    }
    let Ok(text) = std::str::from_utf8(text) else { return Line::Noise };
    let Ok(shallow) = serde_json::from_str::<Shallow<'_>>(text) else { return Line::Noise };
    if shallow.jsonrpc.get() != "\"2.0\"" {
        return Line::Noise;
    }
    match (is_readable(text), shallow.id) {
        (Ok(()), _) => Line::Message,
        (Err(error), Some(id)) if shallow.method.is_none() => Line::Unreadable {
            id: id.get().to_owned(),
            reason: format!("the server's answer cannot be read: {error}"),
        },
        (Err(_), _) => Line::Noise,
    }
}

/// Whether the parser behind us will take it too: skipping a value, as above, knows no depth limit,
/// building one does.
fn is_readable(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<Depth>(text).map(drop)
}

/// Visits a whole value under serde_json's depth limit without keeping any of it.
struct Depth;

impl<'de> Deserialize<'de> for Depth {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Depth)
    }
}

impl<'de> serde::de::Visitor<'de> for Depth {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Depth>()?.is_some() {}
        Ok(self)
    }
    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while entries.next_entry::<Depth, Depth>()?.is_some() {}
        Ok(self)
    }
}

/// The id of an oversized answer. Servers write it before the result or after it; anywhere else is
/// inside the result and proves nothing.
fn id_of_oversized(head: &[u8], tail: &[u8]) -> Option<String> {
    let head: String = String::from_utf8_lossy(head).chars().filter(|c| !c.is_whitespace()).collect();
    let tail: String = String::from_utf8_lossy(tail).chars().filter(|c| !c.is_whitespace()).collect();
    let number = |text: &str| -> Option<String> {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty()).then_some(digits)
    };
    let (before, _) = head.split_once("\"result\":")?;
    if before.starts_with('{') && before.contains("\"jsonrpc\":\"2.0\"") {
        return number(before.split_once("\"id\":")?.1);
    }
    let inside = tail.strip_suffix('}')?;
    let (_, end) = inside.rsplit_once("\"jsonrpc\":\"2.0\"")?;
    if before == "{" {
        return end.strip_prefix(",\"id\":").and_then(number);
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[derive(Clone, Default)]
    struct Seen(Arc<std::sync::Mutex<Vec<String>>>);

    impl Observer for Seen {
        fn noise(&mut self, beginning: &[u8]) {
            self.0.lock().unwrap().push(String::from_utf8_lossy(beginning).into_owned());
        }
    }

    async fn through(input: Vec<u8>, max: usize) -> (String, Vec<String>) {
        let out = Arc::new(Mutex::new(Vec::new()));
        let seen = Seen::default();
        pump(&input[..], out.clone(), max, seen.clone()).await;
        let noise = seen.0.lock().unwrap().clone();
        let out = out.lock().await.clone();
        (String::from_utf8(out).unwrap(), noise)
    }

    // Runtime case 16: noise between messages.
    #[tokio::test]
    async fn only_messages_pass() {
        let message = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
        let input = format!(
            "My Server v1.0\n\n\u{1b}[32mINFO\u{1b}[0m ready\n{message}\r\n{{\"jsonrpc\": \"2.0\", \"id\"\n{{\"level\":\"info\"}}\n5\n[]\n  {message}\n{message} trailing\n[{message},{message}]\nhalf"
        );
        let (out, noise) = through(input.into_bytes(), 1 << 20).await;
        assert_eq!(out.lines().count(), 4, "{out}");
        assert_eq!(noise.len(), 6, "{noise:?}");
    }

    #[tokio::test]
    async fn an_oversized_line_is_dropped_and_the_next_one_read() {
        let message = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
        let mut input = vec![b'x'; 300_000];
        input.push(b'\n');
        input.extend_from_slice(message.as_bytes());
        let (out, noise) = through(input, 100_000).await;
        assert_eq!(out, message);
        assert_eq!(noise.len(), 1);
        assert_eq!(noise[0].len(), ENDS);
    }

    #[tokio::test]
    async fn an_oversized_answer_ends_its_own_call() {
        let body = "y".repeat(300_000);
        let answers = [
            format!("{{\"jsonrpc\": \"2.0\", \"id\": 7, \"result\": {{\"content\": \"{body}\"}}}}\n"),
            format!("{{\"result\":{{\"content\":\"{body}\"}},\"jsonrpc\":\"2.0\",\"id\":7}}\n"),
        ];
        for answer in answers {
            let (out, noise) = through(answer.into_bytes(), 100_000).await;
            let error: serde_json::Value = serde_json::from_str(&out).unwrap();
            assert_eq!(error["id"], 7);
            assert!(error["error"]["message"].as_str().unwrap().contains("at most 100000"));
            assert!(noise.is_empty());
        }
        let forged = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{body}\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":7}}\"}}\n"
        );
        assert_eq!(through(forged.into_bytes(), 100_000).await.0, "");
    }

    // Runtime case 26: a result nested deeper than the parser goes.
    #[tokio::test]
    async fn an_answer_nested_too_deep_ends_its_own_call() {
        for deep in [
            format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
            "{\"a\":".repeat(500) + "1" + &"}".repeat(500),
        ] {
            let (out, _) = through(
                format!("{{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{deep}}}\n").into_bytes(),
                1 << 20,
            )
            .await;
            let error: serde_json::Value = serde_json::from_str(&out).unwrap();
            assert_eq!(error["id"], 3);
            assert!(error["error"]["message"].as_str().unwrap().contains("recursion"), "{out}");
        }
    }
}
