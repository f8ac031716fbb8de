//! What lists read and bodies hold, and what APIs are not available: on a server where nobody else asks.

use json::{Value, json};
use telemetry::metrics::{Format, render};

use crate::world::World;

const RANGES: &str = "/api/v1/namespaces/default/limitranges";
const SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";

fn has(world: &World, lines: &[&str]) {
    let page = render(&world.server.api.metrics().registry, Format::Prometheus);
    for line in lines {
        assert!(
            page.lines().any(|it| it == *line),
            "{line} is not in\n{page}"
        );
    }
}

#[tokio::test]
async fn lists_and_bodies() {
    let world = World::start().await;
    let mut bytes = 0;
    // So large that lists are sent in pieces: those who are sent the same pieces count as others do.
    let text = "x".repeat(100_000);
    for name in ["a", "b", "c"] {
        let labels = json!({"is": name});
        let annotations = json!({"text": (&*text)});
        let range =
            json!({"metadata": {"name": name, "labels": labels, "annotations": annotations}});
        bytes += json::to_vec(&range).len();
        world.make(RANGES, range).await;
    }
    for query in ["", "", "?labelSelector=is%3Da", "?limit=2", "?limit=2"] {
        let list = world.client.get(&format!("{RANGES}{query}")).await;
        let list = list.expect("a list");
        assert!(list.get("items").is_some_and(|it| *it != Value::Null));
    }
    let sum = format!(
        "apiserver_request_body_size_bytes_sum{{group=\"\",resource=\"limitranges\",verb=\"create\"}} {bytes}"
    );
    let lines = [
        "apiserver_cache_list_total{group=\"\",index=\"\",resource=\"limitranges\"} 5",
        "apiserver_cache_list_fetched_objects_total{group=\"\",index=\"\",resource=\"limitranges\"} 13",
        "apiserver_cache_list_returned_objects_total{group=\"\",resource=\"limitranges\"} 11",
        "apiserver_request_body_size_bytes_count{group=\"\",resource=\"limitranges\",verb=\"create\"} 3",
        &sum,
    ];
    has(&world, &lines);
}

#[tokio::test]
async fn apis_that_nobody_serves() {
    let world = World::start().await;
    let service = |group: &str, change: Value| {
        let mut spec = json!({"group": group, "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1});
        if let (Some(spec), Value::Object(change)) = (spec.as_object_mut(), change) {
            spec.extend(change);
        }
        json!({"metadata": {"name": (format!("v1.{group}"))}, "spec": spec})
    };
    world
        .make(SERVICES, service("here.example", json!({})))
        .await;
    let remote =
        json!({"service": {"namespace": "default", "name": "x"}, "insecureSkipTLSVerify": true});
    world.make(SERVICES, service("there.example", remote)).await;
    let lines = [
        "aggregator_unavailable_apiservice{name=\"v1.here.example\"} 0",
        "aggregator_unavailable_apiservice{name=\"v1.there.example\"} 1",
    ];
    has(&world, &lines);
}
