//! The server on a real etcd.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use testkit::etcd::Cluster;

fn pilothouse() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pilothouse"))
}

#[test]
fn it_serves_from_etcd_with_client_certificates() {
    let Some(found) = Cluster::find() else { return };
    let cluster = found.tls().start();
    let certificates = cluster.certificates().expect("the cluster has TLS");
    let mut child = pilothouse()
        .args(["serve", "--etcd-prefix", "/pilothouse", "--etcd-servers"])
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
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        line.contains("storage in etcd at https://127.0.0.1:"),
        "{line}"
    );
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
