//! Our documents against upstream's, where those are at hand.

use std::fs;
use std::path::{Path, PathBuf};

use json::{Object, Value, json};

use super::cache::tree;
use super::parts::{Encoding, Parts};
use crate::catalog::{self, Builtin, Catalog};

/// As upstream publishes them: it does not look at gates.
fn builtin() -> Builtin {
    let flags = features::Flags {
        feature_gates: vec!["AllAlpha=true,AllBeta=true".to_owned()],
        ..features::Flags::default()
    };
    let settings = flags.resolve(features::Registry::kubernetes());
    catalog::builtin(&settings.expect("gates can all be on"))
}

/// What upstream's committed documents and a running kube-apiserver differ in: the latter, as we, lists the values of
/// fields, names its release, and speaks no CBOR unless told to.
fn normal(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, value| {
                let is_text = key == "description" && value.as_str().is_some();
                !is_text && !key.contains("cbor") && key != "enum"
            });
            // Without its description, what wraps a reference is the reference.
            let only = fields.get("allOf").and_then(Value::as_array);
            if let (1, Some([only])) = (fields.len(), only.map(Vec::as_slice)) {
                *value = only.clone();
                return;
            }
            fields.sort_keys();
            fields.values_mut().for_each(normal);
        }
        Value::Array(items) => items.iter_mut().for_each(normal),
        _ => {}
    }
}

fn differences(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let more = b.iter().filter(|(key, _)| !a.contains_key(key));
            found.extend(more.map(|(key, value)| format!("{path}/{key} is missing: {value}")));
            for (key, ours) in a.iter() {
                let path = format!("{path}/{key}");
                match b.get(key) {
                    Some(theirs) => differences(&path, ours, theirs, found),
                    None => found.push(format!("{path} is ours only: {ours}")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (ours, theirs)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}/{at}"), ours, theirs, found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{path} is {ours}, not {theirs}")),
    }
}

fn read(path: &Path) -> Value {
    json::parse(&fs::read(path).unwrap()).unwrap()
}

#[requires::requires(openapi_documents)]
#[test]
fn documents_are_those_of_upstream_but_for_their_texts() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/openapi-v3"
    );
    let folder = PathBuf::from(folder);
    let catalog = Catalog::new(builtin(), &[]);
    let mut found = Vec::new();
    let mut compared = 0;
    let names = super::cache::names(&catalog).into_iter();
    for name in names.filter(|it| !it.starts_with("apis/features.k8s.io")) {
        let file = format!("{}_openapi.json", name.replace('/', "__"));
        let mut theirs = read(&folder.join(&file));
        let mut ours = tree(&catalog, &name).unwrap();
        if let Some(info) = theirs.get_mut("info").and_then(Value::as_object_mut) {
            info.insert("version", "1.37");
        }
        normal(&mut ours);
        normal(&mut theirs);
        differences(&name, &ours, &theirs, &mut found);
        compared += 1;
    }
    assert!(compared > 40, "{compared} documents");
    assert!(
        found.is_empty(),
        "{} differences, as\n{}",
        found.len(),
        found[..found.len().min(40)].join("\n")
    );
}

/// A definition of some size, served in two versions.
fn definition(plural: &str, group: &str) -> Value {
    let kind = format!("Kind{plural}");
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage,
            "subresources": {"status": {}, "scale": {
                "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
            }},
            "schema": {"openAPIV3Schema": {"type": "object", "description": "Text.", "properties": {
                "spec": {"type": "object", "properties": {
                    "replicas": {"type": "integer"},
                    "inner": {"type": "object", "x-kubernetes-embedded-resource": true},
                }},
            }}},
        })
    };
    json!({
        "metadata": {"name": (format!("{plural}.{group}"))},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"plural": plural, "kind": (&kind), "listKind": (format!("{kind}List"))},
            "versions": [(version("v1", true)), (version("v2", false))],
        },
        "status": {"conditions": [
            {"type": "Established", "status": "True"}, {"type": "NamesAccepted", "status": "True"},
        ]},
    })
}

fn rows(definitions: &[Value]) -> Vec<std::sync::Arc<crate::catalog::Resource>> {
    let life = crate::catalog::custom::DefinitionLifetime::begin().1;
    let rows = definitions.iter();
    rows.flat_map(|it| crate::catalog::custom::resources(it, None, 1, &life, None))
        .collect()
}

