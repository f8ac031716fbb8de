//! Gauges that are computed when metrics are scraped.

use std::sync::{Arc, Weak};
use std::time::Duration;

use json::Value;
use telemetry::metrics::{Collected, Desc, Registry, Stability};

use crate::catalog::convert;
use crate::catalog::object;
use crate::discovery::documents;
use crate::instruments::inflight::HighWater;
use crate::observe::metrics::own_metric;
use crate::state::Api;

/// Has the registry ask the API for what it knows.
pub fn register(api: &Arc<Api>) {
    let (registry, weak) = (&api.metrics.registry, Arc::downgrade(api));
    let asked = |read: fn(&Api) -> Collected| {
        let weak = weak.clone();
        move || weak.upgrade().map_or_else(Vec::new, |api| read(&api))
    };
    let stable = |name, help| Desc::new(name, Stability::Stable, help);
    registry.observe_gauge(
        stable(
            "apiserver_current_inflight_requests",
            "The most requests that were served at the same time within the last second, by whether they change anything.",
        ),
        &["request_kind"],
        asked(inflight),
    );
    registry.observe_gauge(
        Desc::new(
            "apiserver_current_inqueue_requests",
            Stability::Alpha,
            "The most requests that waited in queues at the same time within the last second, by whether they change anything.",
        ),
        &["request_kind"],
        asked(queued),
    );
    registry.observe_gauge(
        stable(
            "apiserver_storage_objects",
            "Objects that are stored, by resource; apiserver_resource_objects says the same with the group apart.",
        )
        .deprecated("1.34.0")
        .cap(5000),
        &["resource"],
        asked(|api| objects(api, |group, resource| vec![joined(group, resource)])),
    );
    registry.observe_gauge(
        Desc::new(
            "apiserver_resource_objects",
            Stability::Alpha,
            "Objects that are stored, by group and resource.",
        )
        .cap(5000),
        &["group", "resource"],
        asked(|api| objects(api, |group, resource| vec![group.into(), resource.into()])),
    );
    registry.observe_gauge(
        stable(
            "apiserver_storage_size_bytes",
            "Bytes that the store takes on disk.",
        ),
        &["storage_cluster_id"],
        asked(|api| {
            let size = api.store.stats().1.disk_bytes;
            let size = size.map(|it| (vec!["etcd-0".to_owned()], float(it)));
            size.into_iter().collect()
        }),
    );
    registry.observe_gauge(
        Desc::new(
            "aggregator_unavailable_apiservice",
            Stability::Alpha,
            "1 for each APIService that is not available: one that names a Service is not, for nothing is handed on from here.",
        ),
        &["name"],
        asked(unavailable),
    );
    let version = documents::version(&api.settings().features);
    registry.observe_gauge(
        Desc::new(
            "kubernetes_build_info",
            Stability::Beta,
            "Always 1; the labels say which version of Kubernetes is served, and how it was built.",
        ),
        BUILD,
        move || vec![(build(&version), 1.0)],
    );
    registry.observe_gauge(
        own_metric(
            "pilothouse_unread_response_bytes",
            "Bytes of responses that are in memory because their clients have not read them yet.",
        ),
        &[],
        asked(|api| vec![(Vec::new(), float(api.unread.total() as u64))]),
    );
    store(registry, &weak);
    tokio::spawn(rotate(weak));
}

fn store(registry: &Registry, api: &Weak<Api>) {
    let one = |read: fn(&Api) -> u64| {
        let api = api.clone();
        move || {
            let value = api.upgrade().map(|api| float(read(&api)));
            value.map(|it| (Vec::new(), it)).into_iter().collect()
        }
    };
    registry.observe_gauge(
        own_metric("pilothouse_store_revision", "The newest revision."),
        &[],
        one(|api| api.store.stats().0.revision),
    );
    registry.observe_gauge(
        own_metric("pilothouse_store_keys", "Keys that are there."),
        &[],
        one(|api| api.store.stats().0.keys),
    );
    registry.observe_gauge(
        own_metric("pilothouse_store_watchers", "Watches on the store."),
        &[],
        one(|api| api.store.stats().0.watchers),
    );
    registry.observe_counter(
        own_metric(
            "pilothouse_store_batches_total",
            "Groups of changes that were made durable together.",
        ),
        &[],
        one(|api| api.store.stats().1.batches),
    );
    registry.observe_counter(
        own_metric(
            "pilothouse_store_transactions_total",
            "Changes that were made durable.",
        ),
        &[],
        one(|api| api.store.stats().1.transactions),
    );
}

