//! Builds a kustomization: loads it, accumulates resources, generates, transforms and writes them, byte for byte as
//! kustomize does.
//!
//! **Invariant:** files come from a [`FileSystem`], programs and the network from a [`Host`]; the work grows with the
//! number of resources, not with its square.
//!
//! ```
//! use kustomize::{Alone, Memory, Options, build};
//!
//! let files = Memory::from_iter([
//!     ("/app/kustomization.yaml", "namePrefix: my-\nresources: [service.yaml]\n"),
//!     ("/app/service.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n"),
//! ]);
//! let output = build(&files, &Alone, "/app", &Options::default())?;
//! assert_eq!(output.to_yaml()?, "apiVersion: v1\nkind: Service\nmetadata:\n  name: my-web\n");
//! # Ok::<(), kustomize::Error>(())
//! ```

pub mod cfg;
mod config;
mod create;
mod decode;
pub mod edit;
mod encode;
mod error;
mod explain;
mod factory;
mod fieldspec;
mod fs;
mod function;
mod generate;
mod git;
mod glob;
mod go_sort;
mod helm;
mod host;
mod id;
mod kustomization;
mod loader;
mod localize;
mod name_ref;
mod node;
mod origin;
mod output;
mod paths;
mod plugin;
mod regexp;
mod resmap;
mod resource;
mod schema;
mod strategic;
mod target;
mod transform;
mod types;
mod url;
mod usage_counts;
mod vars;

pub use create::NewKustomization;
pub use error::Error;
pub use explain::{Change, Explanation};
pub use fs::{Disk, Entry, EntryKind, FileSystem, Memory, Recorded};
pub use host::{Alone, Cached, Finished, Host, Local, Program, Repository};
pub use loader::LoadRestrictions;
pub use localize::{Localized, localize};
pub use output::Output;
pub use usage_counts::{Counts, UsageCounts};

use std::rc::Rc;

use node::source::Sources;
use resource::Resource;
use target::{Build, Target};
use transform::{MetaMap, Transformer as _, sort};
use types::{FieldSpec, SortOptions};

/// The kustomize whose bytes these are.
pub const VERSION: &str = "v5.8.1";

#[expect(clippy::struct_excessive_bools, reason = "options are independent")]
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub load_restrictions: LoadRestrictions,
    pub reorder: Reorder,
    pub add_managed_by_label: bool,
    /// Whether plugins other than the builtin ones may run.
    pub enable_plugins: bool,
    pub functions: FunctionOptions,
    pub helm: HelmOptions,
    /// Where it is counted what is used.
    pub usage_counts: UsageCounts,
    /// Whether the output will be asked who set its fields.
    pub explain: bool,
    /// Whether `resources` and `components` may be patterns.
    pub enable_globs: bool,
}

/// The order of the output, where the kustomization says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reorder {
    #[default]
    Unspecified,
    Legacy,
    None,
}

#[derive(Clone, Debug, Default)]
pub struct FunctionOptions {
    pub enable_exec: bool,
    pub network: bool,
    pub network_name: String,
    pub mounts: Vec<String>,
    pub env: Vec<String>,
    pub as_current_user: bool,
    /// As `uid:gid`.
    pub user: String,
}

#[derive(Clone, Debug, Default)]
pub struct HelmOptions {
    pub enabled: bool,
    pub command: String,
    pub api_versions: Vec<String>,
    pub kube_version: String,
    pub debug: bool,
}

pub fn build(
    fs: &dyn FileSystem,
    host: &dyn Host,
    path: &str,
    options: &Options,
) -> Result<Output, Error> {
    node::forget_aliases();
    let sources = Rc::new(Sources::default());
    let resources = sources.during(|| build_resources(fs, host, path, options))?;
    Ok(Output::new(resources, sources))
}

fn build_resources(
    fs: &dyn FileSystem,
    host: &dyn Host,
    path: &str,
    options: &Options,
) -> Result<Vec<Resource>, Error> {
    let loader = loader::Loader::open(fs, host, path, options.load_restrictions)?;
    let mut target = Target::load(loader, options)?;
    let mut build = Build::new(options, host);
    let mut map = target.run(&mut build)?;
    let k = &target.kustomization;
    match &k.sort_options {
        Some(order) => {
            if options.reorder != Reorder::Unspecified {
                host.log("Warning: Sorting order is set both in 'kustomization.yaml' ('sortOptions') and in a CLI flag ('--reorder'). Using the kustomization file over the CLI flag.");
            }
            sort(&mut map, order)?;
        }
        None if options.reorder == Reorder::None => {}
        None => sort(
            &mut map,
            &SortOptions {
                order: "legacy".into(),
                legacy: None,
            },
        )?,
    }
    let asks = |option: &str| k.build_metadata.iter().any(|it| it == option);
    if options.add_managed_by_label || asks("managedByLabel") {
        let label = (
            "app.kubernetes.io/managed-by".to_owned(),
            format!("kustomize-{VERSION}"),
        );
        let spec = FieldSpec {
            path: "metadata/labels".into(),
            create: true,
            ..FieldSpec::default()
        };
        let schema = build.schema();
        MetaMap::new(&[label].into(), &[spec]).transform(&mut map, &schema)?;
        if options.explain {
            explain::record(&mut map, explain::Cause::of("managed-by label"));
        }
    }
    let mut gone = resource::BUILD_ANNOTATIONS.to_vec();
    if !asks("originAnnotations") {
        gone.push(resource::ORIGIN);
    }
    if !asks("transformerAnnotations") {
        gone.push(resource::TRANSFORMATIONS);
    }
    let mut resources = map.into_list();
    for resource in &mut resources {
        resource.remove_annotations(&gone)?;
    }
    Ok(resources)
}
