//! The least and the most that pods and claims of a namespace may ask for, and what they get if they ask for nothing.

mod amounts;
mod constraint;

use json::{Object, Value};
use meta::Status;
use meta::quantity::Quantity;

pub(crate) use self::amounts::Amounts;
use self::constraint::Constraint;
use crate::read::{items, pairs, section, text};
use crate::{Admitting, Operation, Outcome, Plugin, Request};

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

#[derive(Clone, Copy, Debug, Default)]
pub struct LimitRanger;

impl Plugin for LimitRanger {
    fn name(&self) -> &'static str {
        "LimitRanger"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        let is_core = request.kind.group.is_empty();
        let supported = match (request.operation, request.subresource) {
            (Operation::Create, "") => {
                matches!(&*request.kind.kind, "Pod" | "PersistentVolumeClaim")
            }
            // The containers of a pod change in no other way.
            (Operation::Update, "resize") => request.kind.kind == "Pod",
            (Operation::Update, "") => request.kind.kind == "PersistentVolumeClaim",
            _ => false,
        };
        is_core && supported && !request.old.is_some_and(meta::object::is_being_deleted)
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        if request.kind.kind == "Pod" {
            for range in ranges(request) {
                fill(&mut admitting.object, &range);
            }
        }
        Ok(()).into()
    }

    fn validate<'a>(
        &'a self,
        request: &'a Request<'a>,
        admitting: &'a mut Admitting,
    ) -> Outcome<'a> {
        check(request, &admitting.object).into()
    }
}

fn ranges(request: &Request<'_>) -> Vec<Value> {
    request.lookup.list("", "limitranges", request.namespace)
}

/// Sets what containers do not say, and leaves a note of it.
fn fill(pod: &mut Value, range: &Value) {
    let (mut limits, mut requests) = (Object::new(), Object::new());
    for limit in items(range, &["spec", "limits"]) {
        if text(limit, &["type"]) == "Container" {
            limits.extend(pairs(limit, &["default"]).map(|(k, v)| (k, v.clone())));
            requests.extend(pairs(limit, &["defaultRequest"]).map(|(k, v)| (k, v.clone())));
        }
    }
    let mut notes = Vec::new();
    for (field, word) in [
        ("containers", "container"),
        ("initContainers", "init container"),
    ] {
        let containers = pod.at_mut(&["spec", field]).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let name = text(container, &["name"]).to_owned();
            for (part, defaults, what) in [
                ("requests", &requests, "request"),
                ("limits", &limits, "limit"),
            ] {
                let set = fill_part(container, part, defaults);
                if !set.is_empty() {
                    notes.push(format!("{} {what} for {word} {name}", set.join(", ")));
                }
            }
        }
    }
    if !notes.is_empty() {
        let note = format!("LimitRanger plugin set: {}", notes.join("; "));
        meta::object::set_annotation(pod, ANNOTATION, &note);
    }
}

/// The names of what was set.
fn fill_part(container: &mut Value, part: &str, defaults: &Object) -> Vec<String> {
    let given = container
        .at(&["resources", part])
        .and_then(Value::as_object);
    let missing = |name: &str| !given.is_some_and(|it| it.contains_key(name));
    let missing: Vec<(String, Value)> = defaults
        .iter()
        .filter(|(name, _)| missing(name))
        .map(|(name, value)| (name.to_string(), value.clone()))
        .collect();
    if missing.is_empty() || section(container, "resources").is_none() {
        return Vec::new();
    }
    let resources = container.get_mut("resources");
    let Some(into) = resources.and_then(|it| section(it, part)) else {
        return Vec::new();
    };
    let mut names: Vec<String> = missing.iter().map(|(name, _)| name.clone()).collect();
    into.extend(missing);
    names.sort_unstable();
    names
}

fn check(request: &Request<'_>, object: &Value) -> Result<(), Status> {
    for range in ranges(request) {
        let mut errors = Vec::new();
        for limit in items(&range, &["spec", "limits"]) {
            if request.kind.kind == "Pod" {
                check_pod(limit, object, &mut errors);
            } else if text(limit, &["type"]) == "PersistentVolumeClaim" {
                let requests = Amounts::of(object, &["spec", "resources", "requests"]);
                let constraint = Constraint {
                    of: "PersistentVolumeClaim",
                    requests: &requests,
                    limits: &Amounts::default(),
                };
                each(
                    limit,
                    "min",
                    |name, it| constraint.min(name, it),
                    &mut errors,
                );
                let max = |name: &str, it: &Quantity| constraint.max_request(name, it);
                each(limit, "max", max, &mut errors);
            }
        }
        if let Some(why) = aggregate(&errors) {
            return Err(request.forbidden(object, why));
        }
    }
    Ok(())
}

fn check_pod(limit: &Value, pod: &Value, errors: &mut Vec<String>) {
    let mut check = |of: &str, requests: &Amounts, limits: &Amounts| {
        let constraint = Constraint {
            of,
            requests,
            limits,
        };
        each(limit, "min", |name, it| constraint.min(name, it), errors);
        each(limit, "max", |name, it| constraint.max(name, it), errors);
        let ratio = |name: &str, it: &Quantity| constraint.ratio(name, it);
        each(limit, "maxLimitRequestRatio", ratio, errors);
    };
    match text(limit, &["type"]) {
        "Container" => {
            for field in ["containers", "initContainers"] {
                for container in items(pod, &["spec", field]) {
                    let requests = Amounts::of(container, &["resources", "requests"]);
                    let limits = Amounts::of(container, &["resources", "limits"]);
                    check("Container", &requests, &limits);
                }
            }
        }
        "Pod" => check(
            "Pod",
            &Amounts::of_pod(pod, "requests"),
            &Amounts::of_pod(pod, "limits"),
        ),
        _ => {}
    }
}

fn each(
    limit: &Value,
    field: &str,
    check: impl Fn(&str, &Quantity) -> Option<String>,
    errors: &mut Vec<String>,
) {
    for (name, value) in pairs(limit, &[field]) {
        if let Ok(quantity) = Quantity::from_value(value) {
            errors.extend(check(name, &quantity));
        }
    }
}

/// As upstream joins errors: each text once, in brackets if there are several.
fn aggregate(errors: &[String]) -> Option<String> {
    let mut distinct: Vec<&str> = Vec::new();
    for error in errors {
        if !distinct.contains(&&**error) {
            distinct.push(error);
        }
    }
    match &*distinct {
        [] => None,
        [one] => Some((*one).to_owned()),
        all => Some(format!("[{}]", all.join(", "))),
    }
}
