//! What a definition's schema may use of `OpenAPI`, and how lists and maps must be declared: upstream's words.

use std::collections::HashSet;

use json::{Object, Value};
use meta::field::{Error, ErrorList, Path};

use super::definition::SchemaOptions;
use super::flag;
use super::validations::{Author, Child, Context, check_texts};

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

/// What is wrong with the schema of a definition, beside that it is not structural. Rules in CEL are looked at if there is
/// a context for them, and nothing else is wrong where they are.
pub(super) fn check_rules(
    path: &Path<'_>,
    schema: &Value,
    options: &SchemaOptions<'_>,
    context: Option<&Context>,
) -> ErrorList {
    let mut checker = Checker {
        options,
        errors: ErrorList::default(),
        author: Author::new(options.environments(), options.is_unchanged, options.costs),
    };
    let top = Inside {
        is_root: true,
        no_defaults: (!options.allow_defaults).then(String::new),
        ..Inside::default()
    };
    checker.level(path, schema, &top, context);
    let mut errors = checker.errors;
    errors.append(checker.author.finish(path));
    errors
}

/// Whether a schema uses what no structural schema can: then it is not asked whether it is one.
pub(super) fn is_beyond_structural(schema: &Value) -> bool {
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
struct Inside<'p> {
    is_root: bool,
    is_metadata: bool,
    /// Why there are none, if there are none.
    no_defaults: Option<String>,
    /// The first schema above this one whose values cannot be told from each other.
    uncorrelatable: Option<&'p Path<'p>>,
}

struct Checker<'a> {
    options: &'a SchemaOptions<'a>,
    errors: ErrorList,
    author: Author<'a>,
}

impl Checker<'_> {
    fn level(
        &mut self,
        path: &Path<'_>,
        schema: &Value,
        inside: &Inside<'_>,
        context: Option<&Context>,
    ) {
        let before = self.errors.found();
        self.fields(path, schema, inside);
        if flag(schema, "uniqueItems") {
            let text =
                "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            (self.errors).push_with(|| Error::forbidden(path.child("uniqueItems"), text));
        }
        self.below(path, schema, inside, context);
        self.declared(path, schema);
        check_texts(path, schema, &mut self.errors);
        if let Some(context) = context
            && has_rules(schema)
            && self.errors.found() == before
        {
            (self.author).check(path, schema, context, inside.uncorrelatable);
        }
    }

    fn below(
        &mut self,
        path: &Path<'_>,
        schema: &Value,
        inside: &Inside<'_>,
        context: Option<&Context>,
    ) {
        let below = |step, child: &Value| context.map(|it| it.child(schema, step, child));
        let here = Inside {
            is_root: false,
            ..inside.clone()
        };
        if let Some(additional) = schema.get("additionalProperties") {
            let path = path.child("additionalProperties");
            let any = additional.is_null() || *additional == Value::Bool(true);
            if !any && object(schema, "properties").next().is_some() {
                let text = "additionalProperties and properties are mutual exclusive";
                self.errors.push_with(|| Error::forbidden(path, text));
            }
            let mut here = here.clone();
            if here.is_metadata {
                let text = "inside additionalProperties applying to object metadata";
                here.no_defaults = Some(text.to_owned());
            }
            if additional.as_object().is_some() {
                let context = below(Child::Values, additional);
                self.level(&path, additional, &here, context.as_ref());
            }
        }
        let resource = inside.is_root || flag(schema, EMBEDDED);
        let properties = path.child("properties");
        let map_type = schema.str_at(&[MAP_TYPE]);
        let is_correlatable = matches!(map_type, None | Some("granular" | "atomic"));
        for (name, property) in object(schema, "properties") {
            let mut here = here.clone();
            if !is_correlatable {
                here.uncorrelatable = here.uncorrelatable.or(Some(path));
            }
            if resource && matches!(name, "metadata" | "kind" | "apiVersion") {
                here.is_metadata = true;
                if inside.is_root {
                    here.no_defaults = Some(format!("in top-level {name}"));
                }
            }
            let context = below(Child::Property(name), property);
            self.level(&properties.key(name), property, &here, context.as_ref());
        }
        if let Some(not) = schema.get("not").filter(|it| it.as_object().is_some()) {
            self.level(&path.child("not"), not, &here, None);
        }
        for name in ["allOf", "oneOf", "anyOf"] {
            let path = path.child(name);
            let all = schema.get(name).and_then(Value::as_array);
            for (index, it) in all.into_iter().flatten().enumerate() {
                self.level(&path.index(index), it, &here, None);
            }
        }
        if let Some(items) = schema.get("items").filter(|it| it.as_object().is_some()) {
            let mut here = here.clone();
            if schema.str_at(&[LIST_TYPE]) != Some("map") {
                here.uncorrelatable = here.uncorrelatable.or(Some(path));
            }
            let context = below(Child::Items, items);
            self.level(&path.child("items"), items, &here, context.as_ref());
        }
    }

    /// What one schema says of itself.
    fn fields(&mut self, path: &Path<'_>, schema: &Value, inside: &Inside<'_>) {
        let errors = &mut self.errors;
        let kind = ty(schema);
        if self.options.valid_types && !kind.is_empty() && !TYPES.contains(&kind) {
            errors.push_with(|| Error::not_supported(path.child("type"), kind, TYPES));
        }
        let is_given = schema.get("default").is_some_and(|it| !it.is_null());
        if let Some(reason) = inside.no_defaults.as_ref().filter(|_| is_given) {
            let text = format!("must not be set {reason}");
            errors.push_with(|| Error::forbidden(path.child("default"), text.trim_end()));
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

    /// Lists and maps as they are declared for apply.
    fn declared(&mut self, path: &Path<'_>, schema: &Value) {
        let errors = &mut self.errors;
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
        } else if list == Some("set") && self.options.atomic_sets {
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
        if !self.options.map_keys {
            return;
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

fn has_rules(schema: &Value) -> bool {
    let rules = schema.get("x-kubernetes-validations");
    rules.is_some_and(|it| it.as_array().is_some_and(|it| !it.is_empty()))
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

    use super::super::definition::check_schema;
    use super::*;

    fn said(schema: Value) -> Vec<String> {
        let path = Path::of(&["s"]);
        let schema = json!({"type": "object", "properties": {"a": schema}});
        let errors = check_schema(&path, &schema, &SchemaOptions::default());
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
            let errors = check_schema(&path, &schema, &SchemaOptions::default());
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
