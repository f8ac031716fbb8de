//! Features over several servers: one state, whoever leads.

use features::{Flags, Registry, Selection};
use json::{Value, json};
use pilothouse::server::Options;

use super::nodes::{Nodes, until};

const FEATURE: &str =
    "/apis/features.k8s.io/v1alpha1/namespaces/kube-system/features/MaxUnavailableStatefulSet";
const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";

fn dynamic(options: &mut Options) {
    let all = Selection::parse(&["kube-system/*".to_owned()]);
    options.settings.dynamic_features = all.expect("a good selection");
}

/// The second server has the gate off.
fn different(options: &mut Options) {
    if options
        .advertise
        .is_some_and(|it| it.to_string() == "192.0.2.2")
    {
        let flags = Flags {
            feature_gates: vec!["MaxUnavailableStatefulSet=false".to_owned()],
            ..Flags::default()
        };
        let settings = flags.resolve(Registry::kubernetes());
        options.settings.features = settings.expect("good flags");
    }
}

fn stateful_set(name: &str) -> Value {
    json!({
        "kind": "StatefulSet", "apiVersion": "apps/v1",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "serviceName": "web",
            "selector": {"matchLabels": {"app": "web"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "nginx"}]},
            },
        },
    })
}

fn state(feature: &Value) -> &str {
    feature.str_at(&["status", "state"]).unwrap_or_default()
}

fn condition<'a>(feature: &'a Value, kind: &str) -> (&'a str, &'a str) {
    let all = feature
        .at(&["status", "conditions"])
        .and_then(Value::as_array);
    let mut all = all.into_iter().flatten();
    let found = all.find(|it| it.str_at(&["type"]) == Some(kind));
    let text = |key| found.and_then(|it| it.str_at(&[key])).unwrap_or_default();
    (text("status"), text("message"))
}

async fn set(nodes: &Nodes, index: usize, desired: &str) {
    let change = json!({"spec": {"desired": desired}});
    let path = format!("{FEATURE}/desired");
    let client = nodes.client(index);
    client
        .merge_patch(&path, &change)
        .await
        .expect("it may be set");
}

async fn keeps(nodes: &Nodes, index: usize, name: &str) -> bool {
    let client = nodes.client(index);
    // Gates may change while a request is read: clients try again then.
    loop {
        match client.create(SETS, &stateful_set(name)).await {
            Ok(created) => return created.to_string().contains("maxUnavailable"),
            Err(status) => assert_eq!(status.code, 429, "{status}"),
        }
        tokio::task::yield_now().await;
    }
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_feature_is_turned_off_and_on_for_all_servers_and_without_one_that_died() {
    let mut nodes = Nodes::with(2, dynamic).await;
    let both = |it: &Value| it.at(&["status", "registry", "servers"]) == Some(&2.into());
    until(nodes.client(0), FEATURE, |it| state(it) == "On" && both(it)).await;
    for index in 0..2 {
        assert!(keeps(&nodes, index, &format!("on-{index}")).await);
    }
    set(&nodes, 1, "Disabled").await;
    let off = until(nodes.client(0), FEATURE, |it| state(it) == "Off").await;
    assert_eq!(condition(&off, "Clean").0, "True");
    for set in nodes.client(0).items(SETS).await.expect("stateful sets") {
        assert!(!set.to_string().contains("maxUnavailable"), "{set}");
    }
    for index in 0..2 {
        assert!(!keeps(&nodes, index, &format!("off-{index}")).await);
    }
    nodes.kill(0);
    set(&nodes, 0, "Enabled").await;
    let on = until(nodes.client(0), FEATURE, |it| state(it) == "On").await;
    assert_eq!(on.at(&["status", "registry", "servers"]), Some(&1.into()));
    assert!(keeps(&nodes, 0, "again").await);
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn servers_that_disagree_are_named_and_nothing_moves() {
    let nodes = Nodes::with(2, different).await;
    let found = until(nodes.client(0), FEATURE, |it| {
        let (status, message) = condition(it, "Agreed");
        status == "False" && message.contains("true on ") && message.contains("false on ")
    })
    .await;
    assert!(!state(&found).starts_with("Turning"), "{found}");
    assert!(!keeps(&nodes, 1, "second").await);
}
