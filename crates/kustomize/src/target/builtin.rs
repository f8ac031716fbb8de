//! What the fields of a kustomization make of builtin plugins.

use std::rc::Rc;

use json::{Object, Value};

use super::{Build, Target};
use crate::config::{Config, merge_specs};
use crate::encode::Encode;
use crate::error::{Error, Result, Wrap as _};
use crate::generate;
use crate::helm;
use crate::origin::{ConfiguredBy, Origin};
use crate::paths;
use crate::plugin::{Asked, Generated, Generator, Transforming};
use crate::resmap::ResMap;
use crate::transform::namespace::Subjects;
use crate::transform::{
    Affix, AffixKind, ImageTag, JsonPatch, MetaMap, Namespace, PatchTransformer, Replacements,
    ReplicaCount, StrategicPatches, Transformer,
};
use crate::types::{FieldSpec, Label, Patch, Selector};

impl<'a> Target<'a> {
    fn origin_of(&self, plugin: &str) -> Option<Origin> {
        let origin = self.origin.as_ref()?;
        Some(Origin {
            path: String::new(),
            repo: origin.repo.clone(),
            reference: origin.reference.clone(),
            configured_in: paths::join(&origin.path, self.file_name),
            configured_by: Some(ConfiguredBy {
                api_version: "builtin".into(),
                kind: plugin.to_owned(),
                ..ConfiguredBy::default()
            }),
        })
    }

    pub(super) fn builtin_generators(&self, build: &Build<'a>) -> Result<Vec<Generated<'a>>> {
        let k = &self.kustomization;
        let mut all = Vec::new();
        let mut add = |generator: Box<dyn Generator + 'a>, plugin: &str, asked: Asked| {
            all.push(Generated {
                generator,
                origin: self.origin_of(plugin),
                asked,
            });
        };
        let global = k.generator_options.as_ref();
        for (at, args) in k.config_map_generator.iter().enumerate() {
            let mut args = args.clone();
            args.options = generate::merge_options(args.options.as_ref(), global);
            let loader = Rc::clone(&self.loader);
            let generator = move || Ok(ResMap::from_iter([generate::config_map(&args, &loader)?]));
            let asked = Asked::at("configMapGenerator", at);
            add(Box::new(generator), "ConfigMapGenerator", asked);
        }
        for (at, args) in k.secret_generator.iter().enumerate() {
            let mut args = args.clone();
            args.options = generate::merge_options(args.options.as_ref(), global);
            let loader = Rc::clone(&self.loader);
            let generator = move || {
                let (kind, args) = (args.secret_type.clone(), args.generator());
                Ok(ResMap::from_iter([generate::secret(
                    &args, &kind, &loader,
                )?]))
            };
            let asked = Asked::at("secretGenerator", at);
            add(Box::new(generator), "SecretGenerator", asked);
        }
        let globals = k.helm_globals.clone().unwrap_or_default();
        for (at, chart) in k.helm_charts.iter().enumerate() {
            let asked = Asked::at("helmCharts", at);
            let mut chart = chart.clone();
            if chart.namespace.is_empty() {
                let own = &k.namespace;
                let namespace = if own.is_empty() {
                    &self.helm_namespace
                } else {
                    own
                };
                chart.namespace.clone_from(namespace);
            }
            let generator = helm::configure(
                &chart,
                &globals,
                Rc::clone(&self.loader),
                &build.options.helm,
            )
            .map_err(|error| {
                error.wrap(format!(
                    "trouble configuring builtin HelmChartInflationGenerator with config: `\n{}`",
                    helm::show(&chart, &globals)
                ))
                .at(|| self.place(&asked))
            })?;
            add(generator, "HelmChartInflationGenerator", asked);
        }
        Ok(all)
    }

