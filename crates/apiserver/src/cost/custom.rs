//! Definitions, and objects of their kinds.

use json::{Object, Value, json};
use merge::Context;
use merge::typed::Type;
use meta::field::Path;
use schema::structural;

use super::builtin::{NOW, One};
use super::measure::{Report, TIMES};

const SMALL: usize = 250;
/// Some six hundred times for patterns of all lengths, which are compiled when they are first used.
const ALLOCATED: u64 = 2_000;

fn many(count: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..count).map(item).collect()
}

fn map(count: usize, value: impl Fn(usize) -> Value) -> Value {
    let pairs = (0..count).map(|it| (format!("f{it}"), value(it)));
    Value::Object(pairs.collect())
}

fn one(key: String, value: Value) -> Value {
    Value::Object([(key, value)].into_iter().collect())
}

fn definition(shape: &str, count: usize) -> Value {
    let text = || json!({"type": "string"});
    let properties = |properties: Value| json!({"type": "object", "properties": properties});
    match shape {
        "properties" => properties(map(count, |_| text())),
        "required" => {
            let required = many(count, |it| format!("f{it}").into());
            json!({"type": "object", "properties": (map(count, |_| text())), "required": required})
        }
        "patterns" => properties(map(count, |it| {
            let pattern = format!("[\\p{{L}}]{{{}}}a{it}", it % 40 + 1);
            json!({"type": "string", "pattern": pattern})
        })),
        "patterns of large sets" => properties(map(
            count + count / 2,
            |_| json!({"type": "string", "pattern": "[\\p{L}]{40}"}),
        )),
        "patterns without case" => properties(map(
            count,
            |_| json!({"type": "string", "pattern": "(?i)[\\x{0}-\\x{10FFFF}]\\p{L}\\w"}),
        )),
        "listed values" => {
            let values = many(count, |it| format!("v{it}").into());
            properties(json!({"a": {"type": "string", "enum": values}}))
        }
        "defaults in defaults" => {
            let leaf =
                json!({"type": "object", "default": {}, "properties": (map(count, |_| text()))});
            (0..60).fold(
                leaf,
                |below, _| json!({"type": "object", "default": {}, "properties": {"a": below}}),
            )
        }
        "faults below a long key" => {
            let key = "k".repeat(count * 40);
            let wrong = map(count, |_| json!({"type": "nonsense", "uniqueItems": true}));
            properties(one(key, properties(wrong)))
        }
        "wrong defaults" => properties(map(count, |_| json!({"type": "string", "default": 1}))),
        "keys of a list" => {
            let keys = many(count, |it| format!("f{}", it % (count / 2)).into());
            let item = json!({"type": "object", "properties": (map(count, |_| text()))});
            let list = json!({"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys});
            properties(json!({"l": list}))
        }
        _ => {
            let any = many(count, |it| {
                let name = format!("f{it}");
                json!({"required": [name], "properties": {"g": {"pattern": "a"}}})
            });
            json!({"type": "object", "properties": {"g": {"type": "string"}}, "anyOf": any})
        }
    }
}

#[test]
fn definitions() {
    let mut report = Report::allocating(ALLOCATED);
    for shape in [
        "properties",
        "required",
        "patterns",
        "patterns of large sets",
        "patterns without case",
        "listed values",
        "defaults in defaults",
        "faults below a long key",
        "wrong defaults",
        "keys of a list",
        "alternatives",
    ] {
        let make = |count| definition(shape, count);
        let inputs = (make(SMALL), make(SMALL * TIMES as usize));
        let size = json::to_vec(&inputs.1).len();
        let mut step = |name: &str, run: &dyn Fn(&Value)| {
            let name = format!("a definition with {shape}: {name}");
            report.step(&name, (&inputs.0, &inputs.1), size, run);
        };
        let path = Path::new("schema");
        step("check", &|it| drop(structural::check(&path, it)));
        let options = structural::SchemaOptions::default();
        step("rules", &|it| {
            drop(structural::check_schema(&path, it, &options));
        });
        step("compile", &|it| {
            let schema = structural::from_json_schema_props(it);
            drop(schema.map(|it| schema::with_object_meta(&it)));
        });
    }
    report.judge(33);
}

/// A schema, and an object of it.
fn object(shape: &str, count: usize) -> (Value, Value) {
    let text = || json!({"type": "string"});
    let properties = |properties: Value| json!({"type": "object", "properties": properties});
    let list = |item: Value| properties(json!({"l": {"type": "array", "items": item}}));
    let key = || "k".repeat(count * 40);
    let maps = json!({"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {"type": "integer"}}});
    match shape {
        "wrong values below a long key" => (maps, one(key(), map(count, |_| "x".into()))),
        "right values below a long key" => (maps, one(key(), map(count, |_| 1.into()))),
        "unknown fields below a long key" => {
            let below = json!({"type": "object", "additionalProperties": (properties(json!({"a": {"type": "string"}})))});
            (below, one(key(), map(count, |_| 1.into())))
        }
        "many fields" => (
            properties(map(count, |_| text())),
            map(count, |_| "x".into()),
        ),
        "items without what they need" => {
            let required = many(count, |it| format!("f{it}").into());
            let item = json!({"type": "object", "properties": (map(count, |_| text())), "required": required});
            (list(item), json!({"l": (many(count, |_| json!({})))}))
        }
        "items and listed values" => {
            let values = many(count, |it| format!("v{it}").into());
            let item = json!({"type": "string", "enum": values});
            let items = many(count, |it| format!("v{}", it * 2).into());
            (list(item), json!({"l": items}))
        }
        "patterns" => {
            let pattern = |it: usize| {
                let pattern = format!("^[\\p{{L}}]{{{}}}a{it}", it % 40 + 1);
                json!({"type": "string", "pattern": pattern})
            };
            (
                properties(map(count, pattern)),
                map(count, |_| "aaaaaaaaaa".into()),
            )
        }
        "patterns of large sets" => (
            properties(map(
                count + count / 2,
                |_| json!({"type": "string", "pattern": "^[\\p{L}]{40}"}),
            )),
            map(count + count / 2, |_| "aaaaaaaaaa".into()),
        ),
        "a long text and a pattern" => {
            let pattern = "([a-z]{1,9}[0-9]){3}$";
            let schema = properties(json!({"a": {"type": "string", "pattern": pattern}}));
            (schema, json!({"a": ("ab1".repeat(count * 80))}))
        }
        "items of a set" | "items of a map" => {
            let (kind, keys) = if shape.ends_with("set") {
                ("set", json!([]))
            } else {
                ("map", json!(["a"]))
            };
            let item = json!({"type": "object", "x-kubernetes-map-type": "atomic", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"type": "integer", "maximum": 3}}});
            let schema = properties(
                json!({"l": {"type": "array", "items": item, "x-kubernetes-list-type": kind, "x-kubernetes-list-map-keys": keys}}),
            );
            let items = many(count, |it| {
                let number = i64::try_from(it).unwrap_or(0);
                json!({"a": (format!("a{}", it % (count - 3))), "b": number})
            });
            (schema, json!({"l": items}))
        }
        "few alternatives" => {
            let any = many(5, |it| {
                let number = i64::try_from(it).unwrap_or(0);
                json!({"properties": {"a": {"minimum": number, "maximum": number}}})
            });
            let item =
                json!({"type": "object", "properties": {"a": {"type": "integer"}}, "anyOf": any});
            (list(item), json!({"l": (many(count, |_| json!({"a": 9})))}))
        }
        "faults in faults" => {
            let leaf = json!({"type": "object", "maxProperties": 0, "additionalProperties": {"type": "integer"}});
            let schema = (0..60).fold(leaf, |below, _| {
                json!({"type": "object", "maxProperties": 0, "enum": [{}], "properties": {"a": below}})
            });
            let leaf = map(count, |_| 1.into());
            let object = (0..60).fold(leaf, |below, _| json!({"a": below}));
            (schema, object)
        }
        _ => {
            let item = json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
            let items = many(
                count,
                |it| json!({"apiVersion": "v1", "kind": "-", "metadata": {"name": (format!("a{it}")), "x": 1}}),
            );
            (list(item), json!({"l": items}))
        }
    }
}

#[test]
fn objects() {
    let mut report = Report::allocating(ALLOCATED);
    for shape in [
        "wrong values below a long key",
        "right values below a long key",
        "unknown fields below a long key",
        "many fields",
        "items without what they need",
        "items and listed values",
        "patterns",
        "patterns of large sets",
        "a long text and a pattern",
        "items of a set",
        "items of a map",
        "few alternatives",
        "faults in faults",
        "objects in objects",
    ] {
        let make = |count| {
            let (schema, object) = object(shape, count);
            let size = json::to_vec(&schema).len() + json::to_vec(&object).len();
            let mut old = object.clone();
            if let Some(fields) = old.as_object_mut() {
                fields.insert("new", 1);
            }
            (schema, object, old, size)
        };
        let inputs = (make(SMALL), make(SMALL * TIMES as usize));
        let size = inputs.1.3;
        // Each time with a new schema, whose patterns nobody has compiled yet.
        let mut step = |name: &str, run: &dyn Fn(&schema::Schema, &Value, &Value)| {
            let name = format!("an object with {shape}: {name}");
            let inputs = (&inputs.0, &inputs.1);
            report.step(&name, inputs, size, |(schema, object, old, _)| {
                let schema = structural::from_json_schema_props(schema).expect("a schema");
                run(&schema, object, old);
            });
        };
        let root = Path::root();
        step("read", &|schema, object, _| {
            let (place, mut object) = (schema.place(), object.clone());
            drop(structural::coerce(&root, place, &mut object, true, false));
            drop(schema::unknown_paths(place, &object));
            schema::prune(place, &mut object);
            structural::drop_nulls(place, &mut object);
            structural::default(place, &mut object);
        });
        step("validate", &|schema, object, _| {
            let place = schema.place();
            let mut errors = structural::validate(place, object);
            errors.extend(structural::validate_embedded(&root, place, object, false));
            errors.extend(structural::validate_lists(&root, place, object));
            let kind = meta::gvk::GroupKind::new("example.com", "Widget");
            drop(meta::Status::invalid(&kind, "a", &errors));
        });
        step("track and apply", &|schema, object, old| {
            let versions = One(schema);
            let context = Context {
                schema: Type::of(schema.place()),
                api_version: "example.com/v1",
                kind: "Widget",
                subresource: "",
                custom: true,
                versions: &versions,
                live: Some(old),
            };
            let mut new = object.clone();
            if let Some(fields) = new.as_object_mut() {
                fields.insert("apiVersion", "example.com/v1");
                fields.insert("kind", "Widget");
            }
            let _ = merge::update(&context, &mut new.clone(), "one", NOW);
            let applied = merge::apply(&context, &new, "two", false, NOW);
            drop(applied.map_err(crate::write::managed::refused));
        });
        step("validate an update", &|schema, object, old| {
            drop(structural::validate_update(schema.place(), object, old));
            drop(structural::validate_update(schema.place(), object, object));
        });
    }
    report.judge(56);
}

/// An object of nothing has no keys to look for.
#[test]
fn shapes_are_objects() {
    assert!(matches!(definition("properties", 1), Value::Object(_)));
    let (_, object) = object("many fields", 2);
    assert_eq!(object.as_object().map(Object::len), Some(2));
}
