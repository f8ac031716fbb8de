//! One trace: a tree of its spans, each with a bar for the time it took.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Context;
use json::Value;
use telemetry::otlp::{self, Span};

use super::screen::{Screen, clean, duration, fit, time};

/// What is shown beside names and bars.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Show {
    pub(super) events: bool,
    pub(super) attributes: bool,
}

const TIME: usize = 8;
/// Deeper ones are not moved to the right any more.
const DEEPEST: usize = 24;

/// A span in its place.
struct Line<'a> {
    span: &'a Span,
    service: &'a str,
    /// What is left of its name.
    branch: String,
    /// What is left of what stands below it.
    below: String,
}

/// Of a trace in OTLP's JSON.
pub(super) fn render(trace: &Value, screen: &Screen, show: Show) -> anyhow::Result<String> {
    let message = otlp::from_json(trace).context("the server's answer is not OTLP")?;
    let all = otlp::request(&message).context("the server's answer is not OTLP")?;
    let spans: Vec<(&Span, &str)> = all
        .iter()
        .flat_map(|it| {
            let service = it.resource.iter().find(|it| it.0 == "service.name");
            let service = match service {
                Some((_, otlp::Value::Text(text))) => text.as_str(),
                _ => "",
            };
            it.spans.iter().map(move |span| (span, service))
        })
        .collect();
    let start = spans.iter().map(|it| it.0.start).min();
    let end = spans.iter().map(|it| it.0.end).max();
    let (start, end) = start.zip(end).context("the trace has no spans")?;
    let lines = tree(&spans);
    let mut out = head(&lines, (start, end));
    let services: BTreeSet<_> = spans.iter().map(|it| it.1).collect();
    let name = |line: &Line<'_>| {
        let mark = if line.span.is_error { "! " } else { "" };
        let service = match line.service {
            "" => String::new(),
            _ if services.len() < 2 => String::new(),
            service => format!("[{}] ", clean(service)),
        };
        format!("{}{mark}{service}{}", line.branch, clean(&line.span.name))
    };
    let widest = lines.iter().map(|it| name(it).chars().count()).max();
    let names = widest.unwrap_or_default().min(screen.width / 2);
    let bars = screen.width - names - TIME - 4;
    for line in &lines {
        let took = line.span.end.saturating_sub(line.span.start);
        let label = fit(&name(line), names);
        let bar = bar(line.span, (start, end), bars);
        let text = if line.span.is_error {
            let (label, bar) = (screen.red(&label), screen.red(&bar));
            format!("{label} {:>TIME$} {bar}", duration(took))
        } else {
            format!("{label} {:>TIME$} {bar}", duration(took))
        };
        // A colour ends where it ends.
        let _ = writeln!(out, "{}", text.trim_end());
        for more in details(line, show) {
            let _ = writeln!(out, "{}{}", line.below, screen.dim(&more));
        }
    }
    Ok(out)
}

