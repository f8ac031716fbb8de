//! Strategic merge patches: upstream's table, and patches made at random with what upstream makes of them.

use json::{Value, json};
use merge::strategic_merge_patch;
use schema::{Arena, Field, ListType, MapType, Node, NodeId, Patch, Place, Shape};

/// The types of upstream's tests, `MergeItem` first.
fn arena() -> Arena {
    let object = |fields: &[(&str, u32)]| {
        let fields = fields.iter().map(|(name, node)| Field {
            name: (*name).into(),
            node: NodeId(*node),
            required: false,
        });
        node(Shape::Object {
            fields: fields.collect(),
            map_type: MapType::Granular,
        })
    };
    let list = |items: u32, merge: bool, merge_key: Option<&str>, retain_keys: bool| Node {
        patch: Patch {
            merge,
            retain_keys,
            merge_key: merge_key.map(Into::into),
            ..Patch::default()
        },
        ..node(Shape::List {
            items: NodeId(items),
            list_type: ListType::Atomic,
        })
    };
    let shared = [("name", 2), ("value", 2), ("other", 2), ("simpleMap", 9)];
    let lists = [
        ("mergingList", 4),
        ("nonMergingList", 5),
        ("mergingIntList", 6),
    ];
    let item = [
        ("nonMergingIntList", 7),
        ("mergeItemPtr", 0),
        ("replacingItem", 10),
        ("jsonItem", 10),
        ("retainKeysMap", 1),
        ("retainKeysMergingList", 8),
    ];
    Arena {
        nodes: vec![
            object(&[&shared[..], &lists[..], &item[..]].concat()),
            object(&[&shared[..], &lists[..]].concat()),
            node(Shape::String),
            node(Shape::Integer),
            list(0, true, Some("name"), false),
            list(0, false, None, false),
            list(3, true, None, false),
            list(3, false, None, false),
            list(0, true, Some("name"), true),
            node(Shape::Map {
                values: NodeId(2),
                map_type: MapType::Granular,
            }),
            node(Shape::Any),
            object(&[
                ("name", 2),
                ("int32", 3),
                ("int64", 3),
                ("float32", 12),
                ("float64", 12),
            ]),
            node(Shape::Number),
        ],
    }
}

fn node(shape: Shape) -> Node {
    Node {
        shape,
        ..Node::default()
    }
}

#[test]
fn patches_give_what_upstream_gives() {
    let arena = arena();
    let (mut wrong, mut done) = (Vec::new(), 0);
    let text = include_str!("data/strategic.jsonl");
    for line in text.lines() {
        let line = json::parse(line.as_bytes()).expect("JSON");
        let items = line.as_array().expect("a list");
        let root = match items[0].as_str() {
            Some("MergeItem") => NodeId(0),
            _ => NodeId(11),
        };
        let place = Place::new(&arena, root);
        let got = strategic_merge_patch(place, items[1].clone(), items[2].clone());
        let got = got.unwrap_or_else(|why| json!({ "error": (why.to_string()) }));
        done += 1;
        if got != items[3] && !either_error(&got, &items[3]) {
            wrong.push(format!("{line}\n   got {got}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {done}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(done > 300, "{done} patches");
}

/// Which of several errors is found first is left to the order of Go's maps.
fn either_error(got: &Value, expected: &Value) -> bool {
    got.get("error").is_some() && expected.get("error").is_some()
}

/// Of all objects in the API, the selector of a `PodDisruptionBudget` alone is replaced.
#[test]
fn an_object_may_be_replaced() {
    let kind = schema::builtin().kind("policy", "v1", "PodDisruptionBudget");
    let live = json!({"spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}});
    let patch = json!({"spec": {"selector": {"matchLabels": {"c": "d"}}}});
    let merged = strategic_merge_patch(kind.unwrap().place(), live, patch).unwrap();
    let expected = json!({"spec": {"minAvailable": 1, "selector": {"matchLabels": {"c": "d"}}}});
    assert_eq!(merged, expected);
}
