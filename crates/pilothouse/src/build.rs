//! `pilothouse build`, and the whole program when it is called as `kustomize`.

mod diff;
mod extra_flags;
mod watch;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, Parser, Subcommand};
use kustomize::{
    Disk, FileSystem, FunctionOptions, HelmOptions, Host, LoadRestrictions, Local, Options, Output,
    Reorder,
};

use self::diff::Other;
use self::extra_flags::ExtraFlags;
use crate::usage_command;
use crate::usage_recorder::UsageRecorder;

#[expect(clippy::struct_excessive_bools, reason = "flags as upstream has them")]
#[expect(clippy::doc_markdown, reason = "these are help texts for a terminal")]
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A directory with a kustomization, or a git repository URL with a path to one; '.' if omitted
    directory: Vec<String>,
    /// If specified, write output to this path; one file for each resource if it is a directory
    #[arg(short, long, value_name = "PATH", default_value = "")]
    output: String,
    /// If set to 'LoadRestrictionsNone', local kustomizations may load files from outside their root
    #[arg(long, default_value = "LoadRestrictionsRootOnly", value_name = "NAME")]
    load_restrictor: String,
    /// Deprecated: use 'sortOptions' in the kustomization
    #[arg(long, value_name = "ORDER", hide = true)]
    reorder: Option<String>,
    /// Enable plugins
    #[arg(long)]
    enable_alpha_plugins: bool,
    /// Enable functions that are programs; do not use for configurations you do not trust
    #[arg(long)]
    enable_exec: bool,
    /// Enable use of the Helm chart inflator generator
    #[arg(long)]
    enable_helm: bool,
    /// Helm command (path to executable)
    #[arg(long, default_value = "helm", value_name = "COMMAND")]
    helm_command: String,
    /// Kubernetes API versions used by Helm for Capabilities.APIVersions
    #[arg(long, value_name = "VERSION")]
    helm_api_versions: Vec<String>,
    /// Kubernetes version used by Helm for Capabilities.KubeVersion
    #[arg(long, default_value = "", value_name = "VERSION")]
    helm_kube_version: String,
    /// Enable debug output from the Helm chart inflator generator
    #[arg(long)]
    helm_debug: bool,
    /// Deprecated: use 'managedByLabel' in the 'buildMetadata' of the kustomization
    #[arg(long, hide = true)]
    enable_managedby_label: bool,
    /// Enable network access for functions that declare it
    #[arg(long)]
    network: bool,
    /// The docker network to run containers in
    #[arg(long, default_value = "bridge", value_name = "NAME")]
    network_name: String,
    /// A storage option read from the file system
    #[arg(long, value_name = "MOUNT")]
    mount: Vec<String>,
    /// An environment variable to be used by functions
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Use the user and group of this process to run functions in containers
    #[arg(long)]
    as_current_user: bool,
    /// Print a trace with errors; accepted as upstream does
    #[arg(long, hide = true)]
    stack_trace: bool,
    #[command(flatten)]
    extra_flags: ExtraFlags,
}

/// What the program understands when it is called as `kustomize`.
#[derive(Debug, Parser)]
#[command(
    name = "kustomize",
    about = "Manages declarative configuration of Kubernetes."
)]
pub(crate) struct Kustomize {
    #[command(subcommand)]
    command: Command,
    /// Print a trace with errors; accepted as upstream does
    #[arg(long, global = true, hide = true)]
    stack_trace: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build a kustomization target from a directory or URL
    Build(Box<Arguments>),
    /// Manage settings, for example whether builds record usage
    #[command(subcommand)]
    Config(usage_command::Config),
    #[command(flatten)]
    Other(Box<crate::kustomize::Command>),
}

/// Runs if the program is called by kustomize's name, or with it as the first word.
pub(crate) fn as_kustomize() -> Option<ExitCode> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if Path::new(words.first()?).file_stem()? != "kustomize" {
        if words.get(1)? != "kustomize" {
            return None;
        }
        words.remove(0);
    }
    Some(
        match crate::kustomize::parse(Kustomize::command(), &words) {
            Ok(Kustomize { command, .. }) => match command {
                Command::Build(arguments) => run(*arguments),
                Command::Config(command) => command.run(),
                Command::Other(command) => command.run(),
            },
            Err(code) => code,
        },
    )
}

pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let mut recorder = UsageRecorder::begin();
    // As `diff` has it: 1 says that there is a difference.
    let trouble = ExitCode::from(if arguments.extra_flags.diff.is_some() {
        2
    } else {
        1
    });
    let outcome = build(arguments, &mut recorder);
    if let Err(error) = &outcome {
        eprintln!("Error: {error}");
    }
    recorder.finish(outcome.is_ok());
    outcome.unwrap_or(trouble)
}

