//! A connection, however it came about.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

/// A byte stream to the other end.
#[derive(Debug)]
pub struct Stream {
    way: Way,
    /// What came right behind a proxy's answer: the other end may speak first, as servers of HTTP/2 do.
    early: Bytes,
}

#[derive(Debug)]
enum Way {
    Tcp(TcpStream),
    Unix(UnixStream),
    /// To a proxy, or to the other end itself.
    Tls(Box<TlsStream<Stream>>),
}

impl Stream {
    pub(crate) fn with_early(mut self, early: Bytes) -> Self {
        self.early = early;
        self
    }
}

impl From<Way> for Stream {
    fn from(way: Way) -> Self {
        Self {
            way,
            early: Bytes::new(),
        }
    }
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        Way::Tcp(stream).into()
    }
}

impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Self {
        Way::Unix(stream).into()
    }
}

impl From<TlsStream<Stream>> for Stream {
    fn from(stream: TlsStream<Stream>) -> Self {
        Way::Tls(Box::new(stream)).into()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.early.has_remaining() {
            let count = self.early.len().min(buffer.remaining());
            buffer.put_slice(&self.early.split_to(count));
            return Poll::Ready(Ok(()));
        }
        match &mut self.way {
            Way::Tcp(it) => Pin::new(it).poll_read(context, buffer),
            Way::Unix(it) => Pin::new(it).poll_read(context, buffer),
            Way::Tls(it) => Pin::new(it).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.way {
            Way::Tcp(it) => Pin::new(it).poll_write(context, data),
            Way::Unix(it) => Pin::new(it).poll_write(context, data),
            Way::Tls(it) => Pin::new(it).poll_write(context, data),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.way {
            Way::Tcp(it) => Pin::new(it).poll_write_vectored(context, slices),
            Way::Unix(it) => Pin::new(it).poll_write_vectored(context, slices),
            Way::Tls(it) => Pin::new(it).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.way {
            Way::Tcp(it) => it.is_write_vectored(),
            Way::Unix(it) => it.is_write_vectored(),
            Way::Tls(it) => it.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.way {
            Way::Tcp(it) => Pin::new(it).poll_flush(context),
            Way::Unix(it) => Pin::new(it).poll_flush(context),
            Way::Tls(it) => Pin::new(it).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.way {
            Way::Tcp(it) => Pin::new(it).poll_shutdown(context),
            Way::Unix(it) => Pin::new(it).poll_shutdown(context),
            Way::Tls(it) => Pin::new(it).poll_shutdown(context),
        }
    }
}
