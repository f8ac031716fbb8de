//! Hot path. A priority level, and the schemas whose requests it serves.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

use flowcontrol::{
    Distinguisher, Estimator, Exempt, Finished, FlowSchema, Nanos, PriorityLevel, QueueSet,
    RetryAfter, Ticket, flow_hash, thread_shard,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::Shared;
use super::seat::Carried;
use super::series::EntrySeries;
use crate::runtime::clock;

const LEVEL_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");
const SCHEMA_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");

/// Seats, and queues for them. It stays the same as long as there is a level of this name.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) name: String,
    pub(crate) is_exempt: bool,
    pub(super) shared: Arc<Shared>,
    queues: Mutex<QueueSet<Carried>>,
    pub(super) exempt: Exempt,
    /// The most that the estimate of one request may come to.
    pub(super) max_seats: AtomicU32,
    /// Zero or one: all requests share one queue, flows are not distinguished.
    pub(super) queue_count: AtomicU32,
    retry_after: Mutex<RetryAfter>,
    /// Names of schemas, by the number that requests are counted under.
    schemas: Mutex<Vec<String>>,
    /// Exempt requests for whoever debugs, as far as they wait for something.
    listed: Mutex<Listed>,
}

/// Requests by numbers that are given out in order.
#[derive(Debug, Default)]
pub(super) struct Listed {
    next: u64,
    pub(super) requests: BTreeMap<u64, (Nanos, Carried)>,
}

impl Listed {
    pub(super) fn add(&mut self, since: Nanos, request: Carried) -> u64 {
        let number = self.next;
        self.next += 1;
        self.requests.insert(number, (since, request));
        number
    }
}

impl Level {
    pub(super) fn new(level: &PriorityLevel, shared: &Arc<Shared>) -> Self {
        let now = shared.now();
        Self {
            name: level.name.clone(),
            is_exempt: level.is_exempt(),
            shared: shared.clone(),
            queues: Mutex::new(QueueSet::new(now)),
            exempt: Exempt::new(now),
            max_seats: AtomicU32::new(0),
            queue_count: AtomicU32::new(0),
            retry_after: Mutex::default(),
            schemas: Mutex::default(),
            listed: Mutex::default(),
        }
    }

    pub(super) fn listed(&self) -> MutexGuard<'_, Listed> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn queues(&self) -> MutexGuard<'_, QueueSet<Carried>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on the queues, and then wakes those that were dispatched.
    pub(super) fn change<T>(
        &self,
        work: impl FnOnce(&mut QueueSet<Carried>, Nanos, &mut dyn FnMut(&mut Carried)) -> T,
    ) -> T {
        let mut woken: Vec<Waker> = Vec::new();
        let mut queues = self.queues();
        let now = self.shared.now();
        let done = work(&mut queues, now, &mut |it| woken.extend(it.waker.take()));
        drop(queues);
        woken.into_iter().for_each(Waker::wake);
        done
    }

    pub(super) fn finish(self: &Arc<Self>, ticket: Ticket) {
        let finished = self.change(|queues, now, woken| queues.finish(ticket, now, woken));
        let Finished::Lingering(longer) = finished else {
            return;
        };
        let level = self.clone();
        let release = move || level.change(|queues, now, woken| queues.release(ticket, now, woken));
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move {
                    tokio::time::sleep(std::time::Duration::from_nanos(longer)).await;
                    release();
                });
            }
            // The server is about to end.
            Err(_) => release(),
        }
    }

    /// Counts a request that is turned away. For how many seconds its client is asked to stay away.
    pub(crate) fn turned_away(&self) -> i64 {
        let retry = self.retry_after.lock();
        let mut retry = retry.unwrap_or_else(PoisonError::into_inner);
        retry.record(clock::unix());
        retry.seconds()
    }

    pub(super) fn estimator(&self) -> Estimator {
        Estimator {
            max_seats: self.max_seats.load(Ordering::Relaxed),
            reads_from_cache: true,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.exempt.totals().executing == 0 && self.queues().is_idle()
    }

    /// The number of a schema. Beyond 65,535 schemas that were ever there, some share the last.
    fn number(&self, schema: &str) -> u16 {
        let all = self.schemas.lock();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().position(|it| it == schema);
        let number = found.unwrap_or_else(|| {
            all.push(schema.to_owned());
            all.len() - 1
        });
        u16::try_from(number).unwrap_or(u16::MAX)
    }
}

/// A schema, and the level that it leads to.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) schema: FlowSchema,
    pub(crate) level: Arc<Level>,
    /// What answers say of both.
    schema_uid: HeaderValue,
    level_uid: HeaderValue,
    pub(super) number: u16,
    series: OnceLock<EntrySeries>,
}

