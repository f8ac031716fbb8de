//! Declaring: create, apply in both ways, diff, replace, edit.

use testkit::server::Server;

use crate::{says, web};

#[testkit::requires(kubectl)]
#[tokio::test]
async fn creates() {
    let server = Server::start().await;
    assert_eq!(server.ok("create namespace one"), "namespace/one created\n");
    assert_eq!(
        server.err("create namespace one"),
        "Error from server (AlreadyExists): namespaces \"one\" already exists\n"
    );
    for (what, made) in [
        (
            "configmap settings --from-literal=a=b",
            "configmap/settings",
        ),
        ("secret generic keys --from-literal=a=b", "secret/keys"),
        ("serviceaccount robot", "serviceaccount/robot"),
        ("deployment web --image=nginx", "deployment.apps/web"),
        ("service clusterip web --tcp=80:8080", "service/web"),
        ("job once --image=busybox", "job.batch/once"),
        (
            "role reader --verb=get --resource=pods",
            "role.rbac.authorization.k8s.io/reader",
        ),
        (
            "rolebinding readers --role=reader --user=bob",
            "rolebinding.rbac.authorization.k8s.io/readers",
        ),
        (
            "ingress web --rule=example.com/=web:80",
            "ingress.networking.k8s.io/web",
        ),
        (
            "poddisruptionbudget web --selector=app=web --min-available=1",
            "poddisruptionbudget.policy/web",
        ),
        ("quota all --hard=pods=10", "resourcequota/all"),
        (
            "priorityclass low --value=10",
            "priorityclass.scheduling.k8s.io/low",
        ),
    ] {
        assert_eq!(
            server.ok(&format!("create {what} -n one")),
            format!("{made} created\n")
        );
    }
    let cron = server.ok("create cronjob often --image=busybox --schedule '*/5 * * * *' -n one");
    assert_eq!(cron, "cronjob.batch/often created\n");
    assert_eq!(
        server.ok("run pod --image=busybox -n one"),
        "pod/pod created\n"
    );
    assert_eq!(
        server.err("create configmap x -n nowhere"),
        "error: failed to create configmap: namespaces \"nowhere\" not found\n"
    );
    let dry = server.ok("create configmap dry --dry-run=server -n one -o yaml");
    says(&dry, &["name: dry", "uid: "]);
    server.err("get configmap dry -n one");
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn applies_as_clients_do() {
    let server = Server::start().await;
    assert_eq!(
        server.apply(&web("nginx:1.25", 2)),
        "deployment.apps/web created\n"
    );
    assert_eq!(
        server.apply(&web("nginx:1.25", 2)),
        "deployment.apps/web unchanged\n"
    );
    assert_eq!(
        server.apply(&web("nginx:1.26", 2)),
        "deployment.apps/web configured\n"
    );
    assert_eq!(
        server.ok("get deploy web -o jsonpath={.metadata.generation}"),
        "2"
    );
    let with_label =
        web("nginx:1.26", 2).replace("{app: web}}\nspec", "{app: web, tier: x}}\nspec");
    server.apply(&with_label);
    server.ok("label deployment web mine=yes");
    // What was applied and is no longer there goes; what others set stays.
    server.apply(&web("nginx:1.26", 2));
    says(
        &server.ok("get deploy web --show-labels"),
        &["app=web,mine=yes\n"],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn applies_on_the_server() {
    let server = Server::start().await;
    let apply = |manager: &str, replicas, more: &[&str]| {
        let manager = format!("--field-manager={manager}");
        let mut call = vec!["apply", "--server-side", &manager, "-f", "-"];
        call.extend(more);
        server.kubectl_with(&call, &web("nginx:1.25", replicas))
    };
    assert_eq!(
        apply("first", 2, &[]).ok(),
        "deployment.apps/web serverside-applied\n"
    );
    let refused = apply("second", 5, &[]).err();
    says(
        &refused,
        &[
            "Apply failed with 1 conflict: conflict with \"first\": .spec.replicas",
            "--force-conflicts",
        ],
    );
    apply("second", 5, &["--force-conflicts"]).ok();
    assert_eq!(
        server.ok("get deploy web -o jsonpath={.spec.replicas}"),
        "5"
    );
    let owners = server.ok(
        "get deploy web --show-managed-fields -o 'jsonpath={.metadata.managedFields[*].manager}'",
    );
    assert_eq!(owners, "first second");
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn refuses_what_is_wrong() {
    let server = Server::start().await;
    let bad = web("nginx", 2).replace("replicas: 2", "replicas: 2\n  bogus: 1");
    let said = server.kubectl_with(&["apply", "-f", "-"], &bad).err();
    says(
        &said,
        &["strict decoding error: unknown field \"spec.bogus\""],
    );
    let said = server.kubectl_with(&["apply", "--validate=ignore", "-f", "-"], &bad);
    assert_eq!(said.ok(), "deployment.apps/web created\n");
    let bad = web("nginx", 2).replace("matchLabels: {app: web}", "matchLabels: {app: other}");
    let said = server
        .kubectl_with(
            &["create", "-f", "-"],
            &bad.replace("name: web, l", "name: w, l"),
        )
        .err();
    assert_eq!(
        said,
        "The Deployment \"w\" is invalid: spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` \
         does not match template `labels`\n"
    );
    let said = server
        .kubectl_with(
            &["apply", "-f", "-"],
            "kind: Nothing\napiVersion: v1\nmetadata: {name: x}",
        )
        .err();
    says(
        &said,
        &["no matches for kind \"Nothing\" in version \"v1\""],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn shows_the_difference() {
    let server = Server::start().await;
    server.apply(&web("nginx:1.25", 2));
    let same = server.kubectl_with(&["diff", "-f", "-"], &web("nginx:1.25", 2));
    assert_eq!((same.code, &*same.stdout), (0, ""));
    let other = server.kubectl_with(&["diff", "-f", "-"], &web("nginx:1.26", 2));
    assert_eq!(other.code, 1);
    says(
        &other.stdout,
        &[
            "-  generation: 1",
            "+  generation: 2",
            "- image: nginx:1.25",
            "+      - image: nginx:1.26",
        ],
    );
    assert_eq!(
        server.ok("get deploy web -o jsonpath={.metadata.generation}"),
        "1"
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn replaces() {
    let server = Server::start().await;
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n";
    let said = server.kubectl_with(&["replace", "-f", "-"], manifest).err();
    says(
        &said,
        &["Error from server (NotFound)", "configmaps \"c\" not found"],
    );
    server.apply(manifest);
    let uid = server.ok("get cm c -o jsonpath={.metadata.uid}");
    let other = manifest.replace("a: b", "c: d");
    let said = server.kubectl_with(&["replace", "-f", "-"], &other).ok();
    assert_eq!(said, "configmap/c replaced\n");
    assert_eq!(server.ok("get cm c -o jsonpath={.data}"), r#"{"c":"d"}"#);
    assert_eq!(server.ok("get cm c -o jsonpath={.metadata.uid}"), uid);
    let said = server
        .kubectl_with(&["replace", "--force", "-f", "-"], &other)
        .ok();
    says(&said, &["configmap \"c\" deleted", "configmap/c replaced"]);
    assert_ne!(server.ok("get cm c -o jsonpath={.metadata.uid}"), uid);
    let stale = other.replace("{name: c}", "{name: c, resourceVersion: \"1\"}");
    let said = server.kubectl_with(&["replace", "-f", "-"], &stale).err();
    says(
        &said,
        &[
            "(Conflict)",
            "Operation cannot be fulfilled on configmaps \"c\": the object has been modified",
        ],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn edits() {
    let server = Server::start().await;
    server.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {colour: red}\n");
    let mut edit = server.kubectl_command(&["edit", "configmap", "c"]);
    edit.env("KUBE_EDITOR", "sed -i s/red/blue/");
    let output = edit.output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "configmap/c edited\n"
    );
    assert_eq!(server.ok("get cm c -o jsonpath={.data.colour}"), "blue");
}
