//! Looks for what tests need and not every machine has, and says how to get what is missing.
//!
//! A reason with `Debian:` in it names the package; CI fails when a test was ignored for such a reason.

mod look;
mod podman;

use std::env;
use std::fs;
use std::path::Path;

use look::{Outcome, address, file, program, program_or_variable, python};

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed=PATH");
    let debian = |package: &str| format!("Debian: apt-get install {package}");
    let facts: Vec<(&str, Outcome)> = vec![
        ("etcd", program_or_variable("etcd", &debian("etcd-server"))),
        ("kubectl", look::kubectl(&debian("kubernetes-client"))),
        (
            "prometheus",
            program_or_variable("prometheus", &debian("prometheus")),
        ),
        (
            "promtool",
            program_or_variable("promtool", &debian("prometheus")),
        ),
        ("podman", podman::runs_containers(&debian("podman runc"))),
        ("git", program("git", &debian("git"))),
        ("curl", program("curl", &debian("curl"))),
        ("bash", program("bash", &debian("bash"))),
        (
            "otelcol",
            program("otelcol-contrib", "")
                .or_else(|_| program_or_variable("otelcol", "see opentelemetry.io/docs/collector")),
        ),
        (
            "python_kubernetes",
            python("kubernetes", &debian("python3-kubernetes")),
        ),
        (
            "python_otlp_messages",
            python(
                "grpc, opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc",
                "pip install grpcio opentelemetry-proto",
            ),
        ),
        (
            "python_otlp_exporters",
            python(
                "opentelemetry.sdk.trace, opentelemetry.exporter.otlp.proto.grpc, opentelemetry.exporter.otlp.proto.http",
                "pip install opentelemetry-sdk opentelemetry-exporter-otlp",
            ),
        ),
        ("cel_cases", file("", "shared/cases/cel")),
        ("gateway_api", file("GATEWAY_API", "peers/gateway-api")),
        ("kustomize_cases", file("", "shared/cases/kustomize")),
        ("feature_cases", file("", "shared/cases/features")),
        ("feature_data", file("", "shared/data/feature-gates.json")),
        ("openapi_documents", file("", "shared/data/openapi-v3")),
        (
            "metrics_list",
            file("", "shared/data/kubernetes-metrics.yaml"),
        ),
        ("otlp_sink", file("", "shared/tools/otlp_sink.py")),
        ("kubernetes_source", file("KUBERNETES_SOURCE", "peers/k8s")),
        (
            "kubernetes_testdata",
            file(
                "PILOTHOUSE_K8S_TESTDATA",
                "peers/k8s/staging/src/k8s.io/api/testdata/HEAD",
            ),
        ),
        ("own_address", address()),
        ("mount", look::mount(&debian("mount"))),
        (
            "mount_namespace",
            look::mount_namespace(&debian("util-linux")),
        ),
    ];
    let facts: Vec<_> = facts
        .into_iter()
        .map(|(name, outcome)| (name, outcome.err()))
        .collect();
    let out = env::var_os("OUT_DIR").expect("cargo names a directory");
    fs::write(Path::new(&out).join("facts.rs"), format!("&{facts:?}")).expect("write the facts");
}
