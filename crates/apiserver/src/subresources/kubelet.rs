//! Subresources that only a kubelet can answer: this control plane has no nodes, and says so as kube-apiserver does.

mod log;

use std::sync::Arc;

use admission::Operation;
use http::Response;
use json::{Object, Value};
use meta::Status;
use meta::gvk::GroupVersionKind;
use telemetry::trace;

use crate::catalog::convert;
use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::observe::traced;
use crate::request::Verb;
use crate::state::Api;
use crate::transport::body::Body;
use crate::write::{Options, Write};

pub(super) async fn answer(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
) -> Result<Response<Body>, Status> {
    connect(api, ctx).await?;
    may_create(api, ctx).await?;
    if ctx.info.subresource == "log" {
        trace::event("About to process Get options");
        trace::event("About to Get from storage");
        log::check(ctx)?;
    }
    let key = ctx.resource.key(&ctx.info.namespace, &ctx.info.name);
    let storage = traced::storage("Get etcd3");
    let snapshot = api.fresh_snapshot().await?;
    let entry = snapshot.get(key.as_bytes());
    traced::record_get(&storage, &key, false, entry.map(|it| it.value.len()));
    drop(storage);
    if entry.is_none() && ctx.resource.is("", "services") {
        // Upstream asks for the endpoints alone.
        let text = format!("no endpoints available for service \"{}\"", ctx.info.name);
        return Err(Status::service_unavailable(text));
    }
    let entry = entry.ok_or_else(|| ctx.not_found())?;
    let object = convert::decode(&ctx.resource, &entry.value, entry.modified)?;
    let name = &ctx.info.name;
    let (kind, sub) = (&*ctx.resource.plural, &*ctx.info.subresource);
    match kind {
        "pods" => {
            let node = object.str_at(&["spec", "nodeName"]).unwrap_or_default();
            if sub == "log" {
                container(ctx, &object)?;
                if node.is_empty() {
                    // Nothing can have been written yet.
                    return Ok(log::nothing());
                }
            }
            if sub == "proxy" {
                let ip = object.str_at(&["status", "podIP"]).unwrap_or_default();
                return Err(if ip.is_empty() {
                    Status::bad_request("address not allowed")
                } else {
                    unreachable(&format!("pod {name}"))
                });
            }
            if node.is_empty() {
                let text = format!("pod {name} does not have a host assigned");
                return Err(Status::bad_request(text));
            }
            // As upstream, a node that does not exist is reported as a pod of that name that is not found.
            let nodes = api.preferred("", "nodes");
            let known = nodes.is_some_and(|it| {
                let key = it.key("", node);
                api.store().latest().get(key.as_bytes()).is_some()
            });
            if !known {
                let pods = meta::gvk::GroupResource::new("", "pods");
                return Err(Status::not_found(&pods, node));
            }
            Err(unreachable(&format!("node {node}")))
        }
        "services" => {
            let ports = object.at(&["spec", "ports"]).and_then(Value::as_array);
            let none = ports.is_none_or(Vec::is_empty);
            let text = if none {
                format!("no service port {:?} found for service {:?}", "", name)
            } else {
                format!("no endpoints available for service \"{name}\"")
            };
            Err(Status::service_unavailable(text))
        }
        _ => Err(unreachable(&format!("node {name}"))),
    }
}

/// A WebSocket begins with GET: the permission to read must not be enough to run commands.
async fn may_create(api: &Arc<Api>, ctx: &RequestContext<'_>) -> Result<(), Status> {
    let runs = ["exec", "attach", "portforward"].contains(&&*ctx.info.subresource);
    if !runs || ctx.info.verb == Verb::Create {
        return Ok(());
    }
    let decision = api.authorize(ctx.attributes_for(Verb::Create)).await;
    if decision.allowed() {
        return Ok(());
    }
    let resource = ctx.resource.group_resource();
    let name = &ctx.info.name;
    Err(Status::forbidden(&resource, name, &decision.reason))
}

/// Admission has its say before anything is connected.
async fn connect(api: &Arc<Api>, ctx: &RequestContext<'_>) -> Result<(), Status> {
    let sub = &*ctx.info.subresource;
    let kind = match (&*ctx.resource.plural, sub) {
        ("pods", "exec") => "PodExecOptions",
        ("pods", "attach") => "PodAttachOptions",
        ("pods", "portforward") => "PodPortForwardOptions",
        ("pods", "proxy") => "PodProxyOptions",
        ("services", "proxy") => "ServiceProxyOptions",
        ("nodes", "proxy") => "NodeProxyOptions",
        _ => return Ok(()),
    };
    let mut options = Object::new();
    options.insert("kind", kind);
    options.insert("apiVersion", "v1");
    for flag in ["stdin", "stdout", "stderr", "tty"] {
        if ctx.query.flag(flag) {
            options.insert(flag, true);
        }
    }
    for text in ["container", "path"] {
        if let Some(value) = ctx.query.get(text).filter(|it| !it.is_empty()) {
            options.insert(text, value);
        }
    }
    let command: Value = ctx.query.all("command").collect();
    if ctx.query.get("command").is_some() {
        options.insert("command", command);
    }
    let mut write = Write::new(api, ctx, Options::default());
    write.kind = GroupVersionKind::new("", "v1", kind);
    let name = &*ctx.info.name;
    let mut options = options.into();
    write.act(Operation::Connect, name, &mut options).await?;
    Ok(())
}

fn unreachable(what: &str) -> Status {
    Status::internal(format!(
        "error dialing backend: {what} cannot be reached: this control plane has no way to nodes"
    ))
}

/// The container that a log is asked of must be one of the pod's, and be named if there are several.
fn container(ctx: &RequestContext<'_>, pod: &Value) -> Result<(), Status> {
    let names = |list: &str| -> Vec<String> {
        let all = pod.at(&["spec", list]).and_then(Value::as_array);
        let all = all.into_iter().flatten();
        all.filter_map(|it| it.str_at(&["name"]))
            .map(str::to_owned)
            .collect()
    };
    let (plain, init) = (names("containers"), names("initContainers"));
    let name = object::name(pod);
    match ctx.query.get("container").unwrap_or_default() {
        "" if plain.len() == 1 => Ok(()),
        "" => {
            let mut text = format!(
                "a container name must be specified for pod {name}, choose one of: [{}]",
                plain.join(" ")
            );
            if !init.is_empty() {
                text += " or one of the init containers: [";
                text += &init.join(" ");
                text.push(']');
            }
            Err(Status::bad_request(text))
        }
        asked => {
            let ephemeral = names("ephemeralContainers");
            let mut all = plain.iter().chain(&init).chain(&ephemeral);
            if all.any(|it| it == asked) {
                return Ok(());
            }
            Err(Status::bad_request(format!(
                "container {asked} is not valid for pod {name}"
            )))
        }
    }
}
