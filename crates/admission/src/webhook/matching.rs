//! Whether a webhook is called for a request, and how it sees it.

use json::Value;
use meta::Status;
use meta::gvk::{GroupResource, GroupVersionKind, GroupVersionResource};

use super::Caller;
use super::hook::Hook;
use crate::Request;
use crate::matching::{Asked, in_namespace, is_selected};
use crate::metrics::Phase;
use crate::policy::match_conditions::Owner;
use crate::policy::{self, Bindings, Matched, RequestAuthorizer};

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
    let namespace = in_namespace(&hook.namespaces, request, object);
    if namespace == Ok(false) {
        return Ok(None);
    }
    let selected = is_selected(&hook.objects, request, object);
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

/// Whether the conditions of a webhook hold, for the object as the webhook would see it.
pub(super) fn holds(
    caller: &Caller,
    found: &Invocation<'_>,
    request: &Request<'_>,
    (object, old): (&Value, Option<&Value>),
    phase: Phase,
) -> Result<bool, Status> {
    let Some(conditions) = found.hook.conditions() else {
        return Ok(true);
    };
    let kind = &found.kind;
    let written = |it: &Value| request.kinds.written(it.clone(), kind);
    let object = if object.is_null() {
        Value::Null
    } else {
        written(object)
    };
    let old = old.map(written);
    let matched = Matched {
        resource: request.resource.clone(),
        kind: kind.clone(),
    };
    let value = policy::request_value(request, &matched);
    let authorizer = RequestAuthorizer::new(&*caller.authorizer, request.user);
    let asked_for = policy::request_resource(request);
    let bindings = Bindings {
        is_struct: request.kinds.is_struct(kind),
        authorizer: Some((&authorizer, &asked_for)),
        deadline: request.deadline,
        ..Bindings::new(&object, old.as_ref(), &value)
    };
    let owner = Owner {
        name: &found.hook.name,
        kind: "webhook",
        phase,
        operation: request.operation,
    };
    match conditions.hold(&[], &bindings, &caller.metrics.policies, owner) {
        Ok(true) => Ok(true),
        Ok(false) => {
            owner.excluded(&caller.metrics.policies);
            Ok(false)
        }
        Err(failure) => {
            let resource = &request.resource;
            let resource = GroupResource::new(&*resource.group, &*resource.resource);
            Err(Status::forbidden(&resource, request.name, failure.detail))
        }
    }
}
