//! Patches: strategic merge and JSON 6902, by target or by their own id.

use std::collections::HashSet;

use json::Value;

use crate::error::{Error, Result, quote};
use crate::factory;
use crate::loader::Loader;
use crate::node::{Node, StringMap, from_patched, source};
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::schema::Schema;
use crate::transform::Transformer;
use crate::types::{Patch, Selector};

/// One entry of `patches`.
pub(crate) struct PatchTransformer {
    source: String,
    target: Option<Selector>,
    patch: Kind,
    /// What it was read from.
    text: String,
}

enum Kind {
    Strategic(Vec<Resource>),
    Json(Value),
}

impl PatchTransformer {
    /// `config` is what it was read from, for messages.
    pub(crate) fn new(patch: &Patch, config: &str, loader: &Loader<'_>) -> Result<Self> {
        let inline = patch.patch.trim();
        let (text, source) = match (inline.is_empty(), patch.path.is_empty()) {
            (true, true) => {
                return Err(Error::new(format!(
                    "must specify one of patch and path in\n{config}"
                )));
            }
            (false, false) => {
                return Err(Error::new(format!(
                    "patch and path can't be set at the same time\n{config}"
                )));
            }
            (false, true) => (inline.to_owned(), format!("[patch: {}]", quote(inline))),
            (true, false) => {
                let text = loader.load_text(&patch.path).map_err(|error| {
                    error.wrap(format!(
                        "failed to get the patch file from path({})",
                        patch.path
                    ))
                })?;
                (text, format!("[path: {}]", quote(&patch.path)))
            }
        };
        let strategic = if patch.path.is_empty() {
            factory::from_text(&text)
        } else {
            source::reading(&loader.shown(&patch.path), 0, || factory::from_text(&text))
        };
        let operations = read_operations(&text);
        let patch_kind = match (strategic, operations) {
            (Ok(resources), Ok(Value::Array(operations)))
                if !resources.is_empty() && !operations.is_empty() =>
            {
                return Err(Error::new(format!(
                    "illegally qualifies as both an SM and JSON patch: {source}"
                )));
            }
            (Err(error), Err(_)) => {
                let text = format!("unable to parse SM or JSON patch from {source}");
                return Err(Error::new(text).where_as(&error));
            }
            (Ok(mut resources), _) => {
                if let Some(options) = &patch.options {
                    for resource in &mut resources {
                        if options.allow_name_change {
                            resource.allow_name_change()?;
                        }
                        if options.allow_kind_change {
                            resource.allow_kind_change()?;
                        }
                    }
                }
                Kind::Strategic(resources)
            }
            (Err(_), Ok(operations)) => Kind::Json(operations),
        };
        Ok(Self {
            source,
            target: patch.target.clone(),
            patch: patch_kind,
            text,
        })
    }

    fn merge(&self, patches: &[Resource], map: &mut ResMap, schema: &Schema) -> Result<()> {
        let Some(target) = &self.target else {
            for patch in patches {
                let id = patch.original_id();
                let at = map.find_one(&id).map_err(|error| {
                    error
                        .wrap(format!(
                            "no resource matches strategic merge patch {}",
                            quote(&id.to_string())
                        ))
                        .at_node(&patch.node)
                })?;
                map.change(at, |it| it.apply_strategic_merge(patch, schema))?;
            }
            return Ok(());
        };
        let patch = match patches {
            [] => return Ok(()),
            [patch] => patch,
            _ => {
                return Err(Error::new(format!(
                    "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` field: {}",
                    self.source
                )));
            }
        };
        let selected = map.select(target).map_err(|error| {
            error.wrap(format!(
                "unable to find patch target {} in `resources`",
                quote(&target.to_string())
            ))
        })?;
        merge_into(&selected, patch, map, schema)
    }

    fn patch_json(&self, operations: &Value, map: &mut ResMap) -> Result<()> {
        let Some(target) = &self.target else {
            return Err(Error::new(format!(
                "must specify a target for JSON patch {}",
                self.source
            )));
        };
        let selected = map.select(target)?;
        for at in selected {
            map.change(at, |resource| {
                resource.store_previous_id()?;
                apply_json(resource, operations, &self.text)
            })?;
        }
        Ok(())
    }
}

