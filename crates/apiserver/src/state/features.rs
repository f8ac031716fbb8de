//! Which features this server admits new uses of: its own gates, as far as the states of the Features allow it.
//!
//! A server follows the Features of kube-system as it follows roles. When the admission of a feature closes, a catalog without the
//! feature takes the place of the old one, and the server acknowledges that only after all writes have ended that began with the
//! old one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use features::Settings;
use features::lifecycle::Admission;
use json::Value;
use tokio::sync::{Notify, watch};

use crate::runtime::write_barrier::{WriteBarrier, WriteGuard};

/// The namespace of the features of the control plane.
pub const NAMESPACE: &str = "kube-system";

/// A server that could not renew its Lease for so long admits no new uses. Others count it as fresh for ten seconds more.
const FENCE: Duration = Duration::from_secs(20);

/// The epoch and admission of each feature that this server has taken over.
pub type Acknowledged = Arc<BTreeMap<String, (u64, Admission)>>;

#[derive(Debug)]
pub struct FeatureAdmission {
    /// The gates by the command line.
    own: Settings<'static>,
    /// Features that the API may set.
    dynamic: features::Selection,
    seen: Mutex<BTreeMap<String, (u64, Admission)>>,
    changed: Notify,
    acknowledged: watch::Sender<Acknowledged>,
    writes: Arc<WriteBarrier>,
    lease: Mutex<Fence>,
    is_fenced: AtomicBool,
}

/// Whether others may stop to count this server.
#[derive(Debug, Default)]
struct Fence {
    is_watched: bool,
    renewed: Option<Instant>,
}

impl FeatureAdmission {
    pub(super) fn new(own: Settings<'static>, dynamic: features::Selection) -> Self {
        Self {
            own,
            dynamic,
            seen: Mutex::default(),
            changed: Notify::new(),
            acknowledged: watch::Sender::new(Acknowledged::default()),
            writes: Arc::default(),
            lease: Mutex::default(),
            is_fenced: AtomicBool::new(false),
        }
    }

