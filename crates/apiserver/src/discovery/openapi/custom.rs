//! The schemas of custom resources, as they are published.
//!
//! Version 2 cannot say all that a definition says, and kubectl reads some of what it can say too strictly: there,
//! parts are left out as apiextensions-apiserver leaves them out.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use json::{Object, Value, json};

use super::dialect::Dialect;
use super::paths::META;
use super::types::name_of;
use crate::catalog::Resource;

/// More than this deep nothing is published; definitions are refused well before.
const DEEPEST: usize = 256;

/// What a schema keeps, in the order of documents. The rest says nothing about objects.
const KEPT: &[&str] = &[
    "description",
    "type",
    "format",
    "title",
    "default",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "maxProperties",
    "minProperties",
    "enum",
    "nullable",
    "required",
    "items",
    "allOf",
    "oneOf",
    "anyOf",
    "not",
    "properties",
    "additionalProperties",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

const CONVENTIONS: &str =
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

/// Adds the schema of a custom resource and of its list.
pub(super) fn schemas(resource: &Resource, dialect: Dialect, into: &mut BTreeMap<String, Value>) {
    let Some(custom) = &resource.custom else {
        return;
    };
    let own = name_of(resource, &resource.kind);
    let list_kind = resource.list_kind.as_deref().unwrap_or_default();
    let list = name_of(resource, list_kind);
    let selectable = custom.selectable.iter();
    let selectable = selectable.map(|it| json!({"fieldPath": (it.trim_start_matches('.'))}));
    let selectable: Vec<Value> = selectable.collect();
    let mut object = object(custom.validation.as_ref(), custom.preserve_unknown, dialect);
    let mut items = list_of(&own, resource, dialect);
    for (schema, kind) in [(&mut object, &*resource.kind), (&mut items, list_kind)] {
        let kind = json!({
            "group": (&resource.group),
            "kind": kind,
            "version": (&resource.version),
        });
        schema.insert("x-kubernetes-group-version-kind", json!([kind]));
        if !selectable.is_empty() {
            schema.insert("x-kubernetes-selectable-fields", selectable.clone());
        }
        arrange(schema);
    }
    into.insert(own, object.into());
    into.insert(list, items.into());
}

/// Extensions last, and those by name.
fn arrange(schema: &mut Object) {
    let mut extensions: Vec<String> = Vec::new();
    schema.retain(|key, _| {
        extensions.extend(key.starts_with("x-").then(|| key.to_owned()));
        true
    });
    extensions.sort();
    schema.sort_by_rank(|key| {
        let at = extensions.iter().position(|it| it == key);
        at.map_or(0, |at| at + 1)
    });
}

fn object(validation: Option<&Value>, preserve: bool, dialect: Dialect) -> Object {
    let open = |it: &Value| is_true(it.get("x-kubernetes-preserve-unknown-fields"));
    let plain = || [("type", "object")].into_iter().collect();
    let Some(validation) = validation else {
        return plain();
    };
    // kubectl would refuse each field that no property names.
    if dialect == Dialect::V2 && (preserve || open(validation)) {
        return plain();
    }
    let Value::Object(mut schema) = publish(validation, dialect) else {
        return plain();
    };
    let properties = schema.get_or_insert("properties");
    if properties.is_null() {
        *properties = json!({});
    }
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("metadata", metadata("ObjectMeta", dialect));
        type_meta(properties);
        properties.sort_keys();
    }
    schema.sort_by_rank(rank);
    schema
}

/// What is said of a field that every object has, as of any built-in kind. To unpack it takes milliseconds.
fn said(field: &'static str) -> String {
    static SAID: LazyLock<HashMap<&'static str, String>> = LazyLock::new(|| {
        let mut texts = docs::Texts::default();
        let fields = ["apiVersion", "kind", "metadata"].into_iter();
        let said = fields.map(|field| {
            let text = texts.of("io.k8s.api.core.v1.ConfigMap", field);
            let other = || format!("The {field} that each object has. More info: {CONVENTIONS}");
            (field, text.unwrap_or_else(other))
        });
        said.collect()
    });
    SAID.get(field).cloned().unwrap_or_default()
}

fn type_meta(properties: &mut Object) {
    properties.insert(
        "apiVersion",
        json!({
            "description": (said("apiVersion")),
            "type": "string",
        }),
    );
    properties.insert(
        "kind",
        json!({
            "description": (said("kind")),
            "type": "string",
        }),
    );
}

fn metadata(name: &str, dialect: Dialect) -> Value {
    let text = said("metadata");
    let target = format!("{}{META}.{name}", dialect.definitions());
    match dialect {
        Dialect::V3 => json!({"description": text, "allOf": [{"$ref": target}]}),
        Dialect::V2 => json!({"description": text, "$ref": target}),
    }
}

