//! Whether a webhook is called for a request, and how it sees it.

use json::Value;
use meta::Status;
use meta::gvk::{GroupResource, GroupVersionKind, GroupVersionResource};

use super::Caller;
use super::hook::Hook;
use super::rule::Asked;
use crate::{Operation, Request};

/// A call that is to be made.
#[derive(Debug)]
pub(super) struct Invocation<'a> {
    pub hook: &'a Hook,
    pub resource: GroupVersionResource,
    pub kind: GroupVersionKind,
}

/// `object` is as it is now, after what others changed.
pub(super) fn invocation<'a>(
    hook: &'a Hook,
    request: &Request<'_>,
    object: &Value,
) -> Result<Option<Invocation<'a>>, Status> {
    let namespace = in_namespace(hook, request, object);
    if namespace == Ok(false) {
        return Ok(None);
    }
    let selected = is_selected(hook, request, object);
    if selected == Ok(false) {
        return Ok(None);
    }
    let Some(found) = by_rules(hook, request) else {
        return Ok(None);
    };
    // What is wrong with selectors matters only to those it is about.
    namespace?;
    selected?;
    Ok(Some(found))
}

fn by_rules<'a>(hook: &'a Hook, request: &Request<'_>) -> Option<Invocation<'a>> {
    let asked = |resource| Asked {
        operation: request.operation,
        resource,
        subresource: request.subresource,
        namespace: request.namespace,
    };
    let own = asked(request.resource);
    if hook.rules.iter().any(|it| it.matches(&own)) {
        return Some(Invocation {
            hook,
            resource: request.resource.clone(),
            kind: request.kind.clone(),
        });
    }
    if !hook.equivalent || hook.rules.is_empty() {
        return None;
    }
    let others = request
        .kinds
        .equivalents(request.resource, request.subresource);
    // Earlier rules count first.
    for rule in &hook.rules {
        for (resource, kind) in &others {
            if resource != request.resource && rule.matches(&asked(resource)) {
                return Some(Invocation {
                    hook,
                    resource: resource.clone(),
                    kind: kind.clone(),
                });
            }
        }
    }
    None
}

fn in_namespace(hook: &Hook, request: &Request<'_>, object: &Value) -> Result<bool, Status> {
    let is_namespaces = request.resource.resource == "namespaces";
    if request.namespace.is_empty() && !is_namespaces {
        return Ok(true);
    }
    let selector = hook.namespaces.as_ref().map_err(Status::internal)?;
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
fn is_selected(hook: &Hook, request: &Request<'_>, object: &Value) -> Result<bool, Status> {
    let selector = hook.objects.as_ref().map_err(Status::internal)?;
    if selector.is_everything() {
        return Ok(true);
    }
    let matches = |it: &Value| !it.is_null() && selector.matches(meta::object::labels(it));
    Ok(matches(object) || request.old.is_some_and(matches))
}

/// Whether the conditions of a webhook hold, for the object as the webhook would see it.
pub(super) fn holds(
    caller: &Caller,
    hook: &Hook,
    request: &Request<'_>,
    object: &Value,
    old: Option<&Value>,
) -> Result<bool, Status> {
    if hook.conditions.is_null() {
        return Ok(true);
    }
    let result = match &caller.conditions {
        Some(conditions) => conditions.hold(&hook.conditions, request, object, old),
        None => Err(format!(
            "webhook {} has matchConditions, which cannot be evaluated here",
            meta::go::quote(&hook.name)
        )),
    };
    match result {
        Err(why) if hook.ignore => {
            caller.metrics.webhook_failed(&hook.name, true, &why);
            Ok(false)
        }
        Err(why) => {
            let resource = &request.resource;
            let resource = GroupResource::new(&*resource.group, &*resource.resource);
            Err(Status::forbidden(&resource, request.name, why))
        }
        Ok(holds) => Ok(holds),
    }
}
