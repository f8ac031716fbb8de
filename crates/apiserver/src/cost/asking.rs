//! The admission plugins that look other objects up, or ask somebody outside.

use std::sync::Arc;

use admission::webhook::{Caller, MutatingAdmissionWebhook, ValidatingAdmissionWebhook};
use admission::{
    Admitting, Lookup, NodeRestriction, Operation, Outcome, Plugin, Request, ServiceAccount,
};
use auth::authorizer::{Authorizer, Union};
use auth::{Rbac, User};
use json::{Value, json};
use meta::gvk::{GroupVersionKind, GroupVersionResource};
use telemetry::metrics::Registry;

use super::admission::Others;
use super::measure::{Report, TIMES};
use crate::runtime::random;

const SMALL: usize = 250;

fn many(count: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..count).map(item).collect()
}

/// An account that names many secrets, and webhooks that choose objects by many labels.
#[derive(Debug)]
struct Stored(usize);

impl Lookup for Stored {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        let names = || many(self.0, |it| json!({"name": (format!("s-{it}"))}));
        match resource {
            "serviceaccounts" => Some(json!({
                "metadata": {"name": name, "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}},
                "secrets": (names()),
                "imagePullSecrets": (names()),
            })),
            "nodes" | "pods" => Some(json!({"metadata": {"name": name, "uid": "uid"}})),
            _ => Others.get(group, resource, namespace, name),
        }
    }

    fn list(&self, group: &str, resource: &str, namespace: &str) -> Vec<Value> {
        if !resource.ends_with("webhookconfigurations") {
            return Others.list(group, resource, namespace);
        }
        let expressions = many(
            self.0,
            |it| json!({"key": (format!("l-{it}")), "operator": "Exists"}),
        );
        let rule = json!({
            "apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"], "scope": "*",
        });
        // Nobody listens there.
        let hook = json!({
            "name": "hook.example.com",
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "rules": [rule],
            "objectSelector": {"matchExpressions": expressions},
            "namespaceSelector": {},
            "failurePolicy": "Ignore",
            "matchPolicy": "Exact",
            "sideEffects": "None",
            "timeoutSeconds": 1,
            "admissionReviewVersions": ["v1"],
        });
        vec![json!({"metadata": {"name": "hooks"}, "webhooks": [hook]})]
    }

    fn stamp(&self, _: &str, _: &str) -> u64 {
        1
    }

    fn versions(&self, _: &str, _: &str) -> Vec<(String, u64)> {
        Vec::new()
    }
}

struct Input {
    stored: Stored,
    kind: GroupVersionKind,
    resource: GroupVersionResource,
    object: Value,
    old: Value,
}

fn shape(name: &str, count: usize) -> Input {
    let secret = |it: usize| format!("s-{}", count - 1 - it);
    let labels = |prefix: &str| {
        let pairs = (0..count).map(|it| (format!("{prefix}-{it}"), Value::from("v")));
        Value::Object(pairs.collect())
    };
    let pod =
        |spec: Value| json!({"metadata": {"name": "a", "namespace": "default"}, "spec": spec});
    let with = |field: &str, items: Value| {
        let mut container: json::Object = [("name", "c"), ("image", "i")].into_iter().collect();
        container.insert(field, items);
        pod(json!({"serviceAccountName": "sa", "containers": [(Value::from(container))]}))
    };
    let (kind, resource, object) = match name {
        "secrets of variables" => {
            let env = many(count, |it| {
                let reference = json!({"secretKeyRef": {"name": (secret(it)), "key": "k"}});
                json!({"name": (format!("v{it}")), "valueFrom": reference})
            });
            ("Pod", "pods", with("env", env))
        }
        "secrets with variables" => {
            let from = many(count, |it| json!({"secretRef": {"name": (secret(it))}}));
            ("Pod", "pods", with("envFrom", from))
        }
        "secrets as volumes" => {
            let volumes = many(
                count,
                |it| json!({"name": (format!("v{it}")), "secret": {"secretName": (secret(it))}}),
            );
            let spec = json!({"serviceAccountName": "sa", "containers": [], "volumes": volumes});
            ("Pod", "pods", pod(spec))
        }
        "secrets for images" => {
            let pull = many(count, |it| json!({"name": (secret(it))}));
            let spec =
                json!({"serviceAccountName": "sa", "containers": [], "imagePullSecrets": pull});
            ("Pod", "pods", pod(spec))
        }
        "containers" => {
            let containers = many(
                count,
                |it| json!({"name": (format!("c{it}")), "image": "i"}),
            );
            let spec =
                json!({"serviceAccountName": "sa", "containers": containers, "nodeName": "a"});
            ("Pod", "pods", pod(spec))
        }
        "mounts" => {
            let mounts = many(
                count,
                |it| json!({"name": "v", "mountPath": (format!("/m{it}"))}),
            );
            ("Pod", "pods", with("volumeMounts", mounts))
        }
        "labels" => {
            let metadata = json!({"name": "a", "namespace": "default", "labels": (labels("l"))});
            let object = json!({"metadata": metadata, "spec": {"serviceAccountName": "sa", "containers": []}});
            ("Pod", "pods", object)
        }
        "labels of a node" => {
            let metadata =
                json!({"name": "a", "labels": (labels("node-restriction.kubernetes.io/l"))});
            ("Node", "nodes", json!({"metadata": metadata}))
        }
        _ => {
            let taints = many(
                count,
                |it| json!({"key": (format!("t{it}")), "effect": "NoSchedule"}),
            );
            let node = json!({"metadata": {"name": "a"}, "spec": {"taints": taints}});
            ("Node", "nodes", node)
        }
    };
    let mut old = object.clone();
    if let Some(labels) = old.at_mut(&["metadata", "labels"]) {
        *labels = json!({});
    }
    Input {
        stored: Stored(count),
        kind: GroupVersionKind::new("", "v1", kind),
        resource: GroupVersionResource {
            group: String::new(),
            version: "v1".to_owned(),
            resource: resource.to_owned(),
        },
        object,
        old,
    }
}

