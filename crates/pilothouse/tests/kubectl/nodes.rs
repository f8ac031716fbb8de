//! Nodes as objects, and what needs a node where there is none.

use testkit::server::Server;

use crate::says;

const NODE: &str = "apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {podCIDR: 10.1.0.0/24}
";

#[testkit::requires(kubectl)]
#[tokio::test]
async fn keeps_nodes() {
    let server = Server::start().await;
    server.apply(NODE);
    assert_eq!(server.ok("cordon n1"), "node/n1 cordoned\n");
    says(
        &server.ok("get nodes"),
        &["n1", "Unknown,SchedulingDisabled", "<none>"],
    );
    assert_eq!(server.ok("uncordon n1"), "node/n1 uncordoned\n");
    assert_eq!(
        server.ok("taint nodes n1 dedicated=gpu:NoSchedule"),
        "node/n1 tainted\n"
    );
    says(
        &server.ok("describe node n1"),
        &[
            "Taints:",
            "dedicated=gpu:NoSchedule",
            "PodCIDR:",
            "10.1.0.0/24",
        ],
    );
    assert_eq!(
        server.ok("taint nodes n1 dedicated-"),
        "node/n1 untainted\n"
    );
    assert_eq!(server.ok("label node n1 zone=a"), "node/n1 labeled\n");
}

/// What a scheduler does.
#[testkit::requires(kubectl)]
#[tokio::test]
async fn binds_pods_to_nodes() {
    let server = Server::start().await;
    server.apply(NODE);
    server.ok("run pod --image=busybox");
    let binding = r#"{"apiVersion":"v1","kind":"Binding","metadata":{"name":"pod"},"target":{"kind":"Node","name":"n1"}}"#;
    let path = "/api/v1/namespaces/default/pods/pod/binding";
    let call = ["create", "--raw", path, "-f", "-"];
    says(
        &server.kubectl_with(&call, binding).ok(),
        &["\"status\":\"Success\""],
    );
    says(&server.ok("get pod pod -o wide"), &["Pending", "n1"]);
    server.ok("wait pod/pod --for=condition=PodScheduled --timeout=5s");
    says(
        &server.kubectl_with(&call, binding).err(),
        &["(Conflict)", "pod pod is already assigned to node \"n1\""],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn has_no_way_to_pods() {
    let server = Server::start().await;
    server.ok("run pod --image=busybox");
    // Nothing is written where nothing runs.
    assert_eq!(server.ok("logs pod"), "");
    says(
        &server.err("exec pod -- ls"),
        &["pod pod does not have a host assigned"],
    );
    says(
        &server.err("logs pod -c other"),
        &["container other is not valid for pod pod"],
    );
    says(
        &server.err("top pods"),
        &["error: Metrics API not available"],
    );
    says(
        &server.err("top nodes"),
        &["error: Metrics API not available"],
    );
    server.err("port-forward pod/pod 0:80");
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn shows_events() {
    let server = Server::start().await;
    server.apply(
        "apiVersion: v1
kind: Event
metadata: {name: e1}
involvedObject: {kind: Pod, apiVersion: v1, namespace: default, name: pod}
reason: Started
message: it began
type: Normal
count: 3
firstTimestamp: 2024-01-01T00:00:00Z
lastTimestamp: 2024-01-01T00:00:00Z
",
    );
    says(
        &server.ok("get events"),
        &[
            "REASON", "OBJECT", "Normal", "Started", "pod/pod", "it began",
        ],
    );
    says(
        &server.ok("events --for pod/pod"),
        &["Started", "Pod/pod", "it began"],
    );
}
