//! Whether a request may go on.

use auth::{Attributes, Decision};
use meta::Status;
use meta::gvk::GroupResource;

/// Errs with the refusal that upstream would send.
pub(crate) fn judged(attributes: &Attributes<'_>, decision: &Decision) -> Result<(), Status> {
    if decision.allowed() {
        return Ok(());
    }
    let resource = GroupResource::new(attributes.api_group, attributes.resource);
    let mut status = Status::forbidden(&resource, attributes.name, "");
    status.message = auth::forbidden::message(attributes, &decision.reason);
    Err(status)
}
