//! Policies and bindings as objects, up to what a request is told.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use auth::User;
use json::{Value, json};
use meta::gvk::{GroupVersionKind, GroupVersionResource};
use meta::{Status, status::Reason};
use telemetry::metrics::{Format, Registry};

use super::world::{Allows, World};
use crate::metrics::Metrics;
use crate::policy::{GROUP, Manifests, StaticPolicies, ValidatingAdmissionPolicy};
use crate::{Admitting, Operation, Outcome, Plugin, Request};

const POLICIES: &str = "validatingadmissionpolicies";
const BINDINGS: &str = "validatingadmissionpolicybindings";

fn policy(name: &str, resource: &str, spec: Value) -> Value {
    let mut all = json!({
        "failurePolicy": "Fail",
        "matchConstraints": {
            "namespaceSelector": {}, "objectSelector": {}, "matchPolicy": "Equivalent",
            "resourceRules": [{
                "apiGroups": ["apps", "", GROUP], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource],
            }],
        },
    });
    let fields = all.as_object_mut().unwrap();
    let Value::Object(spec) = spec else {
        panic!("no object");
    };
    for (key, value) in spec {
        fields.insert(key, value);
    }
    json!({"metadata": {"name": name}, "spec": all})
}

fn binding(name: &str, policy: &str, actions: Value) -> Value {
    json!({"metadata": {"name": name}, "spec": {"policyName": policy, "validationActions": actions}})
}

struct Tried {
    result: Result<(), Status>,
    admitting: Admitting,
    /// Whether any policy could have meant the request.
    considered: bool,
}

struct Server {
    world: World,
    plugin: ValidatingAdmissionPolicy,
    registry: Registry,
    manifests: Arc<StaticPolicies>,
}

impl Server {
    fn new() -> Self {
        let registry = Registry::default();
        let metrics = Arc::new(Metrics::new(&registry));
        let world = World::default();
        let manifests = Arc::new(StaticPolicies::default());
        let namespace = json!({"metadata": {"name": "demo"}});
        world.put("", "namespaces", namespace);
        Self {
            world,
            plugin: ValidatingAdmissionPolicy::new(
                Arc::new(Allows::default()),
                metrics,
                manifests.clone(),
            ),
            registry,
            manifests,
        }
    }

    fn put(&self, resource: &str, object: Value) {
        self.world.put(GROUP, resource, object);
    }

    async fn create(&self, group: &str, version: &str, kind: &str, resource: &str) -> Tried {
        let kind = GroupVersionKind::new(group, version, kind);
        let resource = GroupVersionResource::new(group, version, resource);
        let user = User::new("alice", &[]);
        let object = json!({
            "apiVersion": (kind.api_version()), "kind": (&*kind.kind),
            "metadata": {"name": "web", "namespace": "demo"},
        });
        let request = Request {
            operation: Operation::Create,
            kind: &kind,
            resource: &resource,
            subresource: "",
            namespace: "demo",
            name: "web",
            user: &user,
            dry_run: false,
            options: &json!({}),
            old: None,
            lookup: &self.world,
            kinds: &self.world,
            deadline: None,
        };
        let mut admitting = Admitting::new(object);
        if !self.plugin.handles(&request) {
            return Tried {
                result: Ok(()),
                admitting,
                considered: false,
            };
        }
        let mut considered = true;
        let result = match self.plugin.validate(&request, &mut admitting) {
            Outcome::Nothing => {
                considered = false;
                Ok(())
            }
            Outcome::Now(result) => result,
            Outcome::Later(result) => result.await,
        };
        Tried {
            result,
            admitting,
            considered,
        }
    }

    async fn deploy(&self) -> Tried {
        self.create("apps", "v1", "Deployment", "deployments").await
    }
}

