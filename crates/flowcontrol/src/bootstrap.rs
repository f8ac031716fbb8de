//! The objects that every cluster has: mandatory ones, which are kept as they are, and suggested ones, which are kept as
//! long as nobody wants them otherwise.

use crate::config::{CATCH_ALL, EXEMPT};
use json::{Object, Value, json};

/// `"true"`: the server keeps the object's spec as it is here.
pub const AUTO_UPDATE: &str = "apf.kubernetes.io/autoupdate-spec";
const API_VERSION: &str = "flowcontrol.apiserver.k8s.io/v1";

/// An object, and whether there must be one like it.
#[derive(Clone, Debug)]
pub struct DefaultObject {
    pub is_mandatory: bool,
    pub object: Value,
}

impl DefaultObject {
    pub fn name(&self) -> &str {
        self.object
            .str_at(&["metadata", "name"])
            .unwrap_or_default()
    }
}

/// Name, shares, lendable percent, and queues, hand size and length of a queue.
type Level = (&'static str, i64, i64, Option<(i64, i64, i64)>);

const LIMITED: [Level; 7] = [
    ("system", 30, 33, Some((64, 6, 50))),
    ("node-high", 40, 25, Some((64, 6, 50))),
    ("leader-election", 10, 0, Some((16, 4, 50))),
    ("workload-high", 40, 50, Some((128, 6, 50))),
    ("workload-low", 100, 90, Some((128, 6, 50))),
    ("global-default", 20, 50, Some((128, 6, 50))),
    (CATCH_ALL, 5, 0, None),
];

/// The `PriorityLevelConfigurations`.
pub fn priority_levels() -> Vec<DefaultObject> {
    let kind = "PriorityLevelConfiguration";
    let limited = LIMITED.iter().map(|(name, shares, lendable, queues)| {
        let response = match queues {
            None => json!({"type": "Reject"}),
            Some((queues, hand, length)) => json!({
                "type": "Queue",
                "queuing": {"queues": (*queues), "handSize": (*hand), "queueLengthLimit": (*length)},
            }),
        };
        let limited = json!({
            "nominalConcurrencyShares": (*shares),
            "limitResponse": response,
            "lendablePercent": (*lendable),
        });
        object(kind, name, json!({"type": "Limited", "limited": limited}))
    });
    let exempt = json!({
        "type": "Exempt",
        "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0},
    });
    limited.chain([object(kind, EXEMPT, exempt)]).collect()
}

fn object(kind: &str, name: &str, spec: Value) -> DefaultObject {
    let mut annotations = Object::new();
    annotations.insert(AUTO_UPDATE, "true");
    DefaultObject {
        is_mandatory: matches!(name, EXEMPT | CATCH_ALL),
        object: json!({
            "kind": kind,
            "apiVersion": API_VERSION,
            "metadata": {"name": name, "annotations": annotations},
            "spec": spec,
        }),
    }
}

/// Name, level, precedence, what tells flows apart, whose requests, and which of them.
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
    KubeSystem,
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
const LEADERS: &[Subject] = &[CONTROLLERS, SCHEDULER, Subject::KubeSystem];
const MASTERS: &[Subject] = &[Subject::Group("system:masters")];
const ACCOUNTS: &[Subject] = &[Subject::Group("system:serviceaccounts")];

#[rustfmt::skip]
const SCHEMAS: [Schema; 11] = [
    ("system-nodes", "system", 500, "ByUser", NODES, Requests::All),
    ("system-node-high", "node-high", 400, "ByUser", NODES, Requests::Nodes),
    ("probes", EXEMPT, 2, "", EVERYBODY, Requests::Probes),
    ("system-leader-election", "leader-election", 100, "ByUser", LEADERS, Requests::Leases),
    ("kube-controller-manager", "workload-high", 800, "ByNamespace", &[CONTROLLERS], Requests::All),
    ("kube-scheduler", "workload-high", 800, "ByNamespace", &[SCHEDULER], Requests::All),
    ("kube-system-service-accounts", "workload-high", 900, "ByNamespace", &[Subject::KubeSystem], Requests::All),
    ("service-accounts", "workload-low", 9000, "ByUser", ACCOUNTS, Requests::All),
    ("global-default", "global-default", 9900, "ByUser", EVERYBODY, Requests::All),
    (EXEMPT, EXEMPT, 1, "", MASTERS, Requests::All),
    (CATCH_ALL, CATCH_ALL, 10000, "ByUser", EVERYBODY, Requests::All),
];

/// The `FlowSchemas`.
pub fn flow_schemas() -> Vec<DefaultObject> {
    let all = SCHEMAS.iter();
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
            Self::KubeSystem => json!({
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Request, Resource, with_mandatory};
    use crate::config::{FlowSchema, PriorityLevel};

    #[test]
    fn all_levels_can_be_used_and_all_schemas_have_one() {
        let levels: Vec<_> = priority_levels()
            .iter()
            .map(|it| PriorityLevel::from_value(&it.object).unwrap().name)
            .collect();
        for schema in flow_schemas() {
            let schema = FlowSchema::from_value(&schema.object);
            assert!(levels.contains(&schema.priority_level), "{}", schema.name);
        }
        let mandatory = |all: Vec<DefaultObject>| {
            let all = all.into_iter().filter(|it| it.is_mandatory);
            all.map(|it| it.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(mandatory(priority_levels()), [CATCH_ALL, EXEMPT]);
        assert_eq!(mandatory(flow_schemas()), [EXEMPT, CATCH_ALL]);
    }

    /// User, groups, verb, resource, path, and the schema that is expected.
    type Case = (
        &'static str,
        &'static [&'static str],
        &'static str,
        Option<[&'static str; 4]>,
        &'static str,
        &'static str,
    );

    /// As Kubernetes' documentation says whom each is for.
    #[test]
    fn requests_go_where_upstream_sends_them() {
        let schemas = flow_schemas();
        let schemas = schemas.iter().map(|it| FlowSchema::from_value(&it.object));
        let schemas = with_mandatory(schemas.collect());
        let node = &["system:nodes", "system:authenticated"];
        let account = &["system:serviceaccounts", "system:authenticated"];
        let people = &["system:authenticated"];
        let pods = Some(["", "pods", "", "default"]);
        let leases = Some(["coordination.k8s.io", "leases", "", "kube-system"]);
        #[rustfmt::skip]
        let table: [Case; 14] = [
            ("admin", &["system:masters"], "delete", pods, "", "exempt"),
            ("anyone", &["system:unauthenticated"], "get", None, "/livez/ping", "probes"),
            ("anyone", &["system:unauthenticated"], "post", None, "/livez", "global-default"),
            ("anyone", people, "get", None, "/version", "global-default"),
            ("system:node:a", node, "update", Some(["", "nodes", "status", ""]), "", "system-node-high"),
            ("system:node:a", node, "update", leases, "", "system-node-high"),
            ("system:node:a", node, "list", pods, "", "system-nodes"),
            ("system:kube-scheduler", people, "update", leases, "", "system-leader-election"),
            ("system:kube-scheduler", people, "list", leases, "", "kube-scheduler"),
            ("system:kube-controller-manager", people, "list", pods, "", "kube-controller-manager"),
            ("system:serviceaccount:kube-system:gc", account, "get", pods, "", "kube-system-service-accounts"),
            ("system:serviceaccount:kube-system:gc", account, "get", leases, "", "system-leader-election"),
            ("system:serviceaccount:default:x", account, "get", pods, "", "service-accounts"),
            ("jane", &["dev"], "get", pods, "", "(none)"),
        ];
        for (user, groups, verb, resource, path, expected) in table {
            let groups: Vec<_> = groups.iter().map(|&it| it.to_owned()).collect();
            let request = Request {
                user,
                groups: &groups,
                verb,
                resource: resource.map(|[group, resource, subresource, namespace]| Resource {
                    group,
                    resource,
                    subresource,
                    namespace,
                }),
                path,
            };
            let found = schemas.iter().find(|it| it.matches(&request));
            assert_eq!(
                found.map_or("(none)", |it| &it.name),
                expected,
                "{user} {verb} {path}"
            );
        }
    }
}