#[expect(clippy::cast_precision_loss, reason = "it is shown as a float")]
fn float(value: u64) -> f64 {
    value as f64
}

async fn rotate(api: Weak<Api>) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let Some(api) = api.upgrade() else {
            return;
        };
        if api.lifecycle.is_stopping() {
            return;
        }
        for reads in [false, true] {
            executing(&api, reads).rotate();
            waiting(&api, reads).rotate();
        }
    }
}

fn inflight(api: &Api) -> Collected {
    by_kind(|reads| executing(api, reads))
}

fn queued(api: &Api) -> Collected {
    by_kind(|reads| waiting(api, reads))
}

/// Priority and fairness counts requests anyway: only the peak is taken over.
fn executing(api: &Api, reads: bool) -> &HighWater {
    let high_water = api.metrics.inflight.executing(reads);
    if let Some(flow) = api.limiter.flow() {
        high_water.note(flow.shared.meters.executing(reads).take_peak());
    }
    high_water
}

fn waiting(api: &Api, reads: bool) -> &HighWater {
    let high_water = api.metrics.inflight.queued(reads);
    if let Some(flow) = api.limiter.flow() {
        high_water.note(flow.shared.meters.waiting(reads).take_peak());
    }
    high_water
}

fn by_kind<'a>(most: impl Fn(bool) -> &'a HighWater) -> Collected {
    let kinds = [("mutating", false), ("readOnly", true)];
    let kinds = kinds.map(|(kind, reads)| (vec![kind.to_owned()], float(most(reads).get())));
    kinds.into()
}

/// Counts by the place where a resource is kept: what two groups share is counted once.
fn objects(api: &Api, labels: fn(&str, &str) -> Vec<String>) -> Collected {
    let (catalog, snapshot) = (api.catalog.load(), api.store.latest());
    let all = catalog.preferred();
    let kept = all.filter(|it| !it.prefix.is_empty() && it.stored.0 == it.group);
    let counted = kept.map(|it| {
        let count = snapshot.count(it.prefix.as_bytes());
        (labels(&it.group, &it.plural), float(count as u64))
    });
    counted.collect()
}

/// By what their condition says.
fn unavailable(api: &Api) -> Collected {
    let Some(services) = api.preferred("apiregistration.k8s.io", "apiservices") else {
        return Vec::new();
    };
    let snapshot = api.store.latest();
    let all = snapshot.range(services.prefix.as_bytes());
    let all = all.filter_map(|entry| {
        let service = convert::parse(&services, &entry.value).ok()?;
        let conditions = service.at(&["status", "conditions"]);
        let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
        let available = conditions.any(|it| {
            it.str_at(&["type"]) == Some("Available") && it.str_at(&["status"]) == Some("True")
        });
        let name = vec![object::name(&service).to_owned()];
        Some((name, if available { 0.0 } else { 1.0 }))
    });
    all.collect()
}

fn joined(group: &str, resource: &str) -> String {
    if group.is_empty() {
        resource.to_owned()
    } else {
        format!("{resource}.{group}")
    }
}

const BUILD: &[&str] = &[
    "build_date",
    "compiler",
    "git_commit",
    "git_tree_state",
    "git_version",
    "go_version",
    "major",
    "minor",
    "platform",
];

fn build(version: &Value) -> Vec<String> {
    let keys = [
        "buildDate",
        "compiler",
        "gitCommit",
        "gitTreeState",
        "gitVersion",
        "goVersion",
        "major",
        "minor",
        "platform",
    ];
    let values = keys.map(|key| version.str_at(&[key]).unwrap_or_default().to_owned());
    values.into()
}
