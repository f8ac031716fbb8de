//! A receiver of another hand: `otlp_sink.py` of `../shared/tools` beside the workspace, over Google's gRPC and OpenTelemetry's own messages.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use egress::tls::{self, Identity};
use rustls::pki_types::ServerName;
use telemetry::export::{Place, Protocol, Target, Tls};
use testkit::certificates::Certificates;

use crate::trace::{PATIENCE, Sender, report, settings};

/// A running sink, ended when dropped.
pub(crate) struct Sink {
    process: Child,
    grpc: u16,
    http: u16,
    out: PathBuf,
}

impl Drop for Sink {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn python() -> String {
    testkit::python::with("grpc, opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc")
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/tools/otlp_sink.py")
}

impl Sink {
    pub(crate) fn start(folder: &Path, name: &str, more: &[&str]) -> Self {
        let (out, ready) = (folder.join(name), folder.join(format!("{name}.ready")));
        let process = Command::new(python())
            .arg(script())
            .args(["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"])
            .arg("--out")
            .arg(&out)
            .arg("--ready")
            .arg(&ready)
            .args(more)
            .stderr(Stdio::null())
            .spawn()
            .expect("start the sink");
        let mut sink = Self {
            process,
            grpc: 0,
            http: 0,
            out,
        };
        let end = Instant::now() + PATIENCE;
        loop {
            let text = std::fs::read_to_string(&ready).unwrap_or_default();
            if let Some((grpc, http)) = text.trim().split_once(' ')
                && let (Some(grpc), Some(http)) =
                    (grpc.strip_prefix("grpc="), http.strip_prefix("http="))
                && let (Ok(grpc), Ok(http)) = (grpc.parse(), http.parse())
            {
                (sink.grpc, sink.http) = (grpc, http);
                return sink;
            }
            let gone = sink.process.try_wait().expect("ask for the sink");
            assert!(gone.is_none(), "the sink ended: {gone:?}");
            assert!(Instant::now() < end, "the sink is not ready");
            std::thread::yield_now();
        }
    }

    pub(crate) fn target(&self, protocol: Protocol) -> Target {
        let port = match protocol {
            Protocol::Grpc => self.grpc,
            Protocol::HttpProtobuf => self.http,
        };
        let place = Place::Tcp {
            host: "127.0.0.1".into(),
            port,
        };
        Target::new(place, protocol)
    }

    /// A line for each span, point or line that it took.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.out).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

#[testkit::requires(otlp_sink, python_otlp_messages)]
#[test]
fn a_foreign_receiver_understands_us() {
    let folder = tempfile::tempdir().unwrap();
    for (name, protocol, gzip) in [
        ("grpc", Protocol::Grpc, false),
        ("grpc-gzip", Protocol::Grpc, true),
        ("http", Protocol::HttpProtobuf, false),
        ("http-gzip", Protocol::HttpProtobuf, true),
    ] {
        let more = ["--fail", "1", "--require-header", "x-tenant=a"];
        let sink = Sink::start(folder.path(), name, &more);
        let mut target = sink.target(protocol);
        target.gzip = gzip;
        target.headers = vec![(
            http::HeaderName::from_static("x-tenant"),
            http::HeaderValue::from_static("a"),
        )];
        let sender = Sender::new(target, 1000, settings());
        assert!(sender.push(3));
        sender.settled();
        assert_eq!(sender.finish(PATIENCE), report(3, 0, 0), "{name}");
        let lines = sink.lines();
        assert_eq!(lines.len(), 3, "{name}");
        assert!(
            lines[0].contains(r#""service.name": "apiserver""#),
            "{}",
            lines[0]
        );
        assert!(lines[2].contains(r#""name": "span 3""#), "{}", lines[2]);
    }
}

#[testkit::requires(otlp_sink, python_otlp_messages)]
#[test]
fn a_foreign_receiver_takes_a_part() {
    let folder = tempfile::tempdir().unwrap();
    let sink = Sink::start(folder.path(), "reject", &["--reject", "2"]);
    for protocol in [Protocol::Grpc, Protocol::HttpProtobuf] {
        let sender = Sender::new(sink.target(protocol), 1000, settings());
        assert!(sender.push(5));
        assert_eq!(sender.finish(PATIENCE), report(3, 0, 2));
    }
}

#[testkit::requires(otlp_sink, python_otlp_messages)]
#[test]
fn a_foreign_receiver_with_tls() {
    let folder = tempfile::tempdir().unwrap();
    let files = Certificates::make(folder.path());
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let more = [
        "--cert".to_owned(),
        text(&files.server_cert),
        "--key".into(),
        text(&files.server_key),
        "--client-ca".into(),
        text(&files.ca),
    ];
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    let sink = Sink::start(folder.path(), "tls", &more);
    let read = |path: &PathBuf| std::fs::read(path).unwrap();
    let (certificate, key) = (read(&files.client_cert), read(&files.client_key));
    let identity = Identity {
        certificate: &certificate,
        key: &key,
    };
    let (ca, wrong) = (read(&files.ca), read(&files.wrong_ca));
    for protocol in [Protocol::Grpc, Protocol::HttpProtobuf] {
        for (bundle, identity, want) in [
            (&ca, Some(identity), report(1, 0, 0)),
            (&ca, None, report(0, 0, 1)),
            (&wrong, Some(identity), report(0, 0, 1)),
        ] {
            let config = tls::config(Some(bundle), identity, &[protocol.alpn()]);
            let mut target = sink.target(protocol);
            target.tls = Some(Tls {
                config: config.unwrap(),
                name: ServerName::try_from("127.0.0.1").unwrap(),
            });
            let sender = Sender::new(target, 1000, settings());
            assert!(sender.push(1));
            assert_eq!(sender.finish(PATIENCE), want, "{protocol:?}");
        }
    }
}
