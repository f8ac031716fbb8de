//! What a definition's schema may use of `OpenAPI`, and how lists and maps must be declared: upstream's words.

use std::collections::HashSet;

use json::{Object, Value};
use meta::field::{Error, ErrorList, Path};

use super::{flag, from_json_schema_props, validate};
use crate::{Place, prune};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const KEYS: &str = "x-kubernetes-list-map-keys";
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";

/// What no structural schema can have.
const UNSUPPORTED: [&str; 6] = [
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
];

/// What is wrong with the schema of a definition, beside that it is not structural.
pub fn check_rules(path: &Path<'_>, schema: &Value) -> Vec<Error> {
    let mut errors = ErrorList::default();
    if flag(schema, "nullable") {
        let text = "nullable cannot be true at the root";
        errors.push_with(|| Error::forbidden(path.child("nullable"), text));
    }
    let top = Inside {
        is_root: true,
        ..Inside::default()
    };
    if let Ok(compiled) = from_json_schema_props(schema) {
        level(path, schema, compiled.place(), &top, &mut errors);
    }
    errors.into_vec()
}

/// Whether a schema uses what no structural schema can: then it is not asked whether it is one.
pub fn is_beyond_structural(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            UNSUPPORTED.iter().any(|it| is_set(schema, it))
                || schema
                    .get("items")
                    .is_some_and(|it| it.as_array().is_some())
                || fields.iter().any(|(key, it)| match &**key {
                    "properties" => object(schema, key).any(|(_, it)| is_beyond_structural(it)),
                    "items" | "additionalProperties" | "not" | "allOf" | "anyOf" | "oneOf" => {
                        is_beyond_structural(it)
                    }
                    _ => false,
                })
        }
        Value::Array(all) => all.iter().any(is_beyond_structural),
        _ => false,
    }
}

/// Where in the object a schema is.
#[derive(Clone, Default)]
struct Inside {
    is_root: bool,
    is_metadata: bool,
    no_defaults: Option<String>,
}

/// A schema as it is written, and compiled: the whole is compiled once, not each part that has a default.
fn level(
    path: &Path<'_>,
    schema: &Value,
    place: Place<'_>,
    inside: &Inside,
    errors: &mut ErrorList,
) {
    let Some(rules) = &place.node().rules else {
        return;
    };
    fields(path, schema, place, inside, errors);
    if flag(schema, "uniqueItems") {
        let text =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.push_with(|| Error::forbidden(path.child("uniqueItems"), text));
    }
    let here = Inside {
        is_root: false,
        ..inside.clone()
    };
    if let Some(additional) = schema.get("additionalProperties") {
        let path = path.child("additionalProperties");
        let any = additional.is_null() || *additional == Value::Bool(true);
        if !any && object(schema, "properties").next().is_some() {
            let text = "additionalProperties and properties are mutual exclusive";
            errors.push_with(|| Error::forbidden(path, text));
        }
        let mut here = here.clone();
        if here.is_metadata {
            let text = "inside additionalProperties applying to object metadata";
            here.no_defaults = Some(text.to_owned());
        }
        if let Some(id) = rules.additional {
            level(&path, additional, place.at(id), &here, errors);
        }
    }
    let resource = inside.is_root || flag(schema, EMBEDDED);
    for ((name, property), (_, id)) in object(schema, "properties").zip(&rules.properties) {
        let mut here = here.clone();
        if resource && matches!(name, "metadata" | "kind" | "apiVersion") {
            here.is_metadata = true;
            if inside.is_root {
                here.no_defaults = Some(format!("in top-level {name}"));
            }
        }
        let path = path.child("properties");
        level(&path.key(name), property, place.at(*id), &here, errors);
    }
    if let (Some(not), Some(id)) = (schema.get("not"), rules.not) {
        level(&path.child("not"), not, place.at(id), &here, errors);
    }
    for (name, ids) in [
        ("allOf", &rules.all_of),
        ("oneOf", &rules.one_of),
        ("anyOf", &rules.any_of),
    ] {
        let path = path.child(name);
        let all = schema.get(name).and_then(Value::as_array);
        for (index, (it, id)) in all.into_iter().flatten().zip(ids).enumerate() {
            level(&path.index(index), it, place.at(*id), &here, errors);
        }
    }
    if let (Some(items), Some(id)) = (schema.get("items"), rules.items) {
        level(&path.child("items"), items, place.at(id), &here, errors);
    }
    declared(path, schema, errors);
}