/// What is said of all of it.
fn head(lines: &[Line<'_>], (start, end): (u64, u64)) -> String {
    let Some(first) = lines.first().map(|it| it.span) else {
        return String::new();
    };
    let errors = lines.iter().filter(|it| it.span.is_error).count();
    let spans = match lines.len() {
        1 => "1 span".to_owned(),
        count => format!("{count} spans"),
    };
    let errors = match errors {
        0 => String::new(),
        1 => ", 1 error".to_owned(),
        count => format!(", {count} errors"),
    };
    let audit = first.text("audit-id");
    let audit = match audit {
        "" => String::new(),
        id => format!(", audit id {}", clean(id)),
    };
    format!(
        "trace {}, {}, {}, {spans}{errors}{audit}\n\n",
        first.trace_id,
        time(start),
        duration(end - start)
    )
}

/// Parents before their children, which come in the order in which they began.
fn tree<'a>(spans: &[(&'a Span, &'a str)]) -> Vec<Line<'a>> {
    let known: BTreeSet<_> = spans.iter().map(|it| it.0.span_id).collect();
    let mut children: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let mut roots = Vec::new();
    for (span, service) in spans {
        let is_root = span.parent == span.span_id || !known.contains(&span.parent);
        let place = if is_root {
            &mut roots
        } else {
            children.entry(span.parent).or_default()
        };
        place.push((*span, *service));
    }
    let order = |list: &mut Vec<(&Span, &str)>| {
        list.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    };
    order(&mut roots);
    children.values_mut().for_each(order);
    let mut lines = Vec::new();
    // The next one is the last: (span, depth, whether it is its parent's last, what is left of its siblings).
    let mut next: Vec<_> = roots
        .into_iter()
        .rev()
        .map(|it| (it, 0, true, String::new()))
        .collect();
    while let Some(((span, service), depth, is_last, left)) = next.pop() {
        let below = match depth {
            0 => left.clone(),
            _ if depth > DEEPEST => left.clone(),
            _ => left.clone() + if is_last { "   " } else { "│  " },
        };
        let branch = match depth {
            0 => left,
            _ => left + if is_last { "└─ " } else { "├─ " },
        };
        // Each is taken once, whoever is said to be whose child.
        let mine = children.remove(&span.span_id).unwrap_or_default();
        let count = mine.len();
        for (index, child) in mine.into_iter().enumerate().rev() {
            next.push((child, depth + 1, index + 1 == count, below.clone()));
        }
        let mark = if count > 0 { "│ " } else { "  " };
        lines.push(Line {
            span,
            service,
            branch,
            below: below + mark,
        });
    }
    // Spans that are each other's ancestors have no root: they stand for themselves.
    for (span, service) in children.into_values().flatten() {
        lines.push(Line {
            span,
            service,
            branch: String::new(),
            below: "  ".into(),
        });
    }
    lines
}

fn bar(span: &Span, (start, end): (u64, u64), width: usize) -> String {
    let all = u128::from((end - start).max(1));
    let at = |nanos: u64| {
        let place = u128::from(nanos.saturating_sub(start)) * width as u128 / all;
        usize::try_from(place).unwrap_or(width).min(width)
    };
    // Whatever happened is seen.
    let from = at(span.start).min(width - 1);
    let to = at(span.end).clamp(from + 1, width);
    format!("{}{}", " ".repeat(from), "█".repeat(to - from))
}

/// What stands below a span.
fn details(line: &Line<'_>, show: Show) -> Vec<String> {
    let span = line.span;
    let mut all = Vec::new();
    if span.is_error && !span.message.is_empty() {
        all.push(format!("! {}", clean(&span.message)));
    }
    if show.attributes {
        let pairs = span.attributes.iter();
        all.extend(pairs.map(|(key, value)| format!("{}={}", clean(key), shown(value))));
        for link in &span.links {
            all.push(format!(
                "link to trace {}, span {}",
                link.trace_id, link.span_id
            ));
        }
    }
    if show.events {
        for event in &span.events {
            let after = duration(event.time.saturating_sub(span.start));
            let mut text = format!("+{after} {}", clean(&event.name));
            for (key, value) in &event.attributes {
                let _ = write!(text, " {}={}", clean(key), shown(value));
            }
            all.push(text);
        }
    }
    all
}

fn shown(value: &otlp::Value) -> String {
    match value {
        otlp::Value::Empty => String::new(),
        otlp::Value::Text(text) => clean(text),
        otlp::Value::Bool(it) => it.to_string(),
        otlp::Value::Int(it) => it.to_string(),
        otlp::Value::Double(it) => it.to_string(),
        otlp::Value::Bytes(it) => format!("{} bytes", it.len()),
        otlp::Value::List(list) => {
            let all: Vec<_> = list.iter().map(shown).collect();
            format!("[{}]", all.join(", "))
        }
        otlp::Value::Map(pairs) => {
            let pair =
                |(key, value): &(String, otlp::Value)| format!("{}={}", clean(key), shown(value));
            let all: Vec<_> = pairs.iter().map(pair).collect();
            format!("{{{}}}", all.join(", "))
        }
    }
}