#[tokio::test]
async fn policies_from_files_come_first_and_judge_policies_too() {
    let server = Server::new();
    let deny =
        |message: &str| json!({"validations": [{"expression": "false", "message": message}]});
    server.put(POLICIES, policy("a", "deployments", deny("of the API")));
    server.put(BINDINGS, binding("a", "a", json!(["Deny"])));
    let name = "z.static.k8s.io";
    let objects = |resource: &str| Manifests {
        policies: vec![policy(name, resource, deny("of a file"))],
        bindings: vec![binding(name, name, json!(["Deny"]))],
    };
    server.manifests.replace(objects("deployments"));
    let refused = server.deploy().await.result.unwrap_err();
    assert!(
        refused.message.ends_with("denied request: of a file"),
        "{}",
        refused.message
    );
    let policies = "validatingadmissionpolicies";
    let kind = "ValidatingAdmissionPolicy";
    assert!(!server.create(GROUP, "v1", kind, policies).await.considered);
    server.manifests.replace(objects("*"));
    let refused = server.create(GROUP, "v1", kind, policies).await.result;
    assert!(
        refused
            .unwrap_err()
            .message
            .ends_with("denied request: of a file")
    );
    server.manifests.replace(Manifests::default());
    let refused = server.deploy().await.result.unwrap_err();
    assert!(refused.message.ends_with("denied request: of the API"));
}

#[tokio::test]
async fn a_policy_that_cannot_be_read_refuses_all_but_its_repair() {
    let server = Server::new();
    // It is listed, and not found by its name.
    server.put(
        POLICIES,
        json!({"metadata": {"name": "a", "namespace": "unreadable"}, "spec": {}}),
    );
    server.put(BINDINGS, binding("a", "a", json!(["Deny"])));
    for _ in 0..2 {
        let refused = server.deploy().await.result.unwrap_err();
        let text = "deployments.apps \"web\" is forbidden: not yet ready to handle request";
        assert_eq!(refused.message, text);
    }
    let kind = "ValidatingAdmissionPolicy";
    let repair = server
        .create(GROUP, "v1", kind, "validatingadmissionpolicies")
        .await;
    assert!(repair.result.is_ok());
    server.world.remove(POLICIES, "a");
    assert!(server.deploy().await.result.is_ok());
}

#[tokio::test]
async fn policies_that_name_other_resources_are_not_looked_at() {
    let server = Server::new();
    for number in 0..200 {
        let name = format!("p{number}");
        let spec = json!({"validations": [{"expression": "false"}]});
        server.put(POLICIES, policy(&name, &format!("others{number}"), spec));
        server.put(BINDINGS, binding(&name, &name, json!(["Deny"])));
    }
    let first = server.deploy().await;
    assert!(first.result.is_ok() && !first.considered);
    let reads = server.world.reads.load(Ordering::Relaxed);
    assert!(!server.deploy().await.considered);
    assert_eq!(server.world.reads.load(Ordering::Relaxed), reads);
    // One change, one object that is read.
    let spec = json!({"validations": [{"expression": "false"}]});
    server.put(POLICIES, policy("p7", "deployments", spec));
    let tried = server.deploy().await;
    assert!(tried.considered && tried.result.is_err());
    let now = server.world.reads.load(Ordering::Relaxed);
    // And the namespace.
    assert_eq!(now, reads + 2);
    server.world.remove(BINDINGS, "p7");
    assert!(!server.deploy().await.considered);
}

