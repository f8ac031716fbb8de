//! Prints what a directory builds to: `cargo run -p kustomize --example build -- DIR`.

use std::io::Write as _;
use std::process::ExitCode;

use kustomize::{Disk, Local, Options, build};

fn main() -> ExitCode {
    let dir = std::env::args().skip(1).last();
    let dir = dir.unwrap_or_else(|| ".".into());
    let mut out = Vec::new();
    let built = build(&Disk, &Local, &dir, &Options::default());
    let written = built.and_then(|output| {
        output.write(&mut out)?;
        // The process ends: taking the trees apart would only take time.
        std::mem::forget(output);
        Ok(())
    });
    match written {
        Ok(()) if std::io::stdout().write_all(&out).is_ok() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}
