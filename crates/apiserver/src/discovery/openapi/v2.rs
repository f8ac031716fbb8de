//! Swagger 2.0: one document for everything, which kubectl before 1.27 reads, and tests of custom resources.

use std::collections::{BTreeMap, BTreeSet};

use json::{Object, Value, json};

use super::custom;
use super::dialect::{Dialect, is_custom};
use super::operation::{Answer, Operation, Path};
use super::parameters::Parameter;
use super::roots;
use super::types::{Scope, Types};
use super::v3::{meaning, refers, token};
use crate::catalog::{Catalog, Resource};
use crate::runtime::digest;

const REF: &str = "#/definitions/";

/// What some resources add to the document.
#[derive(Default)]
pub(super) struct Contribution {
    pub paths: Vec<(String, Value)>,
    pub definitions: BTreeMap<String, Value>,
    pub parameters: BTreeMap<String, Value>,
    /// Types that are referred to and are not among the definitions.
    pub wanted: BTreeSet<String>,
}

impl Contribution {
    fn new(paths: Vec<Path>, definitions: BTreeMap<String, Value>) -> Self {
        let mut writer = Writer::default();
        let paths = paths.into_iter().map(|path| writer.item(path)).collect();
        let mut wanted = writer.wanted;
        for schema in definitions.values() {
            refers(schema, &mut wanted);
        }
        wanted.retain(|it| !definitions.contains_key(it));
        Self {
            paths,
            definitions,
            parameters: writer.shared,
            wanted,
        }
    }
}

/// Of all built-in resources, and of the paths that are no resources.
pub(super) fn builtin(catalog: &Catalog, types: &Types) -> Contribution {
    let mut paths: Vec<Path> = roots::PLAIN
        .iter()
        .filter_map(|it| roots::plain(it))
        .collect();
    for group in catalog.groups.iter().filter(|it| it.is_builtin()) {
        if !group.name.is_empty() {
            paths.push(roots::group(&group.name));
        }
        for version in &group.versions {
            let mut resources = version
                .resources
                .iter()
                .filter(|it| !is_custom(it))
                .peekable();
            if resources.peek().is_some() {
                paths.push(roots::version(&group.name, &version.version));
            }
            paths.extend(resources.flat_map(|it| super::paths::of(it, types)));
        }
    }
    let mut all = Contribution::new(paths, BTreeMap::new());
    let wanted = std::mem::take(&mut all.wanted);
    all.definitions = types.schemas(Dialect::V2, &scope(catalog), wanted);
    all
}

/// Of one custom resource.
pub(super) fn custom(resource: &Resource, types: &Types) -> Contribution {
    let mut definitions = BTreeMap::new();
    custom::schemas(resource, Dialect::V2, &mut definitions);
    Contribution::new(super::paths::of(resource, types), definitions)
}

/// The versions that some types are kinds of.
pub(super) fn scope(catalog: &Catalog) -> Vec<Scope> {
    let mut scope = Vec::new();
    for group in &catalog.groups {
        let versions = group.versions.iter();
        let builtin = versions.filter(|it| it.resources.iter().any(|it| !is_custom(it)));
        scope.extend(builtin.map(|it| (group.name.clone(), it.version.clone())));
    }
    scope.sort();
    scope
}

/// What stands before the paths, and what behind the parameters.
pub(super) fn frame(release: &str) -> (Value, Value) {
    let head = json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": release},
    });
    let tail = json!({
        "securityDefinitions": {"BearerToken": (token(false))},
        "security": [{"BearerToken": []}],
    });
    (head, tail)
}

