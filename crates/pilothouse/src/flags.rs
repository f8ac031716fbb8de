//! The flags of `serve`, in the groups that `--help` shows. Those that kube-apiserver has keep its names and meaning.

mod access;
mod api;
mod debug_traces;
mod features;
mod foreign;
mod kyverno;
mod logs;
mod requests;
mod serving;
mod telemetry;
mod tokens;
pub(crate) mod value;

use std::path::Path;

use anyhow::Context;

pub(crate) use access::Access;
pub(crate) use api::Api;
pub(crate) use debug_traces::Kept;
pub(crate) use features::{FeatureFlags, FeatureLife, log_warnings};
pub(crate) use foreign::explain;
pub(crate) use logs::{Logs, REQUEST_LOG};
pub(crate) use requests::Requests;
pub(crate) use serving::Serving;
pub(crate) use telemetry::{Telemetry, dial_etcd};
pub(crate) use tokens::Tokens;

/// The file that a flag names.
fn read(flag: &str, path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{flag} {}", path.display()))
}

/// The same as text.
fn read_text(flag: &str, path: &Path) -> anyhow::Result<String> {
    let bytes = read(flag, path)?;
    String::from_utf8(bytes).with_context(|| format!("{flag} {}", path.display()))
}
