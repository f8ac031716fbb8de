//! Plugins by configuration: files, directories or inline texts.

use std::fmt::Write as _;
use std::rc::Rc;

use super::{Accumulator, Build, Target};
use crate::decode::{List, Strings, decode_yaml, go_struct};
use crate::error::{Error, Result};
use crate::factory;
use crate::function::Function;
use crate::generate;
use crate::helm;
use crate::node::Node;
use crate::origin::{ConfiguredBy, Origin};
use crate::plugin::{Asked, Generated, Generator, Transforming};
use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::transform::namespace::Subjects;
use crate::transform::{
    Affix, AffixKind, Hash, ImageTag, JsonPatch, MetaMap, Namespace, PatchTransformer,
    Replacements, ReplicaCount, StrategicPatches, Transformer, ValueAdd,
};
use crate::types::{
    FieldSpec, GeneratorArgs, HelmChart, HelmGlobals, Image, Metadata, Patch, Replica, SecretArgs,
    Selector,
};

go_struct! { AnyConfig as "Plugin" {
    metadata: Metadata = "metadata",
    annotations: Strings = "annotations",
    labels: Strings = "labels",
    field_specs: List<FieldSpec> = "fieldSpecs",
    unset_only: bool = "unsetOnly",
    subjects: String = "setRoleBindingSubjects",
    target: Option<Selector> = "target",
    path: String = "path",
    json_op: String = "jsonOp",
    prefix: String = "prefix",
    suffix: String = "suffix",
}}

go_struct! { ImageConfig as "ImageTagTransformerPlugin" {
    image: Image = "imageTag",
    field_specs: List<FieldSpec> = "fieldSpecs",
}}

go_struct! { ReplicaConfig as "ReplicaCountTransformerPlugin" {
    replica: Replica = "replica",
    field_specs: List<FieldSpec> = "fieldSpecs",
}}

go_struct! { StrategicConfig as "PatchStrategicMergeTransformerPlugin" {
    paths: List<String> = "paths",
    patches: String = "patches",
}}

go_struct! { IamService as "KubernetesService" {
    name: String = "name",
    namespace: String = "namespace",
}}

go_struct! { IamAccount as "ServiceAccount" {
    name: String = "name",
    project_id: String = "projectId",
}}

go_struct! { IamConfig as "IAMPolicyGeneratorPlugin" {
    cloud: String = "cloud",
    service: IamService = "kubernetesService",
    account: IamAccount = "serviceAccount",
}}

