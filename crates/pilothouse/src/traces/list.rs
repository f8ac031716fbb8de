//! The list, as a table.

use std::fmt::Write as _;

use json::Value;

use super::screen::{clean, duration, time};

pub(super) fn render(found: &Value, is_narrow: bool) -> String {
    let traces = found.get("traces").and_then(Value::as_array);
    let traces = traces.map(Vec::as_slice).unwrap_or_default();
    if traces.is_empty() {
        let said = if is_narrow {
            "No traces found: none of those that are kept is like that.\n"
        } else {
            "No traces found: nothing was recorded yet. Without --tracing-config-file all requests are; with it, as many as its samplingRatePerMillion says.\n"
        };
        return said.to_owned();
    }
    let head = ["TIME", "TRACE ID", "DURATION", "SPANS", "STATUS", "NAME"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(traces.iter().map(row));
    let widths: [usize; 6] = std::array::from_fn(|column| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    });
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:width$}   ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let matched = found.get("matched").and_then(Value::as_i64);
    let more = matched.and_then(|it| usize::try_from(it).ok());
    let more = more.unwrap_or_default().saturating_sub(traces.len());
    if more > 0 {
        let _ = writeln!(out, "... and {more} more; --limit shows up to 1000");
    }
    out
}

fn row(trace: &Value) -> [String; 6] {
    let text = |key: &str| trace.str_at(&[key]).unwrap_or_default();
    let number = |key: &str| trace.get(key).and_then(Value::as_i64).unwrap_or_default();
    let nanos = |key: &str| text(key).parse().unwrap_or_default();
    let code = trace.get("statusCode").and_then(Value::as_i64);
    let mut status: Vec<String> = code.iter().map(ToString::to_string).collect();
    match number("errorCount") {
        0 if code.is_none() => status.push("ok".into()),
        0 => {}
        1 => status.push("1 error".into()),
        errors => status.push(format!("{errors} errors")),
    }
    let mut name = clean(text("rootTraceName"));
    let service = text("rootServiceName");
    if !service.is_empty() && service != "apiserver" {
        name = format!("{}: {name}", clean(service));
    }
    if trace.get("partial") == Some(&Value::Bool(true)) {
        name.push_str(" (its beginning is not here)");
    }
    [
        time(nanos("startTimeUnixNano")),
        clean(text("traceID")),
        duration(nanos("durationNano")),
        number("spanCount").to_string(),
        status.join(", "),
        name,
    ]
}
