//! What running in a certain way costs a pod, and where it can run so.

use json::Value;
use meta::Status;

use crate::limit_ranger::Amounts;
use crate::read::{has, items, pairs, section};
use crate::{Admitting, Operation, Outcome, Plugin, Request, toleration};

#[derive(Clone, Copy, Debug, Default)]
pub struct RuntimeClass;

impl Plugin for RuntimeClass {
    fn name(&self) -> &'static str {
        "RuntimeClass"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation == Operation::Create && request.is_whole("", "pods")
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        fill(request, &mut admitting.object).into()
    }

    fn validate<'a>(
        &'a self,
        request: &'a Request<'a>,
        admitting: &'a mut Admitting,
    ) -> Outcome<'a> {
        check(request, &admitting.object).into()
    }
}

const DIFFERS: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

fn class(request: &Request<'_>, pod: &Value) -> Result<Option<Value>, Status> {
    let Some(name) = pod.str_at(&["spec", "runtimeClassName"]) else {
        return Ok(None);
    };
    let found = request
        .lookup
        .get("node.k8s.io", "runtimeclasses", "", name);
    if found.is_none() {
        let name = meta::go::quote(name);
        let why = format!("pod rejected: RuntimeClass {name} not found");
        return Err(request.forbidden(pod, why));
    }
    Ok(found)
}

fn fill(request: &Request<'_>, pod: &mut Value) -> Result<(), Status> {
    let Some(class) = class(request, pod)? else {
        return Ok(());
    };
    if has(&class, &["overhead"]) {
        let given = pairs(pod, &["spec", "overhead"]).next().is_some();
        if given && overhead(&class) != Amounts::of(pod, &["spec", "overhead"]) {
            return Err(request.forbidden(pod, DIFFERS));
        }
        let fixed = class.at(&["overhead", "podFixed"]).cloned();
        if let (Some(fixed), Some(spec)) = (fixed, section(pod, "spec")) {
            spec.insert("overhead", fixed);
        }
    }
    schedule(request, pod, &class)
}

fn schedule(request: &Request<'_>, pod: &mut Value, class: &Value) -> Result<(), Status> {
    for (key, value) in pairs(class, &["scheduling", "nodeSelector"]) {
        let want = value.as_str().unwrap_or_default();
        match pod.str_at(&["spec", "nodeSelector", key]) {
            Some(own) if own != want => {
                let why = format!(
                    "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {want}; pod.spec.nodeSelector[{key}] = {own}"
                );
                return Err(request.forbidden(pod, why));
            }
            Some(_) => {}
            None => {
                let spec = pod.as_object_mut().map(|it| it.get_or_insert("spec"));
                if let Some(selector) = spec.and_then(|it| section(it, "nodeSelector")) {
                    selector.insert(key, want);
                }
            }
        }
    }
    if has(class, &["scheduling"]) {
        let own = items(pod, &["spec", "tolerations"]);
        let more = items(class, &["scheduling", "tolerations"]);
        let merged = toleration::merge(own, more);
        if let Some(spec) = section(pod, "spec")
            && !merged.is_empty()
        {
            spec.insert("tolerations", merged);
        }
    }
    Ok(())
}

fn check(request: &Request<'_>, pod: &Value) -> Result<(), Status> {
    match class(request, pod)? {
        Some(class) if has(&class, &["overhead"]) => {
            if overhead(&class) != Amounts::of(pod, &["spec", "overhead"]) {
                return Err(request.forbidden(pod, DIFFERS));
            }
            Ok(())
        }
        _ if has(pod, &["spec", "overhead"]) => {
            let why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
            Err(request.forbidden(pod, why))
        }
        _ => Ok(()),
    }
}

fn overhead(class: &Value) -> Amounts {
    Amounts::of(class, &["overhead", "podFixed"])
}
