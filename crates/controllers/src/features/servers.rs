//! The API servers: which are there, what each wants, and what each has taken over.
//!
//! A server lives while its identity Lease is renewed, by the clock of who looks. What it says of features is in one `ConfigMap` of its own:
//! storage costs one object for each server, whatever the number of features and clients.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use apiserver::local::{Acknowledged, FEATURES_NAMESPACE as NAMESPACE, FeatureAdmission};
use features::lifecycle::{Acknowledgement, Admission};
use features::{Candidate, Selection, Stage, Version};
use json::{Object, Value, json};
use meta::object;

/// A Lease that was not renewed for so long does not count: three renewals were missed.
const FRESH: Duration = Duration::from_secs(30);
pub(super) const LABEL: &str = "features.k8s.io/server";

/// What a server says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shard {
    pub(super) version: Option<Version>,
    pub(super) emulation: Option<Version>,
    /// The value of each feature by the server's command line.
    pub(super) values: BTreeMap<String, bool>,
    pub(super) dynamic: Selection,
    pub(super) acknowledged: BTreeMap<String, (u64, Admission)>,
    /// Features that the server's kill-switch file names.
    pub(super) killed: BTreeSet<String>,
}

/// All servers, as this one sees them.
#[derive(Debug, Default)]
pub(super) struct Servers {
    leases: BTreeMap<String, Renewal>,
    shards: BTreeMap<String, Shard>,
}

#[derive(Debug)]
struct Renewal {
    text: String,
    seen: Instant,
}

/// A live server with what it says, if it has said anything yet.
pub(super) struct Live<'a> {
    pub(super) id: &'a str,
    pub(super) shard: Option<&'a Shard>,
}

impl Servers {
    pub(super) fn put_lease(&mut self, lease: &Value) {
        let renewed = lease.str_at(&["spec", "renewTime"]).unwrap_or_default();
        let renewal = self.leases.entry(object::name(lease).to_owned());
        let renewal = renewal.or_insert_with(|| Renewal {
            text: String::new(),
            seen: Instant::now(),
        });
        if renewal.text != renewed {
            renewed.clone_into(&mut renewal.text);
            renewal.seen = Instant::now();
        }
    }

    pub(super) fn remove_lease(&mut self, name: &str) {
        self.leases.remove(name);
    }

    pub(super) fn put_shard(&mut self, id: &str, shard: Shard) {
        self.shards.insert(id.to_owned(), shard);
    }

    pub(super) fn remove_shard(&mut self, id: &str) {
        self.shards.remove(id);
    }

    /// Servers that live, this one among them whether or not its Lease was seen.
    pub(super) fn live<'a>(&'a self, own: &'a str) -> Vec<Live<'a>> {
        let fresh = self.leases.iter();
        let fresh = fresh.filter(|(_, it)| it.seen.elapsed() < FRESH);
        let mut ids: BTreeSet<&str> = fresh.map(|(id, _)| id.as_str()).collect();
        ids.insert(own);
        let live = ids.into_iter().map(|id| Live {
            id,
            shard: self.shards.get(id),
        });
        live.collect()
    }
}

impl Live<'_> {
    pub(super) fn candidate(&self, feature: &str) -> Candidate<'_> {
        let shard = self.shard;
        Candidate {
            id: self.id,
            knows: shard.is_some_and(|it| it.values.contains_key(feature)),
            emulation: shard
                .and_then(|it| it.emulation)
                .unwrap_or(Version::new(u64::MAX, 0)),
        }
    }

    pub(super) fn acknowledgement(&self, feature: &str) -> Acknowledgement {
        let found = self.shard.and_then(|it| it.acknowledged.get(feature));
        let (epoch, admission) = found.copied().unwrap_or((0, Admission::Closed));
        Acknowledgement {
            server: self.id.to_owned(),
            epoch,
            admission,
        }
    }
}

