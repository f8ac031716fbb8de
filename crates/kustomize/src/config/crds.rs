//! Fields of custom resources that are labels, annotations or references, by marks in their `OpenAPI` definitions.

use json::{Object, Value};

use super::{Config, NameReference};
use crate::decode::List;
use crate::error::{Error, Result};
use crate::loader::Loader;
use crate::types::FieldSpec;

/// How deep definitions may refer to each other.
const MAX_DEPTH: usize = 64;

pub(crate) fn from_crds(loader: &Loader<'_>, paths: &[String]) -> Result<Config> {
    let mut all = Config::default();
    for path in paths {
        let text = loader.load(path)?;
        let is_json = text.starts_with(b"{");
        let parsed = if is_json {
            json::parse(&text).map_err(|error| error.to_string())
        } else {
            yaml::to_json(&text).map_err(|error| error.to_string())
        };
        let definitions = parsed.and_then(|value| match misfit(&value) {
            Some(problem) if is_json => Err(problem),
            Some(problem) => Err(format!(
                "error unmarshaling JSON: while decoding JSON: {problem}"
            )),
            None => Ok(value),
        });
        let definitions = definitions.map_err(|error| {
            Error::new(format!(
                "unable to parse open API definition from '{path}': {error}"
            ))
        })?;
        let Some(definitions) = definitions.as_object() else {
            continue;
        };
        for (name, definition) in definitions.iter() {
            let properties = properties(definition);
            let has = |key| properties.is_some_and(|it| it.contains_key(key));
            if !(has("kind") && has("apiVersion") && has("metadata")) {
                continue;
            }
            let mut config = Config::default();
            let kind = name.rsplit('.').next().unwrap_or(name);
            read(&mut config, kind, definitions, name, &mut Vec::new())?;
            all = all.merge(&config)?;
        }
    }
    Ok(all)
}

/// Why a document is no map of definitions, in Go's words.
fn misfit(document: &Value) -> Option<String> {
    let wrong = |value: &Value, wanted: &str| {
        let found = match value {
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Null | Value::Object(_) => return None,
        };
        Some(format!(
            "json: cannot unmarshal {found} into Go value of type accumulator.{wanted}"
        ))
    };
    wrong(document, "nameToApiMap").or_else(|| {
        let mut definitions = document.as_object()?.iter();
        definitions.find_map(|(_, it)| wrong(it, "OpenAPIDefinition"))
    })
}

fn properties(definition: &Value) -> Option<&Object> {
    let schema = definition
        .get("Schema")
        .or_else(|| definition.get("schema"))?;
    schema.get("properties")?.as_object()
}

fn read(
    config: &mut Config,
    kind: &str,
    definitions: &Object,
    name: &str,
    path: &mut Vec<String>,
) -> Result<()> {
    let found = definitions.get(name).and_then(properties);
    let Some(properties) = found.filter(|_| path.len() < MAX_DEPTH) else {
        return Ok(());
    };
    for (name, property) in properties.iter() {
        let mark = |key: &str| property.get(key).and_then(Value::as_str);
        path.push(name.to_string());
        let spec = |path: &[String]| FieldSpec {
            kind: kind.to_owned(),
            path: path.join("/"),
            ..FieldSpec::default()
        };
        if mark("x-kubernetes-annotation").is_some() {
            super::merge_specs(&mut config.common_annotations, &[spec(path)])?;
        }
        if mark("x-kubernetes-label-selector").is_some() {
            super::merge_specs(&mut config.common_labels, &[spec(path)])?;
        }
        if mark("x-kubernetes-identity").is_some() {
            super::merge_specs(&mut config.name_prefix, &[spec(path)])?;
        }
        let version = mark("x-kubernetes-object-ref-api-version");
        if let (Some(version), Some(target)) = (version, mark("x-kubernetes-object-ref-kind")) {
            let key = mark("x-kubernetes-object-ref-name-key").unwrap_or("name");
            path.push(key.to_owned());
            let mut referrers = List::default();
            referrers.push(spec(path));
            path.pop();
            config.add_reference(&NameReference {
                version: version.to_owned(),
                kind: target.to_owned(),
                referrers,
                ..NameReference::default()
            })?;
        }
        if let Some(reference) = mark("$ref") {
            read(config, kind, definitions, reference, path)?;
        }
        path.pop();
    }
    Ok(())
}
