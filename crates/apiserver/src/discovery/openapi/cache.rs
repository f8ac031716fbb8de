//! The list of documents, and the documents: each is built once for a state of the catalog.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use encoding::gzip::Packed;
use json::{Object, Value, json};

use super::dialect::{Dialect, is_custom};
use super::form::Form;
use super::parts::{Encoding, Parts, is_same};
use super::types::Types;
use super::{gnostic, roots, v3};
use crate::catalog::gates::Gates;
use crate::catalog::{Catalog, Resource, ServedCatalog};
use crate::runtime::clock;
use crate::runtime::digest;
use crate::runtime::lifecycle::Lifecycle;

/// The document of a whole catalog.
pub(super) const WHOLE: &str = "v2";
/// The catalog has to be as it is for so long before documents are made anew in the background.
const QUIET: Duration = Duration::from_secs(1);
/// While definitions change all the time, documents are made at least so often.
const BUSY: Duration = Duration::from_secs(10);

/// The documents that were made.
#[derive(Debug)]
pub(crate) struct Cache {
    catalog: Arc<ServedCatalog>,
    lifecycle: Arc<Lifecycle>,
    documents: RwLock<HashMap<String, Arc<Document>>>,
    index: ArcSwapOption<Index>,
    /// Held while a document is built: other requests for it wait, without a thread.
    turn: tokio::sync::Mutex<()>,
    parts: Mutex<Parts>,
    made: AtomicU64,
    is_followed: AtomicBool,
}

/// How much was made so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builds {
    pub documents: u64,
    /// Of the document of version 2.
    pub parts: u64,
}

#[derive(Debug)]
pub(super) struct Document {
    /// What it was made of. Held, so that no other can come to lie at the same address.
    of: Vec<Arc<Resource>>,
    /// For the document of everything.
    catalog: Option<Arc<Catalog>>,
    /// All forms have one tag, as upstream has it: `Vary` keeps them apart.
    pub(super) etag: String,
    /// In seconds since 1970.
    pub(super) modified: i64,
    pub(super) json: Arc<Form>,
    protobuf: OnceLock<Arc<Form>>,
}

/// The names of all documents of version 3, with their hashes.
#[derive(Debug)]
pub(super) struct Index {
    of: Arc<Catalog>,
    pub(super) etag: String,
    pub(super) modified: i64,
    pub(super) body: Bytes,
}

impl Document {
    fn is_of(&self, of: &[&Arc<Resource>]) -> bool {
        let mut pairs = self.of.iter().zip(of);
        self.of.len() == of.len() && pairs.all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// Whether it would be the same were it made of these.
    fn says_of(&self, of: &[&Arc<Resource>]) -> bool {
        let mut pairs = self.of.iter().zip(of);
        self.of.len() == of.len() && pairs.all(|(a, b)| Arc::ptr_eq(a, b) || is_same(a, b))
    }
}

impl Cache {
    pub(crate) fn new(catalog: Arc<ServedCatalog>, lifecycle: Arc<Lifecycle>) -> Self {
        Self {
            catalog,
            lifecycle,
            documents: RwLock::default(),
            index: ArcSwapOption::default(),
            turn: tokio::sync::Mutex::default(),
            parts: Mutex::default(),
            made: AtomicU64::default(),
            is_followed: AtomicBool::default(),
        }
    }

    /// How often `OpenAPI` documents were made.
    pub(crate) fn builds(&self) -> Builds {
        Builds {
            documents: self.made.load(Ordering::Relaxed),
            parts: self.parts().made,
        }
    }

    /// The document of that name, made if need be.
    pub(super) async fn document(self: &Arc<Self>, name: &str) -> Option<Arc<Document>> {
        if let Some(found) = self.current(&self.catalog.load(), name) {
            return Some(found);
        }
        // A request for a document that does not exist does not wait.
        resources(&self.catalog.load(), name)?;
        let turn = self.turn.lock().await;
        // An earlier request may have built it, from the catalog of that time.
        let catalog = self.catalog.load_full();
        if let Some(found) = self.current(&catalog, name) {
            return Some(found);
        }
        let (cache, name) = (self.clone(), name.to_owned());
        let work = move || cache.make(&catalog, &name);
        let made = tokio::task::spawn_blocking(work).await.ok().flatten();
        drop(turn);
        follow(self);
        made
    }

