//! Escalation checks: a user cannot grant permissions that they do not have, by a role or by a binding, nor change parts of
//! objects that need a permission of their own.

mod claims;

use auth::rbac::{self, RoleRef};
use json::Value;
use meta::Status;
use resources::Action;

use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::state::Api;

pub(crate) async fn check(
    api: &Api,
    ctx: &RequestContext<'_>,
    object: &Value,
    live: Option<&Value>,
) -> Result<(), Status> {
    let resource = &ctx.resource;
    if let Some(live) = live
        && resource.strategy.action == Action::SharesStatus
    {
        let errors = claims::check(api, ctx, object, live).await;
        if !errors.is_empty() {
            let name = object::name(object);
            return Err(Status::invalid(&resource.group_kind(), name, &errors));
        }
    }
    let action = resource.strategy.action;
    let grants = matches!(action, Action::GrantsRules | Action::BindsRole);
    if !grants || rbac::escalation_allowed(ctx.user) {
        return Ok(());
    }
    if live.is_some_and(|live| only_ownership_differs(object, live)) {
        return Ok(());
    }
    let user = ctx.user;
    let namespace = &*ctx.info.namespace;
    let name = object::name(object);
    let refusal = match action {
        Action::GrantsRules => {
            let asked = rbac::escalate_attributes(user, &resource.plural, namespace, name);
            if api.authorizer().authorize(asked).await.allowed() {
                return Ok(());
            }
            rbac::refuse_role_escalation(api.rbac(), user, namespace, object, live)
        }
        Action::BindsRole => {
            let role = RoleRef::of(object);
            let asked = rbac::bind_attributes(user, &role, namespace);
            if let Some(asked) = asked
                && api.authorizer().authorize(asked).await.allowed()
            {
                return Ok(());
            }
            match api.rbac().rules_of(&role, namespace) {
                Ok(rules) => rbac::refuse_escalation(api.rbac(), user, namespace, &rules),
                // Without the permission to bind any role, the role must exist. Upstream reports the binding as not found.
                Err(_) => return Err(Status::not_found(&resource.group_resource(), &role.name)),
            }
        }
        _ => None,
    };
    match refusal {
        None => Ok(()),
        Some(text) => Err(Status::forbidden(&resource.group_resource(), name, text)),
    }
}

/// The garbage collector may set owners and finalizers on anything.
fn only_ownership_differs(object: &Value, live: &Value) -> bool {
    let bare = |value: &Value| {
        let mut value = value.clone();
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            for field in [
                "ownerReferences",
                "finalizers",
                "managedFields",
                "resourceVersion",
            ] {
                metadata.remove(field);
            }
        }
        value
    };
    bare(object) == bare(live)
}
