//! A connection that speaks HTTP/1.1 or HTTP/2, with any body.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

/// How many answers that only say that an answer will come (1xx) may come before it.
const MOST_INTERIM: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Http1,
    Http2,
}

#[derive(Debug, thiserror::Error)]
pub enum SendError {
    #[error(transparent)]
    Http(#[from] hyper::Error),
    #[error("more than {MOST_INTERIM} answers that are not final (1xx)")]
    TooManyInterim,
}

impl SendError {
    /// The connection was closed before anything of the request was sent.
    pub fn was_not_sent(&self) -> bool {
        matches!(self, Self::Http(error) if error.is_canceled() || error.is_closed())
    }

    /// The other end closed the connection without an answer.
    pub fn was_hung_up(&self) -> bool {
        matches!(self, Self::Http(error) if error.is_incomplete_message())
    }
}

/// Closes when it is dropped.
#[derive(Debug)]
pub struct Connection<B> {
    sender: Sender<B>,
}

#[derive(Debug)]
enum Sender<B> {
    Http1(http1::SendRequest<B>),
    Http2(http2::SendRequest<B>),
}

impl<B> Connection<B>
where
    B: Body + Unpin + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// Begins to speak over a stream that is there.
    pub async fn over<S>(version: Version, stream: S) -> Result<Self, hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stream = TokioIo::new(stream);
        // The tasks end when the sender is dropped, or the other end closes.
        let sender = match version {
            Version::Http1 => {
                let (sender, task) = http1::handshake(stream).await?;
                tokio::spawn(task);
                Sender::Http1(sender)
            }
            Version::Http2 => {
                let (sender, task) = http2::handshake(TokioExecutor::new(), stream).await?;
                tokio::spawn(task);
                Sender::Http2(sender)
            }
        };
        Ok(Self { sender })
    }

    pub fn is_open(&self) -> bool {
        match &self.sender {
            Sender::Http1(it) => !it.is_closed(),
            Sender::Http2(it) => !it.is_closed(),
        }
    }

    /// Sends a request, up to the head of its answer. Over HTTP/1.1 the request names its host in a header, and only its
    /// path in its URI.
    pub async fn send(&mut self, request: Request<B>) -> Result<Response<Incoming>, SendError> {
        match &mut self.sender {
            Sender::Http1(it) => {
                it.ready().await?;
                send_http1(it, request).await
            }
            Sender::Http2(it) => {
                it.ready().await?;
                Ok(it.send_request(request).await?)
            }
        }
    }
}

async fn send_http1<B: Body + 'static>(
    connection: &mut http1::SendRequest<B>,
    mut request: Request<B>,
) -> Result<Response<Incoming>, SendError> {
    let (seen, too_many) = (AtomicUsize::new(0), Arc::new(Notify::new()));
    let tell = too_many.clone();
    hyper::ext::on_informational(&mut request, move |_| {
        if seen.fetch_add(1, Ordering::Relaxed) == MOST_INTERIM {
            tell.notify_one();
        }
    });
    tokio::select! {
        biased;
        () = too_many.notified() => Err(SendError::TooManyInterim),
        answer = connection.send_request(request) => Ok(answer?),
    }
}

/// Why the body of an answer was not read.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("length limit exceeded")]
    TooLarge,
    #[error("{0}")]
    Http(String),
}

/// The body of an answer, if it has no more than `limit` bytes.
pub async fn read(body: Incoming, limit: usize) -> Result<Bytes, BodyError> {
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge),
        Err(error) => Err(BodyError::Http(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// What comes of a request that is answered with so many promises first.
    async fn after(promises: usize) -> Result<u16, SendError> {
        let (here, mut there) = tokio::io::duplex(1 << 20);
        let mut connection = Connection::over(Version::Http1, here).await?;
        let server = async {
            let mut first = [0];
            there.read_exact(&mut first).await.expect("a request");
            let says = b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(promises);
            there.write_all(&says).await.expect("room for them");
            let says = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
            // Whoever has heard enough does not read it.
            let _ = there.write_all(says).await;
        };
        let request = Request::new(Full::new(Bytes::new()));
        let (answer, ()) = tokio::join!(connection.send(request), server);
        Ok(answer?.status().as_u16())
    }

    #[tokio::test]
    async fn some_are_fine_and_too_many_are_not() {
        assert!(matches!(after(0).await, Ok(200)));
        assert!(matches!(after(MOST_INTERIM).await, Ok(200)));
        let more = after(MOST_INTERIM + 1).await;
        assert!(matches!(more, Err(SendError::TooManyInterim)));
    }

    #[tokio::test]
    async fn a_closed_connection_is_told_from_one_that_hangs_up() {
        let (here, there) = tokio::io::duplex(1024);
        let mut connection = Connection::over(Version::Http1, here).await.unwrap();
        drop(there);
        while connection.is_open() {
            tokio::task::yield_now().await;
        }
        let request = || Request::new(Full::new(Bytes::new()));
        let error = connection.send(request()).await.unwrap_err();
        assert!(error.was_not_sent() && !error.was_hung_up(), "{error:?}");
        let (here, mut there) = tokio::io::duplex(1024);
        let mut connection = Connection::over(Version::Http1, here).await.unwrap();
        let server = async move {
            let mut first = [0];
            there.read_exact(&mut first).await.expect("a request");
        };
        let (answer, ()) = tokio::join!(connection.send(request()), server);
        let error = answer.unwrap_err();
        assert!(error.was_hung_up() && !error.was_not_sent(), "{error:?}");
    }
}
