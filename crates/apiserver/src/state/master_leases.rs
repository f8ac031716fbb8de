//! Master leases: which API servers are alive, as kube-apiserver records it. Each address has a key,
//! `/masterleases/<ip>`, that expires when its server stops renewing it. Not a resource of the API.

use std::collections::BTreeSet;
use std::net::IpAddr;

use json::{Value, json};
use meta::Status;
use store::{Condition, LeaseId, Txn};

use crate::catalog::convert;
use crate::state::Api;
use crate::state::failure;

const KEYS: &str = "/masterleases/";

impl Api {
    /// Renews the master lease of the server at this address, or takes one. `lease` is what the last call returned, zero
    /// at first.
    pub async fn renew_master_lease(&self, ip: IpAddr, lease: LeaseId) -> Result<LeaseId, Status> {
        let key = format!("{KEYS}{ip}");
        let snapshot = self.fresh_snapshot().await?;
        let found = snapshot.get(key.as_bytes());
        let good = found.is_some_and(|entry| address(&entry.value) == Some(ip));
        if good && lease != 0 && found.is_some_and(|entry| entry.lease == lease) {
            match self.store.keep_alive(lease).await {
                Ok(_) => return Ok(lease),
                Err(store::Error::NoLease(_)) => {}
                Err(error) => return Err(failure::of_store(&error)),
            }
        }
        // Not there, or under another lease: that of this server before its restart, or of another server at this
        // address, which will take it back. The key stays as long as one of them runs.
        let condition = match found {
            Some(entry) => Condition::Unchanged(key.clone().into(), entry.modified),
            None => Condition::Absent(key.clone().into()),
        };
        let granted = self.store.grant(self.settings.server_ttl).await;
        let lease = granted.map_err(|error| failure::of_store(&error))?;
        let value = json!({
            "kind": "Endpoints",
            "apiVersion": "v1",
            "metadata": {"generation": 1},
            "subsets": [{"addresses": [{"ip": (ip.to_string())}]}],
        });
        let txn = Txn::new().when(condition);
        let txn = txn.put_leased(key, json::to_vec(&value), lease);
        match self.store.txn(txn).await {
            Ok(_) => Ok(lease),
            Err(error) => {
                // It ends by itself, later.
                let _ = self.store.revoke(lease).await;
                Err(failure::of_store(&error))
            }
        }
    }

    /// Ends a master lease: its server stops.
    pub async fn revoke_master_lease(&self, lease: LeaseId) -> Result<(), Status> {
        match self.store.revoke(lease).await {
            Ok(()) | Err(store::Error::NoLease(_)) => Ok(()),
            Err(error) => Err(failure::of_store(&error)),
        }
    }

    /// The addresses of all servers whose master lease has not expired.
    pub async fn master_addresses(&self) -> Result<BTreeSet<IpAddr>, Status> {
        let snapshot = self.fresh_snapshot().await?;
        let all = snapshot.range(KEYS.as_bytes());
        Ok(all.filter_map(|entry| address(&entry.value)).collect())
    }
}

fn address(value: &[u8]) -> Option<IpAddr> {
    let value = convert::read(value).ok()?;
    let first = |value: &Value, field: &str| {
        let all = value.get(field).and_then(Value::as_array);
        all.and_then(|it| it.first()).cloned()
    };
    let address = first(&first(&value, "subsets")?, "addresses")?;
    address.str_at(&["ip"])?.parse().ok()
}