/// What one schema says of itself.
fn fields(
    path: &Path<'_>,
    schema: &Value,
    place: Place<'_>,
    inside: &Inside,
    errors: &mut ErrorList,
) {
    let kind = ty(schema);
    if !kind.is_empty() && !TYPES.contains(&kind) {
        errors.push_with(|| Error::not_supported(path.child("type"), kind, TYPES));
    }
    if let Some(default) = schema.get("default").filter(|it| !it.is_null()) {
        if let Some(reason) = &inside.no_defaults {
            let text = format!("must not be set {reason}");
            errors.push_with(|| Error::forbidden(path.child("default"), text));
        } else {
            let more = inside.is_metadata || flag(schema, EMBEDDED);
            defaults(path, place, default, more, errors);
        }
    }
    for name in UNSUPPORTED {
        if is_set(schema, name) {
            let text = format!("{name} is not supported");
            errors.push_with(|| Error::forbidden(path.child(name), text));
        }
    }
    if kind == "null" {
        let text = "type cannot be set to null, use nullable as an alternative";
        errors.push_with(|| Error::forbidden(path.child("type"), text));
    }
    if schema
        .get("items")
        .is_some_and(|it| it.as_array().is_some())
    {
        let text = "items must be a schema object and not an array";
        errors.push_with(|| Error::forbidden(path.child("items"), text));
    }
    if inside.is_metadata && flag(schema, EMBEDDED) {
        let text = "must not be used inside of resource meta";
        errors.push_with(|| Error::forbidden(path.child(EMBEDDED), text));
    }
}

/// A default must be what its own schema takes, and all of it; metadata is known to have more.
fn defaults(
    path: &Path<'_>,
    place: Place<'_>,
    default: &Value,
    may_have_more: bool,
    errors: &mut ErrorList,
) {
    if errors.is_full() {
        return;
    }
    let path = path.child("default");
    let mut pruned = default.clone();
    prune(place, &mut pruned);
    if pruned != *default && !may_have_more {
        let text = "must not have unknown fields";
        errors.push(Error::invalid(path, default.clone(), text));
        return;
    }
    let wrong = validate(place, default);
    if !wrong.is_empty() {
        let at = path.to_string();
        for error in wrong {
            errors.push_with(|| error.below(&at));
        }
    }
}

/// Lists and maps as they are declared for apply.
fn declared(path: &Path<'_>, schema: &Value, errors: &mut ErrorList) {
    if schema.get(PRESERVE) == Some(&Value::Bool(false)) {
        let text = "must be true or undefined";
        errors.push_with(|| Error::invalid(path.child(PRESERVE), false, text));
    }
    let text = |key| schema.str_at(&[key]);
    let (map, list) = (text(MAP_TYPE), text(LIST_TYPE));
    if map.is_some() && ty(schema) != "object" {
        errors.push_with(|| other_type(path, schema, "object", MAP_TYPE));
    }
    if let Some(map) = map.filter(|it| !matches!(*it, "atomic" | "granular")) {
        let supported = ["atomic", "granular"];
        errors.push_with(|| Error::not_supported(path.child(MAP_TYPE), map, supported));
    }
    if list.is_some() && ty(schema) != "array" {
        errors.push_with(|| other_type(path, schema, "array", LIST_TYPE));
    } else if list == Some("set") {
        set(path, schema, errors);
    }
    if let Some(list) = list.filter(|it| !matches!(*it, "atomic" | "set" | "map")) {
        let supported = ["atomic", "set", "map"];
        errors.push_with(|| Error::not_supported(path.child(LIST_TYPE), list, supported));
    }
    if !keys(schema).is_empty() && list != Some("map") {
        let text = "must be map if x-kubernetes-list-map-keys is non-empty";
        let path = path.child(LIST_TYPE);
        errors.push_with(|| match list {
            None => Error::required(path, text),
            Some(list) => Error::invalid(path, list, text),
        });
    }
    if list == Some("map") {
        map_list(path, schema, errors);
    }
    let items = path.child("items");
    if let Some(list) = list.filter(|it| matches!(*it, "set" | "map"))
        && schema.get("items").is_some_and(|it| flag(it, "nullable"))
    {
        let text = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        errors.push_with(|| Error::forbidden(items.child("nullable"), text));
    }
    if list == Some("map") {
        map_keys(&items, schema, errors);
    }
}

