//! Leader election: of several servers over one store, the holder of a Lease runs the controllers that must not run twice.
//!
//! As client-go's leader election: a holder that cannot renew in time stops before another may begin, times are measured
//! from when a change of the Lease was seen here, and no two clocks are compared.

use std::convert::Infallible;
use std::time::Duration;

use apiserver::local::Local;
use json::{Value, json};
use meta::Status;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::condition;

const NAME: &str = "pilothouse-controllers";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

/// How leadership is shared, in the words of kube-controller-manager's `--leader-elect-...`.
#[derive(Clone, Debug)]
pub struct Election {
    /// The identity in the Lease; differs between servers, and between restarts of one.
    pub identity: String,
    /// How long others wait for a holder that says nothing.
    pub lease_duration: Duration,
    /// How long a holder tries to renew before it stops.
    pub renew_deadline: Duration,
    /// Between two tries.
    pub retry_period: Duration,
}

impl Election {
    pub fn new(identity: String) -> Self {
        Self {
            identity,
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

/// The Lease as it was last seen, and when.
#[derive(Default)]
struct Observed {
    spec: Option<Value>,
    at: Option<Instant>,
}

/// Runs the work while we lead, again and again.
pub(crate) async fn run(
    client: Local,
    election: Election,
    work: impl Fn() -> JoinSet<()>,
) -> Infallible {
    let leads = client.host().leader_gauge(NAME);
    let mut observed = Observed::default();
    loop {
        while !hold(&client, &election, &mut observed).await {
            tokio::time::sleep(election.retry_period).await;
        }
        leads.set(1);
        let mut running = work();
        let mut renewed = Instant::now();
        while renewed.elapsed() < election.renew_deadline {
            tokio::time::sleep(election.retry_period).await;
            let begun = Instant::now();
            let left = election.renew_deadline.saturating_sub(renewed.elapsed());
            let holding = hold(&client, &election, &mut observed);
            if tokio::time::timeout(left, holding).await == Ok(true) {
                renewed = begun;
            } else if !observed.is_by(&election.identity) {
                // Another server holds it already.
                break;
            }
        }
        leads.set(0);
        running.shutdown().await;
    }
}

/// Lets another have it at once.
pub(crate) async fn release(client: &Local, election: &Election) -> Result<(), Status> {
    let mut lease = client.get(&format!("{LEASES}/{NAME}")).await?;
    if lease.str_at(&["spec", "holderIdentity"]) != Some(&*election.identity) {
        return Ok(());
    }
    if let Some(spec) = lease.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("holderIdentity", "");
        spec.insert("leaseDurationSeconds", 1);
        spec.insert("renewTime", condition::now_micro());
    }
    let path = format!("{LEASES}/{NAME}");
    client.update(&path, &lease).await.map(|_| ())
}

/// Whether we hold the Lease now, renewed. An error is a no: it will be tried again.
async fn hold(client: &Local, election: &Election, observed: &mut Observed) -> bool {
    let held = try_hold(client, election, observed).await;
    held.unwrap_or(false)
}

async fn try_hold(
    client: &Local,
    election: &Election,
    observed: &mut Observed,
) -> Result<bool, Status> {
    let path = format!("{LEASES}/{NAME}");
    let found = match client.get(&path).await {
        Ok(found) => Some(found),
        Err(status) if status.is_not_found() => None,
        Err(status) => return Err(status),
    };
    let Some(mut lease) = found else {
        let lease = json!({
            "kind": "Lease",
            "apiVersion": "coordination.k8s.io/v1",
            "metadata": {"name": NAME, "namespace": "kube-system"},
            "spec": (spec(election, None)),
        });
        let made = client.create(LEASES, &lease).await?;
        observed.see(&made);
        return Ok(true);
    };
    observed.see(&lease);
    if !observed.is_by(&election.identity) && !observed.is_over(election.lease_duration) {
        return Ok(false);
    }
    let spec = spec(election, lease.get("spec"));
    if let Some(fields) = lease.as_object_mut() {
        fields.insert("spec", spec);
    }
    // At the resource version that was read: of two servers that try, one gets a conflict.
    let made = client.update(&path, &lease).await?;
    observed.see(&made);
    Ok(true)
}

fn spec(election: &Election, before: Option<&Value>) -> Value {
    let now = condition::now_micro();
    let of = |field: &str| before.and_then(|it| it.get(field)).cloned();
    let ours = of("holderIdentity").as_ref().and_then(Value::as_str) == Some(&*election.identity);
    let acquired = of("acquireTime").filter(|_| ours);
    let transitions = of("leaseTransitions").and_then(|it| it.as_i64());
    let transitions = match before {
        Some(_) => transitions.unwrap_or(0) + i64::from(!ours),
        None => 0,
    };
    let seconds = i64::try_from(election.lease_duration.as_secs()).unwrap_or(i64::MAX);
    json!({
        "holderIdentity": (election.identity.clone()),
        "leaseDurationSeconds": (seconds.max(1)),
        "acquireTime": (acquired.unwrap_or_else(|| now.clone().into())),
        "renewTime": now,
        "leaseTransitions": transitions,
    })
}

impl Observed {
    fn see(&mut self, lease: &Value) {
        let spec = lease.get("spec").cloned();
        if self.spec != spec || self.at.is_none() {
            self.spec = spec;
            self.at = Some(Instant::now());
        }
    }

    fn holder(&self) -> &str {
        let spec = self.spec.as_ref();
        spec.and_then(|it| it.str_at(&["holderIdentity"]))
            .unwrap_or_default()
    }

    fn is_by(&self, identity: &str) -> bool {
        self.holder() == identity
    }

    /// Free, or nothing was heard of the holder for too long.
    fn is_over(&self, duration: Duration) -> bool {
        self.holder().is_empty() || self.at.is_none_or(|at| at.elapsed() >= duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_by(holder: &str, renewed: &str) -> Value {
        json!({"spec": {"holderIdentity": holder, "renewTime": renewed}})
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_is_over_when_it_did_not_change_for_its_time() {
        let duration = Duration::from_secs(15);
        let mut observed = Observed::default();
        observed.see(&held_by("a", "1"));
        tokio::time::advance(Duration::from_secs(14)).await;
        observed.see(&held_by("a", "1"));
        assert!(!observed.is_over(duration));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(observed.is_over(duration));
        // Renewed: whatever the clock of the holder says, the time begins anew here.
        observed.see(&held_by("a", "0"));
        assert!(!observed.is_over(duration));
        observed.see(&held_by("", "2"));
        assert!(observed.is_over(duration));
    }

    #[test]
    fn transitions_are_counted_and_the_time_of_taking_stays() {
        let election = Election::new("a".into());
        let first = spec(&election, None);
        assert_eq!(
            first.get("leaseTransitions").and_then(Value::as_i64),
            Some(0)
        );
        let again = spec(&election, Some(&first));
        assert_eq!(again.get("leaseTransitions"), first.get("leaseTransitions"));
        assert_eq!(again.get("acquireTime"), first.get("acquireTime"));
        let other = spec(&Election::new("b".into()), Some(&again));
        assert_eq!(
            other.get("leaseTransitions").and_then(Value::as_i64),
            Some(1)
        );
        assert_eq!(other.str_at(&["holderIdentity"]), Some("b"));
    }
}
