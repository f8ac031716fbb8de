//! Rules of definitions in CEL, on every way that leads to an object.

use http::StatusCode;
use json::{Value, json};

use crate::fixture::{Answer, DEFINITIONS, Fixture};

const WIDGETS: &str = "/apis/example.com/v1/namespaces/n/widgets";
const WIDGET: &str = "/apis/example.com/v1/namespaces/n/widgets/w";
const MERGE: &str = "application/merge-patch+json";

/// Rules on the whole, on a change, on the status, and one that looks at both.
fn versions(size_rule: &str) -> Value {
    json!([{
        "name": "v1", "served": true, "storage": true,
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        },
        "schema": {"openAPIV3Schema": {
            "type": "object",
            "x-kubernetes-validations": [{
                "rule": "!has(self.status) || !has(self.status.replicas) || self.status.replicas <= self.spec.max",
                "message": "status.replicas is above spec.max",
                "reason": "FieldValueForbidden",
                "fieldPath": ".status.replicas",
            }],
            "properties": {
                "spec": {
                    "type": "object",
                    "required": ["max"],
                    "x-kubernetes-validations": [{
                        "rule": "self.replicas <= self.max",
                        "messageExpression": "'replicas %d is above max %d'.format([self.replicas, self.max])",
                        "fieldPath": ".replicas",
                    }],
                    "properties": {
                        "replicas": {"type": "integer", "default": 1},
                        "max": {"type": "integer", "maximum": 100},
                        "size": {"type": "string", "x-kubernetes-validations": [{"rule": size_rule}]},
                        "class": {"type": "string", "x-kubernetes-validations": [
                            {"rule": "self == oldSelf", "message": "class is immutable"},
                        ]},
                    },
                },
                "status": {"type": "object", "properties": {
                    "replicas": {"type": "integer", "x-kubernetes-validations": [{"rule": "self % 2 == 0"}]},
                }},
            },
        }},
    }])
}

fn widget(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": (spec.clone())})
}

async fn with_widgets() -> Fixture {
    let fixture = Fixture::new();
    fixture
        .define_versions("widgets", "Widget", "Namespaced", versions("self != ''"))
        .await;
    fixture
}

#[track_caller]
fn refused(answer: &Answer, text: &str) {
    assert_eq!(answer.code, StatusCode::UNPROCESSABLE_ENTITY, "{answer:?}");
    let message = answer.message();
    assert_eq!(
        message,
        format!("Widget.example.com \"w\" is invalid: {text}")
    );
}

#[track_caller]
fn taken(answer: &Answer) {
    assert!(answer.code.is_success(), "{}", answer.message());
    assert_eq!(answer.header("warning"), "");
}

async fn send(fixture: &Fixture, method: &str, path: &str, kind: &str, body: &Value) -> Answer {
    let headers = [("content-type", kind)];
    let body = json::to_vec(body);
    fixture.request(method, path, &headers, body).await
}

