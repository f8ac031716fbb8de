//! A resource on its way: its tree, with its history in annotations that are taken off at the end.

use json::Text;

use crate::error::{Error, Result};
use crate::explain::History;
use crate::id::{Gvk, ResId};
use crate::node::{self, Node, to_value};
use crate::origin::Origin;
use crate::schema::Schema;
use crate::strategic;

pub(crate) const PREVIOUS_KINDS: &str = "internal.config.kubernetes.io/previousKinds";
pub(crate) const PREVIOUS_NAMES: &str = "internal.config.kubernetes.io/previousNames";
pub(crate) const PREVIOUS_NAMESPACES: &str = "internal.config.kubernetes.io/previousNamespaces";
const PREFIXES: &str = "internal.config.kubernetes.io/prefixes";
const SUFFIXES: &str = "internal.config.kubernetes.io/suffixes";
const ALLOW_NAME_CHANGE: &str = "internal.config.kubernetes.io/allowNameChange";
const ALLOW_KIND_CHANGE: &str = "internal.config.kubernetes.io/allowKindChange";
const BEHAVIOR: &str = "internal.config.kubernetes.io/generatorBehavior";
const NEEDS_HASH: &str = "internal.config.kubernetes.io/needsHashSuffix";
pub(crate) const HELM_GENERATED: &str = "internal.config.kubernetes.io/helm-generated";
pub(crate) const ORIGIN: &str = "config.kubernetes.io/origin";
pub(crate) const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";
const ENABLED: &str = "enabled";

/// What is taken off at the end.
pub(crate) const BUILD_ANNOTATIONS: &[&str] = &[
    PREVIOUS_KINDS,
    PREVIOUS_NAMES,
    PREFIXES,
    SUFFIXES,
    PREVIOUS_NAMESPACES,
    ALLOW_NAME_CHANGE,
    ALLOW_KIND_CHANGE,
    "internal.config.kubernetes.io/refBy",
    BEHAVIOR,
    NEEDS_HASH,
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
    HELM_GENERATED,
];

#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) node: Node,
    /// The variables that are read from this.
    pub(crate) variables: Vec<String>,
    /// Whether some of its nodes are copies of one.
    pub(crate) shares: bool,
    /// For whoever asks who set a field.
    pub(crate) history: History,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behavior {
    Unspecified,
    Create,
    Replace,
    Merge,
}

