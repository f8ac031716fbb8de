//! The peer of a connection, as far as it is known before the first request.

use std::net::SocketAddr;
use std::sync::Arc;

use auth::User;
use rustls::pki_types::CertificateDer;

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
    },
    /// A controller of ours.
    Local(Arc<User>),
}

impl Caller {
    pub(crate) fn memory(&self) -> Arc<ConnectionMemory> {
        match self {
            Self::Remote { memory, .. } => memory.clone(),
            Self::Local(_) => Arc::default(),
        }
    }
}
