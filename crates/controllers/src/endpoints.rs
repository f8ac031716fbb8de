//! `kubernetes-service-controller`: the Service `kubernetes` leads to all servers that live.
//!
//! Servers know of each other as kube-apiserver's do: each renews a key of its own, and one that does not is not there.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use apiserver::local::Local;
use json::{Value, json};
use meta::Status;

use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};

const NAMESPACE: &str = "/api/v1/namespaces/default";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

/// This server as the others see it.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub ip: IpAddr,
    pub port: u16,
    /// What its key lives by.
    pub lease: Arc<AtomicU64>,
}

impl Own {
    pub(crate) fn new((ip, port): (IpAddr, u16)) -> Self {
        Self {
            ip,
            port,
            lease: Arc::default(),
        }
    }

    /// No endpoint may be this: the server is for this machine alone then.
    fn is_private(&self) -> bool {
        self.ip.is_loopback() || self.ip.is_unspecified()
    }
}

pub(crate) async fn run(client: Local, own: Own) -> std::convert::Infallible {
    // In time before the others think that we are gone.
    let again = client.host().master_lease_duration() * 2 / 3;
    let queue = Queue::new(&client, "kubernetes_service", again);
    queue.add(());
    let work = |()| {
        let (client, own) = (client.clone(), own.clone());
        async move {
            match renew(&client, &own).await {
                Ok(()) => Outcome::Done,
                Err(_) => Outcome::Retry,
            }
        }
    };
    // What others put there is looked at when its time comes: two that disagree must not keep each other busy.
    let removed = |event: Event| {
        if let Event::Gone(_) = event {
            queue.add(());
        }
    };
    let path = |collection: &str| format!("{collection}?fieldSelector=metadata.name%3Dkubernetes");
    let (services, endpoints) = (
        path("/api/v1/namespaces/default/services"),
        path("/api/v1/namespaces/default/endpoints"),
    );
    let slices = path(SLICES);
    let round = async {
        loop {
            tokio::time::sleep(again).await;
            queue.add(());
        }
    };
    tokio::select! {
        never = queue.run(1, work) => never,
        never = follow(&client, &services, removed) => never,
        never = follow(&client, &endpoints, removed) => never,
        never = follow(&client, &slices, removed) => never,
        never = round => never,
    }
}

/// Takes this server from the list.
pub(crate) async fn leave(client: &Local, own: &Own) -> Result<(), Status> {
    let lease = own.lease.swap(0, Ordering::Relaxed);
    if lease == 0 {
        return Ok(());
    }
    client.host().revoke_master_lease(lease).await?;
    reconcile(client, own).await
}

async fn renew(client: &Local, own: &Own) -> Result<(), Status> {
    crate::bootstrap::service(client).await?;
    if own.is_private() {
        return Ok(());
    }
    let lease = own.lease.load(Ordering::Relaxed);
    let lease = client.host().renew_master_lease(own.ip, lease).await?;
    own.lease.store(lease, Ordering::Relaxed);
    reconcile(client, own).await
}

async fn reconcile(client: &Local, own: &Own) -> Result<(), Status> {
    let (ip, port) = (own.ip, own.port);
    let mut ips = client.host().master_addresses().await?;
    ips.retain(|it| it.is_ipv4() == ip.is_ipv4());
    if ips.is_empty() {
        // The last server leaves: no endpoints are left to write.
        return Ok(());
    }
    let addresses: Value = ips
        .iter()
        .map(|it| json!({"ip": (it.to_string())}))
        .collect();
    let port = i64::from(port);
    let endpoints = json!({
        "kind": "Endpoints",
        "apiVersion": "v1",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [{
            "addresses": addresses,
            "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
        }],
    });
    keep(client, &format!("{NAMESPACE}/endpoints"), endpoints).await?;
    let ready = ips
        .iter()
        .map(|it| json!({"addresses": [(it.to_string())], "conditions": {"ready": true}}));
    let slice = json!({
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": "kubernetes"},
        },
        "addressType": (if ip.is_ipv4() { "IPv4" } else { "IPv6" }),
        "endpoints": (ready.collect::<Value>()),
        "ports": [{"name": "https", "protocol": "TCP", "port": port}],
    });
    keep(client, SLICES, slice).await
}

/// Makes all fields of the object as they are given; a slice of another family is made anew.
async fn keep(client: &Local, collection: &str, object: Value) -> Result<(), Status> {
    let path = format!("{collection}/kubernetes");
    let mut live = match client.get(&path).await {
        Ok(live) => live,
        Err(status) if status.is_not_found() => {
            return client.create(collection, &object).await.map(|_| ());
        }
        Err(status) => return Err(status),
    };
    if live.get("addressType") != object.get("addressType") {
        client.delete(&path, &Value::Null).await?;
        return client.create(collection, &object).await.map(|_| ());
    }
    let (Some(fields), Some(wanted)) = (live.as_object_mut(), object.as_object()) else {
        return Ok(());
    };
    let mut changed = false;
    for (key, value) in wanted.iter().filter(|(key, _)| &***key != "metadata") {
        if fields.get(key) != Some(value) {
            fields.insert(key.clone(), value.clone());
            changed = true;
        }
    }
    if let Some(labels) = object.at(&["metadata", "labels"])
        && let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut)
        && metadata.get("labels") != Some(labels)
    {
        metadata.insert("labels", labels.clone());
        changed = true;
    }
    if changed {
        client.update(&path, &live).await?;
    }
    Ok(())
}
