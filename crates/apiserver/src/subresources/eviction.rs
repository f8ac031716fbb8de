//! `pods/x/eviction`: a deletion that a disruption budget may refuse, and that it counts.

use std::sync::Arc;

use admission::Operation;
use http::Response;
use json::{Object, Value, json};
use meta::Status;
use meta::gvk::{GroupResource, GroupVersionKind};
use meta::options::DeleteOptions;
use meta::selector::LabelSelector;
use meta::status::Cause;

use super::actions::{read, success};
use crate::body::Body;
use crate::incoming::RequestBody;
use crate::pipeline::{Api, Ask};
use crate::write::{Change, Changed, Options, Seen, Write};
use crate::{clock, delete, object, verbs};

/// So many evictions may wait until the budget's controller has seen them.
const MOST_WAITING: usize = 2000;
const VIOLATES: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

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
    let mut options = if given.is_null() {
        DeleteOptions::default()
    } else {
        DeleteOptions::from_value(&given)?
    };
    write_options.dry_run |= options.dry_run;
    let pod = api
        .find("", "pods", &ask.info.namespace, name)
        .ok_or_else(|| ask.not_found())?;
    if let Some(budget) = budget(api, ask, &pod)? {
        spend(api, ask, &write_options, &budget).await?;
    }
    let mut write = Write::new(api, ask, write_options);
    write.seen = Seen::Nothing;
    write.own = true;
    if !write.options.dry_run {
        let mut target = Target {
            ask,
            options: &options,
        };
        let marked = write.update(name, &mut target).await?;
        if let Some(preconditions) = &mut options.preconditions
            && let Some(version) = &mut preconditions.resource_version
        {
            // It was as it should be, and we changed it.
            *version = marked.entry.modified.to_string();
        }
    }
    delete::delete(&write, name, &options).await?;
    success(ask)
}

fn number(object: &Value, path: &[&str]) -> i64 {
    object.at(path).and_then(Value::as_i64).unwrap_or(0)
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let all = object.at(&["status", "conditions"])?.as_array()?;
    all.iter().find(|it| it.str_at(&["type"]) == Some(kind))
}

/// The budget that has to spare the pod, if one does.
fn budget(api: &Api, ask: &Ask<'_>, pod: &Value) -> Result<Option<Value>, Status> {
    let phase = pod.str_at(&["status", "phase"]).unwrap_or_default();
    if matches!(phase, "Succeeded" | "Failed" | "Pending") || object::is_deleting(pod) {
        return Ok(None);
    }
    let labels = pod.at(&["metadata", "labels"]).and_then(Value::as_object);
    let all = api.list_all("policy", "poddisruptionbudgets", &ask.info.namespace);
    let covers = |budget: &Value| {
        let selector = budget.at(&["spec", "selector"]);
        let selector = selector.filter(|it| !it.is_null());
        selector.is_some() && LabelSelector::from_value(selector).is_ok_and(|it| it.matches(labels))
    };
    let mut covering = all.into_iter().filter(covers);
    let Some(found) = covering.next() else {
        return Ok(None);
    };
    if covering.next().is_some() {
        let text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        let unknown = meta::status::Reason::Unknown;
        return Err(Status::failure(500, unknown, text));
    }
    let ready = condition(pod, "Ready").is_some_and(|it| it.str_at(&["status"]) == Some("True"));
    let policy = found.str_at(&["spec", "unhealthyPodEvictionPolicy"]);
    let wanted = number(&found, &["status", "desiredHealthy"]);
    let healthy = number(&found, &["status", "currentHealthy"]);
    // Nothing is disrupted by the end of what does not work.
    let spared = policy == Some("AlwaysAllow") || healthy >= wanted && wanted > 0;
    Ok((ready || !spared).then_some(found))
}

/// The budget has one pod less to spare.
async fn spend(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    options: &Options,
    budget: &Value,
) -> Result<(), Status> {
    let budgets = api.preferred("policy", "poddisruptionbudgets");
    let budgets = budgets.ok_or_else(crate::documents::no_resource)?;
    let ask = Ask {
        resource: budgets,
        ..ask.again()
    };
    let mut write = Write::new(api, &ask, options.clone());
    write.seen = Seen::Nothing;
    write.own = true;
    let mut spend = Spend(&ask);
    write.update(object::name(budget), &mut spend).await?;
    Ok(())
}

