//! What is counted reaches whoever is named, and nobody else: real requests to a receiver that decodes them.

use std::fs;

use http::StatusCode;
use testkit::receiver::{Certificates, Receiver, otlp};
use usage::{Error, Sent};

use crate::world::World;

#[test]
fn otlp_over_http_arrives() {
    let receiver = Receiver::start();
    let mut world = World::new();
    world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url());
    world.set("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b");
    assert!(world.record());
    assert!(world.record());
    assert!(matches!(world.send(), Ok(Sent::Payloads(2))));
    let received = receiver.wait(1);
    assert_eq!(received.len(), 1, "one request for all that waits");
    let it = &received[0];
    assert_eq!((&*it.method, &*it.path), ("POST", "/v1/metrics"));
    assert_eq!(it.header("content-type"), "application/x-protobuf");
    assert_eq!(it.header("api-key"), "a b");
    let export = otlp::read(it);
    let sums: Vec<_> = export.sums().into_iter().collect();
    let wanted = [
        (
            "kustomize.builds{outcome=success,duration=10-100ms,resources=10-99}",
            2,
        ),
        ("kustomize.fields{field=configMapGenerator.literals}", 2),
        ("kustomize.fields{field=configMapGenerator}", 4),
        ("kustomize.plugins{plugin=HashTransformer}", 2),
    ];
    let wanted: Vec<_> = wanted.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
    assert_eq!(sums, wanted);
    assert_eq!(
        export.resource(),
        format!(
            "service.name=pilothouse,service.version={},os.type={},host.arch={}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS.replace("macos", "darwin"),
            std::env::consts::ARCH
                .replace("x86_64", "amd64")
                .replace("aarch64", "arm64")
        )
    );
    let metric = &export.resource_metrics[0].scope_metrics[0].metrics[0];
    let sum = metric.sum.as_ref().expect("a sum");
    assert_eq!((sum.aggregation_temporality, sum.is_monotonic), (1, true));
    let point = &sum.data_points[0];
    assert_eq!(point.time_unix_nano % 3_600_000_000_000, 0, "to the hour");
    assert!(point.start_time_unix_nano < point.time_unix_nano);
    assert!(matches!(world.send(), Ok(Sent::Nothing)));
}

#[test]
fn grpc_and_gzip_say_the_same() {
    let receiver = Receiver::start();
    let mut world = World::new();
    world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url());
    world.set("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc");
    world.record();
    assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
    let it = &receiver.wait(1)[0];
    assert_eq!(
        it.path,
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
    );
    assert_eq!(otlp::read(it).sums().len(), 4);

    world.set("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json");
    world.record();
    let error = world.send().expect_err("it is not supported").to_string();
    assert!(error.contains("it is grpc or http/protobuf"), "{error}");
    assert!(world.state().contains("(1 waiting, 0 lost)"));
    world.set("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "");
    world.set("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
    let it = &receiver.wait(2)[1];
    assert_eq!(it.header("content-encoding"), "gzip");
    let sums = otlp::read(it).sums();
    assert_eq!(sums.len(), 4);
    let shown = world.show();
    let last = shown.split("# what was sent last\n").nth(1);
    let last = last.expect("the last");
    assert_eq!(last.matches("asInt").count(), 4);
    for sum in sums.keys() {
        let words = sum.split(['{', '}', '=', ',']).filter(|it| !it.is_empty());
        for word in words {
            assert!(last.contains(&format!("\"{word}\"")), "{word} in {last}");
        }
    }
}

#[test]
fn tls_asks_for_certificates_on_both_sides() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let certificates = Certificates::make(dir.path());
    let receiver = Receiver::with_tls(&certificates);
    let path = |it: &std::path::Path| it.to_str().expect("UTF-8").to_owned();
    for protocol in ["http/protobuf", "grpc"] {
        let mut world = World::new();
        let url = format!("https://{}", receiver.address);
        world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
        world.set("OTEL_EXPORTER_OTLP_PROTOCOL", protocol);
        world.record();
        let later = |world: &World| matches!(world.send(), Err(Error::Later(_)));
        assert!(later(&world), "the system does not know this authority");
        let ca = "OTEL_EXPORTER_OTLP_CERTIFICATE";
        world.set(ca, &path(&certificates.wrong_ca));
        assert!(later(&world));
        world.set(ca, &path(&certificates.ca));
        assert!(later(&world), "it wants to know who we are");
        let certificate = path(&certificates.client_cert);
        world.set("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", &certificate);
        let key = path(&certificates.client_key);
        world.set("OTEL_EXPORTER_OTLP_CLIENT_KEY", &key);
        let sent = world.send();
        assert!(matches!(sent, Ok(Sent::Payloads(1))), "{sent:?}");
    }
    assert_eq!(receiver.received().len(), 2);
}

