//! `ServiceAccount`.

use admission::{Operation, ServiceAccount};
use json::{Value, json};

use super::world::Case;

const PLUGIN: ServiceAccount = ServiceAccount { random: || 0 };
const ACCOUNTS: &str = "/serviceaccounts";
const PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

fn account(name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "shop"}})
}

fn create(account: Value) -> Case<'static> {
    Case::create(&PLUGIN, "/pods").with(ACCOUNTS, account)
}

fn pod(spec: Value) -> Value {
    json!({"metadata": {"name": "web"}, "spec": spec})
}

fn no_mount(name: &str) -> Value {
    json!({"serviceAccountName": name, "automountServiceAccountToken": false})
}

#[test]
fn a_pod_runs_as_default_and_finds_its_token() {
    let made = create(account("default")).ok(&pod(json!({"containers": [{"name": "c"}]})));
    assert_eq!(
        made.str_at(&["spec", "serviceAccountName"]),
        Some("default")
    );
    assert_eq!(made.str_at(&["spec", "serviceAccount"]), Some("default"));
    let volumes = made
        .at(&["spec", "volumes"])
        .and_then(Value::as_array)
        .expect("a volume");
    assert_eq!(volumes.len(), 1);
    let name = volumes[0].str_at(&["name"]).expect("a name");
    assert!(name.starts_with("kube-api-access-"), "{name}");
    let sources = volumes[0]
        .at(&["projected", "sources"])
        .and_then(Value::as_array);
    let sources = sources.expect("sources");
    let token = json!({"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}});
    assert_eq!((sources.len(), &sources[0]), (3, &token));
    let containers = made
        .at(&["spec", "containers"])
        .and_then(Value::as_array)
        .expect("one");
    let mount = json!([{"name": name, "readOnly": true, "mountPath": PATH}]);
    assert_eq!(containers[0].get("volumeMounts"), Some(&mount));
    // Once more, and it stays as it is.
    create(account("default")).same(&made);
}

#[test]
fn a_container_with_something_at_that_place_keeps_it() {
    let own = json!([{"name": "mine", "mountPath": PATH}]);
    let spec = json!({"serviceAccountName": "default", "containers": [{"name": "c", "volumeMounts": own}]});
    create(account("default")).same(&pod(spec));
    let both = json!({
        "serviceAccountName": "default",
        "initContainers": [{"name": "i"}],
        "containers": [{"name": "c", "volumeMounts": [{"name": "mine", "mountPath": PATH}]}],
    });
    let made = create(account("default")).ok(&pod(both));
    let mounts = |kind: &str| {
        let all = made
            .at(&["spec", kind])
            .and_then(Value::as_array)
            .expect("containers");
        all[0]
            .get("volumeMounts")
            .and_then(Value::as_array)
            .map_or(0, Vec::len)
    };
    assert_eq!((mounts("initContainers"), mounts("containers")), (1, 1));
    assert!(made.at(&["spec", "volumes"]).is_some());
}

#[test]
fn pod_and_account_say_whether_the_token_is_wanted() {
    let mut closed = account("default");
    closed
        .as_object_mut()
        .expect("an object")
        .insert("automountServiceAccountToken", false);
    let spec = |wanted: Option<bool>| {
        let mut spec = json!({"serviceAccountName": "default", "containers": [{"name": "c"}]});
        if let Some(wanted) = wanted {
            spec.as_object_mut()
                .expect("an object")
                .insert("automountServiceAccountToken", wanted);
        }
        pod(spec)
    };
    let mounted = |account: Value, wanted| {
        create(account)
            .ok(&spec(wanted))
            .at(&["spec", "volumes"])
            .is_some()
    };
    assert!(mounted(account("default"), None));
    assert!(!mounted(account("default"), Some(false)));
    assert!(!mounted(closed.clone(), None));
    assert!(mounted(closed, Some(true)));
}

#[test]
fn the_account_must_be_there() {
    assert_eq!(
        create(account("default")).err(&pod(no_mount("robot"))),
        "pods \"web\" is forbidden: error looking up service account shop/robot: serviceaccount \"robot\" not found"
    );
    let other = json!({"metadata": {"name": "robot", "namespace": "other"}});
    create(other).err(&pod(no_mount("robot")));
    create(account("robot")).same(&pod(no_mount("robot")));
    // The default one is made by a controller: it is waited for, and then missed.
    assert!(
        Case::create(&PLUGIN, "/pods")
            .err(&pod(json!({})))
            .contains("\"default\" not found")
    );
    for (operation, resource, handled) in [
        (Operation::Create, "/pods", true),
        (Operation::Create, "/pods/ephemeralcontainers", true),
        (Operation::Update, "/pods/ephemeralcontainers", true),
        (Operation::Update, "/pods", false),
        (Operation::Create, "/pods/binding", false),
        (Operation::Delete, "/pods", false),
        (Operation::Create, "apps/pods", false),
        (Operation::Create, "/services", false),
    ] {
        let case = Case {
            operation,
            ..Case::create(&PLUGIN, resource)
        };
        assert_eq!(case.handles(), handled, "{operation:?} {resource}");
    }
}

#[test]
fn secrets_to_pull_images_come_from_the_account() {
    let mut puller = account("default");
    puller.as_object_mut().expect("an object").insert(
        "imagePullSecrets",
        json!([{"name": "registry", "extra": 1}]),
    );
    let made = create(puller.clone()).ok(&pod(no_mount("default")));
    assert_eq!(
        made.at(&["spec", "imagePullSecrets"]),
        Some(&json!([{"name": "registry"}]))
    );
    let own = json!({"serviceAccountName": "default", "automountServiceAccountToken": false, "imagePullSecrets": [{"name": "mine"}]});
    create(puller).same(&pod(own));
}

fn strict(enforce: &str) -> Value {
    json!({
        "metadata": {
            "name": "default",
            "namespace": "shop",
            "annotations": {"kubernetes.io/enforce-mountable-secrets": enforce},
        },
        "secrets": [{"name": "known"}],
        "imagePullSecrets": [{"name": "registry"}],
    })
}

#[test]
fn a_strict_account_names_the_secrets_of_its_pods() {
    let with = |field: &str, value: Value| {
        let mut spec = no_mount("default");
        let fields = spec.as_object_mut().expect("an object");
        fields.insert("imagePullSecrets", json!([{"name": "registry"}]));
        fields.insert(field, value);
        pod(spec)
    };
    let volume = |name: &str| {
        with(
            "volumes",
            json!([{"name": "v", "secret": {"secretName": name}}]),
        )
    };
    let env = |name: &str| json!([{"name": "c", "env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": name}}}]}]);
    let from = |name: &str| json!([{"name": "c", "envFrom": [{"secretRef": {"name": name}}]}]);
    for fine in [
        volume("known"),
        with("containers", env("known")),
        with("initContainers", from("known")),
        with(
            "containers",
            json!([{"name": "c", "env": [{"name": "E", "value": "x"}], "envFrom": [{"configMapRef": {"name": "x"}}]}]),
        ),
    ] {
        create(strict("true")).same(&fine);
    }
    let end = "is not allowed because service account default does not reference that";
    for (bad, why) in [
        (
            volume("other"),
            format!("volume with secret.secretName=\"other\" {end} secret"),
        ),
        (
            with("containers", env("other")),
            format!(
                "container c with envVar E referencing secret.secretName=\"other\" {end} secret"
            ),
        ),
        (
            with("initContainers", from("other")),
            format!(
                "init container c with envFrom referencing secret.secretName=\"other\" {end} secret"
            ),
        ),
        (
            with(
                "imagePullSecrets",
                json!([{"name": "registry"}, {"name": "other"}]),
            ),
            format!("imagePullSecrets[1].name=\"other\" {end} imagePullSecret"),
        ),
    ] {
        let text = format!("pods \"web\" is forbidden: {why}");
        assert_eq!(create(strict("true")).err(&bad), text);
        assert_eq!(create(strict("1")).err(&bad), text);
        create(strict("yes")).same(&bad);
    }
    // Containers that join later are looked at, and nothing else.
    let later = |name: &str| with("ephemeralContainers", env(name));
    let join = || {
        Case::update(&PLUGIN, "/pods/ephemeralcontainers", pod(json!({})))
            .with(ACCOUNTS, strict("true"))
    };
    join().same(&later("known"));
    join().same(&volume("other"));
    let refused = join().run(&later("other")).expect_err("not named");
    assert!(
        refused
            .message
            .contains("ephemeral container c with envVar E"),
        "{}",
        refused.message
    );
    assert_eq!(refused.code, 500);
    assert_eq!(
        join().err(&pod(json!({}))),
        "pods \"web\" is forbidden: no service account specified for pod shop/web"
    );
}

