//! Tells the program which commit it is built from, and of when that is: `pilothouse version`. Asks git only, and only if
//! the sources are a checkout: without one both are "unknown". The commit's date, not today's: a build can be repeated.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let commit = commit();
    let (id, date) = commit.unwrap_or_else(|| ("unknown".into(), "unknown".into()));
    println!("cargo:rustc-env=PILOTHOUSE_COMMIT={id}");
    println!("cargo:rustc-env=PILOTHOUSE_COMMIT_DATE={date}");
}

/// None outside of a checkout of these sources, for example below a directory that is somebody else's.
fn commit() -> Option<(String, String)> {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    let root = manifest.parent()?.parent()?.canonicalize().ok()?;
    let top = PathBuf::from(git(&root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root {
        return None;
    }
    // A commit moves one of these.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&root, &["rev-parse", "--git-path", name]) {
            let path = root.join(path);
            if path.exists() {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
    }
    let id = git(&root, &["rev-parse", "--short=12", "HEAD"])?;
    let format = "--date=format-local:%Y-%m-%dT%H:%M:%SZ";
    let date = git(&root, &["show", "-s", "--format=%cd", format, "HEAD"])?;
    Some((id, date))
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .env("TZ", "UTC")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
