//! `pilothouse features check`: is an upgrade or downgrade of the cluster safe now?

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use http::Method;
use json::{Value, json};

use crate::access::{self, Access, Connection};

const REVIEWS: &str = "/apis/features.k8s.io/v1alpha1/featureupgradereviews";
/// Blockers that the table shows of a reason.
const SHOWN: usize = 3;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The version to go to, as 1.38
    #[arg(long, value_name = "VERSION")]
    to: String,
    /// The registry of the new binary: what its 'features registry -o json' prints
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
    /// The --feature-gates that the new server is started with; may be repeated
    #[arg(long, value_name = "GATES", allow_hyphen_values = true)]
    feature_gates: Vec<String>,
    /// In which form
    #[arg(long, short, value_name = "FORMAT", default_value = "table")]
    output: Format,
    #[command(flatten, next_help_heading = "Server")]
    access: access::Flags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

const EXAMPLES: &str = "\
Exit code: 0 if it is safe, 1 if it is not (or the question could not be asked), 2 if that is not known.

Examples:
  pilothouse features check --to 1.36                                  a downgrade, by this cluster's own registry
  new/pilothouse features registry -o json > new.json
  pilothouse features check --to 1.38 --registry new.json
  pilothouse features check --to 1.38 --registry new.json --feature-gates=NodeSwap=true";

/// The exit code tells the verdict.
pub(crate) async fn run(arguments: &Check) -> anyhow::Result<ExitCode> {
    let registry = arguments.registry.as_ref().map(|path| {
        let text = std::fs::read(path).with_context(|| format!("read {}", path.display()))?;
        json::parse(&text).with_context(|| format!("{}: no JSON", path.display()))
    });
    let registry = registry.transpose()?;
    let flags: Vec<Value> = arguments.feature_gates.iter().map(Value::from).collect();
    let mut spec = json!({"targetVersion": (&arguments.to), "targetFlags": flags});
    if let (Some(registry), Some(spec)) = (registry, spec.as_object_mut()) {
        spec.insert("targetRegistry", registry);
    }
    let review = json!({
        "kind": "FeatureUpgradeReview", "apiVersion": "features.k8s.io/v1alpha1", "spec": spec,
    });
    let access = Access::find(&arguments.access)?;
    let connection = Connection::new(&access)?;
    let content = Some(("application/json", json::to_vec(&review).into()));
    let answer = connection.ask(Method::POST, REVIEWS, content).await?;
    let value = json::parse(&answer.body).context("the server's answer")?;
    if !answer.status.is_success() {
        let message = value.str_at(&["message"]).unwrap_or("no reason given");
        bail!("{message}");
    }
    let status = value.get("status").cloned().unwrap_or_default();
    let verdict = status.str_at(&["verdict"]);
    let verdict = verdict.ok_or_else(|| anyhow!("the server gave no verdict"))?;
    crate::print(&match arguments.output {
        Format::Json => json::to_string_pretty(&status, "  ") + "\n",
        Format::Table => table(verdict, &status),
    })?;
    Ok(match verdict {
        "Safe" => ExitCode::SUCCESS,
        "Unsafe" => ExitCode::from(1),
        _ => ExitCode::from(2),
    })
}

fn table(verdict: &str, status: &Value) -> String {
    let mut out = format!("{verdict}\n");
    let reasons = status.get("reasons").and_then(Value::as_array);
    let rows = reasons.into_iter().flatten().map(|it| {
        let text = |key: &str| it.str_at(&[key]).unwrap_or_default().to_owned();
        let blockers = it.get("blockers").and_then(Value::as_array);
        let blockers: Vec<&str> = blockers
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut shown = blockers[..blockers.len().min(SHOWN)].join(" ");
        if blockers.len() > SHOWN {
            shown.push_str(" ...");
        }
        let feature = match text("feature") {
            it if it.is_empty() => "-".to_owned(),
            it => it,
        };
        [
            feature,
            text("code"),
            text("message"),
            shown,
            text("advice"),
        ]
    });
    let rows: Vec<[String; 5]> = rows.collect();
    if rows.is_empty() {
        return out;
    }
    let head = ["FEATURE", "REASON", "MESSAGE", "BLOCKERS", "WHAT TO DO"].map(str::to_owned);
    let all: Vec<&[String; 5]> = std::iter::once(&head).chain(&rows).collect();
    let width = |column: usize| all.iter().map(|it| it[column].len()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    out.push('\n');
    for row in all {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:width$}   ");
        }
        let _ = writeln!(out, "{line}{}", row[4]);
    }
    out
}
