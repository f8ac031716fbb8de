//! `pilothouse version`.

use clap::{Args, ValueEnum};
use json::json;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// In which form
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<Format>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Json,
    Yaml,
}

/// What was built, as `build.rs` found it; "unknown" if the sources were no checkout of git.
const COMMIT: &str = env!("PILOTHOUSE_COMMIT");
const DATE: &str = env!("PILOTHOUSE_COMMIT_DATE");

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let own = env!("CARGO_PKG_VERSION");
    let kubernetes = apiserver::nonresource::version(&features::Settings::kubernetes());
    let kubernetes = kubernetes.str_at(&["gitVersion"]).unwrap_or_default();
    let text = || {
        json!({
            "pilothouse": (format!("v{own}")),
            "commit": COMMIT,
            "commitDate": DATE,
            "kubernetes": kubernetes,
        })
    };
    crate::print(&match arguments.output {
        None => format!("pilothouse {own} (commit {COMMIT} of {DATE})\nKubernetes {kubernetes}\n"),
        Some(Format::Json) => json::to_string_pretty(&text(), "  ") + "\n",
        Some(Format::Yaml) => yaml::value_to_string(&text()),
    })
}
