//! Custom objects whose versions a webhook converts.

use std::time::{Duration, Instant};

use json::{Value, json};

use crate::hook::{Hook, Reply};
use crate::registered::{converted, widgets};
use crate::world::{World, refusal};

/// Widgets say `host:port` in v1, and two fields in v2.
fn convert(review: &Value) -> Reply {
    let to = review
        .str_at(&["request", "desiredAPIVersion"])
        .unwrap_or_default();
    let objects = review.at(&["request", "objects"]).and_then(Value::as_array);
    let objects = objects.into_iter().flatten().map(|object| {
        let mut object = object.clone();
        let fields = object.as_object_mut().expect("an object");
        fields.insert("apiVersion", to);
        let spec = fields.get_or_insert("spec");
        let text = |key| spec.str_at(&[key]).unwrap_or_default().to_owned();
        *spec = if to.ends_with("v2") {
            let both = text("address");
            let (host, port) = both.split_once(':').unwrap_or((&both, ""));
            json!({"host": host, "port": port})
        } else {
            json!({"address": (format!("{}:{}", text("host"), text("port")))})
        };
        object
    });
    let broken = objects
        .clone()
        .any(|it| it.str_at(&["spec", "address"]) == Some("broken:1"));
    let result = if broken {
        json!({"status": "Failure", "message": "broken"})
    } else {
        json!({"status": "Success"})
    };
    Reply::Raw(200, converted(review, result, objects.collect()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn custom_objects_are_converted_by_their_webhook() {
    let world = World::start().await;
    let hook = Hook::start(|_, review| convert(review)).await;
    widgets(&world, hook.url("/convert")).await;
    let path = |version: &str| format!("/apis/example.com/{version}/namespaces/default/widgets");
    // Definitions are followed in the background.
    let deadline = Instant::now() + Duration::from_secs(30);
    while world.client.get(&path("v2")).await.is_err() {
        assert!(Instant::now() < deadline, "never served");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let widget = |name: &str, host: &str| {
        json!({
            "apiVersion": "example.com/v2",
            "kind": "Widget",
            "metadata": {"name": name},
            "spec": {"host": host, "port": "1"},
        })
    };
    let made = world.make(&path("v2"), widget("one", "a")).await;
    assert_eq!(made.str_at(&["spec", "host"]), Some("a"));
    assert_eq!(made.str_at(&["apiVersion"]), Some("example.com/v2"));
    let registry = &world.server.api.metrics().registry;
    let page = || telemetry::metrics::render(registry, telemetry::metrics::Format::Prometheus);
    let called = format!(
        "rest_client_requests_total{{code=\"200\",host=\"127.0.0.1:{}\",method=\"POST\"}} ",
        hook.port
    );
    assert!(page().contains(&called), "{}", page());
    let stored = world.client.get(&format!("{}/one", path("v1"))).await;
    let stored = stored.expect("at the stored version");
    assert_eq!(stored.str_at(&["spec", "address"]), Some("a:1"));
    assert_eq!(
        stored.at(&["metadata", "uid"]),
        made.at(&["metadata", "uid"])
    );
    let changed = world
        .client
        .merge_patch(
            &format!("{}/one", path("v2")),
            &json!({"spec": {"port": "2"}}),
        )
        .await;
    assert_eq!(
        changed.expect("changed").str_at(&["spec", "port"]),
        Some("2")
    );
    let list = world.client.get(&path("v2")).await.expect("a list");
    let items = list.get("items").and_then(Value::as_array).expect("items");
    assert_eq!(items[0].str_at(&["spec", "port"]), Some("2"));
    for name in ["two", "three"] {
        world.make(&path("v2"), widget(name, name)).await;
    }
    let before = hook.asked().len();
    let list = world.client.get(&path("v2")).await.expect("a list");
    let items = list.get("items").and_then(Value::as_array).expect("items");
    assert!(
        items
            .iter()
            .all(|it| it.str_at(&["spec", "host"]).is_some())
    );
    assert_eq!(
        (items.len(), hook.asked().len() - before),
        (3, 1),
        "one call for all"
    );
    assert_eq!(
        refusal(world.create(&path("v2"), widget("four", "broken")).await),
        "500 Internal error occurred: conversion webhook for example.com/v2, Kind=Widget failed: broken"
    );
    let malformed = "conversion_webhook_malformed_response_failure";
    for line in [
        "apiserver_conversion_webhook_request_total{failure_type=\"\",result=\"success\"} ".to_owned(),
        format!("apiserver_conversion_webhook_request_total{{failure_type=\"{malformed}\",result=\"failure\"}} 1\n"),
        "apiserver_crd_conversion_webhook_duration_seconds_count{crd_name=\"widgets.example.com\",from_version=\"v2\",succeeded=\"false\",to_version=\"v1\"} 1\n".to_owned(),
    ] {
        assert!(page().contains(&line), "{line}: {}", page());
    }
}
