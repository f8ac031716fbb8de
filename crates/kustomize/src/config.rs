//! Which fields the transformers change: kustomize's own list, and what users and CRDs add to it.

mod crds;

use std::rc::Rc;
use std::sync::LazyLock;

pub(crate) use crds::from_crds;

use crate::decode::{List, decode_yaml_strict, go_struct};
use crate::error::{Error, Result, Wrap as _};
use crate::go_sort;
use crate::id::Gvk;
use crate::loader::Loader;
use crate::types::FieldSpec;

go_struct! { NameReference as "NameBackReferences" {
    group: String = "group" in "Gvk",
    version: String = "version" in "Gvk",
    kind: String = "kind" in "Gvk",
    referrers: List<FieldSpec> = "fieldSpecs" shown "[]types.FieldSpec" as "types.FsSlice",
}}

impl NameReference {
    pub(crate) fn gvk(&self) -> Gvk {
        Gvk {
            group: self.group.as_str().into(),
            version: self.version.as_str().into(),
            kind: self.kind.as_str().into(),
        }
    }
}

go_struct! { Config as "TransformerConfig" {
    name_prefix: List<FieldSpec> = "namePrefix" shown "[]types.FieldSpec" as "types.FsSlice",
    name_suffix: List<FieldSpec> = "nameSuffix" shown "[]types.FieldSpec" as "types.FsSlice",
    namespace: List<FieldSpec> = "namespace" shown "[]types.FieldSpec" as "types.FsSlice",
    common_labels: List<FieldSpec> = "commonLabels" shown "[]types.FieldSpec" as "types.FsSlice",
    labels: List<FieldSpec> = "labels" shown "[]types.FieldSpec" as "types.FsSlice",
    template_labels: List<FieldSpec> = "templateLabels" shown "[]types.FieldSpec" as "types.FsSlice",
    common_annotations: List<FieldSpec> = "commonAnnotations" shown "[]types.FieldSpec" as "types.FsSlice",
    name_reference: List<NameReference> = "nameReference" shown "[]types.NameBackReferences" as "builtinconfig.nbrSlice",
    var_reference: List<FieldSpec> = "varReference" shown "[]types.FieldSpec" as "types.FsSlice",
    images: List<FieldSpec> = "images" shown "[]types.FieldSpec" as "types.FsSlice",
    replicas: List<FieldSpec> = "replicas" shown "[]types.FieldSpec" as "types.FsSlice",
}}

impl Config {
    /// What kustomize has built in.
    pub(crate) fn builtin() -> Self {
        let mut config = Self::default();
        let mut section = "";
        for row in include_str!("../tables/fieldspecs.txt").lines() {
            if let Some(name) = row.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
                section = name;
                if let Some(words) = name.strip_prefix("nameReference ") {
                    let spec = read_spec(words);
                    config.name_reference.push(NameReference {
                        group: spec.group,
                        version: spec.version,
                        kind: spec.kind,
                        referrers: List::default(),
                    });
                }
                continue;
            }
            let spec = read_spec(row);
            if let Some(list) = config.section(section) {
                list.push(spec);
            } else if let Some(last) = config.name_reference.last_mut() {
                last.referrers.push(spec);
            }
        }
        config.sort();
        config
    }

    fn section(&mut self, name: &str) -> Option<&mut List<FieldSpec>> {
        Some(match name {
            "namePrefix" => &mut self.name_prefix,
            "nameSuffix" => &mut self.name_suffix,
            "namespace" => &mut self.namespace,
            "commonLabels" => &mut self.common_labels,
            "labels" => &mut self.labels,
            "templateLabels" => &mut self.template_labels,
            "commonAnnotations" => &mut self.common_annotations,
            "varReference" => &mut self.var_reference,
            "images" => &mut self.images,
            "replicas" => &mut self.replicas,
            _ => return None,
        })
    }

    pub(crate) fn load(loader: &Loader<'_>, paths: &[String]) -> Result<Self> {
        let mut all = Self::default();
        for path in paths {
            let text = loader.load(path)?;
            let config = decode_yaml_strict::<Self>(&text).map_err(|error| {
                let types = ["TransformerConfig", "NameBackReferences"];
                let text = types.iter().fold(error.to_string(), |text, name| {
                    text.replace(&format!("types.{name}"), &format!("builtinconfig.{name}"))
                });
                Error::new(text)
            });
            let mut config = config?;
            config.sort();
            all = all.merge(&config)?;
        }
        Ok(all)
    }

    fn sort(&mut self) {
        for name in [
            "namePrefix",
            "nameSuffix",
            "namespace",
            "commonLabels",
            "labels",
            "templateLabels",
            "commonAnnotations",
            "varReference",
            "images",
            "replicas",
        ] {
            if let Some(list) = self.section(name) {
                go_sort::sort_by_key(list, |it| it.gvk().sort_key());
            }
        }
        go_sort::sort_by_key(&mut self.name_reference, |it| it.gvk().sort_key());
    }

    pub(crate) fn merge(&self, other: &Self) -> Result<Self> {
        let list = |a: &List<FieldSpec>, b: &List<FieldSpec>, name: &str| -> Result<_> {
            let mut merged = a.clone();
            merge_specs(&mut merged, b)
                .wrap_with(|| format!("failed to merge {name} fieldSpec"))?;
            Ok(merged)
        };
        let mut merged = Self {
            name_prefix: list(&self.name_prefix, &other.name_prefix, "NamePrefix")?,
            name_suffix: list(&self.name_suffix, &other.name_suffix, "NameSuffix")?,
            namespace: list(&self.namespace, &other.namespace, "NameSpace")?,
            common_annotations: list(
                &self.common_annotations,
                &other.common_annotations,
                "CommonAnnotations",
            )?,
            common_labels: list(&self.common_labels, &other.common_labels, "CommonLabels")?,
            labels: list(&self.labels, &other.labels, "Labels")?,
            template_labels: list(
                &self.template_labels,
                &other.template_labels,
                "TemplateLabels",
            )?,
            var_reference: list(&self.var_reference, &other.var_reference, "VarReference")?,
            name_reference: self.name_reference.clone(),
            images: list(&self.images, &other.images, "Images")?,
            replicas: list(&self.replicas, &other.replicas, "Replicas")?,
        };
        for reference in &other.name_reference {
            merged
                .add_reference(reference)
                .wrap("failed to merge NameReference fieldSpec")?;
        }
        merged.sort();
        Ok(merged)
    }

    fn add_reference(&mut self, reference: &NameReference) -> Result<()> {
        let known = self.name_reference.iter_mut();
        let mut same = known.filter(|it| it.gvk() == reference.gvk());
        if let Some(first) = same.next() {
            return merge_specs(&mut first.referrers, &reference.referrers);
        }
        self.name_reference.push(reference.clone());
        Ok(())
    }
}

