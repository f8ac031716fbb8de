//! `--otlp-receiver`: spans of other programs, by our own exporter, and by OpenTelemetry's for Python.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use auth::token_file::StaticTokens;
use egress::tls;
use http::{HeaderName, HeaderValue};
use json::Value;
use pilothouse::kubeconfig::Trust;
use pilothouse::server::OtlpReceiver;
use rustls::pki_types::ServerName;
use telemetry::export::{Place, Protocol, Signal, Target, Tls, Transport};
use telemetry::otlp;
use telemetry::recent::Recent;

use crate::World;

const PATIENCE: Duration = Duration::from_secs(60);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

async fn world(plaintext: bool) -> (World, Arc<Recent>, SocketAddr) {
    let recent = Arc::new(Recent::new(4 << 20));
    let kept = recent.clone();
    let tokens = "sender-token,sender,1,senders\njoe-token,joe,2\n";
    let world = World::with(move |options| {
        options.recent = Some(kept);
        options.tokens = StaticTokens::parse(tokens).expect("tokens");
        options.otlp_receiver = Some(OtlpReceiver {
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            plaintext,
        });
    });
    let world = world.await;
    let address = world.server.otlp_address.expect("it receives");
    (world, recent, address)
}

/// Two spans, the second of them without ids.
fn message(span: &str) -> Vec<u8> {
    let text = format!(
        r#"{{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":{{"stringValue":"hook"}}}}]}},
        "scopeSpans":[{{"spans":[{{"traceId":"{TRACE}","spanId":"{span}","name":"review {span}","startTimeUnixNano":"1","endTimeUnixNano":"5"}},{{"name":"nobody"}}]}}]}}]}}"#
    );
    let value = json::parse(text.as_bytes()).expect("JSON");
    otlp::from_json(&value).expect("OTLP")
}

fn target(address: SocketAddr, protocol: Protocol) -> Target {
    let place = Place::Tcp {
        host: address.ip().to_string(),
        port: address.port(),
    };
    Target::new(place, protocol)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_own_exporter_is_understood() {
    let (world, recent, address) = world(true).await;
    let mut span = 0;
    for protocol in [Protocol::Grpc, Protocol::HttpProtobuf] {
        for gzip in [false, true] {
            let mut target = target(address, protocol);
            target.gzip = gzip;
            let transport = Transport::new(target);
            span += 1;
            let message = message(&format!("{span:016x}")).into();
            let outcome = transport.send(Signal::Traces, message, 2, PATIENCE).await;
            assert_eq!((outcome.accepted, outcome.rejected), (1, 1), "{outcome:?}");
            assert_eq!(
                outcome.said.as_deref(),
                Some("spans need a trace id and a span id")
            );
            // Other signals go elsewhere.
            for signal in [Signal::Metrics, Signal::Logs] {
                let outcome = transport.send(signal, Vec::new().into(), 1, PATIENCE).await;
                assert_eq!(outcome.rejected, 1, "{outcome:?}");
                let said = outcome.said.unwrap_or_default();
                assert!(said.contains("only traces are received here"), "{said}");
            }
            // What is wrong is refused, and what is too large.
            let large = vec![0_u8; 6 << 20].into();
            let outcome = transport.send(Signal::Traces, large, 1, PATIENCE).await;
            assert!(
                outcome
                    .said
                    .unwrap_or_default()
                    .contains("at most 4194304 bytes")
            );
            let broken = b"\x0a\x05abc"[..].into();
            let outcome = transport.send(Signal::Traces, broken, 1, PATIENCE).await;
            assert_eq!(outcome.rejected, 1);
        }
    }
    let numbers = recent.numbers();
    assert_eq!((numbers.received_spans, numbers.refused_spans), (4, 4));
    let path = format!("/debug/traces/{TRACE}");
    let found = world.client.get(&path).await.expect("a trace");
    assert_eq!(json::to_string(&found).matches("review").count(), 4);
}

/// With TLS: who sends is known, and must have the right to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn senders_need_a_right() {
    let (world, recent, address) = world(false).await;
    let role = json::json!({
        "metadata": {"name": "send-traces"},
        "rules": [{"verbs": ["post"], "nonResourceURLs": ["/v1/traces"]}],
    });
    let path = "/apis/rbac.authorization.k8s.io/v1";
    world.make(&format!("{path}/clusterroles"), role).await;
    let binding = json::json!({
        "metadata": {"name": "send-traces"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "send-traces"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "senders"}],
    });
    world
        .make(&format!("{path}/clusterrolebindings"), binding)
        .await;
    let trust = Trust::read(&world.server.kubeconfig).expect("a kubeconfig");
    for protocol in [Protocol::Grpc, Protocol::HttpProtobuf] {
        let send = async |token: &str, encrypted: bool| {
            let mut target = target(address, protocol);
            let bundle = trust.authorities.as_bytes();
            let config = tls::config(Some(bundle), None, &[protocol.alpn()]);
            target.tls = encrypted.then(|| Tls {
                config: config.expect("a bundle"),
                name: ServerName::from(address.ip()),
            });
            if !token.is_empty() {
                let value = format!("Bearer {token}");
                let value = HeaderValue::try_from(value).expect("a header");
                target.headers = vec![(HeaderName::from_static("authorization"), value)];
            }
            let message = message("0000000000000001").into();
            let transport = Transport::new(target);
            let outcome = transport.send(Signal::Traces, message, 2, PATIENCE);
            let outcome = outcome.await;
            (outcome.accepted, outcome.said.unwrap_or_default())
        };
        assert_eq!(send("sender-token", true).await.0, 1);
        let (accepted, said) = send("joe-token", true).await;
        assert_eq!(accepted, 0);
        assert!(
            said.contains("User \"joe\" cannot post path \"/v1/traces\""),
            "{said}"
        );
        let (accepted, said) = send("", true).await;
        assert_eq!(accepted, 0);
        assert!(said.contains("system:anonymous"), "{said}");
        let (accepted, said) = send("wrong", true).await;
        assert!(accepted == 0 && said.contains("Unauthorized"), "{said}");
    }
    assert_eq!(recent.numbers().received_spans, 2);
}

