//! A connection to a collector that writes much at once, and reads no more than an answer can have.
//!
//! HTTP/2 cuts a message into frames of 16 KiB, and its library flushes each of them: sixty calls of the kernel for a megabyte,
//! and as many times that the collector is woken. Here frames gather until the library has no more to say, and leave
//! together. Of the message itself nothing is copied: what lies in one of its pieces is taken from there.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::message::Pieces;
use super::transport::MAX_ANSWER;

/// So much gathers before it is written, at most.
const GATHERED: usize = 1 << 20;
/// Pieces that are written at once.
const SLICES: usize = 128;
/// The most that is read for one request: its answer, and what is around it.
const MAX_READ: usize = MAX_ANSWER + (1 << 20);

/// What whoever sends a request and its connection know of each other.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// Of the message that is being sent.
    pieces: Mutex<Vec<Bytes>>,
    /// Since it was begun.
    received: AtomicUsize,
}

impl Exchange {
    pub(super) fn begin(&self, body: &Pieces) {
        self.received.store(0, Ordering::Relaxed);
        let mut pieces = self.pieces();
        pieces.clear();
        pieces.extend(body.iter().cloned());
    }

    /// Lets go of the message.
    pub(super) fn end(&self) {
        self.pieces().clear();
    }

    fn pieces(&self) -> MutexGuard<'_, Vec<Bytes>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same bytes as a part of the message, if they are one.
    fn part(&self, bytes: &[u8]) -> Option<Bytes> {
        let range = bytes.as_ptr_range();
        let pieces = self.pieces();
        let found = pieces.iter().find(|it| {
            let all = it.as_ptr_range();
            all.start <= range.start && range.end <= all.end
        });
        found.map(|it| it.slice_ref(bytes))
    }
}

#[derive(Debug)]
pub(super) struct Batched<S> {
    inner: S,
    exchange: Arc<Exchange>,
    /// Whether what is written waits for more.
    gathers: bool,
    waiting: VecDeque<Bytes>,
    /// The end of what waits: frames' heads, and what else is short.
    copied: BytesMut,
    length: usize,
    /// Something was written that may still lie in a buffer below.
    is_unflushed: bool,
    /// What is below takes no more now, and wakes the task when it does.
    is_blocked: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Batched<S> {
    pub(super) fn new(inner: S, exchange: Arc<Exchange>, gathers: bool) -> Self {
        Self {
            inner,
            exchange,
            gathers,
            waiting: VecDeque::new(),
            copied: BytesMut::new(),
            length: 0,
            is_unflushed: false,
            is_blocked: false,
        }
    }

    fn gather(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        match self.exchange.part(bytes) {
            Some(part) => {
                if !self.copied.is_empty() {
                    self.waiting.push_back(self.copied.split().freeze());
                }
                self.waiting.push_back(part);
            }
            None => self.copied.extend_from_slice(bytes),
        }
    }

    /// Writes all that waits.
    fn write_out(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = self.try_write_out(context);
        self.is_blocked = done.is_pending();
        done
    }

    fn try_write_out(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.copied.is_empty() {
            self.waiting.push_back(self.copied.split().freeze());
        }
        while self.length > 0 {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = self.waiting.len().min(SLICES);
            for (slice, bytes) in slices.iter_mut().zip(&self.waiting) {
                *slice = IoSlice::new(bytes);
            }
            let inner = Pin::new(&mut self.inner);
            let written = ready!(inner.poll_write_vectored(context, &slices[..count]))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.is_unflushed = true;
            self.written(written);
        }
        if self.is_unflushed {
            ready!(Pin::new(&mut self.inner).poll_flush(context))?;
            self.is_unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    fn written(&mut self, mut count: usize) {
        self.length -= count;
        while let Some(first) = self.waiting.front_mut() {
            if first.len() > count {
                first.advance(count);
                return;
            }
            count -= first.len();
            self.waiting.pop_front();
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Batched<S> {
    /// Whoever drives a connection reads first and writes then: what was left to be written the last time goes out here.
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(Err(error)) = self.write_out(context) {
            return Poll::Ready(Err(error));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let count = buffer.filled().len() - before;
        let received = &self.exchange.received;
        if received.fetch_add(count, Ordering::Relaxed) + count > MAX_READ {
            let text = format!("more than {MAX_READ} bytes came instead of an answer");
            return Poll::Ready(Err(io::Error::other(text)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Batched<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if !self.gathers {
            return Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        }
        if self.length >= GATHERED {
            ready!(self.write_out(context))?;
        }
        for slice in slices {
            self.gather(slice);
        }
        let taken = slices.iter().map(|it| it.len()).sum();
        Poll::Ready(Ok(taken))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Not yet: it is woken again and reads, when it has no more to write.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.gathers {
            return Pin::new(&mut self.inner).poll_flush(context);
        }
        if (self.length > 0 || self.is_unflushed) && !self.is_blocked {
            context.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.write_out(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
