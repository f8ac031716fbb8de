//! `apiserver-identity-controller`: a lease for each server that lives (KEP-1965).

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use apiserver::local::Local;
use aws_lc_rs::digest;
use json::{Object, Value, json};
use meta::Status;
use meta::time::Time;

use crate::condition;

const RENEW: Duration = Duration::from_secs(10);
/// Seconds; those of others that are older are removed.
const DURATION: i64 = 3600;
/// Looked at for leases that ran out, in renewals.
const CLEAN: u32 = 360;
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
/// Where other servers reach the holder.
const ADDRESS: &str = "kubernetes.io/peer-advertise-address";
const LABEL: &str = "apiserver.kubernetes.io/identity";

/// The collection of all identity leases.
fn leases() -> String {
    format!("{LEASES}?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver")
}

pub(crate) async fn run(client: Local, identity: String, (ip, port): (IpAddr, u16)) {
    let name = lease(&identity);
    let address = SocketAddr::new(ip, port).to_string();
    for round in 0_u32.. {
        // The next round tries again.
        let sent = Instant::now();
        if renew(&client, &name, &address).await.is_ok() {
            let host = client.host();
            host.features().renewed(sent);
            // What other servers decided while this one did not count must be seen before it counts again.
            if host.wait_until_caught_up().await.is_ok() {
                host.features().read_after_renewal();
            }
        }
        if round.is_multiple_of(CLEAN) {
            let _ = clean(&client).await;
        }
        tokio::time::sleep(RENEW).await;
    }
}

/// The name of the Lease of a server.
pub(crate) fn lease(identity: &str) -> String {
    format!("apiserver-{}", hash(identity))
}

async fn renew(client: &Local, name: &str, address: &str) -> Result<(), Status> {
    let path = format!("{LEASES}/{name}");
    let spec = json!({
        "holderIdentity": (format!("{name}_{address}")),
        "leaseDurationSeconds": DURATION,
        "renewTime": (condition::now_micro()),
    });
    let mut annotations = Object::new();
    annotations.insert(ADDRESS, address);
    let change =
        json!({"metadata": {"annotations": (annotations.clone())}, "spec": (spec.clone())});
    match client.merge_patch(&path, &change).await {
        Err(status) if status.is_not_found() => {}
        done => return done.map(|_| ()),
    }
    let mut labels = Object::new();
    labels.insert(LABEL, "kube-apiserver");
    if let Some(host) = host_name() {
        labels.insert("kubernetes.io/hostname", host);
    }
    let lease = json!({
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {
            "name": name,
            "namespace": "kube-system",
            "labels": labels,
            "annotations": annotations,
        },
        "spec": spec,
    });
    client.create(LEASES, &lease).await.map(|_| ())
}

async fn clean(client: &Local) -> Result<(), Status> {
    let now = condition::unix();
    for lease in client.items(&leases()).await? {
        let renewed = lease.str_at(&["spec", "renewTime"]).unwrap_or_default();
        let lasts = lease.at(&["spec", "leaseDurationSeconds"]);
        let lasts = lasts.and_then(Value::as_i64).unwrap_or(0);
        let over = Time::parse_micro(renewed).is_ok_and(|it| it.unix_seconds() + lasts < now);
        if over {
            let path = format!("{LEASES}/{}", meta::object::name(&lease));
            client.delete(&path, &Value::Null).await?;
        }
    }
    Ok(())
}

/// If it can be a label.
fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let ends = |byte: &u8| byte.is_ascii_alphanumeric();
    let bytes = name.as_bytes();
    let good = bytes.len() <= 63
        && bytes.iter().all(|it| fits(*it))
        && bytes.first().is_some_and(ends)
        && bytes.last().is_some_and(ends);
    good.then(|| name.to_owned())
}

/// 16 bytes of SHA-256 in base 32, as upstream names its servers.
fn hash(identity: &str) -> String {
    let mut digest = digest::Context::new(&digest::SHA256);
    for part in [identity, "kube-apiserver"] {
        let length = u16::try_from(part.len()).unwrap_or(u16::MAX);
        digest.update(&length.to_be_bytes());
        digest.update(part.as_bytes());
    }
    let digest = digest.finish();
    let mut out = String::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in &digest.as_ref()[..16] {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            out.push(letter(bits >> count));
        }
    }
    out.push(letter(bits << (5 - count)));
    out
}

fn letter(bits: u32) -> char {
    let alphabet = b"abcdefghijklmnopqrstuvwxyz234567";
    char::from(alphabet[(bits & 31) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_upstream_makes_them() {
        // What kube-apiserver 1.37 calls itself on a host named `vm`.
        assert_eq!(hash("vm"), "wlv32tlttr4jl3gtroqexyxapa");
    }
}
