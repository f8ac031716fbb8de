//! A collector of another hand, if there is one: `$OTELCOL`, or `otelcol` or `otelcol-contrib` from the path.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use http::Method;
use json::json;
use pilothouse::tracing::Tracing;
use telemetry::config::Environment;

use crate::{World, admin, ask};

const PATIENCE: Duration = Duration::from_secs(60);

fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("OTELCOL") {
        return Some(named.into());
    }
    let paths = std::env::var_os("PATH")?;
    let mut all = std::env::split_paths(&paths)
        .flat_map(|it| ["otelcol", "otelcol-contrib"].map(|name| it.join(name)));
    all.find(|it| it.is_file())
}

/// Gone when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Listens on a socket in the folder, and writes what it takes to a file there.
fn start(program: &Path, folder: &Path) -> Running {
    let config = json!({
        "receivers": {"otlp": {"protocols": {"grpc": {
            "endpoint": (folder.join("otel.sock").display().to_string()),
            "transport": "unix",
        }}}},
        "exporters": {"debug": {"verbosity": "detailed"}},
        "service": {
            "telemetry": {"metrics": {"level": "none"}},
            "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["debug"]}},
        },
    });
    let path = folder.join("otelcol.yaml");
    std::fs::write(&path, json::to_vec(&config)).expect("a file");
    let log = File::create(folder.join("log")).expect("a file");
    let mut command = Command::new(program);
    command
        .arg("--config")
        .arg(path)
        .stdout(Stdio::null())
        .stderr(log);
    Running(command.spawn().expect("start the collector"))
}

#[testkit::requires(otelcol)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_collector_takes_what_is_sent() {
    let program = program().expect("otelcol in PATH or $OTELCOL");
    let folder = tempfile::tempdir().expect("a directory");
    let mut collector = start(&program, folder.path());
    let file = folder.path().join("tracing.yaml");
    let config = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: unix://{}\n\
         samplingRatePerMillion: 1000000\n",
        folder.path().join("otel.sock").display()
    );
    std::fs::write(&file, config).expect("a file");
    let none = egress::Selector::default();
    let tracing =
        Tracing::start(&file, Environment::default(), none, "test", None).expect("tracing");
    let tracer = tracing.tracer.clone();
    let world = World::with(|options| options.tracer = tracer).await;
    let maps = (Method::POST, "/api/v1/namespaces/default/configmaps");
    let json = [("content-type", "application/json")];
    let map = json!({"metadata": {"name": "m"}});
    let made = ask(&world, &admin(), maps, &json, &map).await;
    let timing = made.headers().get("server-timing").expect("a trace");
    let timing = timing.to_str().expect("text");
    let trace = timing.split('-').nth(1).expect("its id");

    let deadline = Instant::now() + PATIENCE;
    let id = format!("Trace ID       : {trace}");
    let said = loop {
        let said = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        if said.contains(&id) {
            break said;
        }
        let ended = collector.0.try_wait().expect("its state");
        assert!(ended.is_none(), "{ended:?}: {said}");
        assert!(Instant::now() < deadline, "no {trace} in {said}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    for part in [
        "service.name: Str(apiserver)",
        "InstrumentationScope k8s.io/component-base/tracing",
        "Name           : POST /api/v1/namespaces/{:namespace}/configmaps",
        "Name           : store.commit",
        "batch.size: Int(1)",
        "Name: Write to database call succeeded",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    let report = tracing.stop(crate::FLUSH).await;
    assert_eq!((report.dropped, report.failed), (0, 0));
}
