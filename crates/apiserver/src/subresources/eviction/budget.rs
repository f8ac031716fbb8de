//! Disruption budgets: whether a pod can be spared, and that it is taken from the budget in the same moment.

use std::sync::Arc;

use json::{Object, Value, json};
use meta::Status;
use meta::gvk::GroupResource;
use meta::selector::LabelSelector;
use meta::status::Cause;

use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::respond;
use crate::request::{ResourceRequest, Verb};
use crate::runtime::clock;
use crate::state::Api;
use crate::write::{AdmissionView, Change, Changed, Options, Write};

/// So many evictions may be unknown to the controller of a budget.
const MAX_DISRUPTED: usize = 2000;

/// Whether budgets have a say: the pod runs, or may.
pub(super) fn covers(pod: &Value) -> bool {
    let phase = pod.str_at(&["status", "phase"]).unwrap_or_default();
    !matches!(phase, "Succeeded" | "Failed" | "Pending") && !object::is_being_deleted(pod)
}

/// Takes the pod from the budget that covers it. A pod that does not count as healthy is not taken from it: then the
/// budget's name comes back, and the pod must not recover before it is gone.
pub(super) async fn take(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    pod: &Value,
    dry_run: bool,
) -> Result<Option<String>, Status> {
    let Some(budget) = one(api, ctx, pod)? else {
        return Ok(None);
    };
    let name = object::name(&budget).to_owned();
    if !is_ready(pod) && spares_unready(&budget) {
        return Ok(Some(name));
    }
    let budgets = api.preferred("policy", "poddisruptionbudgets");
    let budgets = budgets.ok_or_else(respond::no_resource)?;
    let info = ResourceRequest {
        verb: Verb::Update,
        resource: "poddisruptionbudgets".into(),
        subresource: "status".into(),
        name: (&*name).into(),
        group: "policy".into(),
        version: budgets.version.to_string().into(),
        ..ctx.info.clone()
    };
    let ctx = RequestContext {
        resource: budgets,
        info: &info,
        ..ctx.again()
    };
    let options = Options {
        dry_run,
        ..Options::default()
    };
    let mut write = Write::new(api, &ctx, options);
    write.view = AdmissionView::Nothing;
    write.is_internal = true;
    let mut change = Decrement {
        budget: &name,
        pod: object::name(pod),
    };
    match write.update(&name, &mut change).await {
        Err(status) if status.is_conflict() => Err(Status::timeout(
            format!(
                "couldn't update PodDisruptionBudget {} due to conflicts",
                meta::go::quote(&name)
            ),
            10,
        )),
        written => written.map(|_| None),
    }
}

/// Come back when the budget's controller has looked.
pub(super) fn busy(name: &str) -> Status {
    let message = format!("The disruption budget {name} is still being processed by the server.");
    too_many(10, message)
}

fn too_many(seconds: i32, message: String) -> Status {
    let text = "Cannot evict pod as it would violate the pod's disruption budget.";
    caused(Status::too_many_requests(text, seconds), message)
}

fn caused(mut status: Status, message: String) -> Status {
    if let Some(details) = &mut status.details {
        details.causes.push(Cause {
            reason: "DisruptionBudget".into(),
            message,
            field: String::new(),
        });
    }
    status
}

fn one(api: &Api, ctx: &RequestContext<'_>, pod: &Value) -> Result<Option<Value>, Status> {
    let labels = pod.at(&["metadata", "labels"]).and_then(Value::as_object);
    let mut covering = api.list_all("policy", "poddisruptionbudgets", &ctx.info.namespace);
    covering.retain(|budget| {
        let selector = budget.at(&["spec", "selector"]);
        LabelSelector::from_value(selector).is_ok_and(|it| it.matches(labels))
    });
    if covering.len() > 1 {
        let text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        return Err(Status::failure(500, meta::status::Reason::Unknown, text));
    }
    Ok(covering.pop())
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod.at(&["status", "conditions"]).and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    conditions
        .any(|it| it.str_at(&["type"]) == Some("Ready") && it.str_at(&["status"]) == Some("True"))
}

