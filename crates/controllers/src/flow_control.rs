//! `flow-control-controller`: the `FlowSchemas` and `PriorityLevelConfigurations` that every cluster has (KEP-1040).

use std::collections::BTreeSet;
use std::time::Duration;

use apiserver::local::Local;
use json::{Object, Value, json};
use meta::Status;
use meta::object::{annotation, name};

use crate::condition::{self, Condition};
use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};

const SCHEMAS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const LEVELS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";
const AUTO: &str = "apf.kubernetes.io/autoupdate-spec";
/// As upstream's two halves sign what they write.
const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";
const CONSUMER: &str = "api-priority-and-fairness-config-consumer-v1";
const LONGEST: Duration = Duration::from_secs(60);

/// Name, shares, lendable percent, and queues, hand size and length of a queue.
type Level = (&'static str, i64, i64, Option<(i64, i64, i64)>);

const LIMITED: [Level; 7] = [
    ("catch-all", 5, 0, None),
    ("global-default", 20, 50, Some((128, 6, 50))),
    ("leader-election", 10, 0, Some((16, 4, 50))),
    ("node-high", 40, 25, Some((64, 6, 50))),
    ("system", 30, 33, Some((64, 6, 50))),
    ("workload-high", 40, 50, Some((128, 6, 50))),
    ("workload-low", 100, 90, Some((128, 6, 50))),
];

pub(crate) async fn run(client: Local) -> std::convert::Infallible {
    let queue = Queue::new(&client, "priority_and_fairness_config_queue", LONGEST);
    queue.add(());
    let work = |()| {
        let client = client.clone();
        async move {
            match reconcile(&client).await {
                Ok(()) => Outcome::Done,
                Err(_) => Outcome::Retry,
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

async fn reconcile(client: &Local) -> Result<(), Status> {
    let levels = ensure(client, LEVELS, levels()).await?;
    let schemas = ensure(client, SCHEMAS, schemas()).await?;
    let levels: BTreeSet<&str> = levels.iter().map(name).collect();
    let changed = schemas.into_iter().filter_map(|mut schema| {
        mark(&mut schema, &levels).then(|| {
            let client = client.clone();
            let path = format!("{SCHEMAS}/{}/status", name(&schema));
            let found = condition::get(&schema, "Dangling").cloned();
            let status = json!({
                "kind": "FlowSchema",
                "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
                "metadata": {"name": (name(&schema))},
                "status": {"conditions": [(found.unwrap_or_default())]},
            });
            async move { client.apply(&path, &status, CONSUMER).await.map(|_| ()) }
        })
    });
    crate::bootstrap::all(changed).await
}

/// Whether the level of a schema is there.
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

/// Creates what is missing, and brings back what is ours and was changed. All that is there then.
async fn ensure(client: &Local, path: &str, wanted: Vec<Value>) -> Result<Vec<Value>, Status> {
    let found = client.items(path).await?;
    let changes = wanted.into_iter().filter_map(|object| {
        let live = found.iter().find(|it| name(it) == name(&object));
        let ours = |live: &Value| {
            // What nobody may change is kept even against the annotation.
            let mandatory = matches!(name(live), "exempt" | "catch-all");
            mandatory || annotation(live, AUTO) == Some("true")
        };
        let client = client.clone();
        let collection = format!("{path}?fieldManager={PRODUCER}");
        let one = format!("{path}/{}?fieldManager={PRODUCER}", name(&object));
        let create = live.is_none();
        let update = live.is_some_and(|it| ours(it) && it.get("spec") != object.get("spec"));
        (create || update).then_some(async move {
            let done = if create {
                client.create(&collection, &object).await
            } else {
                let spec = object.get("spec").cloned().unwrap_or_default();
                let change = json!([{"op": "replace", "path": "/spec", "value": spec}]);
                client.json_patch(&one, &change).await
            };
            done.map(|_| ())
        })
    });
    let changes: Vec<_> = changes.collect();
    if changes.is_empty() {
        return Ok(found);
    }
    crate::bootstrap::all(changes).await?;
    client.items(path).await
}

fn object(kind: &str, name: &str, spec: Value) -> Value {
    let mut annotations = Object::new();
    annotations.insert(AUTO, "true");
    json!({
        "kind": kind,
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "metadata": {"name": name, "annotations": annotations},
        "spec": spec,
    })
}

fn levels() -> Vec<Value> {
    let kind = "PriorityLevelConfiguration";
    let exempt = json!({
        "type": "Exempt",
        "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0},
    });
    let mut all = vec![object(kind, "exempt", exempt)];
    all.extend(LIMITED.map(|(name, shares, lendable, queues)| {
        let response = match queues {
            None => json!({"type": "Reject"}),
            Some((queues, hand, length)) => json!({
                "type": "Queue",
                "queuing": {"queues": queues, "handSize": hand, "queueLengthLimit": length},
            }),
        };
        let limited = json!({
            "nominalConcurrencyShares": shares,
            "limitResponse": response,
            "lendablePercent": lendable,
        });
        object(kind, name, json!({"type": "Limited", "limited": limited}))
    }));
    all
}

/// Name, level, precedence, how flows are told apart, whose requests, and which of them.
type Schema = (
    &'static str,
    &'static str,
    i64,
    &'static str,
    &'static [Subject],
    Requests,
);

#[derive(Clone, Copy)]
enum Subject {
    Group(&'static str),
    User(&'static str),
    /// All service accounts of kube-system.
    System,
}

#[derive(Clone, Copy)]
enum Requests {
    All,
    Probes,
    Leases,
    Nodes,
}

const EVERYBODY: &[Subject] = &[
    Subject::Group("system:unauthenticated"),
    Subject::Group("system:authenticated"),
];
const NODES: &[Subject] = &[Subject::Group("system:nodes")];
const CONTROLLERS: Subject = Subject::User("system:kube-controller-manager");
const SCHEDULER: Subject = Subject::User("system:kube-scheduler");
const LEADERS: &[Subject] = &[CONTROLLERS, SCHEDULER, Subject::System];
const MASTERS: &[Subject] = &[Subject::Group("system:masters")];
const ACCOUNTS: &[Subject] = &[Subject::Group("system:serviceaccounts")];

#[rustfmt::skip]
const SCHEMAS_OF_ALL: [Schema; 11] = [
    ("exempt", "exempt", 1, "", MASTERS, Requests::All),
    ("probes", "exempt", 2, "", EVERYBODY, Requests::Probes),
    ("system-leader-election", "leader-election", 100, "ByUser", LEADERS, Requests::Leases),
    ("system-node-high", "node-high", 400, "ByUser", NODES, Requests::Nodes),
    ("system-nodes", "system", 500, "ByUser", NODES, Requests::All),
    ("kube-controller-manager", "workload-high", 800, "ByNamespace", &[CONTROLLERS], Requests::All),
    ("kube-scheduler", "workload-high", 800, "ByNamespace", &[SCHEDULER], Requests::All),
    ("kube-system-service-accounts", "workload-high", 900, "ByNamespace", &[Subject::System], Requests::All),
    ("service-accounts", "workload-low", 9000, "ByUser", ACCOUNTS, Requests::All),
    ("global-default", "global-default", 9900, "ByUser", EVERYBODY, Requests::All),
    ("catch-all", "catch-all", 10000, "ByUser", EVERYBODY, Requests::All),
];

fn schemas() -> Vec<Value> {
    let all = SCHEMAS_OF_ALL.iter();
    all.map(|(name, level, precedence, flows, subjects, requests)| {
        let mut spec = Object::new();
        spec.insert("priorityLevelConfiguration", json!({"name": (*level)}));
        spec.insert("matchingPrecedence", *precedence);
        if !flows.is_empty() {
            spec.insert("distinguisherMethod", json!({"type": (*flows)}));
        }
        let mut rule = Object::new();
        let subjects = subjects.iter().map(|it| it.value());
        rule.insert("subjects", subjects.collect::<Value>());
        requests.add_to(&mut rule);
        spec.insert("rules", vec![Value::Object(rule)]);
        object("FlowSchema", name, spec.into())
    })
    .collect()
}

impl Subject {
    fn value(self) -> Value {
        match self {
            Self::Group(name) => json!({"kind": "Group", "group": {"name": name}}),
            Self::User(name) => json!({"kind": "User", "user": {"name": name}}),
            Self::System => json!({
                "kind": "ServiceAccount",
                "serviceAccount": {"namespace": "kube-system", "name": "*"},
            }),
        }
    }
}

impl Requests {
    fn add_to(self, rule: &mut Object) {
        let resources = |verbs: Value, group: &str, resources: Value, cluster: bool| {
            let mut rule = Object::new();
            rule.insert("verbs", verbs);
            rule.insert("apiGroups", json!([group]));
            rule.insert("resources", resources);
            if cluster {
                rule.insert("clusterScope", true);
            }
            rule.insert("namespaces", json!(["*"]));
            Value::Object(rule)
        };
        let leases = |verbs| resources(verbs, "coordination.k8s.io", json!(["leases"]), false);
        let (of_resources, of_paths) = match self {
            Self::All => (
                vec![resources(json!(["*"]), "*", json!(["*"]), true)],
                json!([{"verbs": ["*"], "nonResourceURLs": ["*"]}]),
            ),
            Self::Probes => (
                Vec::new(),
                json!([{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}]),
            ),
            Self::Leases => (
                vec![leases(json!(["get", "create", "update"]))],
                Value::Null,
            ),
            Self::Nodes => (
                vec![
                    resources(json!(["*"]), "", json!(["nodes", "nodes/status"]), true),
                    leases(json!(["*"])),
                ],
                Value::Null,
            ),
        };
        if !of_resources.is_empty() {
            rule.insert("resourceRules", of_resources);
        }
        if !of_paths.is_null() {
            rule.insert("nonResourceRules", of_paths);
        }
    }
}
