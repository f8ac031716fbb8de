//! Metrics and logs on their way: what arrives is what was counted and told.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use egress::Selector;
use json::Value;
use telemetry::Ids;
use telemetry::config::{Environment, Follow};
use telemetry::export::{Exporter, Protocol, Queue, Report, Resource, Signal, Target, Transport};
use telemetry::labels;
use telemetry::logs::{self, Field, HTTPLOG, Record, Severity};
use telemetry::metrics::{Desc, Format, Registry, Stability, Unit, encode_otlp, render};
use testkit::certificates::Certificates;
use testkit::collector::{Collector, Listen, Received, Secured};
use testkit::receiver::otlp;

use crate::sink::Sink;
use crate::trace::{PATIENCE, report, settings, tcp};

labels!(Asked { code, verb });

const BOTH: [Protocol; 2] = [Protocol::Grpc, Protocol::HttpProtobuf];
const CUMULATIVE: i32 = 2;

/// One of each kind.
fn registry() -> Registry {
    let registry = Registry::default();
    let desc = |name| Desc::new(name, Stability::Alpha, "help");
    let asked = registry.counter::<Asked<'_>>(desc("asked_total"));
    for (code, verb, count) in [("200", "GET", 7), ("404", "GET", 1), ("200", "a\\\"\nb", 2)] {
        asked.with(&Asked { code, verb }).add(count);
    }
    asked.with(&Asked {
        code: "500",
        verb: "",
    });
    let took = registry.histogram::<Asked<'_>>(
        desc("took_seconds"),
        Unit::Seconds,
        &[0.005, 0.1, 1.0, 1e6],
    );
    let took = took.with(&Asked {
        code: "200",
        verb: "GET",
    });
    for milliseconds in [1, 5, 6, 999, 1_000_000_001_000] {
        took.observe(Duration::from_millis(milliseconds));
    }
    let sizes = registry.histogram::<()>(desc("sizes_bytes"), Unit::One, &[10.0, 1000.0]);
    sizes.with(&()).observe_value(11);
    registry.gauge::<()>(desc("level")).with(&()).set(-3);
    registry.observe_counter(desc("spent_seconds_total"), &["kind"], || {
        vec![(vec!["user".into()], 0.25)]
    });
    registry.observe_gauge(desc("open"), &[], || vec![(Vec::new(), 1.5)]);
    registry
}

fn exporter(signal: Signal, target: Target, queue: &Arc<Queue>) -> Exporter {
    let exporter = Exporter::start(
        signal,
        queue.clone(),
        Arc::new(Transport::new(target)),
        Resource::new("apiserver", "test", None),
        settings(),
        std::future::ready(()),
    );
    exporter.unwrap()
}

/// Sends all numbers; those that fail once may be sent again.
fn send(registry: &Registry, target: Target) -> Report {
    let exporter = exporter(Signal::Metrics, target, &Arc::new(Queue::new(10_000)));
    push(registry, &exporter);
    settled(&exporter);
    exporter.shutdown(PATIENCE)
}

fn push(registry: &Registry, exporter: &Exporter) {
    for batch in encode_otlp(registry) {
        assert!(exporter.queue().try_push(batch).is_ok());
    }
}

/// Waits until nothing is in the queue or under way.
fn settled(exporter: &Exporter) {
    let end = Instant::now() + PATIENCE;
    while exporter.queue().numbers().waiting() > 0 {
        assert!(Instant::now() < end, "not within {PATIENCE:?}");
        std::thread::yield_now();
    }
}

fn points(registry: &Registry) -> u64 {
    encode_otlp(registry).iter().map(|it| it.points).sum()
}

/// As the page has them.
fn shown(registry: &Registry) -> BTreeMap<String, f64> {
    otlp::lines(&render(registry, Format::Prometheus))
}

#[test]
fn numbers_that_arrive_are_those_of_the_page() {
    for (protocol, gzip) in BOTH.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let (collector, began) = (Collector::start(), SystemTime::now());
        // Once it is not there for them.
        collector.behave(|it| it.fail = 1);
        let registry = registry();
        let mut target = tcp(&collector, protocol);
        target.gzip = gzip;
        let all = points(&registry);
        let sent = send(&registry, target);
        assert_eq!(sent, report(all, 0, 0));
        let received = collector.received();
        let path = match protocol {
            Protocol::Grpc => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
            Protocol::HttpProtobuf => "/v1/metrics",
        };
        assert_eq!((received.len(), &*received[0].path), (1, path));
        assert_eq!(collector.requests(), 2);
        // The last line is of many numbers, and ours has a line break within.
        let escaped = shown(&registry);
        assert_eq!(collector.numbers(), escaped);
        assert_eq!(
            escaped[r#"asked_total{code="200",verb="GET"}"#].to_string(),
            "7"
        );
        checked(&received[0], began);
    }
}

