//! The metadata of all objects of all kinds as one ordered stream: what a garbage collector follows.
//!
//! One watch over the whole store instead of one for each kind: custom kinds come and go without a gap, an owner is
//! seen before its dependents, and of each object only a few fields are read.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use json::{Value, scan};
use resources::strategy::GarbageCollection;
use store::{Entry, Event, Snapshot};

use crate::catalog::convert;
use crate::catalog::{Catalog, Resource};
use crate::state::Api;

/// Entries read from a snapshot at a time.
const STEP: usize = 512;

#[derive(Debug)]
pub enum Change {
    /// A complete list follows and replaces the state so far.
    Begin,
    Put(ObjectMetadata),
    Gone(ObjectMetadata),
    /// The list is complete.
    Synced,
}

/// What is read of an object.
#[derive(Debug)]
pub struct ObjectMetadata {
    /// At the version that its group prefers.
    pub resource: Arc<Resource>,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub is_deleting: bool,
    pub finalizers: Vec<String>,
    /// `metadata.ownerReferences`, or null.
    pub owners: Value,
}

#[derive(Debug)]
pub struct MetadataStream {
    api: Arc<Api>,
    catalog: Arc<Catalog>,
    /// Kinds that are gone stay until the next beginning: deletions of their last objects may still arrive.
    prefixes: BTreeMap<Vec<u8>, Arc<Resource>>,
    source: Option<store::Watch>,
    /// Ranges that are yet to be read.
    reading: VecDeque<(Snapshot, Arc<Resource>, Option<Vec<u8>>)>,
    state: State,
    changed: tokio::sync::watch::Receiver<()>,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    New,
    Reading,
    Synced,
}

impl MetadataStream {
    pub fn new(api: Arc<Api>) -> Self {
        Self {
            changed: api.catalog_changes(),
            api,
            catalog: Arc::default(),
            prefixes: BTreeMap::new(),
            source: None,
            reading: VecDeque::new(),
            state: State::New,
        }
    }

    /// The next changes, at least one. `None` when the store is closed.
    pub async fn next(&mut self) -> Option<Vec<Change>> {
        loop {
            let mut changes = Vec::new();
            if self.state == State::New {
                self.begin().await?;
                changes.push(Change::Begin);
            }
            self.read(&mut changes);
            if self.reading.is_empty() && self.state == State::Reading {
                self.state = State::Synced;
                changes.push(Change::Synced);
            }
            if !changes.is_empty() {
                return Some(changes);
            }
            let source = self.source.as_mut()?;
            tokio::select! {
                found = source.next() => match found {
                    Ok(events) => {
                        self.look_for_kinds();
                        changes.extend(events.iter().filter_map(|it| self.change(it)));
                    }
                    Err(store::WatchEnd::Closed) => return None,
                    // Something was missed.
                    Err(_) => self.state = State::New,
                },
                said = self.changed.changed() => {
                    said.ok()?;
                    self.look_for_kinds();
                }
            }
            if !changes.is_empty() {
                return Some(changes);
            }
        }
    }

    async fn begin(&mut self) -> Option<()> {
        loop {
            let snapshot = self.api.store().latest();
            match self.api.store().watch(b"/", snapshot.revision()).await {
                Ok(source) => self.source = Some(source),
                Err(store::Error::Closed) => return None,
                Err(_) => {
                    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                    continue;
                }
            }
            self.catalog = self.api.catalog().load_full();
            self.prefixes = prefixes(&self.catalog);
            let all = self.prefixes.values();
            self.reading = all.map(|it| (snapshot.clone(), it.clone(), None)).collect();
            self.state = State::Reading;
            return Some(());
        }
    }

    /// Objects of kinds that are new in the catalog are reported as new objects.
    fn look_for_kinds(&mut self) {
        let catalog = self.api.catalog().load_full();
        if Arc::ptr_eq(&catalog, &self.catalog) {
            return;
        }
        for (prefix, resource) in prefixes(&catalog) {
            if self.prefixes.insert(prefix, resource.clone()).is_none() {
                let snapshot = self.api.store().latest();
                self.reading.push_back((snapshot, resource, None));
            }
        }
        self.catalog = catalog;
    }

