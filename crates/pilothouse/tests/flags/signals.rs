//! Numbers and lines that leave the program: the same at the collector as where they are read here.

use json::{Value, json};
use rustix::process::Signal;
use testkit::collector::Collector;
use testkit::collector::otlp::{LogRecord, Span};
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
fn told(said: &str, signal: &str) -> [u64; 3] {
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
    assert_eq!(shown[created].to_string(), "1");
    // Controllers watch, which is counted when a watch ends: only we write.
    let ours = |series: &str| {
        let kept = "apiserver_resource_objects{group=\"\",resource=\"limitranges\"}";
        let wrote = "resource=\"limitranges\",scope=\"resource\",subresource=\"\",verb=\"POST\"";
        series == kept || series.contains(wrote)
    };
    let compared = shown.keys().filter(|it| ours(it)).count();
    assert!(compared > 30, "of all kinds: {compared}");
    until("all that is shown arrives while it runs", || {
        let arrived = collector.numbers();
        shown.iter().all(|(series, value)| {
            let last = arrived.get(series).copied();
            let grows = series.contains("_total") || series.contains("_bucket{");
            last.is_some_and(|last| {
                (!ours(series) || last.to_bits() == value.to_bits()) && (!grows || last >= *value)
            })
        })
    });
    same_lines(&server, &collector);
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    for signal in ["metrics", "logs"] {
        assert!(told(&said, signal)[0] > 0, "{said}");
    }
    assert!(told(&said, "logs")[0] <= collector.logs().len() as u64);
    for received in collector.received() {
        let text = String::from_utf8_lossy(&received.message);
        assert!(!text.contains(CANARY), "{}", received.path);
    }
    assert!(!said.contains(CANARY), "{said}");
    let mut lines = said.lines().filter(|it| it.starts_with('{'));
    assert!(lines.all(|it| json::parse(it.as_bytes()).is_ok()), "{said}");
    assert!(!page.contains(CANARY));
}

/// Lines on stderr of our requests are at the collector, too, and know their trace.
fn same_lines(server: &Program, collector: &Collector) {
    let text = std::fs::read_to_string(server.place().join("stderr")).unwrap();
    // The last may just be being written.
    let lines = text
        .lines()
        .filter_map(|it| json::parse(it.as_bytes()).ok());
    let ours = |it: &Value| {
        let uri = it.str_at(&["URI"]).unwrap_or_default();
        it.str_at(&["verb"]) == Some("CREATE") && uri.starts_with(RANGES)
    };
    let lines: Vec<Value> = lines.filter(ours).collect();
    assert_eq!(lines.len(), 2);
    let hex = |bytes: &[u8]| {
        let digits = bytes.iter().map(|it| format!("{it:02x}"));
        digits.collect::<Vec<_>>().concat()
    };
    for line in lines {
        let text = |key: &str| line.str_at(&[key]).unwrap_or_default();
        let id = text("audit-ID");
        assert!(!id.is_empty() && text("logger") == "httplog", "{line}");
        let mut found = None;
        until("the line arrives, and its span", || {
            let mut records = collector.logs().into_iter();
            found = records.find(|it| it.1.attribute("audit-ID") == id);
            let spans = collector.spans();
            let is_its = |it: &LogRecord| {
                let own = |span: &Span| span.span_id == it.span_id && span.trace_id == it.trace_id;
                spans.iter().any(own)
            };
            found.as_ref().is_some_and(|it| is_its(&it.1))
        });
        let (scope, record) = found.expect("it was just found");
        assert_eq!((&*scope, record.text()), ("httplog", "HTTP"));
        assert_eq!(record.severity_text, "INFO");
        assert_eq!(hex(&record.trace_id), text("traceID"), "{line}");
        assert_eq!(hex(&record.span_id), text("spanID"), "{line}");
    }
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
    until("traces and lines arrive", || {
        let received = collector.received();
        let has = |path: &str| received.iter().any(|it| it.path == path);
        has("/v1/traces") && has("/v1/logs")
    });
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    // A minute has not passed: these are the numbers of the end, and all of them.
    let [sent, dropped, failed] = told(&said, "metrics");
    assert!(sent > 0 && dropped == 0 && failed == 0, "{said}");
    let received = collector.received();
    assert!(received.iter().any(|it| it.path == "/v1/metrics"));
    let counted = |it: &String| {
        let of = "resource=\"limitranges\",scope=\"resource\",subresource=\"\",verb=\"POST\"";
        it.starts_with("apiserver_request_total") && it.contains(of)
    };
    let numbers = collector.numbers();
    assert!(numbers.keys().any(counted), "{numbers:?}");
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
    let [exported, dropped, failed] = told(&said, "metrics");
    assert!(exported == 0 && dropped == 0 && failed > 0, "{said}");
    let line = said.lines().find(|it| it.contains("\"Export failed\""));
    let line = json::parse(line.expect("a line").as_bytes()).unwrap();
    let text = |key: &str| line.str_at(&[key]).unwrap_or_default();
    assert_eq!((text("logger"), text("severity")), ("telemetry", "warning"));
    assert_eq!(text("signal"), "metrics");
    assert!(text("error").contains("none.sock"), "{line}");
}
