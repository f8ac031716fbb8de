//! Scales.

use apiserver::incoming::RequestBody;
use apiserver::pipeline::Caller;
use auth::User;
use http_body_util::BodyExt as _;
use json::json;
use testkit::server::Server;

/// The manager of a Scale's replicas is that of the object's.
#[testkit::requires(test_store)]
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
    let response = apiserver::pipeline::handle(server.api(), &caller, parts, body).await;
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
