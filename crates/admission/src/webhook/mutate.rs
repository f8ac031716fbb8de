//! Mutating webhooks: one after the other, each sees what those before it made of the object.

use std::collections::BTreeSet;

use json::{Object, Value, json};
use meta::Status;
use telemetry::trace;

use super::call::{Call, Failure, call};
use super::matching::{Invocation, holds, invocation};
use super::review::{self, Objects, Response};
use super::{Hook, Hooks};
use crate::metrics::Phase;
use crate::versioned::Versioned;
use crate::{Admitting, Request};

/// Who is called again in the second round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reinvocation {
    /// A webhook changed the object: all plugins get a second look.
    pub wanted: bool,
    /// This is the second look.
    pub running: bool,
    last: Value,
    called: BTreeSet<String>,
    again: BTreeSet<String>,
}

impl Reinvocation {
    /// The object changed: those called before it, who asked for it, see it again.
    fn require(&mut self) {
        self.again.append(&mut self.called);
    }
}

pub(super) async fn all(
    hooks: &Hooks,
    request: &Request<'_>,
    admitting: &mut Admitting,
) -> Result<(), Status> {
    let state = &mut admitting.reinvocation;
    if state.running && state.last != admitting.object {
        state.require();
    }
    let mut versioned = Versioned {
        kind: request.kind.clone(),
        object: admitting.object.clone(),
        old: request.old.cloned(),
        request,
    };
    for (index, hook) in hooks.get(request.lookup).iter().enumerate() {
        one(hooks, hook, index, &mut versioned, admitting).await?;
    }
    versioned.convert_to(request.kind).await?;
    admitting.reinvocation.last = versioned.object.clone();
    admitting.object = versioned.object;
    Ok(())
}

async fn one(
    hooks: &Hooks,
    hook: &Hook,
    index: usize,
    versioned: &mut Versioned<'_>,
    admitting: &mut Admitting,
) -> Result<(), Status> {
    let request = versioned.request;
    let Some(found) = invocation(hook, request, &versioned.object)? else {
        return Ok(());
    };
    // Who was left out in the first round stays out.
    let state = &admitting.reinvocation;
    if state.running && !state.again.contains(&hook.uid) {
        return Ok(());
    }
    versioned.convert_to(&found.kind).await?;
    let (new, old) = (&versioned.object, versioned.old.as_ref());
    if !holds(&hooks.caller, &found, request, (new, old), Phase::Admit)? {
        return Ok(());
    }
    let round = u8::from(state.running);
    let made = Call::new(&hooks.caller, &found, request, true);
    let (result, beside) = call(&made, &found, request, Objects { new, old }, true).await;
    let took = beside.took;
    admitting.waited += took;
    beside.add_to(admitting);
    let result = result.and_then(|response| patch(&found, versioned, &response));
    made.note(&found, request, (Phase::Admit, took), &result);
    let changed = matches!(result, Ok(Some(_)));
    if changed {
        trace::event("Patch applied");
    }
    drop(made);
    let mut note = |prefix: &str, value: String| {
        let key = format!("{prefix}.webhook.admission.k8s.io/round_{round}_index_{index}");
        admitting.audit_annotations.push((key, value));
    };
    let (name, configuration) = (&hook.name, &hook.configuration);
    let mutated = json!({"configuration": configuration, "webhook": name, "mutated": changed});
    note("mutation", mutated.to_string());
    let outcome = match result {
        Ok(None) => Ok(()),
        Ok(Some((object, patch))) => {
            let mut value = Object::new();
            value.insert("configuration", configuration);
            value.insert("webhook", name);
            value.insert("patch", patch);
            value.insert("patchType", "JSONPatch");
            note("patch", Value::from(value).to_string());
            versioned.object = object;
            Ok(())
        }
        Err(failure) => {
            let refused = failure.status(hook);
            if refused.is_none() {
                note("failed-open.mutation", name.clone());
            }
            refused.map_or(Ok(()), Err)
        }
    };
    let state = &mut admitting.reinvocation;
    if changed {
        state.require();
        state.wanted = true;
    }
    if hook.reinvoke {
        state.called.insert(hook.uid.clone());
    }
    outcome
}

/// The object after the webhook's patch, with the patch; nothing if it changes nothing.
fn patch(
    found: &Invocation<'_>,
    versioned: &Versioned<'_>,
    response: &Response,
) -> Result<Option<(Value, Value)>, Failure> {
    let internal = |why: String| Failure::Impossible(Status::internal(why));
    if response.patch.is_empty() {
        return Ok(None);
    }
    let undecodable = |why: String| {
        Failure::nonsense(format!(
            "received undecodable patch in webhook response: {why}"
        ))
    };
    let patch = json::parse(&response.patch).map_err(|error| undecodable(error.to_string()))?;
    match &patch {
        Value::Array(items) if items.is_empty() => return Ok(None),
        Value::Null => return Ok(None),
        Value::Array(_) => {}
        other => {
            let kind = super::review::go_kind(other);
            return Err(undecodable(format!(
                "json: cannot unmarshal {kind} into Go value of type jsonpatch.Patch"
            )));
        }
    }
    let name = meta::go::quote(&found.hook.name);
    if versioned.object.is_null() {
        return Err(internal(format!(
            "admission webhook {name} attempted to modify the object, which is not supported for this operation"
        )));
    }
    if response.patch_type != "JSONPatch" {
        let kind = meta::go::quote(&response.patch_type);
        return Err(Failure::Calling {
            why: format!("unsupported patch type {kind}"),
            code: review::denied(&found.hook.name, &response.status).code,
        });
    }
    let patched = merge::json_patch(versioned.object.clone(), patch.clone())
        .map_err(|error| internal(error.to_string()))?;
    let gvk = meta::object::gvk(&patched).unwrap_or_default();
    if gvk != found.kind {
        return Err(internal(format!(
            "admission webhook {name} attempted to make {gvk} of {}",
            found.kind
        )));
    }
    let request = versioned.request;
    // A Namespace is in none, though its requests are.
    let namespace = meta::object::namespace(&patched);
    if !namespace.is_empty() && namespace != meta::object::namespace(&versioned.object) {
        return Err(Failure::Impossible(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )));
    }
    let object = request
        .kinds
        .read(patched, &found.kind)
        .map_err(Failure::Impossible)?;
    if object == versioned.object {
        return Ok(None);
    }
    Ok(Some((object, patch)))
}
