//! `pilothouse traces`: what a server keeps of recent traces, as a list, and one of them as a waterfall.

mod list;
mod screen;
mod waterfall;

use std::io::IsTerminal as _;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use http::{Method, StatusCode};
use json::Value;

use crate::access::{self, Access, Connection, encode};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A trace to show: its id, a Server-Timing or traceparent with it, or an audit id; without one, list all
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Only those with a span whose name has this in it
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Only those with a span that has this attribute; may be repeated, for one span with all of them
    #[arg(long, value_name = "KEY=VALUE")]
    attribute: Vec<String>,
    /// Only those that took so long, as 300ms or 1.5s
    #[arg(long, value_name = "TIME")]
    min_duration: Option<String>,
    /// Only those that took no longer
    #[arg(long, value_name = "TIME")]
    max_duration: Option<String>,
    /// Only those in which something failed
    #[arg(long)]
    error: bool,
    /// How many, at most
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Which come first: the newest, or the slowest
    #[arg(long, value_name = "BY", default_value = "start")]
    sort: Sort,
    /// Of a trace: what happened within its spans
    #[arg(long)]
    events: bool,
    /// Of a trace: what is known of its spans
    #[arg(long)]
    attributes: bool,
    /// In which form; json of a trace is OTLP
    #[arg(long, short, value_name = "FORM", default_value = "text")]
    output: Output,
    #[command(flatten, next_help_heading = "Server")]
    access: access::Flags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    Start,
    Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
}

const EXAMPLES: &str = "\
The server must have been started with --debug-traces.

Examples:
  pilothouse traces --sort duration --limit 10              the slowest
  pilothouse traces --error                                 those that failed
  pilothouse traces --name configmaps --min-duration 5ms
  pilothouse traces --attribute resource=pods --attribute verb=LIST
  pilothouse traces 4bf92f3577b34da6a3ce929d0e0e4736        one, as a waterfall
  kubectl create configmap a -v 8 2>&1 | grep -i server-timing    the id of a request's trace";

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let access = Access::find(&arguments.access)?;
    let connection = Connection::new(&access)?;
    let screen = screen::Screen::of_process(std::io::stdout().is_terminal());
    let text = match &arguments.id {
        None => {
            let found = ask(&connection, &arguments.path()).await?;
            match arguments.output {
                Output::Json => pretty(&found),
                Output::Text => list::render(&found, arguments.is_narrow()),
            }
        }
        Some(id) => {
            let id = resolve(&connection, id).await?;
            let trace = ask(&connection, &format!("/debug/traces/{id}")).await?;
            match arguments.output {
                Output::Json => pretty(&trace),
                Output::Text => {
                    let show = waterfall::Show {
                        events: arguments.events,
                        attributes: arguments.attributes,
                    };
                    waterfall::render(&trace, &screen, show)?
                }
            }
        }
    };
    crate::print(&text)
}

impl Arguments {
    /// With all that is looked for.
    fn path(&self) -> String {
        let mut query = Vec::new();
        let mut add = |key: &str, value: &str| query.push(format!("{key}={}", encode(value)));
        let texts = [
            ("name", &self.name),
            ("minDuration", &self.min_duration),
            ("maxDuration", &self.max_duration),
        ];
        for (key, value) in texts {
            if let Some(value) = value {
                add(key, value);
            }
        }
        for pair in &self.attribute {
            add("attribute", pair);
        }
        if self.error {
            add("error", "true");
        }
        if let Some(limit) = self.limit {
            add("limit", &limit.to_string());
        }
        if self.sort == Sort::Duration {
            add("sort", "duration");
        }
        if query.is_empty() {
            return "/debug/traces".to_owned();
        }
        format!("/debug/traces?{}", query.join("&"))
    }

    /// Whether something in particular is looked for.
    fn is_narrow(&self) -> bool {
        self.name.is_some()
            || self.min_duration.is_some()
            || self.max_duration.is_some()
            || !self.attribute.is_empty()
            || self.error
    }
}

/// The trace id in what the user has at hand.
async fn resolve(connection: &Connection, given: &str) -> anyhow::Result<String> {
    let is_id = |it: &&str| it.len() == 32 && it.bytes().all(|it| it.is_ascii_hexdigit());
    // `trace;desc=00-TRACE-SPAN-03`
    let mut parts = given.split(|it: char| !it.is_ascii_alphanumeric());
    if let Some(id) = parts.find(is_id) {
        return Ok(id.to_ascii_lowercase());
    }
    if given.bytes().all(|it| it.is_ascii_hexdigit()) {
        let length = given.len();
        bail!("{given:?} is no trace id: it has {length} digits, not 32");
    }
    let path = format!("/debug/traces?limit=1&auditID={}", encode(given));
    let found = ask(connection, &path).await?;
    let first = found.get("traces").and_then(Value::as_array);
    let first = first.and_then(|it| it.first()?.str_at(&["traceID"]));
    let none = || {
        format!("no trace has the audit id {given:?}; a trace id would have 32 hexadecimal digits")
    };
    first.map(str::to_owned).with_context(none)
}

async fn ask(connection: &Connection, path: &str) -> anyhow::Result<Value> {
    let answer = connection.ask(Method::GET, path, None).await?;
    let body = json::parse(&answer.body);
    if answer.status.is_success() {
        return body.map_err(|error| anyhow!("the server's answer is not JSON: {error}"));
    }
    let body = body.unwrap_or_default();
    let message = body.str_at(&["message"]).unwrap_or_default();
    match answer.status {
        StatusCode::FORBIDDEN => bail!(
            "{message}\nReading traces takes the right to get the paths /debug/traces and /debug/traces/*: the ClusterRole system:monitoring has it"
        ),
        StatusCode::NOT_FOUND if message.is_empty() => {
            bail!("the server has no /debug/traces: it is another than pilothouse, or older")
        }
        status if message.is_empty() => bail!("the server answered {status}"),
        _ => bail!("{message}"),
    }
}

fn pretty(value: &Value) -> String {
    json::to_string_pretty(value, "  ") + "\n"
}

#[cfg(test)]
mod tests;
