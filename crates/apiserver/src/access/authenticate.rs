//! Authentication: from certificates, headers and tokens to a user, by the rules of the crate `auth`.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use auth::authenticate::{Authenticator, Credentials};
use auth::serviceaccount::Lookup;
use auth::{RequestHeader, User, x509};
use http::HeaderMap;
use http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL};
use meta::Status;
use rustls::pki_types::CertificateDer;

use crate::observe::metrics::Access;
use crate::runtime::clock;
use crate::transport::caller::{Caller, Peer};
use crate::transport::tls::ClientAuthority;
use crate::transport::unread::ConnectionMemory;

#[derive(Debug)]
pub struct Authentication {
    /// The authorities of client certificates.
    pub clients: Option<ClientAuthority>,
    /// Front proxies, which may name the user in headers.
    pub proxies: Option<FrontProxies>,
    pub ways: Authenticator,
}

/// Proxies in front of the server that authenticate.
#[derive(Debug)]
pub struct FrontProxies {
    pub authority: ClientAuthority,
    pub headers: RequestHeader,
}

impl FrontProxies {
    /// From when to when a client is one of them.
    fn includes(&self, certificates: &[CertificateDer<'_>]) -> Option<(i64, i64)> {
        let first = certificates.first()?;
        let is_one = self.authority.trusts(certificates) && self.headers.allows(first);
        x509::validity(first).filter(|_| is_one)
    }

    fn user(&self, headers: &HeaderMap) -> Option<User> {
        let texts = texts(headers);
        let pairs: Vec<_> = texts
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        let mut user = self.headers.user(&pairs)?;
        user.add_authenticated();
        Some(user)
    }
}

/// Whatever the bytes are: a header that is passed over would leave its sender another's rights.
pub(super) fn texts(headers: &HeaderMap) -> Vec<(&str, Cow<'_, str>)> {
    let all = headers.iter();
    all.map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
        .collect()
}

impl Authentication {
    /// What is known of a connection before its first request.
    pub(crate) fn caller(&self, peer: Peer, memory: Arc<ConnectionMemory>) -> Caller {
        let clients = self.clients.as_ref();
        let trusted = clients.is_some_and(|it| it.trusts(&peer.certificates));
        let known = peer.certificates.first().filter(|_| trusted);
        let known = known.and_then(|certificate| {
            let mut user = x509::user(certificate, clock::unix()).ok()??;
            user.add_authenticated();
            Some((Arc::new(user), x509::validity(certificate)?))
        });
        let proxies = self.proxies.as_ref();
        Caller::Remote {
            proxy: proxies.and_then(|it| it.includes(&peer.certificates)),
            memory,
            peer,
            trusted,
            known,
            encoded: OnceLock::new(),
        }
    }

    /// The user of a request with these headers. Tokens are checked against `accounts`.
    pub(crate) fn authenticate(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        accounts: &dyn Lookup,
        metrics: &Access,
    ) -> Result<Arc<User>, Status> {
        let (peer, trusted, known, proxy) = match caller {
            Caller::Local(user) => return Ok(user.clone()),
            Caller::Remote {
                peer,
                trusted,
                known,
                proxy,
                ..
            } => (peer, *trusted, known, *proxy),
        };
        let now = clock::unix();
        if let (Some((from, to)), Some(proxies)) = (proxy, &self.proxies)
            && (from..=to).contains(&now)
            && let Some(user) = proxies.user(headers)
        {
            return Ok(Arc::new(user));
        }
        // Connections live long: a certificate that counted at their beginning may have ended since.
        if let Some((user, (from, to))) = known
            && (*from..=*to).contains(&now)
        {
            metrics.certificate_ends_in(to - now);
            return Ok(user.clone());
        }
        let certificate = peer.certificates.first();
        // Upstream asks the authorities of proxies and those of clients, and each that says no is an error: only another
        // credential helps then.
        let is_proxy = proxy.is_some_and(|(from, to)| (from..=to).contains(&now));
        let is_unknown = self.clients.is_some() && !trusted || self.proxies.is_some() && !is_proxy;
        // A token of any bytes is a token, and a wrong one does not make its bearer anonymous.
        let authorization = headers.get(AUTHORIZATION);
        let authorization = authorization.map(|it| String::from_utf8_lossy(it.as_bytes()));
        let protocols = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
        let credentials = Credentials {
            certificate: certificate.filter(|_| trusted).map(|it| &**it),
            untrusted_certificate: certificate.is_some() && is_unknown,
            authorization: authorization.as_deref(),
            websocket_protocols: protocols.filter_map(|it| it.to_str().ok()).collect(),
        };
        let found = self.ways.request(&credentials, now, accounts);
        // Why not is for the log, not for the client.
        found.map(Arc::new).map_err(|_| unauthorized())
    }
}

pub fn unauthorized() -> Status {
    Status::unauthorized("Unauthorized")
}
