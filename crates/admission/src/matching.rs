//! Which requests are meant: what webhooks and policies share.

mod rule;

use json::Value;
use meta::Status;
use meta::gvk::GroupResource;
use meta::selector::LabelSelector;

pub(crate) use self::rule::{Asked, Rule};
use crate::{Operation, Request};

/// A selector of an object's field, or why it is none.
pub(crate) fn selector(of: &Value, key: &str) -> Result<LabelSelector, String> {
    LabelSelector::from_value(of.get(key)).map_err(|error| error.to_string())
}

/// Requests that no webhook and no policy sees: they would lock all out.
pub(crate) fn is_review(request: &Request<'_>) -> bool {
    let resource = &*request.resource.resource;
    match &*request.resource.group {
        "authentication.k8s.io" => matches!(resource, "tokenreviews" | "selfsubjectreviews"),
        "authorization.k8s.io" => {
            resource.ends_with("accessreviews") || resource == "selfsubjectrulesreviews"
        }
        _ => false,
    }
}

/// Whether the namespace of a request is selected. Requests that have none always are.
pub(crate) fn in_namespace(
    selector: &Result<LabelSelector, String>,
    request: &Request<'_>,
    object: &Value,
) -> Result<bool, Status> {
    let is_namespaces = request.resource.resource == "namespaces";
    if request.namespace.is_empty() && !is_namespaces {
        return Ok(true);
    }
    let selector = selector.as_ref().map_err(Status::internal)?;
    if selector.is_everything() {
        return Ok(true);
    }
    let writes = matches!(request.operation, Operation::Create | Operation::Update);
    // The labels it is about to have.
    if is_namespaces && request.subresource.is_empty() && writes {
        return Ok(selector.matches(meta::object::labels(object)));
    }
    let found = request.lookup.get("", "namespaces", "", request.namespace);
    let Some(namespace) = found else {
        let resource = GroupResource::new("", "namespaces");
        return Err(Status::not_found(&resource, request.namespace));
    };
    Ok(selector.matches(meta::object::labels(&namespace)))
}

/// The object as it was counts as much as it will be: nobody gets away by taking a label off.
pub(crate) fn is_selected(
    selector: &Result<LabelSelector, String>,
    request: &Request<'_>,
    object: &Value,
) -> Result<bool, Status> {
    let selector = selector.as_ref().map_err(Status::internal)?;
    if selector.is_everything() {
        return Ok(true);
    }
    let matches = |it: &Value| !it.is_null() && selector.matches(meta::object::labels(it));
    Ok(matches(object) || request.old.is_some_and(matches))
}
