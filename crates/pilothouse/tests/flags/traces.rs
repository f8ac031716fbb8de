//! Traces that are kept, and the command that shows them.

use std::process::Output;

use rustix::process::Signal;

use super::program::{Program, pilothouse, run, said};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// `pilothouse traces` against a server, as its admin.
fn traces(server: &Program, arguments: &[&str]) -> Output {
    let kubeconfig = server.data().join("admin.kubeconfig");
    let mut command = pilothouse();
    command.env("COLUMNS", "100").arg("traces").args(arguments);
    command
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .output()
        .unwrap()
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let mut lines = head.lines().filter_map(|it| it.split_once(": "));
    let found = lines.find(|it| it.0.eq_ignore_ascii_case(name));
    found.unwrap_or_else(|| panic!("no {name} in {head}")).1
}

#[test]
fn a_user_finds_a_request() {
    let server = Program::serve(&["--debug-traces", "--otlp-receiver", "0"]);
    assert!(
        server.start.contains("receiving OTLP at 127.0.0.1:"),
        "{}",
        server.start
    );
    let answer = server.admin().get(MAPS);
    let answer = answer.expect(200);
    let timing = header(&answer.head, "server-timing").to_owned();
    let audit = header(&answer.head, "audit-id").to_owned();
    let id = timing.split('-').nth(1).unwrap();
    let name = "GET /api/v1/namespaces/{:namespace}/configmaps";
    let narrow = [
        "--name",
        "configmaps",
        "--attribute",
        "verb=LIST",
        "--attribute",
        "resource=configmaps",
    ];
    let (ok, list) = said(&traces(&server, &narrow));
    assert!(ok && list.starts_with("TIME"), "{list}");
    let line = list.lines().find(|it| it.contains(id));
    let line = line.unwrap_or_else(|| panic!("no {id} in {list}"));
    assert!(line.ends_with(name) && line.contains(" 200 "), "{line}");
    // By whatever the user has at hand.
    for given in [id, &timing, &audit] {
        let (ok, shown) = said(&traces(&server, &[given]));
        assert!(ok, "{shown}");
        assert!(shown.starts_with(&format!("trace {id}, ")), "{shown}");
        assert!(
            shown.contains("├─ authentication") && shown.contains('█'),
            "{shown}"
        );
        assert!(!shown.contains("http.target"), "{shown}");
    }
    let (_, shown) = said(&traces(&server, &[id, "--attributes", "--events"]));
    assert!(
        shown.contains("http.target=") && shown.contains("About to write a response"),
        "{shown}"
    );
    let json = traces(&server, &[id, "-o", "json"]);
    let json = json::parse(&json.stdout).unwrap();
    assert!(json.get("resourceSpans").is_some());
    // Mistakes, each with a way out.
    for (arguments, expected) in [
        (&["1234"][..], "it has 4 digits, not 32"),
        (&["no-such-audit"], "no trace has the audit id"),
        (
            &["00000000000000000000000000000001"],
            "no trace 00000000000000000000000000000001 is kept",
        ),
        (&["--min-duration", "5"], "of parameter minDuration"),
        (&["--limit", "5000"], "it is from 1 to 1000"),
    ] {
        let (ok, text) = said(&traces(&server, arguments));
        assert!(!ok && text.contains(expected), "{arguments:?}: {text}");
    }
    let kubeconfig = server.place().join("joe.kubeconfig");
    let (ok, made) = run(&[
        "kubeconfig",
        "--data-dir",
        server.data().to_str().unwrap(),
        "--user",
        "joe",
        "--output",
        kubeconfig.to_str().unwrap(),
    ]);
    assert!(ok, "{made}");
    let (ok, text) = run(&["traces", "--kubeconfig", kubeconfig.to_str().unwrap()]);
    assert!(
        !ok && text.contains("cannot get path \"/debug/traces\""),
        "{text}"
    );
    assert!(text.contains("system:monitoring"), "{text}");
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains(" kept, 0 dropped, 0 failed"), "{said}");
}

#[test]
fn without_the_flag_the_user_is_told_of_it() {
    let server = Program::serve::<&str>(&[]);
    let (ok, text) = said(&traces(&server, &[]));
    assert!(
        !ok && text.contains("started without --debug-traces"),
        "{text}"
    );
}

#[test]
fn flags_that_do_not_go_together() {
    for (flags, expected) in [
        (&["--otlp-receiver", "0"][..], "--debug-traces"),
        (&["--debug-traces-bytes", "1000000"], "--debug-traces"),
        (
            &["--debug-traces", "--debug-traces-bytes", "100"],
            "it is at least 262144",
        ),
        (
            &["--debug-traces", "--otlp-receiver", "localhost:1"],
            "write it like 4317",
        ),
        (
            &[
                "--debug-traces",
                "--otlp-receiver",
                "0.0.0.0:0",
                "--otlp-receiver-plaintext",
            ],
            "must be an address of loopback",
        ),
        (
            &[
                "--debug-traces",
                "--debug-traces-sampling-rate-per-million",
                "1",
                "--tracing-config-file",
                "x",
            ],
            "cannot be used with",
        ),
        (
            &["--debug-traces", "--metrics-exporter", "otlp"],
            "needs --tracing-config-file",
        ),
    ] {
        let arguments = [&["serve", "--ephemeral"], flags].concat();
        let (ok, said) = run(&arguments);
        assert!(!ok && said.contains(expected), "{flags:?}: {said}");
    }
}

/// A collector that is not there takes nothing away from what is kept, and the books are as without.
#[test]
fn kept_while_the_collector_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tracing.yaml");
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: unix://{}\nsamplingRatePerMillion: 1000000\n",
        folder.path().join("none.sock").display()
    );
    std::fs::write(&file, text).unwrap();
    let flags = [
        "--debug-traces",
        "--tracing-config-file",
        file.to_str().unwrap(),
    ];
    let server = Program::serve(&flags);
    let client = server.admin();
    for _ in 0..3 {
        let answer = client.get(MAPS).expect(200);
        let timing = header(&answer.head, "server-timing").to_owned();
        let (ok, shown) = said(&traces(&server, &[&timing]));
        assert!(ok, "{shown}");
    }
    let (ok, shown) = said(&traces(&server, &["--name", "none such"]));
    assert!(ok && shown.starts_with("No traces found"), "{shown}");
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("traces: spans 0 exported, "), "{said}");
}
