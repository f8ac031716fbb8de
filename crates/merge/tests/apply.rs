//! Server-side apply as its users see it: built-in kinds, several versions, emptied lists, writes that change nothing.

use std::sync::Arc;

use json::{Value, json};
use merge::fieldpath::{Filter, Set};
use merge::typed::Type;
use merge::{Context, Error, Unconverted, Versions, apply, keep_times, update};
use schema::{Arena, Field, ListType, MapType, Node, NodeId, Place, Schema, Shape};

const THEN: &str = "2020-01-01T00:00:00Z";
const NOW: &str = "2030-01-01T00:00:00Z";

/// A kind with what matters: a struct that is no pointer, lists by key, a set, a map.
fn widget() -> Schema {
    let node = |shape| Node {
        shape,
        ..Node::default()
    };
    let struct_node = |shape| Node {
        default: Some(json!({})),
        ..node(shape)
    };
    let field = |name: &str, node, required| Field {
        name: name.into(),
        node: NodeId(node),
        required,
    };
    let object = |fields: Vec<Field>| Shape::Object {
        fields: fields.into(),
        map_type: MapType::Granular,
    };
    let keyed = Shape::List {
        items: NodeId(5),
        list_type: ListType::Map(vec!["name".into()]),
    };
    let nodes = vec![
        node(object(vec![
            field("apiVersion", 1, false),
            field("kind", 1, false),
            field("metadata", 2, false),
            field("spec", 3, false),
        ])),
        node(Shape::String),
        struct_node(object(vec![
            field("name", 1, false),
            field("namespace", 1, false),
            field("uid", 1, false),
            field("labels", 7, false),
            field("annotations", 7, false),
            field("managedFields", 8, false),
        ])),
        struct_node(object(vec![
            field("replicas", 6, false),
            field("parts", 4, true),
            field("spares", 4, false),
            field("colors", 9, false),
        ])),
        node(keyed),
        node(object(vec![
            field("name", 1, true),
            field("size", 6, false),
        ])),
        node(Shape::Integer),
        node(Shape::Map {
            values: NodeId(1),
            map_type: MapType::Granular,
        }),
        node(Shape::List {
            items: NodeId(10),
            list_type: ListType::Atomic,
        }),
        node(Shape::List {
            items: NodeId(1),
            list_type: ListType::Set,
        }),
        node(Shape::Any),
    ];
    Schema {
        arena: Arc::new(Arena { nodes }),
        root: NodeId(0),
    }
}

/// `v1` is as the schema says; `v2` calls replicas `count`, and has no schema; `old` is gone.
struct Kinds<'a> {
    schema: &'a Schema,
    reset: Option<Filter>,
}

impl Versions for Kinds<'_> {
    fn convert(&self, object: &Value, version: &str) -> Result<Value, Unconverted> {
        let mut object = object.clone();
        let (from, to) = match version {
            "w/v1" => ("count", "replicas"),
            "w/v2" => ("replicas", "count"),
            "w/broken" => return Err(Unconverted::Failed("the webhook is down".into())),
            _ => return Err(Unconverted::MissingVersion),
        };
        if let Some(Value::Object(spec)) = object.get_mut("spec")
            && let Some(value) = spec.remove(from)
        {
            spec.insert(to, value);
        }
        if let Value::Object(object) = &mut object {
            object.insert("apiVersion", version);
        }
        Ok(object)
    }

    fn schema(&self, version: &str) -> Type<'_> {
        match version {
            "w/v1" => Type::of(Place::new(&self.schema.arena, self.schema.root)),
            _ => Type::Deduced,
        }
    }

    fn reset_fields(&self, _: &str) -> Option<&Filter> {
        self.reset.as_ref()
    }
}

struct World {
    schema: Schema,
    live: Option<Value>,
    reset: Option<Filter>,
}

impl World {
    fn new() -> Self {
        Self {
            schema: widget(),
            live: None,
            reset: None,
        }
    }

