//! The command line, and the wiring behind it.

mod control;
mod data;
mod duration;
mod serve;
mod storage;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Requests are many small pieces of memory on many threads, and what a large answer took is to go back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(name = "pilothouse", version, about, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    Serve(Box<serve::Arguments>),
    /// Check, back up and restore the data directory
    #[command(subcommand)]
    Storage(storage::Command),
    /// Print the version
    Version,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
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
        match arguments.command {
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