fn other_type(path: &Path<'_>, schema: &Value, kind: &str, what: &str) -> Error {
    let text = format!("must be {kind} if {what} is specified");
    let path = path.child("type");
    match ty(schema) {
        "" => Error::required(path, text),
        found => Error::invalid(path, found, text),
    }
}

/// The items of a set count as a whole.
fn set(path: &Path<'_>, schema: &Value, errors: &mut ErrorList) {
    let Some(items) = schema.get("items") else {
        return;
    };
    let path = path.child("items");
    let text = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let of = |key| items.str_at(&[key]);
    // Upstream shows the list type of the item, whichever it speaks of.
    let shown = of(LIST_TYPE).map(Value::from).unwrap_or_default();
    match ty(items) {
        "array" if of(LIST_TYPE).is_some_and(|it| it != "atomic") => {
            errors.push_with(|| Error::invalid(path.child(LIST_TYPE), shown, text));
        }
        "object" if of(MAP_TYPE) != Some("atomic") => {
            errors.push_with(|| Error::invalid(path.child(MAP_TYPE), shown, text));
        }
        _ => {}
    }
}

fn map_list(path: &Path<'_>, schema: &Value, errors: &mut ErrorList) {
    let (keys, at) = (keys(schema), path.child(KEYS));
    if keys.is_empty() {
        let text = "must not be empty if x-kubernetes-list-type is map";
        errors.push_with(|| Error::required(at, text));
    }
    let path = path.child("items");
    let items = match schema.get("items") {
        None => {
            let text = "must have a schema if x-kubernetes-list-type is map";
            return errors.push_with(|| Error::required(path, text));
        }
        Some(items) if items.as_array().is_some() => {
            let text = "must only have a single schema if x-kubernetes-list-type is map";
            return errors.push_with(|| Error::invalid(path, items.clone(), text));
        }
        Some(items) => items,
    };
    if ty(items) != "object" {
        let text = "must be object if parent array's x-kubernetes-list-type is map";
        return errors.push_with(|| Error::invalid(path.child("type"), ty(items), text));
    }
    let all = || keys.iter().copied().collect::<Value>();
    let mut seen = HashSet::new();
    for key in &keys {
        match items.at(&["properties", key]) {
            Some(it) if matches!(ty(it), "array" | "object") => {
                let text = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                let path = path.child("properties");
                let path = path.key(key);
                errors.push_with(|| Error::invalid(path.child("type"), ty(items), text));
            }
            Some(_) => {}
            None => {
                let text = "entries must all be names of item properties";
                errors.push_with(|| Error::invalid(at, all(), text));
            }
        }
        if !seen.insert(key) {
            let text = "must not contain duplicate entries";
            errors.push_with(|| Error::invalid(at, all(), text));
        }
    }
}

/// Every item has its keys.
fn map_keys(path: &Path<'_>, schema: &Value, errors: &mut ErrorList) {
    let Some(items) = schema.get("items") else {
        return;
    };
    let required = items.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let required: HashSet<&str> = required.collect();
    let properties = path.child("properties");
    for key in keys(schema) {
        let Some(property) = items.at(&["properties", key]) else {
            continue;
        };
        let path = properties.key(key);
        if !required.contains(key) && property.get("default").is_none_or(Value::is_null) {
            let text = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push_with(|| Error::required(path.child("default"), text));
        }
        if flag(property, "nullable") {
            let text = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push_with(|| Error::forbidden(path.child("nullable"), text));
        }
    }
}

fn keys(schema: &Value) -> Vec<&str> {
    let keys = schema.get(KEYS).and_then(Value::as_array);
    keys.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn ty(schema: &Value) -> &str {
    schema.str_at(&["type"]).unwrap_or_default()
}

fn object<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let found = schema.get(key).and_then(Value::as_object);
    let pairs = found.into_iter().flat_map(Object::iter);
    pairs.map(|(key, value)| (&**key, value))
}

