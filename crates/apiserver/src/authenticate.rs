//! Who asks: the bridge from connections and headers to `auth`.

use std::sync::Arc;

use auth::authenticate::{Authenticator, Credentials};
use auth::{Attributes, User, impersonation};
use http::HeaderMap;
use http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL};
use meta::Status;
use meta::gvk::GroupResource;

use crate::clock;
use crate::pipeline::{Api, Caller};
use crate::respond::text;
use crate::tls::ClientAuthority;

#[derive(Debug)]
pub struct Authentication {
    /// Who signs client certificates.
    pub clients: Option<ClientAuthority>,
    pub ways: Authenticator,
}

impl Api {
    pub(crate) fn authenticate(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
    ) -> Result<Arc<User>, Status> {
        let (peer, trusted, known) = match caller {
            Caller::Local(user) => return Ok(user.clone()),
            Caller::Remote {
                peer,
                trusted,
                known,
            } => (peer, *trusted, known),
        };
        let now = clock::unix();
        // Connections live long: a certificate that counted at their beginning may have ended since.
        if let Some((user, (from, to))) = known
            && (*from..=*to).contains(&now)
        {
            return Ok(user.clone());
        }
        let certificate = peer.certificates.first();
        if certificate.is_some() && !trusted && !headers.contains_key(AUTHORIZATION) {
            return Err(unauthorized());
        }
        let protocols = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
        let credentials = Credentials {
            certificate: certificate.filter(|_| trusted).map(|it| &**it),
            authorization: text(headers, &AUTHORIZATION),
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
        if !headers
            .keys()
            .any(|name| impersonation::is_header(name.as_str()))
        {
            return Ok(None);
        }
        let pairs = headers.iter();
        let pairs = pairs.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let Some(wanted) = impersonation::wanted(pairs).map_err(Status::bad_request)? else {
            return Ok(None);
        };
        match impersonation::impersonate(&*self.authorizer, attributes, &wanted).await {
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

pub fn unauthorized() -> Status {
    Status::unauthorized("Unauthorized")
}
