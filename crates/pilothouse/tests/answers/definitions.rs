//! Definitions of custom resources.

use json::{Object, Value, json};
use testkit::server::Server;

use super::refused;

#[testkit::requires(test_store)]
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

/// Status, reason and message of a condition.
fn condition<'a>(definition: &'a Value, kind: &str) -> [&'a str; 3] {
    let all = definition.at(&["status", "conditions"]);
    let mut all = all.and_then(Value::as_array).into_iter().flatten();
    let found = all.find(|it| it.str_at(&["type"]) == Some(kind));
    let found = found.expect("the condition");
    ["status", "reason", "message"].map(|it| found.str_at(&[it]).unwrap_or_default())
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn groups_of_the_community_need_its_approval() {
    let server = Server::start().await;
    let local = server.local();
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    let must = "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
    for (index, (said, status, reason, message)) in [
        (
            "https://example.com/1",
            "True",
            "ApprovedAnnotation",
            "approved in https://example.com/1".to_owned(),
        ),
        (
            "unapproved, a test",
            "False",
            "UnapprovedAnnotation",
            "not approved: \"unapproved, a test\"".to_owned(),
        ),
        (
            "yes",
            "",
            "",
            format!("{must} with either a URL or a reason starting with \"unapproved\", {see}"),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let group = format!("g{index}.k8s.io");
        let definition = json!({
            "metadata": {"name": (format!("things.{group}")), "annotations": {"api-approved.kubernetes.io": said}},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
            },
        });
        let made = local.create(definitions, &definition).await;
        if reason.is_empty() {
            let status = made.expect_err("neither a URL nor a reason");
            assert!(status.message.contains(&message), "{status}");
            continue;
        }
        let made = made.unwrap();
        let found = condition(&made, "KubernetesAPIApprovalPolicyConformant");
        assert_eq!(found, [status, reason, &message]);
    }
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn authorities_that_cannot_be_read() {
    let server = Server::start().await;
    let local = server.local();
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let conversion = |bundle: &str| {
        json!({"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://127.0.0.1:1/", "caBundle": bundle},
        }})
    };
    let definition = json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "conversion": (conversion("Cg==")),
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let established = |definition: &Value| {
        let [status, reason, _] = condition(definition, "Established");
        [status.to_owned(), reason.to_owned()]
    };
    let made = local.create(definitions, &definition).await.unwrap();
    assert_eq!(established(&made), ["False", "InvalidCABundle"]);
    // With none it can be served; from then on it keeps what can be read.
    let one = format!("{definitions}/things.example.com");
    let none = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": null}}}}});
    let changed = local.merge_patch(&one, &none).await.unwrap();
    assert_eq!(established(&changed), ["True", "InitialNamesAccepted"]);
    let wrong = local
        .merge_patch(&one, &json!({"spec": {"conversion": (conversion("Cg=="))}}))
        .await;
    let text = "CustomResourceDefinition.apiextensions.k8s.io \"things.example.com\" is invalid: spec.conversion.webhookClientConfig.caBundle: Invalid value: \"Cg==\": unable to load root certificates: unable to parse bytes as PEM block";
    refused(wrong, 422, text);
}

/// Else whoever may define kinds could take over the server's own.
#[testkit::requires(test_store)]
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
