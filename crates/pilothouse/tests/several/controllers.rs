use std::time::Duration;

use super::nodes::{Nodes, until, until_gone};
use json::{Value, json};
use pilothouse::server::Options;

const LEASE: &str =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/pilothouse-controllers";
const SLICE: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";

/// So that nobody waits long for one that is gone.
fn quick(options: &mut Options) {
    options.settings.server_ttl = Duration::from_secs(3);
    options.election.lease_duration = Duration::from_secs(3);
    options.election.renew_deadline = Duration::from_secs(2);
    options.election.retry_period = Duration::from_millis(200);
}

fn holder(lease: &Value) -> String {
    let holder = lease.str_at(&["spec", "holderIdentity"]);
    holder.unwrap_or_default().to_owned()
}

fn addresses(slice: &Value) -> Vec<String> {
    let all = slice.get("endpoints").and_then(Value::as_array);
    let all = all.into_iter().flatten();
    let all = all.filter_map(|it| it.get("addresses")?.as_array()?.first()?.as_str());
    let mut all: Vec<_> = all.map(str::to_owned).collect();
    all.sort();
    all
}

/// A namespace with something in it ends.
async fn a_namespace_ends(nodes: &Nodes, name: &str) {
    let namespace = json!({"metadata": {"name": name}});
    let client = nodes.client(0);
    client
        .create("/api/v1/namespaces", &namespace)
        .await
        .unwrap();
    let path = format!("/api/v1/namespaces/{name}");
    let account = format!("{path}/serviceaccounts/default");
    until(client, &account, |_| true).await;
    client.delete(&path, &Value::Null).await.unwrap();
    until_gone(client, &path).await;
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn one_server_runs_the_controllers_and_another_takes_over() {
    let mut nodes = Nodes::with(3, quick).await;
    let all = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
    until(nodes.client(0), SLICE, |it| addresses(it) == all).await;
    let held = until(nodes.client(1), LEASE, |it| !holder(it).is_empty()).await;
    a_namespace_ends(&nodes, "first").await;

    // Killed, it is noticed; which one holds the Lease is known by its name only.
    let leads = |nodes: &Nodes, lease: &Value| {
        let held = holder(lease);
        let mut all = nodes.all.iter();
        all.position(|node| node.identity == held)
    };
    let leader = leads(&nodes, &held).expect("one of ours");
    let mut left: Vec<_> = all.into();
    left.remove(leader);
    nodes.kill(leader);
    until(nodes.client(0), SLICE, |it| addresses(it) == left).await;
    let held = until(nodes.client(1), LEASE, |it| leads(&nodes, it).is_some()).await;
    a_namespace_ends(&nodes, "second").await;

    // Stopped, it says so.
    let leader = leads(&nodes, &held).expect("one of ours");
    left.remove(leader);
    nodes.stop(leader).await;
    let slice = nodes.client(0).get(SLICE).await.unwrap();
    assert_eq!(addresses(&slice), left);
    until(nodes.client(0), LEASE, |it| leads(&nodes, it).is_some()).await;
    a_namespace_ends(&nodes, "third").await;
}