#[tokio::test]
async fn each_way_to_name_a_resource_is_found() {
    for (groups, resources, operations, expected) in [
        (
            json!(["apps"]),
            json!(["deployments"]),
            json!(["CREATE"]),
            true,
        ),
        (json!(["apps"]), json!(["*"]), json!(["*"]), true),
        (json!(["*"]), json!(["*"]), json!(["CREATE"]), true),
        (json!(["*"]), json!(["*/*"]), json!(["CREATE"]), true),
        (json!(["extensions"]), json!(["*"]), json!(["CREATE"]), true),
        (
            json!(["extensions"]),
            json!(["deployments"]),
            json!(["CREATE"]),
            true,
        ),
        (json!(["batch"]), json!(["*"]), json!(["CREATE"]), false),
        (
            json!(["apps"]),
            json!(["deployments"]),
            json!(["UPDATE"]),
            false,
        ),
        (
            json!(["apps"]),
            json!(["deployments/scale"]),
            json!(["CREATE"]),
            false,
        ),
    ] {
        let server = Server::new();
        let spec = json!({
            "matchConstraints": {
                "namespaceSelector": {}, "objectSelector": {}, "matchPolicy": "Equivalent",
                "resourceRules": [{
                    "apiGroups": (groups.clone()), "apiVersions": ["*"], "operations": operations,
                    "resources": (resources.clone()),
                }],
            },
            "validations": [{"expression": "false"}],
        });
        server.put(POLICIES, policy("p", "", spec));
        server.put(BINDINGS, binding("b", "p", json!(["Deny"])));
        let denied = server.deploy().await.result.is_err();
        assert_eq!(denied, expected, "{groups} {resources}");
    }
}

#[tokio::test]
async fn the_first_denial_is_told_and_all_is_audited() {
    let server = Server::new();
    let spec = json!({
        "validations": [
            {"expression": "true"},
            {"expression": "object.metadata.name == 'x'", "message": " first ", "reason": "RequestEntityTooLarge"},
            {"expression": "false", "message": "second"},
        ],
        "auditAnnotations": [
            {"key": "who", "valueExpression": "request.userInfo.username"},
            {"key": "none", "valueExpression": "null"},
        ],
    });
    server.put(POLICIES, policy("p", "deployments", spec));
    server.put(BINDINGS, binding("b1", "p", json!(["Deny", "Audit"])));
    server.put(BINDINGS, binding("b2", "p", json!(["Warn"])));
    let tried = server.deploy().await;
    let status = tried.result.unwrap_err();
    assert_eq!(status.code, 413);
    assert_eq!(status.reason, Reason::RequestEntityTooLarge);
    let text = "ValidatingAdmissionPolicy 'p' with binding 'b1' denied request: first";
    let full = format!("deployments.apps \"web\" is forbidden: {text}");
    assert_eq!(status.message, full);
    assert_eq!(status.details.unwrap().causes[0].message, text);
    let failures = "[{\"message\":\"first\",\"policy\":\"p\",\"binding\":\"b1\",\"expressionIndex\":1,\"validationActions\":[\"Deny\",\"Audit\"]},\
                    {\"message\":\"second\",\"policy\":\"p\",\"binding\":\"b1\",\"expressionIndex\":2,\"validationActions\":[\"Deny\",\"Audit\"]}]";
    assert_eq!(
        tried.admitting.audit_annotations,
        [
            ("p/who".to_owned(), "alice".to_owned()),
            (
                "validation.policy.admission.k8s.io/validation_failure".to_owned(),
                failures.to_owned()
            ),
        ]
    );
    let warning = |text| {
        format!("Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b2': {text}")
    };
    assert_eq!(
        tried.admitting.warnings,
        [warning("first"), warning("second")]
    );
    let text = telemetry::metrics::render(&server.registry, Format::accepted(""));
    for (action, binding) in [("deny", "b1"), ("audit", "b1"), ("warn", "b2")] {
        let line = format!(
            "apiserver_validating_admission_policy_check_total{{enforcement_action=\"{action}\",error_type=\"invalid_error\",policy=\"p\",\
             policy_binding=\"{binding}\"}} 2"
        );
        assert!(text.contains(&line), "{text}");
    }
}

