//! Answers that a kube-apiserver was asked for too: each pins a difference that was found and is gone.

#[path = "answers/bodies.rs"]
mod bodies;
#[path = "answers/claims.rs"]
mod claims;
#[path = "answers/custom.rs"]
mod custom;
#[path = "answers/definitions.rs"]
mod definitions;
#[path = "answers/deletes.rs"]
mod deletes;
#[path = "answers/lists.rs"]
mod lists;
#[path = "answers/logs.rs"]
mod logs;
#[path = "answers/pretty.rs"]
mod pretty;
#[path = "answers/scale.rs"]
mod scale;
#[path = "answers/schemas.rs"]
mod schemas;
#[path = "answers/services.rs"]
mod services;
#[path = "answers/written.rs"]
mod written;

use std::time::Duration;

use apiserver::incoming::RequestBody;
use apiserver::pipeline::Caller;
use auth::User;
use http_body_util::BodyExt as _;
use json::{Value, json};
use meta::Status;
use testkit::server::Server;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(more: &Value) -> Value {
    let mut metadata = json!({"name": "a"});
    if let (Some(into), Some(more)) = (metadata.as_object_mut(), more.as_object()) {
        for (key, value) in more.iter() {
            into.insert(key.clone(), value.clone());
        }
    }
    json!({"metadata": metadata, "data": {"k": "v"}})
}

#[track_caller]
fn refused(answer: Result<Value, Status>, code: u16, message: &str) {
    let status = answer.expect_err("a refusal");
    assert_eq!((status.code, &*status.message), (code, message));
}

fn owned(object: &Value) -> String {
    let fields = object.at(&["metadata", "managedFields"]);
    let first = fields.and_then(Value::as_array).and_then(|it| it.first());
    json::to_string(
        first
            .and_then(|it| it.get("fieldsV1"))
            .unwrap_or(&Value::Null),
    )
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn versions_and_uids() {
    let server = Server::start().await;
    let local = server.local();
    let late = local
        .create(MAPS, &map(&json!({"resourceVersion": "1"})))
        .await;
    refused(
        late,
        500,
        "resourceVersion should not be set on objects to be created",
    );
    local.create(MAPS, &map(&json!({}))).await.unwrap();
    let one = format!("{MAPS}/a");
    // Who names no version takes what is there.
    local
        .update(&one, &map(&json!({"labels": {"x": "y"}})))
        .await
        .unwrap();
    let odd = local
        .update(&one, &map(&json!({"resourceVersion": "z"})))
        .await;
    refused(odd, 500, "strconv.ParseUint: parsing \"z\": invalid syntax");
    let uid = local
        .merge_patch(&one, &json!({"metadata": {"uid": "z"}}))
        .await;
    let text = "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"z\": field is immutable";
    refused(uid, 422, text);
    let nameless = local.update(&one, &json!({"data": {}})).await;
    let text = "the name of the object (a based on URL) was undeterminable: name must be provided";
    refused(nameless, 400, text);
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn owners_of_new_objects() {
    let server = Server::start().await;
    let local = server.local();
    let namespace = json!({"metadata": {"name": "n"}});
    let namespace = local
        .create("/api/v1/namespaces", &namespace)
        .await
        .unwrap();
    // Structs that are always there are nobody's: no `.` and no `f:spec` of their own.
    assert_eq!(
        owned(&namespace),
        r#"{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{}}}}"#
    );
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"a": "b"}});
    let path = "/api/v1/namespaces/default/secrets";
    let secret = local.create(path, &secret).await.unwrap();
    assert_eq!(
        owned(&secret),
        r#"{"f:data":{".":{},"f:a":{}},"f:type":{}}"#
    );
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn patches_that_cannot_be_read() {
    let server = Server::start().await;
    let local = server.local();
    local.create(MAPS, &map(&json!({}))).await.unwrap();
    let one = format!("{MAPS}/a");
    let nothing = json!([{"op": "remove", "path": "/data/none"}]);
    let text = "the server rejected our request due to an error in our request";
    refused(local.json_patch(&one, &nothing).await, 422, text);
    let wrong = local.merge_patch(&one, &json!({"data": {"k": 1}})).await;
    let status = wrong.expect_err("a number is no string");
    assert_eq!(status.code, 422);
    assert!(
        status
            .message
            .starts_with(" \"\" is invalid: patch: Invalid value: "),
        "{status}"
    );
    let list = local.merge_patch(&one, &json!([])).await;
    let text = "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}";
    refused(list, 400, text);
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn empty_lists_and_conversions() {
    let server = Server::start().await;
    let local = server.local();
    let node = json!({"metadata": {"name": "n"}, "spec": {"podCIDR": "10.1.0.0/24"}});
    let node = local.create("/api/v1/nodes", &node).await.unwrap();
    assert_eq!(
        node.at(&["spec", "podCIDRs"]),
        Some(&json!(["10.1.0.0/24"]))
    );
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let role = json!({"metadata": {"name": "r"}, "rules": []});
    let role = local.create(roles, &role).await.unwrap();
    assert_eq!(role.get("rules"), Some(&Value::Null));
}

/// Code, warnings and body of an answer.
async fn ask(
    server: &Server,
    method: &str,
    path: &str,
    accept: &str,
    body: &Value,
) -> (u16, Vec<String>, Value) {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("accept", accept)
        .header("content-type", "application/json");
    let bytes = if body.is_null() {
        Vec::new()
    } else {
        json::to_vec(body)
    };
    answer(server, request, bytes).await
}

/// The same, of a body of another media type.
async fn send(
    server: &Server,
    method: &str,
    path: &str,
    media: &str,
    body: &[u8],
) -> (u16, Vec<String>, Value) {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media);
    answer(server, request, body.to_vec()).await
}

