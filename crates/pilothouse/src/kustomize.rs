//! The commands of `kustomize` beside `build`: there when the program is called by that name, and below
//! `pilothouse kustomize`.

mod cfg;
mod completion;
mod edit;
mod function;
mod localize;
mod openapi;
mod parse;
mod version;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use kustomize::edit::Editor;
use kustomize::{Disk, HelmOptions, Host as _, Local, NewKustomization, Options};

pub(crate) use parse::{like_pflag, parse};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read resources in files
    #[command(subcommand)]
    Cfg(cfg::Command),
    /// Print a script that completes commands in a shell
    Completion(completion::Arguments),
    /// Make a new kustomization in the current directory
    #[command(visible_alias = "init")]
    Create(Create),
    /// Change the kustomization in the current directory
    #[command(subcommand)]
    Edit(edit::Command),
    /// Run functions on resources in files
    #[command(subcommand)]
    Fn(function::Command),
    /// Copy a kustomization with all it refers to, remote files included
    Localize(localize::Arguments),
    /// What kustomize knows of the kinds of a cluster
    #[command(subcommand, hide = true)]
    Openapi(openapi::Command),
    /// Print the version of kustomize that this is compatible with
    Version(version::Arguments),
}

impl Command {
    pub(crate) fn run(self) -> ExitCode {
        let outcome = match self {
            Self::Cfg(command) => command.run(),
            Self::Completion(arguments) => arguments.run(),
            Self::Create(arguments) => EDITOR.create(arguments.into()).map_err(text),
            Self::Edit(command) => command.run(),
            Self::Fn(command) => command.run(),
            Self::Localize(arguments) => arguments.run(),
            Self::Openapi(command) => command.run(),
            Self::Version(arguments) => arguments.run(),
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("Error: {error}");
                ExitCode::FAILURE
            }
        }
    }
}

const EDITOR: Editor<'static> = Editor {
    fs: &Disk,
    host: &Local,
};

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn text(error: kustomize::Error) -> String {
    error.to_string()
}

fn print(text: &str) -> Result<(), String> {
    crate::print(text).map_err(|error| error.to_string())
}

/// As `build` has them without flags.
fn build_options() -> Options {
    let by_variable = Local.variable("KUSTOMIZE_ENABLE_MANAGEDBY_LABEL");
    Options {
        add_managed_by_label: by_variable.as_deref() == Some("on"),
        helm: HelmOptions {
            command: "helm".into(),
            ..HelmOptions::default()
        },
        ..Options::default()
    }
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Files and directories to add, with commas between them
    #[arg(long, value_name = "PATTERNS", default_value = "")]
    resources: String,
    /// The namespace of all resources
    #[arg(long, value_name = "NAME", default_value = "")]
    namespace: String,
    /// Annotations for all resources, as key:value with commas between them
    #[arg(long, value_name = "PAIRS", default_value = "")]
    annotations: String,
    /// Labels for all resources, as key:value with commas between them
    #[arg(long, value_name = "PAIRS", default_value = "")]
    labels: String,
    /// What goes before all names
    #[arg(long, value_name = "TEXT", default_value = "")]
    nameprefix: String,
    /// What goes behind all names
    #[arg(long, value_name = "TEXT", default_value = "")]
    namesuffix: String,
    /// Add the files in the current directory that are resources
    #[arg(long)]
    autodetect: bool,
    /// With --autodetect: look into the directories below too
    #[arg(long)]
    recursive: bool,
    #[arg(hide = true)]
    ignored: Vec<String>,
}

impl From<Create> for NewKustomization {
    fn from(it: Create) -> Self {
        Self {
            resources: it.resources,
            namespace: it.namespace,
            annotations: it.annotations,
            labels: it.labels,
            name_prefix: it.nameprefix,
            name_suffix: it.namesuffix,
            autodetect: it.autodetect,
            recursive: it.recursive,
        }
    }
}
