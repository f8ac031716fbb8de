//! Who sends requests over a connection, as far as it is known before the first of them.

use std::net::SocketAddr;
use std::sync::Arc;

use auth::User;
use rustls::pki_types::CertificateDer;

use super::unread::ConnectionMemory;

/// Who is at the other end.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SocketAddr,
    /// What the client showed, its own certificate first. Nobody has looked at it yet.
    pub certificates: Vec<CertificateDer<'static>>,
}

/// Who is at the other end of a connection, or inside of this process.
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
