//! Answers that a kube-apiserver was asked for too: each pins a difference that was found and is gone.

#[path = "answers/custom.rs"]
mod custom;
#[path = "answers/written.rs"]
mod written;

use std::time::Duration;

use apiserver::incoming::RequestBody;
use apiserver::local::Local;
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

async fn delete(local: &Local, path: &str) -> Value {
    local.delete(path, &Value::Null).await.unwrap()
}

#[tokio::test]
async fn what_a_delete_answers() {
    let server = Server::start().await;
    let local = server.local();
    let classes = "/apis/storage.k8s.io/v1/storageclasses";
    let class = json!({"metadata": {"name": "c"}, "provisioner": "example.com/p"});
    local.create(classes, &class).await.unwrap();
    let last = delete(&local, &format!("{classes}/c")).await;
    assert_eq!(last.str_at(&["kind"]), Some("StorageClass"));
    local.create(MAPS, &map(&json!({}))).await.unwrap();
    let options = json!({"preconditions": {"uid": "z"}});
    let other = local.delete(&format!("{MAPS}/a"), &options).await;
    let status = other.expect_err("another uid");
    let begin = "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (z) does not match";
    assert!(status.message.starts_with(begin), "{status}");
    let last = delete(&local, &format!("{MAPS}/a")).await;
    assert_eq!(last.str_at(&["status"]), Some("Success"));
}

/// Whoever watches sees a pod's time come before it is gone.
#[tokio::test]
async fn a_pod_that_goes_at_once() {
    let server = Server::start().await;
    let local = server.local();
    let pods = "/api/v1/namespaces/default/pods";
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    while local.get(account).await.is_err() {
        tokio::task::yield_now().await;
    }
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let pod = local.create(pods, &pod).await.unwrap();
    let version = pod.str_at(&["metadata", "resourceVersion"]).unwrap();
    let path = format!("{pods}?watch=true&resourceVersion={version}");
    let mut watch = local.watch(&path).await.unwrap();
    let last = delete(&local, &format!("{pods}/p")).await;
    let stamp = &["metadata", "deletionTimestamp"];
    assert!(last.str_at(stamp).is_some());
    let (kind, object) = watch.next().await.unwrap();
    assert_eq!(kind, "MODIFIED");
    assert!(object.str_at(stamp).is_some());
    let (kind, _) = watch.next().await.unwrap();
    assert_eq!(kind, "DELETED");
}

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
    let api = server.local().api().clone();
    let response = api
        .handle(&caller, parts, RequestBody::Bytes(bytes.into()))
        .await;
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter();
    let warnings = warnings.map(|it| it.to_str().expect("text").to_owned());
    let warnings = warnings.collect();
    let Ok(body) = response.into_body().collect().await;
    let body = json::parse(&body.to_bytes()).unwrap_or_default();
    (code, warnings, body)
}

const JSON: &str = "application/json";

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

/// The manager of a Scale's replicas is that of the object's.
#[tokio::test]
async fn a_scale_is_owned() {
    let server = Server::start().await;
    let local = server.local();
    let path = "/apis/apps/v1/namespaces/default/replicasets";
    let set = json!({"metadata": {"name": "r"}, "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    }});
    local.create(path, &set).await.unwrap();
    let scale = format!("{path}/r/scale");
    let wanted = json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {"name": "r"},
        "spec": {"replicas": 3},
    });
    let body = json::to_vec(&wanted);
    let request = http::Request::builder()
        .method("PATCH")
        .uri(format!("{scale}?fieldManager=other"))
        .header("content-type", "application/apply-patch+yaml");
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let caller = Caller::Local(User::new("admin", &["system:masters"]).into());
    let body = RequestBody::Bytes(body.into());
    let response = local.api().handle(&caller, parts, body).await;
    assert_eq!(response.status().as_u16(), 409);
    let Ok(body) = response.into_body().collect().await;
    let body = json::parse(&body.to_bytes()).unwrap();
    let text = "Apply failed with 1 conflict: conflict with \"testkit\" using autoscaling/v1: .spec.replicas";
    assert_eq!(body.str_at(&["message"]), Some(text));

    local.apply(&scale, &wanted, "other").await.unwrap();
    let set = local.get(&format!("{path}/r")).await.unwrap();
    assert_eq!(set.at(&["spec", "replicas"]), Some(&json!(3)));
    let entries = meta::object::managed_fields(&set);
    let other = entries
        .iter()
        .find(|it| it.str_at(&["manager"]) == Some("other"));
    let fields = other.and_then(|it| it.get("fieldsV1"));
    assert_eq!(fields, Some(&json!({"f:spec": {"f:replicas": {}}})));
    let before = entries
        .iter()
        .find(|it| it.str_at(&["manager"]) == Some("testkit"));
    let before = before.and_then(|it| it.at(&["fieldsV1", "f:spec", "f:replicas"]));
    assert_eq!(before, None);
}

