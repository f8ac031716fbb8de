//! Answers that only say that an answer will come (1xx): some are fine, and nobody waits for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::SendRequest;
use tokio::sync::Notify;

/// How many may come before the answer.
const MOST: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Http(#[from] hyper::Error),
    #[error("more than {MOST} answers that are not final (1xx)")]
    TooMany,
}

/// Sends a request over HTTP/1.1, up to the head of its answer.
pub async fn send<B: Body + 'static>(
    connection: &mut SendRequest<B>,
    mut request: Request<B>,
) -> Result<Response<Incoming>, Error> {
    let (seen, too_many) = (AtomicUsize::new(0), Arc::new(Notify::new()));
    let tell = too_many.clone();
    hyper::ext::on_informational(&mut request, move |_| {
        if seen.fetch_add(1, Ordering::Relaxed) == MOST {
            tell.notify_one();
        }
    });
    tokio::select! {
        biased;
        () = too_many.notified() => Err(Error::TooMany),
        answer = connection.send_request(request) => Ok(answer?),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http_body_util::Full;
    use hyper::client::conn::http1;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// What comes of a request that is answered with so many promises first.
    async fn after(promises: usize) -> Result<u16, Error> {
        let (here, mut there) = tokio::io::duplex(1 << 20);
        let (mut sender, connection) = http1::handshake(TokioIo::new(here)).await?;
        tokio::spawn(connection);
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
        let (answer, ()) = tokio::join!(send(&mut sender, request), server);
        Ok(answer?.status().as_u16())
    }

    #[tokio::test]
    async fn some_are_fine_and_too_many_are_not() {
        assert!(matches!(after(0).await, Ok(200)));
        assert!(matches!(after(MOST).await, Ok(200)));
        assert!(matches!(after(MOST + 1).await, Err(Error::TooMany)));
    }
}
