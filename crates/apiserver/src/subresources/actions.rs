//! Things done to a pod: bind it to a node, evict it.

use std::sync::Arc;

use admission::Operation;
use http::{Response, StatusCode};
use json::{Object, Value, json};
use meta::Status;
use meta::gvk::GroupVersionKind;
use meta::options::DeleteOptions;
use meta::selector::LabelSelector;

use crate::body::Body;
use crate::decode::{self, Expected, Validation};
use crate::incoming::RequestBody;
use crate::pipeline::{Api, Ask};
use crate::write::{Change, Changed, Seen, Write};
use crate::{clock, delete, object, respond, show, verbs};

async fn read(
    api: &Api,
    ask: &Ask<'_>,
    body: RequestBody,
    kind: &GroupVersionKind,
) -> Result<Value, Status> {
    let schema = schema::builtin().kind(&kind.group, &kind.version, &kind.kind);
    let bytes = body.read(api.settings.max_body_bytes).await?;
    let expected = Expected {
        kind,
        schema: schema.as_ref(),
        custom: None,
    };
    let decoded = decode::object(&bytes, decode::format(ask)?, Validation::of(ask), &expected)?;
    ask.warnings.add(decoded.warnings);
    Ok(decoded.object)
}

fn success(ask: &Ask<'_>) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ask, false)?;
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    });
    let body = show::encode(&status, accepted)?;
    Ok(respond::with_code(
        StatusCode::CREATED,
        accepted.format.content_type(),
        body,
    ))
}

/// `pods/x/binding`, and the older `bindings`, whose name is in the body.
pub(super) async fn bind(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let kind = GroupVersionKind::new("", "v1", "Binding");
    let options = verbs::write_options(ask, "CreateOptions")?;
    let mut binding = read(api, ask, body, &kind).await?;
    let name = match &*ask.info.name {
        "" => object::name(&binding).to_owned(),
        name => name.to_owned(),
    };
    object::check_name(&binding, &name)?;
    let errors = resources::validate::create_subresource("", "Pod", "binding", &binding);
    if !errors.is_empty() {
        return Err(Status::invalid(
            &meta::gvk::GroupKind::new("", "Binding"),
            &name,
            &errors,
        ));
    }
    let mut write = Write::new(api, ask, options.clone());
    write.kind = kind;
    write.act(Operation::Create, &name, &mut binding).await?;
    let pods = api.catalog.load().get("", "v1", "pods").cloned();
    let pods = pods.ok_or_else(crate::documents::no_resource)?;
    let ask = Ask {
        resource: pods,
        ..ask.again()
    };
    let mut write = Write::new(api, &ask, options);
    write.seen = Seen::Nothing;
    write.own = true;
    let mut bind = Bind {
        name: &name,
        binding: &binding,
    };
    write.update(&name, &mut bind).await?;
    success(&ask)
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
            return conflict(format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {found}"
            ));
        }
        if object::is_deleting(live) {
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
        scheduled(&mut pod);
        Ok(Changed {
            object: pod,
            managed: false,
            exact: false,
        })
    }
}

/// The condition `PodScheduled`.
fn scheduled(pod: &mut Value) {
    let Some(fields) = pod.as_object_mut() else {
        return;
    };
    let status = fields.get_or_insert("status");
    if status.is_null() {
        *status = Object::new().into();
    }
    let Some(status) = status.as_object_mut() else {
        return;
    };
    let conditions = status.get_or_insert("conditions");
    if conditions.is_null() {
        *conditions = Value::Array(Vec::new());
    }
    let Some(conditions) = conditions.as_array_mut() else {
        return;
    };
    conditions.retain(|it| it.str_at(&["type"]) != Some("PodScheduled"));
    conditions.push(json!({
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": (clock::now()),
    }));
}

/// `pods/x/eviction`: a deletion that disruption budgets may refuse.
pub(super) async fn evict(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let kind = GroupVersionKind::new("policy", "v1", "Eviction");
    let mut eviction = read(api, ask, body, &kind).await?;
    let name = &*ask.info.name;
    object::check_name(&eviction, name)?;
    let mut write_options = verbs::write_options(ask, "CreateOptions")?;
    let mut write = Write::new(api, ask, write_options.clone());
    write.kind = kind;
    write.act(Operation::Create, name, &mut eviction).await?;
    let given = eviction.get("deleteOptions").cloned().unwrap_or_default();
    let options = if given.is_null() {
        DeleteOptions::default()
    } else {
        DeleteOptions::from_value(&given)?
    };
    write_options.dry_run |= options.dry_run;
    let pod = api
        .find("", "pods", &ask.info.namespace, name)
        .ok_or_else(|| ask.not_found())?;
    budgets(api, ask, &pod)?;
    let mut write = Write::new(api, ask, write_options);
    write.seen = Seen::Nothing;
    delete::delete(&write, name, &options).await?;
    success(ask)
}

/// A pod that still runs may go if every budget that covers it can spare it.
fn budgets(api: &Api, ask: &Ask<'_>, pod: &Value) -> Result<(), Status> {
    let phase = pod.str_at(&["status", "phase"]).unwrap_or_default();
    if matches!(phase, "Succeeded" | "Failed" | "Pending") || object::is_deleting(pod) {
        return Ok(());
    }
    let labels = pod.at(&["metadata", "labels"]).and_then(Value::as_object);
    let all = api.list_all("policy", "poddisruptionbudgets", &ask.info.namespace);
    let covering: Vec<Value> = all
        .into_iter()
        .filter(|budget| {
            let selector = budget
                .at(&["spec", "selector"])
                .cloned()
                .unwrap_or_default();
            LabelSelector::from_value(Some(&selector)).is_ok_and(|it| it.matches(labels))
        })
        .collect();
    if covering.len() > 1 {
        return Err(Status::internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        ));
    }
    for budget in &covering {
        let allowed = budget
            .at(&["status", "disruptionsAllowed"])
            .and_then(Value::as_i64)
            .unwrap_or(0);
        if allowed <= 0 {
            let mut status = Status::too_many_requests(
                "Cannot evict pod as it would violate the pod's disruption budget.",
                0,
            );
            if let Some(details) = &mut status.details {
                details.causes.push(meta::status::Cause {
                    reason: "DisruptionBudget".into(),
                    message: format!(
                        "The disruption budget {} needs {} healthy pods and has {} currently",
                        object::name(budget),
                        budget
                            .at(&["status", "desiredHealthy"])
                            .and_then(Value::as_i64)
                            .unwrap_or(0),
                        budget
                            .at(&["status", "currentHealthy"])
                            .and_then(Value::as_i64)
                            .unwrap_or(0),
                    ),
                    field: String::new(),
                });
            }
            return Err(status);
        }
    }
    Ok(())
}
