//! `kustomize openapi`.

use clap::{Args, Subcommand};
use kustomize::{Host as _, Local, Program};

use super::print;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the schema of the cluster that kubectl uses
    Fetch(Fetch),
    /// Print which schema is built in
    Info {
        #[arg(hide = true)]
        ignored: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Fetch {
    /// How to print it: json or yaml
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: String,
    #[arg(hide = true)]
    ignored: Vec<String>,
}

const ADVICE: &str = "
Error fetching schema from cluster.
Please make sure kubectl is installed, its context is set correctly, and your cluster is up.
Installation and setup instructions: https://kubernetes.io/docs/tasks/tools/install-kubectl/";

impl Command {
    pub(crate) fn run(self) -> Result<(), String> {
        match self {
            Self::Fetch(arguments) => arguments.run(),
            Self::Info { .. } => print("{title:Kubernetes,version:v1.21.2}\n"),
        }
    }
}

impl Fetch {
    fn run(self) -> Result<(), String> {
        if !matches!(self.format.as_str(), "json" | "yaml") {
            return Err("format must be either 'json' or 'yaml'".into());
        }
        let done = Local
            .run(&Program {
                path: "kubectl".into(),
                arguments: ["get", "--raw", "/openapi/v2"].map(Into::into).into(),
                ..Program::default()
            })
            .map_err(|error| format!("{error}\n{ADVICE}"))?;
        let said = String::from_utf8_lossy(&done.errors);
        if !done.success {
            return Err(format!("{}\n{said}{ADVICE}", done.status));
        }
        if done.output.is_empty() {
            return Err(format!("{said}{ADVICE}"));
        }
        let mut schema = json::parse(&done.output).unwrap_or_default();
        schema.sort_keys();
        print(&match self.format.as_str() {
            "yaml" => yaml::value_to_string(&schema) + "\n",
            _ => json::to_string_pretty(&schema, "  ") + "\n",
        })
    }
}
