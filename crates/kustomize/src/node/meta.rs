//! The fields that every object has.

use std::collections::BTreeMap;

use json::Text;

use super::{Data, Kind, Node, Style, Tag};
use crate::error::{Error, Result};

/// Labels or annotations.
pub(crate) type StringMap = BTreeMap<Text, Text>;

impl Node {
    pub(crate) fn object_kind(&self) -> Text {
        self.get("kind")
            .map_or_else(Text::new, |it| it.raw().clone())
    }

    pub(crate) fn api_version(&self) -> Text {
        self.get("apiVersion")
            .map_or_else(Text::new, |it| it.raw().clone())
    }

    pub(crate) fn name(&self) -> Text {
        self.meta_string("name")
    }

    pub(crate) fn namespace(&self) -> Text {
        self.meta_string("namespace")
    }

    fn meta_string(&self, field: &str) -> Text {
        let found = self.metadata().and_then(|meta| meta.get(field));
        found
            .filter(|it| !it.is_empty())
            .map_or_else(Text::new, |it| it.raw().clone())
    }

    pub(crate) fn metadata(&self) -> Option<&Node> {
        self.get("metadata").filter(|it| !it.is_empty())
    }

    pub(crate) fn set_kind(&mut self, kind: Text) {
        // Fails only on what is no object, which has no kind to keep.
        _ = self.set_field("kind", Node::plain(kind));
    }

    pub(crate) fn set_name(&mut self, name: Text) -> Result<()> {
        self.meta_or_create()?.set_field("name", Node::plain(name))
    }

    pub(crate) fn set_namespace(&mut self, namespace: Text) -> Result<()> {
        if namespace.is_empty() {
            if let Some(meta) = self.get_mut("metadata") {
                meta.expect(Kind::Map)?;
                meta.remove("namespace");
            }
            return Ok(());
        }
        self.meta_or_create()?
            .set_field("namespace", Node::plain(namespace))
    }

    fn meta_or_create(&mut self) -> Result<&mut Node> {
        self.field_or_create("metadata", Node::map)
    }

    pub(crate) fn annotation(&self, key: &str) -> Option<&Text> {
        let annotations = self.metadata()?.get("annotations")?;
        annotations.get(key).map(Node::raw)
    }

    pub(crate) fn annotations(&self) -> StringMap {
        self.meta_map("annotations")
    }

    pub(crate) fn labels(&self) -> StringMap {
        self.meta_map("labels")
    }

    fn meta_map(&self, field: &str) -> StringMap {
        let Some(map) = self.metadata().and_then(|meta| meta.get(field)) else {
            return StringMap::new();
        };
        let pairs = map.pairs().iter();
        pairs
            .map(|(key, value)| (key.raw().clone(), value.raw().clone()))
            .collect()
    }

    pub(crate) fn set_annotations(&mut self, map: StringMap) -> Result<()> {
        self.set_meta_map("annotations", map)
    }

    pub(crate) fn set_labels(&mut self, map: StringMap) -> Result<()> {
        self.set_meta_map("labels", map)
    }

    fn set_meta_map(&mut self, field: &str, map: StringMap) -> Result<()> {
        let meta = self.meta_or_create()?;
        meta.expect(Kind::Map)?;
        meta.remove(field);
        if map.is_empty() {
            return Ok(());
        }
        let mut node = Node::map();
        for (key, value) in map {
            node.set_field(&key, Node::string(value))?;
        }
        meta.push(field, node, Style::Plain);
        Ok(())
    }

    /// As kyaml's `SetAnnotation`: an empty map of annotations makes way first.
    pub(crate) fn set_annotation(&mut self, key: &str, value: Text) -> Result<()> {
        let meta = self.meta_or_create()?;
        let empty = meta.get("annotations").is_some_and(|it| {
            !matches!(&it.data, Data::Map(pairs) if !pairs.is_empty())
                && !matches!(&it.data, Data::Seq(items) if !items.is_empty())
        });
        if empty {
            meta.remove("annotations");
        }
        meta.field_or_create("annotations", Node::map)?
            .set_field(key, quoted(value))
    }

    pub(crate) fn set_label(&mut self, key: &str, value: Text) -> Result<()> {
        self.meta_or_create()?
            .field_or_create("labels", Node::map)?
            .set_field(key, quoted(value))
    }

    /// What every resource must have.
    pub(crate) fn check_meta(&self) -> Result<()> {
        let text = |node: Option<&Node>| {
            node.filter(|it| !it.is_empty())
                .map_or_else(String::new, |it| it.value().to_owned())
        };
        let (version, kind) = (text(self.get("apiVersion")), text(self.get("kind")));
        let meta = self.metadata();
        let name = text(meta.and_then(|it| it.get("name")));
        let namespace = text(meta.and_then(|it| it.get("namespace")));
        let has = |field: &str| {
            meta.and_then(|it| it.get(field))
                .is_some_and(|it| !it.is_empty())
        };
        let any = ["name", "namespace", "labels", "annotations"];
        let missing = self.get("apiVersion").is_none_or(Node::is_empty)
            && self.get("kind").is_none_or(Node::is_empty);
        if missing && !any.iter().any(|field| has(field)) {
            return Err(Error::new("missing Resource metadata"));
        }
        let show = || {
            let map = |field| go_map(meta.and_then(|it| it.get(field)));
            let (labels, annotations) = (map("labels"), map("annotations"));
            format!("{{{{{version} {kind}}} {{{{{name} {namespace}}} {labels} {annotations}}}}}")
        };
        if kind.is_empty() {
            return Err(Error::new(format!("missing kind in object {}", show())));
        }
        if !kind.ends_with("List") && name.is_empty() {
            return Err(Error::new(format!(
                "missing metadata.name in object {}",
                show()
            )));
        }
        Ok(())
    }
}

fn quoted(value: Text) -> Node {
    let mut node = Node::tagged(Tag::Str, value);
    node.style = Style::SingleQuoted;
    node
}

/// As Go's `%v` shows a map of strings.
fn go_map(map: Option<&Node>) -> String {
    let pairs = map.map_or(&[][..], Node::pairs).iter();
    let texts: BTreeMap<&str, &str> = pairs.map(|(k, v)| (k.value(), v.value())).collect();
    let shown: Vec<String> = texts.iter().map(|(k, v)| format!("{k}:{v}")).collect();
    format!("map[{}]", shown.join(" "))
}
