//! `flow-control-controller`: the `FlowSchemas` and `PriorityLevelConfigurations` that every cluster has, and whether each
//! `FlowSchema` leads to a level (KEP-1040).

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use apiserver::local::Local;
use flowcontrol::bootstrap::{self, AUTO_UPDATE, DefaultObject};
use json::{Object, Value, json};
use meta::Status;
use meta::object::{annotation, name};
use tokio::time::Instant;

use crate::condition::{self, Condition};
use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};

const SCHEMAS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const LEVELS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";
/// As upstream's two halves sign what they write.
const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";
const CONSUMER: &str = "api-priority-and-fairness-config-consumer-v1";
const LONGEST: Duration = Duration::from_secs(60);

/// When the conditions of each schema were last written: no more than six times a minute, as upstream, so that servers
/// that disagree do not fight.
type Written = Arc<Mutex<HashMap<String, VecDeque<Instant>>>>;
const MINUTE: Duration = Duration::from_secs(60);
const WRITES: usize = 6;

pub(crate) async fn run(client: Local) -> std::convert::Infallible {
    let queue = Queue::new(&client, "priority_and_fairness_config_queue", LONGEST);
    queue.add(());
    let written = Written::default();
    let work = |()| {
        let (client, written) = (client.clone(), written.clone());
        async move {
            match reconcile(&client, &written).await {
                Ok(true) => Outcome::Done,
                Ok(false) | Err(_) => Outcome::Retry,
            }
        }
    };
    let changed = |event: Event| {
        // The state at the start is looked at anyway.
        if let Event::Put(_) | Event::Gone(_) = event {
            queue.add(());
        }
    };
    tokio::select! {
        never = queue.run(1, work) => never,
        never = follow(&client, SCHEMAS, changed) => never,
        never = follow(&client, LEVELS, changed) => never,
    }
}

/// False if something is left for later.
async fn reconcile(client: &Local, written: &Written) -> Result<bool, Status> {
    let levels = ensure(client, LEVELS, bootstrap::priority_levels()).await?;
    let schemas = ensure(client, SCHEMAS, bootstrap::flow_schemas()).await?;
    if !client.host().priority_and_fairness() {
        return Ok(true);
    }
    // The status must not be ahead of the filter: wait until the filter uses these objects.
    client.host().wait_until_caught_up().await?;
    let levels: BTreeSet<&str> = levels.iter().map(name).collect();
    let mut is_done = true;
    let mut changes = Vec::new();
    for mut schema in schemas {
        if !mark(&mut schema, &levels) {
            continue;
        }
        if !may_write(written, name(&schema), Instant::now()) {
            is_done = false;
            continue;
        }
        let client = client.clone();
        changes.push(async move { apply(&client, &schema).await });
    }
    crate::bootstrap::all(changes).await?;
    Ok(is_done)
}

async fn apply(client: &Local, schema: &Value) -> Result<(), Status> {
    let path = format!("{SCHEMAS}/{}/status", name(schema));
    let found = condition::get(schema, "Dangling").cloned();
    let status = json!({
        "kind": "FlowSchema",
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "metadata": {"name": (name(schema))},
        "status": {"conditions": [(found.unwrap_or_default())]},
    });
    match client.apply(&path, &status, CONSUMER).await {
        // It was deleted meanwhile.
        Err(status) if status.is_not_found() => Ok(()),
        other => other.map(|_| ()),
    }
}

fn may_write(written: &Written, schema: &str, now: Instant) -> bool {
    let mut all = written.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|_, times| {
        while times
            .front()
            .is_some_and(|it| now.duration_since(*it) > MINUTE)
        {
            times.pop_front();
        }
        !times.is_empty()
    });
    let times = all.entry(schema.to_owned()).or_default();
    if times.len() >= WRITES {
        return false;
    }
    times.push_back(now);
    true
}

/// Whether the level of a schema is there. True if that is news.
fn mark(schema: &mut Value, levels: &BTreeSet<&str>) -> bool {
    let level = schema.str_at(&["spec", "priorityLevelConfiguration", "name"]);
    let level = level.unwrap_or_default();
    let there = levels.contains(level);
    let references = "This FlowSchema references the PriorityLevelConfiguration object named";
    let message = if there {
        format!("{references} {level:?} and it exists")
    } else {
        format!("{references} {level:?} but there is no such object")
    };
    let condition = Condition {
        kind: "Dangling",
        status: if there { "False" } else { "True" },
        reason: if there { "Found" } else { "NotFound" },
        message: &message,
    };
    condition::set(schema, &condition)
}

