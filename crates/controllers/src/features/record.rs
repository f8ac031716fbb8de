//! What is written of a feature: the status for machines, and its conditions for people.

use apiserver::local::{Found, Use};
use features::lifecycle::{Condition, ConditionType, Dangling, FeatureStatus, State};
use features::{GateState, Stage, Version};
use json::{Object, Value, json};

use super::status::{self, int, moment};
use crate::condition;

/// All that the status tells beside what the transition function decides.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    /// The gate of this server; nothing if it does not know the feature.
    pub(super) gate: Option<GateState>,
    pub(super) emulation: Version,
    pub(super) now: u64,
    pub(super) leader: &'a str,
    pub(super) actor: &'a str,
    pub(super) is_dynamic: bool,
    pub(super) is_central: bool,
    pub(super) dependencies: Vec<(&'a str, bool)>,
    pub(super) dependents: &'a [String],
    pub(super) servers: usize,
    pub(super) known_by: usize,
    pub(super) target: Option<(bool, &'static str)>,
    /// Who has which value, where servers or components differ.
    pub(super) disagreement: String,
    pub(super) uses: Option<Value>,
    /// What the last scan found.
    pub(super) found: Option<&'a Found>,
}

/// The next status, from the one that is stored.
pub(super) fn status(
    feature: &Value,
    next: &FeatureStatus,
    conditions: &[Condition],
    facts: &Facts<'_>,
) -> Value {
    static NOTHING: Value = Value::Null;
    let before = feature.get("status").unwrap_or(&NOTHING);
    let mut out = Object::new();
    let generation = feature.at(&["metadata", "generation"]);
    out.insert(
        "observedGeneration",
        generation.cloned().unwrap_or(1.into()),
    );
    declared(&mut out, before, facts);
    let dependencies = facts.dependencies.iter();
    let dependencies = dependencies.map(|(name, on)| json!({"name": (*name), "satisfied": (*on)}));
    out.insert("dependencies", dependencies.collect::<Vec<Value>>());
    let dependents = facts.dependents.iter().map(Value::from);
    out.insert("dependents", dependents.collect::<Vec<Value>>());
    out.insert("registry", registry(before, facts));
    match facts.target {
        Some((enabled, source)) => {
            out.insert("target", if enabled { "Enabled" } else { "Disabled" });
            out.insert("source", source);
        }
        None => {
            for key in ["target", "source"] {
                out.insert(key, before.get(key).cloned().unwrap_or_default());
            }
        }
    }
    for (key, value) in status::write(next, before, facts.leader, facts.actor).iter() {
        out.insert(key.clone(), value.clone());
    }
    if let Some(uses) = &facts.uses {
        out.insert("uses", uses.clone());
    }
    out.insert("dangling", dangling(before, next, facts));
    if let Some(rollout) = before.get("rollout") {
        out.insert("rollout", rollout.clone());
    }
    let conditions = all_conditions(before, next, conditions, facts);
    out.insert("conditions", conditions);
    without_nulls(out.into())
}

fn declared(out: &mut Object, before: &Value, facts: &Facts<'_>) {
    if let Some(gate) = facts.gate {
        let stage = match gate.spec.stage {
            Stage::Alpha | Stage::PreAlpha => "Alpha",
            Stage::Beta => "Beta",
            Stage::Ga => "GA",
            Stage::Deprecated => "Deprecated",
        };
        out.insert("stage", stage);
        out.insert("locked", gate.spec.locked);
        out.insert("default", gate.spec.default);
    } else {
        let is_known = facts.known_by > 0;
        for key in ["stage", "locked", "default"] {
            out.insert(key, before.get(key).cloned().unwrap_or_default());
        }
        if !is_known {
            out.insert("stage", "Unavailable");
        }
    }
    let settable = match (facts.is_dynamic, facts.is_central) {
        (true, _) => "Dynamic",
        (_, true) => "Central",
        _ => "CommandLine",
    };
    out.insert("settable", settable);
    let is_live = facts.is_dynamic;
    out.insert("mutability", if is_live { "Live" } else { "Restart" });
    let canary = before.str_at(&["canary"]).unwrap_or("None");
    out.insert("canary", if is_live { "PerInstance" } else { canary });
}

fn registry(before: &Value, facts: &Facts<'_>) -> Value {
    let last = before.at(&["registry", "lastKnownVersion"]);
    let since = before.at(&["registry", "unknownSince"]);
    let version = facts.emulation.to_string();
    let is_known = facts.known_by > 0;
    json!({
        "version": (&version),
        "knownBy": (i64::try_from(facts.known_by).unwrap_or(i64::MAX)),
        "servers": (i64::try_from(facts.servers).unwrap_or(i64::MAX)),
        "lastKnownVersion": (if is_known { version.clone().into() } else { last.cloned().unwrap_or_default() }),
        "unknownSince": (if is_known { Value::Null } else { since.cloned().unwrap_or_else(|| moment(facts.now).into()) }),
    })
}

fn dangling(before: &Value, next: &FeatureStatus, facts: &Facts<'_>) -> Value {
    let count = match next.dangling {
        Dangling::Unknown => return Value::Null,
        Dangling::None => 0,
        Dangling::Found(count) => count,
    };
    let stored = before.get("dangling");
    let samples = match facts.found {
        Some(found) => found
            .samples
            .iter()
            .map(sample)
            .collect::<Vec<Value>>()
            .into(),
        None => stored
            .filter(|_| count > 0)
            .and_then(|it| it.get("samples"))
            .cloned()
            .unwrap_or_default(),
    };
    let was = stored
        .and_then(|it| it.get("count"))
        .and_then(Value::as_i64);
    let scanned = stored.and_then(|it| it.get("scannedAt"));
    let scanned = scanned.filter(|_| was == Some(int(count))).cloned();
    json!({
        "count": (int(count)),
        "scannedAt": (scanned.unwrap_or_else(|| moment(facts.now).into())),
        "complete": true,
        "samples": samples,
    })
}

fn sample(it: &Use) -> Value {
    json!({
        "group": (&it.group),
        "resource": (&it.resource),
        "namespace": (&it.namespace),
        "name": (&it.name),
        "uid": (&it.uid),
        "fieldPath": (&it.field_path),
    })
}

/// Those of the transition function, and those about the next version.
fn all_conditions(
    before: &Value,
    next: &FeatureStatus,
    conditions: &[Condition],
    facts: &Facts<'_>,
) -> Value {
    let stored = before.get("conditions").cloned().unwrap_or_default();
    let mut holder = json!({"status": {"conditions": stored}});
    let mut set = |kind: &str, status: Option<bool>, reason: &str, message: &str| {
        let status = match status {
            Some(true) => "True",
            Some(false) => "False",
            None => "Unknown",
        };
        let new = condition::Condition {
            kind,
            status,
            reason,
            message,
        };
        condition::set(&mut holder, &new);
    };
    for it in conditions {
        let message = match it.kind {
            ConditionType::Agreed => facts.disagreement.as_str(),
            _ => it.message.as_str(),
        };
        // Components may disagree although the servers do not.
        let disagrees = it.kind == ConditionType::Agreed
            && it.status == Some(true)
            && !facts.disagreement.is_empty();
        let (status, reason) = if disagrees {
            (Some(false), "OtherValues")
        } else {
            (it.status, it.reason)
        };
        set(condition_name(it.kind), status, reason, message);
    }
    let is_stale = facts.known_by == 0;
    let reason = if is_stale {
        "NoServerKnowsIt"
    } else {
        "UpToDate"
    };
    set("Stale", Some(is_stale), reason, "");
    let in_transition = next.transition.is_some();
    let dangles = matches!(next.dangling, Dangling::Found(_));
    let ask = "ask with: pilothouse features check --to VERSION";
    for (kind, default_then) in [
        ("UpgradeSafe", None),
        ("DowngradeSafe", downgrade_default(facts)),
    ] {
        let (status, reason, message) = if in_transition {
            (
                Some(false),
                "InTransition",
                "wait until the feature is On or Off",
            )
        } else if dangles {
            (
                Some(false),
                "Dangling",
                "uses are stored though the feature is off",
            )
        } else {
            match (next.state, default_then) {
                (State::Off, _) => (Some(true), "Off", ""),
                (_, Some(true)) => (Some(true), "OnThereToo", ""),
                _ => (None, "AskForVersion", ask),
            }
        };
        set(kind, status, reason, message);
    }
    let conditions = holder.at(&["status", "conditions"]);
    conditions.cloned().unwrap_or_default()
}

/// Whether the feature is on by default one minor version before, as far as this binary knows.
fn downgrade_default(facts: &Facts<'_>) -> Option<bool> {
    let gate = facts.gate?;
    (gate.spec.version < facts.emulation).then_some(gate.spec.default)
}

pub(super) fn condition_name(kind: ConditionType) -> &'static str {
    match kind {
        ConditionType::Agreed => "Agreed",
        ConditionType::UsesSettled => "UsesSettled",
        ConditionType::Clean => "Clean",
        ConditionType::Blocked => "Blocked",
        ConditionType::DependenciesSatisfied => "DependenciesSatisfied",
        ConditionType::Known => "Known",
        ConditionType::Flapping => "Flapping",
    }
}

/// What the API server would not store either: two of these are the same if they say the same.
pub(super) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut out = Object::new();
            for (key, value) in fields.iter() {
                let value = without_nulls(value.clone());
                let is_empty = match &value {
                    Value::Null => true,
                    Value::Bool(it) => !it,
                    Value::String(it) => it.is_empty(),
                    Value::Array(it) => it.is_empty(),
                    Value::Object(it) => it.is_empty(),
                    Value::Number(_) => value.as_i64() == Some(0),
                };
                if !is_empty {
                    out.insert(key.clone(), value);
                }
            }
            out.into()
        }
        Value::Array(items) => items
            .into_iter()
            .map(without_nulls)
            .collect::<Vec<_>>()
            .into(),
        other => other,
    }
}