enum Plugin<'a> {
    Generator(Box<dyn Generator + 'a>),
    Transformer(Box<dyn Transformer + 'a>),
    Function(Box<Function<'a>>),
}

impl<'a> Target<'a> {
    pub(super) fn external_generators(
        &mut self,
        build: &mut Build<'a>,
    ) -> Result<Vec<Generated<'a>>> {
        let paths = self.kustomization.generators.clone();
        let mut all = Vec::new();
        for resource in self.configurations(&paths, build)?.into_list() {
            let origin = origin_of(&resource)?;
            let id = resource.original_id();
            let fail = |error: Error| error.wrap("failed to load generator");
            let generator: Box<dyn Generator + 'a> =
                match self.configure(&resource, build).map_err(fail)? {
                    Plugin::Generator(generator) => generator,
                    Plugin::Function(function) => Box::new(move || function.generate()),
                    Plugin::Transformer(_) => {
                        return Err(fail(Error::new(format!("plugin {id} not a generator"))));
                    }
                };
            all.push(Generated {
                generator,
                origin,
                asked: Asked::plugin("generators", id.to_string()),
            });
        }
        Ok(all)
    }

    pub(super) fn external_transformers(
        &mut self,
        field: &'static str,
        paths: &[String],
        build: &mut Build<'a>,
    ) -> Result<Vec<Transforming<'a>>> {
        let mut all = Vec::new();
        for resource in self.configurations(paths, build)?.into_list() {
            let origin = origin_of(&resource)?;
            let id = resource.original_id();
            let transformer: Box<dyn Transformer + 'a> = match self.configure(&resource, build)? {
                Plugin::Transformer(transformer) => transformer,
                Plugin::Function(function) => function,
                Plugin::Generator(_) => {
                    return Err(Error::new(format!("plugin {id} not a transformer")));
                }
            };
            all.push(Transforming {
                transformer,
                origin,
                asked: Asked::plugin(field, id.to_string()),
            });
        }
        Ok(all)
    }

    /// Inline texts are what reads as resources; all else is a path.
    fn configurations(&mut self, paths: &[String], build: &mut Build<'a>) -> Result<ResMap> {
        let mut all = Accumulator::default();
        let mut files = Vec::new();
        for path in paths {
            let Ok(mut map) = factory::map_from_text(path) else {
                files.push(path.clone());
                continue;
            };
            if let Some(origin) = &self.origin {
                let origin = origin.append(self.file_name);
                for resource in map.raw_list_mut() {
                    resource.set_origin(Some(&origin))?;
                }
            }
            all.map.append_all(map)?;
        }
        Ok(self.accumulate_resources(all, &files, build)?.map)
    }

    fn configure(&self, resource: &Resource, build: &Build<'a>) -> Result<Plugin<'a>> {
        let gvk = resource.gvk();
        if !(gvk.group.is_empty() && *gvk.version == *"builtin") {
            if !build.options.enable_plugins {
                return Err(Error::new(format!(
                    "external plugins disabled; unable to load external plugin '{}'",
                    resource.original_id().gvk.kind
                )));
            }
            let function = Function::new(resource, &self.loader, &build.options.functions)?;
            return function.map(|it| Plugin::Function(Box::new(it))).ok_or_else(|| {
                Error::new(format!(
                    "unable to load plugin {}: only builtin plugins and KRM functions are supported",
                    resource.original_id()
                ))
            });
        }
        let config = resource.to_yaml()?;
        let made = self.make_builtin(&gvk.kind, config.as_bytes(), build);
        made.map_err(|error| match error {
            Error::UnknownBuiltin(_) => Error::UnknownBuiltin(gvk.to_string()),
            error => error.wrap(format!(
                "plugin {} fails configuration",
                resource.original_id()
            )),
        })
    }

    fn make_builtin(&self, kind: &str, config: &[u8], build: &Build<'a>) -> Result<Plugin<'a>> {
        build.options.usage_counts.plugin(kind);
        let loader = Rc::clone(&self.loader);
        let transformer: Box<dyn Transformer> = match kind {
            "ConfigMapGenerator"
            | "SecretGenerator"
            | "IAMPolicyGenerator"
            | "HelmChartInflationGenerator" => {
                return self
                    .make_generator(kind, config, build)
                    .map(Plugin::Generator);
            }
            "AnnotationsTransformer" => {
                let it: AnyConfig = decode_yaml(config)?;
                Box::new(MetaMap::new(&it.annotations, &it.field_specs))
            }
            "LabelTransformer" => {
                let it: AnyConfig = decode_yaml(config)?;
                Box::new(MetaMap::new(&it.labels, &it.field_specs))
            }
            "HashTransformer" => Box::new(Hash),
            "ImageTagTransformer" => {
                let it: ImageConfig = decode_yaml(config)?;
                Box::new(ImageTag::new(&it.image, &it.field_specs))
            }
            "NamespaceTransformer" => {
                let it: AnyConfig = decode_yaml(config)
                    .map_err(|error| error.wrap("unmarshalling NamespaceTransformer config"))?;
                Box::new(Namespace::new(
                    &it.metadata.namespace,
                    &it.field_specs,
                    it.unset_only,
                    Subjects::read(&it.subjects)?,
                ))
            }
            "PatchJson6902Transformer" => {
                let it: AnyConfig = decode_yaml(config)?;
                let target = it.target.as_ref();
                Box::new(JsonPatch::new(target, &it.path, &it.json_op, &loader)?)
            }
            "PatchStrategicMergeTransformer" => {
                let it: StrategicConfig = decode_yaml(config)?;
                Box::new(StrategicPatches::new(&it.paths, &it.patches, &loader)?)
            }
            "PatchTransformer" => {
                let it: Patch = decode_yaml(config)?;
                let shown = String::from_utf8_lossy(config);
                Box::new(PatchTransformer::new(&it, &shown, &loader)?)
            }
            "PrefixTransformer" | "SuffixTransformer" | "PrefixSuffixTransformer" => {
                Box::new(affixes(kind, &decode_yaml(config)?)?)
            }
            "ReplacementTransformer" => Box::new(Replacements::read(config, &loader)?),
            "ReplicaCountTransformer" => {
                let it: ReplicaConfig = decode_yaml(config)?;
                Box::new(ReplicaCount::new(&it.replica, &it.field_specs))
            }
            "ValueAddTransformer" => Box::new(ValueAdd::read(config, &loader)?),
            _ => return Err(Error::UnknownBuiltin(kind.to_owned())),
        };
        Ok(Plugin::Transformer(transformer))
    }

    fn make_generator(
        &self,
        kind: &str,
        config: &[u8],
        build: &Build<'a>,
    ) -> Result<Box<dyn Generator + 'a>> {
        let loader = Rc::clone(&self.loader);
        let meta: AnyConfig = decode_yaml(config)?;
        let or = |own: &mut String, other: &str| {
            if own.is_empty() {
                other.clone_into(own);
            }
        };
        match kind {
            "ConfigMapGenerator" => {
                let mut args: GeneratorArgs = decode_yaml(config)?;
                or(&mut args.name, &meta.metadata.name);
                or(&mut args.namespace, &meta.metadata.namespace);
                Ok(Box::new(move || {
                    Ok(ResMap::from_iter([generate::config_map(&args, &loader)?]))
                }))
            }
            "SecretGenerator" => {
                let mut args: SecretArgs = decode_yaml(config)?;
                or(&mut args.name, &meta.metadata.name);
                or(&mut args.namespace, &meta.metadata.namespace);
                Ok(Box::new(move || {
                    let (kind, args) = (args.secret_type.clone(), args.generator());
                    Ok(ResMap::from_iter([generate::secret(
                        &args, &kind, &loader,
                    )?]))
                }))
            }
            "IAMPolicyGenerator" => {
                let it: IamConfig = decode_yaml(config)?;
                Ok(Box::new(move || iam_policy(&it)))
            }
            _ => {
                let chart: HelmChart = decode_yaml(config)?;
                let globals: HelmGlobals = decode_yaml(config)?;
                helm::configure(&chart, &globals, loader, &build.options.helm)
            }
        }
    }
}

