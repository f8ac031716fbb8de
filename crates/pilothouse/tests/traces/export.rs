//! All requests recorded, by many clients at once: at a collector every trace arrives once and whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Method;
use json::json;
use pilothouse::tracing::Tracing;
use telemetry::config::Environment;
use testkit::collector::Collector;

use crate::{World, admin, ask};

const CLIENTS: usize = 8;
const REQUESTS: usize = 25;
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost() {
    let collector = Collector::start();
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("tracing.yaml");
    let port = collector.served.port();
    let config = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: 127.0.0.1:{port}\n\
         samplingRatePerMillion: 1000000\n"
    );
    std::fs::write(&file, config).expect("a file");
    let environment = Environment::default();
    let tracing = Tracing::start(
        &file,
        environment,
        egress::Selector::default(),
        "test",
        None,
    );
    let tracing = tracing.expect("tracing");
    let tracer = tracing.tracer.clone();
    let world = Arc::new(World::with(|options| options.tracer = tracer.clone()).await);
    let clients = (0..CLIENTS).map(|client| {
        let world = world.clone();
        tokio::spawn(async move {
            let json = [("content-type", "application/json")];
            for index in 0..REQUESTS {
                let map = json!({"metadata": {"name": (format!("m{client}-{index}"))}});
                let what = (Method::POST, MAPS);
                let made = ask(&world, &admin(), what, &json, &map).await;
                assert_eq!(made.status(), 201);
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.expect("no panic");
    }
    tracer.set(None);
    let deadline = Instant::now() + Duration::from_secs(60);
    while tracer.queue().numbers().waiting() > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let report = tracing.stop(crate::FLUSH).await;
    let numbers = tracer.queue().numbers();
    assert_eq!((report.dropped, report.failed), (0, 0));
    assert_eq!(report.exported, numbers.created);
    let mut traces: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for span in collector.spans() {
        traces.entry(span.trace_id.clone()).or_default().push(span);
    }
    assert_eq!(
        traces.values().map(|it| it.len() as u64).sum::<u64>(),
        numbers.created
    );
    let root = "POST /api/v1/namespaces/{:namespace}/configmaps";
    let creates = traces
        .values()
        .filter(|it| it.iter().any(|it| it.name == root));
    let creates: Vec<_> = creates.collect();
    assert_eq!(creates.len(), CLIENTS * REQUESTS);
    for spans in creates {
        let ids: BTreeSet<_> = spans.iter().map(|it| &it.span_id).collect();
        assert_eq!(ids.len(), spans.len());
        for span in spans {
            let is_root = span.parent_span_id.is_empty();
            assert_eq!(is_root, span.name == root);
            assert!(
                is_root || ids.contains(&span.parent_span_id),
                "{}",
                span.name
            );
        }
        assert!(spans.iter().any(|it| it.name == "store.commit"));
    }
}
