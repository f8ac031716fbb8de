//! Custom resources whose versions have schemas of their own, and what becomes of them when those change.

use std::time::Duration;

use json::{Value, json};
use testkit::server::Server;

use super::custom::{DEFINITIONS, THINGS, definition, thing};
use super::refused;

const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com";

fn version(name: &str, storage: bool, spec: &Value) -> Value {
    json!({
        "name": name,
        "served": true,
        "storage": storage,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": (spec.clone())},
            "status": {"type": "object", "properties": {"number": {"type": "integer", "maximum": 10}}},
        }}},
        "subresources": {"status": {}},
    })
}

async fn serve(versions: &Value) -> Server {
    let server = Server::start().await;
    let local = server.local();
    local
        .create(DEFINITIONS, &definition(versions))
        .await
        .unwrap();
    server
}

fn text() -> Value {
    json!({"type": "string"})
}

fn given(value: &str) -> Value {
    json!({"type": "string", "default": value})
}

async fn redefine(server: &Server, versions: Value) {
    let change = json!({"spec": {"versions": versions}});
    let local = server.local();
    local.merge_patch(DEFINITION, &change).await.unwrap();
    local.host().wait_until_caught_up().await.unwrap();
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn what_rests_has_the_defaults_of_the_version_it_rests_in() {
    let asked = json!({"mine": (given("asked")), "theirs": (text()), "late": (text())});
    let stored = json!({"mine": (text()), "theirs": (given("stored")), "late": (text()), "only": (given("x"))});
    let server = serve(&json!([
        (version("v1", false, &asked)),
        (version("v2", true, &stored))
    ]))
    .await;
    let local = server.local();
    let made = local.create(THINGS, &thing("t", &json!({}))).await.unwrap();
    // What this version does not know is not shown in it.
    let both = json!({"mine": "asked", "theirs": "stored"});
    assert_eq!(made.get("spec"), Some(&both));
    let one = format!("{THINGS}/t");
    let other = THINGS.replace("/v1/", "/v2/");
    let found = local.get(&format!("{other}/t")).await.unwrap();
    assert_eq!(found.str_at(&["spec", "only"]), Some("x"));

    // What the stored version gives from now on is there in all of them, what the asked one gives is for new objects.
    let asked = json!({"mine": (given("asked")), "theirs": (text()), "late": (text()), "new": (given("no"))});
    let stored =
        json!({"mine": (text()), "theirs": (text()), "late": (given("late")), "new": (text())});
    redefine(
        &server,
        json!([
            (version("v1", false, &asked)),
            (version("v2", true, &stored))
        ]),
    )
    .await;
    let found = local.get(&one).await.unwrap();
    // What it no longer gives was never kept.
    let all = json!({"mine": "asked", "late": "late"});
    assert_eq!(found.get("spec"), Some(&all));
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn a_status_is_judged_alone() {
    let server = serve(&json!([(version("v1", true, &json!({"a": (text())})))])).await;
    let local = server.local();
    let made = thing("t", &json!({"a": "long"}));
    local.create(THINGS, &made).await.unwrap();
    let strict = json!({"a": {"type": "string", "maxLength": 1}});
    redefine(&server, json!([(version("v1", true, &strict))])).await;
    let status = format!("{THINGS}/t/status");
    let number = |it: i64| json!({"status": {"number": it}});
    local.merge_patch(&status, &number(5)).await.unwrap();
    let wrong = "Thing.example.com \"t\" is invalid: status.number: Invalid value: 15: number in body should be less than or equal to 10";
    refused(local.merge_patch(&status, &number(15)).await, 422, wrong);
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn lists_that_were_wrong_may_stay_so() {
    let list = |keys: Value| {
        let item = json!({"type": "object", "required": ["a", "b"], "properties": {"a": (text()), "b": (text())}});
        let list = json!({
            "type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys,
        });
        json!([(version("v1", true, &json!({"list": list})))])
    };
    let server = serve(&list(json!(["a", "b"]))).await;
    let local = server.local();
    let items = json!({"list": [{"a": "1", "b": "1"}, {"a": "1", "b": "2"}]});
    local.create(THINGS, &thing("t", &items)).await.unwrap();
    redefine(&server, list(json!(["a"]))).await;
    let more = json!({"spec": {"list": [{"a": "1", "b": "1"}, {"a": "1", "b": "3"}]}});
    let one = format!("{THINGS}/t");
    local.merge_patch(&one, &more).await.unwrap();
    let new = local.create(THINGS, &thing("u", &items)).await;
    let wrong = "Thing.example.com \"u\" is invalid: spec.list[1]: Duplicate value: {\"a\":\"1\"}";
    refused(new, 422, wrong);
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn who_watches_begins_anew_with_another_definition() {
    let versions = json!([(version("v1", true, &json!({"a": (text())})))]);
    let server = serve(&versions).await;
    let local = server.local();
    let mut watch = local.watch(&format!("{THINGS}?watch=true")).await.unwrap();
    local.create(THINGS, &thing("t", &json!({}))).await.unwrap();
    assert_eq!(watch.next().await.expect("an event").0, "ADDED");
    // Only what is about its objects counts.
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    local.merge_patch(DEFINITION, &label).await.unwrap();
    let change = json!({"metadata": {"labels": {"a": "b"}}});
    let one = format!("{THINGS}/t");
    local.merge_patch(&one, &change).await.unwrap();
    assert_eq!(watch.next().await.expect("an event").0, "MODIFIED");
    redefine(
        &server,
        json!([(version("v1", true, &json!({"a": (given("x"))})))]),
    )
    .await;
    let end = tokio::time::timeout(Duration::from_secs(30), watch.next()).await;
    assert!(end.expect("the watch ends").is_none());
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn null_is_what_the_schema_says() {
    let inner = |nullable: bool| {
        json!({"type": "object", "properties": {"inner": {
            "type": "object", "nullable": nullable, "properties": {"a": (text())},
        }}})
    };
    let spec = json!({"may": (inner(true)), "not": (inner(false))});
    let server = serve(&json!([(version("v1", true, &spec))])).await;
    let local = server.local();
    for field in ["may", "not"] {
        let one = format!("{THINGS}/{field}");
        let apply = async |inner: Value| {
            let mut spec = json::Object::new();
            spec.insert(field, json!({"inner": inner}));
            local.apply(&one, &thing(field, &spec.into()), "me").await
        };
        apply(json!({"a": "1"})).await.unwrap();
        let emptied = apply(Value::Null).await;
        if field == "may" {
            let spec = emptied.unwrap();
            assert_eq!(spec.at(&["spec", "may"]), Some(&json!({"inner": null})));
        } else {
            let wrong = "Thing.example.com \"not\" is invalid: spec.not.inner: Invalid value: \"null\": spec.not.inner in body must be of type object: \"null\"";
            refused(emptied, 422, wrong);
        }
    }
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn metadata_of_embedded_objects() {
    let embedded = json!({"inner": {
        "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
    }});
    let server = serve(&json!([(version("v1", true, &embedded))])).await;
    let inner = json!({"inner": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 5}}});
    let made = server.local().create(THINGS, &thing("t", &inner)).await;
    let wrong = "Thing in version \"v1\" cannot be handled as a Thing: spec.inner.metadata: Invalid value: {\"name\":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string";
    refused(made, 400, wrong);
}
