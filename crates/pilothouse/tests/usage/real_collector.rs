//! A receiver of another hand: the OTLP sink of `../shared/tools`, with Google's gRPC and protobuf.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use json::Value;

use crate::user::User;

struct Sink {
    child: Child,
    directory: tempfile::TempDir,
}

impl Drop for Sink {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Sink {
    fn start() -> Self {
        let script =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/tools/otlp_sink.py");
        let modules = "grpc, opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc";
        let python = testkit::python::with(modules);
        let directory = tempfile::tempdir().expect("a directory of our own");
        let path = |name| directory.path().join(name);
        let child = Command::new(python)
            .arg(script)
            .args(["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"])
            .arg("--out")
            .arg(path("out.jsonl"))
            .arg("--ready")
            .arg(path("ready"))
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 starts");
        Self { child, directory }
    }

    /// The content of a file, once it is there and whole.
    fn read(&self, name: &str, whole: impl Fn(&str) -> bool) -> String {
        let path: PathBuf = self.directory.path().join(name);
        let begun = Instant::now();
        loop {
            match std::fs::read_to_string(&path) {
                Ok(text) if whole(&text) => return text,
                _ => assert!(
                    begun.elapsed() < Duration::from_secs(120),
                    "{name} does not come"
                ),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[testkit::requires(otlp_sink, python_otlp_messages)]
#[test]
fn a_collector_of_another_hand_understands() {
    let sink = Sink::start();
    let ready = sink.read("ready", |it| it.ends_with('\n'));
    let port = |name: &str| {
        let mut parts = ready.split_whitespace();
        let found = parts.find_map(|it| it.strip_prefix(name)?.strip_prefix('='));
        found.expect("a port").to_owned()
    };
    let mut expected = 0;
    for (protocol, port, transport) in [
        ("http/protobuf", port("http"), "http-proto"),
        ("grpc", port("grpc"), "grpc"),
    ] {
        let mut user = User::new();
        user.write_app();
        user.set("KUSTOMIZE_EXPORT_METRICS", "otlp");
        user.set("OTEL_EXPORTER_OTLP_PROTOCOL", protocol);
        user.set(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            &format!("http://127.0.0.1:{port}"),
        );
        assert_eq!(user.run(&["build", "app"]).code, Some(0));
        // One of the build, four fields: name, literals, the list and the prefix.
        expected += 5;
        let text = sink.read("out.jsonl", |it| it.lines().count() >= expected);
        let points = text
            .lines()
            .map(|it| json::parse(it.as_bytes()).expect("JSON"));
        let points: Vec<Value> = points
            .filter(|it| it.str_at(&["transport"]) == Some(transport))
            .collect();
        assert_eq!(points.len(), 5, "{text}");
        for point in &points {
            assert_eq!(point.str_at(&["type"]), Some("sum"));
            let delta = "AGGREGATION_TEMPORALITY_DELTA";
            assert_eq!(point.str_at(&["temporality"]), Some(delta));
            assert_eq!(
                point.str_at(&["resource", "service.name"]),
                Some("pilothouse")
            );
        }
        let of = |field: &str| {
            let mut all = points.iter();
            let found = all.find(|it| it.str_at(&["attributes", "field"]) == Some(field));
            found.and_then(|it| it.get("value")).and_then(Value::as_i64)
        };
        assert_eq!(of("configMapGenerator"), Some(2));
        assert_eq!(of("namePrefix"), Some(1));
    }
}
