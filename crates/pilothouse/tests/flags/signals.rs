//! Numbers and lines that leave the program: the same at the collector as where they are read here.

use std::collections::BTreeMap;

use json::{Value, json};
use rustix::process::Signal;
use testkit::collector::Collector;
use testkit::receiver::otlp;

use super::program::{Program, until};

const RANGES: &str = "/api/v1/namespaces/default/limitranges";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
/// In a token, an object, a query: never in what is told.
const CANARY: &str = "canary-41c7";

fn post(path: &str, name: &str, server: &Program) -> u16 {
    let object = json!({"metadata": {"name": name}});
    let answer = server.admin().send("POST", path, &object.to_string());
    answer.code
}

/// What became of a signal, as the program says at its end.
pub(super) fn told(said: &str, signal: &str) -> [u64; 3] {
    let start = format!("{signal}: ");
    let line = said.lines().find_map(|it| it.strip_prefix(&start));
    let line = line.unwrap_or_else(|| panic!("nothing is said of {signal}: {said}"));
    let numbers: Vec<u64> = line.split(' ').filter_map(|it| it.parse().ok()).collect();
    numbers.try_into().expect("three numbers")
}

fn serve(collector: &Collector, protocol: &str, arguments: &[&str]) -> Program {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("tracing.yaml");
    let port = collector.served.port();
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: 127.0.0.1:{port}\n\
         protocol: {protocol}\nsamplingRatePerMillion: 1000000\n"
    );
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let mut all = vec!["--tracing-config-file", &file];
    all.extend(arguments);
    Program::serve_in(place, &all)
}

#[test]
fn what_is_pushed_is_what_is_shown() {
    let collector = Collector::start();
    let arguments = [
        "--metrics-exporter=prometheus,otlp",
        "--metrics-export-interval=1s",
        "--logs-exporter=otlp",
        "--logging-format=json",
        "-v=3",
    ];
    let server = serve(&collector, "grpc", &arguments);
    assert_eq!(post(RANGES, "a", &server), 201);
    assert_eq!(post(RANGES, "a", &server), 409);
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"key": CANARY}});
    let admin = server.admin();
    let made = admin.send("POST", SECRETS, &secret.to_string());
    assert_eq!(made.code, 201);
    let unknown = server.admin().with_token(CANARY);
    unknown.get(&format!("{RANGES}?token={CANARY}")).expect(401);
    let page = admin.get("/metrics").expect(200).body;
    let shown = otlp::lines(&page);
    let created = "apiserver_request_total{code=\"201\",component=\"apiserver\",dry_run=\"\",group=\"\",\
                   resource=\"limitranges\",scope=\"resource\",subresource=\"\",verb=\"POST\",version=\"v1\"}";
    until("numbers arrive while it runs", || {
        collector.numbers().get(created) == shown.get(created)
    });
    assert_eq!(shown[created].to_string(), "1");
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    let arrived = collector.numbers();
    // Controllers watch, which is counted when a watch ends: only we write.
    let ours = |series: &str| {
        let kept = "apiserver_resource_objects{group=\"\",resource=\"limitranges\"}";
        let wrote = "resource=\"limitranges\",scope=\"resource\",subresource=\"\",verb=\"POST\"";
        series == kept || series.contains(wrote)
    };
    let mut compared = 0;
    for (series, value) in &shown {
        let last = arrived.get(series);
        let last = last.unwrap_or_else(|| panic!("{series} is on the page only"));
        if ours(series) {
            assert_eq!(last.to_bits(), value.to_bits(), "{series}");
            compared += 1;
        }
        if series.contains("_total") || series.contains("_bucket{") {
            assert!(
                last >= value,
                "{series} is {value} on the page, then {last}"
            );
        }
    }
    assert!(compared > 30, "of all kinds: {compared}");
    for signal in ["metrics", "logs"] {
        let [exported, dropped, failed] = told(&said, signal);
        assert!(exported > 0 && dropped == 0 && failed == 0, "{said}");
    }
    let [exported, ..] = told(&said, "logs");
    assert_eq!(exported, collector.logs().len() as u64);
    same_lines(&said, &collector);
    for received in collector.received() {
        let text = String::from_utf8_lossy(&received.message);
        assert!(!text.contains(CANARY), "{}", received.path);
    }
    assert!(!said.contains(CANARY), "{said}");
    assert!(!page.contains(CANARY));
}

