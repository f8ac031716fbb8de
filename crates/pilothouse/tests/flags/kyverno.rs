//! Kyverno's flags and settings, as those who come from it have them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine as _;
use json::{Value, json};
use rustix::process::Signal;
use testkit::certificates::Certificates;
use testkit::collector::{Collector, Listen, Secured};

use super::client::Client;
use super::program::{Program, run, until};

const MAPS: &str = "/api/v1/namespaces/kyverno/configmaps";

fn create(client: &Client, path: &str, object: &Value) {
    let made = client.send("POST", path, &object.to_string());
    assert_eq!(made.code, 201, "{}", made.body);
}

fn namespace(client: &Client) {
    let kyverno = json!({"metadata": {"name": "kyverno"}});
    create(client, "/api/v1/namespaces", &kyverno);
}

/// The address on which numbers can be read, as the log has it.
fn address(server: &Program) -> String {
    let mut found = None;
    until("the log tells the address", || {
        let log = std::fs::read_to_string(server.place().join("stderr")).unwrap();
        let line = log.lines().find(|it| it.contains(" metrics server\""));
        let after = line.and_then(|it| it.split_once("address=\""));
        found = after.and_then(|(_, it)| Some(it.split_once('"')?.0.to_owned()));
        found.is_some()
    });
    found.unwrap_or_default()
}

/// Over plain HTTP: the code and all of the answer.
fn get(address: &str, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(90)))
        .unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let code = answer.split(' ').nth(1).unwrap_or_default().to_owned();
    (code, answer)
}

#[test]
fn a_port_for_prometheus_and_settings_that_change() {
    let flags = [
        "--otelConfig=prometheus",
        "--metricsHost=127.0.0.1",
        "--metricsPort=0",
    ];
    let server = Program::serve(&flags);
    let (client, address) = (server.admin(), address(&server));
    let page = || {
        let (code, text) = get(&address, "/metrics");
        assert_eq!(code, "200", "{text}");
        text
    };
    assert_eq!(get(&address, "/other").0, "404");
    client.get(MAPS).expect(200);
    let total = |text: &str| {
        let mut lines = text.lines();
        lines
            .find(|it| it.starts_with("apiserver_request_total{"))
            .map(str::to_owned)
    };
    let buckets = |text: &str| {
        let lines = text.lines();
        let start = "apiserver_request_duration_seconds_bucket{";
        let bounds = lines.filter(|it| it.starts_with(start)).filter_map(|it| {
            let (_, rest) = it.split_once("le=\"")?;
            Some(rest.split_once('"')?.0.to_owned())
        });
        bounds.collect::<std::collections::BTreeSet<_>>()
    };
    let text = page();
    assert!(
        total(&text).is_some_and(|it| it.contains("verb=")),
        "{text}"
    );
    assert!(text.contains("\nauthentication_attempts{"), "{text}");
    namespace(&client);
    // A counter by its name without the end, another with it: Kyverno has both.
    let exposure = r#"{
        "apiserver_request": {"disabledLabelDimensions": ["verb", "code"]},
        "apiserver_request_duration_seconds": {"bucketBoundaries": [0.5, 2]},
        "authentication_attempts_total": {"enabled": false}
    }"#;
    let data = json!({"metricsExposure": exposure, "namespaces": "{"});
    let map = json!({"metadata": {"name": "kyverno-metrics"}, "data": data});
    create(&client, MAPS, &map);
    until("the settings are in use", || {
        let text = page();
        total(&text).is_some_and(|it| !it.contains("verb=") && !it.contains("code="))
    });
    client.get(MAPS).expect(200);
    let text = page();
    assert!(!text.contains("\nauthentication_attempts{"), "{text}");
    assert_eq!(
        buckets(&text),
        ["+Inf", "0.5", "2"].map(str::to_owned).into()
    );
    // The same for who reads it over the API.
    let shown = client.get("/metrics").expect(200).body;
    assert!(
        total(&shown).is_some_and(|it| !it.contains("verb=")),
        "{shown}"
    );
    client
        .send("DELETE", &format!("{MAPS}/kyverno-metrics"), "")
        .expect(200);
    until("all is as it was", || {
        let text = page();
        total(&text).is_some_and(|it| it.contains("verb="))
            && text.contains("\nauthentication_attempts{")
    });
    client.get(MAPS).expect(200);
    assert!(buckets(&page()).len() > 20);
    server.signal(Signal::TERM);
    let (_, said, _place) = server.ended();
    let bad = "\"A setting of metrics is not used\" error=\"namespaces: ";
    assert!(said.contains(bad), "{said}");
}

/// As a kubeconfig has what is in a file.
fn encoded(path: &std::path::Path) -> String {
    base64::prelude::BASE64_STANDARD.encode(std::fs::read(path).unwrap())
}

