//! A server for a test, on a thread of its own: TCP or a Unix socket, with or without TLS. Gone when dropped.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use crate::certificates::Certificates;

/// Where to listen.
#[derive(Clone, Debug)]
pub enum Listen {
    /// Any free port of loopback.
    Port,
    /// A path, or a name behind a zero byte.
    Socket(PathBuf),
}

/// What to show, and whether clients must show something.
#[derive(Clone, Copy, Debug)]
pub struct Secured<'a> {
    pub certificates: &'a Certificates,
    pub clients: bool,
}

/// A byte stream.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for T {}

/// A server that runs.
#[derive(Debug)]
pub struct Served {
    /// Of a port.
    pub address: Option<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    pub fn port(&self) -> u16 {
        self.address.expect("it listens on a port").port()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

pub(crate) fn serve<F, W>(listen: &Listen, secured: Option<&Secured<'_>>, work: F) -> Served
where
    F: Fn(Box<dyn Stream>) -> W + Send + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let listen = listen.clone();
    let acceptor = secured.map(|it| TlsAcceptor::from(config(it)));
    let (stop, mut stopped) = oneshot::channel::<()>();
    let (ready, bound) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("make a runtime");
        runtime.block_on(async {
            let (listener, address) = bind(&listen).await;
            ready.send(address).expect("somebody waits for it");
            loop {
                let stream: Box<dyn Stream> = tokio::select! {
                    _ = &mut stopped => return,
                    stream = accept(&listener) => stream,
                };
                match &acceptor {
                    None => {
                        tokio::spawn(work(stream));
                    }
                    Some(acceptor) => {
                        let accepting = acceptor.accept(stream);
                        // Whoever is not believed never gets to the work.
                        if let Ok(stream) = accepting.await {
                            tokio::spawn(work(Box::new(stream)));
                        }
                    }
                }
            }
        });
        // With it go all connections.
        runtime.shutdown_background();
    });
    Served {
        address: bound.recv().expect("it listens"),
        stop: Some(stop),
        thread: Some(thread),
    }
}

async fn bind(listen: &Listen) -> (Listener, Option<SocketAddr>) {
    match listen {
        Listen::Port => {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("listen");
            let address = listener.local_addr().expect("learn the own address");
            (Listener::Tcp(listener), Some(address))
        }
        Listen::Socket(path) => {
            // A leftover of one that is gone.
            let _ = std::fs::remove_file(path);
            let listener = UnixListener::bind(path).expect("listen on a socket");
            (Listener::Unix(listener), None)
        }
    }
}

async fn accept(listener: &Listener) -> Box<dyn Stream> {
    match listener {
        Listener::Tcp(it) => Box::new(it.accept().await.expect("accept").0),
        Listener::Unix(it) => Box::new(it.accept().await.expect("accept").0),
    }
}

fn config(secured: &Secured<'_>) -> Arc<ServerConfig> {
    let certificates = |path: &Path| -> Vec<CertificateDer<'static>> {
        let all = CertificateDer::pem_file_iter(path).expect("read certificates");
        all.map(|it| it.expect("a certificate")).collect()
    };
    let files = secured.certificates;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("the provider has them");
    let builder = if secured.clients {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates(&files.ca));
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
        builder.with_client_cert_verifier(verifier.build().expect("there is a root"))
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::from_pem_file(&files.server_key).expect("read a key");
    let config = builder.with_single_cert(certificates(&files.server_cert), key);
    let mut config = config.expect("they belong together");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config)
}
