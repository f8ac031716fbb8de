//! `pilothouse apply -k`: builds, applies, and counts nothing.

use std::path::Path;

use testkit::receiver::Receiver;
use testkit::server::Server;

use crate::user::{Done, User};

fn user() -> User {
    let user = User::new();
    user.write(
        "app/kustomization.yaml",
        "resources: [things.yaml]\nconfigMapGenerator: [{name: settings, literals: [a=1]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n",
    );
    user.write(
        "app/things.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    \
         metadata: {labels: {app: web}}\n    spec: {containers: [{name: c, image: nginx}]}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
    );
    user
}

fn apply(user: &User, kubeconfig: &Path, more: &[&str]) -> Done {
    let kubeconfig = kubeconfig.to_str().expect("UTF-8");
    let all = [&["apply", "-k", "app", "--kubeconfig", kubeconfig], more].concat();
    user.run(&all)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kustomization_is_applied_and_nothing_is_counted() {
    let server = Server::start().await;
    let receiver = Receiver::start();
    let mut user = user();
    // Even one who wants to be counted is not.
    user.set("KUSTOMIZE_EXPORT_METRICS", "otlp");
    user.set("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url());
    let dry = apply(&user, server.kubeconfig(), &["--dry-run=server"]);
    assert_eq!(
        dry.stdout,
        "namespace/shop serverside-applied (server dry run)\nconfigmap/settings serverside-applied (server dry run)\n"
    );
    assert_eq!(dry.code, Some(1), "the Deployment's namespace is not there");
    assert!(
        dry.stderr
            .starts_with("Error from server (NotFound): namespaces \"shop\" not found\n"),
        "{}",
        dry.stderr
    );
    for _ in 0..2 {
        let done = apply(&user, server.kubeconfig(), &[]);
        assert_eq!(
            (done.code, &*done.stdout, &*done.stderr),
            (
                Some(0),
                "namespace/shop serverside-applied\nconfigmap/settings serverside-applied\ndeployment.apps/web serverside-applied\n",
                ""
            )
        );
    }
    let terminal = user.run_on_terminal(&[
        "apply",
        "-k",
        "app",
        "--kubeconfig",
        server.kubeconfig().to_str().expect("UTF-8"),
    ]);
    assert_eq!(
        (terminal.code, &*terminal.stderr),
        (Some(0), ""),
        "no notice"
    );
    // Whatever a process in the background might send would have been in the spool first.
    assert!(user.kept().is_empty(), "{:?}", user.kept());
    assert!(receiver.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_kubectls() {
    let server = Server::start().await;
    let user = user();
    user.write("app/kustomization.yaml", "resources: [map.yaml]\n");
    let map = |value: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata: {{a: {value}}}\n")
    };
    user.write("app/map.yaml", &map("one"));
    let done = apply(&user, server.kubeconfig(), &["--field-manager=somebody"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    user.write("app/map.yaml", &map("two"));
    let done = apply(&user, server.kubeconfig(), &[]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.stderr.starts_with(
            "error: Apply failed with 1 conflict: conflict with \"somebody\": .data.a\n"
        ),
        "{}",
        done.stderr
    );
    let done = apply(&user, server.kubeconfig(), &["--force-conflicts"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let done = apply(&user, server.kubeconfig(), &["-n", "other"]);
    assert!(
        done.stderr.contains("namespaces \"other\" not found"),
        "{}",
        done.stderr
    );
    let done = apply(&user, server.kubeconfig(), &["--dry-run=client"]);
    assert!(
        done.stderr.contains("did you mean --dry-run=server"),
        "{}",
        done.stderr
    );

    user.write(
        "app/map.yaml",
        "apiVersion: no.such/v1\nkind: Thing\nmetadata: {name: m}\n",
    );
    let done = apply(&user, server.kubeconfig(), &[]);
    assert!(
        done.stderr.starts_with(
            "error: resource mapping not found for name: \"m\" namespace: \"\" from \"app\": no matches for kind \"Thing\" in version \"no.such/v1\"\nensure CRDs are installed first"
        ),
        "{}",
        done.stderr
    );
    let token = ["--token=alice-token", "--context=nobody"];
    let done = apply(&user, server.kubeconfig(), &token);
    assert!(
        done.stderr.contains("has no context \"nobody\""),
        "{}",
        done.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_may_come_with_its_objects() {
    let server = Server::start().await;
    let user = user();
    user.write("app/kustomization.yaml", "resources: [all.yaml]\n");
    user.write(
        "app/all.yaml",
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n---\n\
         apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec:\n  group: example.com\n  \
         scope: Namespaced\n  names: {kind: Widget, plural: widgets}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      \
         openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}\n",
    );
    let done = apply(&user, server.kubeconfig(), &[]);
    assert_eq!(
        (done.code, &*done.stdout),
        (
            Some(0),
            "customresourcedefinition.apiextensions.k8s.io/widgets.example.com serverside-applied\nwidget.example.com/w serverside-applied\n"
        ),
        "{}",
        done.stderr
    );
}