fn list_of(own: &str, resource: &Resource, dialect: Dialect) -> Object {
    let target = format!("{}{own}", dialect.definitions());
    let mut properties = Object::new();
    properties.insert(
        "items",
        json!({
            "description": (format!("List of {}. More info: {CONVENTIONS}", resource.plural)),
            "type": "array",
            "items": {"$ref": target},
        }),
    );
    properties.insert("metadata", metadata("ListMeta", dialect));
    type_meta(&mut properties);
    properties.sort_keys();
    let list = resource.list_kind.as_deref().unwrap_or_default();
    let mut schema = Object::new();
    schema.insert(
        "description",
        format!("{list} is a list of {}", resource.kind),
    );
    schema.insert("type", "object");
    schema.insert("required", json!(["items"]));
    schema.insert("properties", properties);
    schema
}

/// A schema of a definition, with what it implies written out.
pub(super) fn publish(schema: &Value, dialect: Dialect) -> Value {
    structural(schema, dialect, 0)
}

fn structural(schema: &Value, dialect: Dialect, depth: usize) -> Value {
    let Some(fields) = schema.as_object().filter(|_| depth < DEEPEST) else {
        return schema.clone();
    };
    let mut out = Object::new();
    for (key, value) in fields.iter() {
        if !KEPT.contains(&&**key) {
            continue;
        }
        let value = match &**key {
            "items" | "additionalProperties" | "not" => structural(value, dialect, depth + 1),
            "properties" => each(value, dialect, depth),
            "allOf" | "oneOf" | "anyOf" => {
                let all = value.as_array().into_iter().flatten();
                all.map(|it| structural(it, dialect, depth + 1)).collect()
            }
            // Written only where they say something.
            "nullable" | "uniqueItems" | "exclusiveMaximum" | "exclusiveMinimum"
                if !is_true(Some(value)) =>
            {
                continue;
            }
            _ => value.clone(),
        };
        out.push(key, value);
    }
    if is_true(out.get("x-kubernetes-int-or-string")) {
        either(&mut out);
    }
    if dialect == Dialect::V2 {
        simplify(&mut out, fields);
    }
    embed(&mut out, dialect);
    out.sort_by_rank(rank);
    out.into()
}

fn each(properties: &Value, dialect: Dialect, depth: usize) -> Value {
    let mut out = Object::new();
    for (name, schema) in properties.as_object().into_iter().flat_map(Object::iter) {
        out.push(name, structural(schema, dialect, depth + 1));
    }
    out.sort_keys();
    out.into()
}

/// An integer or a string, unless the schema says it already.
fn either(schema: &mut Object) {
    let types = json!([{"type": "integer"}, {"type": "string"}]);
    let said = schema.get("anyOf") == Some(&types);
    let all = schema.get("allOf").and_then(Value::as_array);
    let said_in_all = all
        .and_then(|it| it.first())
        .is_some_and(|it| it.get("anyOf") == Some(&types));
    if said || said_in_all {
        return;
    }
    if schema.contains_key("anyOf") {
        let mut all = vec![json!({"anyOf": types})];
        all.extend(
            schema
                .get("allOf")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default(),
        );
        schema.insert("allOf", all);
    } else {
        schema.insert("anyOf", types);
    }
}

/// What version 2 cannot say, or kubectl misreads.
fn simplify(schema: &mut Object, original: &Object) {
    for key in ["allOf", "oneOf", "anyOf", "not", "default"] {
        schema.remove(key);
    }
    let nullable = schema.remove("nullable").is_some();
    let open = is_true(schema.get("x-kubernetes-preserve-unknown-fields"));
    if nullable {
        schema.remove("type");
    }
    if nullable || open {
        schema.remove("items");
        schema.remove("properties");
    }
    let ty = schema.get("type").and_then(Value::as_str);
    if ty == Some("array") && !schema.contains_key("items") || open && ty == Some("object") {
        schema.remove("type");
    }
    // What may be null need not be there.
    let properties = original.get("properties").and_then(Value::as_object);
    let may_be_null = |name: &Value| {
        let found = properties.and_then(|it| it.get(name.as_str().unwrap_or_default()));
        is_true(found.and_then(|it| it.get("nullable")))
    };
    let values = original.get("additionalProperties");
    let values_may = is_true(values.and_then(|it| it.get("nullable")));
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        if !open && !nullable {
            required.retain(|name| !may_be_null(name));
        }
        if values_may || required.is_empty() {
            schema.remove("required");
        }
    }
}

/// An object within has a type and metadata of its own.
fn embed(schema: &mut Object, dialect: Dialect) {
    let open = is_true(schema.get("x-kubernetes-preserve-unknown-fields"));
    if !is_true(schema.get("x-kubernetes-embedded-resource")) || dialect == Dialect::V2 && open {
        return;
    }
    if !schema.contains_key("properties") {
        schema.insert("properties", json!({}));
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        type_meta(properties);
        properties.insert("metadata", metadata("ObjectMeta", dialect));
        properties.sort_keys();
    }
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.cloned().unwrap_or_default();
    for name in ["kind", "apiVersion"] {
        if !required.iter().any(|it| it.as_str() == Some(name)) {
            required.push(name.into());
        }
    }
    schema.insert("required", required);
}

fn rank(key: &str) -> usize {
    KEPT.iter().position(|it| *it == key).unwrap_or(KEPT.len())
}

fn is_true(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool) == Some(true)
}
