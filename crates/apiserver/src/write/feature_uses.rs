//! Stored uses of features: found, counted and removed.
//!
//! Uses of a feature that is off are removed here and not by the verbs, which keep what a stored object already uses. What is removed
//! is what the feature no longer allows, so nothing is defaulted, admitted or validated, and the generation stays: to everybody
//! the object is what it was before the feature was used. A write goes only over the version that was read.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use json::Value;
use meta::Status;
use resources::Resource as Row;
use store::{Condition, Entry, Snapshot, Txn};

use super::commit;
use crate::catalog::gates::Gates;
use crate::catalog::{Resource, convert, object};
use crate::instruments::row::Operation as Stored;
use crate::runtime::join;
use crate::state::Api;
use crate::state::failure;

/// Objects that are looked at between two checkpoints.
const PAGE: usize = 500;
/// Writes that are under way at the same time: the store makes them durable together.
const TOGETHER: usize = 64;
/// Samples that are kept of what was found.
const SAMPLES: usize = 20;

/// A resource that is stored, with what a gate guards in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concerned {
    /// `statefulsets.apps`
    pub resource: String,
    /// It has fields, which can be removed.
    pub has_fields: bool,
    /// It has values of enums, which cannot.
    pub has_values: bool,
}

/// How many objects use a feature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub count: u64,
    pub samples: Vec<Use>,
}

/// An object that uses a feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub group: String,
    pub resource: String,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub field_path: String,
}

impl std::fmt::Display for Use {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        if !self.namespace.is_empty() {
            write!(f, "/{}", self.namespace)?;
        }
        write!(f, "/{}", self.name)
    }
}

/// A part of a collection that was gone through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Objects that were changed or deleted.
    pub done: u64,
    pub total: u64,
    /// Where to go on; nothing at the end.
    pub cursor: Option<String>,
    /// Objects that somebody else changed meanwhile: the page has to be gone through again.
    pub conflicts: u64,
}

/// The stored resources in which gates guard fields or values, by gate.
pub fn concerned() -> BTreeMap<&'static str, Vec<Concerned>> {
    let mut all: BTreeMap<&'static str, Vec<Concerned>> = BTreeMap::new();
    for row in stored_rows() {
        let Some(root) = row.builtin_schema().map(|it| it.root) else {
            continue;
        };
        for (gate, (has_fields, has_values)) in Gates::all().gates_below(root) {
            all.entry(gate).or_default().push(Concerned {
                resource: full_name(row),
                has_fields,
                has_values,
            });
        }
    }
    all
}

/// Each gate that serves a resource, with the resource.
pub fn collections() -> Vec<(&'static str, String)> {
    let rows = features::resources().iter().filter_map(|it| {
        let gate = it.gate?;
        let (group, version) = it
            .api_version
            .split_once('/')
            .unwrap_or(("", it.api_version));
        let row = resources::builtin().find(group, version, it.resource)?;
        row.prefix.as_ref()?;
        let gate = features::Registry::kubernetes().gates().get(gate.index())?;
        Some((&*gate.name, full_name(row)))
    });
    rows.collect()
}

/// Rows at the version that they are stored in, whether or not they are served.
fn stored_rows() -> impl Iterator<Item = &'static Arc<Row>> {
    let all = resources::builtin().resources.iter();
    all.filter(|it| it.prefix.is_some() && it.stored == (it.group.clone(), it.version.clone()))
}

fn full_name(row: &Row) -> String {
    match &*row.group {
        "" => row.plural.to_string(),
        group => format!("{}.{group}", row.plural),
    }
}

fn stored_resource(name: &str) -> Result<Resource, Status> {
    let row = stored_rows().find(|it| full_name(it) == name);
    let row = row.ok_or_else(|| Status::bad_request(format!("no resource {name} is stored")))?;
    Ok(Resource::builtin(row.clone()))
}

/// Counts the objects that use features of these gates, in one walk through what is stored.
pub(crate) async fn count_uses(
    api: &Api,
    gates: Vec<String>,
) -> Result<BTreeMap<&'static str, Found>, Status> {
    let snapshot = api.fresh_snapshot().await?;
    let counted = tokio::task::spawn_blocking(move || count(&snapshot, &gates));
    counted.await.map_err(Status::internal)
}

