//! What stands in a kustomization, and in the configurations of builtin plugins.

use crate::decode::{List, Strings, go_struct};
use crate::id::{Gvk, ResId};

go_struct! { Metadata as "ObjectMeta" {
    name: String = "name",
    namespace: String = "namespace",
    labels: Strings = "labels",
    annotations: Strings = "annotations",
}}

go_struct! { FieldSpec as "FieldSpec" {
    group: String = "group" in "Gvk",
    version: String = "version" in "Gvk",
    kind: String = "kind" in "Gvk",
    path: String = "path",
    create: bool = "create",
}}

impl FieldSpec {
    pub(crate) fn gvk(&self) -> Gvk {
        Gvk {
            group: self.group.as_str().into(),
            version: self.version.as_str().into(),
            kind: self.kind.as_str().into(),
        }
    }
}

go_struct! { Label as "Label" {
    pairs: Strings = "pairs",
    include_selectors: bool = "includeSelectors",
    include_templates: bool = "includeTemplates",
    include_volume_claim_templates: Option<bool> = "includeVolumeClaimTemplates",
    field_specs: List<FieldSpec> = "fields",
}}

go_struct! { Image as "Image" {
    name: String = "name",
    new_name: String = "newName",
    tag_suffix: String = "tagSuffix",
    new_tag: String = "newTag",
    digest: String = "digest",
}}

go_struct! { Replica as "Replica" {
    name: String = "name",
    count: i64 = "count" as always,
}}

go_struct! { Selector as "Selector" {
    group: String = "group" in "ResId.Gvk",
    version: String = "version" in "ResId.Gvk",
    kind: String = "kind" in "ResId.Gvk",
    name: String = "name" in "ResId",
    namespace: String = "namespace" in "ResId",
    annotation_selector: String = "annotationSelector",
    label_selector: String = "labelSelector",
}}

impl Selector {
    pub(crate) fn id(&self) -> ResId {
        ResId {
            gvk: Gvk {
                group: self.group.as_str().into(),
                version: self.version.as_str().into(),
                kind: self.kind.as_str().into(),
            },
            name: self.name.as_str().into(),
            namespace: self.namespace.as_str().into(),
        }
    }
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}:a={}:l={}",
            self.id(),
            self.annotation_selector,
            self.label_selector
        )
    }
}

go_struct! { PatchOptions as "PatchArgs" {
    allow_name_change: bool = "allowNameChange",
    allow_kind_change: bool = "allowKindChange",
}}

go_struct! { Patch as "Patch" {
    path: String = "path",
    patch: String = "patch",
    target: Option<Selector> = "target",
    options: Option<PatchOptions> = "options",
}}

go_struct! { FieldOptions as "FieldOptions" {
    delimiter: String = "delimiter",
    index: i64 = "index" shown "int64" as "int",
    encoding: String = "encoding",
    create: bool = "create",
}}

go_struct! { Source as "SourceSelector" {
    group: String = "group" in "ResId.Gvk",
    version: String = "version" in "ResId.Gvk",
    kind: String = "kind" in "ResId.Gvk",
    name: String = "name" in "ResId",
    namespace: String = "namespace" in "ResId",
    field_path: String = "fieldPath",
    options: Option<FieldOptions> = "options",
}}

impl Source {
    pub(crate) fn id(&self) -> ResId {
        ResId {
            gvk: Gvk {
                group: self.group.as_str().into(),
                version: self.version.as_str().into(),
                kind: self.kind.as_str().into(),
            },
            name: self.name.as_str().into(),
            namespace: self.namespace.as_str().into(),
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.id())?;
        if !self.field_path.is_empty() {
            write!(f, ":{}", self.field_path)?;
        }
        match &self.options {
            Some(options) if !options.delimiter.is_empty() || options.create => {
                let FieldOptions {
                    delimiter,
                    index,
                    create,
                    ..
                } = options;
                write!(f, ":{delimiter}({index}), create={create}")
            }
            _ => Ok(()),
        }
    }
}

go_struct! { Target as "TargetSelector" {
    select: Option<Selector> = "select" as always,
    reject: List<Selector> = "reject" shown "[]types" as "[]*types",
    field_paths: List<String> = "fieldPaths",
    options: Option<FieldOptions> = "options",
}}

go_struct! { Replacement as "ReplacementField" {
    path: String = "path",
    source: Option<Source> = "source" in "Replacement",
    targets: List<Target> = "targets" in "Replacement" shown "[]types" as "[]*types",
    source_value: Option<String> = "sourceValue" in "Replacement",
}}

go_struct! { VarTarget as "Target" {
    api_version: String = "apiVersion",
    group: String = "group" in "Gvk",
    version: String = "version" in "Gvk",
    kind: String = "kind" in "Gvk",
    name: String = "name" as always,
    namespace: String = "namespace",
}}

go_struct! { FieldRef as "FieldSelector" {
    field_path: String = "fieldPath",
}}

go_struct! { Var as "Var" {
    name: String = "name" as always,
    object: VarTarget = "objref",
    field: FieldRef = "fieldref",
}}

go_struct! { GeneratorOptions as "GeneratorOptions" {
    labels: Strings = "labels",
    annotations: Strings = "annotations",
    disable_name_suffix_hash: bool = "disableNameSuffixHash",
    immutable: bool = "immutable",
}}