    fn read(&mut self, changes: &mut Vec<Change>) {
        while changes.len() < STEP {
            let Some((snapshot, resource, after)) = self.reading.front_mut() else {
                return;
            };
            let page = snapshot.page(resource.prefix.as_bytes(), after.as_deref(), STEP);
            let found = page.entries.iter();
            changes.extend(
                found
                    .filter_map(|it| ObjectMetadata::of(resource, it))
                    .map(Change::Put),
            );
            match page.entries.last() {
                Some(last) if page.remaining > 0 => *after = Some(last.key.to_vec()),
                _ => drop(self.reading.pop_front()),
            }
        }
    }

    fn change(&self, event: &Event) -> Option<Change> {
        let below = self.prefixes.range(..=event.key.to_vec()).rev();
        let mut below = below.take(4);
        let (_, resource) = below.find(|(prefix, _)| event.key.starts_with(prefix))?;
        match (&event.current, &event.previous) {
            (Some(entry), _) => ObjectMetadata::of(resource, entry).map(Change::Put),
            (None, Some(entry)) => ObjectMetadata::of(resource, entry).map(Change::Gone),
            (None, None) => None,
        }
    }
}

/// The metadata of one object in this server's memory.
pub(crate) fn cached(
    api: &Api,
    resource: &Arc<Resource>,
    namespace: &str,
    name: &str,
) -> Option<ObjectMetadata> {
    let key = resource.key(namespace, name);
    let latest = api.store().latest();
    ObjectMetadata::of(resource, latest.get(key.as_bytes())?)
}

/// Stored kinds, each once. Kinds without owners and dependents (events) are left out.
fn prefixes(catalog: &Catalog) -> BTreeMap<Vec<u8>, Arc<Resource>> {
    let mut all = BTreeMap::new();
    for resource in catalog.preferred() {
        let dependents = resource.strategy.deletion.dependents;
        if !resource.prefix.is_empty() && dependents != GarbageCollection::Unsupported {
            let prefix = resource.prefix.clone().into_bytes();
            all.entry(prefix).or_insert_with(|| resource.clone());
        }
    }
    all
}

impl ObjectMetadata {
    fn of(resource: &Arc<Resource>, entry: &Entry) -> Option<Self> {
        let key = str::from_utf8(entry.key.get(resource.prefix.len()..)?).ok()?;
        let (namespace, name) = match key.split_once('/') {
            Some(parts) if resource.namespaced => parts,
            _ => ("", key),
        };
        let mut seen = Self {
            resource: resource.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: String::new(),
            is_deleting: false,
            finalizers: Vec::new(),
            owners: Value::Null,
        };
        if entry.value.starts_with(b"{") {
            seen.scan(&entry.value)?;
        } else {
            let object = convert::parse(resource, &entry.value).ok()?;
            meta::object::uid(&object).clone_into(&mut seen.uid);
            seen.is_deleting = meta::object::is_being_deleted(&object);
            let finalizers = meta::object::finalizers(&object);
            seen.finalizers = finalizers.map(str::to_owned).collect();
            let owners = object.at(&["metadata", "ownerReferences"]);
            seen.owners = owners.cloned().unwrap_or_default();
        }
        Some(seen)
    }

    fn scan(&mut self, object: &[u8]) -> Option<()> {
        let metadata = &object[scan::field(object, &["metadata"])?];
        let [uid, deleted, finalizers, owners] = scan::fields(
            metadata,
            [
                &["uid"],
                &["deletionTimestamp"],
                &["finalizers"],
                &["ownerReferences"],
            ],
        );
        self.uid = scan::string(&metadata[uid?])?.into_owned();
        self.is_deleting = deleted.is_some_and(|it| metadata[it] != *b"null");
        if let Some(finalizers) = finalizers {
            let text = &metadata[finalizers];
            let all = scan::items(text).filter_map(|it| scan::string(&text[it]));
            self.finalizers = all.map(std::borrow::Cow::into_owned).collect();
        }
        if let Some(owners) = owners {
            self.owners = json::parse(&metadata[owners]).unwrap_or_default();
        }
        Some(())
    }
}
