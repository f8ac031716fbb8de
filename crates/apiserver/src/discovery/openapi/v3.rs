//! `OpenAPI` 3.0: one document for each version of a group, and some small ones.

use std::collections::{BTreeMap, BTreeSet};

use json::{Object, Value, json};

use super::custom;
use super::dialect::Dialect;
use super::operation::{Answer, Operation, Path};
use super::parameters::Parameter;
use super::roots;
use super::types::{Scope, Types};
use crate::catalog::Resource;

const REF: &str = "#/components/schemas/";

/// The document of a version of a group.
pub(super) fn version(group: &str, version: &str, resources: &[&Resource], types: &Types) -> Value {
    let mut paths = Vec::new();
    let is_custom = |it: &&&Resource| it.custom.is_some();
    let all_custom = resources.iter().all(|it| is_custom(&it));
    if !all_custom {
        paths.push(roots::version(group, version));
    }
    for resource in resources {
        paths.extend(super::paths::of(resource, types));
    }
    let scope = [(group.into(), version.into())];
    let mut more = BTreeMap::new();
    for resource in resources.iter().filter(is_custom) {
        custom::schemas(resource, Dialect::V3, &mut more);
    }
    document(types, &scope, paths, more, all_custom)
}

/// The document of paths that are no resources.
pub(super) fn plain(path: Path, types: &Types) -> Value {
    document(types, &[], vec![path], BTreeMap::new(), false)
}

fn document(
    types: &Types,
    scope: &[Scope],
    mut paths: Vec<Path>,
    more: BTreeMap<String, Value>,
    custom: bool,
) -> Value {
    let mut wanted = BTreeSet::new();
    paths.sort_by(|a, b| a.path.cmp(&b.path));
    let mut items = Object::new();
    for path in paths {
        let (name, item) = item(path, &mut wanted);
        items.push(name, item);
    }
    for schema in more.values() {
        refers(schema, &mut wanted);
    }
    wanted.retain(|it| !more.contains_key(it));
    let mut schemas = types.schemas(Dialect::V3, scope, wanted);
    schemas.extend(more);
    let mut components = Object::new();
    if !schemas.is_empty() {
        components.push("schemas", schemas.into_iter().collect::<Object>());
    }
    let info = if custom {
        json!({"title": "Kubernetes CRD Swagger", "version": "v0.1.0"})
    } else {
        components.push("securitySchemes", json!({"BearerToken": (token(true))}));
        json!({"title": "Kubernetes", "version": (types.release())})
    };
    json!({"openapi": "3.0.0", "info": info, "paths": items, "components": components})
}

/// The security schemes: how clients authenticate.
pub(super) fn token(type_first: bool) -> Value {
    let mut value = json!({
        "type": "apiKey",
        "description": "Bearer Token authentication",
        "name": "authorization",
        "in": "header",
    });
    if let (false, Some(fields)) = (type_first, value.as_object_mut()) {
        fields.sort_by_rank(|key| usize::from(key != "description"));
    }
    value
}

fn item(mut path: Path, wanted: &mut BTreeSet<String>) -> (String, Value) {
    let common = path.common();
    let mut item = Object::new();
    for one in &path.operations {
        item.push(one.method, operation(one, wanted));
    }
    if !common.is_empty() {
        item.push(
            "parameters",
            common.iter().map(parameter).collect::<Value>(),
        );
    }
    (path.path, item.into())
}

fn operation(one: &Operation, wanted: &mut BTreeSet<String>) -> Value {
    let mut value = Object::new();
    value.push("tags", json!([(one.tag.clone())]));
    value.push("description", &one.text);
    value.push("operationId", &one.id);
    if !one.parameters.is_empty() {
        value.push(
            "parameters",
            one.parameters.iter().map(parameter).collect::<Value>(),
        );
    }
    if let Some(body) = &one.body {
        let mut request = Object::new();
        request.push("content", content(one.consumes, &refer(&body.of, wanted)));
        if body.required {
            request.push("required", true);
        }
        value.push("requestBody", request);
    }
    let mut answers = Object::new();
    for (code, answer) in &one.answers {
        let schema = match answer {
            Answer::Text => json!({"type": "string"}),
            Answer::Type(of) => refer(of, wanted),
        };
        answers.push(
            *code,
            json!({"description": (meaning(code)), "content": (content(one.produces, &schema))}),
        );
    }
    answers.push("401", json!({"description": "Unauthorized"}));
    value.push("responses", answers);
    if let Some(action) = one.action {
        value.push("x-kubernetes-action", action);
    }
    if let Some(kind) = &one.kind {
        value.push(
            "x-kubernetes-group-version-kind",
            json!({"group": (&*kind.group), "version": (&*kind.version), "kind": (&*kind.kind)}),
        );
    }
    value.into()
}

pub(super) fn meaning(code: &str) -> &'static str {
    match code {
        "201" => "Created",
        "202" => "Accepted",
        _ => "OK",
    }
}

fn content(types: &[&str], schema: &Value) -> Value {
    let types: BTreeSet<&&str> = types.iter().collect();
    let mut content = Object::new();
    for media in types {
        content.push(*media, json!({"schema": (schema.clone())}));
    }
    content.into()
}

fn refer(of: &str, wanted: &mut BTreeSet<String>) -> Value {
    wanted.insert(of.into());
    json!({"$ref": (format!("{REF}{of}"))})
}

fn parameter(one: &Parameter) -> Value {
    let mut value = Object::new();
    value.push("name", one.name);
    value.push("in", if one.in_path { "path" } else { "query" });
    value.push("description", &*one.text);
    if one.in_path {
        value.push("required", true);
    }
    value.push("schema", json!({"type": (one.ty), "uniqueItems": true}));
    value.into()
}

/// The names of types that a schema refers to.
pub(super) fn refers(schema: &Value, wanted: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields.iter() {
                match value.as_str() {
                    Some(to) if &**key == "$ref" => {
                        wanted.extend(to.rsplit('/').next().map(str::to_owned));
                    }
                    _ => refers(value, wanted),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|it| refers(it, wanted)),
        _ => {}
    }
}
