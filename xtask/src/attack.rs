//! Hostile clients against a release build of the server: what was tried, what held, and at what cost.

use std::path::PathBuf;
use std::process::Command;

use crate::{Outcome, cargo, run};

pub(crate) fn attack(arguments: &[String]) -> Outcome {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let release = target.join("release");
    let needs_server = |it: &String| matches!(it.split('=').next(), Some("--server" | "--list"));
    let mut build = vec!["build", "--release", "--package", "attack"];
    let mut call = Command::new(release.join("attack"));
    if !arguments.iter().any(needs_server) {
        build.extend(["--package", "pilothouse"]);
        call.arg("--server").arg(release.join("pilothouse"));
    }
    cargo(&build)?;
    run(call.args(arguments))
}
