//! Prometheus' text format 0.0.4, and `OpenMetrics` 1.0 with exemplars; and which of the formats a client wants.

use std::time::SystemTime;

use encoding::go;

use super::handle::{Seen, Unit};
use super::protobuf;
use super::registry::{Desc, Gathered, Kind, Registry, Sample, Stability, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Prometheus,
    OpenMetrics,
    /// Messages `io.prometheus.client.MetricFamily`, each after its length: the only form with native histograms.
    Protobuf,
}

const PROTOBUF: &str = "application/vnd.google.protobuf";

impl Format {
    /// What a client takes, by its `Accept` header, as Prometheus' own library has it. `OpenMetrics` and protobuf only if
    /// they are asked for by name, and not less than the plain form.
    pub fn accepted(header: &str) -> Self {
        let quality = |wanted: &str| {
            let offers = header.split(',').filter_map(|offer| {
                let mut parts = offer.split(';').map(str::trim);
                if !parts.next()?.eq_ignore_ascii_case(wanted) {
                    return None;
                }
                // Of protobuf there are other messages and encodings.
                let (mut quality, mut known) = (1.0, wanted != PROTOBUF);
                let (mut message, mut delimited) = (false, false);
                for part in parts {
                    match part.split_once('=') {
                        Some(("q", value)) => quality = value.parse().unwrap_or(0.0),
                        Some(("version", value)) if wanted.contains("openmetrics") => {
                            known = matches!(value, "1.0.0" | "0.0.1");
                        }
                        Some(("proto", value)) => {
                            message = value == "io.prometheus.client.MetricFamily";
                        }
                        Some(("encoding", value)) => delimited = value == "delimited",
                        _ => {}
                    }
                }
                known |= message && delimited;
                known.then_some(quality)
            });
            offers.fold(0.0_f64, f64::max)
        };
        let (plain, open) = (
            quality("text/plain"),
            quality("application/openmetrics-text"),
        );
        let protobuf = quality(PROTOBUF);
        if protobuf > 0.0 && protobuf >= plain && protobuf >= open {
            Self::Protobuf
        } else if open > 0.0 && open >= plain {
            Self::OpenMetrics
        } else {
            Self::Prometheus
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
        }
    }
}

/// Everything, in any format.
pub fn encode(registry: &Registry, format: Format) -> Vec<u8> {
    match format {
        Format::Protobuf => protobuf::encode(registry),
        text => render(registry, text).into_bytes(),
    }
}

/// Everything, as text.
pub fn render(registry: &Registry, format: Format) -> String {
    let mut out = String::new();
    for family in registry.gather(SystemTime::now()) {
        write_family(&mut out, &family, format);
    }
    if format == Format::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

fn write_family(out: &mut String, family: &Gathered, format: Format) {
    let mut name = family.desc.name;
    let kind = match (family.kind, format) {
        (Kind::Counter, Format::OpenMetrics) => {
            if let Some(stem) = name.strip_suffix("_total") {
                name = stem;
                "counter"
            } else {
                // Its counters must end in _total. Some of Kubernetes' do not, and must not change their names.
                "unknown"
            }
        }
        (Kind::Counter, _) => "counter",
        (Kind::Gauge, _) => "gauge",
        (Kind::Histogram(..), _) => "histogram",
    };
    let help = escape(&help(&family.desc), format == Format::OpenMetrics);
    put(
        out,
        &format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"),
    );
    for sample in &family.samples {
        write_sample(out, family, sample, format);
    }
}

/// As Kubernetes begins its help texts.
pub(super) fn help(desc: &Desc) -> String {
    let level = match desc.stability {
        Stability::Alpha => "[ALPHA] ",
        Stability::Beta => "[BETA] ",
        Stability::Stable => "[STABLE] ",
        Stability::Unmarked => "",
    };
    let since = desc.deprecated;
    let since = since.map_or(String::new(), |it| format!("(Deprecated since {it}) "));
    format!("{level}{since}{}", desc.help)
}

fn write_sample(out: &mut String, family: &Gathered, sample: &Sample, format: Format) {
    let name = family.desc.name;
    let pairs = labels(&family.names, &sample.labels);
    match &sample.value {
        Value::Counter(value) => put(out, &format!("{name}{} {value}\n", braces(&pairs, None))),
        Value::Number(value) => {
            put(
                out,
                &format!("{name}{} {}\n", braces(&pairs, None), go::float(*value)),
            );
        }
        Value::Histogram {
            counts,
            sum,
            exemplars,
            ..
        } => {
            let Kind::Histogram(unit) = family.kind else {
                return;
            };
            let mut total = 0;
            for (at, count) in counts.iter().enumerate() {
                total += count;
                let bound = family.bounds.get(at).copied().unwrap_or(f64::INFINITY);
                let bound = match (go::float(bound), format) {
                    (bound, Format::OpenMetrics) if is_whole(&bound) => bound + ".0",
                    (bound, _) => bound,
                };
                put(
                    out,
                    &format!("{name}_bucket{} {total}", braces(&pairs, Some(&bound))),
                );
                if format == Format::OpenMetrics
                    && let Some((_, seen)) = exemplars.iter().find(|(of, _)| *of == at)
                {
                    write_exemplar(out, seen, unit);
                }
                out.push('\n');
            }
            let braces = braces(&pairs, None);
            put(out, &format!("{name}_sum{braces} {}\n", go::float(*sum)));
            put(out, &format!("{name}_count{braces} {total}\n"));
        }
    }
}

fn write_exemplar(out: &mut String, seen: &Seen, unit: Unit) {
    let at = seen.at.duration_since(SystemTime::UNIX_EPOCH);
    let at = at.unwrap_or_default();
    put(
        out,
        &format!(
            " # {{trace_id=\"{}\",span_id=\"{}\"}} {} {}.{:03}",
            seen.ids.trace(),
            seen.ids.span(),
            go::float(unit.shown(seen.value.into())),
            at.as_secs(),
            at.subsec_millis()
        ),
    );
}

/// `OpenMetrics` has its bounds with a point.
fn is_whole(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit())
}

fn labels(names: &[&str], values: &[String]) -> String {
    let pairs = names.iter().zip(values);
    let pairs = pairs.map(|(name, value)| format!("{name}=\"{}\"", escape(value, true)));
    pairs.collect::<Vec<_>>().join(",")
}

fn braces(pairs: &str, bound: Option<&str>) -> String {
    match (pairs, bound) {
        ("", None) => String::new(),
        (pairs, None) => format!("{{{pairs}}}"),
        ("", Some(bound)) => format!("{{le=\"{bound}\"}}"),
        (pairs, Some(bound)) => format!("{{{pairs},le=\"{bound}\"}}"),
    }
}

fn escape(text: &str, quotes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if quotes => out.push_str("\\\""),
            letter => out.push(letter),
        }
    }
    out
}

fn put(out: &mut String, text: &str) {
    out.push_str(text);
}