#[test]
fn parts_make_the_same_document_and_are_made_once() {
    let builtin = builtin();
    let mut parts = Parts::default();
    let mut check = |catalog: &Catalog, made: u64| {
        let whole = tree(catalog, super::cache::WHOLE).unwrap();
        let packed = parts.document(catalog, Encoding::Json);
        assert!(packed.unpack() == json::to_vec(&whole), "as JSON");
        let packed = parts.document(catalog, Encoding::Protobuf);
        let want = super::gnostic::encode(super::dialect::Dialect::V2, &whole);
        assert!(packed.unpack() == want, "as protobuf");
        // In two encodings.
        assert_eq!(parts.made, 2 * made);
    };
    check(&Catalog::new(builtin.clone(), &[]), 1);
    // The first sorts before all built-in types, the last between them.
    let mut definitions = vec![
        definition("as", "aaa.example"),
        definition("bs", "example.com"),
        definition("cs", "x.k8s.io"),
    ];
    check(&Catalog::new(builtin.clone(), &rows(&definitions)), 1 + 6);
    // Another status is no other schema.
    check(&Catalog::new(builtin.clone(), &rows(&definitions)), 1 + 6);
    let schema = ["spec", "versions"];
    let versions = definitions[1].at(&schema).cloned().unwrap();
    let mut versions = versions.as_array().unwrap().clone();
    let open = json!({"openAPIV3Schema": {"type": "object", "description": "Another."}});
    versions[0].as_object_mut().unwrap().insert("schema", open);
    let spec = definitions[1]
        .get_mut("spec")
        .and_then(Value::as_object_mut);
    spec.unwrap().insert("versions", versions);
    check(
        &Catalog::new(builtin.clone(), &rows(&definitions)),
        1 + 6 + 1,
    );
    definitions.remove(0);
    check(
        &Catalog::new(builtin.clone(), &rows(&definitions)),
        1 + 6 + 1,
    );
    check(&Catalog::new(builtin, &[]), 1 + 6 + 1);
}

#[test]
fn references_lead_somewhere() {
    let catalog = Catalog::new(builtin(), &[]);
    let whole = tree(&catalog, super::cache::WHOLE).unwrap();
    let empty = Object::new();
    let of = |document: &Value, path: &[&str]| {
        let found = document.at(path).and_then(Value::as_object);
        found.unwrap_or(&empty).clone()
    };
    let mut documents = vec![(whole.clone(), of(&whole, &["definitions"]))];
    for name in super::cache::names(&catalog) {
        let document = tree(&catalog, &name).unwrap();
        let schemas = of(&document, &["components", "schemas"]);
        documents.push((document, schemas));
    }
    let shared = of(&whole, &["parameters"]);
    for (document, schemas) in documents {
        let mut wanted = std::collections::BTreeSet::new();
        super::v3::refers(&document, &mut wanted);
        for name in wanted {
            let found = schemas.contains_key(&name) || shared.contains_key(&name);
            assert!(found, "{name}");
        }
    }
}

/// What a definition says, and what becomes of it in each version.
#[test]
fn custom_schemas_are_published_as_upstream_does() {
    let schema = json!({
        "type": "object",
        "required": ["spec", "nul"],
        "example": 1,
        "properties": {
            "nul": {"type": "string", "nullable": true},
            "port": {"x-kubernetes-int-or-string": true},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {}}},
            "count": {"type": "integer", "default": 1, "minimum": 0},
            "one": {"type": "object", "oneOf": [{"required": ["a"]}]},
            "inner": {"type": "object", "x-kubernetes-embedded-resource": true},
        },
    });
    let publish = |dialect| {
        let mut value = super::custom::publish(&schema, dialect);
        normal(&mut value);
        value
    };
    let embedded = |reference: &str| {
        json!({
            "type": "object",
            "required": ["kind", "apiVersion"],
            "properties": {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": {"$ref": (format!("{reference}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"))},
            },
            "x-kubernetes-embedded-resource": true,
        })
    };
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let v3 = json!({
        "type": "object",
        "required": ["spec", "nul"],
        "properties": {
            "nul": {"type": "string", "nullable": true},
            "port": {"anyOf": either, "x-kubernetes-int-or-string": true},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {}}},
            "count": {"type": "integer", "default": 1, "minimum": 0},
            "one": {"type": "object", "oneOf": [{"required": ["a"]}]},
            "inner": (embedded("#/components/schemas/")),
        },
    });
    assert_eq!(publish(super::dialect::Dialect::V3), v3);
    let v2 = json!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "nul": {},
            "port": {"x-kubernetes-int-or-string": true},
            "free": {"x-kubernetes-preserve-unknown-fields": true},
            "count": {"type": "integer", "minimum": 0},
            "one": {"type": "object"},
            "inner": (embedded("#/definitions/")),
        },
    });
    assert_eq!(publish(super::dialect::Dialect::V2), v2);
}
