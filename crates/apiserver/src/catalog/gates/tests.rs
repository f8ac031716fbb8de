//! Every row of the table of fields, for every kind that is served: by the types alone, without a server.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use features::{FeatureGate, FeatureSpec, GatedField, Registry, Rule, Settings, Stage};
use json::{Object, Value};
use schema::{Go, Inside, NodeId, Shape};

use super::Gates;
use crate::catalog::{Resource, builtin};

/// All gates of Kubernetes, on and free to be turned off one by one.
fn registry() -> Registry {
    let known = Registry::kubernetes();
    let gates = known.gates().iter().filter(|it| !it.is_special());
    let gates = gates.map(|it| FeatureGate {
        specs: vec![FeatureSpec {
            version: known.version(),
            stage: Stage::Beta,
            default: true,
            locked: false,
            min_compatibility: None,
        }],
        depends_on: Vec::new(),
        ..it.clone()
    });
    Registry::new(known.version(), gates).expect("sound gates")
}

fn without(registry: &Registry, gate: &str) -> Gates {
    let mut settings = Settings::defaults(registry, registry.version(), registry.version());
    let off = BTreeMap::from([(gate.to_owned(), false)]);
    settings.set(&off).expect("gates without locks");
    Gates::new(&settings)
}

#[derive(Clone, Debug)]
enum Key {
    Field(String),
    Item,
    Value,
}

/// How each Go type is reached from a kind's own.
fn ways(resource: &Resource) -> HashMap<*const Go, Vec<Key>> {
    let arena = &schema::builtin().arena().nodes;
    let mut ways = HashMap::new();
    let mut seen = BTreeSet::new();
    let root = resource.schema.as_ref().expect("built-in kinds have one");
    let mut next = VecDeque::from([(root.root, Vec::new())]);
    while let Some((NodeId(id), way)) = next.pop_front() {
        if !seen.insert(id) {
            continue;
        }
        let node = &arena[id as usize];
        let mut types: Vec<&Arc<Go>> = node.go.iter().collect();
        while let Some(go) = types.pop() {
            ways.entry(Arc::as_ptr(go)).or_insert_with(|| way.clone());
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

fn object(key: &str, value: Value) -> Value {
    let mut object = Object::new();
    object.insert(key, value);
    object.into()
}

/// An object with this value at the end of the way, and its path as errors name it.
fn made(way: &[Key], leaf: Value) -> (Value, String) {
    let value = way.iter().rev().fold(leaf, |value, key| match key {
        Key::Field(name) => object(name, value),
        Key::Item => Value::Array(vec![value]),
        Key::Value => object("key", value),
    });
    let mut path = String::new();
    for key in way {
        let name = match key {
            Key::Field(name) => name,
            Key::Value => "key",
            Key::Item => {
                path.push_str("[0]");
                continue;
            }
        };
        path.push_str(if path.is_empty() { "" } else { "." });
        path.push_str(name);
    }
    (value, path)
}

fn check(row: &GatedField, off: &Gates, on: &Gates, resource: &Resource, way: &[Key]) {
    let name = format!("{} {}.{}", resource.kind, row.type_name, row.field);
    let root = resource.schema.as_ref().expect("checked before").root;
    let (used, mut path) = if row.is_value {
        made(way, row.field.into())
    } else {
        made(way, object(row.field, "x".into()))
    };
    if !row.is_value {
        path.push_str(if path.is_empty() { "" } else { "." });
        path.push_str(row.field);
    }
    assert!(off.concern(root), "{name}");

    let mut sent = used.clone();
    let found = off.drop_disabled(root, &mut sent, None);
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    assert_eq!(found[0].path, path, "{name}");
    let text = found[0].text();
    assert!(
        text.contains(&path) && text.contains(row.gate_name),
        "{name}: {text}"
    );
    if row.is_value || row.rule == Rule::Forbidden {
        assert_eq!(sent, used, "{name}: refused, not dropped");
    } else {
        assert_ne!(sent, used, "{name}: dropped");
        assert!(off.drop_disabled(root, &mut sent, None).is_empty());
    }

    let mut kept = used.clone();
    assert!(off.drop_disabled(root, &mut kept, Some(&used)).is_empty());
    assert_eq!(kept, used, "{name}: the stored object has it");
    assert!(on.drop_disabled(root, &mut kept, None).is_empty());
    assert_eq!(kept, used, "{name}: the gate is on");
}

#[test]
fn every_row_of_a_served_kind_is_enforced() {
    let registry = registry();
    let all_on = Settings::defaults(&registry, registry.version(), registry.version());
    let on = Gates::new(&all_on);
    let resources = builtin(&all_on).groups.into_iter();
    let resources = resources
        .flat_map(|it| it.versions)
        .flat_map(|it| it.resources);
    let resources: Vec<_> = resources
        .filter(|it| it.schema.is_some())
        .map(|it| (ways(&it), it))
        .collect();
    let mut gates: BTreeMap<&str, Gates> = BTreeMap::new();
    let (mut rows, mut places) = (0, 0);
    for row in features::fields().iter().filter(|it| it.gate.is_some()) {
        let found = schema::builtin().named(&super::compile::type_name(row));
        let Some(go) = found.and_then(|it| it.place().node().go.clone()) else {
            continue;
        };
        let off = gates.entry(row.gate_name);
        let off = off.or_insert_with(|| without(&registry, row.gate_name));
        let mut is_served = false;
        for (ways, resource) in &resources {
            if let Some(way) = ways.get(&Arc::as_ptr(&go)) {
                check(row, off, &on, resource, way);
                is_served = true;
                places += 1;
            }
        }
        rows += usize::from(is_served);
    }
    // Of 1.37: a table that loses rows, or types that go, would be noticed nowhere else.
    assert_eq!((rows, places), (107, 363));
}

#[test]
fn with_all_gates_at_their_defaults_most_kinds_pay_nothing() {
    let groups = builtin(&Settings::kubernetes()).groups.into_iter();
    let all = groups
        .flat_map(|it| it.versions)
        .flat_map(|it| it.resources);
    let (gated, free): (Vec<_>, Vec<_>) = all.partition(|it| it.gates.is_some());
    let names = |all: &[Arc<Resource>]| -> Vec<String> {
        all.iter().map(|it| it.plural.to_string()).collect()
    };
    for name in ["configmaps", "secrets", "services", "events", "namespaces"] {
        assert!(names(&free).iter().any(|it| it == name), "{name}");
    }
    for name in ["pods", "deployments", "leases", "nodes", "resourceslices"] {
        assert!(names(&gated).iter().any(|it| it == name), "{name}");
    }
}
