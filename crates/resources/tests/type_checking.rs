//! What Kubernetes 1.37 warns of, extracted as data: `../shared/cases/cel` beside the workspace.

use std::fs;
use std::path::Path;

use json::{Value, json};
use meta::gvk::GroupVersionKind;
use requires::requires;
use resources::type_checking::{check, kinds, schema_in};

fn kind(text: &str) -> GroupVersionKind {
    let (version, kind) = text.split_once(", Kind=").expect("a kind");
    GroupVersionKind::parse(version, kind).expect("a version")
}

#[requires(cel_cases)]
#[test]
fn cases() {
    let file = "../../../shared/cases/cel/k8s/typecheck.jsonl";
    let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("cases");
    let lines = text.split(|it| *it == b'\n').filter(|it| !it.is_empty());
    let cases: Vec<Value> = lines.map(|it| json::parse(it).expect("JSON")).collect();
    assert_eq!(cases.len(), 17);
    for case in cases {
        let policy = case.get("policy").expect("a policy");
        let types = case.get("types_to_check").and_then(Value::as_array);
        let types: Vec<_> = types
            .into_iter()
            .flatten()
            .filter_map(|it| Some(kind(it.as_str()?)))
            .collect();
        let schema = |it: &GroupVersionKind| case.get("schemas")?.get(&it.to_string()).cloned();
        let warnings = check(policy, &types, schema);
        let expected = case.get("warnings").and_then(Value::as_array);
        assert_eq!(warnings, expected.cloned().unwrap_or_default(), "{policy}");
    }
}

#[test]
fn kinds_of_rules() {
    let rule = |groups: Value, resources: Value| json!({"apiGroups": groups, "apiVersions": ["v1"], "resources": resources});
    let policy = json!({"spec": {"matchConstraints": {"resourceRules": [
        (rule(json!(["apps"]), json!(["deployments", "deployments/scale", "*", "unknown"]))),
        (rule(json!(["*"]), json!(["pods"]))),
        (rule(json!([""]), json!(["pods"]))),
    ]}}});
    let found = kinds(&policy, |group, version, resource| {
        let kind = match resource {
            "deployments" => "Deployment",
            "pods" => "Pod",
            _ => return None,
        };
        Some(GroupVersionKind::new(group, version, kind))
    });
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["/v1, Kind=Pod", "apps/v1, Kind=Deployment"]);
}

#[test]
fn references_are_followed_and_circles_end() {
    let document = json!({"components": {"schemas": {
        "a": {
            "type": "object", "description": "text",
            "properties": {
                "b": {"allOf": [{"$ref": "#/components/schemas/b"}], "default": {}},
                "self": {"$ref": "#/components/schemas/a"},
            },
            "x-kubernetes-group-version-kind": [{"group": "g", "version": "v1", "kind": "A"}],
        },
        "b": {"type": "array", "items": {"$ref": "#/components/schemas/c"}},
        "c": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/c"}},
    }}});
    let schema = schema_in(&document, &GroupVersionKind::new("g", "v1", "A")).unwrap();
    assert_eq!(
        schema.get("properties"),
        Some(&json!({
            "b": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "object"}}},
            "self": {"type": "object"},
        }))
    );
    assert!(schema_in(&document, &GroupVersionKind::new("g", "v1", "B")).is_none());
}