#[tokio::test]
async fn on_every_way_to_an_object() {
    let fixture = with_widgets().await;
    let json = "application/json";
    let above = "spec.replicas: Invalid value: replicas 7 is above max 5";
    let bad = widget(&json!({"replicas": 7, "max": 5}));
    refused(&send(&fixture, "POST", WIDGETS, json, &bad).await, above);
    let dry_run = format!("{WIDGETS}?dryRun=All");
    refused(&send(&fixture, "POST", &dry_run, json, &bad).await, above);
    let apply = format!("{WIDGET}?fieldManager=m&force=true");
    let apply_yaml = "application/apply-patch+yaml";
    refused(
        &send(&fixture, "PATCH", &apply, apply_yaml, &bad).await,
        above,
    );
    let good = widget(&json!({"max": 5, "class": "a", "size": "s"}));
    taken(&send(&fixture, "POST", WIDGETS, json, &good).await);

    let mut put = fixture.admin.get(WIDGET).await.unwrap();
    let spec = put.get_mut("spec").and_then(Value::as_object_mut);
    spec.unwrap().insert("replicas", 7);
    refused(&send(&fixture, "PUT", WIDGET, json, &put).await, above);
    let patch = json!({"spec": {"replicas": 7}});
    refused(&send(&fixture, "PATCH", WIDGET, MERGE, &patch).await, above);
    let operations = json!([{"op": "replace", "path": "/spec/replicas", "value": 7}]);
    let json_patch = "application/json-patch+json";
    refused(
        &send(&fixture, "PATCH", WIDGET, json_patch, &operations).await,
        above,
    );
    refused(
        &send(&fixture, "PATCH", &apply, apply_yaml, &bad).await,
        above,
    );
    let scale = format!("{WIDGET}/scale");
    let scaled = json!({"metadata": {"name": "w"}, "spec": {"replicas": 7}});
    refused(&send(&fixture, "PUT", &scale, json, &scaled).await, above);
    refused(&send(&fixture, "PATCH", &scale, MERGE, &patch).await, above);

    let class = json!({"spec": {"class": "b"}});
    let immutable = "spec.class: Invalid value: \"b\": class is immutable";
    refused(
        &send(&fixture, "PATCH", WIDGET, MERGE, &class).await,
        immutable,
    );
    // A transition rule has nothing to compare with where there was nothing.
    taken(
        &send(
            &fixture,
            "PATCH",
            WIDGET,
            MERGE,
            &json!({"spec": {"class": null}}),
        )
        .await,
    );
    taken(&send(&fixture, "PATCH", WIDGET, MERGE, &class).await);

    let status = format!("{WIDGET}/status");
    let replicas = |count: i64| json!({"status": {"replicas": count}});
    let odd = "status.replicas: Invalid value: 3: failed rule: self % 2 == 0";
    refused(
        &send(&fixture, "PATCH", &status, MERGE, &replicas(3)).await,
        odd,
    );
    let high = "status.replicas: Forbidden: status.replicas is above spec.max";
    refused(
        &send(&fixture, "PATCH", &status, MERGE, &replicas(8)).await,
        high,
    );
    taken(&send(&fixture, "PATCH", &status, MERGE, &replicas(4)).await);
    // The same rule for who writes the spec.
    let patch = json!({"spec": {"max": 3}});
    refused(&send(&fixture, "PATCH", WIDGET, MERGE, &patch).await, high);
}

#[tokio::test]
async fn not_where_types_or_bounds_are_wrong() {
    let fixture = with_widgets().await;
    let unchecked = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    let create = async |spec: &Value| {
        send(&fixture, "POST", WIDGETS, "application/json", &widget(spec)).await
    };
    refused(
        &create(&json!({"replicas": 7})).await,
        &format!("[spec.max: Required value, {unchecked}]"),
    );
    refused(
        &create(&json!({"replicas": 7, "max": "5"})).await,
        &format!(
            "[spec.max: Invalid value: \"string\": spec.max in body must be of type integer: \"string\", {unchecked}]"
        ),
    );
    // Other errors do not keep rules from being looked at.
    refused(
        &create(&json!({"replicas": 700, "max": 500})).await,
        "[spec.max: Invalid value: 500: spec.max in body should be less than or equal to 100, spec.replicas: Invalid value: replicas 700 is above max 500]",
    );
}

#[tokio::test]
async fn what_was_wrong_before_is_warned_of() {
    let fixture = with_widgets().await;
    let made = widget(&json!({"max": 5, "size": "s"}));
    fixture.admin.create(WIDGETS, &made).await.unwrap();
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let stricter = json!({"spec": {"versions": (versions("self in ['small', 'large']"))}});
    taken(&send(&fixture, "PATCH", &path, MERGE, &stricter).await);
    fixture.api.wait_until_caught_up().await.unwrap();

    let other = json!({"spec": {"max": 6}});
    let warned = send(&fixture, "PATCH", WIDGET, MERGE, &other).await;
    assert_eq!(warned.code, StatusCode::OK, "{}", warned.message());
    assert_eq!(
        warned.header("warning"),
        r#"299 - "spec.size: Invalid value: \"s\": failed rule: self in ['small', 'large']""#
    );
    // A refusal has the warning as well.
    let bad = json!({"spec": {"max": 0}});
    let warned = send(&fixture, "PATCH", WIDGET, MERGE, &bad).await;
    refused(
        &warned,
        "spec.replicas: Invalid value: replicas 1 is above max 0",
    );
    assert!(warned.header("warning").contains("spec.size"));
    let changed = json!({"spec": {"size": "m"}});
    refused(
        &send(&fixture, "PATCH", WIDGET, MERGE, &changed).await,
        "spec.size: Invalid value: \"m\": failed rule: self in ['small', 'large']",
    );
    let changed = json!({"spec": {"size": "large"}});
    taken(&send(&fixture, "PATCH", WIDGET, MERGE, &changed).await);
}

