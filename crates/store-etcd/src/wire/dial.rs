//! Connections that somebody else opens.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_service::Service;

/// A byte stream to a member.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Opening<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

type Open = dyn Fn(String, u16) -> Opening<Box<dyn Stream>> + Send + Sync;

/// Opens a connection to a host and a port.
#[derive(Clone)]
pub struct Dial(Arc<Open>);

impl Dial {
    pub fn new<F, O>(open: F) -> Self
    where
        F: Fn(String, u16) -> O + Send + Sync + 'static,
        O: Future<Output = io::Result<Box<dyn Stream>>> + Send + 'static,
    {
        Self(Arc::new(move |host, port| Box::pin(open(host, port))))
    }
}

impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dial")
    }
}

/// What tonic asks of a connector.
impl Service<Uri> for Dial {
    type Response = TokioIo<Box<dyn Stream>>;
    type Error = io::Error;
    type Future = Opening<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let default = if uri.scheme_str() == Some("https") {
            443
        } else {
            80
        };
        let port = uri.port_u16().unwrap_or(default);
        let opening = (self.0)(uri.host().unwrap_or_default().to_owned(), port);
        Box::pin(async move { opening.await.map(TokioIo::new) })
    }
}