impl Behavior {
    pub(crate) fn of(text: &str) -> Self {
        match text {
            "replace" => Self::Replace,
            "merge" => Self::Merge,
            "create" => Self::Create,
            _ => Self::Unspecified,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Merge => "merge",
            Self::Create => "create",
            Self::Unspecified => "unspecified",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Affixes([Text; 2]);

impl Affixes {
    /// Whether the last prefixes and suffixes are the same. `allow_empty`: or one of the two has none.
    pub(crate) fn same(&self, other: &Self, allow_empty: bool) -> bool {
        self.0.iter().zip(&other.0).all(|(own, others)| {
            if own.is_empty() || others.is_empty() {
                return allow_empty || own.is_empty() == others.is_empty();
            }
            let mut pairs = own.rsplit(',').zip(others.rsplit(','));
            pairs.all(|(a, b)| a == b)
        })
    }
}

impl Resource {
    pub(crate) fn new(node: Node) -> Self {
        Self {
            node,
            variables: Vec::new(),
            shares: false,
            history: None,
        }
    }

    pub(crate) fn gvk(&self) -> Gvk {
        Gvk::of(&self.node)
    }

    pub(crate) fn current_id(&self) -> ResId {
        ResId {
            gvk: self.gvk(),
            name: self.node.name(),
            namespace: self.node.namespace(),
        }
    }

    /// The id it came with.
    pub(crate) fn original_id(&self) -> ResId {
        self.previous_ids()
            .next()
            .unwrap_or_else(|| self.current_id())
    }

    /// All ids it ever had but the current one, the oldest first.
    pub(crate) fn previous_ids(&self) -> impl Iterator<Item = ResId> {
        let csv = |key| self.node.annotation(key).map_or("", Text::as_str);
        let names = csv(PREVIOUS_NAMES);
        let gvk = (!names.is_empty()).then(|| self.gvk());
        let namespaces = csv(PREVIOUS_NAMESPACES).split(',');
        let all = names
            .split(',')
            .zip(namespaces)
            .zip(csv(PREVIOUS_KINDS).split(','));
        gvk.into_iter().flat_map(move |gvk| {
            all.clone().map(move |((name, namespace), kind)| ResId {
                gvk: Gvk {
                    kind: kind.into(),
                    ..gvk.clone()
                },
                name: name.into(),
                namespace: namespace.into(),
            })
        })
    }

    /// Without making an id: whether it may have or have had a name.
    pub(crate) fn may_be_called(&self, name: &str) -> bool {
        let before = self.node.annotation(PREVIOUS_NAMES);
        *self.node.name() == *name || before.is_some_and(|it| it.contains(name))
    }

    pub(crate) fn store_previous_id(&mut self) -> Result<()> {
        let id = self.current_id();
        self.append_csv(PREVIOUS_NAMES, &id.name)?;
        self.append_csv(PREVIOUS_NAMESPACES, &id.effective_namespace())?;
        self.append_csv(PREVIOUS_KINDS, &id.gvk.kind)
    }

    fn append_csv(&mut self, key: &str, value: &str) -> Result<()> {
        if value.is_empty() {
            return Ok(());
        }
        let joined = match self.node.annotation(key) {
            Some(known) => format!("{known},{value}"),
            None => value.to_owned(),
        };
        self.node.set_annotation(key, joined.into())
    }

    pub(crate) fn add_prefix(&mut self, prefix: &str) -> Result<()> {
        self.append_csv(PREFIXES, prefix)
    }

    pub(crate) fn add_suffix(&mut self, suffix: &str) -> Result<()> {
        self.append_csv(SUFFIXES, suffix)
    }

    /// Prefixes and suffixes, as lists with commas.
    pub(crate) fn affixes(&self) -> Affixes {
        let list = |key| self.node.annotation(key).cloned().unwrap_or_default();
        Affixes([list(PREFIXES), list(SUFFIXES)])
    }

    fn is_enabled(&self, key: &str) -> bool {
        self.node.annotation(key).is_some_and(|it| **it == *ENABLED)
    }

    fn enable(&mut self, key: &str) -> Result<()> {
        let mut annotations = self.node.annotations();
        annotations.insert(key.into(), ENABLED.into());
        self.node.set_annotations(annotations)
    }

    pub(crate) fn allow_name_change(&mut self) -> Result<()> {
        self.enable(ALLOW_NAME_CHANGE)
    }

    pub(crate) fn allow_kind_change(&mut self) -> Result<()> {
        self.enable(ALLOW_KIND_CHANGE)
    }

    pub(crate) fn needs_hash(&self) -> bool {
        self.is_enabled(NEEDS_HASH)
    }

    pub(crate) fn enable_hash(&mut self) -> Result<()> {
        self.enable(NEEDS_HASH)
    }

    pub(crate) fn behavior(&self) -> Behavior {
        Behavior::of(self.node.annotation(BEHAVIOR).map_or("", Text::as_str))
    }

    pub(crate) fn set_behavior(&mut self, behavior: Behavior) -> Result<()> {
        let mut annotations = self.node.annotations();
        annotations.insert(BEHAVIOR.into(), behavior.name().into());
        self.node.set_annotations(annotations)
    }

    pub(crate) fn origin(&self) -> Result<Option<Origin>> {
        self.node
            .annotation(ORIGIN)
            .map(|text| Origin::parse(text))
            .transpose()
    }

    pub(crate) fn set_origin(&mut self, origin: Option<&Origin>) -> Result<()> {
        let mut annotations = self.node.annotations();
        match origin {
            Some(origin) => _ = annotations.insert(ORIGIN.into(), origin.to_string().into()),
            None => _ = annotations.remove(ORIGIN),
        }
        self.node.set_annotations(annotations)
    }

    pub(crate) fn add_transformation(&mut self, origin: &Origin) -> Result<()> {
        let mut annotations = self.node.annotations();
        let known = annotations
            .get(TRANSFORMATIONS)
            .cloned()
            .unwrap_or_default();
        let all = format!("{known}{}", origin.as_item());
        annotations.insert(TRANSFORMATIONS.into(), all.into());
        self.node.set_annotations(annotations)
    }

    /// Merges a patch; the resource is null afterwards if the patch deletes it.
    pub(crate) fn apply_strategic_merge(&mut self, patch: &Self, schema: &Schema) -> Result<()> {
        let (name, namespace) = (self.node.name(), self.node.namespace());
        let kind = self.node.object_kind();
        let (name_may, kind_may) = (
            patch.is_enabled(ALLOW_NAME_CHANGE),
            patch.is_enabled(ALLOW_KIND_CHANGE),
        );
        if name_may || kind_may {
            self.store_previous_id()?;
        }
        // Upstream drops what would take the place of the whole resource.
        if !strategic::replaces(&patch.node) {
            strategic::merge(&mut self.node, patch.node.clone(), schema)?;
        }
        if self.node.is_empty() {
            return Ok(());
        }
        if !kind_may {
            self.node.set_kind(kind);
        }
        if !name_may {
            self.node.set_name(name)?;
        }
        self.node.set_namespace(namespace)
    }

    /// What a generated resource takes over from the one it replaces.
    pub(crate) fn merge_metadata_from(&mut self, other: &Self) -> Result<()> {
        let mut labels = other.node.labels();
        labels.extend(self.node.labels());
        self.node.set_labels(labels)?;
        let own = self.node.annotations();
        let others = other.node.annotations();
        let hashed = own.contains_key(NEEDS_HASH);
        let mut annotations = others.clone();
        annotations.extend(own);
        for key in BUILD_ANNOTATIONS {
            match others.get(*key) {
                Some(value) => _ = annotations.insert((*key).into(), value.clone()),
                None => _ = annotations.remove(*key),
            }
        }
        if !hashed {
            annotations.remove(NEEDS_HASH);
        }
        self.node.set_annotations(annotations)?;
        self.node.set_name(other.node.name())?;
        self.node.set_namespace(other.node.namespace())?;
        self.variables.clone_from(&other.variables);
        self.history.clone_from(&other.history);
        Ok(())
    }

    pub(crate) fn remove_annotations(&mut self, keys: &[&str]) -> Result<()> {
        let mut annotations = self.node.annotations();
        annotations.retain(|key, _| !keys.contains(&key.as_str()));
        self.node.set_annotations(annotations)
    }

    pub(crate) fn to_value(&self) -> Result<json::Value> {
        to_value(&self.node)
    }

    /// With keys sorted, as Go writes maps.
    pub(crate) fn to_json(&self) -> Result<String> {
        let mut value = self.to_value()?;
        value.sort_keys();
        Ok(json::to_string(&value))
    }

    /// Appends it as it is printed.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        node::write(&self.node, out)
    }

    pub(crate) fn to_yaml(&self) -> Result<String> {
        let mut out = Vec::new();
        self.write(&mut out)?;
        String::from_utf8(out).map_err(|error| Error::new(error.to_string()))
    }
}
