//! Events expire, changed or not.

use std::time::{Duration, Instant};

use json::{Value, json};

use crate::fixture::{DEADLINE, Fixture};

const EVENTS: &str = "/api/v1/namespaces/n/events";

fn event(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": name, "finalizers": ["example.com/x"]},
        "involvedObject": {"kind": "Pod", "namespace": "n", "name": "p"},
        "reason": "R", "message": "m", "type": "Normal",
    })
}

#[tokio::test]
async fn a_changed_event_keeps_its_lease() {
    let fixture = Fixture::new();
    let admin = &fixture.admin;
    let lease = || {
        let latest = fixture.api.store().latest();
        latest
            .get(b"/events/n/e")
            .expect("the event is there")
            .lease
    };
    admin.create(EVENTS, &event("e")).await.unwrap();
    assert_ne!(lease(), 0);
    let path = format!("{EVENTS}/e");
    admin
        .merge_patch(&path, &json!({"count": 2}))
        .await
        .unwrap();
    assert_ne!(lease(), 0, "after a patch");
    let mut live = admin.get(&path).await.unwrap();
    live.as_object_mut().unwrap().insert("count", 3);
    admin.update(&path, &live).await.unwrap();
    assert_ne!(lease(), 0, "after an update");
    admin.apply(&path, &event("e"), "test").await.unwrap();
    assert_ne!(lease(), 0, "after an apply");
    // Its finalizer holds it, but not for ever.
    admin.delete(&path, &Value::Null).await.unwrap();
    assert_ne!(lease(), 0, "after the beginning of a deletion");
}

#[tokio::test]
async fn a_changed_event_expires() {
    let fixture = Fixture::with(|config| config.settings.event_ttl = Duration::from_millis(500));
    let admin = &fixture.admin;
    let path = format!("{EVENTS}/e");
    admin.create(EVENTS, &event("e")).await.unwrap();
    admin
        .merge_patch(&path, &json!({"count": 2}))
        .await
        .unwrap();
    let started = Instant::now();
    while admin.get(&path).await.is_ok() {
        assert!(started.elapsed() < DEADLINE, "it is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