fn build(mut arguments: Arguments, recorder: &mut UsageRecorder) -> Result<ExitCode, String> {
    diff::find_file(&mut arguments.extra_flags.diff, &mut arguments.directory)?;
    let directory = match &arguments.directory[..] {
        [] => ".",
        [one] => one,
        _ => return Err("specify one path to kustomization.yaml".into()),
    }
    .to_owned();
    let (path, mut options, extra_flags) = options(arguments)?;
    options.usage_counts = recorder.usage_counts.clone();
    let other = extra_flags.diff.as_deref();
    let other = other.map(|it| Other::of(it, &directory)).transpose()?;
    let host = extra_flags.host()?;
    let mut once = |files: &dyn FileSystem| -> Result<ExitCode, String> {
        let output = kustomize::build(files, &*host, &directory, &options);
        recorder.built(&output);
        let output = output.map_err(|error| extra_flags.show(&error))?;
        if !extra_flags.explain.is_empty() {
            for question in &extra_flags.explain {
                let answer = output.explain(question);
                let answer = answer.map_err(|error| error.to_string())?.to_string();
                crate::print(&answer).map_err(|error| error.to_string())?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        let Some(other) = &other else {
            write(&output, &path)?;
            if !extra_flags.watch {
                // The process ends: taking the trees apart would only take time.
                std::mem::forget(output);
            }
            return Ok(ExitCode::SUCCESS);
        };
        let mut bytes = Vec::new();
        output
            .write(&mut bytes)
            .map_err(|error| error.to_string())?;
        let differs = other.compare(&bytes)?;
        if !path.is_empty() {
            write(&output, &path)?;
        }
        Ok(ExitCode::from(u8::from(differs)))
    };
    if extra_flags.watch {
        watch::run(|files| {
            if let Err(error) = once(files) {
                eprintln!("Error: {error}");
            }
        });
    }
    once(&Disk)
}

fn write(output: &Output, path: &str) -> Result<(), String> {
    let fail = |error: kustomize::Error| error.to_string();
    if !path.is_empty() && Path::new(path).is_dir() {
        for (name, text) in output.files().map_err(fail)? {
            let path = Path::new(path).join(name);
            Disk.write(&path.to_string_lossy(), text.as_bytes())
                .map_err(fail)?;
        }
        return Ok(());
    }
    let mut bytes = Vec::new();
    output.write(&mut bytes).map_err(fail)?;
    if path.is_empty() {
        let mut out = std::io::stdout();
        let written = out.write_all(&bytes).and_then(|()| out.flush());
        written.map_err(|error| error.to_string())
    } else {
        Disk.write(path, &bytes).map_err(fail)
    }
}

/// Where the output goes, what is asked of the library, and the rest.
fn options(arguments: Arguments) -> Result<(String, Options, ExtraFlags), String> {
    let load_restrictions = match arguments.load_restrictor.as_str() {
        "LoadRestrictionsRootOnly" | "" => LoadRestrictions::RootOnly,
        "LoadRestrictionsNone" => LoadRestrictions::None,
        other => {
            return Err(format!(
                "illegal flag value --load-restrictor {other}; legal values: [LoadRestrictionsRootOnly LoadRestrictionsNone]"
            ));
        }
    };
    if arguments.reorder.is_some() {
        eprintln!(
            "Flag --reorder has been deprecated, use the new 'sortOptions' field in kustomization.yaml instead."
        );
    }
    let reorder = match arguments.reorder.as_deref() {
        None => Reorder::Unspecified,
        Some("legacy") => Reorder::Legacy,
        Some("none") => Reorder::None,
        Some(other) => {
            return Err(format!(
                "illegal flag value --reorder {other}; legal values: [legacy none]"
            ));
        }
    };
    if arguments.enable_managedby_label {
        eprintln!(
            "Flag --enable-managedby-label has been deprecated, The flag `enable-managedby-label` has been deprecated. Use the `managedByLabel` option in the `buildMetadata` field instead."
        );
    }
    let by_variable = Local.variable("KUSTOMIZE_ENABLE_MANAGEDBY_LABEL");
    let extra_flags = arguments.extra_flags;
    let options = Options {
        load_restrictions,
        reorder,
        add_managed_by_label: arguments.enable_managedby_label
            || by_variable.as_deref() == Some("on"),
        enable_plugins: arguments.enable_alpha_plugins,
        functions: FunctionOptions {
            enable_exec: arguments.enable_exec,
            network: arguments.network,
            network_name: arguments.network_name,
            mounts: arguments.mount,
            env: arguments.env,
            as_current_user: arguments.as_current_user,
            user: current_user(),
        },
        helm: HelmOptions {
            // As upstream: the flag for plugins includes it.
            enabled: arguments.enable_helm || arguments.enable_alpha_plugins,
            command: arguments.helm_command,
            api_versions: arguments.helm_api_versions,
            kube_version: arguments.helm_kube_version,
            debug: arguments.helm_debug,
        },
        explain: !extra_flags.explain.is_empty(),
        enable_globs: extra_flags.enable_globs,
        ..Options::default()
    };
    Ok((arguments.output, options, extra_flags))
}

/// As `uid:gid`, for containers.
pub(crate) fn current_user() -> String {
    let owner = std::fs::metadata("/proc/self");
    owner.map_or_else(
        |_| "nobody".into(),
        |it| {
            use std::os::unix::fs::MetadataExt as _;
            format!("{}:{}", it.uid(), it.gid())
        },
    )
}
