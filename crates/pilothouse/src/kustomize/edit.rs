//! `kustomize edit`.

use clap::{Args, Subcommand};
use kustomize::edit::{
    BUILTIN_PLUGINS, Generated, LabelOptions, Metadata, PatchArguments, Sources,
};

use super::{EDITOR, build_options, print, text};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add something to the kustomization
    #[command(subcommand)]
    Add(Add),
    /// Set a field of the kustomization
    #[command(subcommand)]
    Set(Set),
    /// Remove something from the kustomization
    #[command(subcommand)]
    Remove(Remove),
    /// Replace deprecated fields by the ones that took their place
    Fix(Fix),
    /// List the builtin plugins
    AlphaListBuiltinPlugin(Words),
}

#[expect(clippy::doc_markdown, reason = "these are help texts for a terminal")]
#[derive(Debug, Subcommand)]
pub(crate) enum Add {
    /// Add annotations for all resources, as key:value
    Annotation(AddAnnotation),
    /// Add directories with kustomizations, with commas between them
    Base(Words),
    /// Add options for what a build says about itself: originAnnotations, transformerAnnotations, managedByLabel
    Buildmetadata(Words),
    /// Add components
    Component(Words),
    /// Add a ConfigMap
    Configmap(AddConfigMap),
    /// Add files that configure generators
    Generator(Words),
    /// Add labels for all resources, as key:value
    Label(AddLabel),
    /// Add a patch
    Patch(Patch),
    /// Add files with resources, or directories with kustomizations
    Resource(AddResource),
    /// Add a Secret
    Secret(AddSecret),
    /// Add files that configure transformers
    Transformer(Words),
}

#[expect(clippy::doc_markdown, reason = "these are help texts for a terminal")]
#[derive(Debug, Subcommand)]
pub(crate) enum Set {
    /// Set annotations for all resources, as key:value
    Annotation(Words),
    /// Set the options for what a build says about itself, with commas between them
    Buildmetadata(Words),
    /// Set literals or the namespace of a ConfigMap
    Configmap(SetGenerated),
    /// Set images: image=name:tag@digest, each part but the first may be left out; * keeps what is there
    Image(Words),
    /// Set labels for all resources, as key:value
    Label(Words),
    /// Set what goes before all names
    Nameprefix(Words),
    /// Set the namespace of all resources
    Namespace(Words),
    /// Set what goes behind all names; write -- before one that begins with a dash
    Namesuffix(Words),
    /// Set how many replicas there are, as name=count
    Replicas(Words),
    /// Set literals or the namespace of a Secret
    Secret(SetGenerated),
}

#[expect(clippy::doc_markdown, reason = "these are help texts for a terminal")]
#[derive(Debug, Subcommand)]
pub(crate) enum Remove {
    /// Remove annotations by their keys, with commas between them
    Annotation(RemoveMetadata),
    /// Remove options for what a build says about itself, with commas between them
    Buildmetadata(Words),
    /// Remove ConfigMaps by their names, with commas between them
    Configmap(RemoveGenerated),
    /// Remove labels by their keys, with commas between them
    Label(RemoveMetadata),
    /// Remove a patch; what is said of it must be all that the kustomization says of it
    Patch(Patch),
    /// Remove resources by patterns
    Resource(Words),
    /// Remove Secrets by their names, with commas between them
    Secret(RemoveGenerated),
    /// Remove transformers by patterns
    Transformer(Words),
}

