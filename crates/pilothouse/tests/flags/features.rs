//! Feature gates and emulated versions of a server.

use super::program::{Program, pilothouse, said};

#[test]
fn a_wrong_gate_or_version_is_refused_with_upstreams_text() {
    for (flag, text) in [
        (
            "--feature-gates=NodeSwap=false",
            "cannot set feature gate NodeSwap to false, feature is locked to true",
        ),
        ("--feature-gates=A=true", "unrecognized feature gate: A"),
        (
            "--feature-gates=WatchList",
            "missing bool value for WatchList",
        ),
        (
            "--feature-gates=kube:WatchList=true,OpenAPIEnums=true",
            "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use",
        ),
        (
            "--feature-gates=ClusterTrustBundle=false",
            "ClusterTrustBundleProjection is enabled, but depends on features that are disabled: [ClusterTrustBundle]",
        ),
        (
            "--emulated-version=1.30",
            "[emulation version 1.30 is not between [1.34, 1.37.0], minCompatibilityVersion version 1.34 is not between [1.34, 1.30]]",
        ),
        (
            "--min-compatibility-version=1.37.1",
            "patch version not allowed, got: kube=1.37.1",
        ),
    ] {
        let output = pilothouse().args(["serve", "--ephemeral", flag]).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(1), "{flag}");
        assert_eq!(said(&output), (false, format!("error: {text}\n")));
    }
}

#[test]
fn gates_and_versions_of_a_server_can_be_read() {
    let server = Program::serve(&[
        "--feature-gates=AllBeta=false,WatchList=true",
        "--emulated-version=1.36",
        "--min-compatibility-version",
        "1.34",
        "--feature-gates=KMSv1=true",
    ]);
    let admin = server.admin();
    let metrics = admin.get("/metrics").expect(200).body;
    let has = |line: &str| assert!(metrics.contains(line), "{line}");
    has("\nkubernetes_feature_enabled{name=\"WatchList\",stage=\"BETA\"} 1\n");
    has("\nkubernetes_feature_enabled{name=\"OpenAPIEnums\",stage=\"BETA\"} 0\n");
    has("\nkubernetes_feature_enabled{name=\"KMSv1\",stage=\"DEPRECATED\"} 1\n");
    has(
        "\nversion_info{binary=\"1.37.0\",component=\"kube\",emulation=\"1.36\",min_compat=\"1.34\"} 1\n",
    );
    // New in 1.37.
    assert!(!metrics.contains("name=\"DRAFractionalCapacityRange\""));
    let version = admin.get("/version").expect(200).json();
    let text = |key| version.str_at(&[key]);
    assert_eq!(
        (text("minor"), text("emulationMinor")),
        (Some("37"), Some("36"))
    );
    assert_eq!(text("minCompatibilityMinor"), Some("34"));
    let log = std::fs::read_to_string(server.place().join("stderr")).unwrap();
    let warning = "\"Warning: setting deprecated feature gate. It will be removed in a future release.\" featureGate=\"KMSv1\" value=true\n";
    assert!(log.contains(warning), "{log}");
}
