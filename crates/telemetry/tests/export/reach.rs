//! All the ways to a collector: protocols, TLS, sockets, headers, proxies, Services.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use egress::Selector;
use telemetry::config::{Environment, Follow};
use telemetry::export::{End, Place, Protocol, Signal, Target, send_once};
use testkit::certificates::Certificates;
use testkit::collector::{Collector, Listen, Secured, otlp};
use testkit::proxy::Proxy;

use crate::trace::{PATIENCE, Sender, report, settings, tcp};

/// What a file says of a collector comes to.
fn read(folder: &Path, body: &str, egress: Selector) -> Result<Target, String> {
    let path = folder.join("tracing.yaml");
    let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n";
    std::fs::write(&path, format!("{head}{body}")).unwrap();
    let followed = Follow::open(&path, Environment::default(), egress);
    let (_, tracing) = followed.map_err(|error| error.to_string())?;
    Ok(tracing.target)
}

/// Sends one span; why it did not arrive.
fn send(target: Target) -> Result<(), String> {
    let sender = Sender::new(target, 10, settings());
    assert!(sender.push(1));
    // What cannot be reached is tried for long: its end is the end of all.
    let reached = sender.finish(PATIENCE);
    if reached == report(1, 0, 0) {
        return Ok(());
    }
    assert_eq!(reached, report(0, 0, 1));
    Err("it did not arrive".into())
}

#[test]
fn who_sends_is_said_in_every_message() {
    let collector = Collector::start();
    send(tcp(&collector, Protocol::Grpc)).unwrap();
    let received = collector.received();
    assert_eq!(
        received[0].path,
        "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
    );
    let message = otlp_message(&received[0].message);
    let resource = message.resource_spans[0].resource.as_ref().unwrap();
    let texts = otlp::texts(&resource.attributes);
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let want = [
        pair("service.name", "apiserver"),
        pair("service.instance.id", "test"),
        pair("deployment", "a"),
    ];
    assert_eq!(texts, want);
    assert_eq!(collector.spans()[0].name, "span 1");
}

fn otlp_message(bytes: &[u8]) -> otlp::TracesRequest {
    testkit::collector::decode(bytes)
}

#[test]
fn compressed_and_with_headers() {
    for protocol in [Protocol::Grpc, Protocol::HttpProtobuf] {
        let collector = Collector::start();
        collector.behave(|it| it.require = Some(("x-tenant", "a")));
        let mut target = tcp(&collector, protocol);
        target.gzip = true;
        assert!(send(target.clone()).is_err());
        target.headers = vec![(
            http::HeaderName::from_static("x-tenant"),
            http::HeaderValue::from_static("a"),
        )];
        send(target).unwrap();
        assert_eq!(collector.spans().len(), 1);
    }
}

#[test]
fn sockets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("otel.sock");
    let on_path = Collector::on(&Listen::Socket(path.clone()), None);
    let body = format!("endpoint: unix://{}\n", path.display());
    send(read(folder.path(), &body, Selector::default()).unwrap()).unwrap();
    assert_eq!(on_path.spans().len(), 1);
    // Of a name that nobody else has.
    let name = format!("pilothouse-test{}", path.display());
    let on_name = Collector::on(&Listen::Socket(format!("\0{name}").into()), None);
    let body = format!("endpoint: unix-abstract://{name}\nprotocol: http/protobuf\n");
    send(read(folder.path(), &body, Selector::default()).unwrap()).unwrap();
    assert_eq!(on_name.received()[0].path, "/v1/traces");
}

#[test]
fn tls_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = Certificates::make(folder.path());
    for protocol in ["grpc", "http/protobuf"] {
        let secured = |clients| Secured {
            certificates: &certificates,
            clients,
        };
        let one_way = Collector::on(&Listen::Port, Some(&secured(false)));
        let both_ways = Collector::on(&Listen::Port, Some(&secured(true)));
        let target = |port: u16, tls: &[(&str, &str)]| {
            let mut body = format!("endpoint: 127.0.0.1:{port}\nprotocol: {protocol}\ntls:\n");
            for (key, value) in tls {
                writeln!(body, "  {key}: {value}").unwrap();
            }
            read(folder.path(), &body, Selector::default()).unwrap()
        };
        let ca = ("caBundle", certificates.ca.to_str().unwrap());
        let cert = ("clientCert", certificates.client_cert.to_str().unwrap());
        let key = ("clientKey", certificates.client_key.to_str().unwrap());
        let wrong = ("caBundle", certificates.wrong_ca.to_str().unwrap());
        let (one, both) = (one_way.served.port(), both_ways.served.port());
        send(target(one, &[ca])).unwrap();
        send(target(one, &[ca, ("serverName", "localhost")])).unwrap();
        send(target(both, &[ca, cert, key])).unwrap();
        assert!(send(target(one, &[wrong])).is_err());
        assert!(send(target(one, &[ca, ("serverName", "other.example")])).is_err());
        assert!(send(target(both, &[ca])).is_err());
        assert_eq!((one_way.spans().len(), both_ways.spans().len()), (2, 1));
    }
}