#[tokio::test]
async fn conditions_leave_a_policy_out_or_fail() {
    let server = Server::new();
    for (conditions, expected) in [
        (json!(["true"]), "failed expression: false"),
        (json!(["true", "object.x == 1", "false"]), ""),
        (
            json!(["object.x == 1", "object.y == 1"]),
            "[expression 'object.x == 1' resulted in error: no such key: x, expression 'object.y == 1' resulted in error: no such key: y]",
        ),
        (
            json!(["namespaceObject.metadata.name == 'demo'"]),
            "expression 'namespaceObject.metadata.name == 'demo'' resulted in error: no such key: metadata",
        ),
        (json!(["variables.yes"]), "failed expression: false"),
    ] {
        let all = conditions.as_array().unwrap().iter().enumerate();
        let all: Vec<Value> = all
            .map(|(number, it)| json!({"name": (format!("c{number}")), "expression": (it.clone())}))
            .collect();
        let spec = json!({
            "variables": [{"name": "yes", "expression": "true"}],
            "matchConditions": all,
            "validations": [{"expression": "false"}],
        });
        server.put(POLICIES, policy("p", "deployments", spec));
        server.put(BINDINGS, binding("b", "p", json!(["Deny"])));
        let message = match server.deploy().await.result {
            Ok(()) => String::new(),
            Err(status) => status.message,
        };
        assert!(
            message.ends_with(expected) && message.is_empty() == expected.is_empty(),
            "{conditions}: {message}"
        );
    }
}

#[tokio::test]
async fn variables_are_evaluated_once_and_do_not_recurse_without_bound() {
    let server = Server::new();
    let mut variables = vec![json!({"name": "v0", "expression": "1"})];
    for number in 1..2000 {
        let expression = format!("variables.v{} + 1", number - 1);
        variables.push(json!({"name": (format!("v{number}")), "expression": expression}));
    }
    let spec = json!({
        "variables": variables,
        "validations": [{"expression": "variables.v30 == 31"}, {"expression": "variables.v1999 == 2000"}],
    });
    server.put(POLICIES, policy("p", "deployments", spec));
    server.put(BINDINGS, binding("b", "p", json!(["Deny"])));
    let message = server.deploy().await.result.unwrap_err().message;
    assert!(
        message.contains("variables that depend on one another are nested too deep"),
        "{message}"
    );
    assert!(
        message.contains("expression 'variables.v1999 == 2000'"),
        "{message}"
    );
}

#[test]
fn deep_variables_that_read_deep_variables_fit_on_the_stack() {
    let size = if cfg!(debug_assertions) {
        32 << 20
    } else {
        2 << 20
    };
    let thread = std::thread::Builder::new().stack_size(size);
    let thread = thread.spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(nested());
    });
    thread.unwrap().join().unwrap();
}

async fn nested() {
    let server = Server::new();
    let depth = 120;
    let deep = |inner: &str| format!("{}{inner}{}", "(1 + ".repeat(depth), ")".repeat(depth));
    let mut variables = vec![json!({"name": "v0", "expression": "1"})];
    for number in 1..80 {
        let expression = deep(&format!("variables.v{}", number - 1));
        variables.push(json!({"name": (format!("v{number}")), "expression": expression}));
    }
    let spec =
        json!({"variables": variables, "validations": [{"expression": "variables.v79 == 0"}]});
    server.put(POLICIES, policy("p", "deployments", spec));
    server.put(BINDINGS, binding("b", "p", json!(["Deny"])));
    let message = server.deploy().await.result.unwrap_err().message;
    assert!(message.contains("composited variable"), "{message}");
}

#[tokio::test]
async fn a_budget_bounds_what_all_validations_cost() {
    let server = Server::new();
    // Each costs about 350,000 of 10,000,000.
    let check = "authorizer.group('').resource('pods').check('get').allowed() == false";
    let all: Vec<Value> = (0..40).map(|_| json!({"expression": check})).collect();
    let spec = json!({"validations": all});
    server.put(POLICIES, policy("p", "deployments", spec));
    server.put(BINDINGS, binding("b", "p", json!(["Deny"])));
    let message = server.deploy().await.result.unwrap_err().message;
    let text = "denied request: validation failed due to running out of cost budget, no further validation rules will be run";
    assert!(message.ends_with(text), "{message}");
}