    /// The same as protobuf.
    pub(super) async fn protobuf(
        self: &Arc<Self>,
        name: &str,
        document: &Arc<Document>,
    ) -> Option<Arc<Form>> {
        if let Some(found) = document.protobuf.get() {
            return Some(found.clone());
        }
        let _turn = self.turn.lock().await;
        if let Some(found) = document.protobuf.get() {
            return Some(found.clone());
        }
        let (cache, name, document) = (self.clone(), name.to_owned(), document.clone());
        let work = move || {
            let packed = if let Some(catalog) = &document.catalog {
                let mut parts = cache.parts();
                parts.document(catalog, Encoding::Protobuf)
            } else {
                let of: Vec<&Resource> = document.of.iter().map(|it| &**it).collect();
                let gates = &cache.catalog.load().gates;
                let bytes = gnostic::encode(Dialect::V3, &version3(&name, &of, gates)?);
                Packed::new(&bytes)
            };
            cache.made.fetch_add(1, Ordering::Relaxed);
            Some(document.protobuf.get_or_init(|| Form::new(packed)).clone())
        };
        tokio::task::spawn_blocking(work).await.ok().flatten()
    }

    /// All documents of version 3, which have to be made to know their hashes.
    pub(super) async fn index(self: &Arc<Self>) -> Option<Arc<Index>> {
        let current = |catalog: &Arc<Catalog>| {
            let known = self.index.load_full();
            known.filter(|it| Arc::ptr_eq(&it.of, catalog))
        };
        if let Some(found) = current(&self.catalog.load()) {
            return Some(found);
        }
        let turn = self.turn.lock().await;
        let catalog = self.catalog.load_full();
        if let Some(found) = current(&catalog) {
            return Some(found);
        }
        let cache = self.clone();
        let work = move || cache.make_index(catalog);
        let made = tokio::task::spawn_blocking(work).await.ok();
        drop(turn);
        follow(self);
        made
    }

    /// The document if it is known and of this catalog.
    fn current(&self, catalog: &Catalog, name: &str) -> Option<Arc<Document>> {
        let of = resources(catalog, name)?;
        self.known(name).filter(|it| it.is_of(&of))
    }

    fn known(&self, name: &str) -> Option<Arc<Document>> {
        let documents = self.documents.read();
        let documents = documents.unwrap_or_else(PoisonError::into_inner);
        documents.get(name).cloned()
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, catalog: &Arc<Catalog>, name: &str) -> Option<Arc<Document>> {
        let of = resources(catalog, name)?;
        // The first client may be gone while its document is built: then another request has asked for it.
        let mut parts = self.parts();
        let known = self.known(name);
        if let Some(known) = known.as_ref().filter(|it| it.is_of(&of)) {
            return Some(known.clone());
        }
        let held = (name == WHOLE).then(|| catalog.clone());
        let kept = of.iter().map(|it| Arc::clone(it)).collect();
        let document = if let Some(known) = known.as_ref().filter(|it| it.says_of(&of)) {
            Document {
                of: kept,
                catalog: held,
                etag: known.etag.clone(),
                modified: known.modified,
                json: known.json.clone(),
                protobuf: known.protobuf.clone(),
            }
        } else {
            let (etag, packed) = if name == WHOLE {
                let packed = parts.document(catalog, Encoding::Json);
                (digest::etag(&packed.bytes), packed)
            } else {
                let of: Vec<&Resource> = of.iter().map(|it| &***it).collect();
                let bytes = json::to_vec(&version3(name, &of, &catalog.gates)?);
                (digest::etag(&bytes), Packed::new(&bytes))
            };
            self.made.fetch_add(1, Ordering::Relaxed);
            Document {
                of: kept,
                catalog: held,
                etag,
                modified: clock::unix(),
                json: Form::new(packed),
                protobuf: OnceLock::new(),
            }
        };
        drop(parts);
        let document = Arc::new(document);
        let mut documents = self
            .documents
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        documents.insert(name.to_owned(), document.clone());
        Some(document)
    }

