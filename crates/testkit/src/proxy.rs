//! A proxy that opens tunnels (HTTP CONNECT), on TCP, with TLS, or on a Unix socket.

use std::fmt;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::collector::{Listen, Secured, Served};
use crate::collector::{Stream, serve};

/// A running proxy; gone when dropped.
pub struct Proxy {
    pub served: Served,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// What it was asked to lead to, in order.
    asked: Mutex<Vec<String>>,
    /// Answered in place of 200 if it is not zero.
    code: AtomicU16,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.served).finish()
    }
}

impl Proxy {
    pub fn on(listen: &Listen, secured: Option<&Secured<'_>>) -> Self {
        let shared = Arc::new(Shared::default());
        let served = serve(listen, secured, {
            let shared = shared.clone();
            move |stream| {
                let shared = shared.clone();
                async move {
                    // Whoever breaks off is gone; nobody else minds.
                    let _ = tunnel(&shared, stream).await;
                }
            }
        });
        Self { served, shared }
    }

    /// From now on tunnels are refused with this code.
    pub fn refuse(&self, code: u16) {
        self.shared.code.store(code, Ordering::SeqCst);
    }

    /// What it was asked to lead to, in order.
    pub fn asked(&self) -> Vec<String> {
        let asked = self.shared.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn tunnel(shared: &Shared, stream: Box<dyn Stream>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let (mut first, mut line) = (String::new(), String::new());
    stream.read_line(&mut first).await?;
    while line != "\r\n" {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
    }
    let address = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let asked = shared.asked.lock();
    asked
        .unwrap_or_else(PoisonError::into_inner)
        .push(address.clone());
    let code = shared.code.load(Ordering::SeqCst);
    if code != 0 || !first.starts_with("CONNECT ") {
        let code = code.max(400);
        let answer = format!("HTTP/1.1 {code} No\r\n\r\n");
        stream.write_all(answer.as_bytes()).await?;
        return stream.shutdown().await;
    }
    let mut other = TcpStream::connect(&address).await?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n").await?;
    tokio::io::copy_bidirectional(&mut stream, &mut other).await?;
    Ok(())
}