#[test]
fn through_proxies() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = Certificates::make(folder.path());
    let secured = Secured {
        certificates: &certificates,
        clients: true,
    };
    let socket = folder.path().join("proxy.sock");
    let plain = Proxy::on(&Listen::Port, None);
    let tls = Proxy::on(&Listen::Port, Some(&secured));
    let unix = Proxy::on(&Listen::Socket(socket.clone()), None);
    let ways = [
        (
            &plain,
            format!(
                "{{tcp: {{url: 'http://127.0.0.1:{}'}}}}",
                plain.served.port()
            ),
        ),
        (
            &tls,
            format!(
                "{{tcp: {{url: 'https://127.0.0.1:{}', tlsConfig: {{caBundle: {}, clientCert: {}, clientKey: {}}}}}}}",
                tls.served.port(),
                certificates.ca.display(),
                certificates.client_cert.display(),
                certificates.client_key.display()
            ),
        ),
        (&unix, format!("{{uds: {{udsName: {}}}}}", socket.display())),
    ];
    for (proxy, transport) in ways {
        let selector = format!(
            "apiVersion: apiserver.k8s.io/v1alpha1\nkind: EgressSelectorConfiguration\negressSelections:\n\
             - name: master\n  connection: {{proxyProtocol: HTTPConnect, transport: {transport}}}\n"
        );
        let selector = Selector::parse(selector.as_bytes()).unwrap();
        // HTTP/2 without TLS: the collector speaks first, right behind the proxy's answer.
        for protocol in ["grpc", "http/protobuf"] {
            let collector = Collector::start();
            let body = format!(
                "endpoint: localhost:{}\nprotocol: {protocol}\n",
                collector.served.port()
            );
            let target = read(folder.path(), &body, selector.clone()).unwrap();
            send(target).unwrap();
            assert_eq!(collector.spans().len(), 1);
            let asked = proxy.asked();
            assert_eq!(
                asked.last(),
                Some(&format!("localhost:{}", collector.served.port()))
            );
        }
    }
    let direct = Collector::start();
    send(tcp(&direct, Protocol::Grpc)).unwrap();
    assert_eq!(plain.asked().len(), 2);
}

#[test]
fn a_service_of_the_cluster() {
    let collector = Collector::start();
    let place = Place::Service {
        namespace: "monitoring".into(),
        name: "otel".into(),
        port: 4317,
    };
    let sender = Sender::new(Target::new(place, Protocol::Grpc), 10, settings());
    let port = collector.served.port();
    sender
        .transport
        .resolve_services(Arc::new(move |namespace, name, asked| {
            assert_eq!((namespace, name, asked), ("monitoring", "otel", 4317));
            Ok(("127.0.0.1".into(), port))
        }));
    assert!(sender.push(1));
    assert_eq!(sender.finish(PATIENCE), report(1, 0, 0));
}

#[test]
fn another_collector_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = Certificates::make(folder.path());
    let secured = Secured {
        certificates: &certificates,
        clients: true,
    };
    let (first, second) = (
        Collector::start(),
        Collector::on(&Listen::Port, Some(&secured)),
    );
    let sender = Sender::new(tcp(&first, Protocol::Grpc), 10, settings());
    assert!(sender.push(1));
    first.wait_for(1);
    sender.settled();
    let body = format!(
        "endpoint: 127.0.0.1:{}\ntls: {{caBundle: {}, clientCert: {}, clientKey: {}}}\n",
        second.served.port(),
        certificates.ca.display(),
        certificates.client_cert.display(),
        certificates.client_key.display()
    );
    let target = read(folder.path(), &body, Selector::default());
    sender.transport.replace(target.unwrap());
    assert!(sender.push(2));
    second.wait_for(1);
    sender.settled();
    assert_eq!(sender.finish(PATIENCE), report(3, 0, 0));
    assert_eq!((first.spans().len(), second.spans().len()), (1, 2));
}

#[test]
fn once_and_blocking() {
    let collector = Collector::start();
    let target = tcp(&collector, Protocol::Grpc);
    let message = b"\x0a\x00".to_vec();
    let sent = send_once(
        target.clone(),
        Signal::Metrics,
        message.clone(),
        3,
        PATIENCE,
    );
    assert_eq!((sent.accepted, sent.rejected, sent.said), (3, 0, None));
    assert_eq!(sent.end, End::Taken);
    let path = &collector.received()[0].path;
    assert_eq!(
        path,
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
    );
    collector.behave(|it| it.hold = true);
    let short = Duration::from_millis(50);
    let sent = send_once(target.clone(), Signal::Metrics, message.clone(), 3, short);
    assert_eq!((sent.accepted, sent.rejected, sent.end), (0, 3, End::Lost));
    // Nor is there a second attempt.
    collector.behave(|it| (it.hold, it.fail) = (false, 1));
    let once = || {
        let sent = send_once(
            target.clone(),
            Signal::Metrics,
            message.clone(),
            3,
            PATIENCE,
        );
        sent.end
    };
    assert_eq!(once(), End::Lost);
    collector.behave(|it| it.refuse = true);
    assert_eq!(once(), End::Refused);
}