/// Objects that have a field; the path has `[]` for the items of a list.
pub(crate) async fn find_field(api: &Api, resource: &str, path: &str) -> Result<Found, Status> {
    let snapshot = api.fresh_snapshot().await?;
    let (resource, path) = (stored_resource(resource)?, path.to_owned());
    let found = tokio::task::spawn_blocking(move || with_field(&snapshot, &resource, &path));
    found.await.map_err(Status::internal)
}

/// Removes the fields of a gate from a page of a collection, together with who owns them. Between reading and writing it asks
/// whether that is still wanted, and writes nothing if it is not.
pub(crate) async fn strip_fields(
    api: &Api,
    gate: &str,
    resource: &str,
    cursor: Option<&str>,
    still_wanted: impl Future<Output = Result<bool, Status>>,
) -> Result<Page, Status> {
    let resource = Arc::new(stored_resource(resource)?);
    let (gates, of) = (Gates::of(|it| it == gate), resource.clone());
    let strip = move |entries: &[Arc<Entry>]| {
        let mut changes = Vec::new();
        for entry in entries {
            if let Some(value) = stripped(&of, &gates, entry)? {
                changes.push((entry.clone(), Some(value)));
            }
        }
        Ok(changes)
    };
    change_page(api, &resource, cursor, strip, still_wanted).await
}

/// Deletes a page of a collection, whatever finalizers say: nobody serves it.
pub(crate) async fn delete_stored(
    api: &Api,
    resource: &str,
    cursor: Option<&str>,
    still_wanted: impl Future<Output = Result<bool, Status>>,
) -> Result<Page, Status> {
    let resource = Arc::new(stored_resource(resource)?);
    let delete = |entries: &[Arc<Entry>]| Ok(entries.iter().map(|it| (it.clone(), None)).collect());
    change_page(api, &resource, cursor, delete, still_wanted).await
}

/// How many objects of a resource are stored.
pub(crate) async fn count_stored(api: &Api, resource: &str) -> Result<Found, Status> {
    let snapshot = api.fresh_snapshot().await?;
    let resource = stored_resource(resource)?;
    let mut found = Found::default();
    for entry in snapshot.range(resource.prefix.as_bytes()) {
        if let Ok(object) = convert::read(&entry.value) {
            found.add(|| use_of(&resource, &object, String::new()));
        }
    }
    Ok(found)
}

async fn change_page(
    api: &Api,
    resource: &Arc<Resource>,
    cursor: Option<&str>,
    changes: impl FnOnce(&[Arc<Entry>]) -> Result<Vec<(Arc<Entry>, Option<Bytes>)>, Status>
    + Send
    + 'static,
    still_wanted: impl Future<Output = Result<bool, Status>>,
) -> Result<Page, Status> {
    let snapshot = api.fresh_snapshot().await?;
    let prefix = resource.prefix.clone();
    let after = cursor.map(|it| format!("{prefix}{it}"));
    let page = snapshot.page(prefix.as_bytes(), after.as_deref().map(str::as_bytes), PAGE);
    drop(snapshot);
    let last = page.entries.last().filter(|_| page.remaining > 0);
    let last = last.and_then(|it| it.key.get(prefix.len()..));
    let mut done = Page {
        total: page.entries.len() as u64,
        cursor: last.map(|it| String::from_utf8_lossy(it).into_owned()),
        ..Page::default()
    };
    let entries = page.entries;
    let changes = tokio::task::spawn_blocking(move || changes(&entries));
    let changes = changes.await.map_err(Status::internal)??;
    if changes.is_empty() {
        return Ok(done);
    }
    // The list is from before this: what is written in a later epoch is a later version.
    if !still_wanted.await? {
        return Err(Status::bad_request("a later transition has begun"));
    }
    for some in changes.chunks(TOGETHER) {
        let writes = some.iter().map(|(entry, value)| async move {
            let txn = Txn::new().when(Condition::Unchanged(entry.key.clone(), entry.modified));
            let (operation, txn) = match value {
                Some(value) => (
                    Stored::Update,
                    txn.put_leased(entry.key.clone(), value.clone(), entry.lease),
                ),
                None => (Stored::Delete, txn.delete(entry.key.clone())),
            };
            commit(api, operation, resource, txn).await
        });
        for written in join::all(writes).await {
            match written {
                Ok(_) => done.done += 1,
                Err(store::Error::Conflict { .. }) => done.conflicts += 1,
                Err(error) => return Err(failure::of_store(&error)),
            }
        }
    }
    Ok(done)
}

