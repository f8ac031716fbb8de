//! Policies that change objects.

use std::sync::Arc;

use auth::User;
use auth::authorizer::AlwaysAllow;
use json::{Value, json};
use meta::Status;
use meta::gvk::{GroupVersionKind, GroupVersionResource};
use requires::requires;
use telemetry::metrics::{Format, Registry};

use super::cases::run;
use super::world::{Allows, World, written};
use crate::metrics::Metrics;
use crate::policy::expression::Bindings;
use crate::policy::mutating::{Refused, apply};
use crate::policy::mutator::Mutator;
use crate::policy::{GROUP, Matched, MutatingAdmissionPolicy, RequestAuthorizer, request};
use crate::versioned::Versioned;
use crate::{Admitting, Chain, Operation, Outcome, Plugin, Request};

#[requires(cel_cases)]
#[test]
fn mutating_policies() {
    run("map.jsonl", &[], mutate);
}

fn mutation(kind: &str, expression: Value) -> Value {
    if kind == "JSONPatch" {
        return json!({"patchType": kind, "jsonPatch": expression});
    }
    json!({"patchType": "ApplyConfiguration", "applyConfiguration": expression})
}

fn mutate(case: &Value) -> Result<(), String> {
    let null = Value::Null;
    let of = |key: &str| case.get(key).unwrap_or(&null);
    let variables = of("variables").as_object();
    let variables = variables.into_iter().flat_map(json::Object::iter);
    let variables: Vec<Value> = variables
        .map(|(name, it)| {
            json!({"name": (name.to_string()), "expression": (it.str_at(&["expression"]).unwrap())})
        })
        .collect();
    let patch = json!({"expression": (of("expression").clone())});
    let mutation = mutation(of("patch_type").as_str().unwrap(), patch);
    let spec = json!({
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "variables": variables, "mutations": [mutation],
    });
    // All are of this kind, though not all say so.
    let kind = GroupVersionKind::new("apps", "v1", "Deployment");
    let mut object = of("object").clone();
    let fields = object.as_object_mut().unwrap();
    let told = fields.contains_key("kind");
    fields.insert("apiVersion", "apps/v1");
    fields.insert("kind", "Deployment");
    let (world, user) = (World::default(), User::default());
    let resource = GroupVersionResource::new("apps", "v1", "deployments");
    let request = Request {
        operation: Operation::Create,
        kind: &kind,
        resource: &resource,
        subresource: "",
        namespace: "",
        name: "",
        user: &user,
        dry_run: false,
        options: &null,
        old: None,
        lookup: &world,
        kinds: &world,
        deadline: None,
    };
    let versioned = Versioned {
        request: &request,
        kind: kind.clone(),
        object: object.clone(),
        old: None,
    };
    let matched = Matched {
        resource: resource.clone(),
        kind: kind.clone(),
    };
    let value = request::request(&request, &matched);
    let authorizer = RequestAuthorizer::new(&AlwaysAllow, &user);
    let asked_for = cel::Attributes::default();
    let bindings = Bindings {
        params: of("params"),
        namespace: of("namespace_object"),
        authorizer: Some((&authorizer, &asked_for)),
        ..Bindings::new(&object, case.get("old_object"), &value)
    };
    let patched = Mutator::new(&spec).patch(0, &bindings);
    let patched = patched
        .map_err(Refused::Policy)
        .and_then(|patch| apply(&versioned, patch));
    match (patched, of("error").as_str()) {
        (Ok(mut object), None) => {
            let mut wanted = written(of("result").clone(), &kind);
            if !told {
                for object in [&mut object, &mut wanted] {
                    let fields = object.as_object_mut().unwrap();
                    fields.remove("apiVersion");
                    fields.remove("kind");
                }
            }
            if object == wanted {
                return Ok(());
            }
            Err(format!("{object}\n    wanted {wanted}"))
        }
        (Err(Refused::Policy(failure)), Some(wanted)) if failure.detail == wanted => Ok(()),
        (Err(Refused::Request(status)), Some(wanted)) if status.message == wanted => Ok(()),
        (Err(Refused::Policy(failure)), wanted) => {
            Err(format!("{}\n    wanted {wanted:?}", failure.detail))
        }
        (Err(Refused::Request(status)), wanted) => {
            Err(format!("{}\n    wanted {wanted:?}", status.message))
        }
        (Ok(object), Some(wanted)) => Err(format!("{object}\n    wanted error {wanted}")),
    }
}

