//! `TokenReview` and `SelfSubjectReview`.

use json::{Object, Value, json};

use crate::User;
use crate::rbac::strings;
use crate::serviceaccount::Authenticated;

/// What a `TokenReview` asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenAsked<'a> {
    pub token: &'a str,
    /// None for the server's own.
    pub audiences: Option<Vec<String>>,
}

/// The error is for a `BadRequest`.
pub fn token_asked(review: &Value) -> Result<TokenAsked<'_>, &'static str> {
    let token = review.str_at(&["spec", "token"]).unwrap_or_default();
    if token.is_empty() {
        return Err("token is required for TokenReview in authentication");
    }
    let audiences = strings(review.at(&["spec", "audiences"]));
    let audiences = (!audiences.is_empty()).then_some(audiences);
    Ok(TokenAsked { token, audiences })
}

/// The `status` of a `TokenReview`.
pub fn token_status(found: &Result<Authenticated, String>) -> Value {
    let mut status = Object::new();
    match found {
        Ok(found) => {
            status.insert("authenticated", true);
            status.insert("user", found.user.to_value());
            if !found.audiences.is_empty() {
                status.insert("audiences", found.audiences.iter().collect::<Value>());
            }
        }
        Err(error) => {
            status.insert("user", Object::new());
            status.insert("error", error);
        }
    }
    status.into()
}

/// The `status` of a `SelfSubjectReview`: the attributes of the user.
pub fn self_subject_status(user: &User) -> Value {
    json!({"userInfo": (user.to_value())})
}