fn is_set(schema: &Value, key: &str) -> bool {
    schema.get(key).is_some_and(|it| match it {
        Value::Null => false,
        Value::String(text) => key == "$ref" || !text.is_empty(),
        Value::Object(fields) => {
            key != "patternProperties" && key != "definitions" || !fields.is_empty()
        }
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    fn said(schema: Value) -> Vec<String> {
        let path = Path::of(&["s"]);
        let schema = json!({"type": "object", "properties": {"a": schema}});
        let errors = check_rules(&path, &schema);
        let at = "s.properties[a]";
        errors
            .iter()
            .map(|it| it.to_string().replace(at, "a"))
            .collect()
    }

    /// Each of the sentences is what kube-apiserver 1.37 says.
    #[test]
    fn what_is_refused() {
        let text = || json!({"type": "string"});
        let map = |items: Value, keys: Value| json!({"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys});
        let item = |key: Value, required: Value| json!({"type": "object", "required": required, "properties": {"k": key}});
        let cases = [
            (text(), ""),
            (map(item(text(), json!(["k"])), json!(["k"])), ""),
            (
                json!({"type": "array", "items": (text()), "x-kubernetes-list-type": "map"}),
                "a.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map|a.items.type: Invalid value: \"string\": must be object if parent array's x-kubernetes-list-type is map",
            ),
            (
                map(item(text(), json!([])), json!(["k"])),
                "a.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            ),
            (
                map(item(text(), json!(["k"])), json!(["k", "k"])),
                "a.x-kubernetes-list-map-keys: Invalid value: [\"k\",\"k\"]: must not contain duplicate entries",
            ),
            (
                map(item(json!({"type": "object"}), json!(["k"])), json!(["k"])),
                "a.items.properties[k].type: Invalid value: \"object\": must be a scalar type if parent array's x-kubernetes-list-type is map",
            ),
            (
                map(item(text(), json!(["k"])), json!(["k", "z"])),
                "a.x-kubernetes-list-map-keys: Invalid value: [\"k\",\"z\"]: entries must all be names of item properties",
            ),
            (
                json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}),
                "a.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
            ),
            (
                json!({"type": "array", "items": (text()), "x-kubernetes-list-type": "foo"}),
                "a.x-kubernetes-list-type: Unsupported value: \"foo\": supported values: \"atomic\", \"set\", \"map\"",
            ),
            (
                json!({"type": "string", "x-kubernetes-list-type": "atomic"}),
                "a.type: Invalid value: \"string\": must be array if x-kubernetes-list-type is specified",
            ),
            (
                json!({"type": "array", "items": (text()), "x-kubernetes-list-map-keys": ["k"]}),
                "a.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty",
            ),
            (
                json!({"type": "object", "x-kubernetes-map-type": "foo"}),
                "a.x-kubernetes-map-type: Unsupported value: \"foo\": supported values: \"atomic\", \"granular\"",
            ),
            (
                json!({"type": "string", "x-kubernetes-preserve-unknown-fields": false}),
                "a.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined",
            ),
            (
                json!({"type": "object", "properties": {"b": (text())}, "additionalProperties": (text())}),
                "a.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
            ),
            (
                json!({"$ref": "#/x"}),
                "a.$ref: Forbidden: $ref is not supported",
            ),
            (
                json!({"type": "string", "uniqueItems": true}),
                "a.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
            ),
            (
                json!({"type": "array", "items": [(text())]}),
                "a.items: Forbidden: items must be a schema object and not an array",
            ),
            (
                json!({"type": "object", "default": {"c": 1}, "properties": {"b": (text())}}),
                "a.default: Invalid value: {\"c\":1}: must not have unknown fields",
            ),
            (
                json!({"type": "foo"}),
                "a.type: Unsupported value: \"foo\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"",
            ),
        ];
        for (schema, expected) in cases {
            let shown = schema.to_string();
            assert_eq!(said(schema).join("|"), expected, "{shown}");
        }
    }

    #[test]
    fn at_the_root() {
        let path = Path::of(&["s"]);
        let said = |schema: Value| {
            let errors = check_rules(&path, &schema);
            errors.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            said(json!({"type": "object", "nullable": true})),
            ["s.nullable: Forbidden: nullable cannot be true at the root"]
        );
        assert_eq!(
            said(
                json!({"type": "object", "properties": {"metadata": {"type": "object", "default": {}}}})
            ),
            ["s.properties[metadata].default: Forbidden: must not be set in top-level metadata"]
        );
        assert!(is_beyond_structural(
            &json!({"properties": {"a": {"items": []}}})
        ));
        assert!(!is_beyond_structural(
            &json!({"properties": {"id": {"type": "string"}}})
        ));
    }
}