    fn make_index(&self, catalog: Arc<Catalog>) -> Arc<Index> {
        let names = names(&catalog);
        let mut paths = Object::new();
        for name in &names {
            if let Some(document) = self.make(&catalog, name) {
                paths.push(
                    name,
                    json!({"serverRelativeURL": (url(name, &document.etag))}),
                );
            }
        }
        let mut documents = self
            .documents
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        documents.retain(|name, _| name == WHOLE || names.contains(name));
        drop(documents);
        let body = Bytes::from(json::to_vec(&json!({"paths": paths})));
        let etag = digest::etag(&body);
        let before = self.index.load();
        let before = before.as_ref().filter(|it| it.etag == etag);
        let index = Arc::new(Index {
            of: catalog,
            modified: before.map_or_else(clock::unix, |it| it.modified),
            etag,
            body,
        });
        self.index.store(Some(index.clone()));
        index
    }
}

/// Documents that were asked for once are made anew after each change, before anybody asks again. Changes that come
/// together are waited for.
fn follow(cache: &Arc<Cache>) {
    if cache.is_followed.swap(true, Ordering::Relaxed) {
        return;
    }
    let (owner, mut changes) = (Arc::downgrade(cache), cache.catalog.changes());
    tokio::spawn(async move {
        while changes.changed().await.is_ok() {
            let quiet =
                async { while tokio::time::timeout(QUIET, changes.changed()).await.is_ok() {} };
            let _ = tokio::time::timeout(BUSY, quiet).await;
            if refresh(&owner).await.is_none() {
                return;
            }
        }
    });
}

/// None when the server is gone, or about to stop.
async fn refresh(cache: &Weak<Cache>) -> Option<()> {
    let cache = cache.upgrade().filter(|it| !it.lifecycle.is_leaving())?;
    if let Some(known) = cache.known(WHOLE) {
        let document = cache.document(WHOLE).await;
        if let (Some(document), Some(_)) = (&document, known.protobuf.get()) {
            cache.protobuf(WHOLE, document).await;
        }
    }
    if cache.index.load().is_some() {
        cache.index().await;
    }
    Some(())
}

pub(super) fn url(name: &str, etag: &str) -> String {
    format!("/openapi/v3/{name}?hash={etag}")
}

/// A document of version 3.
fn version3(name: &str, of: &[&Resource], gates: &Arc<Gates>) -> Option<Value> {
    let types = Types::new(gates);
    if let Some(path) = roots::plain(name) {
        return Some(v3::plain(path, &types));
    }
    match split(name)? {
        (group, "") => Some(v3::plain(roots::group(group), &types)),
        (group, version) => Some(v3::version(group, version, of, &types)),
    }
}

#[cfg(test)]
pub(super) fn tree(catalog: &Catalog, name: &str) -> Option<Value> {
    if name == WHOLE {
        return Some(super::v2::document(catalog));
    }
    tree3(catalog, name)
}

/// A document of version 3 as a value.
pub(super) fn tree3(catalog: &Catalog, name: &str) -> Option<Value> {
    let of = resources(catalog, name)?;
    let of: Vec<&Resource> = of.iter().map(|it| &***it).collect();
    version3(name, &of, &catalog.gates)
}

/// The names of all documents of version 3, in order.
pub(super) fn names(catalog: &Catalog) -> Vec<String> {
    let mut names: Vec<String> = roots::PLAIN.iter().map(|it| (*it).to_owned()).collect();
    for group in &catalog.groups {
        let base = if group.name.is_empty() {
            "api".to_owned()
        } else {
            format!("apis/{}", group.name)
        };
        let all = group.versions.iter().map(|it| &it.version);
        names.extend(all.map(|it| format!("{base}/{it}")));
        let mut all = group.versions.iter().flat_map(|it| &it.resources);
        // The group of custom resources alone has no document of its own.
        if !group.name.is_empty() && !all.all(|it| is_custom(it)) {
            names.push(base);
        }
    }
    names.sort();
    names
}

/// What a document is made of, if there is one of that name.
fn resources<'a>(catalog: &'a Catalog, name: &str) -> Option<Vec<&'a Arc<Resource>>> {
    if name == WHOLE {
        return Some(catalog.all().collect());
    }
    if roots::PLAIN.contains(&name) {
        return Some(Vec::new());
    }
    let (group, version) = split(name)?;
    if version.is_empty() {
        let group = catalog.group(group)?;
        let mut all = group.versions.iter().flat_map(|it| &it.resources);
        return (!all.all(|it| is_custom(it))).then(Vec::new);
    }
    Some(catalog.version(group, version)?.resources.iter().collect())
}

/// The group and the version, which may be empty, of `api/v1`, `apis/apps` or `apis/apps/v1`.
fn split(name: &str) -> Option<(&str, &str)> {
    if let Some(version) = name.strip_prefix("api/") {
        return (!version.is_empty()).then_some(("", version));
    }
    let rest = name.strip_prefix("apis/").filter(|it| !it.is_empty())?;
    match rest.split_once('/') {
        None => Some((rest, "")),
        Some((group, version)) => {
            (!group.is_empty() && !version.is_empty()).then_some((group, version))
        }
    }
}