    fn run<T>(&self, version: &str, act: impl FnOnce(&Context) -> T) -> T {
        let kinds = Kinds {
            schema: &self.schema,
            reset: self.reset.clone(),
        };
        let live = self.live.as_ref().map(|live| {
            let there = kinds.is_at(live, version);
            if there {
                live.clone()
            } else {
                kinds.convert(live, version).expect("a version")
            }
        });
        act(&Context {
            schema: kinds.schema(version),
            api_version: version,
            kind: "Widget",
            subresource: "",
            custom: version != "w/v1",
            versions: &kinds,
            live: live.as_ref(),
        })
    }

    fn apply(
        &mut self,
        manager: &str,
        version: &str,
        spec: Value,
        force: bool,
    ) -> Result<(), Error> {
        let patch = json!({"apiVersion": version, "kind": "Widget", "metadata": {"name": "a"}, "spec": spec});
        let result = self.run(version, |it| apply(it, &patch, manager, force, NOW))?;
        self.live = Some(stored(result));
        Ok(())
    }

    fn update(&mut self, manager: &str, mut new: Value) {
        self.run("w/v1", |it| update(it, &mut new, manager, NOW))
            .expect("tracked");
        self.live = Some(stored(new));
    }

    fn spec(&self) -> Value {
        self.live
            .as_ref()
            .and_then(|it| it.get("spec"))
            .cloned()
            .unwrap_or_default()
    }

    /// Manager, operation, version and fields of each entry.
    fn owners(&self) -> Vec<String> {
        let live = self.live.as_ref().expect("an object");
        let entries = live
            .at(&["metadata", "managedFields"])
            .and_then(Value::as_array);
        let text = |it: &Value, name: &str| it.str_at(&[name]).unwrap_or("").to_owned();
        let entries = entries.into_iter().flatten().map(|it| {
            let fields = Set::from_json(it.get("fieldsV1").expect("fields")).expect("a set");
            let fields = fields.to_string().replace('\n', " ");
            let (name, version) = (text(it, "manager"), text(it, "apiVersion"));
            format!("{name} {} {version}: {fields}", text(it, "operation"))
        });
        entries.collect()
    }
}

fn stored(mut object: Value) -> Value {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.insert("uid", "1");
    }
    object
}

fn widget_object(spec: Value) -> Value {
    json!({"apiVersion": "w/v1", "kind": "Widget", "metadata": {"name": "a", "labels": {"x": "y"}}, "spec": spec})
}

/// Structs that are no pointers and fields that are always written are there before anyone writes: nobody owns them as
/// such, as in what kube-apiserver records for a new Deployment.
#[test]
fn a_create_owns_what_go_types_do_not_have_by_themselves() {
    let mut world = World::new();
    world.update(
        "kubectl",
        widget_object(
            json!({"parts": [{"name": "p"}], "spares": [{"name": "s"}], "colors": ["red"]}),
        ),
    );
    assert_eq!(
        world.owners(),
        [
            r#"kubectl Update w/v1: .metadata.labels .metadata.labels.x .spec.colors .spec.spares .spec.colors[="red"] .spec.parts[name="p"] .spec.parts[name="p"].name .spec.spares[name="s"] .spec.spares[name="s"].name"#
        ]
    );
}

#[test]
fn a_list_that_loses_its_last_item_goes() {
    let mut world = World::new();
    world.update("kubectl", widget_object(json!({"spares": [{"name": "s"}]})));
    world
        .apply("ci", "w/v1", json!({"spares": [{"name": "t"}]}), false)
        .expect("no conflict");
    world.update("kubectl", {
        let mut live = world.live.clone().expect("an object");
        *live.at_mut(&["spec", "spares"]).expect("spares") = json!([{"name": "t"}]);
        live
    });
    assert_eq!(world.spec(), json!({"spares": [{"name": "t"}]}));
    world
        .apply("ci", "w/v1", json!({"replicas": 1}), false)
        .expect("no conflict");
    assert_eq!(world.spec(), json!({"replicas": 1}));
}

