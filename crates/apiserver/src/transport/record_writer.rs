//! Hot path. Writes of a connection, collected into few TLS records and few system calls.
//!
//! HTTP/2 hands over one frame at a time and flushes after each: ten events would be ten records and ten calls to the
//! system. Here small pieces gather until they fill a record, large ones are encrypted from where they are, and a flush
//! waits until the connection has said all that it has to say for now.

use std::cell::Cell;
use std::io::{self, IoSlice, Write as _};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

/// The most that TLS puts into one record.
const RECORD: usize = 16 << 10;
/// More than this goes out at once.
const FULL: usize = 64 << 10;
/// Of one piece no more than this is taken at a time: what is sealed is a copy, which a client may be slow to take.
const MOST: usize = 256 << 10;
/// A connection keeps a buffer of this size for the next time.
const KEPT: usize = 4 << 10;

thread_local! {
    /// A write buffer larger than `KEPT`, reused by all connections of the thread.
    static LARGE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A stream that takes data without sending it: that is for a flush.
pub(crate) trait Seal: AsyncWrite + Unpin {
    /// As many bytes of them as it takes now, which is at least one.
    fn seal(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize>;
}

/// Takes all there is: its own limit is off.
impl<IO: AsyncRead + AsyncWrite + Unpin> Seal for TlsStream<IO> {
    fn seal(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.get_mut().1.writer().write_vectored(parts)
    }
}

/// One end of a stream whose writes are gathered. Clones are the same stream.
pub(crate) struct RecordWriter<S>(Arc<Mutex<Inner<S>>>);

struct Inner<S> {
    stream: S,
    /// Less than a record.
    waiting: Vec<u8>,
    /// Bytes that the stream may hold back.
    sealed: usize,
}

impl<S> Clone for RecordWriter<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin> RecordWriter<TlsStream<IO>> {
    pub(crate) fn new(mut stream: TlsStream<IO>) -> Self {
        // What it may hold back is counted here.
        stream.get_mut().1.set_buffer_limit(None);
        Self::over(stream)
    }
}

impl<S: Seal> RecordWriter<S> {
    fn over(stream: S) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            stream,
            waiting: Vec::new(),
            sealed: 0,
        })))
    }

    /// Bytes that were taken and not sent yet.
    pub(crate) fn held(&self) -> usize {
        let inner = self.inner();
        inner.sealed + inner.waiting.len()
    }

    /// Sends what was gathered.
    pub(crate) fn poll_send(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_send(context)
    }
}

impl<S> RecordWriter<S> {
    fn inner(&self) -> MutexGuard<'_, Inner<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Seal> Inner<S> {
    /// What waits and the beginning of `data`, to the last byte.
    fn seal(&mut self, mut data: &[u8]) -> io::Result<()> {
        let mut waiting = &self.waiting[..];
        while !waiting.is_empty() || !data.is_empty() {
            let parts = [IoSlice::new(waiting), IoSlice::new(data)];
            let taken = self.stream.seal(&parts)?;
            if taken == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.sealed += taken;
            let first = taken.min(waiting.len());
            waiting = &waiting[first..];
            data = &data[taken - first..];
        }
        self.waiting.clear();
        Ok(())
    }