    pub(super) fn builtin_transformers(&self, config: &Config) -> Result<Vec<Transforming<'a>>> {
        let k = &self.kustomization;
        let mut all = Vec::new();
        let mut add = |transformer: Box<dyn Transformer>, plugin: &str, asked: Asked| {
            all.push(Transforming {
                transformer,
                origin: self.origin_of(plugin),
                asked,
            });
        };
        if !k.patches_strategic_merge.is_empty() {
            let paths = &k.patches_strategic_merge;
            let asked = Asked::by("patchesStrategicMerge");
            let made = StrategicPatches::new(paths, "", &self.loader);
            let made = made.map_err(|error| {
                let paths = paths.iter().map(String::as_str).collect::<Value>();
                trouble(error, "PatchStrategicMergeTransformer", "paths", paths)
                    .at(|| self.place(&asked))
            })?;
            add(Box::new(made), "PatchStrategicMergeTransformer", asked);
        }
        for (at, patch) in k.patches.iter().enumerate() {
            let shown = show_patch(patch);
            let asked = Asked::at("patches", at).with_file(&patch.path);
            let made = PatchTransformer::new(patch, &shown, &self.loader).map_err(|error| {
                trouble_with(error, "PatchTransformer", &shown)
                    .by(|known| self.place_at(&asked, known))
            })?;
            add(Box::new(made), "PatchTransformer", asked);
        }
        if !k.namespace.is_empty() {
            let made = Namespace::new(&k.namespace, &config.namespace, false, Subjects::default());
            add(
                Box::new(made),
                "NamespaceTransformer",
                Asked::by("namespace"),
            );
        }
        if !k.name_prefix.is_empty() {
            let made = Affix::new(AffixKind::Prefix, &k.name_prefix, &config.name_prefix);
            add(Box::new(made), "PrefixTransformer", Asked::by("namePrefix"));
        }
        if !k.name_suffix.is_empty() {
            let made = Affix::new(AffixKind::Suffix, &k.name_suffix, &config.name_suffix);
            add(Box::new(made), "SuffixTransformer", Asked::by("nameSuffix"));
        }
        if !k.labels.is_empty() || !k.common_labels.is_empty() {
            for (at, label) in k.labels.iter().enumerate() {
                let asked = Asked::at("labels", at);
                let specs = label_specs(label, config);
                let specs = specs.map_err(|error| error.at(|| self.place(&asked)))?;
                let made = MetaMap::new(&label.pairs, &specs);
                add(Box::new(made), "LabelTransformer", asked);
            }
            let made = MetaMap::new(&k.common_labels, &config.common_labels);
            let asked = Asked::by("commonLabels");
            add(Box::new(made), "LabelTransformer", asked);
        }
        if !k.common_annotations.is_empty() {
            let made = MetaMap::new(&k.common_annotations, &config.common_annotations);
            let asked = Asked::by("commonAnnotations");
            add(Box::new(made), "AnnotationsTransformer", asked);
        }
        for (at, patch) in k.patches_json6902.iter().enumerate() {
            let asked = Asked::at("patchesJson6902", at).with_file(&patch.path);
            let target = patch.target.as_ref();
            let made = JsonPatch::new(target, &patch.path, &patch.patch, &self.loader);
            let made = made.map_err(|error| {
                trouble_with(error, "PatchJson6902Transformer", &show_json_patch(patch))
                    .at(|| self.place(&asked))
            })?;
            add(Box::new(made), "PatchJson6902Transformer", asked);
        }
        for (at, replica) in k.replicas.iter().enumerate() {
            let made = ReplicaCount::new(replica, &config.replicas);
            let asked = Asked::at("replicas", at);
            add(Box::new(made), "ReplicaCountTransformer", asked);
        }
        for (at, image) in k.images.iter().enumerate() {
            let made = ImageTag::new(image, &config.images);
            let asked = Asked::at("images", at);
            add(Box::new(made), "ImageTagTransformer", asked);
        }
        if !k.replacements.is_empty() {
            let asked = Asked::by("replacements");
            // On the way to the plugin, an empty list of targets is lost.
            let mut listed = k.replacements.to_vec();
            for replacement in &mut listed {
                replacement.targets.given &= !replacement.targets.is_empty();
            }
            let made = Replacements::new(&listed, &self.loader);
            let made = made.map_err(|error| {
                let all = k.replacements.iter().map(Encode::encode);
                let all = Value::Array(all.collect());
                trouble(error, "ReplacementTransformer", "Replacements", all)
                    .at(|| self.place(&asked))
            })?;
            add(Box::new(made), "ReplacementTransformer", asked);
        }
        Ok(all)
    }
}

