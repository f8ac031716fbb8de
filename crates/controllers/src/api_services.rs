//! `apiservice-registration-controller`: an `APIService` for each version of each group that is served here.

use std::collections::BTreeMap;
use std::time::Duration;

use apiserver::local::{Group, Local};
use json::{Object, Value, json};
use meta::Status;
use meta::object::{label, name};

const SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
const LABEL: &str = "kube-aggregator.kubernetes.io/automanaged";
const PAUSE: Duration = Duration::from_secs(1);

/// Group priorities as upstream has them; the higher the earlier in discovery.
const GROUPS: [(&str, i64); 27] = [
    ("", 18000),
    ("admissionregistration.k8s.io", 16700),
    ("apiextensions.k8s.io", 16700),
    ("apps", 17800),
    ("authentication.k8s.io", 17700),
    ("authorization.k8s.io", 17600),
    ("autoscaling", 17500),
    ("batch", 17400),
    ("certificates.k8s.io", 17300),
    ("coordination.k8s.io", 16500),
    ("discovery.k8s.io", 16200),
    ("events.k8s.io", 17750),
    ("extensions", 17900),
    ("flowcontrol.apiserver.k8s.io", 16100),
    ("internal.apiserver.k8s.io", 16000),
    ("networking.k8s.io", 17200),
    ("node.k8s.io", 16300),
    ("policy", 17100),
    ("rbac.authorization.k8s.io", 17000),
    ("resource.k8s.io", 16200),
    ("scheduling.k8s.io", 16600),
    ("storage.k8s.io", 16800),
    ("storagemigration.k8s.io", 15800),
    ("metrics.k8s.io", 100),
    ("custom.metrics.k8s.io", 100),
    ("external.metrics.k8s.io", 100),
    ("apiregistration.k8s.io", 0),
];

pub(crate) async fn run(client: Local) {
    let mut changes = client.host().served_kinds_changes();
    loop {
        if reconcile(&client).await.is_err() {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

async fn reconcile(client: &Local) -> Result<(), Status> {
    let wanted = wanted(client);
    let mut found = BTreeMap::new();
    for service in client.items(SERVICES).await? {
        found.insert(name(&service).to_owned(), service);
    }
    let missing = wanted.iter().filter(|(name, _)| !found.contains_key(*name));
    let missing = missing.map(|(_, service)| {
        let (client, service) = (client.clone(), service.clone());
        async move { client.create(SERVICES, &service).await.map(|_| ()) }
    });
    crate::bootstrap::all(missing).await?;
    for (name, live) in found {
        let path = format!("{SERVICES}/{name}");
        let ours = label(&live, LABEL).is_some();
        match wanted.get(&name) {
            None if ours => drop(client.delete(&path, &Value::Null).await?),
            Some(service) if ours && live.get("spec") != service.get("spec") => {
                let change = json!({"spec": (service.get("spec").cloned().unwrap_or_default())});
                client.merge_patch(&path, &change).await?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The objects by their names.
fn wanted(client: &Local) -> BTreeMap<String, Value> {
    let catalog = client.host().served_kinds();
    let mut all = BTreeMap::new();
    for group in &catalog.groups {
        for (at, version) in group.versions.iter().enumerate() {
            if group.name == *"apiregistration.k8s.io" {
                continue;
            }
            let custom = version.resources.iter().all(|it| it.custom.is_some());
            let known = GROUPS.iter().find(|(name, _)| *name == &*group.name);
            let (group_priority, priority) = match known {
                Some((_, priority)) if !custom => (*priority, version_priority(group, at)),
                _ => (1000, 100),
            };
            let name = format!("{}.{}", version.version, group.name);
            let mut labels = Object::new();
            labels.insert(LABEL, if custom { "true" } else { "onstart" });
            let mut spec = Object::new();
            if !group.name.is_empty() {
                spec.insert("group", &group.name);
            }
            spec.insert("version", &version.version);
            spec.insert("groupPriorityMinimum", group_priority);
            spec.insert("versionPriority", priority);
            let service = json!({
                "kind": "APIService",
                "apiVersion": "apiregistration.k8s.io/v1",
                "metadata": {"name": (name.clone()), "labels": labels},
                "spec": spec,
            });
            all.insert(name, service);
        }
    }
    all
}

/// As upstream: most groups begin at 15, some left room.
fn version_priority(group: &Group, at: usize) -> i64 {
    match (&*group.name, &*group.versions[at].version) {
        ("", _) => 1,
        ("flowcontrol.apiserver.k8s.io" | "resource.k8s.io", "v1") => 21,
        ("autoscaling", "v2") => 30,
        (_, "v1") => 15,
        (_, version) if version.contains("beta") => 12,
        (_, version) if version.contains("alpha") => 9,
        _ => 15,
    }
}