/// Puts the label `plugin` on what has the label `first`, as a plugin before the policies.
#[derive(Debug)]
struct Labels;

impl Plugin for Labels {
    fn name(&self) -> &'static str {
        "Labels"
    }

    fn handles(&self, _: &Request<'_>) -> bool {
        true
    }

    fn admit<'a>(&'a self, _: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        let labels = admitting
            .object
            .get_mut("metadata")
            .and_then(|it| it.get_mut("labels"));
        if let Some(labels) = labels.and_then(Value::as_object_mut)
            && labels.contains_key("first")
        {
            labels.insert("plugin", "yes");
        }
        Outcome::Now(Ok(()))
    }
}

struct Server {
    world: World,
    chain: Chain,
    registry: Registry,
}

impl Server {
    fn new() -> Self {
        let registry = Registry::default();
        let metrics = Arc::new(Metrics::new(&registry));
        let world = World::default();
        world.put("", "namespaces", json!({"metadata": {"name": "demo"}}));
        let plugin = MutatingAdmissionPolicy::new(
            Arc::new(Allows::default()),
            metrics.clone(),
            Arc::default(),
        );
        Self {
            world,
            chain: Chain::new(vec![Box::new(Labels), Box::new(plugin)], metrics),
            registry,
        }
    }

    fn policy(&self, name: &str, reinvocation: &str, more: &Value, mutations: &[(&str, &str)]) {
        let mutations = mutations
            .iter()
            .map(|(kind, expression)| mutation(kind, json!({"expression": (*expression)})));
        let mutations: Vec<Value> = mutations.collect();
        let mut spec = json!({
            "failurePolicy": "Fail", "reinvocationPolicy": reinvocation, "mutations": mutations,
            "matchConstraints": {
                "namespaceSelector": {}, "objectSelector": {},
                "resourceRules": [{
                    "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"],
                }],
            },
        });
        let fields = spec.as_object_mut().unwrap();
        for (key, value) in more.as_object().unwrap().iter() {
            fields.insert(&**key, value.clone());
        }
        let policy = json!({"metadata": {"name": name}, "spec": spec});
        self.world.put(GROUP, "mutatingadmissionpolicies", policy);
        let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name}});
        self.world
            .put(GROUP, "mutatingadmissionpolicybindings", binding);
    }

    async fn create(&self) -> Result<Value, Status> {
        let kind = GroupVersionKind::new("apps", "v1", "Deployment");
        let resource = GroupVersionResource::new("apps", "v1", "deployments");
        let user = User::new("alice", &[]);
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
        let object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "demo"},
            "spec": {"replicas": 1},
        });
        let mut admitting = Admitting::new(object);
        self.chain.admit(&request, &mut admitting).await?;
        Ok(admitting.object)
    }

    async fn labels(&self) -> String {
        let object = self.create().await.unwrap();
        let labels = object
            .at(&["metadata", "labels"])
            .and_then(Value::as_object);
        let labels = labels.into_iter().flat_map(json::Object::iter);
        let labels: Vec<String> = labels
            .map(|(key, value)| format!("{key}={}", value.as_str().unwrap()))
            .collect();
        labels.join(",")
    }
}

fn label(name: &str, value: &str) -> String {
    format!("Object{{metadata: Object.metadata{{labels: {{'{name}': {value}}}}}}}")
}

