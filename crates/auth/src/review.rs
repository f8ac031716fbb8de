//! The reviews: questions about users, tokens and rules as API objects. Nothing of them is stored.

mod access;
mod rules;
mod subject;

pub use access::{AccessReview, access_status, validate_access};
pub use rules::rules_status;
pub use subject::{TokenAsked, self_subject_status, token_asked, token_status};
