//! Traces that leave the program, and the ways on which it reaches others.

use rustix::process::Signal;
use testkit::certificates::Certificates;
use testkit::collector::{Collector, Listen, Secured, otlp};

use super::program::{Program, run, until};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const HEAD: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n";
const FIRST_HEAD: &str =
    "apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: OpenTelemetryClientConfiguration\n";

/// The numbers in `traces: spans 1 exported, 2 dropped, 3 failed`.
fn told(said: &str) -> (u64, u64, u64) {
    let line = said.lines().find(|it| it.starts_with("traces: spans "));
    let line = line.unwrap_or_else(|| panic!("nothing is said of traces: {said}"));
    let numbers: Vec<u64> = line.split(' ').filter_map(|it| it.parse().ok()).collect();
    (numbers[0], numbers[1], numbers[2])
}

#[test]
fn traces_arrive_the_file_is_followed_and_the_end_tells() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = Certificates::make(folder.path());
    let secured = Secured {
        certificates: &certificates,
        clients: true,
    };
    let first = Collector::start();
    let second = Collector::on(&Listen::Port, Some(&secured));
    let file = folder.path().join("tracing.yaml");
    let endpoint = format!("endpoint: 127.0.0.1:{}\n", first.served.port());
    let all = "samplingRatePerMillion: 1000000\n";
    std::fs::write(&file, format!("{HEAD}{endpoint}{all}")).unwrap();
    let server = Program::serve(&["--tracing-config-file", file.to_str().unwrap()]);
    let client = server.admin();
    client.get(MAPS).expect(200);
    let name = "GET /api/v1/namespaces/{:namespace}/configmaps";
    let arrived = |collector: &Collector| collector.spans().iter().any(|it| it.name == name);
    until("a trace arrives", || arrived(&first));
    let message = testkit::collector::decode(&first.received()[0].message);
    let resource = message.resource_spans[0].resource.clone().unwrap();
    let resource = otlp::texts(&resource.attributes);
    assert_eq!(resource[0], ("service.name".into(), "apiserver".into()));
    let (key, instance) = &resource[1];
    assert!(key == "service.instance.id" && instance.starts_with("apiserver-"));
    // Another collector, with certificates, while it runs.
    let endpoint = format!(
        "url: https://localhost:{}/v1/traces\nprotocol: http/protobuf\ntls: {{caBundle: {}, clientCert: {}, clientKey: {}}}\n",
        second.served.port(),
        certificates.ca.display(),
        certificates.client_cert.display(),
        certificates.client_key.display()
    );
    std::fs::write(&file, format!("{FIRST_HEAD}{endpoint}{all}")).unwrap();
    until("a trace arrives elsewhere", || {
        client.get(MAPS).expect(200);
        arrived(&second)
    });
    assert_eq!(second.received()[0].path, "/v1/traces");
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    let spans = first.spans().len() + second.spans().len();
    assert_eq!(told(&said), (spans as u64, 0, 0), "{said}");
    assert!(said.contains("The file changed and is in use"), "{said}");
}

#[test]
fn a_collector_that_is_not_there_holds_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("client.yaml");
    let socket = folder.path().join("none.sock");
    let body = format!(
        "url: unix://{}\nsamplingRatePerMillion: 1000000\n",
        socket.display()
    );
    std::fs::write(&file, format!("{FIRST_HEAD}{body}")).unwrap();
    let server = Program::serve(&["--opentelemetry-config-file", file.to_str().unwrap()]);
    server.admin().get(MAPS).expect(200);
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    let (exported, _, failed) = told(&said);
    assert!(exported == 0 && failed > 0, "{said}");
}

#[test]
fn mistakes_in_files_are_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.yaml");
    let path = file.to_str().unwrap();
    for (flag, text, expected) in [
        (
            "--tracing-config-file",
            format!("{HEAD}endpont: x\n"),
            "unable to decode tracing configuration data: strict decoding error: unknown field \"endpont\"",
        ),
        (
            "--tracing-config-file",
            format!("{HEAD}endpoint: http://x:1\n"),
            "failed to validate tracing configuration: endpoint: Invalid value: \"http://x:1\": unsupported scheme: http.",
        ),
        (
            "--egress-selector-config-file",
            "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections: [{name: a, connection: {proxyProtocol: Direct}}]\n".to_owned(),
            "failed to validate egress selector configuration: service.connection: Unsupported value: \"a\"",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let (ok, said) = run(&["serve", "--ephemeral", flag, path]);
        assert!(!ok && said.contains(expected), "{said}");
    }
}
