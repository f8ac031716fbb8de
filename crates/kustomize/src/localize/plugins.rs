//! Builtin plugins: the fields of their configurations that refer to something.

use std::rc::Rc;

use super::Localizer;
use crate::error::{Error, Result, Wrap as _};
use crate::fieldspec::Specs;
use crate::node::{Data, Node};
use crate::output::Output;
use crate::types::{FieldSpec, Kustomization};

const FILES: &[(&str, &str)] = &[
    ("ConfigMapGenerator", "env"),
    ("ConfigMapGenerator", "envs"),
    ("SecretGenerator", "env"),
    ("SecretGenerator", "envs"),
    ("HelmChartInflationGenerator", "valuesFile"),
    ("HelmChartInflationGenerator", "additionalValuesFiles"),
    ("PatchTransformer", "path"),
    ("PatchJson6902Transformer", "path"),
    ("ReplacementTransformer", "replacements/path"),
];
const SOURCES: &[(&str, &str)] = &[
    ("ConfigMapGenerator", "files"),
    ("SecretGenerator", "files"),
];
const OBJECTS: &[(&str, &str)] = &[("PatchStrategicMergeTransformer", "paths")];

type Localize<'l> = &'l dyn Fn(&str) -> Result<String>;

impl Localizer<'_> {
    pub(super) fn localize_plugins(&self, it: &mut Kustomization) -> Result<()> {
        let fields = [
            ("generators", &mut it.generators),
            ("transformers", &mut it.transformers),
            ("validators", &mut it.validators),
        ];
        for (name, entries) in fields {
            for entry in entries.iter_mut() {
                let (mut map, is_file) = self
                    .objects(entry)
                    .wrap_with(|| format!("unable to load {name} entry"))?;
                for resource in map.list_mut() {
                    self.plugin(&mut resource.node)?;
                }
                let text = Output::new(map.into_list(), Rc::default()).to_yaml()?;
                *entry = if is_file {
                    self.write(entry, text.as_bytes())
                        .wrap_with(|| format!("unable to localize {name} entry"))?
                } else {
                    text
                };
            }
        }
        Ok(())
    }

    fn plugin(&self, node: &mut Node) -> Result<()> {
        set(node, FILES, &|path| self.file(path))?;
        set(node, SOURCES, &|source| self.source(source))?;
        let is_chart = *node.api_version() == *"builtin"
            && *node.object_kind() == *"HelmChartInflationGenerator";
        if is_chart {
            match node.get_mut("chartHome") {
                None => _ = self.chart_home("")?,
                Some(home) => scalar(home, &|path| self.chart_home(path))?,
            }
        }
        set(node, OBJECTS, &|entry| self.object(entry))
    }
}

fn set(node: &mut Node, fields: &[(&str, &str)], localize: Localize<'_>) -> Result<()> {
    let specs: Vec<FieldSpec> = fields
        .iter()
        .map(|(kind, path)| FieldSpec {
            version: "builtin".into(),
            kind: (*kind).to_owned(),
            path: (*path).to_owned(),
            ..FieldSpec::default()
        })
        .collect();
    let mut specs: Specs = specs.iter().collect();
    specs.apply(node, None, &mut |field| match &mut field.data {
        Data::Seq(items) => items.iter_mut().try_for_each(|it| scalar(it, localize)),
        Data::Scalar(_) => scalar(field, localize),
        Data::Map(_) => Err(Error::new("expected sequence or scalar node")),
    })
}

fn scalar(node: &mut Node, localize: Localize<'_>) -> Result<()> {
    let local = localize(node.raw())?;
    node.set_scalar(Node::plain(local))
}