impl Transformer for PatchTransformer {
    fn transform(&mut self, map: &mut ResMap, schema: &Schema) -> Result<()> {
        match &self.patch {
            Kind::Strategic(patches) => self.merge(patches, map, schema),
            Kind::Json(operations) => self.patch_json(operations, map),
        }
    }
}

/// Each gets a copy of the patch that has its own group, version and kind.
fn merge_into(
    selected: &[usize],
    patch: &Resource,
    map: &mut ResMap,
    schema: &Schema,
) -> Result<()> {
    // Upstream selects by id, so those with the same id are meant too.
    let mut all = selected.to_vec();
    if map.has_doubles() {
        let ids: HashSet<_> = selected
            .iter()
            .map(|at| map.get(*at).current_id())
            .collect();
        let same = map.iter().enumerate();
        let same = same.filter(|(_, it)| ids.contains(&it.current_id()));
        all = same.map(|(at, _)| at).collect();
    }
    for at in all {
        map.change(at, |resource| {
            let mut copy = patch.clone();
            copy.merge_metadata_from(patch)?;
            let version = resource.gvk().api_version();
            copy.node.set_field("apiVersion", Node::plain(version))?;
            copy.node.set_kind(patch.node.object_kind());
            resource.apply_strategic_merge(&copy, schema)
        })?;
    }
    map.drop_empty();
    map.check_ids()
}

/// Text that starts as a JSON list is one; all else is YAML.
fn read_operations(text: &str) -> Result<Value> {
    if text.is_empty() {
        return Err(Error::new("empty json patch operations"));
    }
    let value = if text.starts_with('[') {
        json::parse(text.as_bytes()).map_err(|error| Error::new(error.to_string()))?
    } else {
        yaml::to_json(text.as_bytes())?
    };
    match &value {
        Value::Array(items) => {
            let objects = items
                .iter()
                .all(|it| matches!(it, Value::Object(_) | Value::Null));
            if !objects {
                return Err(Error::new(
                    "json: cannot unmarshal string into Go value of type jsonpatch.Operation",
                ));
            }
        }
        Value::Null => {}
        other => {
            return Err(Error::new(format!(
                "json: cannot unmarshal {} into Go value of type jsonpatch.Patch",
                kind_name(other)
            )));
        }
    }
    Ok(value)
}

fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The annotations that carry a resource's history survive any patch.
fn apply_json(resource: &mut Resource, operations: &Value, text: &str) -> Result<()> {
    let kept: StringMap = resource
        .node
        .annotations()
        .into_iter()
        .filter(|(key, _)| {
            key.starts_with("internal.config.kubernetes.io/")
                || matches!(
                    key.as_str(),
                    "config.kubernetes.io/path" | "config.kubernetes.io/index" | "config.k8s.io/id"
                )
        })
        .collect();
    let document = resource.to_value()?;
    let patched = merge::json_patch(document, operations.clone()).map_err(|error| {
        let line = line_of_failure(resource, operations, text);
        let error = Error::new(error.to_string());
        match line {
            Some(line) => error.at_line(None, line),
            None => error,
        }
    })?;
    if patched.as_object().is_none() {
        return Err(Error::new(format!(
            "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            kind_name(&patched)
        )));
    }
    resource.node = from_patched(&patched)?;
    let mut annotations = resource.node.annotations();
    annotations.extend(kept);
    resource.node.set_annotations(annotations)
}

/// The line of the operation that cannot be applied.
fn line_of_failure(resource: &Resource, operations: &Value, text: &str) -> Option<u32> {
    let mut document = resource.to_value().ok()?;
    let failed = operations.as_array()?.iter().position(|operation| {
        let one = Value::Array(vec![operation.clone()]);
        match merge::json_patch(std::mem::take(&mut document), one) {
            Ok(patched) => {
                document = patched;
                false
            }
            Err(_) => true,
        }
    })?;
    let read = yaml::parse_first(text.as_bytes()).ok()??;
    Some(read.content.first()?.content.get(failed)?.line)
}

