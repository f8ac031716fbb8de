//! Watches: from where they begin, what they show, how they end.

use json::{Value, json};

use crate::fixture::{Fixture, next};

const MAPS: &str = "/api/v1/namespaces/n/configmaps";

async fn create(fixture: &Fixture, name: &str) -> String {
    let map = json!({"metadata": {"name": name}});
    let made = fixture.admin.create(MAPS, &map).await.unwrap();
    made.str_at(&["metadata", "resourceVersion"])
        .unwrap()
        .to_owned()
}

/// All events of a watch that ends by itself.
async fn events(fixture: &Fixture, query: &str) -> Vec<Value> {
    let path = format!("{MAPS}?watch=1&timeoutSeconds=1&{query}");
    let answer = fixture.request("GET", &path, &[], "").await;
    assert_eq!(answer.code, 200, "{answer:?}");
    let lines = answer.body.split(|it| *it == b'\n');
    let lines = lines.filter(|it| !it.is_empty());
    lines.map(|it| json::parse(it).unwrap()).collect()
}

fn told(events: &[Value]) -> Vec<String> {
    let each = events.iter().map(|it| {
        let name = it.str_at(&["object", "metadata", "name"]);
        format!("{} {}", it.str_at(&["type"]).unwrap(), name.unwrap_or("-"))
    });
    each.collect()
}

#[tokio::test]
async fn a_watch_begins_where_it_is_told_to() {
    let fixture = Fixture::new();
    let first = create(&fixture, "a").await;
    create(&fixture, "b").await;
    // Everything there is, or what came after.
    assert_eq!(told(&events(&fixture, "").await), ["ADDED a", "ADDED b"]);
    assert_eq!(
        told(&events(&fixture, "resourceVersion=0").await),
        ["ADDED a", "ADDED b"]
    );
    let after = format!("resourceVersion={first}");
    assert_eq!(told(&events(&fixture, &after).await), ["ADDED b"]);
    fixture
        .admin
        .delete(&format!("{MAPS}/a"), &Value::Null)
        .await
        .unwrap();
    let all = events(&fixture, &after).await;
    assert_eq!(told(&all), ["ADDED b", "DELETED a"]);
    // The end of an object has a version of its own, from which one can go on.
    let version = all[1]
        .str_at(&["object", "metadata", "resourceVersion"])
        .unwrap();
    assert!(version.parse::<u64>().unwrap() > first.parse::<u64>().unwrap() + 1);
    assert!(
        events(&fixture, &format!("resourceVersion={version}"))
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn changes_come_in_their_order() {
    let fixture = Fixture::new();
    let mut watch = fixture
        .admin
        .watch(&format!("{MAPS}?watch=1"))
        .await
        .unwrap();
    create(&fixture, "a").await;
    create(&fixture, "b").await;
    let path = format!("{MAPS}/a");
    for value in ["1", "2"] {
        let patch = json!({"data": {"k": value}});
        fixture.admin.merge_patch(&path, &patch).await.unwrap();
    }
    // Nothing changes, so nothing is told.
    fixture
        .admin
        .merge_patch(&path, &json!({"data": {"k": "2"}}))
        .await
        .unwrap();
    fixture.admin.delete(&path, &Value::Null).await.unwrap();
    for event in [
        "ADDED a",
        "ADDED b",
        "MODIFIED a",
        "MODIFIED a",
        "DELETED a",
    ] {
        assert_eq!(next(&mut watch).await, event);
    }
}

#[tokio::test]
async fn other_namespaces_are_not_shown() {
    let fixture = Fixture::new();
    let mut watch = fixture
        .admin
        .watch(&format!("{MAPS}?watch=1"))
        .await
        .unwrap();
    let map = json!({"metadata": {"name": "x"}});
    let other = "/api/v1/namespaces/m/configmaps";
    fixture.admin.create(other, &map).await.unwrap();
    fixture
        .admin
        .create("/api/v1/namespaces/n/secrets", &map)
        .await
        .unwrap();
    create(&fixture, "a").await;
    assert_eq!(next(&mut watch).await, "ADDED a");
    let mut all = fixture
        .admin
        .watch("/api/v1/configmaps?watch=1")
        .await
        .unwrap();
    assert_eq!(next(&mut all).await, "ADDED x");
    assert_eq!(next(&mut all).await, "ADDED a");
}

#[tokio::test]
async fn initial_events_end_with_a_bookmark() {
    let fixture = Fixture::new();
    create(&fixture, "a").await;
    let query = "allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let all = events(&fixture, query).await;
    assert_eq!(told(&all)[..2], ["ADDED a", "BOOKMARK -"]);
    let mark = [
        "object",
        "metadata",
        "annotations",
        "k8s.io/initial-events-end",
    ];
    assert_eq!(all[1].str_at(&mark), Some("true"));
    assert_eq!(all[1].str_at(&["object", "kind"]), Some("ConfigMap"));
    let none = "allowWatchBookmarks=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0";
    let all = told(&events(&fixture, none).await);
    assert!(!all.contains(&"ADDED a".to_owned()), "{all:?}");
}

#[tokio::test]
async fn a_watch_that_makes_no_sense_is_refused() {
    let fixture = Fixture::new();
    for (query, code) in [
        ("sendInitialEvents=true", 422),
        ("resourceVersionMatch=NotOlderThan", 422),
        ("timeoutSeconds=x", 400),
    ] {
        let path = format!("{MAPS}?watch=1&{query}");
        let answer = fixture.request("GET", &path, &[], "").await;
        assert_eq!(answer.code, code, "{query}: {answer:?}");
    }
}

#[tokio::test]
async fn events_have_other_forms() {
    let fixture = Fixture::new();
    create(&fixture, "a").await;
    let path = format!("{MAPS}?watch=1&timeoutSeconds=1");
    let get = async |accept: &str| {
        fixture
            .request("GET", &path, &[("accept", accept)], "")
            .await
    };
    let table = get("application/json;as=Table;v=v1;g=meta.k8s.io")
        .await
        .json();
    assert_eq!(table.str_at(&["object", "kind"]), Some("Table"));
    let form = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let metadata = get(form).await.json();
    assert_eq!(
        metadata.str_at(&["object", "kind"]),
        Some("PartialObjectMetadata")
    );
    assert_eq!(metadata.str_at(&["object", "metadata", "name"]), Some("a"));
    let protobuf = get("application/vnd.kubernetes.protobuf;stream=watch").await;
    // A length of four bytes, and then the event.
    let (length, rest) = protobuf.body.split_at(4);
    let length = u32::from_be_bytes(length.try_into().unwrap());
    assert_eq!(usize::try_from(length).unwrap(), rest.len());
}
