//! `pilothouse cel eval`.

use clap::{Args, ValueEnum};

use super::files::Files;
use super::report::Report;
use super::{WRONG, admission, rule};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The expression
    #[arg(value_name = "EXPR")]
    pub(super) expression: String,
    /// The object to evaluate it on, in YAML or JSON; - for stdin
    #[arg(long, value_name = "FILE")]
    pub(super) object: String,
    /// The object as it was before an update: oldSelf or oldObject
    #[arg(long, value_name = "FILE")]
    pub(super) old: Option<String>,
    /// The definition of a custom resource: evaluate as one of its rules, with self and oldSelf
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Option<String>,
    /// The version of the definition; that of the object by default
    #[arg(long, value_name = "VERSION", requires = "schema")]
    pub(super) schema_version: Option<String>,
    /// Where in the object the rule is: .spec.name, .spec.items[0], .spec.items[*] for each item
    #[arg(
        long,
        value_name = "PATH",
        requires = "schema",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) path: String,
    /// As a rule with optionalOldSelf: oldSelf is an optional
    #[arg(long, requires = "schema")]
    pub(super) optional_old_self: bool,
    /// A built-in kind, as v1/Pod or apps/v1/Deployment: check an admission expression against its fields
    #[arg(long, value_name = "KIND", conflicts_with = "schema")]
    pub(super) kind: Option<String>,
    /// The parameter of an admission expression: params
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    pub(super) params: Option<String>,
    /// What the authorizer of an admission expression says to everything; without it there is none
    #[arg(long, value_name = "DECISION", conflicts_with = "schema")]
    pub(super) authorizer: Option<Decision>,
    /// In which form
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Decision {
    Allow,
    Deny,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

const EXAMPLES: &str = "\
Without --schema the expression is one of an admission policy: object, oldObject, params (with --params), and a request
that is made of the object. namespaceObject is null.

MAX is what a part costs at most by the schema, RUN what it has cost, each with the parts within it. In parentheses: the
cheaper branch of a conditional, which is no part of the sum.

Exit code: 0 if there is a value, 1 if the expression does not compile or fails, 2 if a file cannot be read.

Examples:
  pilothouse cel eval 'object.spec.replicas <= 5' --object deployment.yaml --kind apps/v1/Deployment
  pilothouse cel eval 'self.min <= self.max' --object widget.yaml --schema crd.yaml --path .spec
  kubectl get pod web -o json | pilothouse cel eval 'has(object.spec.nodeName)' --object - -o json";

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let mut files = Files::default();
    let report: Report = match &arguments.schema {
        Some(schema) => rule::report(arguments, schema, &mut files)?,
        None => admission::report(arguments, &mut files)?,
    };
    crate::print(&match arguments.output {
        Format::Text => report.text(),
        Format::Json => json::to_string_pretty(&report.json(), "  ") + "\n",
    })?;
    Ok(if report.is_wrong() { WRONG } else { 0 })
}
