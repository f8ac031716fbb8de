//! Requests that are sent in the name of others.

use auth::impersonation::{self, LastModes};
use auth::{Attributes, Authorizer, User};
use http::HeaderMap;
use meta::Status;
use meta::gvk::GroupResource;

use super::authenticate::texts;

/// Whether a request asks to act as another user.
pub(crate) fn is_requested(headers: &HeaderMap) -> bool {
    let mut names = headers.keys();
    names.any(|it| impersonation::is_header(it.as_str()))
}

/// Whom the request is to be taken for, if its sender may.
pub(crate) async fn impersonate(
    authorizer: &dyn Authorizer,
    last_modes: &LastModes,
    attributes: &Attributes<'_>,
    headers: &HeaderMap,
) -> Result<Option<User>, Status> {
    let texts = texts(headers);
    let pairs = texts.iter().map(|(name, value)| (*name, &**value));
    let Some(wanted) = impersonation::wanted(pairs).map_err(Status::bad_request)? else {
        return Ok(None);
    };
    match impersonation::impersonate(authorizer, last_modes, attributes, &wanted).await {
        Ok(found) => Ok(Some(found.user)),
        Err(refusal) => {
            let resource = GroupResource::new(&*refusal.api_group, &*refusal.resource);
            let mut status = Status::forbidden(&resource, &refusal.name, "");
            status.message = refusal.message;
            Err(status)
        }
    }
}