struct Spend<'a>(&'a Ask<'a>);

impl Change for Spend<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        let Some(live) = live else {
            return Err(self.0.not_found());
        };
        let left = allowed(live)? - 1;
        let mut budget = live.clone();
        let seen = number(live, &["status", "observedGeneration"]);
        if let Some(status) = budget.get_mut("status").and_then(Value::as_object_mut) {
            status.insert("disruptionsAllowed", left);
            let waiting = status.get_or_insert("disruptedPods");
            if waiting.is_null() {
                *waiting = Object::new().into();
            }
            if let Some(waiting) = waiting.as_object_mut() {
                waiting.insert(&*self.0.info.name, clock::now());
            }
        }
        if left == 0 {
            let condition = json!({
                "type": "DisruptionAllowed",
                "status": "False",
                "observedGeneration": seen,
                "lastTransitionTime": (clock::now()),
                "reason": "InsufficientPods",
                "message": "",
            });
            object::set_condition(&mut budget, condition);
        }
        Ok(Changed {
            object: budget,
            managed: false,
            exact: false,
        })
    }
}

/// How many pods the budget can spare, if any.
fn allowed(budget: &Value) -> Result<i64, Status> {
    let name = object::name(budget);
    let cause = |mut status: Status, message: String| {
        let details = status.details.get_or_insert_default();
        details.causes.push(Cause {
            reason: "DisruptionBudget".into(),
            message,
            field: String::new(),
        });
        Err(status)
    };
    let status = |field: &str| number(budget, &["status", field]);
    if status("observedGeneration") < number(budget, &["metadata", "generation"]) {
        let text = format!("The disruption budget {name} is still being processed by the server.");
        return cause(Status::too_many_requests(VIOLATES, 10), text);
    }
    let waiting = budget.at(&["status", "disruptedPods"]);
    let waiting = waiting.and_then(Value::as_object).map_or(0, Object::len);
    let kind = GroupResource::new("policy", "poddisruptionbudget");
    let does_not = format!("The disruption budget {name} does not allow evicting pods currently");
    if status("disruptionsAllowed") < 0 {
        let why = "pdb disruptions allowed is negative";
        let refused = Status::forbidden(&kind, name, why);
        return cause(refused, format!("{does_not}: {why}"));
    }
    if waiting > MOST_WAITING {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        let refused = Status::forbidden(&kind, name, why);
        let text = "too many pending evictions not confirmed by PDB controller";
        return cause(refused, format!("{does_not}: {text}"));
    }
    let allowed = status("disruptionsAllowed");
    if allowed > 0 {
        return Ok(allowed);
    }
    let (wanted, healthy) = (status("desiredHealthy"), status("currentHealthy"));
    let found = condition(budget, "DisruptionAllowed");
    let found = found.filter(|it| it.str_at(&["status"]) == Some("False"));
    let part = |key: &str| found.and_then(|it| it.str_at(&[key])).unwrap_or_default();
    let (reason, message) = (part("reason"), part("message"));
    let text = if reason == "SyncFailed" && !message.is_empty() {
        format!("{does_not} because it failed sync: {message}")
    } else if healthy <= wanted {
        format!(
            "The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently"
        )
    } else if message.is_empty() {
        does_not
    } else {
        format!("{does_not} ({reason}): {message}")
    };
    cause(Status::too_many_requests(VIOLATES, 0), text)
}

/// Whoever sees the pod end sees why.
struct Target<'a> {
    ask: &'a Ask<'a>,
    options: &'a DeleteOptions,
}

impl Change for Target<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        let Some(live) = live else {
            return Err(self.ask.not_found());
        };
        delete::check(self.ask, self.options, live)?;
        let mut pod = live.clone();
        let condition = json!({
            "type": "DisruptionTarget",
            "status": "True",
            "lastProbeTime": null,
            "lastTransitionTime": (clock::now()),
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        });
        object::set_condition(&mut pod, condition);
        Ok(Changed {
            object: pod,
            managed: false,
            exact: false,
        })
    }
}
