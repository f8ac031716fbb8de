//! What a handler knows of its request.

use std::sync::Arc;
use std::time::Instant;

use auth::{Attributes, User};
use http::{HeaderMap, Method};
use json::Value;
use meta::Status;
use resources::{Action, Verb as Allowed};

use crate::catalog::Resource;
use crate::flow::limiter::Limiter;
use crate::flow::seat_slot::SeatSlot;
use crate::request::warnings::Warnings;
use crate::request::{Query, ResourceRequest, Verb};

/// All that is known about a request for a resource when its verb takes over.
#[derive(Debug)]
pub(crate) struct RequestContext<'a> {
    pub(crate) user: &'a User,
    pub(crate) info: &'a ResourceRequest<'a>,
    pub(crate) resource: Arc<Resource>,
    pub(crate) query: &'a Query,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) method: &'a Method,
    pub(crate) warnings: &'a Warnings,
    /// When it is answered, with whatever there is. What streams has none.
    pub(crate) deadline: Option<Instant>,
    /// What it holds of the server's concurrency.
    pub(crate) seat: &'a SeatSlot,
    /// Where the seat is from.
    pub(crate) limiter: &'a Limiter,
}

impl RequestContext<'_> {
    pub(crate) fn list_options(&self) -> Result<meta::options::ListOptions, Status> {
        meta::options::ListOptions::from_query(&meta::options::Query(self.query.pairs()), true)
    }

    /// The prefix of the keys that a watch is about. One object's key begins those of others too: which of them are
    /// shown is for the filter to say.
    pub(crate) fn watch_range(&self) -> String {
        let (info, resource) = (self.info, &self.resource);
        let has_key = !resource.namespaced || !info.namespace.is_empty();
        if info.by_prefix && !info.name.is_empty() && has_key {
            return resource.key(&info.namespace, &info.name);
        }
        resource.range(&info.namespace)
    }

    /// The same request, to be changed.
    pub(crate) fn again(&self) -> RequestContext<'_> {
        RequestContext {
            user: self.user,
            info: self.info,
            resource: self.resource.clone(),
            query: self.query,
            headers: self.headers,
            method: self.method,
            warnings: self.warnings,
            deadline: self.deadline,
            seat: self.seat,
            limiter: self.limiter,
        }
    }

    /// An object that names the uid it is about must name the one that is there.
    pub(crate) fn check_uid(&self, object: &Value, live: &Value) -> Result<(), Status> {
        let (asked, found) = (meta::object::uid(object), meta::object::uid(live));
        if asked.is_empty() || asked == found {
            return Ok(());
        }
        let key = self.resource.key(&self.info.namespace, &self.info.name);
        let text = format!(
            "StorageError: invalid object, Code: 4, Key: /registry{key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition \
             failed: UID in precondition: {asked}, UID in object meta: {found}"
        );
        Err(Status::conflict(
            &self.resource.group_resource(),
            &self.info.name,
            text,
        ))
    }

    pub(crate) fn not_found(&self) -> Status {
        Status::not_found(&self.resource.group_resource(), &self.info.name)
    }

    /// Whether there is such a path at all, whatever is done there.
    pub(crate) fn exists(&self) -> bool {
        // The name of a list is that of its field selector, unless the verb stood in the path.
        let lists = matches!(self.info.verb, Verb::List | Verb::Watch) && !self.info.by_prefix;
        let (named, whole) = (!self.info.name.is_empty(), self.info.namespace.is_empty());
        // What is only ever asked, or done, is nowhere to be found.
        if named && !lists && !self.resource.verbs.contains(Allowed::Get) {
            return false;
        }
        if self.resource.namespaced {
            lists || !(named && whole)
        } else {
            whole || self.resource.strategy.action == Action::HoldsObjects
        }
    }

    /// Names are parts of paths, wherever they are kept.
    pub(crate) fn check_name(&self) -> Result<(), Status> {
        let name = &*self.info.name;
        let why = match name {
            "." | ".." => format!("may not be '{name}'"),
            _ => {
                let all = ["/", "%"].into_iter().filter(|it| name.contains(it));
                let all = all.map(|it| format!("may not contain '{it}'"));
                all.collect::<Vec<_>>().join(";")
            }
        };
        if why.is_empty() {
            return Ok(());
        }
        let name = meta::go::quote(name);
        Err(Status::bad_request(format!(
            "Name parameter invalid: {name}: {why}"
        )))
    }

    /// The attributes of the same request by another verb.
    pub(crate) fn attributes_for(&self, verb: Verb) -> Attributes<'_> {
        let info = self.info;
        Attributes::resource(self.user, verb.as_str(), &info.group, &info.resource)
            .version(&info.version)
            .subresource(&info.subresource)
            .namespace(&info.namespace)
            .name(&info.name)
    }
}