#[derive(Debug, Args)]
pub(crate) struct Words {
    #[arg(value_name = "VALUE")]
    words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AddAnnotation {
    #[arg(value_name = "KEY:VALUE")]
    words: Vec<String>,
    /// Overwrite those that are there
    #[arg(short, long)]
    force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddLabel {
    #[arg(value_name = "KEY:VALUE")]
    words: Vec<String>,
    /// Overwrite those that are there
    #[arg(short, long)]
    force: bool,
    /// Leave selectors as they are
    #[arg(long)]
    without_selector: bool,
    /// With --without-selector: label what is made from templates too
    #[arg(long)]
    include_templates: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddResource {
    #[arg(value_name = "PATTERN")]
    words: Vec<String>,
    /// Do not look whether they are there
    #[arg(long)]
    no_verify: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "flags as upstream has them")]
pub(crate) struct Patch {
    /// The file with the patch; not together with --patch
    #[arg(long, value_name = "FILE", default_value = "")]
    path: String,
    /// The patch itself; not together with --path
    #[arg(long, value_name = "TEXT", default_value = "")]
    patch: String,
    /// The API group of the target
    #[arg(long, default_value = "")]
    group: String,
    /// The API version of the target
    #[arg(long, default_value = "")]
    version: String,
    /// The kind of the target
    #[arg(long, default_value = "")]
    kind: String,
    /// The name of the target
    #[arg(long, default_value = "")]
    name: String,
    /// The namespace of the target
    #[arg(long, default_value = "")]
    namespace: String,
    /// Which annotations the target has
    #[arg(long, value_name = "SELECTOR", default_value = "")]
    annotation_selector: String,
    /// Which labels the target has
    #[arg(long, value_name = "SELECTOR", default_value = "")]
    label_selector: String,
    #[arg(hide = true)]
    ignored: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SourceFlags {
    #[arg(value_name = "NAME")]
    words: Vec<String>,
    /// Files, as path or key=path; the key is else the name of the file
    #[arg(long, value_name = "[KEY=]PATTERN", value_delimiter = ',')]
    from_file: Vec<String>,
    /// A key and its value
    #[arg(long, value_name = "KEY=VALUE")]
    from_literal: Vec<String>,
    /// A file with lines like key=value
    #[arg(long, value_name = "FILE", default_value = "")]
    from_env_file: String,
    /// Its name gets no hash of its content
    #[arg(long = "disableNameSuffixHash")]
    disable_name_suffix_hash: bool,
    /// Its namespace
    #[arg(long, default_value = "")]
    namespace: String,
}

#[derive(Debug, Args)]
pub(crate) struct AddConfigMap {
    #[command(flatten)]
    from: SourceFlags,
    /// Whether it is new, or changes or replaces that of a base: create, merge or replace
    #[arg(long, default_value = "")]
    behavior: String,
}

#[derive(Debug, Args)]
pub(crate) struct AddSecret {
    #[command(flatten)]
    from: SourceFlags,
    /// The type of the Secret
    #[arg(long = "type", value_name = "TYPE", default_value = "Opaque")]
    secret_type: String,
}

#[derive(Debug, Args)]
pub(crate) struct SetGenerated {
    #[arg(value_name = "NAME")]
    words: Vec<String>,
    /// A key that is there, and its new value
    #[arg(long, value_name = "KEY=VALUE")]
    from_literal: Vec<String>,
    /// The namespace it has
    #[arg(long, default_value = "")]
    namespace: String,
    /// The namespace it gets
    #[arg(long, default_value = "", value_name = "NAMESPACE")]
    new_namespace: String,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveMetadata {
    #[arg(value_name = "KEYS")]
    words: Vec<String>,
    /// Those that are not there are no error
    #[arg(short, long)]
    ignore_non_existence: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveGenerated {
    #[arg(value_name = "NAMES")]
    words: Vec<String>,
    /// Their namespace
    #[arg(long, default_value = "")]
    namespace: String,
}

#[derive(Debug, Args)]
pub(crate) struct Fix {
    /// Make replacements of vars too; this changes files of resources, so have them in git
    #[arg(long)]
    vars: bool,
    #[arg(hide = true)]
    ignored: Vec<String>,
}

impl Command {
    pub(crate) fn run(self) -> Result<(), String> {
        match self {
            Self::Add(command) => command.run(),
            Self::Set(command) => command.run(),
            Self::Remove(command) => command.run(),
            Self::Fix(arguments) => {
                let mut report = String::new();
                let outcome = EDITOR.fix(arguments.vars, &build_options(), &mut report);
                print(&report)?;
                outcome.map_err(text)
            }
            Self::AlphaListBuiltinPlugin(_) => {
                let list = BUILTIN_PLUGINS.join("\n * ");
                print(&format!("Builtin plugins:\n\n * {list}\n"))
            }
        }
    }
}

impl Add {
    fn run(self) -> Result<(), String> {
        match self {
            Self::Annotation(it) => EDITOR.add_metadata(
                Metadata::Annotation,
                &it.words,
                LabelOptions {
                    force: it.force,
                    ..LabelOptions::default()
                },
            ),
            Self::Label(it) => EDITOR.add_metadata(
                Metadata::Label,
                &it.words,
                LabelOptions {
                    force: it.force,
                    without_selector: it.without_selector,
                    include_templates: it.include_templates,
                },
            ),
            Self::Base(it) => EDITOR.add_bases(&it.words),
            Self::Buildmetadata(it) => EDITOR.add_build_metadata(&it.words),
            Self::Component(it) => EDITOR.add_components(&it.words),
            Self::Configmap(it) => {
                let behavior = it.behavior;
                let (name, sources) = it.from.into_sources();
                let sources = Sources {
                    behavior,
                    ..sources
                };
                EDITOR.add_generated(Generated::ConfigMap, &name, sources)
            }
            Self::Secret(it) => {
                let secret_type = it.secret_type;
                let (name, sources) = it.from.into_sources();
                let sources = Sources {
                    secret_type,
                    ..sources
                };
                EDITOR.add_generated(Generated::Secret, &name, sources)
            }
            Self::Generator(it) => EDITOR.add_generators(&it.words),
            Self::Patch(it) => EDITOR.add_patch(it.into()),
            Self::Resource(it) => EDITOR.add_resources(&it.words, it.no_verify),
            Self::Transformer(it) => EDITOR.add_transformers(&it.words),
        }
        .map_err(text)
    }
}

impl Set {
    fn run(self) -> Result<(), String> {
        match self {
            Self::Annotation(it) => EDITOR.set_metadata(Metadata::Annotation, &it.words),
            Self::Label(it) => EDITOR.set_metadata(Metadata::Label, &it.words),
            Self::Buildmetadata(it) => EDITOR.set_build_metadata(&it.words),
            Self::Configmap(it) => it.run(Generated::ConfigMap),
            Self::Secret(it) => it.run(Generated::Secret),
            Self::Image(it) => EDITOR.set_images(&it.words),
            Self::Nameprefix(it) => EDITOR.set_name_prefix(&it.words),
            Self::Namesuffix(it) => EDITOR.set_name_suffix(&it.words),
            Self::Namespace(it) => EDITOR.set_namespace(&it.words),
            Self::Replicas(it) => EDITOR.set_replicas(&it.words),
        }
        .map_err(text)
    }
}

impl Remove {
    fn run(self) -> Result<(), String> {
        match self {
            Self::Annotation(it) => {
                EDITOR.remove_metadata(Metadata::Annotation, &it.words, it.ignore_non_existence)
            }
            Self::Label(it) => {
                EDITOR.remove_metadata(Metadata::Label, &it.words, it.ignore_non_existence)
            }
            Self::Buildmetadata(it) => EDITOR.remove_build_metadata(&it.words),
            Self::Configmap(it) => {
                EDITOR.remove_generated(Generated::ConfigMap, &it.words, &it.namespace)
            }
            Self::Secret(it) => {
                EDITOR.remove_generated(Generated::Secret, &it.words, &it.namespace)
            }
            Self::Patch(it) => EDITOR.remove_patch(it.into()),
            Self::Resource(it) => EDITOR.remove_resources(&it.words),
            Self::Transformer(it) => EDITOR.remove_transformers(&it.words),
        }
        .map_err(text)
    }
}

impl SourceFlags {
    fn into_sources(self) -> (Vec<String>, Sources) {
        let sources = Sources {
            files: self.from_file,
            literals: self.from_literal,
            env_file: self.from_env_file,
            namespace: self.namespace,
            disable_name_suffix_hash: self.disable_name_suffix_hash,
            ..Sources::default()
        };
        (self.words, sources)
    }
}

impl SetGenerated {
    fn run(self, what: Generated) -> Result<(), kustomize::Error> {
        let sources = Sources {
            literals: self.from_literal,
            namespace: self.namespace,
            new_namespace: self.new_namespace,
            ..Sources::default()
        };
        EDITOR.set_generated(what, &self.words, &sources)
    }
}

impl From<Patch> for PatchArguments {
    fn from(it: Patch) -> Self {
        Self {
            path: it.path,
            patch: it.patch,
            group: it.group,
            version: it.version,
            kind: it.kind,
            name: it.name,
            namespace: it.namespace,
            annotation_selector: it.annotation_selector,
            label_selector: it.label_selector,
        }
    }
}