/// OTLP's JSON, and what is no OTLP at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_and_strangers() {
    let (_world, recent, address) = world(true).await;
    let url = format!("http://{address}").parse().expect("a URL");
    let trust = tls::Trust {
        roots: tls::Roots::System,
        identity: None,
        server_name: None,
    };
    let client = egress::http::Client::new(&url, &trust, PATIENCE).expect("a client");
    let send = async |method: &str, path: &str, headers: &[(&str, &str)], body: &str| {
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("http://{address}{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(bytes::Bytes::from(body.to_owned()));
        let answer = client.send(request.expect("a request")).await;
        let answer = answer.expect("an answer");
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        (answer.status.as_u16(), body)
    };
    let value = otlp::to_json(&message("0000000000000001")).expect("OTLP");
    let body = json::to_string(&value);
    let kind = ("content-type", "application/json; charset=utf-8");
    let said = r#"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"spans need a trace id and a span id"}}"#;
    let sent = send("POST", "/v1/traces", &[kind], &body).await;
    assert_eq!(sent, (200, said.to_owned()));
    assert_eq!(
        send("POST", "/v1/traces", &[kind], "{}").await,
        (200, "{}".to_owned())
    );
    for (method, path, headers, body, code, expected) in [
        (
            "POST",
            "/v1/traces",
            &[kind][..],
            "{",
            400,
            "unexpected end of JSON input",
        ),
        (
            "POST",
            "/v1/traces",
            &[kind],
            r#"{"resourceSpans":1}"#,
            400,
            "resourceSpans is not",
        ),
        (
            "POST",
            "/v1/metrics",
            &[kind],
            "{}",
            404,
            "neither metrics nor logs",
        ),
        ("POST", "/", &[kind], "{}", 404, "nothing else is here"),
        ("GET", "/v1/traces", &[kind], "", 405, "by POST"),
        (
            "POST",
            "/v1/traces",
            &[("content-type", "text/plain")],
            "{}",
            415,
            "are understood",
        ),
        ("POST", "/v1/traces", &[], "{}", 415, "are understood"),
        (
            "POST",
            "/v1/traces",
            &[kind, ("content-encoding", "br")],
            "{}",
            415,
            "gzip and identity",
        ),
        (
            "POST",
            "/v1/traces",
            &[kind, ("content-encoding", "gzip")],
            "{}",
            400,
            "is not gzip",
        ),
    ] {
        let (found, said) = send(method, path, headers, body).await;
        assert!(
            found == code && said.contains(expected),
            "{path}: {found} {said}"
        );
    }
    assert_eq!(recent.numbers().received_spans, 1);
}

/// A program with OpenTelemetry's SDK, as a webhook may be.
const SENDER: &str = r#"
import sys
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Grpc
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Http
from opentelemetry.exporter.otlp.proto.http import Compression
address = sys.argv[1]
exporters = [
    Grpc(endpoint=address, insecure=True),
    Http(endpoint="http://" + address + "/v1/traces", compression=Compression.Gzip),
]
provider = TracerProvider(resource=Resource.create({"service.name": "python-hook"}))
for exporter in exporters:
    provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = provider.get_tracer("test", "1.0")
with tracer.start_as_current_span("outer") as outer:
    outer.set_attribute("numbers", [1, 2])
    with tracer.start_as_current_span("inner") as inner:
        inner.add_event("thought", {"about": "it"})
        inner.record_exception(ValueError("no"))
    print(format(outer.get_span_context().trace_id, "032x"))
provider.shutdown()
"#;

#[testkit::requires(python_otlp_exporters)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opentelemetry_for_python_is_understood() {
    let modules = "opentelemetry.sdk.trace, opentelemetry.exporter.otlp.proto.grpc, opentelemetry.exporter.otlp.proto.http";
    let python = testkit::python::with(modules);
    let (world, _recent, address) = world(true).await;
    let run = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(python);
        command
            .args(["-c", SENDER])
            .arg(address.to_string())
            .output()
    });
    let output = run.await.expect("no panic").expect("python");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // Both exporters sent the same: each span is there once.
    let found = world.client.get(&format!("/debug/traces/{id}")).await;
    let found = otlp::from_json(&found.expect("a trace")).expect("OTLP");
    let found = otlp::request(&found).expect("OTLP");
    let spans: Vec<_> = found.iter().flat_map(|it| &it.spans).collect();
    let mut names: Vec<_> = spans.iter().map(|it| &*it.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["inner", "outer"]);
    let inner = spans
        .iter()
        .find(|it| it.name == "inner")
        .expect("it is there");
    let events: Vec<_> = inner.events.iter().map(|it| &*it.name).collect();
    assert_eq!(events, ["thought", "exception"]);
    let list = world
        .client
        .get("/debug/traces?attribute=service.name%3Dpython-hook")
        .await;
    let list = list.expect("a list");
    let count = list.at(&["traces"]).and_then(Value::as_array).map(Vec::len);
    assert_eq!(count, Some(1), "{list}");
}