/// What is said of numbers beside them.
fn checked(received: &Received, began: SystemTime) {
    let nanoseconds = |at: SystemTime| {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        u64::try_from(since.as_nanos()).unwrap()
    };
    let (began, now) = (nanoseconds(began), nanoseconds(SystemTime::now()));
    let export = received.metrics().unwrap();
    let resource = "service.name=apiserver,service.instance.id=test";
    assert_eq!(export.resource(), resource);
    let mut times = Vec::new();
    for metric in export.metrics() {
        assert_eq!(metric.description, "[ALPHA] help");
        let unit = match &*metric.name {
            "took_seconds" => "s",
            "sizes_bytes" => "By",
            _ => "",
        };
        assert_eq!(metric.unit, unit, "{}", metric.name);
        if let Some(sum) = &metric.sum {
            assert!(sum.is_monotonic && sum.aggregation_temporality == CUMULATIVE);
            let points = sum.data_points.iter();
            times.extend(points.map(|it| (it.start_time_unix_nano, it.time_unix_nano)));
        }
        if let Some(histogram) = &metric.histogram {
            assert_eq!(histogram.aggregation_temporality, CUMULATIVE);
            let points = histogram.data_points.iter();
            times.extend(points.map(|it| (it.start_time_unix_nano, it.time_unix_nano)));
        }
    }
    assert_eq!(times.len(), 4 + 1 + 2);
    for (start, time) in times {
        assert!(began <= start && start <= time && time <= now);
    }
}

/// A collector with TLS, as a file names it: what is sent arrives, or not at all.
#[test]
fn numbers_and_tls() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = Certificates::make(folder.path());
    let secured = Secured {
        certificates: &certificates,
        clients: true,
    };
    for protocol in ["grpc", "http/protobuf"] {
        let collector = Collector::on(&Listen::Port, Some(&secured));
        let target = |tls: &[(&str, &std::path::PathBuf)]| {
            let mut text = "apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: OpenTelemetryClientConfiguration\n".to_owned();
            let port = collector.served.port();
            writeln!(text, "url: https://localhost:{port}/v1/traces").unwrap();
            writeln!(text, "protocol: {protocol}\ntls:").unwrap();
            for (key, path) in tls {
                writeln!(text, "  {key}: {}", path.display()).unwrap();
            }
            let path = folder.path().join("file.yaml");
            std::fs::write(&path, text).unwrap();
            let opened = Follow::open(&path, Environment::default(), Selector::default());
            opened.unwrap().1.metrics
        };
        let ca = ("caBundle", &certificates.ca);
        let pair = [
            ("clientCert", &certificates.client_cert),
            ("clientKey", &certificates.client_key),
        ];
        let registry = registry();
        let all = points(&registry);
        let good = target(&[ca, pair[0], pair[1]]);
        let sent = send(&registry, good);
        assert_eq!(sent, report(all, 0, 0), "{protocol}");
        assert_eq!(collector.numbers(), shown(&registry));
        if protocol != "grpc" {
            // What a file says of traces is where the others are found.
            assert_eq!(collector.received()[0].path, "/v1/metrics");
        }
        let wrong = ("caBundle", &certificates.wrong_ca);
        for bad in [target(&[ca]), target(&[wrong, pair[0], pair[1]])] {
            // At its end an exporter tries what waits once.
            let exporter = exporter(Signal::Metrics, bad, &Arc::new(Queue::new(10_000)));
            push(&registry, &exporter);
            assert_eq!(exporter.shutdown(PATIENCE), report(0, 0, all), "{protocol}");
        }
        assert_eq!(collector.received().len(), 1);
    }
}

#[testkit::requires(otlp_sink, python_otlp_messages)]
#[test]
fn a_foreign_receiver_reads_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let sink = Sink::start(folder.path(), "metrics", &["--fail", "1"]);
    let mut seen = 0;
    for (protocol, gzip) in BOTH.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let registry = registry();
        let mut target = sink.target(protocol);
        target.gzip = gzip;
        let sent = send(&registry, target);
        assert_eq!(sent, report(points(&registry), 0, 0), "{protocol:?} {gzip}");
        let (mut numbers, lines) = (BTreeMap::new(), sink.lines());
        for line in &lines[seen..] {
            read(&json::parse(line.as_bytes()).unwrap(), &mut numbers);
        }
        assert_eq!(numbers, shown(&registry), "{protocol:?} {gzip}");
        seen = lines.len();
    }
}