// Of a `ConfigMap`; a Secret has one field more.
go_struct! { GeneratorArgs as "ConfigMapArgs" {
    namespace: String = "namespace" in "GeneratorArgs",
    name: String = "name" in "GeneratorArgs",
    behavior: String = "behavior" in "GeneratorArgs",
    literals: List<String> = "literals" in "GeneratorArgs.KvPairSources",
    files: List<String> = "files" in "GeneratorArgs.KvPairSources",
    envs: List<String> = "envs" in "GeneratorArgs.KvPairSources",
    env: String = "env" in "GeneratorArgs.KvPairSources",
    options: Option<GeneratorOptions> = "options" in "GeneratorArgs",
}}

go_struct! { SecretArgs as "SecretArgs" {
    namespace: String = "namespace" in "GeneratorArgs",
    name: String = "name" in "GeneratorArgs",
    behavior: String = "behavior" in "GeneratorArgs",
    literals: List<String> = "literals" in "GeneratorArgs.KvPairSources",
    files: List<String> = "files" in "GeneratorArgs.KvPairSources",
    envs: List<String> = "envs" in "GeneratorArgs.KvPairSources",
    env: String = "env" in "GeneratorArgs.KvPairSources",
    options: Option<GeneratorOptions> = "options" in "GeneratorArgs",
    secret_type: String = "type",
}}

impl SecretArgs {
    pub(crate) fn generator(&self) -> GeneratorArgs {
        GeneratorArgs {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            behavior: self.behavior.clone(),
            literals: self.literals.clone(),
            files: self.files.clone(),
            envs: self.envs.clone(),
            env: self.env.clone(),
            options: self.options.clone(),
        }
    }
}

go_struct! { LegacySort as "LegacySortOptions" {
    order_first: List<String> = "orderFirst" as always,
    order_last: List<String> = "orderLast" as always,
}}

go_struct! { SortOptions as "SortOptions" {
    order: String = "order" shown "string" as "types.SortOrder",
    legacy: Option<LegacySort> = "legacySortOptions",
}}

go_struct! { HelmGlobals as "HelmGlobals" {
    chart_home: String = "chartHome",
    config_home: String = "configHome",
}}

go_struct! { HelmChart as "HelmChart" {
    name: String = "name",
    version: String = "version",
    repo: String = "repo",
    release_name: String = "releaseName",
    namespace: String = "namespace",
    additional_values_files: List<String> = "additionalValuesFiles",
    values_file: String = "valuesFile",
    values_inline: Option<json::Object> = "valuesInline",
    values_merge: String = "valuesMerge",
    include_crds: bool = "includeCRDs",
    skip_hooks: bool = "skipHooks",
    api_versions: List<String> = "apiVersions",
    kube_version: String = "kubeVersion",
    name_template: String = "nameTemplate",
    skip_tests: bool = "skipTests",
    debug: bool = "debug",
    devel: bool = "devel",
}}

// The old form of a chart, with the globals in each.
go_struct! { HelmChartArgs as "HelmChartArgs" {
    chart_name: String = "chartName",
    chart_version: String = "chartVersion",
    chart_repo_url: String = "chartRepoUrl",
    chart_home: String = "chartHome",
    chart_repo_name: String = "chartRepoName",
    helm_bin: String = "helmBin",
    helm_home: String = "helmHome",
    values: String = "values",
    values_local: Option<json::Object> = "valuesLocal",
    values_merge: String = "valuesMerge",
    release_name: String = "releaseName",
    release_namespace: String = "releaseNamespace",
    extra_args: List<String> = "extraArgs",
}}

go_struct! { Kustomization as "Kustomization" {
    kind: String = "kind" in "TypeMeta",
    api_version: String = "apiVersion" in "TypeMeta",
    metadata: Option<Metadata> = "metadata",
    openapi: Strings = "openapi",
    name_prefix: String = "namePrefix",
    name_suffix: String = "nameSuffix",
    namespace: String = "namespace",
    common_labels: Strings = "commonLabels",
    labels: List<Label> = "labels",
    common_annotations: Strings = "commonAnnotations",
    patches_strategic_merge: List<String> = "patchesStrategicMerge" shown "string" as "types.PatchStrategicMerge",
    patches_json6902: List<Patch> = "patchesJson6902",
    patches: List<Patch> = "patches",
    images: List<Image> = "images",
    image_tags: List<Image> = "imageTags",
    replacements: List<Replacement> = "replacements",
    replicas: List<Replica> = "replicas",
    vars: List<Var> = "vars",
    sort_options: Option<SortOptions> = "sortOptions",
    resources: List<String> = "resources",
    components: List<String> = "components",
    crds: List<String> = "crds",
    bases: List<String> = "bases",
    config_map_generator: List<GeneratorArgs> = "configMapGenerator",
    secret_generator: List<SecretArgs> = "secretGenerator",
    helm_globals: Option<HelmGlobals> = "helmGlobals",
    helm_charts: List<HelmChart> = "helmCharts",
    helm_chart_inflation_generator: List<HelmChartArgs> = "helmChartInflationGenerator",
    generator_options: Option<GeneratorOptions> = "generatorOptions",
    configurations: List<String> = "configurations",
    generators: List<String> = "generators",
    transformers: List<String> = "transformers",
    validators: List<String> = "validators",
    build_metadata: List<String> = "buildMetadata",
}}