#[test]
fn conflicts_name_the_manager_and_its_version() {
    let mut world = World::new();
    world
        .apply(
            "one",
            "w/v1",
            json!({"replicas": 1, "colors": ["red"]}),
            false,
        )
        .expect("a create");
    world
        .apply("two", "w/v1", json!({"replicas": 1}), false)
        .expect("the same value");
    let conflict = world.apply("three", "w/v1", json!({"replicas": 2}), false);
    let Err(Error::Conflict { message, causes }) = conflict else {
        panic!("{conflict:?}");
    };
    assert_eq!(
        message,
        "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.replicas\nconflicts with \"two\":\n- .spec.replicas"
    );
    let causes: Vec<_> = causes
        .iter()
        .map(|it| format!("{} {}", it.message, it.field))
        .collect();
    assert_eq!(
        causes,
        [
            "conflict with \"one\" .spec.replicas",
            "conflict with \"two\" .spec.replicas"
        ]
    );
    world
        .apply("three", "w/v1", json!({"replicas": 2}), true)
        .expect("forced");
    assert_eq!(
        world.owners(),
        [
            "one Apply w/v1: .spec.colors[=\"red\"]",
            "three Apply w/v1: .spec.replicas"
        ]
    );
    world
        .apply("one", "w/v1", json!({}), false)
        .expect("gives up");
    assert_eq!(world.spec(), json!({"replicas": 2}));
}

#[test]
fn versions_are_converted() {
    let mut world = World::new();
    world
        .apply("one", "w/v2", json!({"count": 1}), false)
        .expect("a create");
    let conflict = world
        .apply("two", "w/v1", json!({"replicas": 2}), false)
        .expect_err("a conflict");
    assert_eq!(
        conflict.to_string(),
        "Apply failed with 1 conflict: conflict with \"one\": .spec.count"
    );
    world
        .apply("one", "w/v1", json!({"replicas": 3}), false)
        .expect("its own field");
    assert_eq!(world.owners(), ["one Apply w/v1: .spec.replicas"]);
    world
        .apply("one", "w/v2", json!({"x": 1}), false)
        .expect("its own field");
    assert_eq!(world.spec(), json!({"x": 1}));
    assert_eq!(world.owners(), ["one Apply w/v2: .spec .spec.x"]);
}