fn iam_policy(config: &IamConfig) -> Result<ResMap> {
    if config.cloud != "gke" {
        return Err(Error::new(format!(
            "cloud provider {} not supported yet",
            config.cloud
        )));
    }
    let mut text = format!(
        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  annotations:\n    iam.gke.io/gcp-service-account: {}@{}.iam.gserviceaccount.com\n  name: {}\n",
        config.account.name, config.account.project_id, config.service.name
    );
    if !config.service.namespace.is_empty() {
        _ = writeln!(text, "  namespace: {}", config.service.namespace);
    }
    factory::map_from_text(&text)
}

/// A prefix, a suffix, or both after each other.
struct Affixes(Vec<Affix>);

fn affixes(kind: &str, config: &AnyConfig) -> Result<Affixes> {
    if !config.field_specs.given {
        return Err(Error::new("fieldSpecs is not expected to be nil"));
    }
    let mut all = Vec::new();
    if kind != "SuffixTransformer" {
        all.push(Affix::new(
            AffixKind::Prefix,
            &config.prefix,
            &config.field_specs,
        ));
    }
    if kind != "PrefixTransformer" {
        all.push(Affix::new(
            AffixKind::Suffix,
            &config.suffix,
            &config.field_specs,
        ));
    }
    Ok(Affixes(all))
}

impl Transformer for Affixes {
    fn transform(&mut self, map: &mut ResMap, schema: &crate::schema::Schema) -> Result<()> {
        self.0
            .iter_mut()
            .try_for_each(|it| it.transform(map, schema))
    }
}

fn origin_of(resource: &Resource) -> Result<Option<Origin>> {
    let Some(origin) = resource.origin()? else {
        return Ok(None);
    };
    let node: &Node = &resource.node;
    Ok(Some(Origin {
        path: String::new(),
        repo: origin.repo,
        reference: origin.reference,
        configured_in: origin.path,
        configured_by: Some(ConfiguredBy {
            api_version: node.api_version().to_string(),
            kind: node.object_kind().to_string(),
            name: node.name().to_string(),
            namespace: node.namespace().to_string(),
        }),
    }))
}

/// Validators may leave a label behind and nothing else.
pub(super) fn same_but_for_mark(before: &ResMap, after: &ResMap) -> Result<()> {
    const MARK: &str = "validated-by";
    let wrong = |text: String| {
        Err(Error::new(format!(
            "validator shouldn't modify the resource map: {text}"
        )))
    };
    if before.iter().len() != after.iter().len() {
        return wrong("lists have different number of entries".into());
    }
    for (old, new) in before.iter().zip(after.iter()) {
        let mut new = new.clone();
        let mut labels = new.node.labels();
        if labels.remove(MARK).is_some() {
            new.node.set_labels(labels)?;
        }
        if old.to_value()? != new.to_value()? {
            return wrong(format!(
                "nodes unequal: \n -- {},\n -- {}\n\n",
                old.to_value()?,
                new.to_value()?
            ));
        }
    }
    Ok(())
}
