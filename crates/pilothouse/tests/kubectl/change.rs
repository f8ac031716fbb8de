//! Changing what is there: patch, label, scale, set, roll out, wait.

use testkit::server::Server;

use crate::{says, web};

#[testkit::requires(kubectl)]
#[tokio::test]
async fn patches_in_three_ways() {
    let server = Server::start().await;
    server.apply(&web("nginx:1.25", 2));
    let image = "get deploy web -o 'jsonpath={.spec.template.spec.containers[*].image}'";
    // Lists are merged by name ...
    server.ok(r#"patch deploy web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"redis"}]}}}}'"#);
    assert_eq!(server.ok(image), "redis nginx:1.25");
    // ... replaced ...
    server.ok(r#"patch deploy web --type=merge -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"a"}]}}}}'"#);
    assert_eq!(server.ok(image), "a");
    // ... or changed in place.
    server.ok(r#"patch deploy web --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"b"}]'"#);
    assert_eq!(server.ok(image), "b");
    assert_eq!(
        server.ok(r#"patch deploy web -p '{"spec":{"replicas":2}}'"#),
        "deployment.apps/web patched (no change)\n"
    );
    says(
        &server.err(r#"patch deploy web -p '{"spec":{"selector":{"matchLabels":{"x":"y"}}}}'"#),
        &["The Deployment \"web\" is invalid:", "field is immutable"],
    );
    says(
        &server.err(r#"patch deploy web --type=json -p '[{"op":"remove","path":"/spec/none"}]'"#),
        &["The request is invalid: the server rejected our request due to an error in our request"],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn labels_and_annotates() {
    let server = Server::start().await;
    server.ok("create cm c");
    assert_eq!(server.ok("label cm c a=b"), "configmap/c labeled\n");
    says(
        &server.err("label cm c a=c"),
        &["'a' already has a value (b), and --overwrite is false"],
    );
    assert_eq!(
        server.ok("label cm c a=c --overwrite"),
        "configmap/c labeled\n"
    );
    assert_eq!(server.ok("label cm c a-"), "configmap/c unlabeled\n");
    assert_eq!(
        server.ok("annotate cm c note=hello"),
        "configmap/c annotated\n"
    );
    assert_eq!(
        server.ok("get cm c -o jsonpath={.metadata.annotations.note}"),
        "hello"
    );
    says(
        &server.err("label cm c 'a=not valid'"),
        &[
            "invalid label value",
            "a valid label must be an empty string or consist of alphanumeric characters",
        ],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn scales() {
    let server = Server::start().await;
    server.apply(&web("nginx", 2));
    assert_eq!(
        server.ok("scale deploy web --replicas=4"),
        "deployment.apps/web scaled\n"
    );
    assert_eq!(
        server.ok("get deploy web -o jsonpath={.spec.replicas}"),
        "4"
    );
    says(
        &server.err("scale deploy web --replicas=1 --current-replicas=9"),
        &["Expected replicas to be 9, was 4"],
    );
    says(
        &server.ok("get deploy web --subresource=scale"),
        &["NAME", "DESIRED", "AVAILABLE", "web", "4", "0"],
    );
    assert_eq!(
        server.ok("autoscale deployment web --min=1 --max=3"),
        "horizontalpodautoscaler.autoscaling/web autoscaled\n"
    );
    says(
        &server.ok("get hpa"),
        &["REFERENCE", "Deployment/web", "1", "3"],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn sets_parts() {
    let server = Server::start().await;
    server.apply(&web("nginx:1.25", 1));
    assert_eq!(
        server.ok("set image deploy/web web=nginx:1.26"),
        "deployment.apps/web image updated\n"
    );
    assert_eq!(
        server.ok("set env deploy/web A=B"),
        "deployment.apps/web env updated\n"
    );
    server.ok("set resources deploy/web --limits=cpu=200m,memory=512Mi");
    let container = "get deploy web -o 'jsonpath={.spec.template.spec.containers[0]}'";
    says(
        &server.ok(container),
        &[
            r#""name":"A","value":"B""#,
            r#""image":"nginx:1.26""#,
            r#""cpu":"200m""#,
        ],
    );
    assert_eq!(
        server.ok("expose deploy web --port=80 --type=NodePort"),
        "service/web exposed\n"
    );
    says(&server.ok("get svc web"), &["NodePort", "80:3", "/TCP"]);
}

/// A controller's part is played by the test: the `ReplicaSet`s are given.
#[testkit::requires(kubectl)]
#[tokio::test]
async fn rolls_back() {
    let server = Server::start().await;
    server.apply(&web("nginx:2", 1));
    server.ok("annotate deploy web deployment.kubernetes.io/revision=2");
    let uid = server.ok("get deploy web -o jsonpath={.metadata.uid}");
    for revision in [1, 2] {
        server.apply(&format!(
            "apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-{revision}
  labels: {{app: web, pod-template-hash: h{revision}}}
  annotations: {{deployment.kubernetes.io/revision: '{revision}'}}
  ownerReferences: [{{apiVersion: apps/v1, kind: Deployment, name: web, uid: {uid}, controller: true}}]
spec:
  replicas: 0
  selector: {{matchLabels: {{app: web, pod-template-hash: h{revision}}}}}
  template:
    metadata: {{labels: {{app: web, pod-template-hash: h{revision}}}}}
    spec: {{containers: [{{name: web, image: 'nginx:{revision}', ports: [{{containerPort: 80}}]}}]}}
"
        ));
    }
    says(
        &server.ok("rollout history deploy/web"),
        &["REVISION", "1", "2"],
    );
    says(
        &server.ok("rollout history deploy/web --revision=1"),
        &["nginx:1"],
    );
    assert_eq!(
        server.ok("rollout undo deploy/web"),
        "deployment.apps/web rolled back\n"
    );
    assert_eq!(
        server.ok("get deploy web -o 'jsonpath={.spec.template.spec.containers[0].image}'"),
        "nginx:1"
    );
    assert_eq!(
        server.ok("rollout pause deploy/web"),
        "deployment.apps/web paused\n"
    );
    assert_eq!(
        server.ok("rollout resume deploy/web"),
        "deployment.apps/web resumed\n"
    );
    assert_eq!(
        server.ok("rollout restart deploy/web"),
        "deployment.apps/web restarted\n"
    );
    let status = r#"{"status":{"observedGeneration":99,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1}}"#;
    server
        .kubectl(&[
            "patch",
            "deploy",
            "web",
            "--subresource=status",
            "--type=merge",
            "-p",
            status,
        ])
        .ok();
    assert_eq!(
        server.ok("rollout status deploy/web"),
        "deployment \"web\" successfully rolled out\n"
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn waits() {
    let server = Server::start().await;
    server.apply(&web("nginx", 1));
    says(
        &server.err("wait deploy/web --for=condition=Available --timeout=1s"),
        &["timed out waiting for the condition on deployments/web"],
    );
    let mut waiting = server.kubectl_running(&[
        "wait",
        "deploy/web",
        "--for=condition=Available",
        "--timeout=20s",
    ]);
    let now = "2024-01-01T00:00:00Z";
    let status = format!(
        r#"{{"status":{{"conditions":[{{"type":"Available","status":"True","lastUpdateTime":"{now}","lastTransitionTime":"{now}"}}]}}}}"#
    );
    server
        .kubectl(&[
            "patch",
            "deploy",
            "web",
            "--subresource=status",
            "--type=merge",
            "-p",
            &status,
        ])
        .ok();
    assert!(waiting.0.wait().unwrap().success());
    server.ok("wait deploy/web '--for=jsonpath={.spec.replicas}=1' --timeout=5s");
    let mut gone = server.kubectl_running(&["wait", "deploy/web", "--for=delete", "--timeout=20s"]);
    server.ok("delete deploy web --wait=false");
    assert!(gone.0.wait().unwrap().success());
}
