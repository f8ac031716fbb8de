//! Who asks: the bridge from connections and headers to `auth`.

use std::borrow::Cow;
use std::sync::Arc;

use auth::authenticate::{Authenticator, Credentials};
use auth::{Attributes, RequestHeader, User, impersonation, x509};
use http::HeaderMap;
use http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL};
use meta::Status;
use meta::gvk::GroupResource;
use rustls::pki_types::CertificateDer;

use crate::runtime::clock;
use crate::state::Api;
use crate::transport::caller::Caller;
use crate::transport::tls::ClientAuthority;

#[derive(Debug)]
pub struct Authentication {
    /// Who signs client certificates.
    pub clients: Option<ClientAuthority>,
    /// Who may speak for others, by headers.
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
    pub(crate) fn includes(&self, certificates: &[CertificateDer<'_>]) -> Option<(i64, i64)> {
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
fn texts(headers: &HeaderMap) -> Vec<(&str, Cow<'_, str>)> {
    let all = headers.iter();
    all.map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
        .collect()
}

impl Api {
    pub(crate) fn authenticate(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
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
        if let (Some((from, to)), Some(proxies)) = (proxy, &self.authentication.proxies)
            && (from..=to).contains(&now)
            && let Some(user) = proxies.user(headers)
        {
            return Ok(Arc::new(user));
        }
        // Connections live long: a certificate that counted at their beginning may have ended since.
        if let Some((user, (from, to))) = known
            && (*from..=*to).contains(&now)
        {
            self.metrics.access.certificate_ends_in(to - now);
            return Ok(user.clone());
        }
        let certificate = peer.certificates.first();
        // Upstream asks the authorities of proxies and those of clients, and each that says no is an error: only another
        // credential helps then.
        let ways = &self.authentication;
        let is_proxy = proxy.is_some_and(|(from, to)| (from..=to).contains(&now));
        let is_unknown = ways.clients.is_some() && !trusted || ways.proxies.is_some() && !is_proxy;
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
        let found = self.authentication.ways.request(&credentials, now, self);
        // Why not is for the log, not for the client.
        found.map(Arc::new).map_err(|_| unauthorized())
    }

    /// Whom the request is to be taken for, if its sender may.
    pub(crate) async fn impersonate(
        &self,
        attributes: &Attributes<'_>,
        headers: &HeaderMap,
    ) -> Result<Option<User>, Status> {
        let texts = texts(headers);
        let pairs = texts.iter().map(|(name, value)| (*name, &**value));
        let Some(wanted) = impersonation::wanted(pairs).map_err(Status::bad_request)? else {
            return Ok(None);
        };
        match impersonation::impersonate(&*self.authorizer, &self.last_modes, attributes, &wanted)
            .await
        {
            Ok(found) => Ok(Some(found.user)),
            Err(refusal) => {
                let resource = GroupResource::new(&*refusal.api_group, &*refusal.resource);
                let mut status = Status::forbidden(&resource, &refusal.name, "");
                status.message = refusal.message;
                Err(status)
            }
        }
    }
}

/// Whether a request asks to act as another user.
pub(crate) fn impersonates(headers: &HeaderMap) -> bool {
    let mut names = headers.keys();
    names.any(|it| impersonation::is_header(it.as_str()))
}

pub fn unauthorized() -> Status {
    Status::unauthorized("Unauthorized")
}
