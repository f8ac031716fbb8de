//! The command line, and the wiring behind it.

mod build;
mod control;
mod data;
mod serve;
mod storage;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "pilothouse", version, about, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build a kustomization, as kustomize does
    Build(Box<build::Arguments>),
    /// Run the server
    Serve(Box<serve::Arguments>),
    /// Check, back up and restore the data directory
    #[command(subcommand)]
    Storage(storage::Command),
    /// Print the version
    Version,
}

fn main() -> ExitCode {
    if let Some(done) = build::as_kustomize() {
        return done;
    }
    let arguments = Arguments::parse();
    // Needs no runtime, and is to start fast.
    let command = match arguments.command {
        Command::Build(arguments) => return build::run(*arguments),
        command => command,
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(async {
        match command {
            Command::Build(_) => Ok(()),
            Command::Serve(arguments) => Box::pin(serve::run(*arguments)).await,
            Command::Storage(command) => storage::run(command).await,
            Command::Version => {
                println!("pilothouse {}", env!("CARGO_PKG_VERSION"));
                Ok(())
            }
        }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