    /// In whole records; the rest waits for more.
    fn gather(&mut self, data: &[u8]) -> io::Result<()> {
        let length = self.waiting.len() + data.len();
        if length < RECORD {
            if self.waiting.capacity() == 0 {
                self.waiting = LARGE.take();
            }
            self.waiting.extend_from_slice(data);
            return Ok(());
        }
        let rest = length % RECORD;
        // What waits is less than a record: all of the rest is in `data`.
        let (now, later) = data.split_at(data.len() - rest);
        self.seal(now)?;
        self.waiting.extend_from_slice(later);
        Ok(())
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.sealed > 0 {
            ready!(Pin::new(&mut self.stream).poll_flush(context))?;
            self.sealed = 0;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.seal(&[])?;
        if self.waiting.capacity() > KEPT {
            LARGE.set(std::mem::take(&mut self.waiting));
        }
        self.poll_flush(context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for RecordWriter<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner().stream).poll_read(context, into)
    }
}

impl<S: Seal> AsyncWrite for RecordWriter<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut inner = self.inner();
        if inner.sealed >= FULL {
            ready!(inner.poll_flush(context))?;
        }
        let taken = data.len().min(MOST);
        inner.gather(&data[..taken])?;
        Poll::Ready(Ok(taken))
    }

    /// Of several pieces as many as fit: what is written with HTTP/1 is not copied to one place before.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut inner = self.inner();
        if inner.sealed >= FULL {
            ready!(inner.poll_flush(context))?;
        }
        let mut taken = 0;
        for piece in pieces {
            let some = &piece[..piece.len().min(MOST - taken)];
            inner.gather(some)?;
            taken += some.len();
        }
        Poll::Ready(Ok(taken))
    }

    /// The task of the connection sends.
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
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;

    /// Takes little at a time, and sends when it is flushed.
    struct Slow {
        stream: DuplexStream,
        held: Vec<u8>,
        seals: Vec<usize>,
    }

    impl Seal for Slow {
        fn seal(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
            let all: Vec<u8> = parts.iter().flat_map(|it| it.to_vec()).collect();
            let taken = &all[..all.len().min(RECORD)];
            self.held.extend_from_slice(taken);
            self.seals.push(taken.len());
            Ok(taken.len())
        }
    }

    impl AsyncWrite for Slow {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &[u8],
        ) -> Poll<io::Result<usize>> {
            unreachable!("everything is sealed")
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            let Self { stream, held, .. } = &mut *self;
            while !held.is_empty() {
                let sent = ready!(Pin::new(&mut *stream).poll_write(context, held))?;
                held.drain(..sent);
            }
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_shutdown(context)
        }
    }

    fn gathered() -> (RecordWriter<Slow>, DuplexStream) {
        let (stream, far) = duplex(1 << 20);
        let slow = Slow {
            stream,
            held: Vec::new(),
            seals: Vec::new(),
        };
        (RecordWriter::over(slow), far)
    }

    async fn write(gathered: &RecordWriter<Slow>, data: &[u8]) {
        let mut rest = data;
        while !rest.is_empty() {
            let written = std::future::poll_fn(|context| {
                Pin::new(&mut gathered.clone()).poll_write(context, rest)
            });
            rest = &rest[written.await.unwrap()..];
        }
    }

    #[tokio::test]
    async fn what_is_written_leaves_when_it_is_sent_in_order_and_whole() {
        let (gathered, mut far) = gathered();
        let mut want = Vec::new();
        for part in 0..100_u8 {
            let piece = vec![part; 900];
            write(&gathered, &piece).await;
            want.extend(piece);
        }
        // More than fits went out by itself, the rest waits.
        let mut out = vec![0; want.len()];
        let early = far.read(&mut out).await.unwrap();
        assert!((FULL..want.len()).contains(&early), "{early}");
        std::future::poll_fn(|context| gathered.poll_send(context))
            .await
            .unwrap();
        far.read_exact(&mut out[early..]).await.unwrap();
        assert_eq!(out, want);
        write(&gathered, b"bye").await;
        gathered.clone().shutdown().await.unwrap();
        drop(gathered);
        let mut last = Vec::new();
        far.read_to_end(&mut last).await.unwrap();
        assert_eq!(last, b"bye");
    }

    #[tokio::test]
    async fn of_a_client_that_takes_nothing_little_is_kept() {
        let (gathered, far) = gathered();
        let piece = vec![0; 64 << 20];
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut rest = &piece[..];
        while let Poll::Ready(written) =
            Pin::new(&mut gathered.clone()).poll_write(&mut context, rest)
        {
            rest = &rest[written.unwrap()..];
        }
        let held = gathered.inner().stream.held.len();
        assert!((1..=MOST + RECORD).contains(&held), "{held}");
        drop(far);
    }

    #[tokio::test]
    async fn large_pieces_between_small_ones_fill_records() {
        for large in [1, RECORD - 1, RECORD, RECORD + 1, 3 * RECORD + 5] {
            let (gathered, mut far) = gathered();
            let mut want = Vec::new();
            for turn in 0..8_u8 {
                for piece in [vec![turn; 9], vec![turn + 100; large]] {
                    write(&gathered, &piece).await;
                    want.extend(piece);
                }
            }
            std::future::poll_fn(|context| gathered.poll_send(context))
                .await
                .unwrap();
            let mut out = vec![0; want.len()];
            far.read_exact(&mut out).await.unwrap();
            assert_eq!(out, want, "{large}");
            let inner = gathered.inner();
            let (last, full) = inner.stream.seals.split_last().unwrap();
            assert!(full.iter().all(|it| *it == RECORD), "{large}: {full:?}");
            assert_eq!(*last, (want.len() - 1) % RECORD + 1, "{large}");
        }
    }
}