async fn answer(
    server: &Server,
    request: http::request::Builder,
    bytes: Vec<u8>,
) -> (u16, Vec<String>, Value) {
    let (parts, ()) = request.body(()).expect("a request").into_parts();
    let caller = Caller::Local(User::new("admin", &["system:masters"]).into());
    let api = server.api().clone();
    let response =
        apiserver::pipeline::handle(&api, &caller, parts, RequestBody::Bytes(bytes.into())).await;
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter();
    let warnings = warnings.map(|it| it.to_str().expect("text").to_owned());
    let warnings = warnings.collect();
    let Ok(body) = response.into_body().collect().await;
    let body = json::parse(&body.to_bytes()).unwrap_or_default();
    (code, warnings, body)
}

const JSON: &str = "application/json";

#[testkit::requires(test_store)]
#[tokio::test]
async fn a_refusal_has_its_warnings() {
    let server = Server::start().await;
    let wrong = json!({"metadata": {"name": "Bad_"}, "more": 1});
    let (code, warnings, _) = ask(&server, "POST", MAPS, JSON, &wrong).await;
    let unknown = r#"299 - "unknown field \"more\"""#.to_owned();
    assert_eq!((code, warnings), (422, vec![unknown.clone()]));
    let (code, _, _) = ask(&server, "POST", MAPS, JSON, &map(&json!({}))).await;
    assert_eq!(code, 201);
    let again = json!({"metadata": {"name": "a"}, "more": 1});
    let (code, warnings, _) = ask(&server, "POST", MAPS, JSON, &again).await;
    assert_eq!((code, warnings), (409, vec![unknown]));
    let endpoints = "/api/v1/namespaces/default/endpoints/none";
    let (code, warnings, _) = ask(&server, "GET", endpoints, JSON, &Value::Null).await;
    assert_eq!((code, warnings.len()), (404, 1));
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn what_is_asked_for_in_the_wrong_way() {
    let server = Server::start().await;
    let metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let namespace = "/api/v1/namespaces/default";
    let no_resource = "the server could not find the requested resource";
    let not_allowed = "the server does not allow this method on the requested resource";
    let rows = [
        (
            MAPS,
            metadata,
            406,
            "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)",
        ),
        (
            namespace,
            list,
            406,
            "you requested PartialObjectMetadataList, but the requested object is not a list (*core.Namespace)",
        ),
        (
            "/api/v1/namespaces?includeObject=Some",
            table,
            400,
            "Unable to convert to Table as requested: includeObject: Invalid value: \"Some\": must be 'Metadata', \
             'Object', 'None', or empty",
        ),
        ("/api/v1/configmaps/a", JSON, 404, no_resource),
        (
            "/api/v1/namespaces/default/bindings/a",
            JSON,
            404,
            no_resource,
        ),
        (
            "/apis/authentication.k8s.io/v1/tokenreviews/a",
            JSON,
            404,
            no_resource,
        ),
        ("/api/v1/namespaces/default/nodes", JSON, 404, no_resource),
        (
            "/api/v1/namespaces?continue=bogus",
            JSON,
            400,
            "invalid continue token: continue key is not valid: illegal base64 data at input byte 4",
        ),
        (
            "/api/v1/namespaces/default?resourceVersion=x",
            JSON,
            500,
            "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax",
        ),
        (
            "/api/v1/namespaces?timeout=x",
            JSON,
            400,
            "invalid timeout specified in the request URL - time: invalid duration \"x\"",
        ),
    ];
    for (path, accept, code, message) in rows {
        let (found, _, body) = ask(&server, "GET", path, accept, &Value::Null).await;
        let text = body.str_at(&["message"]).unwrap_or_default();
        assert_eq!((found, text), (code, message), "{path}");
    }
    let selected = "/api/v1/configmaps?fieldSelector=metadata.name%3Da";
    for (path, accept) in [(MAPS, list), (namespace, metadata), (selected, JSON)] {
        let (code, _, _) = ask(&server, "GET", path, accept, &Value::Null).await;
        assert_eq!(code, 200, "{path}");
    }
    let (code, _, _) = ask(&server, "HEAD", MAPS, JSON, &Value::Null).await;
    assert_eq!(code, 405);
    let (code, _, body) = ask(&server, "POST", "/api/v1/configmaps", JSON, &Value::Null).await;
    assert_eq!((code, body.str_at(&["message"])), (405, Some(not_allowed)));
    let statuses = "/api/v1/componentstatuses";
    let (_, _, body) = ask(&server, "GET", statuses, table, &Value::Null).await;
    let rows = body.get("rows").and_then(Value::as_array);
    assert_eq!(rows.map(Vec::len), Some(1), "{body:?}");
}

/// As with etcd's compaction: the rest of an old list can be had, as it is now.
#[testkit::requires(test_store)]
#[tokio::test]
async fn a_list_goes_on_after_its_past_is_gone() {
    let server = Server::start_with(|options| {
        options.compaction_interval = Duration::from_millis(20);
    })
    .await;
    let local = server.local();
    let first = local.get("/api/v1/namespaces?limit=1").await.unwrap();
    let next = first.str_at(&["metadata", "continue"]).unwrap();
    let path = format!("/api/v1/namespaces?limit=1&continue={next}");
    let mut count = 0;
    let status = loop {
        // Something must be past to be forgotten.
        count += 1;
        let more = json!({"metadata": {"name": (format!("m{count}"))}});
        local.create(MAPS, &more).await.unwrap();
        let store = server.api().store();
        if store.is_shared() {
            // There the servers forget by agreement, and not so often.
            store.compact(store.latest().revision()).await.unwrap();
        }
        match local.get(&path).await {
            Ok(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            Err(status) => break status,
        }
        assert!(count < 20_000, "the past does not go");
    };
    assert_eq!(status.code, 410, "{status}");
    let path = format!(
        "/api/v1/namespaces?limit=1&continue={}",
        status.continue_token
    );
    let rest = local.get(&path).await.unwrap();
    assert!(
        rest.get("items")
            .and_then(Value::as_array)
            .is_some_and(|it| it.len() == 1)
    );
}

/// A budget that can spare one pod spares one.
#[testkit::requires(test_store)]
#[tokio::test]
async fn evictions_are_counted() {
    let server = Server::start().await;
    let local = server.local();
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    while local.get(account).await.is_err() {
        tokio::task::yield_now().await;
    }
    let pods = "/api/v1/namespaces/default/pods";
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let budget = json!({"metadata": {"name": "b"}, "spec": {
        "minAvailable": 1,
        "selector": {"matchLabels": {"a": "b"}},
    }});
    local.create(budgets, &budget).await.unwrap();
    let running = json!({"status": {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
    }});
    for name in ["one", "two"] {
        let pod = json!({
            "metadata": {"name": name, "labels": {"a": "b"}, "finalizers": ["example.com/hold"]},
            "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
        });
        local.create(pods, &pod).await.unwrap();
        let path = format!("{pods}/{name}/status");
        local.merge_patch(&path, &running).await.unwrap();
    }
    let evict = async |name: &str| {
        let eviction = json!({
            "kind": "Eviction",
            "apiVersion": "policy/v1",
            "metadata": {"name": name},
        });
        let path = format!("{pods}/{name}/eviction");
        local.create(&path, &eviction).await
    };
    let refusal = "Cannot evict pod as it would violate the pod's disruption budget.";
    // Nobody has looked at the budget yet.
    refused(evict("one").await, 429, refusal);
    let spare = json!({"status": {
        "observedGeneration": 1,
        "disruptionsAllowed": 1,
        "currentHealthy": 2,
        "desiredHealthy": 1,
        "expectedPods": 2,
    }});
    let status = format!("{budgets}/b/status");
    local.merge_patch(&status, &spare).await.unwrap();
    // Old clients still say it in a version that is gone otherwise.
    let old =
        json!({"kind": "Eviction", "apiVersion": "policy/v1beta1", "metadata": {"name": "one"}});
    let path = format!("{pods}/one/eviction?dryRun=All");
    local.create(&path, &old).await.unwrap();
    evict("one").await.unwrap();
    let pod = local.get(&format!("{pods}/one")).await.unwrap();
    assert!(meta::object::is_being_deleted(&pod), "{pod:?}");
    let conditions = pod.at(&["status", "conditions"]).and_then(Value::as_array);
    let reasons = conditions.into_iter().flatten();
    let mut reasons = reasons.filter_map(|it| it.str_at(&["reason"]));
    assert!(reasons.any(|it| it == "EvictionByEvictionAPI"), "{pod:?}");
    let budget = local.get(&format!("{budgets}/b")).await.unwrap();
    let left = budget.at(&["status", "disruptionsAllowed"]);
    assert_eq!(left, Some(&json!(0)));
    assert!(budget.at(&["status", "disruptedPods", "one"]).is_some());
    refused(evict("two").await, 429, refusal);
}

#[testkit::requires(test_store)]
#[tokio::test]
async fn certificates_are_what_is_signed() {
    let server = Server::start().await;
    let local = server.local();
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let nonsense = json!({
        "metadata": {"name": "a"},
        "spec": {"request": "eA==", "signerName": "example.com/a", "usages": ["client auth"]},
    });
    let text = "CertificateSigningRequest.certificates.k8s.io \"a\" is invalid: spec.request: Invalid value: \"eA==\": PEM block type must be CERTIFICATE REQUEST";
    refused(local.create(requests, &nonsense).await, 422, text);
}