/// A point as the sink writes it.
fn read(point: &Value, numbers: &mut BTreeMap<String, f64>) {
    let text = |key: &str| point.str_at(&[key]).unwrap_or_default();
    let number = |value: &Value| json::to_string(value).parse::<f64>().unwrap();
    let list = |key: &str| -> Vec<f64> {
        let all = point.get(key).and_then(Value::as_array).unwrap();
        all.iter().map(number).collect()
    };
    let name = text("name");
    if text("type") != "gauge" {
        let temporality = "AGGREGATION_TEMPORALITY_CUMULATIVE";
        assert_eq!(text("temporality"), temporality, "{name}");
    }
    let labels = point.get("attributes").and_then(Value::as_object).unwrap();
    let labels = labels.iter();
    let labels = labels.map(|(key, value)| format!("{key}={:?}", value.as_str().unwrap()));
    let labels: Vec<_> = labels.collect();
    let mut put = |name: &str, more: Option<String>, value: f64| {
        let labels: Vec<_> = labels.iter().cloned().chain(more).collect();
        let series = match &labels[..] {
            [] => name.to_owned(),
            labels => format!("{name}{{{}}}", labels.join(",")),
        };
        numbers.insert(series, value);
    };
    if text("type") != "histogram" {
        return put(name, None, number(point.get("value").unwrap()));
    }
    let mut bounds = list("bounds");
    bounds.push(f64::INFINITY);
    let mut total = 0.0;
    for (count, bound) in list("buckets").iter().zip(bounds) {
        total += count;
        put(
            &format!("{name}_bucket"),
            Some(format!("le=\"{bound}\"")),
            total,
        );
    }
    put(
        &format!("{name}_sum"),
        None,
        number(point.get("sum").unwrap()),
    );
    put(
        &format!("{name}_count"),
        None,
        number(point.get("count").unwrap()),
    );
}

const TRACE: [u8; 16] = [0xab; 16];
const SPAN: [u8; 8] = [0xcd; 8];

/// Tells of something in each of the ways that there are, under an id that only this test has.
fn tell(audit_id: &str) {
    let record = |severity, level, ids, fields: &[(&str, Field<'_>)]| {
        logs::tell(&Record {
            target: &HTTPLOG,
            severity,
            level,
            message: "HTTP",
            fields,
            ids,
            audit_id,
        });
    };
    let ids = Some(Ids {
        trace_id: TRACE,
        span_id: SPAN,
    });
    let fields = [
        ("verb", Field::Text("GET")),
        ("resp", Field::Number(-1)),
        ("latency", Field::Took(Duration::from_micros(1500))),
    ];
    record(Severity::Info, 0, ids, &fields);
    record(Severity::Warning, 0, None, &[]);
    record(Severity::Error, 0, None, &[]);
    // Nobody asked for so much.
    record(Severity::Info, 9, None, &[]);
}

/// A process has one log: its tests take turns.
static ONE_LOG: Mutex<()> = Mutex::new(());

#[test]
fn lines_that_arrive_are_those_that_were_told() {
    let _alone = ONE_LOG.lock();
    for (index, protocol) in BOTH.into_iter().enumerate() {
        let collector = Collector::start();
        collector.behave(|it| it.fail = 1);
        let id = format!("own-{index}");
        let sent = send_lines(tcp(&collector, protocol), || tell(&id));
        assert_eq!((sent.dropped, sent.failed), (0, 0));
        let received = collector.logs();
        let ours = received.iter();
        let ours: Vec<_> = ours.filter(|it| it.1.attribute("audit-ID") == id).collect();
        let severities: Vec<_> = ours
            .iter()
            .map(|(_, it)| (it.severity_number, &*it.severity_text))
            .collect();
        assert_eq!(severities, [(9, "INFO"), (13, "WARN"), (17, "ERROR")]);
        let (scope, first) = ours[0];
        assert_eq!((&**scope, first.text()), ("httplog", "HTTP"));
        assert_eq!((&*first.trace_id, &*first.span_id), (&TRACE[..], &SPAN[..]));
        assert_eq!(first.flags, 1);
        assert!(first.time_unix_nano > 0 && first.observed_time_unix_nano >= first.time_unix_nano);
        assert_eq!(first.attribute("verb"), "GET");
        assert_eq!(first.attribute("latency"), "1.5ms");
        assert_eq!(first.attribute("resp"), "Some(Int(-1))");
        assert!(ours[1].1.trace_id.is_empty() && ours[1].1.flags == 0);
    }
}

#[testkit::requires(otlp_sink, python_otlp_messages)]
#[test]
fn a_foreign_receiver_reads_the_same_lines() {
    let _alone = ONE_LOG.lock();
    let folder = tempfile::tempdir().unwrap();
    let sink = Sink::start(folder.path(), "logs", &[]);
    for (index, protocol) in BOTH.into_iter().enumerate() {
        let id = format!("foreign-{index}");
        let sent = send_lines(sink.target(protocol), || tell(&id));
        assert_eq!((sent.dropped, sent.failed), (0, 0));
        let lines = sink.lines().into_iter().filter(|it| it.contains(&id));
        let lines = lines.map(|it| json::parse(it.as_bytes()).unwrap());
        let lines: Vec<_> = lines.collect();
        assert_eq!(lines.len(), 3);
        let text = |key: &str| lines[0].str_at(&[key]).unwrap_or_default().to_owned();
        assert_eq!(text("traceId"), "ab".repeat(16));
        assert_eq!(text("spanId"), "cd".repeat(8));
        assert_eq!(
            (text("body"), text("severityText")),
            ("HTTP".into(), "INFO".into())
        );
    }
}

fn send_lines(target: Target, tell: impl FnOnce()) -> Report {
    let queue = Arc::new(Queue::new(1000));
    logs::export(Some(queue.clone()));
    let exporter = exporter(Signal::Logs, target, &queue);
    tell();
    logs::export(None);
    settled(&exporter);
    exporter.shutdown(PATIENCE)
}