/// Creates what is missing, brings back what is ours and was changed, and deletes what was ours once. All that is there
/// then.
async fn ensure(
    client: &Local,
    path: &str,
    wanted: Vec<DefaultObject>,
) -> Result<Vec<Value>, Status> {
    let found = client.items(path).await?;
    let mut changes = Vec::new();
    let unwanted = found.iter().filter(|it| {
        let is_wanted = wanted.iter().any(|one| one.name() == name(it));
        !is_wanted && annotation(it, AUTO_UPDATE).and_then(boolean) == Some(true)
    });
    for one in unwanted {
        changes.push(Change::Delete(format!("{path}/{}", name(one))));
    }
    for one in wanted {
        let Some(live) = found.iter().find(|it| name(it) == one.name()) else {
            changes.push(Change::Create(one.object));
            continue;
        };
        changes.extend(revise(live, &one).map(Change::Update));
    }
    if changes.is_empty() {
        return Ok(found);
    }
    let changes = changes.into_iter().map(|change| {
        let (client, path) = (client.clone(), path.to_owned());
        async move { change.make(&client, &path).await }
    });
    crate::bootstrap::all(changes).await?;
    client.items(path).await
}

enum Change {
    Create(Value),
    Update(Value),
    Delete(String),
}

impl Change {
    async fn make(self, client: &Local, path: &str) -> Result<(), Status> {
        let done = match self {
            Self::Create(object) => {
                let path = format!("{path}?fieldManager={PRODUCER}");
                client.create(&path, &object).await
            }
            Self::Update(object) => {
                let path = format!("{path}/{}?fieldManager={PRODUCER}", name(&object));
                client.update(&path, &object).await
            }
            Self::Delete(path) => client.delete(&path, &Value::Null).await,
        };
        match done {
            Err(status) if status.is_not_found() => Ok(()),
            other => other.map(|_| ()),
        }
    }
}

/// What an object is to become, if it is to change.
fn revise(live: &Value, wanted: &DefaultObject) -> Option<Value> {
    let told = annotation(live, AUTO_UPDATE).and_then(boolean);
    let generation = live.at(&["metadata", "generation"]).and_then(Value::as_i64);
    // Its generation is 1, so the spec was never changed by a user: it may be updated.
    let keeps = wanted.is_mandatory || told.unwrap_or(generation == Some(1));
    let is_other = keeps && live.get("spec") != wanted.object.get("spec");
    if !is_other && told == Some(keeps) {
        return None;
    }
    let mut revised = live.clone();
    let fields = revised.as_object_mut()?;
    if is_other {
        fields.insert(
            "spec",
            wanted.object.get("spec").cloned().unwrap_or_default(),
        );
    }
    let metadata = fields.get_mut("metadata")?.as_object_mut()?;
    let annotations = metadata.get_or_insert("annotations");
    if annotations.is_null() {
        *annotations = Object::new().into();
    }
    annotations
        .as_object_mut()?
        .insert(AUTO_UPDATE, keeps.to_string());
    Some(revised)
}

/// As Go reads one.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default_of(name: &str) -> DefaultObject {
        let mut all = bootstrap::priority_levels().into_iter();
        all.find(|it| it.name() == name)
            .expect("a level of that name")
    }

    fn live(name: &str, annotated: Option<&str>, generation: i64, is_changed: bool) -> Value {
        let mut object = default_of(name).object;
        let metadata = object
            .get_mut("metadata")
            .and_then(Value::as_object_mut)
            .unwrap();
        metadata.insert("generation", generation);
        metadata.remove("annotations");
        if let Some(value) = annotated {
            let mut annotations = Object::new();
            annotations.insert(AUTO_UPDATE, value);
            metadata.insert("annotations", annotations);
        }
        if is_changed {
            object
                .as_object_mut()
                .unwrap()
                .insert("spec", json!({"type": "Limited"}));
        }
        object
    }

    /// Upstream's table: what is there, whether it changes, and what the annotation says then.
    #[test]
    fn objects_are_kept_unless_somebody_wants_them_otherwise() {
        let suggested = "workload-low";
        #[rustfmt::skip]
        let table = [
            (suggested, Some("true"), 1, false, None),
            (suggested, Some("true"), 2, true, Some(("true", true))),
            (suggested, Some("false"), 2, true, None),
            (suggested, Some("false"), 1, false, None),
            (suggested, None, 1, false, Some(("true", true))),
            (suggested, None, 1, true, Some(("true", true))),
            (suggested, None, 2, true, Some(("false", false))),
            (suggested, Some("nonsense"), 2, true, Some(("false", false))),
            ("catch-all", Some("false"), 2, true, Some(("true", true))),
            ("exempt", Some("false"), 1, false, Some(("true", true))),
            ("exempt", Some("1"), 1, false, None),
        ];
        for (name, annotated, generation, is_changed, expected) in table {
            let wanted = default_of(name);
            let revised = revise(&live(name, annotated, generation, is_changed), &wanted);
            let told = revised.as_ref().map(|it| {
                let same = it.get("spec") == wanted.object.get("spec");
                (annotation(it, AUTO_UPDATE).unwrap_or_default(), same)
            });
            assert_eq!(
                told, expected,
                "{name} {annotated:?} {generation} {is_changed}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_condition_is_written_six_times_a_minute() {
        let written = Written::default();
        for _ in 0..WRITES {
            assert!(may_write(&written, "a", Instant::now()));
        }
        assert!(!may_write(&written, "a", Instant::now()));
        assert!(may_write(&written, "b", Instant::now()));
        tokio::time::advance(MINUTE + Duration::from_secs(1)).await;
        assert!(may_write(&written, "a", Instant::now()));
    }
}
