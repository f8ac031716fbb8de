//! `binding`: binds a pod to a node.

use std::sync::Arc;

use admission::Operation;
use http::{Response, StatusCode};
use json::{Object, Value, json};
use meta::Status;
use meta::gvk::GroupVersionKind;

use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::decode::Expected;
use crate::handler::render;
use crate::handler::respond;
use crate::handler::serialize;
use crate::observe::traced;
use crate::runtime::clock;
use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use crate::write::body;
use crate::write::options;
use crate::write::{AdmissionView, Change, Changed, Options, Write};

pub(super) async fn read(
    api: &Api,
    ctx: &RequestContext<'_>,
    body: RequestBody,
    kind: &GroupVersionKind,
) -> Result<(Value, usize), Status> {
    let schema = schema::builtin().kind(&kind.group, &kind.version, &kind.kind);
    let expected = Expected {
        kind,
        schema: schema.as_ref(),
        custom: None,
    };
    let (object, length) = body::object_as(api, ctx, body, &expected).await?;
    let found = |field| object.str_at(&["metadata", field]);
    object::check_namespace(found("namespace").unwrap_or_default(), &ctx.info.namespace)?;
    let name = &*ctx.info.name;
    if !name.is_empty() && found("name").unwrap_or_default() != name {
        return Err(Status::bad_request(format!(
            "name in URL does not match name in {} object",
            kind.kind
        )));
    }
    Ok((object, length))
}

pub(super) fn success(ctx: &RequestContext<'_>) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ctx, false)?;
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    });
    let body = serialize::serialize(|| render::encode(&status, accepted))?;
    Ok(respond::with_code(
        StatusCode::CREATED,
        accepted.format.content_type(),
        body,
    ))
}

/// `pods/x/binding`, and the older `bindings`, whose name is in the body.
pub(super) async fn bind(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let kind = GroupVersionKind::new("", "v1", "Binding");
    let options = options::from_query(ctx, options::OptionsKind::Create)?;
    let (binding, length) = read(api, ctx, body, &kind).await?;
    traced::stored(length, store(api, ctx, options, kind, binding)).await?;
    success(ctx)
}

async fn store(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    options: Options,
    kind: GroupVersionKind,
    mut binding: Value,
) -> Result<(), Status> {
    let name = match &*ctx.info.name {
        "" => object::name(&binding).to_owned(),
        name => name.to_owned(),
    };
    let errors = resources::validate::create_subresource("", "Pod", "binding", &binding);
    if !errors.is_empty() {
        let text = meta::field::aggregate(&errors);
        return Err(Status::failure(500, meta::status::Reason::Unknown, text));
    }
    let mut write = Write::new(api, ctx, options.clone());
    write.kind = kind;
    write.act(Operation::Create, &name, &mut binding).await?;
    let pods = api.catalog().load().get("", "v1", "pods").cloned();
    let pods = pods.ok_or_else(respond::no_resource)?;
    let ctx = RequestContext {
        resource: pods,
        ..ctx.again()
    };
    let mut write = Write::new(api, &ctx, options);
    write.view = AdmissionView::Nothing;
    write.is_internal = true;
    let mut bind = Bind {
        name: &name,
        binding: &binding,
    };
    write.update(&name, &mut bind).await?;
    Ok(())
}

struct Bind<'a> {
    name: &'a str,
    binding: &'a Value,
}

impl Change for Bind<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        let pods = meta::gvk::GroupResource::new("", "pods");
        let Some(live) = live else {
            return Err(Status::not_found(&pods, self.name));
        };
        let conflict = |text: String| {
            Err(Status::conflict(
                &meta::gvk::GroupResource::new("", "pods/binding"),
                self.name,
                text,
            ))
        };
        let uid = object::uid(self.binding);
        if !uid.is_empty() && uid != object::uid(live) {
            let found = object::uid(live);
            return Err(Status::conflict(
                &pods,
                self.name,
                format!(
                    "Precondition failed: UID in precondition: {uid}, UID in object meta: {found}"
                ),
            ));
        }
        if object::is_being_deleted(live) {
            return conflict(format!(
                "pod {} is being deleted, cannot be assigned to a host",
                self.name
            ));
        }
        let node = live.str_at(&["spec", "nodeName"]).unwrap_or_default();
        if !node.is_empty() {
            return conflict(format!(
                "pod {} is already assigned to node \"{node}\"",
                self.name
            ));
        }
        let gates = live
            .at(&["spec", "schedulingGates"])
            .and_then(Value::as_array);
        if gates.is_some_and(|it| !it.is_empty()) {
            return conflict(format!(
                "pod {} has non-empty .spec.schedulingGates",
                self.name
            ));
        }
        let mut pod = live.clone();
        let target = self.binding.str_at(&["target", "name"]).unwrap_or_default();
        if let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) {
            spec.insert("nodeName", target);
        }
        for map in ["annotations", "labels"] {
            if let Some(given) = self
                .binding
                .at(&["metadata", map])
                .and_then(Value::as_object)
            {
                let metadata = object::metadata(&mut pod)?;
                let into = metadata.get_or_insert(map);
                if into.is_null() {
                    *into = Object::new().into();
                }
                if let Some(into) = into.as_object_mut() {
                    for (key, value) in given.iter() {
                        into.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        let condition = json!({
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": null,
            "lastTransitionTime": (clock::now()),
        });
        object::set_condition(&mut pod, condition);
        Ok(Changed {
            object: pod,
            managed: false,
            exact: false,
        })
    }
}
