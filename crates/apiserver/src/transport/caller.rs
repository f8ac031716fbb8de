//! The peer of a connection, as far as it is known before the first request.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use auth::User;
use rustls::pki_types::CertificateDer;
use telemetry::trace::Encoded;

use super::unread::ConnectionMemory;

/// The peer.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SocketAddr,
    /// The certificates of the client, its own first. Not verified yet.
    pub certificates: Vec<CertificateDer<'static>>,
}

/// The sender of requests: the peer of a connection, or a client inside this process.
#[derive(Debug)]
pub enum Caller {
    Remote {
        peer: Peer,
        /// Its certificate leads to one of our authorities for clients.
        trusted: bool,
        /// Whom its certificate names, and from when to when it counts.
        known: Option<(Arc<User>, (i64, i64))>,
        /// From when to when it may speak for others.
        proxy: Option<(i64, i64)>,
        /// What it has not read of its responses.
        memory: Arc<ConnectionMemory>,
        /// The peer as traces show it, once one did.
        encoded: OnceLock<EncodedPeer>,
    },
    /// A controller of ours.
    Local(Arc<User>),
}

/// Attributes of the spans of all requests on a connection.
#[derive(Debug)]
pub struct EncodedPeer {
    pub(crate) server: Encoded,
    /// Where no proxy says otherwise.
    pub(crate) client_address: Encoded,
    pub(crate) handler: Encoded,
}

impl EncodedPeer {
    fn new(address: SocketAddr) -> Self {
        let ip = address.ip().to_string();
        Self {
            server: Encoded::new(|out| {
                out.text("network.peer.address", &ip);
                out.int("network.peer.port", address.port().into());
            }),
            client_address: Encoded::new(|out| out.text("client.address", &ip)),
            handler: Encoded::new(|out| out.text("client", &ip)),
        }
    }
}

impl Caller {
    /// None inside of this process.
    pub(crate) fn encoded_peer(&self) -> Option<&EncodedPeer> {
        match self {
            Self::Remote { peer, encoded, .. } => {
                Some(encoded.get_or_init(|| EncodedPeer::new(peer.address)))
            }
            Self::Local(_) => None,
        }
    }

    pub(crate) fn memory(&self) -> Arc<ConnectionMemory> {
        match self {
            Self::Remote { memory, .. } => memory.clone(),
            Self::Local(_) => Arc::default(),
        }
    }
}
