//! `kustomize version`.

use clap::Args;
use json::json;

use super::print;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print it in the old short form
    #[arg(long, hide = true)]
    short: bool,
    /// How to print it: yaml or json
    #[arg(short, long, value_name = "FORMAT", default_value = "")]
    output: String,
    #[arg(hide = true)]
    ignored: Vec<String>,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), String> {
        if self.short {
            eprintln!("Flag --short has been deprecated, and will be removed in the future.");
            if !self.output.is_empty() {
                return Err("--short and --output are mutually exclusive".into());
            }
        }
        let version = kustomize::VERSION;
        print(&match self.output.as_str() {
            "" if self.short => format!("{{{version}  unknown   }}\n"),
            "" => format!("{version}\n"),
            "json" => json::to_string_pretty(&facts(), "  ") + "\n",
            "yaml" => lines(&facts()) + "\n",
            _ => String::new(),
        })
    }
}

/// Scripts know these fields.
fn facts() -> json::Value {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    json!({
        "version": (kustomize::VERSION),
        "gitCommit": "unknown",
        "buildDate": "unknown",
        "goOs": (std::env::consts::OS),
        "goArch": architecture,
        "goVersion": "unknown",
    })
}

fn lines(facts: &json::Value) -> String {
    let pairs = facts.as_object().into_iter().flat_map(json::Object::iter);
    let lines = pairs.map(|(key, value)| format!("{key}: {}", value.as_str().unwrap_or_default()));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
