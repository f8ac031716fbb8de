//! Mutating admission policies.

use std::sync::Arc;

use admission::Chain;
use admission::policy::{MutatingAdmissionPolicy, ValidatingAdmissionPolicy};
use json::{Value, json};

use crate::fixture::Fixture;

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/n/configmaps";

async fn fixture() -> Fixture {
    let fixture = Fixture::with(|config| {
        let metrics = Arc::new(admission::Metrics::new(&config.metrics));
        let authorizer = &config.authorizer;
        let mutating =
            MutatingAdmissionPolicy::new(authorizer.clone(), metrics.clone(), Arc::default());
        let validating =
            ValidatingAdmissionPolicy::new(authorizer.clone(), metrics.clone(), Arc::default());
        config.admission = Chain::new(vec![Box::new(mutating), Box::new(validating)], metrics);
    });
    let namespace = json!({"metadata": {"name": "n", "labels": {"team": "a"}}});
    let made = fixture.admin.create("/api/v1/namespaces", &namespace).await;
    made.unwrap();
    fixture
}

/// A policy with one mutation for a resource, and its binding.
async fn put(fixture: &Fixture, name: &str, resource: [&str; 2], mutation: Value, more: Value) {
    let [group, plural] = resource;
    let mut spec = json!({
        "reinvocationPolicy": "Never",
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [plural],
        }]},
        "mutations": [mutation],
    });
    let mut binding = json!({"policyName": name});
    for (key, value) in more.as_object().unwrap().iter() {
        let fields = if **key == *"paramRef" {
            &mut binding
        } else {
            &mut spec
        };
        fields
            .as_object_mut()
            .unwrap()
            .insert(&**key, value.clone());
    }
    let path = format!("{GROUP}/mutatingadmissionpolicies");
    let policy = json!({"metadata": {"name": name}, "spec": spec});
    fixture.admin.create(&path, &policy).await.unwrap();
    let path = format!("{GROUP}/mutatingadmissionpolicybindings");
    let binding = json!({"metadata": {"name": name}, "spec": binding});
    fixture.admin.create(&path, &binding).await.unwrap();
}

fn apply(expression: &str) -> Value {
    json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
}

fn patch(expression: &str) -> Value {
    json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
}

#[tokio::test]
async fn objects_are_changed_before_they_are_stored() {
    let fixture = fixture().await;
    let admin = &fixture.admin;
    let team =
        "Object{metadata: Object.metadata{labels: {'team': namespaceObject.metadata.labels.team}}}";
    put(&fixture, "team", ["", "configmaps"], apply(team), json!({})).await;
    let data = "has(object.data) ? [JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a.b'), value: request.operation}] \
                : [JSONPatch{op: 'add', path: '/data', value: {'a.b': 'none'}}]";
    put(&fixture, "data", ["", "configmaps"], patch(data), json!({})).await;
    let made = admin
        .create(
            MAPS,
            &json!({"metadata": {"name": "m", "labels": {"own": "x"}}}),
        )
        .await
        .unwrap();
    assert_eq!(
        made.at(&["metadata", "labels"]),
        Some(&json!({"own": "x", "team": "a"}))
    );
    assert_eq!(made.get("data"), Some(&json!({"a.b": "none"})));
    let path = format!("{MAPS}/m");
    let change = json!({"metadata": {"labels": {"team": "b"}}});
    let changed = admin.merge_patch(&path, &change).await.unwrap();
    assert_eq!(
        changed.at(&["metadata", "labels"]),
        Some(&json!({"own": "x", "team": "a"}))
    );
    assert_eq!(changed.get("data"), Some(&json!({"a.b": "UPDATE"})));
    assert_eq!(admin.get(&path).await.unwrap(), changed);
    // What a policy set is nobody's.
    let owners = json::to_string(changed.at(&["metadata", "managedFields"]).unwrap());
    assert!(!owners.contains("f:data"), "{owners}");
    let dry = format!("{MAPS}?dryRun=All");
    let made = admin
        .create(&dry, &json!({"metadata": {"name": "dry"}}))
        .await
        .unwrap();
    assert_eq!(made.get("data"), Some(&json!({"a.b": "none"})));
    assert!(admin.get(&format!("{MAPS}/dry")).await.is_err());
}

#[tokio::test]
async fn custom_objects_are_merged_by_their_schema() {
    let fixture = fixture().await;
    let schema = json!({"type": "object", "properties": {
        "size": {"type": "integer"},
        "parts": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "weight": {"type": "integer"},
            }},
        },
        "whole": {"type": "array", "items": {"type": "string"}},
    }});
    fixture
        .define("widgets", "Widget", "Namespaced", schema)
        .await;
    let expression = "Object{spec: Object.spec{size: int(params.data.size), parts: [Object.spec.parts{name: 'b', weight: 2}]}}";
    let more = json!({
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "paramRef": {"name": "sizes", "parameterNotFoundAction": "Deny"},
    });
    put(
        &fixture,
        "widgets",
        ["example.com", "widgets"],
        apply(expression),
        more,
    )
    .await;
    let widgets = "/apis/example.com/v1/namespaces/n/widgets";
    let widget = |name: &str| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name},
            "spec": {"parts": [{"name": "a", "weight": 1}, {"name": "b", "weight": 1}]},
        })
    };
    let admin = &fixture.admin;
    let status = admin.create(widgets, &widget("w")).await.unwrap_err();
    assert_eq!(
        status.message,
        "policy 'widgets' with binding 'widgets' denied request: failed to configure binding: no params found for policy binding with \
         `Deny` parameterNotFoundAction"
    );
    assert_eq!((status.code, status.reason.as_str()), (403, "Forbidden"));
    let sizes = json!({"metadata": {"name": "sizes"}, "data": {"size": "7"}});
    admin.create(MAPS, &sizes).await.unwrap();
    let made = admin.create(widgets, &widget("w")).await.unwrap();
    assert_eq!(
        made.get("spec"),
        Some(
            &json!({"parts": [{"name": "a", "weight": 1}, {"name": "b", "weight": 2}], "size": 7})
        )
    );
    // Lists without keys are owned as a whole.
    let whole = apply("Object{spec: Object.spec{whole: ['x']}}");
    put(
        &fixture,
        "whole",
        ["example.com", "widgets"],
        whole,
        json!({}),
    )
    .await;
    let status = admin.create(widgets, &widget("v")).await.unwrap_err();
    assert_eq!(
        status.message,
        "policy 'whole' with binding 'whole' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic \
         arrays, maps or structs: .spec.whole"
    );
}
