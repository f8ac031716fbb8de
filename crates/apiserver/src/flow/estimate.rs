//! How many seats a request takes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use flowcontrol::{ListOptions, Nanos, ObjectStats, WatchId, WorkEstimate};

use store::Store;

use super::FlowControl;
use super::level::Entry;
use crate::catalog::ServedCatalog;
use crate::request::{Query, RequestInfo, ResourceRequest, Verb};

/// How large objects are is looked at anew after this long.
const FRESH: Nanos = 60_000_000_000;
/// More bytes or objects than this need not be looked at: no list gets more seats for them.
const ENOUGH_BYTES: usize = 10_000_000;
const ENOUGH_OBJECTS: usize = 10_000;

/// What lists are made of: estimates look at how much that is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored<'a> {
    pub(crate) catalog: &'a ServedCatalog,
    pub(crate) store: &'a Store,
}

/// The average size of a resource's objects, by the prefix of their keys.
#[derive(Debug, Default)]
pub(super) struct ObjectSizes(Mutex<HashMap<String, (Nanos, u64)>>);

impl FlowControl {
    /// What a request asks for of its level.
    pub(crate) fn estimate(
        &self,
        objects: Stored<'_>,
        entry: &Entry,
        info: &RequestInfo<'_>,
        query: &Query,
    ) -> WorkEstimate {
        let estimator = entry.level.estimator();
        let Some(resource) = &info.resource else {
            return estimator.other();
        };
        match resource.verb {
            Verb::List | Verb::Watch => {
                let Some(options) = options(resource, query) else {
                    return estimator.malformed_list();
                };
                let stats = self.stats(objects, resource);
                if resource.verb == Verb::List {
                    estimator.list(&options, stats)
                } else {
                    estimator.watch(&options, stats)
                }
            }
            Verb::Create | Verb::Update | Verb::Patch | Verb::Delete => {
                // A token for a service account is no event.
                if resource.resource == "serviceaccounts" && resource.subresource == "token" {
                    return estimator.other();
                }
                let watches = self.shared.watches.interested(&WatchId {
                    group: &resource.group,
                    resource: &resource.resource,
                    namespace: &resource.namespace,
                    name: &resource.name,
                });
                entry.series().watch_count.observe_value(watches.into());
                estimator.mutating(watches)
            }
            _ => estimator.other(),
        }
    }

    fn stats(&self, objects: Stored<'_>, asked: &ResourceRequest<'_>) -> Option<ObjectStats> {
        let catalog = objects.catalog.load();
        let row = catalog.get(&asked.group, &asked.version, &asked.resource)?;
        if row.prefix.is_empty() {
            return None;
        }
        let snapshot = objects.store.latest();
        let count = snapshot.count(row.prefix.as_bytes());
        let measure = || {
            let (mut objects, mut bytes) = (0, 0);
            for object in snapshot.range(row.prefix.as_bytes()) {
                objects += 1;
                bytes += object.value.len();
                if objects >= ENOUGH_OBJECTS || bytes >= ENOUGH_BYTES {
                    break;
                }
            }
            (bytes / objects.max(1)) as u64
        };
        let now = self.shared.now();
        Some(ObjectStats {
            count: count as u64,
            average_bytes: self.sizes.get(&row.prefix, now, measure),
        })
    }
}

impl ObjectSizes {
    fn get(&self, prefix: &str, now: Nanos, measure: impl FnOnce() -> u64) -> u64 {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, size)) = lock().get(prefix)
            && now.saturating_sub(*at) < FRESH
        {
            return *size;
        }
        let size = measure();
        let mut sizes = lock();
        // Definitions come and go.
        sizes.retain(|_, (at, _)| now.saturating_sub(*at) < 10 * FRESH);
        sizes.insert(prefix.to_owned(), (now, size));
        size
    }
}

/// `None` if upstream cannot read them.
fn options<'a>(resource: &ResourceRequest<'_>, query: &'a Query) -> Option<ListOptions<'a>> {
    let number = |key| query.get(key).map_or(Some(0), |it| it.parse().ok());
    let text = |key| query.get(key).unwrap_or_default();
    number("timeoutSeconds")?;
    Some(ListOptions {
        limit: number("limit")?,
        resource_version: text("resourceVersion"),
        resource_version_match: text("resourceVersionMatch"),
        continue_token: text("continue"),
        has_selector: !text("labelSelector").is_empty() || !text("fieldSelector").is_empty(),
        send_initial_events: query.flag("sendInitialEvents"),
        is_single: !resource.name.is_empty(),
    })
}
