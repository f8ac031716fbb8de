//! `pilothouse apply -k DIR`: builds a kustomization and has the server apply it, object by object, as
//! `kubectl apply --server-side -k` does. It never counts what is used: there is no [`crate::usage_recorder`] in it.

mod server;

use std::collections::BTreeSet;

use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use json::Value;
use kustomize::{Disk, Local, Options, Reorder};

use self::server::{Refusal, Server};
use crate::access::{self, Access};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A directory with a kustomization, or a git repository URL with a path to one
    #[arg(short = 'k', long = "kustomize", value_name = "DIRECTORY")]
    directory: String,
    /// Have the server merge, which is the only way there is here
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = clap::ArgAction::Set)]
    server_side: bool,
    /// 'server': change nothing, but say what would change
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_value = "none", default_missing_value = "unchanged")]
    dry_run: DryRun,
    /// Take over fields that others manage
    #[arg(long)]
    force_conflicts: bool,
    /// Whom the fields belong to
    #[arg(long, value_name = "NAME", default_value = "kubectl")]
    field_manager: String,
    /// What becomes of fields that the server does not know
    #[arg(long, value_name = "HOW", default_value = "strict")]
    validate: Validate,
    /// Namespace of objects that name none; those that name another are refused
    #[arg(long, short, value_name = "NAME")]
    namespace: Option<String>,
    #[command(flatten)]
    access: access::Flags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DryRun {
    None,
    Server,
    Client,
    #[value(hide = true)]
    Unchanged,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Validate {
    #[value(alias = "true")]
    Strict,
    Warn,
    #[value(alias = "false")]
    Ignore,
}

impl Arguments {
    /// The query of every request.
    fn query(&self) -> String {
        let validation = match self.validate {
            Validate::Strict => "Strict",
            Validate::Warn => "Warn",
            Validate::Ignore => "Ignore",
        };
        let manager = access::encode(&self.field_manager);
        let mut query = format!(
            "fieldManager={manager}&fieldValidation={validation}&force={}",
            self.force_conflicts
        );
        if self.dry_run == DryRun::Server {
            query.push_str("&dryRun=All");
        }
        query
    }
}

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(
        arguments.server_side,
        "only server-side apply is here: leave --server-side=false out"
    );
    match arguments.dry_run {
        DryRun::Client => bail!(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)"
        ),
        DryRun::Unchanged => bail!("--dry-run needs a value: none or server"),
        DryRun::None | DryRun::Server => {}
    }
    let objects = build(&arguments.directory)?;
    let access = Access::find(&arguments.access)?;
    let mut server = Server::new(&access)?;
    let mut failures = 0;
    // Kinds that come to be on the way are waited for.
    let mut coming = BTreeSet::new();
    let query = arguments.query();
    for object in &objects {
        let applied = apply(object, arguments, &access, &mut server, &coming, &query).await;
        for warning in server.warnings() {
            eprintln!("Warning: {warning}");
        }
        match applied {
            Ok(line) => {
                crate::print(&line)?;
                coming.extend(defined(object).filter(|_| arguments.dry_run == DryRun::None));
            }
            // As with kubectl, the rest is not to suffer for one.
            Err(error) => {
                failures += 1;
                match error.downcast_ref::<Refusal>() {
                    Some(refusal) => eprintln!("{refusal}"),
                    None => eprintln!("error: {}", crate::told(&error)),
                }
            }
        }
    }
    ensure!(
        failures == 0,
        "{failures} of {} objects were not applied",
        objects.len()
    );
    ensure!(!objects.is_empty(), "no objects passed to apply");
    Ok(())
}

/// In the order that kubectl takes: that of the build.
fn build(directory: &str) -> anyhow::Result<Vec<Value>> {
    let options = Options {
        reorder: Reorder::Legacy,
        ..Options::default()
    };
    let output = kustomize::build(&Disk, &Local, directory, &options)?;
    Ok(output.values()?)
}

async fn apply(
    object: &Value,
    arguments: &Arguments,
    access: &Access,
    server: &mut Server,
    coming: &BTreeSet<(String, String)>,
    query: &str,
) -> anyhow::Result<String> {
    let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
    let (api_version, kind) = (text(&["apiVersion"]), text(&["kind"]));
    let (name, own) = (
        text(&["metadata", "name"]),
        text(&["metadata", "namespace"]),
    );
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let wait = coming.contains(&(group.to_owned(), kind.to_owned()));
    let resource = server.resource(api_version, kind, wait).await?;
    let resource = resource.with_context(|| {
        format!(
            "resource mapping not found for name: {name:?} namespace: {own:?} from {:?}: no matches for kind {kind:?} in version {api_version:?}\nensure CRDs are installed first",
            arguments.directory
        )
    })?;
    if name.is_empty() {
        let generated = text(&["metadata", "generateName"]);
        bail!("from {generated}: cannot use generate name with apply");
    }
    let namespace = if !resource.namespaced {
        None
    } else if own.is_empty() {
        let asked = arguments.namespace.as_ref().or(access.namespace.as_ref());
        Some(asked.map_or("default", |it| it))
    } else {
        let asked = arguments.namespace.as_deref().unwrap_or(own);
        ensure!(
            own == asked,
            "the namespace from the provided object {own:?} does not match the namespace {asked:?}. You must pass '--namespace={own}' to perform this operation."
        );
        Some(own)
    };
    let mut object = object.clone();
    if let (Some(namespace), Some(metadata)) = (namespace, object.get_mut("metadata"))
        && let Some(metadata) = metadata.as_object_mut()
    {
        metadata.insert("namespace", namespace);
    }
    let path = resource.path(api_version, namespace, name);
    server.apply(&path, query, &object).await?;
    let kind = kind.to_lowercase();
    let group = if group.is_empty() {
        String::new()
    } else {
        format!(".{group}")
    };
    let dry = if arguments.dry_run == DryRun::Server {
        " (server dry run)"
    } else {
        ""
    };
    Ok(format!("{kind}{group}/{name} serverside-applied{dry}\n"))
}

/// The kind that a definition brings.
fn defined(object: &Value) -> impl Iterator<Item = (String, String)> {
    let is = object.str_at(&["kind"]) == Some("CustomResourceDefinition");
    let text = |path: &[&str]| object.str_at(path).map(str::to_owned);
    let found = text(&["spec", "group"]).zip(text(&["spec", "names", "kind"]));
    found.filter(|_| is).into_iter()
}
