//! Changes to the kustomization in the current directory, as `kustomize edit` makes them.

mod add;
mod file;
mod fix;
mod generator;
mod glob;
mod metadata;
mod remove;
mod set;
mod vars;

pub use generator::{Generated, Sources};
pub use metadata::{LabelOptions, Metadata};

use crate::error::{Error, Result, Wrap as _};
use crate::fs::FileSystem;
use crate::host::Host;
use crate::loader::{LoadRestrictions, Loader};
use crate::types::{Kustomization, Patch, Selector};
pub(crate) use file::KustFile;
pub(crate) use glob::matches as glob_matches;
pub(crate) use metadata::to_pairs;

/// Paths are as a user in the current directory says them.
#[derive(Clone, Copy)]
#[expect(
    missing_debug_implementations,
    reason = "file systems and hosts have none"
)]
pub struct Editor<'a> {
    pub fs: &'a dyn FileSystem,
    /// Hears what was skipped, and knows the repositories that resources may be in.
    pub host: &'a dyn Host,
}

/// What a patch is, and what it is for.
#[derive(Clone, Debug, Default)]
pub struct PatchArguments {
    pub path: String,
    pub patch: String,
    pub group: String,
    pub version: String,
    pub kind: String,
    pub name: String,
    pub namespace: String,
    pub annotation_selector: String,
    pub label_selector: String,
}

impl PatchArguments {
    fn check(&self) -> Result<()> {
        if self.path.is_empty() || self.patch.is_empty() {
            return Ok(());
        }
        Err(Error::new("patch and path can't be set at the same time"))
    }

    fn into_patch(self) -> Patch {
        let target = Selector {
            group: self.group,
            version: self.version,
            kind: self.kind,
            name: self.name,
            namespace: self.namespace,
            annotation_selector: self.annotation_selector,
            label_selector: self.label_selector,
        };
        Patch {
            path: self.path,
            patch: self.patch,
            target: (target != Selector::default()).then_some(target),
            options: None,
        }
    }
}

impl<'a> Editor<'a> {
    fn loader(self) -> Result<std::rc::Rc<Loader<'a>>> {
        Loader::open(self.fs, self.host, ".", LoadRestrictions::RootOnly)
    }

    /// Reads, lets it change, and writes.
    fn change(
        self,
        change: impl FnOnce(&mut Kustomization, &KustFile) -> Result<()>,
    ) -> Result<()> {
        let (file, mut kustomization) = KustFile::open(self.fs)?.read(self.fs)?;
        change(&mut kustomization, &file)?;
        file.write(self.fs, &kustomization)
    }

    /// Files that match; a pattern without any is told and skipped.
    fn matching(self, patterns: &[String]) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for pattern in patterns {
            let found = glob::glob(self.fs, pattern)?;
            if found.is_empty() {
                self.host.log(&format!("{pattern} has no match"));
            }
            all.extend(found);
        }
        Ok(all)
    }

    /// Files that match; a pattern without any must be a root that can be loaded.
    pub(crate) fn loadable(self, patterns: &[String]) -> Result<Vec<String>> {
        let loader = self.loader()?;
        let mut all = Vec::new();
        for pattern in patterns {
            let found = glob::glob(self.fs, pattern).wrap("error checking the filesystem")?;
            if found.is_empty() {
                loader
                    .enter(pattern)
                    .wrap_with(|| format!("{pattern} has no match"))?;
                all.push(pattern.clone());
            }
            all.extend(found);
        }
        Ok(all)
    }
}

/// As Go shows a list.
fn show(items: &[String]) -> String {
    format!("[{}]", items.join(" "))
}

/// None is the default one.
fn same_namespace(a: &str, b: &str) -> bool {
    let is_default = |it: &str| it.is_empty() || it == "default";
    a == b || (is_default(a) && is_default(b))
}

const BUILD_METADATA: &[&str] = &[
    "originAnnotations",
    "transformerAnnotations",
    "managedByLabel",
];

fn build_metadata(arguments: &[String]) -> Result<Vec<String>> {
    let [options] = arguments else {
        return Err(Error::new(if arguments.is_empty() {
            "must specify a buildMetadata option".to_owned()
        } else {
            format!(
                "too many arguments: {}; to provide multiple buildMetadata options, please separate options by comma",
                show(arguments)
            )
        }));
    };
    let options: Vec<String> = options.split(',').map(str::to_owned).collect();
    let unknown = options
        .iter()
        .find(|it| !BUILD_METADATA.contains(&it.as_str()));
    match unknown {
        None => Ok(options),
        Some(option) => Err(Error::new(format!(
            "invalid buildMetadata option: {option}"
        ))),
    }
}

/// The builtin plugins by the names that configurations use.
pub const BUILTIN_PLUGINS: &[&str] = &[
    "ConfigMapGenerator",
    "HelmChartInflationGenerator",
    "IAMPolicyGenerator",
    "SecretGenerator",
    "AnnotationsTransformer",
    "HashTransformer",
    "ImageTagTransformer",
    "LabelTransformer",
    "NamespaceTransformer",
    "PatchJson6902Transformer",
    "PatchStrategicMergeTransformer",
    "PatchTransformer",
    "PrefixSuffixTransformer",
    "PrefixTransformer",
    "ReplacementTransformer",
    "ReplicaCountTransformer",
    "SuffixTransformer",
    "ValueAddTransformer",
];
