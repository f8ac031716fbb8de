//! Corners of apply, of patches and of updates.

use json::{Value, json};
use testkit::server::Server;

use super::{MAPS, map, refused, send};

const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const STEPS: &str = "application/json-patch+json";

fn message(body: &Value) -> &str {
    body.str_at(&["message"]).unwrap_or_default()
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn what_is_applied_where_nothing_is() {
    let server = Server::start().await;
    let apply = async |path: &str, body: &Value| {
        let (code, _, body) = send(
            &server,
            "PATCH",
            &format!("{path}?fieldManager=m"),
            APPLY,
            &json::to_vec(body),
        )
        .await;
        (code, message(&body).to_owned())
    };
    let one = format!("{MAPS}/a");
    let nameless = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let text = "the name of the object (a based on URL) was undeterminable: name must be provided";
    assert_eq!(apply(&one, &nameless).await, (400, text.to_owned()));
    let mut another = map(&json!({"uid": "x"}));
    let fields = another.as_object_mut().expect("an object");
    fields.insert("apiVersion", "v1");
    fields.insert("kind", "ConfigMap");
    let text = "Operation cannot be fulfilled on configmaps \"a\": uid mismatch: the provided object specified uid x, and no existing object was found";
    assert_eq!(apply(&one, &another).await, (409, text.to_owned()));
    // A part of an object makes no object.
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims/c";
    let status = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "status": {}});
    let text = "persistentvolumeclaims \"c\" not found".to_owned();
    assert_eq!(
        apply(&format!("{claims}/status"), &status).await,
        (404, text)
    );
    assert_eq!(server.local().get(claims).await.unwrap_err().code, 404);
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn patches_that_say_too_much() {
    let server = Server::start().await;
    let local = server.local();
    local.create(MAPS, &map(&json!({}))).await.unwrap();
    let patch = async |query: &str, media: &str, body: &str| {
        let path = format!("{MAPS}/a?{query}");
        let (code, warnings, body) = send(&server, "PATCH", &path, media, body.as_bytes()).await;
        (code, warnings, message(&body).to_owned())
    };
    let twice = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  b: c\n  b: d\n";
    let (code, warnings, _) = patch("fieldManager=m", APPLY, twice).await;
    let warning = r#"299 - "line 7: key \"b\" already set in map""#;
    assert_eq!((code, &warnings[..]), (200, &[warning.to_owned()][..]));
    let strict = "fieldManager=m&fieldValidation=Strict";
    let (code, _, text) = patch(strict, APPLY, twice).await;
    let want = "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key \"b\" already set in map";
    assert_eq!((code, &*text), (400, want));
    let (code, _, text) = patch("fieldManager=m", APPLY, "- a").await;
    let want = "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}";
    assert_eq!((code, &*text), (400, want));

    let steps = r#"[{"op":"add","op":"add","path":"/data/z","value":"1","extra":1},{"op":"add","path":"/bogus","value":1}]"#;
    let (code, warnings, _) = patch("", STEPS, steps).await;
    let want = [
        r#"299 - "json patch duplicate field \"[0].op\"""#,
        r#"299 - "json patch unknown field \"[0].extra\"""#,
        r#"299 - "unknown field \"bogus\"""#,
    ];
    assert_eq!((code, warnings), (200, want.map(str::to_owned).into()));
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn what_an_update_cannot_say() {
    let server = Server::start().await;
    let local = server.local();
    let made = local.create(MAPS, &map(&json!({}))).await.unwrap();
    let one = format!("{MAPS}/a");
    let since = made.at(&["metadata", "creationTimestamp"]);
    // When it was made is not for a client to say; zero is no version.
    let change = json!({"creationTimestamp": "2020-01-01T00:00:00Z", "resourceVersion": "0"});
    let kept = local.update(&one, &map(&change)).await.unwrap();
    assert_eq!(kept.at(&["metadata", "creationTimestamp"]), since);
    let change =
        json!({"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z", "resourceVersion": "0"}});
    let kept = local.merge_patch(&one, &change).await.unwrap();
    assert_eq!(kept.at(&["metadata", "creationTimestamp"]), since);
    // An empty list forgets who manages what; none at all does not.
    let all = json!({"metadata": {"managedFields": []}});
    let (_, _, bare) = send(&server, "PATCH", &one, MERGE, &json::to_vec(&all)).await;
    assert_eq!(bare.at(&["metadata", "managedFields"]), None);
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn owners_are_named_once() {
    let server = Server::start().await;
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"});
    let other = json!({"apiVersion": "v1", "kind": "Pod", "name": "q", "uid": "u"});
    let owners = json!({"ownerReferences": [(owner.clone()), (owner.clone()), (other.clone())]});
    let body = json::to_vec(&map(&owners));
    let (code, warnings, made) = send(&server, "POST", MAPS, "application/json", &body).await;
    let warning = r#"299 - ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u""#;
    assert_eq!((code, warnings), (201, vec![warning.to_owned()]));
    let left = json!([(owner.clone()), other]);
    assert_eq!(made.at(&["metadata", "ownerReferences"]), Some(&left));
    let again = json!({"metadata": {"ownerReferences": [(owner.clone()), owner]}});
    let one = format!("{MAPS}/a");
    let (_, warnings, _) = send(&server, "PATCH", &one, MERGE, &json::to_vec(&again)).await;
    assert!(
        warnings[0].contains("after mutating admission"),
        "{warnings:?}"
    );
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn lists_and_pages_of_a_version() {
    // Nobody else makes any.
    const SECRETS: &str = "/api/v1/namespaces/default/secrets";
    let server = Server::start().await;
    let local = server.local();
    let mut versions = Vec::new();
    for name in ["a", "b", "c"] {
        let made = local
            .create(
                SECRETS,
                &json!({"metadata": {"name": name, "labels": {"l": "l"}}}),
            )
            .await
            .unwrap();
        versions.push(meta::object::resource_version(&made).to_owned());
    }
    // The third was not there yet.
    let path = format!(
        "{SECRETS}?labelSelector=l&limit=5&resourceVersion={}",
        versions[1]
    );
    assert_eq!(local.items(&path).await.unwrap().len(), 2);
    let path = format!("{path}&resourceVersionMatch=NotOlderThan");
    assert_eq!(local.items(&path).await.unwrap().len(), 3);
    let (_, _, list) = send(
        &server,
        "DELETE",
        &format!("{SECRETS}?limit=1"),
        "application/json",
        b"",
    )
    .await;
    let remaining = list.at(&["metadata", "remainingItemCount"]);
    let left = local.items(SECRETS).await.unwrap().len();
    assert_eq!(remaining.and_then(Value::as_i64), i64::try_from(left).ok());
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn questions_are_answered_in_a_dry_run_too() {
    let server = Server::start().await;
    let local = server.local();
    let review = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?dryRun=All";
    let answer = local.create(path, &review).await.unwrap();
    assert_eq!(answer.at(&["status", "allowed"]), Some(&json!(true)));
    let elsewhere = json!({"metadata": {"namespace": "other"}, "spec": {"user": "x"}});
    let path = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews";
    let text =
        "the namespace of the provided object does not match the namespace sent on the request";
    refused(local.create(path, &elsewhere).await, 400, text);
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn told_once() {
    let server = Server::start().await;
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let scaler = json!({"metadata": {"name": "h"}, "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 5,
        "metrics": [{"type": "Foo"}],
    }});
    let refusal = server.local().create(path, &scaler).await.unwrap_err();
    let causes = refusal.details.expect("details").causes;
    let fields: Vec<_> = causes.iter().map(|it| &*it.field).collect();
    assert_eq!(fields, ["spec.metrics[0].type"]);
}

/// What is added to an object does not make it too large.
#[testkit::requires(test_store)]
#[tokio::test]
async fn large_objects_have_no_managers() {
    let server = Server::start().await;
    let local = server.local();
    let mut data = json::Object::new();
    for index in 0..12_000 {
        data.insert(format!("{index:060}"), "v");
    }
    let data = Value::from(data);
    let large = json!({"metadata": {"name": "a"}, "data": (data.clone())});
    let managers = |object: &Value| object.at(&["metadata", "managedFields"]).cloned();
    let made = local.create(MAPS, &large).await.unwrap();
    assert_eq!(managers(&made), None);
    let small = json!({"metadata": {"name": "b"}});
    local.create(MAPS, &small).await.unwrap();
    let other = format!("{MAPS}/b");
    let patch = json!({"data": (data.clone())});
    let patched = local.merge_patch(&other, &patch).await.unwrap();
    assert_eq!(managers(&patched), None);
    // Who applies asks for just that.
    let applied =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data});
    let path = format!("{MAPS}/c?fieldManager=m");
    let (code, _, _) = send(&server, "PATCH", &path, APPLY, &json::to_vec(&applied)).await;
    assert_eq!(code, 413);
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn versions_that_are_none_are_no_versions() {
    let server = Server::start().await;
    let odd = map(&json!({"resourceVersion": "odd"}));
    let made = server.local().create(MAPS, &odd).await.unwrap();
    let version = made.str_at(&["metadata", "resourceVersion"]).unwrap();
    assert!(version.parse::<u64>().is_ok(), "{version}");
}

/// All change it, nobody names a version: nobody is refused.
#[testkit::requires(test_store)]
#[tokio::test]
async fn patches_wait_for_each_other() {
    let server = Server::start().await;
    let local = server.local();
    local.create(MAPS, &map(&json!({}))).await.unwrap();
    let one = format!("{MAPS}/a");
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..32 {
        let (local, one) = (server.local(), one.clone());
        let patch = json!([{"op": "add", "path": (format!("/data/k{index}")), "value": "v"}]);
        tasks.spawn(async move { local.json_patch(&one, &patch).await });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap().unwrap();
    }
    let data = local.get(&one).await.unwrap();
    let data = data.get("data").and_then(Value::as_object);
    assert_eq!(data.map(json::Object::len), Some(33));
}

/// In the order in which upstream comes upon them.
#[testkit::requires(test_store)]
#[tokio::test]
async fn fields_that_nobody_knows() {
    let server = Server::start().await;
    let said = async |method: &str, path: &str, media: &str, body: &str| {
        let path = format!("{path}?fieldValidation=Strict");
        let (_, _, body) = send(&server, method, &path, media, body.as_bytes()).await;
        let text = message(&body);
        let found = text.split_once("strict decoding error: ");
        found.map_or_else(|| text.to_owned(), |it| it.1.to_owned())
    };
    // What is unknown is not looked into.
    let body =
        r#"{"metadata":{"name":"a","x":1,"x":2},"y":{"z":1,"z":2},"data":{"k":"v","k":"w"}}"#;
    assert_eq!(
        said("POST", MAPS, "application/json", body).await,
        r#"unknown field "metadata.x", unknown field "y", duplicate field "data.k""#
    );
    server.local().create(MAPS, &map(&json!({}))).await.unwrap();
    let one = format!("{MAPS}/a");
    // A patch is read before what it makes.
    let body = r#"{"y":1,"y":2,"data":{"k":"v","k":"w"}}"#;
    assert_eq!(
        said("PATCH", &one, MERGE, body).await,
        r#"duplicate field "y", duplicate field "data.k", unknown field "y""#
    );
    let body = r#"[{"op":"test","path":"/data/k","value":"v","x":1},{"op":"add","op":"add","path":"/y","value":1}]"#;
    assert_eq!(
        said("PATCH", &one, STEPS, body).await,
        r#"json patch unknown field "[0].x", json patch duplicate field "[1].op", unknown field "y""#
    );
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn nothing_is_exported() {
    let server = Server::start().await;
    let local = server.local();
    let text = "the export parameter, deprecated since v1.14, is no longer supported";
    let namespace = "/api/v1/namespaces/default?export";
    refused(local.get(&format!("{namespace}=true")).await, 400, text);
    local.get(&format!("{namespace}=false")).await.unwrap();
}