impl Entry {
    pub(super) fn new(schema: FlowSchema, config: &PriorityLevel, level: &Arc<Level>) -> Self {
        let value = |uid: &str| HeaderValue::from_str(uid);
        Self {
            schema_uid: value(&schema.uid).unwrap_or(HeaderValue::from_static("")),
            level_uid: value(&config.uid).unwrap_or(HeaderValue::from_static("")),
            number: level.number(&schema.name),
            schema,
            level: level.clone(),
            series: OnceLock::new(),
        }
    }

    /// Whether it is still true.
    pub(super) fn is(
        &self,
        schema: &FlowSchema,
        config: &PriorityLevel,
        level: &Arc<Level>,
    ) -> bool {
        self.schema == *schema
            && self.level_uid.as_bytes() == config.uid.as_bytes()
            && Arc::ptr_eq(&self.level, level)
    }

    /// Has an answer say which schema and level its request belongs to: by uid, so that no name gets out.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        headers.insert(LEVEL_UID, self.level_uid.clone());
        headers.insert(SCHEMA_UID, self.schema_uid.clone());
    }

    pub(super) fn series(&self) -> &EntrySeries {
        let families = &self.level.shared.families;
        self.series
            .get_or_init(|| families.of(&self.level.name, &self.schema.name))
    }

    /// If it was ever used.
    pub(super) fn used_series(&self) -> Option<&EntrySeries> {
        self.series.get()
    }

    /// The flow distinguisher of a request.
    pub(super) fn distinguisher<'a>(&self, user: &'a str, namespace: &'a str) -> &'a str {
        match self.schema.distinguisher {
            Some(Distinguisher::ByUser) => user,
            Some(Distinguisher::ByNamespace) => namespace,
            None => "",
        }
    }

    /// The same for a dump: as upstream, empty where flows are not distinguished.
    pub(super) fn shown_distinguisher<'a>(&self, user: &'a str, namespace: &'a str) -> &'a str {
        if self.has_flows() {
            self.distinguisher(user, namespace)
        } else {
            ""
        }
    }

    fn has_flows(&self) -> bool {
        self.level.queue_count.load(Ordering::Relaxed) >= 2
    }

    /// What picks the queues of a flow.
    pub(super) fn hash(&self, user: &str, namespace: &str) -> u64 {
        if !self.has_flows() {
            return 0;
        }
        remembered(&self.schema.name, self.distinguisher(user, namespace))
    }
}

/// A reference to an [`Entry`] whose reference count is shared by the requests of one thread only.
#[derive(Clone, Debug)]
pub(crate) struct EntryRef(Arc<Counted>);

/// Exists to have a reference count of its own.
#[derive(Debug)]
struct Counted(Arc<Entry>);

impl Deref for EntryRef {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.0.0
    }
}

/// Makes references to an entry. Each thread counts its own: with one count for all, every request would move its cache
/// line from one processor to another several times.
#[derive(Debug)]
pub(super) struct EntryRefs(Vec<EntryRef>);

impl EntryRefs {
    pub(super) fn new(entry: &Arc<Entry>) -> Self {
        let refs = (0..flowcontrol::SHARDS).map(|_| EntryRef(Arc::new(Counted(entry.clone()))));
        Self(refs.collect())
    }

    pub(super) fn get(&self) -> EntryRef {
        self.0[thread_shard()].clone()
    }

    pub(super) fn entry(&self) -> &Arc<Entry> {
        &self.0[0].0.0
    }
}

/// SHA-256 takes longer than all the rest: the flows that a thread saw last are remembered.
fn remembered(schema: &str, distinguisher: &str) -> u64 {
    const FLOWS: usize = 64;
    type Known = Option<(Box<str>, Box<str>, u64)>;
    thread_local! {
        static KNOWN: RefCell<Vec<Known>> = RefCell::new(vec![None; FLOWS]);
    }
    let mixed = distinguisher.bytes().fold(schema.len(), |all, byte| {
        all.wrapping_mul(31).wrapping_add(byte.into())
    });
    KNOWN.with_borrow_mut(|known| {
        let slot = &mut known[mixed % FLOWS];
        if let Some((a, b, hash)) = slot
            && **a == *schema
            && **b == *distinguisher
        {
            return *hash;
        }
        let hash = flow_hash(schema, distinguisher);
        *slot = Some((schema.into(), distinguisher.into(), hash));
        hash
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_right() {
        for turn in 0..3 {
            for flow in 0..500 {
                let name = format!("user-{flow}");
                assert_eq!(
                    remembered("s", &name),
                    flow_hash("s", &name),
                    "{turn} {flow}"
                );
                assert_eq!(
                    remembered("t", &name),
                    flow_hash("t", &name),
                    "{turn} {flow}"
                );
            }
        }
    }
}
