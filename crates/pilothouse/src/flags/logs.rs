//! What the server says of its work: a line per request from level 3 on, and what happens beside requests.

use apiserver::request_log::{AnsweredRequest, FlowFacts, RequestLog};
use clap::{Args, ValueEnum};
use telemetry::logs::{self, Field, HTTPLOG, Record, Severity};

/// From which level on requests are logged, as upstream.
const REQUESTS: i32 = 3;

#[derive(Debug, Args)]
#[command(next_help_heading = "Logs")]
pub(crate) struct Logs {
    /// Verbosity of the log on stderr; from 3 on each request
    #[arg(short, long, value_name = "LEVEL", default_value_t = 0)]
    v: i32,
    /// Levels of single parts as pattern=LEVEL; requests are httplog
    #[arg(long, value_name = "LEVELS", default_value = "", hide_default_value = true, value_parser = levels)]
    vmodule: String,
    /// How lines are written
    #[arg(
        long,
        alias = "loggingFormat",
        value_name = "FORMAT",
        default_value = "text"
    )]
    logging_format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Logs {
    /// For the whole process.
    pub(crate) fn apply(&self) {
        logs::set_format(match self.logging_format {
            Format::Text => logs::Format::Text,
            Format::Json => logs::Format::Json,
        });
        logs::set_verbosity(self.v);
        // It was read before.
        let _ = logs::set_levels(&self.vmodule);
    }
}

/// The level may change while the server runs.
pub(crate) const REQUEST_LOG: RequestLog = RequestLog {
    enabled: || HTTPLOG.tells(REQUESTS),
    tell,
};

fn levels(text: &str) -> Result<String, String> {
    let checked = logs::check_levels(text).map_err(|error| error.to_string());
    checked.map(|()| text.to_owned())
}

fn tell(request: &AnsweredRequest<'_>) {
    let verb = request.verb.to_ascii_uppercase();
    let source = request.source.map(|it| it.to_string());
    let mut fields = vec![
        ("verb", Field::Text(&verb)),
        ("URI", Field::Text(&request.uri)),
        ("latency", Field::Took(request.latency)),
        ("userAgent", Field::Text(request.user_agent)),
    ];
    if let Some(source) = &source {
        fields.push(("srcIP", Field::Text(source)));
    }
    fields.push(("user", Field::Text(request.user)));
    if let Some(user) = request.impersonated {
        fields.push(("impersonatedUser", Field::Text(user)));
    }
    if let Some(flow) = &request.flow {
        push_flow(&mut fields, flow);
    }
    fields.push(("resp", Field::Number(request.code.into())));
    logs::tell(&Record {
        target: &HTTPLOG,
        severity: Severity::Info,
        level: REQUESTS,
        message: "HTTP",
        fields: &fields,
        ids: request.ids,
        audit_id: request.audit_id,
    });
}

/// By the names that kube-apiserver's log has for them.
fn push_flow<'a>(fields: &mut Vec<(&'static str, Field<'a>)>, flow: &FlowFacts<'a>) {
    fields.extend([
        ("apf_pl", Field::Text(flow.priority_level)),
        ("apf_fs", Field::Text(flow.flow_schema)),
        ("apf_iseats", Field::Number(flow.initial_seats.into())),
        ("apf_fseats", Field::Number(flow.final_seats.into())),
        (
            "apf_additionalLatency",
            Field::Took(flow.additional_latency),
        ),
    ]);
    let Some(took) = flow.execution_time else {
        return;
    };
    if flow.is_watch {
        fields.push(("apf_init_latency", Field::Took(took)));
    }
    fields.push(("apf_execution_time", Field::Took(took)));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_rejected_request_has_no_execution_time() {
        let names = |execution_time, is_watch| {
            let mut fields = Vec::new();
            push_flow(
                &mut fields,
                &FlowFacts {
                    priority_level: "system",
                    flow_schema: "system-nodes",
                    initial_seats: 1,
                    final_seats: 0,
                    additional_latency: Duration::ZERO,
                    execution_time,
                    is_watch,
                },
            );
            fields
                .into_iter()
                .skip(5)
                .map(|it| it.0)
                .collect::<Vec<_>>()
        };
        let took = Some(Duration::from_millis(1));
        assert_eq!(names(None, false), [""; 0]);
        assert_eq!(names(None, true), [""; 0]);
        assert_eq!(names(took, false), ["apf_execution_time"]);
        assert_eq!(
            names(took, true),
            ["apf_init_latency", "apf_execution_time"]
        );
    }
}
