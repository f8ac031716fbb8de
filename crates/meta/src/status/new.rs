//! One constructor per error of upstream's `api/errors`, with its code, reason, text and details.

use std::fmt::Display;

use super::{Cause, Details, Reason, Status};
use crate::field;
use crate::go::quote;
use crate::gvk::{GroupKind, GroupResource};

/// The details that name an object of a resource.
fn of(resource: &GroupResource, name: &str) -> Details {
    Details {
        name: name.into(),
        group: resource.group.clone(),
        kind: resource.resource.clone(),
        ..Details::default()
    }
}

fn retry_after(retry_after_seconds: i32) -> Details {
    Details {
        retry_after_seconds,
        ..Details::default()
    }
}

impl Status {
    pub fn not_found(resource: &GroupResource, name: &str) -> Self {
        let message = format!("{resource} {} not found", quote(name));
        Self::failure(404, Reason::NotFound, message).with_details(of(resource, name))
    }

    pub fn already_exists(resource: &GroupResource, name: &str) -> Self {
        let message = format!("{resource} {} already exists", quote(name));
        Self::failure(409, Reason::AlreadyExists, message).with_details(of(resource, name))
    }

    /// No suffix of a `generateName` was free.
    pub fn generate_name_conflict(resource: &GroupResource, name: &str, retry: i32) -> Self {
        let message = format!(
            "{resource} {} already exists, the server was not able to generate a unique name for the object",
            quote(name)
        );
        Self::failure(409, Reason::AlreadyExists, message).with_details(Details {
            retry_after_seconds: retry,
            ..of(resource, name)
        })
    }

    pub fn unauthorized(message: &str) -> Self {
        let message = if message.is_empty() {
            "not authorized"
        } else {
            message
        };
        Self::failure(401, Reason::Unauthorized, message)
    }

    pub fn forbidden(resource: &GroupResource, name: &str, error: impl Display) -> Self {
        let message = if resource.is_empty() {
            format!("forbidden: {error}")
        } else if name.is_empty() {
            format!("{resource} is forbidden: {error}")
        } else {
            format!("{resource} {} is forbidden: {error}", quote(name))
        };
        Self::failure(403, Reason::Forbidden, message).with_details(of(resource, name))
    }

