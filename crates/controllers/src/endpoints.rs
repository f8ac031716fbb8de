//! `kubernetes-service-controller`: the Service `kubernetes` leads to all servers that live.
//!
//! Servers know of each other by their identity leases.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use apiserver::local::Local;
use json::{Value, json};
use meta::Status;
use meta::time::Time;

use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};
use crate::{condition, identity};

const AGAIN: Duration = Duration::from_secs(10);
/// A server that did not renew its lease for so many seconds is not there.
const SILENCE: i64 = 30;
const NAMESPACE: &str = "/api/v1/namespaces/default";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

pub(crate) async fn run(client: Local, own: (IpAddr, u16)) -> std::convert::Infallible {
    let queue = Queue::new(AGAIN);
    queue.add(());
    let work = |()| {
        let client = client.clone();
        async move {
            match reconcile(&client, own).await {
                Ok(()) => Outcome::Done,
                Err(_) => Outcome::Retry,
            }
        }
    };
    let changed = |event: Event| {
        if let Event::Put(_) | Event::Gone(_) = event {
            queue.add(());
        }
    };
    let path = |collection: &str| format!("{collection}?fieldSelector=metadata.name%3Dkubernetes");
    let (services, endpoints) = (
        path("/api/v1/namespaces/default/services"),
        path("/api/v1/namespaces/default/endpoints"),
    );
    let slices = path(SLICES);
    let silence = async {
        loop {
            tokio::time::sleep(AGAIN).await;
            queue.add(());
        }
    };
    tokio::select! {
        never = queue.run(1, work) => never,
        never = follow(&client, &services, changed) => never,
        never = follow(&client, &endpoints, changed) => never,
        never = follow(&client, &slices, changed) => never,
        never = silence => never,
    }
}

async fn reconcile(client: &Local, own: (IpAddr, u16)) -> Result<(), Status> {
    crate::bootstrap::service(client).await?;
    let (ip, port) = own;
    // No endpoint may be this: the server is for this machine alone then.
    if ip.is_loopback() || ip.is_unspecified() {
        return Ok(());
    }
    let mut ips: BTreeSet<IpAddr> = alive(client, port).await?;
    ips.insert(ip);
    ips.retain(|it| it.is_ipv4() == ip.is_ipv4());
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

/// Where other servers at this port are.
async fn alive(client: &Local, port: u16) -> Result<BTreeSet<IpAddr>, Status> {
    let now = condition::unix();
    let leases = client.items(&identity::leases()).await?;
    let leases = leases.iter().filter(|lease| {
        let renewed = lease.str_at(&["spec", "renewTime"]).unwrap_or_default();
        Time::parse_micro(renewed).is_ok_and(|it| now - it.unix_seconds() <= SILENCE)
    });
    let all = leases.filter_map(|lease| meta::object::annotation(lease, identity::ADDRESS));
    let all = all.filter_map(|it| it.parse::<SocketAddr>().ok());
    let all = all.filter(|it| it.port() == port);
    Ok(all.map(|it| it.ip()).collect())
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