/// Each line on stderr is an object, and each is at the collector; those of requests know their trace.
fn same_lines(said: &str, collector: &Collector) {
    let lines = said.lines().filter(|it| it.starts_with('{'));
    let lines: Vec<Value> = lines
        .map(|it| json::parse(it.as_bytes()).unwrap())
        .collect();
    let records = collector.logs().into_iter();
    let arrived: BTreeMap<_, _> = records
        .map(|it| ((it.1.attribute("audit-ID"), it.1.attribute("URI")), it))
        .collect();
    let spans = collector.spans();
    let hex = |bytes: &[u8]| {
        let digits = bytes.iter().map(|it| format!("{it:02x}"));
        digits.collect::<Vec<_>>().concat()
    };
    let mut traced = 0;
    for line in lines
        .iter()
        .filter(|it| it.str_at(&["msg"]) == Some("HTTP"))
    {
        let text = |key: &str| line.str_at(&[key]).unwrap_or_default();
        let (id, uri) = (text("audit-ID"), text("URI"));
        assert!(!id.is_empty() && text("logger") == "httplog", "{line}");
        let key = (id.to_owned(), uri.to_owned());
        let (scope, record) = arrived.get(&key).expect("it arrived, too");
        assert_eq!((&**scope, record.text()), ("httplog", "HTTP"));
        assert_eq!(record.severity_text, "INFO");
        assert_eq!(hex(&record.trace_id), text("traceID"), "{line}");
        assert_eq!(hex(&record.span_id), text("spanID"), "{line}");
        if !record.trace_id.is_empty() && uri.starts_with(RANGES) {
            let span = spans.iter().find(|it| it.span_id == record.span_id);
            assert_eq!(span.expect("its span").trace_id, record.trace_id);
            traced += 1;
        }
    }
    assert!(traced >= 2, "{traced} of {} lines", lines.len());
}

/// Over HTTP, with a collector that is busy at first: all is sent again, and the end sends the rest.
#[test]
fn a_busy_collector_gets_numbers_and_lines_later() {
    let collector = Collector::start();
    collector.behave(|it| it.fail = 2);
    let arguments = ["--metrics-exporter=otlp", "--logs-exporter=otlp", "-v=3"];
    let server = serve(&collector, "http/protobuf", &arguments);
    server.admin().get("/metrics").expect(404);
    assert_eq!(post(RANGES, "b", &server), 201);
    until("the collector was asked", || collector.requests() >= 3);
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    // A minute has not passed: these are the numbers of the end.
    let numbers = collector.numbers();
    let counted = |it: &String| {
        let of = "resource=\"limitranges\",scope=\"resource\",subresource=\"\",verb=\"POST\"";
        it.starts_with("apiserver_request_total") && it.contains(of)
    };
    assert!(numbers.keys().any(counted), "{numbers:?}");
    let received = collector.received();
    for path in ["/v1/traces", "/v1/metrics", "/v1/logs"] {
        assert!(received.iter().any(|it| it.path == path), "{path}");
    }
    for signal in ["metrics", "logs"] {
        let [_, dropped, failed] = told(&said, signal);
        assert_eq!((dropped, failed), (0, 0), "{said}");
    }
    let line = format!("httplog] \"HTTP\" verb=\"CREATE\" URI=\"{RANGES}\"");
    assert!(said.contains(&line), "{said}");
}

/// What goes wrong with sending is a line of the log, in its form.
#[test]
fn a_collector_that_is_not_there_is_told_of_in_the_log() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("tracing.yaml");
    let socket = place.path().join("none.sock");
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: unix://{}\n",
        socket.display()
    );
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let arguments = [
        "--tracing-config-file",
        &file,
        "--metrics-exporter=otlp",
        "--logging-format=json",
    ];
    let server = Program::serve_in(place, &arguments);
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    let [exported, _, failed] = told(&said, "metrics");
    assert!(exported == 0 && failed > 0, "{said}");
    let line = said.lines().find(|it| it.contains("\"Export failed\""));
    let line = json::parse(line.expect("a line").as_bytes()).unwrap();
    let text = |key: &str| line.str_at(&[key]).unwrap_or_default();
    assert_eq!((text("logger"), text("severity")), ("telemetry", "warning"));
    assert_eq!(text("signal"), "metrics");
    assert!(text("error").contains("none.sock"), "{line}");
}