#[test]
fn what_is_not_taken_waits_and_what_is_refused_is_lost() {
    let receiver = Receiver::answering(|it| {
        let status = match it.header("say") {
            "busy" => StatusCode::SERVICE_UNAVAILABLE,
            "no" => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        (status, bytes::Bytes::new())
    });
    for protocol in ["http/protobuf", "grpc"] {
        let mut world = World::new();
        world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url());
        world.set("OTEL_EXPORTER_OTLP_PROTOCOL", protocol);
        world.set("OTEL_EXPORTER_OTLP_HEADERS", "say=busy");
        assert!(world.record());
        assert!(matches!(world.send(), Err(Error::Later(_))));
        assert!(!world.record(), "nobody tries again so soon");
        world.set("OTEL_EXPORTER_OTLP_HEADERS", "say=no");
        assert!(matches!(world.send(), Err(Error::Refused(_))));
        assert!(world.state().contains("(0 waiting, 2 lost)"));
        world.set("OTEL_EXPORTER_OTLP_HEADERS", "say=yes");
        world.record();
        assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
        let received = receiver.received();
        let sums = otlp::read(received.last().expect("one")).sums();
        assert_eq!(sums["kustomize.usage.lost{}"], 2);
        assert!(world.state().contains("(0 waiting, 0 lost)"));
    }
}

#[test]
fn what_a_collector_rejects_is_lost() {
    // partial_success { rejected_data_points: 3 }
    let answer = bytes::Bytes::from_static(b"\x0a\x02\x08\x03");
    let receiver = Receiver::answering(move |_| (StatusCode::OK, answer.clone()));
    let mut world = World::new();
    world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url());
    world.record();
    assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
    assert!(world.state().contains("1 lost"));
}

#[test]
fn a_directory_gets_a_file() {
    let mut world = World::new();
    let out = world.home().join("out");
    let export = format!("file:{}", out.display());
    world.set("KUSTOMIZE_EXPORT_METRICS", &export);
    world.record();
    assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
    let files: Vec<_> = fs::read_dir(&out).expect("a directory").collect();
    assert_eq!(files.len(), 1);
    let path = files[0].as_ref().expect("a file").path();
    let text = fs::read_to_string(path).expect("its text");
    assert!(text.contains("configMapGenerator"));
}

#[test]
fn whoever_changes_their_mind_leaves_nothing_behind() {
    let mut world = World::new();
    world.set("KUSTOMIZE_EXPORT_METRICS", "file:/nowhere");
    world.record();
    let places = world.places();
    usage::config::set(&places, "KUSTOMIZE_EXPORT_METRICS=none").expect("set");
    assert!(world.state().contains("(0 waiting"));
    world.set("KUSTOMIZE_EXPORT_METRICS", "");
    assert!(!world.record());
    assert!(matches!(world.send(), Ok(Sent::Off(_))));
    assert!(world.state().contains("recording: off"));
}

#[test]
fn nobody_there_is_no_reason_to_lose_anything() {
    let receiver = Receiver::start();
    let url = receiver.url();
    drop(receiver);
    let mut world = World::new();
    world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &url);
    world.record();
    assert!(matches!(world.send(), Err(Error::Later(_))));
    assert!(world.state().contains("(1 waiting, 0 lost)"));
}

#[test]
fn one_attends_to_what_builds_add() {
    let receiver = Receiver::start();
    let mut world = World::new();
    world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url());
    assert!(world.record(), "nobody is there");
    let (mut pauses, mut received) = (0, Vec::new());
    world.attend(|| {
        pauses += 1;
        received.push(receiver.received().len());
        match pauses {
            1 => {
                assert!(!world.record(), "somebody is there");
                assert!(!world.record());
                world.attend(|| panic!("there is one"));
            }
            // One whom the user starts takes it from the one that waits.
            3 => {
                assert!(!world.record());
                assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
            }
            _ => {}
        }
    });
    assert_eq!(received[..4], [1, 2, 2, 3], "at once, and after each pause");
    assert_eq!(pauses, 27, "five seconds without a build, and it is over");
    assert!(world.state().contains("(0 waiting, 0 lost)"));
    assert!(world.record(), "nobody is there");
}

#[test]
fn whoever_attends_leaves_when_it_cannot_send_or_must_not() {
    let mut world = World::new();
    world.attend(|| panic!("there is no destination"));
    let nobody = Receiver::start().url();
    world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &nobody);
    world.record();
    world.attend(|| panic!("it cannot be sent"));
    assert!(world.state().contains("(1 waiting, 0 lost)"));

    let mut world = World::new();
    let out = world.home().join("out");
    let export = format!("file:{}", out.display());
    let places = world.places();
    usage::config::set(&places, &format!("KUSTOMIZE_EXPORT_METRICS={export}")).expect("set");
    world.record();
    let mut pauses = 0;
    world.attend(|| {
        pauses += 1;
        if pauses == 1 {
            world.record();
            usage::config::set(&places, "KUSTOMIZE_EXPORT_METRICS=none").expect("set");
        }
    });
    assert_eq!(fs::read_dir(&out).expect("a directory").count(), 1);
    world.set("KUSTOMIZE_EXPORT_METRICS", "none");
    world.attend(|| panic!("it is not wanted"));
}

#[test]
fn nobody_gets_what_was_counted_for_somebody_else() {
    let (one, two) = (Receiver::start(), Receiver::start());
    let mut world = World::new();
    world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &one.url());
    world.record();
    world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &two.url());
    assert!(world.state().contains("(0 waiting"));
    world.record();
    assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
    assert!(matches!(world.send(), Ok(Sent::Nothing)));
    assert_eq!((one.received().len(), two.received().len()), (0, 1));
    world.set("OTEL_EXPORTER_OTLP_ENDPOINT", &one.url());
    assert!(matches!(world.send(), Ok(Sent::Payloads(1))));
}