/// Both phases of a plugin, on create and on update.
fn run(runtime: &tokio::runtime::Runtime, plugin: &dyn Plugin, user: &User, input: &Input) {
    let options = json!({});
    let mut admitting = Admitting::new(input.object.clone());
    for operation in [Operation::Create, Operation::Update] {
        let request = Request {
            operation,
            kind: &input.kind,
            resource: &input.resource,
            subresource: "",
            namespace: "default",
            name: "a",
            user,
            dry_run: false,
            options: &options,
            old: (operation == Operation::Update).then_some(&input.old),
            lookup: &input.stored,
            kinds: &Others,
            deadline: None,
        };
        if !plugin.handles(&request) {
            continue;
        }
        if let Outcome::Later(later) = plugin.admit(&request, &mut admitting) {
            drop(runtime.block_on(later));
        }
        if let Outcome::Later(later) = plugin.validate(&request, &mut admitting) {
            drop(runtime.block_on(later));
        }
    }
}

#[test]
fn plugins_that_ask_others() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let modes: [(&str, Arc<dyn Authorizer>); 1] = [("RBAC", Arc::new(Rbac::new()))];
    let authorizer: Arc<dyn Authorizer> = Arc::new(Union::new(modes));
    let caller = || Caller {
        targets: Arc::default(),
        random: random::number,
        authorizer: authorizer.clone(),
        metrics: Arc::new(admission::Metrics::new(&Registry::default())),
    };
    let node = User::new("system:node:a", &["system:nodes"]);
    let somebody = User::new("somebody", &[]);
    let mut report = Report::default();
    for name in [
        "secrets of variables",
        "secrets with variables",
        "secrets as volumes",
        "secrets for images",
        "containers",
        "mounts",
        "labels",
        "labels of a node",
        "taints of a node",
    ] {
        let inputs = (shape(name, SMALL), shape(name, SMALL * TIMES as usize));
        let large = &inputs.1;
        let account = large.stored.get("", "serviceaccounts", "default", "sa");
        // The object, what it is changed from, and what is looked up for it.
        let size = [&large.object, &large.old, &account.unwrap_or_default()]
            .map(|it| json::to_vec(it).len())
            .iter()
            .sum();
        let mut step = |plugin: &str, user: &User, make: &dyn Fn() -> Box<dyn Plugin>| {
            let name = format!("{plugin}, {name}");
            report.step(&name, (&inputs.0, &inputs.1), size, |input| {
                run(&runtime, &*make(), user, input);
            });
        };
        step("ServiceAccount", &somebody, &|| {
            Box::new(ServiceAccount {
                random: random::number,
            })
        });
        step("NodeRestriction", &node, &|| {
            Box::new(NodeRestriction(authorizer.clone()))
        });
        step("MutatingAdmissionWebhook", &somebody, &|| {
            Box::new(MutatingAdmissionWebhook::new(caller()))
        });
        step("ValidatingAdmissionWebhook", &somebody, &|| {
            Box::new(ValidatingAdmissionWebhook::new(caller()))
        });
    }
    report.judge(36);
}
