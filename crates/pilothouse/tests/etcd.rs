//! The server on a real etcd.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use testkit::etcd::Cluster;

fn pilothouse() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pilothouse"))
}

#[testkit::requires(etcd)]
#[test]
fn it_serves_from_etcd_with_client_certificates() {
    let found = Cluster::find();
    let cluster = found.tls().start();
    let certificates = cluster.certificates().expect("the cluster has TLS");
    let place = tempfile::tempdir().unwrap();
    let mut child = pilothouse()
        .args(["serve", "--secure-port", "0", "--data-dir"])
        .arg(place.path())
        .args(["--etcd-prefix", "/pilothouse", "--etcd-servers"])
        .arg(cluster.endpoints().join(","))
        .arg("--etcd-cafile")
        .arg(&certificates.ca)
        .arg("--etcd-certfile")
        .arg(&certificates.client_cert)
        .arg("--etcd-keyfile")
        .arg(&certificates.client_key)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let ready = lines.find(|line| {
        line.as_ref()
            .is_ok_and(|it| it.contains("serving https://"))
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        first.contains("storage in etcd at https://127.0.0.1:"),
        "{first}"
    );
    assert!(ready.is_some(), "it does not serve");
}

#[test]
fn an_etcd_that_is_not_there_is_named() {
    // Port 1 on loopback: nobody listens there.
    let mut call = pilothouse();
    call.args(["serve", "--etcd-servers", "http://127.0.0.1:1"]);
    let output = call.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("http://127.0.0.1:1"), "{said}");
}
