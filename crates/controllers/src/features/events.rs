//! Events: what `kubectl describe feature` tells of the last hour.

use std::fmt::Write as _;

use apiserver::local::Local;
use features::lifecycle::State;
use json::{Value, json};
use meta::object;

use super::status::state_name;
use crate::condition;

const EVENTS: &str = "/api/v1/namespaces";
/// Conditions whose change somebody may have to act on, with the status that is bad.
const TOLD: [(&str, &str); 5] = [
    ("Agreed", "False"),
    ("Blocked", "True"),
    ("Clean", "False"),
    ("Flapping", "True"),
    ("Known", "False"),
];

/// A state ended.
pub(super) async fn changed(client: &Local, feature: &Value, from: State) {
    let text = |path: &[&str]| feature.str_at(path).unwrap_or_default().to_owned();
    let state = text(&["status", "state"]);
    let epoch = feature.at(&["status", "epoch"]).and_then(Value::as_i64);
    let dangling = feature.at(&["status", "dangling", "count"]);
    let dangling = dangling.and_then(Value::as_i64).unwrap_or(0);
    let tasks = feature.at(&["status", "transition", "tasks"]);
    let tasks = tasks.and_then(Value::as_array).into_iter().flatten();
    let tasks = tasks
        .filter_map(|it| it.str_at(&["name"]))
        .collect::<Vec<_>>();
    let mut message = format!(
        "{} -> {state} (epoch {}, {})",
        state_name(from),
        epoch.unwrap_or(0),
        text(&["status", "source"]),
    );
    if !tasks.is_empty() {
        let _ = write!(message, "; tasks: {}", tasks.join(", "));
    }
    if state == "Off" && dangling > 0 {
        let _ = write!(message, "; {dangling} uses are still stored");
    }
    let kind = if dangling > 0 && state == "Off" {
        "Warning"
    } else {
        "Normal"
    };
    send(client, feature, kind, &state, &message).await;
}

/// Conditions that have become bad, or good again.
pub(super) async fn conditions(client: &Local, before: &Value, after: &Value) {
    for (kind, bad) in TOLD {
        let was = condition::get(before, kind).and_then(|it| it.str_at(&["status"]));
        let Some(is) = condition::get(after, kind) else {
            continue;
        };
        let text = |key: &str| is.str_at(&[key]).unwrap_or_default();
        let (was_bad, is_bad) = (was == Some(bad), text("status") == bad);
        if was_bad == is_bad {
            continue;
        }
        let message = format!(
            "{kind}={}: {} {}",
            text("status"),
            text("reason"),
            text("message")
        );
        let event = if is_bad { "Warning" } else { "Normal" };
        let reason = if is_bad {
            text("reason").to_owned()
        } else {
            format!("{kind}Resolved")
        };
        send(client, after, event, &reason, message.trim_end()).await;
    }
}

async fn send(client: &Local, feature: &Value, kind: &str, reason: &str, message: &str) {
    let (namespace, name) = (object::namespace(feature), object::name(feature));
    let now = condition::now();
    let event = json!({
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"generateName": (format!("{}.", name.to_lowercase())), "namespace": namespace},
        "involvedObject": {
            "kind": "Feature", "apiVersion": "features.k8s.io/v1alpha1",
            "namespace": namespace, "name": name,
            "uid": (object::uid(feature)), "resourceVersion": (object::resource_version(feature)),
        },
        "reason": reason,
        "message": message,
        "type": kind,
        "count": 1,
        "firstTimestamp": (&now),
        "lastTimestamp": (&now),
        "source": {"component": "feature-controller"},
        "reportingComponent": "feature-controller",
        "reportingInstance": "",
    });
    // Events are told where that can be done; the history has the rest.
    let _ = client
        .create(&format!("{EVENTS}/{namespace}/events"), &event)
        .await;
}
