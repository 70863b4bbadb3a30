//! Standard output and error: kept up to a limit, counted beyond it.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// What a run wrote to one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, up to the limit, as text; broken UTF-8 is replaced.
    pub text: String,
    /// All bytes that were written, kept or not.
    pub bytes: u64,
    /// Whether something was not kept.
    pub truncated: bool,
}

/// A stream that the guest writes to. Clones share one buffer.
#[derive(Clone, Debug)]
pub(crate) struct Capture(Arc<Mutex<Kept>>);

#[derive(Debug)]
struct Kept {
    limit: usize,
    kept: Vec<u8>,
    total: u64,
}

impl Capture {
    pub(crate) fn new(limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self(Arc::new(Mutex::new(Kept { limit, kept: Vec::new(), total: 0 })))
    }

    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.total += bytes.len() as u64;
        let room = kept.limit - kept.kept.len();
        kept.kept.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    /// What was written until now.
    pub(crate) fn captured(&self) -> Captured {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let truncated = kept.total > kept.kept.len() as u64;
        let mut bytes = kept.kept.as_slice();
        if truncated {
            // The limit may have cut a character in two.
            bytes = match std::str::from_utf8(bytes) {
                Err(e) if e.error_len().is_none() => &bytes[..e.valid_up_to()],
                _ => bytes,
            };
        }
        Captured { text: String::from_utf8_lossy(bytes).into_owned(), bytes: kept.total, truncated }
    }
}

impl IsTerminal for Capture {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Capture {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Capture {
    async fn ready(&mut self) {}
}

impl OutputStream for Capture {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.add(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 << 10)
    }
}

impl AsyncWrite for Capture {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.add(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_bytes_and_counts_the_rest() {
        let capture = Capture::new(5);
        capture.add("abé".as_bytes());
        capture.add("é".as_bytes());
        assert_eq!(capture.captured(), Captured { text: "abé".into(), bytes: 6, truncated: true });
        capture.add(&[b'x'; 1000]);
        assert_eq!(capture.captured().bytes, 1006);
    }
}
