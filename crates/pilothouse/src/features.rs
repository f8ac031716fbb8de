//! `pilothouse features`: the feature gates of this binary, without a server, and whether an upgrade of a cluster is safe.

mod check;

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use features::{Registry, Settings};
use json::{Value, json};

use crate::flags::FeatureFlags;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List all feature gates, and what the flags of a server would make of them
    List(Box<List>),
    /// Tell whether an upgrade or downgrade of the cluster is safe now
    Check(Box<check::Check>),
    /// Print the registry of this binary: each gate with its stages by version
    Registry {
        /// In which form
        #[arg(long, short, value_name = "FORMAT", default_value = "json")]
        output: RegistryFormat,
    },
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {
    #[command(flatten)]
    flags: FeatureFlags,
    /// In which form
    #[arg(long, short, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ListFormat {
    Json,
    Yaml,
    Table,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RegistryFormat {
    Json,
    Yaml,
}

const EXAMPLES: &str = "\
Warnings that kube-apiserver would log go to stderr. A flag that it would refuse is refused with its text and exit code 1.

Examples:
  pilothouse features list
  pilothouse features list --feature-gates=AllBeta=true,NodeSwap=true -o json
  pilothouse features list --emulated-version=1.35 --min-compatibility-version=1.34";

impl Command {
    /// The exit code of a check tells its verdict.
    pub(crate) async fn run(&self) -> anyhow::Result<ExitCode> {
        let registry = Registry::kubernetes();
        match self {
            Self::Check(arguments) => return check::run(arguments).await,
            Self::List(arguments) => list(arguments),
            Self::Registry { output } => crate::print(&match output {
                RegistryFormat::Json => pretty(&registry.to_json()),
                RegistryFormat::Yaml => yaml::value_to_string(&registry.to_json()),
            }),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

fn list(arguments: &List) -> anyhow::Result<()> {
    let settings = arguments.flags.settings()?;
    for warning in settings.warnings() {
        eprintln!("{warning}");
    }
    crate::print(&match arguments.output {
        ListFormat::Json => pretty(&rows(&settings)),
        ListFormat::Yaml => yaml::value_to_string(&rows(&settings)),
        ListFormat::Table => table(&settings),
    })
}

fn pretty(value: &Value) -> String {
    json::to_string_pretty(value, "  ") + "\n"
}

fn rows(settings: &Settings<'_>) -> Value {
    let rows = settings.iter().map(|(gate, state)| {
        let depends_on: Vec<Value> = gate.depends_on.iter().map(Value::from).collect();
        json!({
            "name": (&gate.name),
            "stage": (state.spec.stage.as_str()),
            "default": (state.spec.default),
            "locked": (state.spec.locked),
            "enabled": (state.enabled),
            "source": (state.source.as_str()),
            "dependsOn": depends_on,
        })
    });
    Value::Array(rows.collect())
}

fn table(settings: &Settings<'_>) -> String {
    let mut out = String::new();
    let widths = settings.iter().map(|(gate, _)| gate.name.len());
    let width = widths.max().unwrap_or_default();
    let mut line = |cells: [&str; 7]| {
        let [name, stage, default, locked, enabled, source, depends_on] = cells;
        let row = format!(
            "{name:width$}   {stage:10}   {default:7}   {locked:6}   {enabled:7}   {source:11}   {depends_on}"
        );
        let _ = writeln!(out, "{}", row.trim_end());
    };
    line([
        "NAME",
        "STAGE",
        "DEFAULT",
        "LOCKED",
        "ENABLED",
        "SOURCE",
        "DEPENDS ON",
    ]);
    let word = |it: bool| if it { "true" } else { "false" };
    for (gate, state) in settings.iter() {
        line([
            &gate.name,
            state.spec.stage.as_str(),
            word(state.spec.default),
            word(state.spec.locked),
            word(state.enabled),
            state.source.as_str(),
            &gate.depends_on.join(","),
        ]);
    }
    out
}