#[test]
fn numbers_over_tls_and_without_exemplars() {
    let folder = tempfile::tempdir().unwrap();
    let files = Certificates::make(folder.path());
    let flags = [
        "--metricsHost=127.0.0.1",
        "--metricsPort=0",
        "--metricsTLSSecretName=metrics-tls",
        "--exemplarFilter=always-off",
        "--debug-traces",
    ];
    let server = Program::serve(&flags);
    let (client, address) = (server.admin(), address(&server));
    let open_metrics = "Accept: application/openmetrics-text; version=1.0.0\r\n";
    let reader = json!({
        "clusters": [{"cluster": {
            "server": (format!("https://{address}")),
            "certificate-authority-data": (encoded(&files.ca)),
        }}],
        "users": [{"user": {
            "client-certificate-data": (encoded(&files.client_cert)),
            "client-key-data": (encoded(&files.client_key)),
        }}],
    });
    let reader = Client::new(&reader.to_string()).anonymous();
    let reader = reader.with_headers(open_metrics);
    assert!(reader.connect().is_err(), "there is no certificate yet");
    namespace(&client);
    let data = json!({
        "tls.crt": (encoded(&files.server_cert)),
        "tls.key": (encoded(&files.server_key)),
    });
    let secret =
        json!({"metadata": {"name": "metrics-tls"}, "type": "kubernetes.io/tls", "data": data});
    create(&client, "/api/v1/namespaces/kyverno/secrets", &secret);
    let mut page = String::new();
    until("it is shown", || {
        let answer = reader.try_send("GET", "/metrics", "");
        page = answer.map(|it| it.expect(200).body).unwrap_or_default();
        !page.is_empty()
    });
    let traced = "apiserver_request_duration_seconds_bucket{";
    assert!(page.contains(traced) && page.ends_with("# EOF\n"), "{page}");
    assert!(!page.contains("trace_id"), "{page}");
    // Who does not speak TLS gets nothing.
    let mut plain = TcpStream::connect(&address).unwrap();
    plain
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said);
    assert!(!String::from_utf8_lossy(&said).contains("apiserver_"));
}

#[test]
fn collectors_by_grpc_and_whom_to_believe_in_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = Certificates::make(folder.path());
    let secured = Secured {
        certificates: &certificates,
        clients: false,
    };
    let numbers = Collector::on(&Listen::Port, Some(&secured));
    let traces = Collector::start();
    let flags = [
        "--otelConfig=grpc".to_owned(),
        "--otelCollector=localhost".to_owned(),
        format!("--metricsPort={}", numbers.served.port()),
        "--transportCreds=metrics-ca".to_owned(),
        "--enableTracing".to_owned(),
        "--tracingAddress=127.0.0.1".to_owned(),
        format!("--tracingPort={}", traces.served.port()),
    ];
    let server = Program::serve(&flags);
    let client = server.admin();
    // Numbers are pushed, and nowhere to be read.
    client.get("/metrics").expect(404);
    until("each request is traced", || {
        traces.spans().iter().any(|it| it.name == "GET")
    });
    assert_eq!(numbers.connections(), 0, "nobody is believed yet");
    namespace(&client);
    let ca = std::fs::read(&certificates.ca).unwrap();
    let ca = base64::prelude::BASE64_STANDARD.encode(ca);
    let secret = json!({"metadata": {"name": "metrics-ca"}, "data": {"ca.pem": ca}});
    create(&client, "/api/v1/namespaces/kyverno/secrets", &secret);
    until("numbers arrive", || !numbers.numbers().is_empty());
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(
        said.contains("error=\"error fetching certificate from secret\""),
        "{said}"
    );
    let name = "apiserver_request_total{";
    assert!(numbers.numbers().keys().any(|it| it.starts_with(name)));
}

#[test]
fn no_numbers_and_flags_that_do_not_go_together() {
    let server = Program::serve(&[
        "--disableMetrics",
        "--metricsPort=0",
        "--enableTracing=false",
    ]);
    server.admin().get("/metrics").expect(404);
    let log = std::fs::read_to_string(server.place().join("stderr")).unwrap();
    assert!(!log.contains("metrics server"), "{log}");
    for (flags, expected) in [
        (
            vec!["--otelConfig=json"],
            "[possible values: prometheus, grpc]",
        ),
        (vec!["--metricsPort=70000"], "--metricsPort"),
        (
            vec!["--otelConfig=grpc", "--metricsPort=0"],
            "a collector has a port",
        ),
        (vec!["--tracingPort=0"], "0 is not in 1..=65535"),
        (
            vec!["--otelCollector=http://collector"],
            "without a scheme or a port",
        ),
        (
            vec!["--tracingAddress=collector:4317"],
            "without a scheme or a port",
        ),
        (
            vec!["--tracingCreds=no name"],
            "a lowercase RFC 1123 subdomain",
        ),
        (vec!["--enableTracing=perhaps"], "it is true or false"),
        (
            vec!["--enableTracing", "--tracing-config-file=x"],
            "both name a collector",
        ),
        (
            vec!["--logs-exporter=otlp"],
            "--logs-exporter otlp needs --tracing-config-file",
        ),
        (
            vec!["--metrics-exporter=otlp"],
            "--metrics-exporter otlp needs --tracing-config-file",
        ),
    ] {
        let mut all = vec!["serve", "--ephemeral"];
        all.extend(flags);
        let (ok, said) = run(&all);
        assert!(!ok && said.contains(expected), "{said}");
    }
}
