//! Server-side apply, and the tracking of managed fields in all other writes. Hot path.

mod apply;
mod cap;
mod last_applied;
mod scale;
mod times;
mod track;

use std::sync::LazyLock;

use json::{Object, Value};

use crate::fieldpath::Set;
use crate::typed::{Type, empty_object};
use crate::updater::{Managers, Updater, Versions};

pub use apply::apply;
use cap::cap_updaters;
pub use scale::{ReplicasPath, scale_fields, scale_to_parent};
pub use times::keep_times;
pub use track::update;

/// How many managers that update are told apart; the oldest beyond that are merged into one.
const MAX_UPDATERS: usize = 10;

/// The kind of object that is written, and how it stands.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub schema: Type<'a>,
    /// As in `apiVersion`. Both objects are of this version.
    pub api_version: &'a str,
    pub kind: &'a str,
    /// Empty for the main resource.
    pub subresource: &'a str,
    /// Kinds without Go types: their empty object has nothing in it.
    pub custom: bool,
    pub versions: &'a dyn Versions,
    /// None on create.
    pub live: Option<&'a Value>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("api_version", &self.api_version)
            .field("kind", &self.kind)
            .field("subresource", &self.subresource)
            .finish_non_exhaustive()
    }
}

impl<'a> Context<'a> {
    fn updater(&self) -> Updater<'a> {
        Updater {
            versions: self.versions,
            schema: self.schema,
            version: self.api_version,
        }
    }

    /// The object before the first write.
    fn empty(&self) -> Value {
        let mut empty = match self.schema {
            Type::Place { place, .. } if !self.custom => empty_object(place),
            _ => Value::Object(Object::new()),
        };
        if let Value::Object(object) = &mut empty {
            object.insert("apiVersion", self.api_version);
            object.insert("kind", self.kind);
        }
        empty
    }

    fn empty_if(&self, wanted: bool) -> Option<Value> {
        wanted.then(|| self.empty())
    }
}

/// An object in error texts: namespace, name and type.
fn describe(object: &Value) -> String {
    let text = |path: &[&str]| object.str_at(path).unwrap_or("");
    format!(
        "{}/{}; {}",
        text(&["metadata", "namespace"]),
        text(&["metadata", "name"]),
        group_version_kind(text(&["apiVersion"]), text(&["kind"]))
    )
}

/// As Go prints it: the core group is empty, the slash stays.
fn group_version_kind(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

fn managed_fields(object: &Value) -> Option<&Value> {
    object.at(&["metadata", "managedFields"])
}

fn remove_managed_fields(object: &mut Value) -> Option<Value> {
    object
        .get_mut("metadata")?
        .as_object_mut()?
        .remove("managedFields")
}

fn set_managed_fields(object: &mut Value, fields: Option<Value>) {
    let Some(fields) = fields else {
        remove_managed_fields(object);
        return;
    };
    if let Value::Object(object) = object {
        let metadata = object.get_or_insert("metadata");
        if !matches!(metadata, Value::Object(_)) {
            *metadata = Object::new().into();
        }
        if let Value::Object(metadata) = metadata {
            metadata.insert("managedFields", fields);
        }
    }
}

/// Fields without an owner: the server sets them, or they name the object.
const NEVER_OWNED: [&[&str]; 12] = [
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "creationTimestamp"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "clusterName"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
];

fn strip_meta<K: PartialEq>(managers: &mut Managers<K>, manager: &K) {
    static STRIP: LazyLock<Set<'static>> = LazyLock::new(|| {
        let paths = NEVER_OWNED.iter();
        paths.map(|path| path.iter().copied().collect()).collect()
    });
    managers.retain_mut(|owned| {
        if owned.manager == *manager {
            owned.fields.subtract(&STRIP);
        }
        !owned.fields.is_empty()
    });
}
