//! Definitions of custom resources.

use json::{Object, Value, json};
use testkit::server::Server;

use super::refused;

#[tokio::test]
async fn definitions_are_looked_at() {
    let server = Server::start().await;
    let local = server.local();
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = |property: Value, fields: Value| {
        json!({
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "selectableFields": fields,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": property}}}}},
                }],
            },
        })
    };
    let at = "spec.validation.openAPIV3Schema.properties[spec].properties[a]";
    let text = json!({"type": "string"});
    let cases = [
        (
            definition(json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}), json!([])),
            format!("{at}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set"),
        ),
        // Not structural, but that is not what is wrong with it.
        (
            definition(json!({"$ref": "#/x"}), json!([])),
            format!("{at}.$ref: Forbidden: $ref is not supported"),
        ),
        (
            definition(text.clone(), json!([{"jsonPath": ".spec.b"}])),
            "spec.selectableFields[0].jsonPath: Invalid value: \".spec.b\": is an invalid path: does not refer to a valid field".to_owned(),
        ),
        (
            definition(text.clone(), json!([{"jsonPath": ".spec.a"}, {"jsonPath": ".spec.a"}, {"jsonPath": ".spec"}])),
            "[spec.selectableFields[1].jsonPath: Duplicate value: \".spec.a\", spec.selectableFields[2].jsonPath: Invalid value: \".spec\": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.]".to_owned(),
        ),
    ];
    for (object, why) in cases {
        let text = format!(
            "CustomResourceDefinition.apiextensions.k8s.io \"things.example.com\" is invalid: {why}"
        );
        refused(local.create(definitions, &object).await, 422, &text);
    }
    let fine = definition(text, json!([{"jsonPath": ".spec.a"}]));
    local.create(definitions, &fine).await.unwrap();
}

/// Else whoever may define kinds could take over the server's own.
#[tokio::test]
async fn the_servers_own_versions_cannot_be_shadowed() {
    let server = Server::start().await;
    let local = server.local();
    let group = "networking.k8s.io";
    for (plural, kind, version) in [
        ("networkpolicies", "NetworkPolicy", "v1"),
        ("foos", "Foo", "v1"),
        ("bars", "Bar", "v7"),
    ] {
        let mut annotations = Object::new();
        annotations.insert("api-approved.kubernetes.io", "unapproved, a test");
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        let definition = json!({
            "metadata": {"name": (format!("{plural}.{group}")), "annotations": annotations},
            "spec": {
                "group": group, "scope": "Cluster", "names": {"plural": plural, "kind": kind},
                "versions": [{"name": version, "served": true, "storage": true, "schema": schema}],
            },
        });
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        local.create(definitions, &definition).await.unwrap();
    }
    let path = format!("/apis/{group}/v1/namespaces/default/networkpolicies");
    let policy = json!({"metadata": {"name": "p"}, "spec": {"podSelector": {}}});
    let made = local.create(&path, &policy).await.unwrap();
    // A default that only the server's own kind has.
    assert_eq!(made.at(&["spec", "policyTypes"]), Some(&json!(["Ingress"])));
    let text = "the server could not find the requested resource";
    refused(
        local.get(&format!("/apis/{group}/v1/foos")).await,
        404,
        text,
    );
    local.get(&format!("/apis/{group}/v7/bars")).await.unwrap();
}