/// As with etcd's compaction: the rest of an old list can be had, as it is now.
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
        let store = &local.api().store;
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

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(name: &str, spec: &Value) -> Value {
    let mut all = json!({"selector": {"a": "b"}, "ports": [{"port": 80}]});
    if let (Some(into), Some(more)) = (all.as_object_mut(), spec.as_object()) {
        for (key, value) in more.iter() {
            into.insert(key.clone(), value.clone());
        }
    }
    json!({"metadata": {"name": name}, "spec": all})
}

#[tokio::test]
async fn services_are_given_what_there_is() {
    let server = Server::start().await;
    let local = server.local();
    let cases = [
        (
            json!({"ipFamilyPolicy": "RequireDualStack"}),
            "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for dual-stack services",
        ),
        (
            json!({"ipFamilies": ["IPv6"]}),
            "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
        ),
        (
            json!({"ipFamilies": ["IPv4", "IPv6"]}),
            "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
        ),
        (
            json!({"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": 30556}, {"name": "b", "port": 81, "nodePort": 30556}]}),
            "spec.ports[1].nodePort: Invalid value: 30556: provided port is already allocated",
        ),
        (
            json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 100_000}]}),
            "spec.ports[0].nodePort: Invalid value: 100000: provided port is not in the valid range. The range of valid ports is 30000-32767",
        ),
        (
            json!({"type": "ExternalName", "externalName": "a.b", "clusterIP": "10.96.1.1"}),
            "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
        ),
    ];
    for (spec, why) in cases {
        let text = format!("Service \"s\" is invalid: {why}");
        let answer = local.create(SERVICES, &service("s", &spec)).await;
        refused(answer, 422, &text);
    }
    let made = async |spec: Value| {
        let made = local.create(SERVICES, &service("s", &spec)).await.unwrap();
        let one = format!("{SERVICES}/s");
        local.delete(&one, &Value::Null).await.unwrap();
        made.get("spec").cloned().unwrap()
    };
    let spec = made(json!({"ipFamilyPolicy": "PreferDualStack"})).await;
    assert_eq!(spec.get("ipFamilies"), Some(&json!(["IPv4"])));
    let spec = made(json!({"clusterIP": "None", "selector": null})).await;
    assert_eq!(spec.get("ipFamilies"), Some(&json!(["IPv4", "IPv6"])));
    let shared = json!({"type": "NodePort", "ports": [{"name": "a", "port": 53, "nodePort": 30557}, {"name": "b", "port": 53, "protocol": "UDP", "nodePort": 30557}]});
    made(shared).await;
    // A port for health checks comes with the Service, and goes with it.
    let checked = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local"});
    let spec = made(checked).await;
    let port = spec.get("healthCheckNodePort").and_then(Value::as_i64);
    assert!(port.is_some_and(|it| it >= 30000), "{spec}");
    let wanted = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30777});
    let taken = service("s", &wanted);
    local.create(SERVICES, &taken).await.unwrap();
    let again = local.create(SERVICES, &service("t", &wanted)).await;
    let text = "Internal error occurred: failed to allocate requested HealthCheck NodePort 30777: provided port is already allocated";
    refused(again, 500, text);
}

#[tokio::test]
async fn services_keep_what_they_were_given() {
    let server = Server::start().await;
    let local = server.local();
    let spec = json!({"type": "NodePort", "ports": [{"name": "web", "port": 80}]});
    let made = local.create(SERVICES, &service("s", &spec)).await.unwrap();
    let port = |it: &Value| {
        let ports = it.at(&["spec", "ports"]).and_then(Value::as_array);
        let first = ports.and_then(|it| it.first());
        first.and_then(|it| it.get("nodePort")).cloned()
    };
    // Another port by the same name, from a client that knows no node ports.
    let moved = json!({"type": "NodePort", "ports": [{"name": "web", "port": 8080}]});
    let one = format!("{SERVICES}/s");
    let changed = local.update(&one, &service("s", &moved)).await.unwrap();
    assert!(port(&made).is_some());
    assert_eq!(port(&changed), port(&made));
    let ip = |it: &Value| it.at(&["spec", "clusterIP"]).cloned();
    assert_eq!(ip(&changed), ip(&made));
    let headless = json!({"clusterIP": "None"});
    let made = service("h", &headless);
    local.create(SERVICES, &made).await.unwrap();
    let open = service("h", &json!({}));
    let one = format!("{SERVICES}/h");
    let kept = local.update(&one, &open).await.unwrap();
    assert_eq!(ip(&kept), Some(json!("None")));
}

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
