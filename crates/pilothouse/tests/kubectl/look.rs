//! Reading: get in all its outputs, describe, discovery.

use std::io::{BufRead as _, BufReader};

use testkit::server::Server;

use crate::{says, web};

const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: one, labels: {tier: front, run: one}}
spec:
  containers: [{name: c, image: nginx:1.25, env: [{name: A, value: b}]}]
---
apiVersion: v1
kind: Pod
metadata: {name: two, labels: {tier: back}}
spec: {containers: [{name: c, image: redis}, {name: d, image: busybox}]}
";

#[testkit::requires(kubectl)]
#[tokio::test]
async fn gets_in_every_output() {
    let server = Server::start().await;
    server.apply(POD);
    let table = server.ok("get pods");
    says(&table, &["NAME", "READY", "STATUS", "RESTARTS", "AGE"]);
    says(
        &table,
        &["one", "0/1", "Pending", "0", "two", "0/2", "Pending"],
    );
    says(
        &server.ok("get pods -o wide"),
        &["NODE", "NOMINATED NODE", "READINESS GATES", "<none>"],
    );
    assert_eq!(server.ok("get pods -o name"), "pod/one\npod/two\n");
    assert_eq!(
        server.ok("get pods -o 'jsonpath={.items[*].spec.containers[0].image}'"),
        "nginx:1.25 redis"
    );
    says(
        &server.ok("get pods -o custom-columns=N:.metadata.name,I:.spec.containers[*].image"),
        &["N", "I", "one", "nginx:1.25", "two", "redis,busybox"],
    );
    says(
        &server.ok("get pod one -o yaml"),
        &["kind: Pod", "name: one", "qosClass: BestEffort"],
    );
    says(
        &server.ok("get pod one -o json"),
        &["\"kind\": \"Pod\"", "\"name\": \"one\""],
    );
    says(
        &server.ok("get pods --show-labels"),
        &["LABELS", "run=one,tier=front", "tier=back"],
    );
    says(
        &server.ok("get pods -L tier"),
        &["TIER", "one", "front", "two", "back"],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn selects_and_sorts() {
    let server = Server::start().await;
    server.apply(POD);
    assert_eq!(server.ok("get pods -l tier=front -o name"), "pod/one\n");
    assert_eq!(
        server.ok("get pods -l 'tier in (front, back),run' -o name"),
        "pod/one\n"
    );
    assert_eq!(
        server.ok("get pods --field-selector metadata.name!=one -o name"),
        "pod/two\n"
    );
    assert_eq!(
        server.ok("get pods --field-selector status.phase=Running -o name"),
        ""
    );
    assert_eq!(
        server.ok("get pods --sort-by .spec.containers[0].image -o name"),
        "pod/one\npod/two\n"
    );
    let pods = server.ok("get pods -A -o wide");
    says(&pods, &["NAMESPACE", "default", "one", "default", "two"]);
    // Pages are put together again.
    assert_eq!(
        server.ok("get pods --chunk-size=1 -o name"),
        "pod/one\npod/two\n"
    );
    assert_eq!(
        server.err("get pods --field-selector spec.color=red"),
        "Error from server (BadRequest): Unable to find \"/v1, Resource=pods\" that match label selector \"\", \
         field selector \"spec.color=red\": field label not supported: spec.color\n"
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn says_what_is_not_there() {
    let server = Server::start().await;
    assert_eq!(
        server.err("get pod nope"),
        "Error from server (NotFound): pods \"nope\" not found\n"
    );
    assert_eq!(
        server.err("get nothing"),
        "error: the server doesn't have a resource type \"nothing\"\n"
    );
    let none = server.kubectl(&["get", "pods"]);
    assert_eq!(
        (none.code, &*none.stderr),
        (0, "No resources found in default namespace.\n")
    );
    assert_eq!(server.ok("get pods --ignore-not-found nope"), "");
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn watches() {
    let server = Server::start().await;
    let mut watching = server.kubectl_running(&["get", "cm", "-w", "-o", "name", "-l", "seen"]);
    let out = watching.0.stdout.take().expect("a pipe");
    let mut lines = BufReader::new(out).lines();
    server.ok("create cm first");
    server.ok("label cm first seen=yes");
    assert_eq!(lines.next().unwrap().unwrap(), "configmap/first");
    server.ok("annotate cm first a=b");
    assert_eq!(lines.next().unwrap().unwrap(), "configmap/first");
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn describes() {
    let server = Server::start().await;
    server.apply(POD);
    server.apply(&web("nginx:1.25", 2));
    server.ok("expose deployment web --port=80");
    server.ok("create secret generic keys --from-literal=password=abc");
    says(
        &server.ok("describe pod one"),
        &[
            "Name:",
            "one",
            "Status:",
            "Pending",
            "Containers:",
            "nginx:1.25",
            "A:  b",
            "QoS Class:",
            "BestEffort",
        ],
    );
    says(
        &server.ok("describe deployment web"),
        &[
            "Selector:",
            "app=web",
            "StrategyType:",
            "RollingUpdate",
            "25% max unavailable",
            "nginx:1.25",
        ],
    );
    says(
        &server.ok("describe service web"),
        &[
            "Selector:",
            "app=web",
            "Type:",
            "ClusterIP",
            "Port:",
            "80/TCP",
        ],
    );
    let secret = server.ok("describe secret keys");
    says(&secret, &["Type:  Opaque", "password:  3 bytes"]);
    assert!(!secret.contains("abc"));
    says(
        &server.ok("describe namespace default"),
        &["Name:", "default", "Status:", "Active"],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn knows_what_there_is() {
    let server = Server::start().await;
    says(
        &server.ok("api-resources"),
        &[
            "SHORTNAMES",
            "configmaps",
            "cm",
            "v1",
            "ConfigMap",
            "deployments",
            "deploy",
            "apps/v1",
        ],
    );
    assert_eq!(
        server.ok("api-resources --api-group=batch -o name"),
        "cronjobs.batch\njobs.batch\n"
    );
    says(
        &server.ok("api-versions"),
        &["apps/v1\n", "networking.k8s.io/v1\n", "\nv1\n"],
    );
    says(&server.ok("version"), &["Server Version: v1.37.0"]);
    says(
        &server.ok("cluster-info"),
        &["Kubernetes control plane", "is running at", &server.url()],
    );
    assert_eq!(server.ok("get --raw /readyz"), "ok");
    says(
        &server.ok("get --raw /api/v1/namespaces/default"),
        &["\"kind\":\"Namespace\"", "\"phase\":\"Active\""],
    );
    says(
        &server.ok("get all -A"),
        &["service/kubernetes", "ClusterIP", "443/TCP"],
    );
}