/// The document as one tree: what its parts are compared with.
#[cfg(test)]
pub(super) fn document(catalog: &Catalog) -> Value {
    let types = Types::new(&catalog.gates);
    let mut paths: Vec<Path> = roots::PLAIN
        .iter()
        .filter_map(|it| roots::plain(it))
        .collect();
    let (mut scope, mut definitions) = (Vec::new(), BTreeMap::new());
    for group in &catalog.groups {
        let mut all = group.versions.iter().flat_map(|it| &it.resources);
        if !group.name.is_empty() && !all.all(|it| is_custom(it)) {
            paths.push(roots::group(&group.name));
        }
        for version in &group.versions {
            if !version.resources.iter().all(|it| is_custom(it)) {
                paths.push(roots::version(&group.name, &version.version));
                scope.push((group.name.clone(), version.version.clone()));
            }
            for resource in &version.resources {
                paths.extend(super::paths::of(resource, &types));
                custom::schemas(resource, Dialect::V2, &mut definitions);
            }
        }
    }
    paths.sort_by(|a, b| a.path.cmp(&b.path));
    scope.sort();
    let mut writer = Writer::default();
    let mut items = Object::new();
    for path in paths {
        let (name, item) = writer.item(path);
        items.push(name, item);
    }
    let mut wanted = writer.wanted;
    for schema in definitions.values() {
        refers(schema, &mut wanted);
    }
    wanted.retain(|it| !definitions.contains_key(it));
    definitions.extend(types.schemas(Dialect::V2, &scope, wanted));
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": (catalog.gates.release())},
        "paths": items,
        "definitions": (definitions.into_iter().collect::<Object>()),
        "parameters": (writer.shared.into_iter().collect::<Object>()),
        "securityDefinitions": {"BearerToken": (token(false))},
        "security": [{"BearerToken": []}],
    })
}

#[derive(Default)]
struct Writer {
    /// Types that were referred to.
    wanted: BTreeSet<String>,
    /// Parameters that are written once for all.
    shared: BTreeMap<String, Value>,
}

impl Writer {
    fn item(&mut self, mut path: Path) -> (String, Value) {
        let common = path.common();
        let mut item = Object::new();
        for one in &path.operations {
            let value = self.operation(one);
            item.push(one.method, value);
        }
        if !common.is_empty() {
            let all: Value = common.iter().map(|it| self.parameter(it)).collect();
            item.push("parameters", all);
        }
        (path.path, item.into())
    }

    fn operation(&mut self, one: &Operation) -> Value {
        let mut value = Object::new();
        value.push("description", &one.text);
        for (key, types) in [("consumes", one.consumes), ("produces", one.produces)] {
            if !types.is_empty() {
                value.push(key, types.iter().copied().collect::<Value>());
            }
        }
        value.push("schemes", json!(["https"]));
        value.push("tags", json!([(one.tag.clone())]));
        value.push("operationId", &one.id);
        let mut parameters = Vec::new();
        if let Some(body) = &one.body {
            let schema = self.refer(&body.of);
            let mut parameter = Object::new();
            parameter.push("name", "body");
            parameter.push("in", "body");
            if body.required {
                parameter.push("required", true);
            }
            parameter.push("schema", schema);
            parameters.push(parameter.into());
        }
        parameters.extend(one.parameters.iter().map(|it| self.parameter(it)));
        if !parameters.is_empty() {
            value.push("parameters", parameters);
        }
        let mut answers = Object::new();
        for (code, answer) in &one.answers {
            let schema = match answer {
                Answer::Text => json!({"type": "string"}),
                Answer::Type(of) => self.refer(of),
            };
            answers.push(
                *code,
                json!({"description": (meaning(code)), "schema": schema}),
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
                json!({"group": (&*kind.group), "kind": (&*kind.kind), "version": (&*kind.version)}),
            );
        }
        value.into()
    }

    fn refer(&mut self, of: &str) -> Value {
        self.wanted.insert(of.into());
        json!({"$ref": (format!("{REF}{of}"))})
    }

    /// Those that are the same everywhere are referred to.
    fn parameter(&mut self, one: &Parameter) -> Value {
        let mut value = Object::new();
        value.push("uniqueItems", true);
        value.push("type", one.ty);
        value.push("description", &*one.text);
        value.push("name", one.name);
        value.push("in", if one.in_path { "path" } else { "query" });
        if one.in_path {
            value.push("required", true);
        }
        if one.name == "name" {
            return value.into();
        }
        let value = value.into();
        let hash = digest::short_hash(&json::to_string(&value));
        let hash: String = hash.chars().filter(char::is_ascii_alphanumeric).collect();
        let name = format!("{}-{hash}", one.name);
        let target = format!("#/parameters/{name}");
        self.shared.entry(name).or_insert(value);
        json!({"$ref": target})
    }
}
