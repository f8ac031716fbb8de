//! The object that an action is about.

use json::Value;
use meta::Status;

use crate::handler::context::RequestContext;
use crate::observe::traced;
use crate::state::Api;

/// From memory.
pub(super) fn target(api: &Api, ctx: &RequestContext<'_>) -> Result<Value, Status> {
    let resource = &ctx.resource;
    let (namespace, name) = (&*ctx.info.namespace, &*ctx.info.name);
    let key = resource.key(namespace, name);
    let storage = traced::storage("Get etcd3");
    let length = api
        .store()
        .latest()
        .get(key.as_bytes())
        .map(|it| it.value.len());
    let found = api.find(&resource.group, &resource.plural, namespace, name);
    traced::record_get(&storage, &key, false, length);
    found.ok_or_else(|| ctx.not_found())
}