    /// The gates by the command line.
    pub fn own(&self) -> &Settings<'static> {
        &self.own
    }

    /// Whether the API may set a feature.
    pub fn is_dynamic(&self, namespace: &str, name: &str) -> bool {
        self.dynamic.contains(namespace, name)
    }

    pub fn dynamic(&self) -> &features::Selection {
        &self.dynamic
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<String, (u64, Admission)>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gates that are in effect.
    pub fn effective(&self) -> Settings<'static> {
        let seen = self.seen();
        self.own.with(|gate, own| {
            let admission = seen.get(gate).map(|it| it.1);
            self.in_effect(gate, own, admission)
        })
    }

    /// Whether a gate is on that is so by the command line, and whose Feature says this.
    fn in_effect(&self, gate: &str, own: bool, admission: Option<Admission>) -> bool {
        match admission {
            None => own,
            Some(Admission::Closed) => false,
            Some(Admission::Open) => own || self.is_dynamic(NAMESPACE, gate),
        }
    }

    /// Takes over a Feature as it is stored, or that it is gone. Tells whether another value of its gate is in effect now: most
    /// Features say at the start what the command line says.
    pub(super) fn put(&self, name: &str, feature: Option<&Value>) -> bool {
        let status = feature.and_then(|it| it.get("status"));
        let admission = match status.and_then(|it| it.str_at(&["admission"])) {
            Some("Open") => Some(Admission::Open),
            Some(_) => Some(Admission::Closed),
            None => None,
        };
        let epoch = status
            .and_then(|it| it.get("epoch"))
            .and_then(Value::as_i64);
        let epoch = epoch.and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
        let mut seen = self.seen();
        let before = match admission {
            Some(admission) => seen.insert(name.to_owned(), (epoch, admission)),
            None => seen.remove(name),
        };
        let after = seen.get(name).copied();
        drop(seen);
        if before != after {
            self.changed.notify_one();
        }
        let gate = self.own.registry().find(name);
        gate.is_some_and(|gate| {
            let own = self.own.enabled(gate);
            let value = |it: Option<(u64, Admission)>| self.in_effect(name, own, it.map(|it| it.1));
            value(before) != value(after)
        })
    }

    /// Features that were seen and are not there any more.
    pub(super) fn missing(&self, is_there: impl Fn(&str) -> bool) -> Vec<String> {
        let seen = self.seen();
        seen.keys().filter(|it| !is_there(it)).cloned().collect()
    }

    /// Acknowledges what was taken over, each time after the writes have ended that began before. Never ends.
    pub(super) async fn acknowledge(&self) -> std::convert::Infallible {
        loop {
            let seen = self.seen().clone();
            self.writes.drain().await;
            self.acknowledged.send_replace(Arc::new(seen));
            self.changed.notified().await;
        }
    }

    /// What this server has taken over; tells of each change.
    pub fn acknowledged(&self) -> watch::Receiver<Acknowledged> {
        self.acknowledged.subscribe()
    }

    /// To be held by a write from before it looks at the gates until it is stored.
    pub(crate) fn enter(&self) -> WriteGuard {
        self.writes.enter()
    }

    /// From now on this server admits no new uses unless its identity Lease is renewed.
    pub fn watch_lease(&self) {
        self.lease().is_watched = true;
        self.is_fenced.store(true, Ordering::SeqCst);
    }

    /// The identity Lease was renewed by a request that was sent at this time.
    pub fn renewed(&self, sent: Instant) {
        self.lease().renewed = Some(sent);
    }

    /// The Features were read after the Lease was renewed.
    pub fn read_after_renewal(&self) {
        let is_fresh = self.is_lease_fresh();
        self.is_fenced.store(!is_fresh, Ordering::SeqCst);
    }

    /// Whether new uses may be written at all. Once fenced, a server stays so until the Lease was renewed and the Features were read.
    pub(crate) fn is_open(&self) -> bool {
        if self.is_fenced.load(Ordering::SeqCst) {
            return false;
        }
        let is_fresh = self.is_lease_fresh();
        if !is_fresh {
            self.is_fenced.store(true, Ordering::SeqCst);
        }
        is_fresh
    }

    fn is_lease_fresh(&self) -> bool {
        let lease = self.lease();
        !lease.is_watched || lease.renewed.is_some_and(|it| it.elapsed() < FENCE)
    }

    fn lease(&self) -> MutexGuard<'_, Fence> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use features::gate;
    use json::json;

    use super::*;

    fn admission(dynamic: &str) -> FeatureAdmission {
        let dynamic = features::Selection::parse(&[dynamic.to_owned()]).expect("good names");
        FeatureAdmission::new(Settings::kubernetes(), dynamic)
    }

    fn feature(epoch: i64, admission: &str) -> Value {
        json!({"status": {"epoch": epoch, "admission": admission}})
    }

    #[test]
    fn a_gate_is_in_effect_if_it_is_on_here_and_its_feature_is_open() {
        let (on, off) = (
            gate!("MaxUnavailableStatefulSet"),
            gate!("CompositePodGroup"),
        );
        let it = admission("kube-system/CompositePodGroup");
        assert!(it.effective().enabled(on) && !it.effective().enabled(off));
        assert!(!it.put("MaxUnavailableStatefulSet", Some(&feature(0, "Open"))));
        assert!(it.put("MaxUnavailableStatefulSet", Some(&feature(1, "Closed"))));
        assert!(!it.effective().enabled(on));
        assert!(it.put("CompositePodGroup", Some(&feature(2, "Open"))));
        assert!(it.effective().enabled(off), "the API may set it");
        assert!(!it.put("CompositePodGroup", Some(&feature(3, "Open"))));
        assert!(!it.put("NotAGate", Some(&feature(3, "Closed"))));
        assert!(it.put("MaxUnavailableStatefulSet", None));
        assert!(it.effective().enabled(on));
        let other = admission("kube-system/NodeSwap");
        other.put("CompositePodGroup", Some(&feature(2, "Open")));
        assert!(!other.effective().enabled(off), "the command line says off");
    }

    #[test]
    fn a_server_without_a_fresh_lease_admits_nothing() {
        let it = admission("");
        assert!(it.is_open());
        it.watch_lease();
        assert!(!it.is_open());
        it.renewed(Instant::now());
        assert!(!it.is_open(), "the Features were not read yet");
        it.read_after_renewal();
        assert!(it.is_open());
        if let Some(before) = Instant::now().checked_sub(FENCE) {
            it.renewed(before);
            assert!(!it.is_open());
            it.renewed(Instant::now());
            assert!(!it.is_open());
        }
    }
}
