//! Acting as someone else: the headers, and whether one may.
//!
//! Constrained impersonation (KEP-5284, on by default since 1.36) is tried mode by mode, then the old verb
//! `impersonate`; before all of them, what worked for the sender the last time.

mod check;
mod headers;
mod last;
mod mode;

use crate::authorizer::Authorizer;
use crate::{Attributes, User, forbidden};

pub(crate) use headers::unescape;
pub use headers::{is_header, wanted};
pub use last::LastModes;

/// The user that the request continues as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impersonated {
    pub user: User,
    /// The verb that allowed it, for the audit log; empty for the old one.
    pub constraint: String,
}

/// Why not: the Status is Forbidden, about this object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Forbidden {
    pub message: String,
    pub api_group: String,
    pub resource: String,
    pub name: String,
}

impl Forbidden {
    pub(crate) fn new(attributes: &Attributes, reason: &str) -> Self {
        Self {
            message: forbidden::message(attributes, reason),
            api_group: attributes.api_group.to_owned(),
            resource: attributes.resource.to_owned(),
            name: attributes.name.to_owned(),
        }
    }
}

/// Whether the sender of the request may impersonate the wanted user; the attributes are the request's own.
pub async fn impersonate(
    authorizer: &dyn Authorizer,
    last_modes: &LastModes,
    attributes: &Attributes<'_>,
    wanted: &User,
) -> Result<Impersonated, Forbidden> {
    let sender = attributes.user;
    let last = last_modes.get(&sender.name);
    let others = mode::MODES.into_iter().filter(|it| Some(*it) != last);
    let mut first = None;
    for mode in last.into_iter().chain(others) {
        if !mode.applies(wanted, sender) {
            continue;
        }
        match check::check(authorizer, mode, attributes, wanted).await {
            Ok(user) => {
                last_modes.set(&sender.name, mode);
                return Ok(user);
            }
            // The error of the mode tried first, the last one used or the narrowest, is the one that helps.
            Err(refusal) => first = first.or(Some(refusal)),
        }
    }
    Err(first.unwrap_or_else(|| Forbidden::new(attributes, "all impersonation modes failed")))
}
