//! Deleting: cascades, finalizers, selectors.

use testkit::server::Server;

use crate::{says, web};

#[testkit::requires(kubectl)]
#[tokio::test]
async fn deletes() {
    let server = Server::start().await;
    for name in ["a", "b", "c"] {
        server.ok(&format!("create cm {name}"));
    }
    server.ok("label cm a b x=y");
    says(
        &server.ok("delete cm a --dry-run=server"),
        &["configmap \"a\" deleted", "(server dry run)"],
    );
    says(
        &server.ok("delete cm -l x=y"),
        &["configmap \"a\" deleted", "configmap \"b\" deleted"],
    );
    assert_eq!(server.ok("get cm c -o name"), "configmap/c\n");
    says(&server.ok("delete cm --all"), &["configmap \"c\" deleted"]);
    assert_eq!(
        server.err("delete cm a"),
        "Error from server (NotFound): configmaps \"a\" not found\n"
    );
    assert_eq!(server.ok("delete cm a --ignore-not-found"), "");
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn waits_for_finalizers() {
    let server = Server::start().await;
    server.apply(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, finalizers: [example.com/hold]}\n",
    );
    says(
        &server.err("delete cm c --timeout=1s"),
        &["timed out waiting for the condition"],
    );
    let stamp = server.ok("get cm c -o jsonpath={.metadata.deletionTimestamp}");
    assert!(!stamp.is_empty());
    says(
        &server.err(r#"patch cm c --type=merge -p '{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}'"#),
        &["metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted"],
    );
    let mut waiting = server.kubectl_running(&["delete", "cm", "c", "--ignore-not-found"]);
    server.ok(r#"patch cm c --type=merge -p '{"metadata":{"finalizers":null}}'"#);
    assert!(waiting.0.wait().unwrap().success());
    server.err("get cm c");
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn cascades() {
    let server = Server::start().await;
    for (how, survives) in [
        ("orphan", true),
        ("background", false),
        ("foreground", false),
    ] {
        server.apply(&web("nginx", 1));
        let uid = server.ok("get deploy web -o jsonpath={.metadata.uid}");
        server.apply(&format!(
            "apiVersion: v1
kind: ConfigMap
metadata:
  name: of-{how}
  ownerReferences:
  - {{apiVersion: apps/v1, kind: Deployment, name: web, uid: {uid}, blockOwnerDeletion: true}}
"
        ));
        server.ok(&format!("delete deploy web --cascade={how}"));
        server.err("get deploy web");
        let part = format!("get cm of-{how} -o jsonpath={{.metadata.ownerReferences}}");
        if survives {
            assert_eq!(server.ok(&part), "");
        } else {
            server.until(&part, |it| it.code != 0);
        }
    }
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn forces_a_pod_away() {
    let server = Server::start().await;
    server.ok("run pod --image=busybox");
    says(
        &server.ok("delete pod pod --grace-period=0 --force"),
        &["pod \"pod\" force deleted"],
    );
    server.err("get pod pod");
}