/// One entry of `patchesJson6902`.
pub(crate) struct JsonPatch {
    text: String,
    target: Selector,
    operations: Value,
}

impl JsonPatch {
    pub(crate) fn new(
        target: Option<&Selector>,
        path: &str,
        inline: &str,
        loader: &Loader<'_>,
    ) -> Result<Self> {
        let target = target.cloned().unwrap_or_default();
        if target.name.is_empty() {
            return Err(Error::new("must specify the target name"));
        }
        let text = match (path.is_empty(), inline.is_empty()) {
            (true, true) => return Err(Error::new("empty file path and empty jsonOp")),
            (false, false) => {
                return Err(Error::new("must specify a file path or jsonOp, not both"));
            }
            (true, false) => inline.to_owned(),
            (false, true) => {
                let text = loader.load_text(path)?;
                if text.is_empty() {
                    return Err(Error::new(format!(
                        "patch file '{path}' empty seems to be empty"
                    )));
                }
                text
            }
        };
        let is_json = text.starts_with('[');
        let (shown, value) = if is_json {
            let value = json::parse(text.as_bytes());
            (
                text.clone(),
                value.map_err(|error| Error::new(error.to_string())),
            )
        } else {
            let value = yaml::to_json(text.as_bytes())?;
            (json::to_string(&value), Ok(value))
        };
        let value = value.and_then(|value| read_operations(&json::to_string(&value)));
        let operations = value.map_err(|error| error.wrap(format!("decoding {shown}")))?;
        if operations.as_array().is_none_or(Vec::is_empty) {
            return Err(Error::new(format!(
                "patch appears to be empty; file={path}, JsonOp={shown}"
            )));
        }
        Ok(Self {
            text,
            target,
            operations,
        })
    }
}

impl Transformer for JsonPatch {
    fn transform(&mut self, map: &mut ResMap, _: &Schema) -> Result<()> {
        let selected = map.select(&self.target)?;
        for at in selected {
            map.change(at, |resource| {
                apply_json(resource, &self.operations, &self.text)
            })?;
        }
        Ok(())
    }
}

/// All of `patchesStrategicMerge`.
pub(crate) struct StrategicPatches {
    patches: Vec<Resource>,
}

impl StrategicPatches {
    pub(crate) fn new(paths: &[String], inline: &str, loader: &Loader<'_>) -> Result<Self> {
        if paths.is_empty() && inline.is_empty() {
            return Err(Error::new("empty file path and empty patch content"));
        }
        let mut patches = Vec::new();
        for path in paths {
            if let Ok(inline) = factory::from_text(path) {
                patches.extend(inline);
                continue;
            }
            let text = loader.load_text(path)?;
            let read = source::reading(&loader.shown(path), 0, || factory::from_text(&text));
            patches.extend(read.map_err(|error| factory::in_file(error, path))?);
        }
        if !inline.is_empty() {
            patches.extend(factory::from_text(inline)?);
        }
        if patches.is_empty() {
            return Err(Error::new(format!(
                "patch appears to be empty; files=[{}], Patch={inline}",
                paths.join(" ")
            )));
        }
        Ok(Self { patches })
    }
}

impl Transformer for StrategicPatches {
    fn transform(&mut self, map: &mut ResMap, schema: &Schema) -> Result<()> {
        for patch in &self.patches {
            let at = map.find_one(&patch.original_id());
            let at = at.map_err(|error| error.at_node(&patch.node))?;
            let mut copy = patch.clone();
            copy.merge_metadata_from(patch)?;
            let version = map.get(at).gvk().api_version();
            copy.node.set_field("apiVersion", Node::plain(version))?;
            map.change(at, |it| it.apply_strategic_merge(&copy, schema))?;
            if map.get(at).node.is_empty() {
                map.drop_empty();
            }
        }
        map.check_ids()
    }
}
