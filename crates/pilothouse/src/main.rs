//! The command line, and the wiring behind it.

mod access;
mod apply;
mod auth_config;
mod build;
mod cel_command;
mod completion;
mod control;
mod credentials;
mod data;
mod features;
mod flags;
mod kustomize;
mod man;
mod serve;
mod storage;
mod traces;
mod usage_command;
mod usage_recorder;
mod version;

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "pilothouse", version, about, after_help = EXAMPLES, term_width = 0)]
// The last one counts, as with kustomize and kube-apiserver.
#[command(args_override_self = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    Serve(Box<serve::Arguments>),
    /// Print a kubeconfig for a data directory's server, or merge it into yours
    Kubeconfig(credentials::Arguments),
    /// Check, back up and restore the data directory
    #[command(subcommand)]
    Storage(storage::Command),
    /// List the traces that a server keeps, or show one as a waterfall
    Traces(Box<traces::Arguments>),
    /// Feature gates: which there are, and what flags make of them
    #[command(subcommand)]
    Features(features::Command),
    /// Try CEL expressions, and check those of definitions, policies and webhooks, without a server
    #[command(subcommand)]
    Cel(cel_command::Command),
    /// Build a kustomization, as kustomize does
    Build(Box<build::Arguments>),
    /// Build a kustomization and apply it to a server
    Apply(Box<apply::Arguments>),
    /// What builds count of themselves
    #[command(subcommand)]
    Usage(usage_command::Usage),
    /// Manage settings, for example whether builds record usage
    #[command(subcommand)]
    Config(usage_command::Config),
    /// Be kustomize, with all its commands: build, edit, create, localize, cfg, fn, completion
    Kustomize(NotHere),
    /// Print a script that completes commands and flags in a shell
    Completion(completion::Arguments),
    /// Write manual pages into a directory
    #[command(hide = true)]
    Man(man::Arguments),
    /// Print the version
    Version(version::Arguments),
}

/// What has been taken care of before the command line is read.
#[derive(Debug, clap::Args)]
struct NotHere {}

const EXAMPLES: &str = "\
Begin with:
  pilothouse serve
and in another terminal:
  pilothouse kubeconfig --merge
  kubectl get namespaces";

/// What recurses goes no deeper than the limits of the parsers. A debug build takes more than the usual 2 MiB for that;
/// what is not used is never in memory.
const STACK: usize = 16 << 20;

fn main() -> ExitCode {
    if let Some(done) = build::as_kustomize() {
        return done;
    }
    let arguments = Arguments::try_parse().unwrap_or_else(|error| flags::explain(error).exit());
    // Needs no runtime, and is to start fast.
    let command = match arguments.command {
        Command::Build(arguments) => return build::run(*arguments),
        Command::Usage(command) => return command.run(),
        Command::Config(command) => return command.run(),
        Command::Completion(arguments) => {
            let script = arguments.script(<Arguments as clap::CommandFactory>::command());
            return print(&script).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
        }
        Command::Man(arguments) => {
            let command = <Arguments as clap::CommandFactory>::command();
            return exit_code(&arguments.write(command));
        }
        Command::Cel(command) => return command.run(),
        command => command,
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(STACK)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut verdict = ExitCode::SUCCESS;
    let outcome = runtime.block_on(async {
        match command {
            Command::Features(command) => {
                verdict = command.run().await?;
                Ok(())
            }
            Command::Build(_)
            | Command::Kustomize(_)
            | Command::Usage(_)
            | Command::Config(_)
            | Command::Cel(_)
            | Command::Man(_)
            | Command::Completion(_) => Ok(()),
            Command::Apply(arguments) => apply::run(&arguments).await,
            Command::Serve(arguments) => Box::pin(serve::run(*arguments)).await,
            Command::Kubeconfig(arguments) => credentials::run(&arguments),
            Command::Storage(command) => storage::run(command).await,
            Command::Traces(arguments) => traces::run(&arguments).await,
            Command::Version(arguments) => version::run(&arguments),
        }
    });
    // What still reads a large store does not hold up a user who wants to stop.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => verdict,
        failed => exit_code(&failed),
    }
}

fn exit_code(outcome: &anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {}", told(error));
            ExitCode::FAILURE
        }
    }
}

/// The error and its causes; some errors include their cause in their text.
fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Text for stdout. A reader that wants no more of it, as `head`, is no error.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn a_cause_is_told_once() {
        let error = anyhow::anyhow!("disk full").context("write x: disk full");
        assert_eq!(super::told(&error), "write x: disk full");
        let error = anyhow::anyhow!("disk full").context("write x");
        assert_eq!(
            super::told(&error.context("save")),
            "save: write x: disk full"
        );
    }

    #[test]
    fn the_command_line_is_sound() {
        super::Arguments::command().debug_assert();
    }
}
