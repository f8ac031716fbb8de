//! Who may do what: can-i, impersonation, tokens, roles.

use std::io::{BufRead as _, BufReader};

use testkit::server::Server;

use crate::says;

#[testkit::requires(kubectl)]
#[tokio::test]
async fn asks_what_one_may() {
    let server = Server::start().await;
    assert_eq!(server.ok("auth can-i create pods"), "yes\n");
    let no = server.kubectl(&["auth", "can-i", "create", "pods", "--as", "bob"]);
    assert_eq!((no.code, &*no.stdout), (1, "no\n"));
    server.ok("create role reader --verb=get,list --resource=pods");
    server.ok("create rolebinding readers --role=reader --user=bob --group=dev");
    server.until("auth can-i get pods --as bob", |it| it.code == 0);
    assert_eq!(
        server.ok("auth can-i list pods --as carol --as-group dev"),
        "yes\n"
    );
    says(
        &server.ok("auth can-i --list --as bob"),
        &["Resources", "Non-Resource URLs", "pods", "[get list]"],
    );
    says(
        &server.ok("auth whoami --as bob --as-group dev"),
        &["Username", "bob", "Groups", "[dev system:authenticated]"],
    );
    assert_eq!(
        server.err("get services --as bob"),
        "Error from server (Forbidden): services is forbidden: User \"bob\" cannot list resource \"services\" in API \
         group \"\" in the namespace \"default\"\n"
    );
    assert_eq!(server.ok("get pods --as bob -o name"), "");
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn reconciles_roles() {
    let server = Server::start().await;
    let role = |verbs: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: r, namespace: default}}\n\
             rules: [{{apiGroups: [''], resources: [pods], verbs: [{verbs}]}}]\n"
        )
    };
    let said = server
        .kubectl_with(&["auth", "reconcile", "-f", "-"], &role("get"))
        .ok();
    says(&said, &["role.rbac.authorization.k8s.io/r reconciled"]);
    let said = server
        .kubectl_with(&["auth", "reconcile", "-f", "-"], &role("get, list"))
        .ok();
    says(&said, &["role.rbac.authorization.k8s.io/r reconciled"]);
    let verbs = server.ok("get role r -o 'jsonpath={.rules[*].verbs}'");
    says(&verbs, &["get", "list"]);
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn uses_a_service_account() {
    let server = Server::start().await;
    server.ok("create serviceaccount robot");
    let token = server.ok("create token robot --duration=10m");
    let token = token.trim();
    let url = server.url();
    let with_token = |arguments: &[&str]| {
        let mut all = vec![
            "--kubeconfig=/dev/null",
            "--insecure-skip-tls-verify",
            "--server",
            &url,
            "--token",
            token,
        ];
        all.extend(arguments);
        server.kubectl(&all)
    };
    says(
        &with_token(&["auth", "whoami"]).ok(),
        &[
            "system:serviceaccount:default:robot",
            "system:serviceaccounts:default",
        ],
    );
    says(
        &with_token(&["get", "pods", "-n", "default"]).err(),
        &["User \"system:serviceaccount:default:robot\" cannot list resource \"pods\""],
    );
    server.ok("create rolebinding robot --clusterrole=view --serviceaccount=default:robot");
    server.until(
        "auth can-i list pods --as system:serviceaccount:default:robot",
        |it| it.code == 0,
    );
    with_token(&["get", "pods", "-n", "default"]).ok();
    let wrong = server.kubectl(&[
        "--kubeconfig=/dev/null",
        "--insecure-skip-tls-verify",
        "--server",
        &url,
        "--token",
        "nonsense",
        "get",
        "pods",
    ]);
    says(&wrong.err(), &["You must be logged in to the server"]);
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn goes_through_a_proxy() {
    let server = Server::start().await;
    let mut proxy = server.kubectl_running(&["proxy", "--port=0"]);
    let mut out = BufReader::new(proxy.0.stdout.take().expect("a pipe"));
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let address = line.trim().rsplit(' ').next().unwrap().to_owned();
    let url = format!("http://{address}");
    let pods = server.kubectl(&[
        "--kubeconfig=/dev/null",
        "--server",
        &url,
        "get",
        "namespaces",
        "-o",
        "name",
    ]);
    says(&pods.ok(), &["namespace/default", "namespace/kube-system"]);
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn says_so_without_a_server() {
    let server = Server::start().await;
    let said = server
        .kubectl(&[
            "--kubeconfig=/dev/null",
            "--server",
            "http://127.0.0.1:1",
            "get",
            "pods",
        ])
        .err();
    says(
        &said,
        &["The connection to the server 127.0.0.1:1 was refused"],
    );
}