#[tokio::test]
async fn authors_are_told() {
    let fixture = Fixture::new();
    let create = async |spec: Value| {
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
        let definition = json!({
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [version],
            },
        });
        send(
            &fixture,
            "POST",
            DEFINITIONS,
            "application/json",
            &definition,
        )
        .await
    };
    let start =
        "CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is invalid: ";
    let at = "spec.validation.openAPIV3Schema.properties[spec]";
    let rules = |rules: Value| json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": rules});
    let shown = |rule: &str| {
        format!(
            r#"{{"Rule":"{rule}","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}}"#
        )
    };
    let strings = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": [
        {"rule": "self.all(x, self.exists_one(y, x == y))"},
    ]});
    for (spec, text) in [
        (
            rules(json!([{"rule": "self.b == 'x'"}])),
            format!(
                "{at}.x-kubernetes-validations[0].rule: Invalid value: {}: compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b == 'x'\n | ....^",
                shown("self.b == 'x'")
            ),
        ),
        (
            rules(json!([{"rule": "self.a"}])),
            format!(
                "{at}.x-kubernetes-validations[0].rule: Invalid value: {}: cel expression must evaluate to a bool",
                shown("self.a")
            ),
        ),
        (
            rules(json!([{"rule": "true", "fieldPath": ".b"}])),
            format!(
                "{at}.x-kubernetes-validations[0].fieldPath: Invalid value: \".b\": must be a valid path"
            ),
        ),
        (
            strings,
            format!(
                "[{at}.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared), \
                 {at}.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema, \
                 spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)]"
            ),
        ),
        (
            json!({"type": "string", "default": "b", "x-kubernetes-validations": [{"rule": "self == 'a'"}]}),
            format!("{at}.default: Invalid value: \"b\": failed rule: self == 'a'"),
        ),
    ] {
        let answer = create(spec).await;
        assert_eq!(answer.message(), format!("{start}{text}"));
    }
}

/// What takes long is done aside, with the same answer; what takes too long is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn costly_rules() {
    let fixture = Fixture::new();
    let numbers = json!({"type": "array", "maxItems": 100, "items": {"type": "integer"}, "x-kubernetes-validations": [
        {"rule": "self.all(x, self.all(y, x + y >= 0))", "message": "no two may be below zero"},
        {"rule": "self.size() < 100 || self.all(x, self.all(y, self.all(z, x + y + z >= 0)))"},
    ]});
    let spec = json!({"type": "object", "properties": {"l": numbers}});
    fixture
        .define("widgets", "Widget", "Namespaced", spec)
        .await;
    let create = async |name: &str, numbers: Vec<i64>| {
        let mut widget = widget(&json!({"l": (numbers.into_iter().collect::<Value>())}));
        let metadata = widget.get_mut("metadata").and_then(Value::as_object_mut);
        metadata.unwrap().insert("name", name);
        send(&fixture, "POST", WIDGETS, "application/json", &widget).await
    };
    for name in ["a", "b"] {
        taken(&create(name, (0..90).collect()).await);
    }
    let broken = (0..89).chain([-50]).collect();
    refused(
        &create("w", broken).await,
        "spec.l: Invalid value: no two may be below zero",
    );
    refused(
        &create("w", (0..100).collect()).await,
        "spec.l: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.size() < 100 || self.all(x, self.all(y, self.all(z, x + y + z >= 0)))",
    );
}
