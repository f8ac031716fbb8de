//! What mutating admission may change, and what not.

use std::sync::{Arc, Mutex};

use admission::{Admitting, Outcome, Plugin, Request};
use json::{Object, Value, json};

use crate::fixture::Fixture;

const MAPS: &str = "/api/v1/namespaces/n/configmaps";
const LONG_AGO: &str = "2001-02-03T04:05:06Z";

/// Writes fields into the metadata of each object, as a webhook could.
#[derive(Debug, Default)]
struct Writes {
    metadata: Mutex<Object>,
    /// The metadata that came, in both phases.
    seen: Mutex<Vec<Value>>,
}

#[derive(Debug)]
struct Shared(Arc<Writes>);

impl Shared {
    fn see(&self, admitting: &Admitting) {
        let metadata = admitting.object.get("metadata").cloned();
        self.0.seen.lock().unwrap().extend(metadata);
    }
}

impl Plugin for Shared {
    fn name(&self) -> &'static str {
        "Writes"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.resource.resource == "configmaps"
    }

    fn admit<'a>(&'a self, _: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        self.see(admitting);
        let metadata = admitting.object.get_mut("metadata");
        if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
            for (key, value) in self.0.metadata.lock().unwrap().iter() {
                if value.is_null() {
                    metadata.remove(key);
                } else {
                    metadata.insert(key, value.clone());
                }
            }
        }
        Outcome::Now(Ok(()))
    }

    fn validate<'a>(&'a self, _: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        self.see(admitting);
        Outcome::Now(Ok(()))
    }
}

fn fixture() -> (Fixture, Arc<Writes>) {
    let writes = Arc::new(Writes::default());
    let plugin = Shared(writes.clone());
    (Fixture::admitting(vec![Box::new(plugin)]), writes)
}

fn set(writes: &Writes, metadata: Value) {
    let Value::Object(metadata) = metadata else {
        panic!("not an object: {metadata}");
    };
    *writes.metadata.lock().unwrap() = metadata;
    writes.seen.lock().unwrap().clear();
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.str_at(&["metadata", field]).unwrap_or_default()
}

#[tokio::test]
async fn the_server_alone_says_when_an_object_began_and_which_it_is() {
    let (fixture, writes) = fixture();
    set(
        &writes,
        json!({
            "uid": "mine", "creationTimestamp": LONG_AGO, "deletionTimestamp": LONG_AGO,
            "deletionGracePeriodSeconds": 7, "selfLink": "/x", "labels": {"a": "b"},
        }),
    );
    let apply = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}});
    let made = [
        fixture
            .admin
            .create(MAPS, &json!({"metadata": {"name": "made"}}))
            .await
            .unwrap(),
        fixture
            .admin
            .apply(&format!("{MAPS}/applied"), &apply, "m")
            .await
            .unwrap(),
    ];
    for made in made {
        assert_eq!(made.at(&["metadata", "labels"]), Some(&json!({"a": "b"})));
        assert_eq!(text(&made, "uid").len(), 36, "{made}");
        assert!(text(&made, "creationTimestamp") > LONG_AGO, "{made}");
        for field in [
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
        ] {
            assert_eq!(made.at(&["metadata", field]), None, "{made}");
        }
        let path = format!("{MAPS}/{}", text(&made, "name"));
        assert_eq!(fixture.admin.get(&path).await.unwrap(), made);
    }
    // As upstream: what a new object is to be called by is known only after it was changed.
    let seen = writes.seen.lock().unwrap();
    assert_eq!(seen[0].at(&["uid"]), None, "{}", seen[0]);
    assert_eq!(seen[0].at(&["creationTimestamp"]), None, "{}", seen[0]);
    assert_eq!(
        seen[1].str_at(&["uid"]).map(str::len),
        Some(36),
        "{}",
        seen[1]
    );
}

#[tokio::test]
async fn an_object_stays_in_its_namespace() {
    let (fixture, writes) = fixture();
    let admin = &fixture.admin;
    let text =
        "the namespace of the provided object does not match the namespace sent on the request";
    let map = json!({"metadata": {"name": "a"}});
    set(&writes, json!({"namespace": "other"}));
    let refused = admin.create(MAPS, &map).await.unwrap_err();
    assert_eq!((refused.code, &*refused.message), (400, text));
    set(&writes, json!({"namespace": null}));
    let made = admin.create(MAPS, &map).await.unwrap();
    assert_eq!(self::text(&made, "namespace"), "n");
    set(&writes, json!({"namespace": "other"}));
    let change = json!({"data": {"a": "b"}});
    let refused = admin
        .merge_patch(&format!("{MAPS}/a"), &change)
        .await
        .unwrap_err();
    assert_eq!((refused.code, &*refused.message), (400, text));
}

#[tokio::test]
async fn an_update_keeps_what_nobody_can_change() {
    let (fixture, writes) = fixture();
    let admin = &fixture.admin;
    let made = admin
        .create(MAPS, &json!({"metadata": {"name": "a"}}))
        .await
        .unwrap();
    set(
        &writes,
        json!({"creationTimestamp": LONG_AGO, "generation": 7, "uid": null, "namespace": null}),
    );
    let path = format!("{MAPS}/a");
    let changed = admin
        .merge_patch(&path, &json!({"data": {"a": "b"}}))
        .await
        .unwrap();
    for field in ["uid", "creationTimestamp", "generation", "namespace"] {
        let field = ["metadata", field];
        assert_eq!(changed.at(&field), made.at(&field), "{field:?}");
    }
    // Others are refused, as from a client.
    set(
        &writes,
        json!({"uid": "mine", "deletionTimestamp": LONG_AGO}),
    );
    let refused = admin
        .merge_patch(&path, &json!({"data": {"a": "c"}}))
        .await
        .unwrap_err();
    assert_eq!(refused.code, 422, "{refused}");
    for field in ["metadata.uid", "metadata.deletionTimestamp"] {
        assert!(refused.message.contains(field), "{refused}");
    }
}