/// Entries in versions that are no more are dropped; a version that cannot be converted fails an apply, and leaves the
/// managed fields of other writes as they are.
#[test]
fn versions_that_do_not_convert() {
    let mut world = World::new();
    world
        .apply("one", "w/v1", json!({"replicas": 1}), false)
        .expect("a create");
    let entry = |version: &str| json!({"manager": "x", "operation": "Update", "apiVersion": version, "time": THEN, "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}});
    let mut add = |version: &str| {
        let fields = world
            .live
            .as_mut()
            .and_then(|it| it.at_mut(&["metadata", "managedFields"]));
        fields
            .and_then(Value::as_array_mut)
            .expect("entries")
            .push(entry(version));
    };
    add("w/old");
    world
        .apply("one", "w/v1", json!({"replicas": 2}), false)
        .expect("no conflict");
    assert_eq!(world.owners(), ["one Apply w/v1: .spec.replicas"]);

    let mut add = |version: &str| {
        let fields = world
            .live
            .as_mut()
            .and_then(|it| it.at_mut(&["metadata", "managedFields"]));
        fields
            .and_then(Value::as_array_mut)
            .expect("entries")
            .push(entry(version));
    };
    add("w/broken");
    let before = world.owners();
    let failed = world.apply("one", "w/v1", json!({"replicas": 3}), false);
    assert_eq!(failed, Err(Error::Internal("the webhook is down".into())));
    let mut new = world.live.clone().expect("an object");
    *new.at_mut(&["spec", "replicas"]).expect("replicas") = 9.into();
    let failed = world.run("w/v1", |it| update(it, &mut new, "kubectl", NOW));
    assert!(failed.is_err());
    world.live = Some(new);
    assert_eq!(world.owners(), before);
}

#[test]
fn fields_that_a_request_may_not_own_are_reset() {
    let mut world = World::new();
    let reset = json!({"f:spec": {"f:colors": {}}});
    world.reset = Some(Filter::Exclude(
        Set::from_json(&reset).expect("a set").into_owned(),
    ));
    world
        .apply(
            "one",
            "w/v1",
            json!({"replicas": 1, "colors": ["red"]}),
            false,
        )
        .expect("a create");
    world.update(
        "two",
        widget_object(json!({"replicas": 1, "colors": ["blue"]})),
    );
    assert_eq!(
        world.owners(),
        [
            "one Apply w/v1: .spec.replicas",
            "two Update w/v1: .metadata.labels .metadata.labels.x"
        ]
    );
}

/// An empty list, or one empty entry, forgets all managers; a subresource may not.
#[test]
fn managed_fields_can_be_reset() {
    for entries in [json!([]), json!([{}])] {
        let mut world = World::new();
        world
            .apply("one", "w/v1", json!({"replicas": 1}), false)
            .expect("a create");
        let mut new = world.live.clone().expect("an object");
        *new.at_mut(&["metadata", "managedFields"]).expect("entries") = entries;
        world.update("two", new);
        assert_eq!(world.owners(), Vec::<String>::new());
        world
            .apply("three", "w/v1", json!({"replicas": 1}), false)
            .expect("no conflict");
        assert_eq!(
            world.owners(),
            [
                "three Apply w/v1: .spec.replicas",
                "before-first-apply Update w/v1: .spec.replicas"
            ]
        );
    }
}

#[test]
fn a_write_that_changes_nothing_keeps_its_times() {
    let mut world = World::new();
    let object = widget_object(json!({"replicas": 1}));
    world.update("one", object.clone());
    let live = world.live.clone().expect("an object");
    let mut same = live.clone();
    let time = ["metadata", "managedFields"];
    let entries = same
        .at_mut(&time)
        .and_then(Value::as_array_mut)
        .expect("entries");
    entries[0]
        .as_object_mut()
        .expect("an entry")
        .insert("time", THEN);
    let mut other = same.clone();
    keep_times(&live, &mut same);
    assert_eq!(same, live);
    *other.at_mut(&["spec", "replicas"]).expect("replicas") = 2.into();
    let before = other.clone();
    keep_times(&live, &mut other);
    assert_eq!(other, before);

    // Applied again, an object is as it was.
    world
        .apply("two", "w/v1", json!({"replicas": 1}), false)
        .expect("the same value");
    let live = world.live.clone();
    let patch = json!({"apiVersion": "w/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"replicas": 1}});
    let again = world.run("w/v1", |it| {
        apply(it, &patch, "two", false, "2040-01-01T00:00:00Z")
    });
    assert_eq!(again.ok(), live);
}

#[test]
fn wrong_patches_say_what_is_wrong() {
    let mut world = World::new();
    for (spec, expected) in [
        (
            json!({"size": 1}),
            ".spec.size: field not declared in schema",
        ),
        (
            json!({"replicas": "1"}),
            ".spec.replicas: expected numeric (int or float), got string",
        ),
        (
            json!({"colors": {"a": 1}}),
            ".spec.colors: expected list, got &{map[a:1]}",
        ),
        (
            json!({"parts": [{"name": "a"}, {"name": "a"}]}),
            ".spec.parts: duplicate entries for key [name=\"a\"]",
        ),
        (
            json!({"parts": [{"size": 1}]}),
            ".spec.parts: element 0: associative list with keys has an element that omits all key fields [\"name\"] (and doesn't have default values for any key fields)",
        ),
        (
            json!({"parts": [{"name": 1}]}),
            ".spec.parts[name=1].name: expected string, got &value.valueUnstructured{Value:1}",
        ),
    ] {
        let failed = world.apply("one", "w/v1", spec, false).expect_err("wrong");
        let expected =
            format!("failed to create typed patch object (/a; w/v1, Kind=Widget): {expected}");
        assert_eq!(failed, Error::Internal(expected));
    }
}