/// Adds those that are not there.
pub(crate) fn merge_specs(to: &mut Vec<FieldSpec>, from: &[FieldSpec]) -> Result<()> {
    for spec in from {
        let gvk = spec.gvk();
        let known = to
            .iter()
            .find(|it| it.path == spec.path && it.gvk().is_selected(&gvk));
        match known {
            Some(known) if known.create != spec.create => {
                return Err(Error::new("conflicting fieldspecs"));
            }
            Some(_) => {}
            None => to.push(spec.clone()),
        }
    }
    Ok(())
}

/// Shared by all roots that add nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedConfig {
    config: Rc<Config>,
    has_builtin: bool,
}

impl SharedConfig {
    pub(crate) fn builtin() -> Self {
        static BUILTIN: LazyLock<Config> = LazyLock::new(Config::builtin);
        Self {
            config: Rc::new(BUILTIN.clone()),
            has_builtin: true,
        }
    }

    pub(crate) fn get(&self) -> Rc<Config> {
        Rc::clone(&self.config)
    }

    pub(crate) fn merge(&mut self, other: &Self) -> Result<()> {
        if Rc::ptr_eq(&self.config, &other.config) {
            return Ok(());
        }
        let empty = !self.has_builtin && *self.config == Config::default();
        if empty {
            *self = other.clone();
            return Ok(());
        }
        self.config = Rc::new(self.config.merge(&other.config)?);
        self.has_builtin |= other.has_builtin;
        Ok(())
    }

    /// The built-in list is merged only once.
    pub(crate) fn merge_builtin(&mut self, builtin: &Self) -> Result<()> {
        if self.has_builtin {
            return Ok(());
        }
        self.merge(builtin)
    }

    /// Merging is not neutral, not even with nothing: what is special hides what is general.
    pub(crate) fn merge_own(&mut self, other: &Config) -> Result<()> {
        if *other != Config::default() {
            self.config = Rc::new(self.config.merge(other)?);
            self.has_builtin = true;
        }
        Ok(())
    }
}

/// A path and words such as `kind=Deployment` and `create`.
fn read_spec(row: &str) -> FieldSpec {
    let mut spec = FieldSpec::default();
    for word in row.split(' ') {
        match word.split_once('=') {
            Some(("kind", kind)) => kind.clone_into(&mut spec.kind),
            Some(("group", group)) => group.clone_into(&mut spec.group),
            Some(("version", version)) => version.clone_into(&mut spec.version),
            _ if word == "create" => spec.create = true,
            _ => word.clone_into(&mut spec.path),
        }
    }
    spec
}