#[tokio::test]
async fn each_policy_sees_what_those_before_it_made() {
    let server = Server::new();
    let apply = label("first", "request.userInfo.username");
    server.policy("a", "Never", &json!({}), &[("Apply", &apply)]);
    let patch = "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('x/y'), value: object.metadata.labels.first}]";
    let more = json!({"matchConditions": [{"name": "c", "expression": "object.metadata.labels.first == 'alice'"}]});
    server.policy("b", "Never", &more, &[("JSONPatch", patch)]);
    // The plugin before them sees the label in the second round.
    assert_eq!(server.labels().await, "first=alice,x/y=alice,plugin=yes");
    let text = telemetry::metrics::render(&server.registry, Format::accepted(""));
    let line = "apiserver_mutating_admission_policy_check_total{error_type=\"no_error\",policy=\"b\",policy_binding=\"b\"} 1";
    assert!(text.contains(line), "{text}");
}

#[tokio::test]
async fn policies_are_evaluated_again_if_they_ask_for_it() {
    for (reinvocation, expected) in [
        ("Never", "count=0,first=yes,plugin=yes"),
        // Its own label counts, and those of the other policy and the plugin.
        ("IfNeeded", "count=3,first=yes,plugin=yes"),
    ] {
        let server = Server::new();
        let count = label(
            "count",
            "string(object.?metadata.labels.orValue({}).size())",
        );
        server.policy("a", reinvocation, &json!({}), &[("Apply", &count)]);
        let first = label("first", "'yes'");
        server.policy("b", "Never", &json!({}), &[("Apply", &first)]);
        assert_eq!(server.labels().await, expected, "{reinvocation}");
    }
}

#[tokio::test]
async fn what_cannot_be_applied_counts_as_the_policy_says() {
    let server = Server::new();
    let wrong =
        "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'b'}}}}";
    server.policy("a", "Never", &json!({}), &[("Apply", wrong)]);
    let missing = label("x", "params.data.x");
    server.policy("b", "Never", &json!({}), &[("Apply", &missing)]);
    let status = server.create().await.unwrap_err();
    let first = "policy 'a' with binding 'a' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic \
                 arrays, maps or structs: .spec.selector";
    assert_eq!(status.message, first);
    assert_eq!((status.code, status.reason.as_str()), (403, "Invalid"));
    let causes = status.details.unwrap().causes;
    assert_eq!(causes.len(), 2);
    assert_eq!(causes[0].message, first);
    let second = "policy 'b' with binding 'b' denied request: compilation failed: ERROR: <input>:1:48: undeclared reference to 'params'";
    assert!(
        causes[1].message.starts_with(second),
        "{}",
        causes[1].message
    );
    let ignore = json!({"failurePolicy": "Ignore"});
    server.policy("a", "Never", &ignore, &[("Apply", wrong)]);
    server.policy("b", "Never", &ignore, &[("Apply", &missing)]);
    assert_eq!(server.labels().await, "");
    // An object that cannot be read is refused whatever the policy says.
    let unknown = "[JSONPatch{op: 'add', path: '/spec/unknown', value: 1}]";
    let ignore = json!({"failurePolicy": "Ignore"});
    server.policy("a", "Never", &ignore, &[("JSONPatch", unknown)]);
    let status = server.create().await.unwrap_err();
    let text = "Internal error occurred: strict decoding error: unknown field \"spec.unknown\"";
    assert_eq!((status.code, &*status.message), (500, text));
}

#[tokio::test]
async fn patches_that_grow_without_bound_are_refused() {
    let server = Server::new();
    // Each variable holds the one before it twice.
    let mut variables = vec![json!({"name": "v0", "expression": "['x', 'x']"})];
    for number in 1..40 {
        let expression = format!("[variables.v{0}, variables.v{0}]", number - 1);
        variables.push(json!({"name": (format!("v{number}")), "expression": expression}));
    }
    let more = json!({"variables": variables});
    let patch = "[JSONPatch{op: 'add', path: '/spec/template', value: variables.v39}]";
    server.policy("a", "Never", &more, &[("JSONPatch", patch)]);
    let status = server.create().await.unwrap_err();
    assert!(
        status.message.contains("too large or nested too deep"),
        "{}",
        status.message
    );
}
