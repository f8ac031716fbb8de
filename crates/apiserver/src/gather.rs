//! Hot path. What a connection has to say, gathered into few writes.
//!
//! HTTP/2 hands over one frame at a time and flushes after each: ten events would be ten records and ten calls to the
//! system. Here a flush waits until the connection has said all that it has to say for now.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// More than this goes out at once.
const FULL: usize = 64 << 10;
/// What is there just before it is full, and a frame of HTTP/2 on top.
const LARGEST: usize = FULL + (17 << 10);
/// A buffer of this size stays for the next time.
const KEPT: usize = 16 << 10;

/// One end of a stream whose writes are gathered. Clones are the same stream.
pub(crate) struct Gathered<S>(Arc<Mutex<Inner<S>>>);

struct Inner<S> {
    stream: S,
    waiting: Vec<u8>,
    /// Bytes of `waiting` that are out already.
    sent: usize,
    /// The stream below may hold some back.
    dirty: bool,
}

impl<S> Clone for Gathered<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: AsyncWrite + Unpin> Gathered<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            stream,
            waiting: Vec::new(),
            sent: 0,
            dirty: false,
        })))
    }

    /// Sends what was gathered.
    pub(crate) fn poll_send(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_send(context)
    }

    fn inner(&self) -> MutexGuard<'_, Inner<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncWrite + Unpin> Inner<S> {
    fn poll_write_out(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.waiting.len() {
            let rest = &self.waiting[self.sent..];
            let sent = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += sent;
            self.dirty = true;
        }
        self.sent = 0;
        self.waiting.clear();
        Poll::Ready(Ok(()))
    }

    /// A large answer fills the buffer many times: it grows once.
    fn gather(&mut self, data: &[u8]) {
        let length = self.waiting.len() + data.len();
        if length > self.waiting.capacity().max(KEPT) {
            self.waiting
                .reserve_exact(LARGEST.max(length) - self.waiting.len());
        }
        self.waiting.extend_from_slice(data);
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_write_out(context))?;
        if self.waiting.capacity() > KEPT {
            self.waiting = Vec::new();
        }
        if self.dirty {
            ready!(Pin::new(&mut self.stream).poll_flush(context))?;
            self.dirty = false;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Gathered<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner().stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gathered<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut inner = self.inner();
        if inner.waiting.len() >= FULL {
            ready!(inner.poll_write_out(context))?;
        }
        inner.gather(data);
        Poll::Ready(Ok(data.len()))
    }

    /// Whoever drives the connection sends.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut inner = self.inner();
        ready!(inner.poll_send(context))?;
        Pin::new(&mut inner.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn what_is_written_leaves_when_it_is_sent_in_order_and_whole() {
        let (near, mut far) = duplex(1 << 20);
        let mut gathered = Gathered::new(near);
        for part in 0..100_u8 {
            gathered.write_all(&[part; 700]).await.unwrap();
            gathered.flush().await.unwrap();
        }
        // More than fits went out by itself, the rest waits.
        let mut out = vec![0; 70_000];
        let early = far.read(&mut out).await.unwrap();
        assert!((FULL..70_000).contains(&early), "{early}");
        let sender = gathered.clone();
        std::future::poll_fn(|context| sender.poll_send(context))
            .await
            .unwrap();
        far.read_exact(&mut out[early..]).await.unwrap();
        let want: Vec<u8> = (0..100_u8).flat_map(|part| [part; 700]).collect();
        assert_eq!(out, want);
        gathered.write_all(b"bye").await.unwrap();
        gathered.shutdown().await.unwrap();
        let mut last = Vec::new();
        drop((gathered, sender));
        far.read_to_end(&mut last).await.unwrap();
        assert_eq!(last, b"bye");
    }
}