    pub fn conflict(resource: &GroupResource, name: &str, error: impl Display) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {resource} {}: {error}",
            quote(name)
        );
        Self::failure(409, Reason::Conflict, message).with_details(of(resource, name))
    }

    /// Other managers own what was applied.
    pub fn apply_conflict(causes: Vec<Cause>, message: impl Into<String>) -> Self {
        Self::failure(409, Reason::Conflict, message).with_details(Details {
            causes,
            ..Details::default()
        })
    }

    pub fn gone(message: impl Into<String>) -> Self {
        Self::failure(410, Reason::Gone, message)
    }

    pub fn resource_expired(message: impl Into<String>) -> Self {
        Self::failure(410, Reason::Expired, message)
    }

    pub fn invalid(kind: &GroupKind, name: &str, errors: &[field::Error]) -> Self {
        let mut message = format!("{kind} {} is invalid", quote(name));
        if !errors.is_empty() {
            message.push_str(": ");
            message.push_str(&field::aggregate(errors));
        }
        let causes = errors.iter().map(|error| Cause {
            reason: error.kind.reason().into(),
            message: error.body(),
            field: error.field.clone(),
        });
        Self::failure(422, Reason::Invalid, message).with_details(Details {
            name: name.into(),
            group: kind.group.clone(),
            kind: kind.kind.clone(),
            causes: causes.collect(),
            ..Details::default()
        })
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::failure(400, Reason::BadRequest, message)
    }

    pub fn too_many_requests(message: impl Into<String>, retry: i32) -> Self {
        Self::failure(429, Reason::TooManyRequests, message).with_details(retry_after(retry))
    }

    pub fn service_unavailable(message: impl Into<String>) -> Self {
        Self::failure(503, Reason::ServiceUnavailable, message)
    }

    pub fn method_not_supported(resource: &GroupResource, action: &str) -> Self {
        let kind = quote(&resource.to_string());
        let message = format!("{action} is not supported on resources of kind {kind}");
        Self::failure(405, Reason::MethodNotAllowed, message).with_details(of(resource, ""))
    }

    /// Details name the operation where others name the object, as upstream has it.
    pub fn server_timeout(resource: &GroupResource, operation: &str, retry: i32) -> Self {
        let message = format!(
            "The {operation} operation against {resource} could not be completed at this time, please try again."
        );
        Self::failure(500, Reason::ServerTimeout, message).with_details(Details {
            retry_after_seconds: retry,
            ..of(resource, operation)
        })
    }

    pub fn internal(error: impl Display) -> Self {
        let message = format!("Internal error occurred: {error}");
        Self::failure(500, Reason::InternalError, message).with_cause("", error.to_string(), "")
    }

    pub fn timeout(message: impl Display, retry: i32) -> Self {
        Self::failure(504, Reason::Timeout, format!("Timeout: {message}"))
            .with_details(retry_after(retry))
    }

    pub fn request_entity_too_large(message: impl Display) -> Self {
        let message = format!("Request entity too large: {message}");
        Self::failure(413, Reason::RequestEntityTooLarge, message)
    }

    pub fn not_acceptable(accepted: &[&str]) -> Self {
        let accepted = accepted.join(", ");
        let message = format!("only the following media types are accepted: {accepted}");
        Self::failure(406, Reason::NotAcceptable, message)
    }

    /// The same, when a Table or another form was asked for.
    pub fn not_acceptable_conversion(target: &str, accepted: &[&str]) -> Self {
        let accepted = accepted.join(", ");
        let message = format!(
            "only the following media types are accepted when converting to {target}: {accepted}"
        );
        Self::failure(406, Reason::NotAcceptable, message)
    }

    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let accepted = accepted.join(", ");
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {accepted}"
        );
        Self::failure(415, Reason::UnsupportedMediaType, message)
    }

    /// What to say of an answer that was not a Status: of a webhook, or of nothing found behind a path.
    /// An `unexpected` answer is kept as a cause.
    pub fn generic_server_response(
        code: u16,
        verb: &str,
        resource: &GroupResource,
        name: &str,
        said: &str,
        retry: i32,
        unexpected: bool,
    ) -> Self {
        let (reason, mut message) = generic(code, verb, said);
        if !resource.is_empty() {
            let verb = verb.to_lowercase();
            let name = if name.is_empty() {
                String::new()
            } else {
                format!(" {name}")
            };
            message = format!("{message} ({verb} {resource}{name})");
        }
        let status = Self::failure(code, reason, message).with_details(Details {
            retry_after_seconds: retry,
            ..of(resource, name)
        });
        if unexpected {
            return status.with_cause("UnexpectedServerResponse", said, "");
        }
        status
    }
}

