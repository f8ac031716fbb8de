//! A proxy that is asked for a tunnel by HTTP CONNECT.

use std::io;
use std::path::PathBuf;

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::Stream;
use crate::dial::{self, DialError};
use crate::tls::{self, Secured};

/// The most that a proxy may answer before the tunnel, as upstream.
const MAX_HEAD: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    #[error("dial unix {}: connect: {}", path.display(), meta::go::system_error(source))]
    Socket { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Tls(String),
    #[error("reading HTTP response from CONNECT to {address} via proxy {proxy} failed: {why}")]
    Unreadable {
        address: String,
        proxy: String,
        why: String,
    },
    #[error("proxy error from {proxy} while dialing {address}, code {code}: {status}")]
    Refused {
        address: String,
        proxy: String,
        code: u16,
        status: String,
    },
}

/// How the proxy itself is reached.
#[derive(Clone, Debug)]
pub(crate) enum Proxy {
    Tcp {
        host: String,
        port: u16,
    },
    Tls {
        host: String,
        port: u16,
        tls: Secured,
    },
    Unix(PathBuf),
}

impl Proxy {
    fn name(&self) -> String {
        match self {
            Self::Tcp { host, port } | Self::Tls { host, port, .. } => format!("{host}:{port}"),
            Self::Unix(path) => path.display().to_string(),
        }
    }

    /// As metrics and spans call it.
    pub(crate) fn transport(&self) -> &'static str {
        match self {
            Self::Tcp { .. } | Self::Tls { .. } => "tcp",
            Self::Unix(_) => "uds",
        }
    }

    /// To the proxy itself.
    pub(crate) async fn connect(&self) -> Result<Stream, DialError> {
        let stream: Stream = match self {
            Self::Tcp { host, port } => dial::tcp(bare(host), *port).await?.into(),
            Self::Tls { host, port, tls } => {
                let stream = dial::tcp(bare(host), *port).await?;
                let stream = tls::connect(tls, stream.into()).await;
                stream.map_err(|error| ProxyError::Tls(tls::said(&error)))?
            }
            Self::Unix(path) => {
                let stream = UnixStream::connect(path).await;
                let failed = |source| ProxyError::Socket {
                    path: path.clone(),
                    source,
                };
                stream.map_err(failed)?.into()
            }
        };
        Ok(stream)
    }

    /// And further.
    pub(crate) async fn tunnel(&self, stream: Stream, to: &str) -> Result<Stream, ProxyError> {
        tunnel(stream, to, &self.name()).await
    }
}

fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

async fn tunnel(mut stream: Stream, address: &str, proxy: &str) -> Result<Stream, ProxyError> {
    let unreadable = |why: String| ProxyError::Unreadable {
        address: address.to_owned(),
        proxy: proxy.to_owned(),
        why,
    };
    // The host is upstream's: the proxy has no other name that both ends know.
    let ask = format!("CONNECT {address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    let written = stream.write_all(ask.as_bytes()).await;
    written.map_err(|error| unreadable(error.to_string()))?;
    let mut head = Vec::with_capacity(256);
    let end = loop {
        let from = head.len().saturating_sub(3);
        let read = (&mut stream).take(4096).read_buf(&mut head).await;
        if read.map_err(|error| unreadable(error.to_string()))? == 0 {
            return Err(unreadable("unexpected EOF".into()));
        }
        if let Some(at) = head[from..].windows(4).position(|it| it == b"\r\n\r\n") {
            break from + at + 4;
        }
        if head.len() > MAX_HEAD {
            return Err(unreadable(format!("more than {MAX_HEAD} bytes of headers")));
        }
    };
    let (code, status) = status(&head).map_err(unreadable)?;
    if code != 200 {
        return Err(ProxyError::Refused {
            address: address.to_owned(),
            proxy: proxy.to_owned(),
            code,
            status,
        });
    }
    Ok(stream.with_early(Bytes::from(head).slice(end..)))
}

/// The code, and it with its text, of `HTTP/1.1 200 OK`.
fn status(head: &[u8]) -> Result<(u16, String), String> {
    let line = head.split(|it| *it == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let malformed = || format!("malformed HTTP response {}", meta::go::quote(&line));
    let (version, status) = line.split_once(' ').ok_or_else(malformed)?;
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(malformed());
    }
    let code = status.split(' ').next().unwrap_or_default();
    let wrong = || format!("malformed HTTP status code {}", meta::go::quote(code));
    if code.len() != 3 || !code.bytes().all(|it| it.is_ascii_digit()) {
        return Err(wrong());
    }
    Ok((code.parse().map_err(|_| wrong())?, status.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_lines() {
        let good = |text: &str| status(text.as_bytes());
        assert_eq!(
            good("HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
            Ok((200, "200 OK".into()))
        );
        assert_eq!(good("HTTP/1.0 200\r\n\r\n"), Ok((200, "200".into())));
        assert_eq!(
            good("HTTP/1.1 403 Forbidden\r\n\r\n"),
            Ok((403, "403 Forbidden".into()))
        );
        for bad in [
            "",
            "SSH-2.0-x\r\n\r\n",
            "HTTP/2 200 OK\r\n\r\n",
            "HTTP/1.1 +20 x\r\n\r\n",
            "HTTP/1.1 2000\r\n\r\n",
        ] {
            assert!(good(bad).is_err(), "{bad}");
        }
    }
}
