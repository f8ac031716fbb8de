//! The priority of a pod is what its class says.

use json::Value;
use meta::Status;

use crate::read::{flag, has, section, text};
use crate::{Admitting, Operation, Outcome, Plugin, Request};

const GROUP: &str = "scheduling.k8s.io";

#[derive(Clone, Copy, Debug, Default)]
pub struct Priority;

impl Plugin for Priority {
    fn name(&self) -> &'static str {
        "Priority"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && (request.is_whole("", "pods") || request.is_whole(GROUP, "priorityclasses"))
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        let pod = &mut admitting.object;
        if !request.is("", "pods") {
            return Ok(()).into();
        }
        if request.operation == Operation::Create {
            return fill(request, pod).into();
        }
        // They cannot change; who leaves them out keeps them.
        for field in ["priority", "preemptionPolicy"] {
            let old = request.old.and_then(|it| it.at(&["spec", field]));
            if let Some(old) = old
                && !has(pod, &["spec", field])
                && let Some(spec) = section(pod, "spec")
            {
                spec.insert(field, old.clone());
            }
        }
        Ok(()).into()
    }

    fn validate<'a>(
        &'a self,
        request: &'a Request<'a>,
        admitting: &'a mut Admitting,
    ) -> Outcome<'a> {
        if request.is("", "pods") {
            return Ok(()).into();
        }
        check_class(request, &admitting.object).into()
    }
}

fn fill(request: &Request<'_>, pod: &mut Value) -> Result<(), Status> {
    let named = text(pod, &["spec", "priorityClassName"]);
    let class = if named.is_empty() {
        default_class(request)
    } else {
        let found = request.lookup.get(GROUP, "priorityclasses", "", named);
        if found.is_none() {
            let why = format!("no PriorityClass with name {named} was found");
            return Err(request.forbidden(pod, why));
        }
        found
    };
    let priority = class.as_ref().map_or(0, value);
    let policy = match &class {
        Some(class) => class.str_at(&["preemptionPolicy"]),
        None => Some("PreemptLowerPriority"),
    };
    if let Some(given) = pod.at(&["spec", "priority"]).and_then(Value::as_i64)
        && given != priority
    {
        let why = format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller computed {priority} from the given PriorityClass name"
        );
        return Err(request.forbidden(pod, why));
    }
    if let (Some(policy), Some(given)) = (policy, pod.str_at(&["spec", "preemptionPolicy"]))
        && given != policy
    {
        let why = format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name"
        );
        return Err(request.forbidden(pod, why));
    }
    if let Some(spec) = section(pod, "spec") {
        if let Some(class) = &class {
            spec.insert("priorityClassName", meta::object::name(class));
        }
        spec.insert("priority", priority);
        if let Some(policy) = policy {
            spec.insert("preemptionPolicy", policy);
        }
    }
    Ok(())
}

fn value(class: &Value) -> i64 {
    class.get("value").and_then(Value::as_i64).unwrap_or(0)
}

/// Of several, which can only come about at the same moment, the lowest.
fn default_class(request: &Request<'_>) -> Option<Value> {
    let all = request.lookup.list(GROUP, "priorityclasses", "");
    let all = all.into_iter();
    let defaults = all.filter(|it| flag(it, &["globalDefault"]) == Some(true));
    defaults.min_by_key(value)
}

fn check_class(request: &Request<'_>, class: &Value) -> Result<(), Status> {
    if flag(class, &["globalDefault"]) != Some(true) {
        return Ok(());
    }
    let Some(other) = default_class(request) else {
        return Ok(());
    };
    let (other, own) = (meta::object::name(&other), meta::object::name(class));
    if request.operation == Operation::Create || other != own {
        let why = format!(
            "PriorityClass {other} is already marked as default. Only one default can exist"
        );
        return Err(request.forbidden(class, why));
    }
    Ok(())
}