impl Found {
    pub fn extend(&mut self, other: Self) {
        self.count += other.count;
        let room = SAMPLES.saturating_sub(self.samples.len());
        self.samples.extend(other.samples.into_iter().take(room));
    }

    fn add(&mut self, sample: impl FnOnce() -> Use) {
        self.count += 1;
        if self.samples.len() < SAMPLES {
            self.samples.push(sample());
        }
    }
}

fn count(snapshot: &Snapshot, wanted: &[String]) -> BTreeMap<&'static str, Found> {
    let gates = Gates::of(|gate| wanted.iter().any(|it| it == gate));
    let mut found: BTreeMap<&'static str, Found> = BTreeMap::new();
    for row in stored_rows() {
        let Some(root) = row.builtin_schema().map(|it| it.root) else {
            continue;
        };
        if !gates.concern(root) {
            continue;
        }
        let resource = Resource::builtin(row.clone());
        let names = gates.names_below(root);
        for entry in snapshot.range(resource.prefix.as_bytes()) {
            let Some(object) = read_if_named(&resource, entry, &names) else {
                continue;
            };
            for used in gates.used(root, &object) {
                let path = || gates.path_of(root, &object, used);
                let found = found.entry(used.gate_name).or_default();
                found.add(|| use_of(&resource, &object, path()));
            }
        }
    }
    found
}

/// The object, unless its text already tells that none of the names is in it.
fn read_if_named(resource: &Resource, entry: &Entry, names: &[String]) -> Option<Value> {
    if let Ok(text) = std::str::from_utf8(&entry.value)
        && !names.iter().any(|it| text.contains(it.as_str()))
    {
        return None;
    }
    convert::decode(resource, &entry.value, entry.modified).ok()
}

fn use_of(resource: &Resource, object: &Value, field_path: String) -> Use {
    let text = |field| object.str_at(&["metadata", field]).unwrap_or_default();
    Use {
        group: resource.group.to_string(),
        resource: resource.plural.to_string(),
        namespace: text("namespace").to_owned(),
        name: text("name").to_owned(),
        uid: text("uid").to_owned(),
        field_path,
    }
}

/// What an object is without the fields of the gates, if it has any.
fn stripped(resource: &Resource, gates: &Gates, entry: &Entry) -> Result<Option<Bytes>, Status> {
    let Some(root) = resource.schema.as_ref().map(|it| it.root) else {
        return Ok(None);
    };
    let names = gates.names_below(root);
    let Some(mut object) = read_if_named(resource, entry, &names) else {
        return Ok(None);
    };
    let before = object.clone();
    gates.strip(root, &mut object);
    gates.disown(root, &mut object);
    if object == before {
        return Ok(None);
    }
    object::forget_version(&mut object);
    convert::encode(resource, &object).map(Some)
}

fn with_field(snapshot: &Snapshot, resource: &Resource, path: &str) -> Found {
    let steps: Vec<&str> = path.split('.').collect();
    let last = steps
        .last()
        .map(|it| format!("\"{}\"", it.trim_end_matches("[]")));
    let names: Vec<String> = last.into_iter().collect();
    let mut found = Found::default();
    for entry in snapshot.range(resource.prefix.as_bytes()) {
        let object = read_if_named(resource, entry, &names);
        if let Some(object) = object.filter(|it| has_field(it, &steps)) {
            found.add(|| use_of(resource, &object, path.to_owned()));
        }
    }
    found
}

fn has_field(value: &Value, steps: &[&str]) -> bool {
    let Some((first, rest)) = steps.split_first() else {
        return !value.is_null();
    };
    match first.strip_suffix("[]") {
        Some(name) => {
            let items = value.get(name).and_then(Value::as_array);
            items.is_some_and(|it| it.iter().any(|it| has_field(it, rest)))
        }
        None => value.get(first).is_some_and(|it| has_field(it, rest)),
    }
}
