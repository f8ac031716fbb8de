//! Uses of gated fields, made from the schemas of the kinds that have them.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use features::{GatedField, Rule};
use json::{Object, Value, json};
use schema::{Go, Inside, NodeId, Shape};

/// An object that can use a gated field.
pub(super) struct Use {
    pub(super) gate: &'static str,
    /// Where it is stored.
    pub(super) key: String,
    /// Without the use.
    pub(super) plain: Value,
    way: Vec<Key>,
    field: &'static str,
    value: Value,
}

#[derive(Clone, Debug)]
enum Key {
    Field(String),
    Item,
    Value,
}

impl Use {
    /// The object with the use, and with an owner of it.
    pub(super) fn used(&self, plain: &Value) -> Value {
        let mut object = plain.clone();
        let mut at = &mut object;
        for key in &self.way {
            at = match key {
                Key::Field(name) => entry(at, name),
                Key::Value => entry(at, "key"),
                Key::Item => first(at),
            };
        }
        *entry(at, self.field) = self.value.clone();
        let leaf = single(&format!("f:{}", self.field), json!({}));
        let owned = self.way.iter().rev().fold(leaf, |below, key| match key {
            Key::Field(name) => single(&format!("f:{name}"), below),
            Key::Value => single("f:key", below),
            Key::Item => single("k:{\"name\":\"a\"}", below),
        });
        let metadata = entry(&mut object, "metadata");
        let managers = entry(metadata, "managedFields");
        if let Value::Array(managers) = managers {
            managers.push(json!({
                "manager": "user", "operation": "Update", "apiVersion": "v1",
                "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": owned,
            }));
        }
        object
    }
}

fn single(key: &str, value: Value) -> Value {
    let mut object = Object::new();
    object.insert(key, value);
    object.into()
}

fn entry<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    if !matches!(value, Value::Object(_)) {
        *value = json!({});
    }
    let object = value.as_object_mut().expect("made one");
    object.get_or_insert(key)
}

fn first(value: &mut Value) -> &mut Value {
    if value.as_array().is_none_or(Vec::is_empty) {
        *value = json!([{}]);
    }
    let items = value.as_array_mut().expect("made one");
    items.first_mut().expect("one item")
}

/// For each gated field, in each stored kind that has its type.
pub(super) fn generated() -> Vec<Use> {
    let stored = resources::builtin()
        .resources
        .iter()
        .filter(|it| it.prefix.is_some() && it.stored == (it.group.clone(), it.version.clone()));
    let mut all = Vec::new();
    for row in stored {
        let Some(schema) = row.builtin_schema() else {
            continue;
        };
        let ways = ways(schema.root);
        for (index, field) in features::fields().iter().enumerate() {
            let go = schema::builtin().named(&type_name(field));
            let go = go.and_then(|it| it.place().node().go.clone());
            let way = go.and_then(|it| ways.get(&Arc::as_ptr(&it)).cloned());
            if field.gate.is_none() || field.is_value {
                continue;
            }
            let Some((way, node)) = way else { continue };
            let name = format!("use-{index}");
            let Some(key) = row.key(row.namespaced.then_some("default"), &name) else {
                continue;
            };
            let mut plain = json!({
                "kind": (row.kind.to_string()), "apiVersion": (row.api_version()),
                "metadata": {
                    "name": (&name), "namespace": "default", "uid": (format!("uid-{index}")),
                    "creationTimestamp": "2026-01-01T00:00:00Z",
                    "managedFields": [{
                        "manager": "owner", "operation": "Update", "apiVersion": (row.api_version()),
                        "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
                        "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}},
                    }],
                },
            });
            if !row.namespaced
                && let Some(metadata) = plain.get_mut("metadata").and_then(Value::as_object_mut)
            {
                metadata.remove("namespace");
            }
            // What holds the field is there without it, unless it goes with it.
            let goes = matches!(field.rule, Rule::Holder | Rule::Member);
            let stays = &way[..way.len() - usize::from(goes)];
            let mut at = &mut plain;
            for step in stays {
                at = match step {
                    Key::Field(name) => entry(at, name),
                    Key::Value => entry(at, "key"),
                    Key::Item => first(at),
                };
                if at.is_null() {
                    *at = json!({});
                }
            }
            all.push(Use {
                gate: field.gate_name,
                key: format!("/{key}"),
                plain,
                value: value_of(node, field),
                way,
                field: field.field,
            });
        }
    }
    all
}

/// How each Go type is reached from a kind's own, and its node.
fn ways(root: NodeId) -> HashMap<*const Go, (Vec<Key>, NodeId)> {
    let arena = &schema::builtin().arena().nodes;
    let mut ways = HashMap::new();
    let mut seen = BTreeSet::new();
    let mut next = VecDeque::from([(root, Vec::new())]);
    while let Some((id, way)) = next.pop_front() {
        if !seen.insert(id.0) {
            continue;
        }
        let node = &arena[id.0 as usize];
        let mut types: Vec<&Arc<Go>> = node.go.iter().collect();
        while let Some(go) = types.pop() {
            ways.entry(Arc::as_ptr(go))
                .or_insert_with(|| (way.clone(), id));
            for member in &go.members {
                if let Inside::Inlined(NodeId(id)) = member.what {
                    types.extend(&arena[id as usize].go);
                }
            }
        }
        let below = |key: Key| [way.clone(), vec![key]].concat();
        match &node.shape {
            Shape::Object { fields, .. } => {
                for field in fields {
                    next.push_back((field.node, below(Key::Field(field.name.to_string()))));
                }
            }
            Shape::List { items, .. } => next.push_back((*items, below(Key::Item))),
            Shape::Map { values, .. } => next.push_back((*values, below(Key::Value))),
            _ => {}
        }
    }
    ways
}

/// Something that the field can be.
fn value_of(of: NodeId, field: &GatedField) -> Value {
    let arena = &schema::builtin().arena().nodes;
    let Shape::Object { fields, .. } = &arena[of.0 as usize].shape else {
        return "x".into();
    };
    let found = fields.iter().find(|it| *it.name == *field.field);
    found.map_or("x".into(), |it| some(it.node, 0))
}

fn some(of: NodeId, depth: usize) -> Value {
    let arena = &schema::builtin().arena().nodes;
    match &arena[of.0 as usize].shape {
        Shape::Boolean => true.into(),
        Shape::Integer | Shape::Number | Shape::IntOrString => 1.into(),
        Shape::List { items, .. } => Value::Array(vec![some(*items, depth + 1)]),
        Shape::Map { values, .. } => single("key", some(*values, depth + 1)),
        Shape::Object { fields, .. } if depth < 3 => match fields.first() {
            Some(field) => single(&field.name, some(field.node, depth + 1)),
            None => json!({}),
        },
        _ => "x".into(),
    }
}

fn type_name(row: &GatedField) -> String {
    let prefix = match row.package.split('/').next() {
        Some("apiextensions") => "io.k8s.apiextensions-apiserver.pkg.apis",
        Some("meta") => "io.k8s.apimachinery.pkg.apis",
        _ => "io.k8s.api",
    };
    let package = row.package.replace('/', ".");
    format!("{prefix}.{package}.{}", row.type_name)
}
