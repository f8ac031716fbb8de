//! Pod Security Admission: the labels of a namespace say how much its pods may do.

mod checks;
mod policy;

use json::Value;
use meta::Status;

use self::checks::{Pod, Violation, violations};
use self::policy::{Level, LevelVersion, Policy};
use crate::read::{has, items, text};
use crate::{Admitting, Operation, Outcome, Plugin, Request};

const ANNOTATION: &str = "pod-security.kubernetes.io/";
/// More pods of a namespace are not looked at when its labels change.
const MAX_PODS: usize = 3000;

#[derive(Clone, Copy, Debug, Default)]
pub struct PodSecurity;

impl Plugin for PodSecurity {
    fn name(&self) -> &'static str {
        "PodSecurity"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && subject(request).is_some()
    }

    fn validate<'a>(
        &'a self,
        request: &'a Request<'a>,
        admitting: &'a mut Admitting,
    ) -> Outcome<'a> {
        match subject(request) {
            Some(Subject::Namespace) => check_namespace(request, admitting),
            Some(Subject::Pod) => check_pod(request, admitting),
            Some(Subject::Template(path)) => {
                check_template(request, admitting, path);
                Ok(())
            }
            None => Ok(()),
        }
        .into()
    }
}

/// What a request is about.
enum Subject {
    Namespace,
    Pod,
    /// What makes pods, from what lies at this path.
    Template(&'static [&'static str]),
}

fn subject(request: &Request<'_>) -> Option<Subject> {
    let (resource, sub) = (request.resource, request.subresource);
    Some(match (&*resource.group, &*resource.resource, sub) {
        ("", "namespaces", "") => Subject::Namespace,
        ("", "pods", "" | "ephemeralcontainers" | "resize") => Subject::Pod,
        ("", "podtemplates", "") => Subject::Template(&["template"]),
        ("", "replicationcontrollers", "")
        | ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets", "")
        | ("batch", "jobs", "") => Subject::Template(&["spec", "template"]),
        ("batch", "cronjobs", "") => {
            Subject::Template(&["spec", "jobTemplate", "spec", "template"])
        }
        _ => return None,
    })
}

fn check_namespace(request: &Request<'_>, admitting: &mut Admitting) -> Result<(), Status> {
    let (new, errors) = policy::of(meta::object::labels(&admitting.object));
    let old = request.old.map(|it| policy::of(meta::object::labels(it)));
    let known = old.as_ref().is_some_and(|(_, old)| *old == errors);
    if !errors.is_empty() && !known {
        let kind = meta::gvk::GroupKind::new("", "Namespace");
        return Err(Status::invalid(&kind, request.name, &errors));
    }
    let Some((old, _)) = old else {
        return Ok(());
    };
    let (new, old) = (new.enforce, old.enforce);
    let relaxed = new.version == old.version && new.level <= old.level;
    if new != old && new.level != Level::Privileged && !relaxed {
        let warnings = of_those_there(request, new);
        admitting.warnings.extend(warnings);
    }
    Ok(())
}

/// The pods that are there stay, whatever is enforced from now on: their owner should know.
fn of_those_there(request: &Request<'_>, enforce: LevelVersion) -> Vec<String> {
    let pods = request.lookup.list("", "pods", request.name);
    let pods = first_of_each(&pods);
    let mut found: Vec<(String, &str, usize)> = Vec::new();
    for &pod in pods.iter().take(MAX_PODS) {
        let bad = violations(of_pod(pod), enforce);
        if bad.is_empty() {
            continue;
        }
        let reasons: Vec<String> = bad.into_iter().map(|it| it.reason).collect();
        let (reasons, name) = (reasons.join(", "), meta::object::name(pod));
        match found.iter_mut().find(|(it, ..)| *it == reasons) {
            Some((_, first, count)) => {
                *first = name.min(*first);
                *count += 1;
            }
            None => found.push((reasons, name, 1)),
        }
    }
    let mut warnings = Vec::new();
    if pods.len() > MAX_PODS {
        let all = pods.len();
        warnings.push(format!(
            "new PodSecurity enforce level only checked against the first {MAX_PODS} of {all} existing pods"
        ));
    }
    if !found.is_empty() {
        let namespace = meta::go::quote(request.name);
        warnings.push(format!(
            "existing pods in namespace {namespace} violate the new PodSecurity enforce level \"{enforce}\""
        ));
    }
    let mut each: Vec<String> = found
        .into_iter()
        .map(|(reasons, name, count)| match count {
            1 => format!("{name}: {reasons}"),
            2 => format!("{name} (and 1 other pod): {reasons}"),
            _ => format!("{name} (and {} other pods): {reasons}", count - 1),
        })
        .collect();
    each.sort_unstable();
    warnings.append(&mut each);
    warnings
}