fn trouble(error: Error, plugin: &str, field: &str, value: Value) -> Error {
    let mut object = Object::new();
    object.insert(field, value);
    trouble_with(
        error,
        plugin,
        &yaml::value_to_string(&Value::Object(object)),
    )
}

fn trouble_with(error: Error, plugin: &str, config: &str) -> Error {
    error.wrap(format!(
        "trouble configuring builtin {plugin} with config: `\n{config}`"
    ))
}

fn label_specs(label: &Label, config: &Config) -> Result<Vec<FieldSpec>> {
    let claims = |it: &FieldSpec| it.path.starts_with("spec/volumeClaimTemplates[]");
    let metadata = FieldSpec {
        path: "metadata/labels".into(),
        create: true,
        ..FieldSpec::default()
    };
    let mut specs = label.field_specs.to_vec();
    merge_specs(&mut specs, &config.labels).wrap("failed to merge labels")?;
    if label.include_selectors {
        merge_specs(&mut specs, &config.common_labels).wrap("failed to merge labels")?;
        return Ok(specs);
    }
    // Since the field exists, it alone decides about claims; without it, templates include them.
    let include_claims = label.include_volume_claim_templates;
    if label.include_templates {
        let templates = config.template_labels.iter();
        let templates: Vec<FieldSpec> = templates
            .filter(|it| include_claims.is_none() || !claims(it))
            .cloned()
            .collect();
        merge_specs(&mut specs, &templates).wrap("failed to merge template fieldSpec")?;
    }
    if include_claims == Some(true) {
        let of_claims = config.template_labels.iter().filter(|it| claims(it));
        let of_claims: Vec<FieldSpec> = of_claims.cloned().collect();
        merge_specs(&mut specs, &of_claims)
            .wrap("failed to merge volume claim template fieldSpec")?;
    }
    merge_specs(&mut specs, &[metadata]).wrap("failed to merge labels")?;
    Ok(specs)
}

fn selector_value(selector: &Selector) -> Value {
    let fields = [
        ("group", &selector.group),
        ("version", &selector.version),
        ("kind", &selector.kind),
        ("name", &selector.name),
        ("namespace", &selector.namespace),
        ("annotationSelector", &selector.annotation_selector),
        ("labelSelector", &selector.label_selector),
    ];
    let given = fields.into_iter().filter(|(_, text)| !text.is_empty());
    Value::Object(given.map(|(key, text)| (key, text.as_str())).collect())
}

/// The same for an entry of `patchesJson6902`, which becomes another thing for its plugin.
fn show_json_patch(patch: &Patch) -> String {
    let mut object = Object::new();
    if let Some(target) = &patch.target {
        object.insert("target", selector_value(target));
    }
    let texts = [("path", &patch.path), ("jsonOp", &patch.patch)];
    for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        object.insert(key, text.as_str());
    }
    yaml::value_to_string(&Value::Object(object))
}

/// As it is shown when something is wrong with it.
fn show_patch(patch: &Patch) -> String {
    let mut object = Object::new();
    if !patch.path.is_empty() {
        object.insert("path", patch.path.as_str());
    }
    if !patch.patch.is_empty() {
        object.insert("patch", patch.patch.as_str());
    }
    if let Some(target) = &patch.target {
        object.insert("target", selector_value(target));
    }
    if let Some(options) = &patch.options {
        let mut shown = Object::new();
        if options.allow_name_change {
            shown.insert("allowNameChange", true);
        }
        if options.allow_kind_change {
            shown.insert("allowKindChange", true);
        }
        object.insert("options", shown);
    }
    yaml::value_to_string(&Value::Object(object))
}
