//! Nothing is made in a namespace that is not there or is going away, and the first namespaces stay.

use meta::Status;
use meta::gvk::GroupResource;

use crate::{Admitting, Operation, Outcome, Plugin, Request};

const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

#[derive(Clone, Copy, Debug, Default)]
pub struct NamespaceLifecycle;

impl Plugin for NamespaceLifecycle {
    fn name(&self) -> &'static str {
        "NamespaceLifecycle"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation != Operation::Connect
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        check(request, admitting).into()
    }
}

fn check(request: &Request<'_>, admitting: &Admitting) -> Result<(), Status> {
    let resource = GroupResource::new(&*request.resource.group, &*request.resource.resource);
    if request.resource.group.is_empty() && request.resource.resource == "namespaces" {
        let deletes = request.operation == Operation::Delete;
        if deletes && IMMORTAL.contains(&request.name) {
            return Err(Status::forbidden(
                &resource,
                request.name,
                "this namespace may not be deleted",
            ));
        }
        return Ok(());
    }
    if request.operation != Operation::Create || request.namespace.is_empty() {
        return Ok(());
    }
    // Asking whether one may does not depend on what is there.
    if request.resource.group == "authorization.k8s.io"
        && request.resource.resource == "localsubjectaccessreviews"
    {
        return Ok(());
    }
    let found = request.lookup.get("", "namespaces", "", request.namespace);
    let Some(namespace) = found else {
        return Err(Status::not_found(
            &GroupResource::new("", "namespaces"),
            request.namespace,
        ));
    };
    let is_going = namespace.str_at(&["status", "phase"]) == Some("Terminating")
        || meta::object::is_being_deleted(&namespace);
    if !is_going {
        return Ok(());
    }
    let name = meta::object::name(&admitting.object);
    let text = format!(
        "unable to create new content in namespace {} because it is being terminated",
        request.namespace
    );
    let message = format!("namespace {} is being terminated", request.namespace);
    let status = Status::forbidden(&resource, name, text);
    Err(status.with_cause("NamespaceTerminating", message, "metadata.namespace"))
}