/// Pods of the same owner are alike: one of each owner first.
fn first_of_each(pods: &[Value]) -> Vec<&Value> {
    let mut owners = std::collections::HashSet::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for pod in pods {
        let owner = meta::object::controller_of(pod).map(|it| it.uid);
        if owner.is_none_or(|it| owners.insert(it)) {
            first.push(pod);
        } else {
            rest.push(pod);
        }
    }
    first.append(&mut rest);
    first
}

fn policy(request: &Request<'_>) -> Option<(Policy, Vec<meta::field::Error>)> {
    let namespace = request
        .lookup
        .get("", "namespaces", "", request.namespace)?;
    Some(policy::of(meta::object::labels(&namespace)))
}

fn check_pod(request: &Request<'_>, admitting: &mut Admitting) -> Result<(), Status> {
    let Some((policy, errors)) = policy(request) else {
        let namespace = meta::go::quote(request.namespace);
        let why = format!("failed to lookup namespace {namespace}");
        return Err(Status::internal(why));
    };
    let mut note = |key: &str, value: String| {
        let key = format!("{ANNOTATION}{key}");
        admitting.audit_annotations.push((key, value));
    };
    note("enforce-policy", policy.enforce.to_string());
    if request.operation == Operation::Update
        && !request
            .old
            .is_some_and(|old| is_significant(&admitting.object, old))
    {
        return Ok(());
    }
    let bad = violations(of_pod(&admitting.object), policy.enforce);
    let refused = (!bad.is_empty()).then(|| {
        let why = format!(
            "violates PodSecurity \"{}\": {}",
            policy.enforce,
            told(&bad)
        );
        let resource = request.resource.group_resource();
        Status::forbidden(&resource, request.name, why)
    });
    let pod = admitting.object.clone();
    audit_and_warn(of_pod(&pod), policy, &errors, refused.is_some(), admitting);
    refused.map_or(Ok(()), Err)
}

/// It is no pod yet: only those are refused.
fn check_template(request: &Request<'_>, admitting: &mut Admitting, path: &[&str]) {
    let Some((policy, errors)) = policy(request) else {
        return;
    };
    let template = admitting.object.at(path).cloned().unwrap_or_default();
    if has(&template, &["spec"]) {
        audit_and_warn(of_pod(&template), policy, &errors, false, admitting);
    }
}

fn audit_and_warn(
    pod: Pod<'_>,
    policy: Policy,
    errors: &[meta::field::Error],
    refused: bool,
    admitting: &mut Admitting,
) {
    let mut note = |key: &str, value: String| {
        let key = format!("{ANNOTATION}{key}");
        admitting.audit_annotations.push((key, value));
    };
    if !errors.is_empty() {
        let why = meta::field::aggregate(errors);
        note("error", format!("Failed to parse policy: {why}"));
    }
    let would = |mode: LevelVersion| {
        let bad = violations(pod, mode);
        let told = (!bad.is_empty()).then(|| told(&bad));
        told.map(|it| format!("would violate PodSecurity \"{mode}\": {it}"))
    };
    if let Some(text) = would(policy.audit) {
        note("audit-violations", text);
    }
    if !refused {
        admitting.warnings.extend(would(policy.warn));
    }
}

fn of_pod(pod: &Value) -> Pod<'_> {
    const NONE: &Value = &Value::Null;
    Pod {
        metadata: pod.get("metadata").unwrap_or(NONE),
        spec: pod.get("spec").unwrap_or(NONE),
    }
}

fn told(bad: &[Violation]) -> String {
    let each = bad
        .iter()
        .map(|it| format!("{} ({})", it.reason, it.detail));
    each.collect::<Vec<_>>().join(", ")
}

/// Of a pod's containers only the image can change, and more can join.
fn is_significant(new: &Value, old: &Value) -> bool {
    let image = |it: &Value| text(it, &["image"]).to_owned();
    let changed = |kind: &str| {
        let (new, old) = (items(new, &["spec", kind]), items(old, &["spec", kind]));
        new.len() != old.len() || new.iter().map(image).ne(old.iter().map(image))
    };
    changed("containers") || changed("initContainers") || changed("ephemeralContainers")
}