impl Shard {
    pub(super) fn own(admission: &FeatureAdmission, acknowledged: &Acknowledged) -> Self {
        let settings = admission.own();
        let gates = settings.iter();
        let gates = gates.filter(|(gate, state)| {
            !matches!(&*gate.name, "AllAlpha" | "AllBeta") && state.spec.stage != Stage::PreAlpha
        });
        Self {
            version: Some(settings.registry().version()),
            emulation: Some(settings.emulation()),
            values: gates
                .map(|(gate, state)| (gate.name.clone(), state.enabled))
                .collect(),
            dynamic: admission.dynamic().clone(),
            acknowledged: (**acknowledged).clone(),
            killed: BTreeSet::new(),
        }
    }

    pub(super) fn object(&self, id: &str) -> Value {
        let mut labels = Object::new();
        labels.insert(LABEL, id);
        let values = self.values.iter();
        let values = values.map(|(name, value)| format!("{name}={value}"));
        let acknowledged = self.acknowledged.iter().map(|(name, (epoch, admission))| {
            let is_open = *admission == Admission::Open;
            format!("{name}={epoch}:{}", if is_open { "Open" } else { "Closed" })
        });
        let version = |it: Option<Version>| it.map_or(String::new(), |it| it.to_string());
        let killed = self.killed.iter().cloned();
        json!({
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"name": (name(id)), "namespace": NAMESPACE, "labels": labels},
            "data": {
                "version": (version(self.version)),
                "emulationVersion": (version(self.emulation)),
                "values": (values.collect::<Vec<_>>().join("\n")),
                "dynamic": (self.dynamic.to_string()),
                "acknowledged": (acknowledged.collect::<Vec<_>>().join("\n")),
                "killed": (killed.collect::<Vec<_>>().join("\n")),
            },
        })
    }

    pub(super) fn read(map: &Value) -> Self {
        let text = |key: &str| map.str_at(&["data", key]).unwrap_or_default();
        let pairs = |key: &str| {
            let lines = text(key).lines();
            lines
                .filter_map(|it| it.split_once('='))
                .collect::<Vec<_>>()
        };
        let values = pairs("values").into_iter();
        let acknowledged = pairs("acknowledged").into_iter().filter_map(|(name, it)| {
            let (epoch, admission) = it.split_once(':')?;
            let admission = match admission {
                "Open" => Admission::Open,
                _ => Admission::Closed,
            };
            Some((name.to_owned(), (epoch.parse().ok()?, admission)))
        });
        Self {
            version: Version::parse(text("version")).ok(),
            emulation: Version::parse(text("emulationVersion")).ok(),
            values: values
                .map(|(name, value)| (name.to_owned(), value == "true"))
                .collect(),
            dynamic: Selection::parse(&[text("dynamic").to_owned()]).unwrap_or_default(),
            acknowledged: acknowledged.collect(),
            killed: text("killed").lines().map(str::to_owned).collect(),
        }
    }
}

/// The name of a server's `ConfigMap`.
pub(super) fn name(id: &str) -> String {
    format!("features-{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_survives_storage() {
        let shard = Shard {
            version: Some(Version::new(1, 37)),
            emulation: Some(Version::new(1, 36)),
            values: [("A".to_owned(), true), ("B".to_owned(), false)].into(),
            dynamic: Selection::parse(&["kube-system/A".to_owned()]).expect("good"),
            acknowledged: [("A".to_owned(), (7, Admission::Open))].into(),
            killed: ["B".to_owned()].into(),
        };
        assert_eq!(Shard::read(&shard.object("apiserver-a")), shard);
    }

    #[test]
    fn a_server_without_a_renewed_lease_does_not_count() {
        let lease =
            |name: &str, at: &str| json!({"metadata": {"name": name}, "spec": {"renewTime": at}});
        let mut servers = Servers::default();
        servers.put_lease(&lease("b", "1"));
        let ids = |servers: &Servers| {
            let live = servers.live("a");
            live.iter().map(|it| it.id.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&servers), ["a", "b"]);
        if let Some(before) = Instant::now().checked_sub(FRESH) {
            servers.leases.get_mut("b").expect("it was put").seen = before;
            servers.put_lease(&lease("b", "1"));
            assert_eq!(ids(&servers), ["a"], "the same renewal");
            servers.put_lease(&lease("b", "2"));
            assert_eq!(ids(&servers), ["a", "b"]);
        }
    }
}