fn number(budget: &Value, field: &str) -> i64 {
    let found = budget.at(&["status", field]).and_then(Value::as_i64);
    found.unwrap_or(0)
}

/// A pod that is not ready does not count as healthy: it may go if the budget says so, or if enough others are.
fn spares_unready(budget: &Value) -> bool {
    let policy = budget.str_at(&["spec", "unhealthyPodEvictionPolicy"]);
    let desired = number(budget, "desiredHealthy");
    policy == Some("AlwaysAllow") || number(budget, "currentHealthy") >= desired && desired > 0
}

struct Decrement<'a> {
    budget: &'a str,
    pod: &'a str,
}

impl Decrement<'_> {
    fn forbidden(&self, why: &str, told: &str) -> Status {
        let resource = GroupResource::new("policy", "poddisruptionbudget");
        let name = self.budget;
        let message =
            format!("The disruption budget {name} does not allow evicting pods currently: {told}");
        caused(Status::forbidden(&resource, name, why), message)
    }

    /// Why nothing is left of the budget.
    fn spent(&self, budget: &Value) -> String {
        let name = self.budget;
        let conditions = budget
            .at(&["status", "conditions"])
            .and_then(Value::as_array);
        let condition = conditions
            .into_iter()
            .flatten()
            .find(|it| it.str_at(&["type"]) == Some("DisruptionAllowed"))
            .filter(|it| it.str_at(&["status"]) == Some("False"));
        let text = |field| condition.and_then(|it| it.str_at(&[field]));
        let message = text("message").filter(|it| !it.is_empty());
        let reason = text("reason").unwrap_or_default();
        let (current, desired) = (
            number(budget, "currentHealthy"),
            number(budget, "desiredHealthy"),
        );
        match message {
            Some(message) if reason == "SyncFailed" => format!(
                "The disruption budget {name} does not allow evicting pods currently because it failed sync: {message}"
            ),
            _ if current <= desired => format!(
                "The disruption budget {name} needs {desired} healthy pods and has {current} currently"
            ),
            Some(message) => format!(
                "The disruption budget {name} does not allow evicting pods currently ({reason}): {message}"
            ),
            None => {
                format!("The disruption budget {name} does not allow evicting pods currently")
            }
        }
    }

    fn check(&self, budget: &Value) -> Result<(), Status> {
        let generation = budget.at(&["metadata", "generation"]);
        let generation = generation.and_then(Value::as_i64).unwrap_or(0);
        if number(budget, "observedGeneration") < generation {
            return Err(busy(self.budget));
        }
        let disrupted = budget
            .at(&["status", "disruptedPods"])
            .and_then(Value::as_object);
        match number(budget, "disruptionsAllowed") {
            ..0 => {
                let why = "pdb disruptions allowed is negative";
                Err(self.forbidden(why, why))
            }
            _ if disrupted.is_some_and(|it| it.len() > MAX_DISRUPTED) => Err(self.forbidden(
                "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
                "too many pending evictions not confirmed by PDB controller",
            )),
            0 => Err(too_many(0, self.spent(budget))),
            _ => Ok(()),
        }
    }
}

impl Change for Decrement<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        let Some(live) = live else {
            let resource = GroupResource::new("policy", "poddisruptionbudgets");
            return Err(Status::not_found(&resource, self.budget));
        };
        self.check(live)?;
        let mut budget = live.clone();
        let left = number(live, "disruptionsAllowed") - 1;
        if let Some(status) = budget.get_mut("status").and_then(Value::as_object_mut) {
            status.insert("disruptionsAllowed", left);
            let disrupted = status.get_or_insert("disruptedPods");
            if disrupted.is_null() {
                *disrupted = Object::new().into();
            }
            if let Some(disrupted) = disrupted.as_object_mut() {
                disrupted.insert(self.pod, clock::now());
            }
        }
        if left == 0 {
            let condition = json!({
                "type": "DisruptionAllowed",
                "status": "False",
                "observedGeneration": (number(live, "observedGeneration")),
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