#[test]
fn a_mirror_pod_uses_nothing_of_the_api() {
    let mirror = |spec: Value| json!({"metadata": {"name": "web", "annotations": {"kubernetes.io/config.mirror": "x"}}, "spec": spec});
    let create = || Case::create(&PLUGIN, "/pods");
    create().same(&mirror(json!({"containers": [{"name": "c"}]})));
    let why = |spec: Value| {
        create()
            .err(&mirror(spec))
            .replace("pods \"web\" is forbidden: ", "")
    };
    assert_eq!(
        why(json!({"serviceAccountName": "default"})),
        "a mirror pod may not reference service accounts"
    );
    let secrets = "a mirror pod may not reference secrets";
    for spec in [
        json!({"imagePullSecrets": [{"name": "x"}]}),
        json!({"volumes": [{"secret": {"secretName": "x"}}]}),
        json!({"volumes": [{"csi": {"nodePublishSecretRef": {"name": "x"}}}]}),
        json!({"volumes": [{"projected": {"sources": [{"secret": {}}]}}]}),
        json!({"containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "x"}}}]}]}),
        json!({"initContainers": [{"envFrom": [{"secretRef": {"name": "x"}}]}]}),
    ] {
        assert_eq!(why(spec), secrets);
    }
    let token = json!({"volumes": [{"projected": {"sources": [{"serviceAccountToken": {}}]}}]});
    assert_eq!(
        why(token),
        "a mirror pod may not use ServiceAccountToken volume projections"
    );
}