fn generic(code: u16, verb: &str, said: &str) -> (Reason, String) {
    let (reason, message) = match code {
        409 if verb == "POST" => (Reason::AlreadyExists, "the server reported a conflict"),
        409 => (Reason::Conflict, "the server reported a conflict"),
        404 => (
            Reason::NotFound,
            "the server could not find the requested resource",
        ),
        400 => (
            Reason::BadRequest,
            "the server rejected our request for an unknown reason",
        ),
        401 => (
            Reason::Unauthorized,
            "the server has asked for the client to provide credentials",
        ),
        403 => (Reason::Forbidden, said),
        406 if said.is_empty() || said == "unknown" => (
            Reason::NotAcceptable,
            "the server was unable to respond with a content type that the client supports",
        ),
        406 => (Reason::NotAcceptable, said),
        415 => (Reason::UnsupportedMediaType, said),
        405 => (
            Reason::MethodNotAllowed,
            "the server does not allow this method on the requested resource",
        ),
        422 => (
            Reason::Invalid,
            "the server rejected our request due to an error in our request",
        ),
        503 => (
            Reason::ServiceUnavailable,
            "the server is currently unable to handle the request",
        ),
        504 => (
            Reason::Timeout,
            "the server was unable to return a response in the time allotted, but may still be processing the request",
        ),
        429 => (
            Reason::TooManyRequests,
            "the server has received too many requests and has asked us to try again later",
        ),
        500.. => {
            let message = format!(
                "an error on the server ({}) has prevented the request from succeeding",
                quote(said)
            );
            return (Reason::InternalError, message);
        }
        _ => {
            let message = format!(
                "the server responded with the status code {code} but did not return more information"
            );
            return (Reason::Unknown, message);
        }
    };
    (reason, message.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn say_what_upstream_says() {
        let apps = GroupResource::new("apps", "deployments");
        let none = GroupResource::default();
        let kind = GroupKind::new("", "Kind");
        let name = field::Error::duplicate("field[0].name", "bar");
        let table: Vec<(Status, u16, &str, &str)> = vec![
            (
                Status::not_found(&apps, "a"),
                404,
                "NotFound",
                r#"deployments.apps "a" not found"#,
            ),
            (
                Status::already_exists(&apps, "a"),
                409,
                "AlreadyExists",
                r#"deployments.apps "a" already exists"#,
            ),
            (
                Status::unauthorized(""),
                401,
                "Unauthorized",
                "not authorized",
            ),
            (
                Status::unauthorized("Unauthorized"),
                401,
                "Unauthorized",
                "Unauthorized",
            ),
            (
                Status::forbidden(&none, "", "no"),
                403,
                "Forbidden",
                "forbidden: no",
            ),
            (
                Status::forbidden(&apps, "", "no"),
                403,
                "Forbidden",
                "deployments.apps is forbidden: no",
            ),
            (
                Status::forbidden(&apps, "a", "no"),
                403,
                "Forbidden",
                r#"deployments.apps "a" is forbidden: no"#,
            ),
            (
                Status::conflict(&apps, "a", "no"),
                409,
                "Conflict",
                r#"Operation cannot be fulfilled on deployments.apps "a": no"#,
            ),
            (Status::resource_expired("m"), 410, "Expired", "m"),
            (Status::gone("m"), 410, "Gone", "m"),
            (
                Status::invalid(&kind, "name", &[]),
                422,
                "Invalid",
                r#"Kind "name" is invalid"#,
            ),
            (
                Status::invalid(&kind, "name", std::slice::from_ref(&name)),
                422,
                "Invalid",
                r#"Kind "name" is invalid: field[0].name: Duplicate value: "bar""#,
            ),
            (
                Status::invalid(
                    &kind,
                    "",
                    &[name.clone(), field::Error::required("a", "b"), name],
                ),
                422,
                "Invalid",
                r#"Kind "" is invalid: [field[0].name: Duplicate value: "bar", a: Required value: b]"#,
            ),
            (
                Status::method_not_supported(&apps, "patch"),
                405,
                "MethodNotAllowed",
                r#"patch is not supported on resources of kind "deployments.apps""#,
            ),
            (
                Status::internal("x"),
                500,
                "InternalError",
                "Internal error occurred: x",
            ),
            (Status::timeout("x", 1), 504, "Timeout", "Timeout: x"),
            (
                Status::server_timeout(&apps, "get", 2),
                500,
                "ServerTimeout",
                "The get operation against deployments.apps could not be completed at this time, please try again.",
            ),
            (
                Status::request_entity_too_large("limit is 3"),
                413,
                "RequestEntityTooLarge",
                "Request entity too large: limit is 3",
            ),
            (
                Status::not_acceptable(&["a/b", "c/d"]),
                406,
                "NotAcceptable",
                "only the following media types are accepted: a/b, c/d",
            ),
            (
                Status::generic_server_response(404, "GET", &none, "", "", 0, true),
                404,
                "NotFound",
                "the server could not find the requested resource",
            ),
            (
                Status::generic_server_response(409, "POST", &apps, "", "", 0, true),
                409,
                "AlreadyExists",
                "the server reported a conflict (post deployments.apps)",
            ),
            (
                Status::generic_server_response(502, "PUT", &apps, "a", "bad", 0, false),
                502,
                "InternalError",
                r#"an error on the server ("bad") has prevented the request from succeeding (put deployments.apps a)"#,
            ),
            (
                Status::generic_server_response(418, "GET", &none, "", "", 0, false),
                418,
                "",
                "the server responded with the status code 418 but did not return more information",
            ),
        ];
        for (status, code, reason, message) in table {
            assert_eq!(status.code, code, "{message}");
            assert_eq!(status.reason.as_str(), reason, "{message}");
            assert_eq!(status.message, message);
        }
    }

    #[test]
    fn repeated_errors_are_said_once_but_stay_causes() {
        let error = field::Error::required("a", "");
        let status = Status::invalid(&GroupKind::new("", "K"), "n", &[error.clone(), error]);
        assert_eq!(status.message, r#"K "n" is invalid: a: Required value"#);
        assert_eq!(status.details.unwrap_or_default().causes.len(), 2);
    }

    #[test]
    fn retries_are_suggested() {
        let apps = GroupResource::new("apps", "deployments");
        let table = [
            (Status::generate_name_conflict(&apps, "a", 1), Some(1)),
            (Status::too_many_requests("m", 10), Some(10)),
            (Status::timeout("m", 3), Some(3)),
            (Status::bad_request("m"), None),
            (Status::too_many_requests("m", 0), None),
        ];
        for (status, want) in table {
            assert_eq!(status.retry_after_seconds(), want, "{status}");
        }
    }
}
