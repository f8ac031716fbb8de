//! What `kubectl get` shows: the columns of a kind and the cells of an object.

mod cell;
mod cluster;
mod core;
mod custom;
mod device;
mod jsonpath;
mod network;
mod pod;
mod scaling;
mod storage;
mod table;
mod workload;

#[cfg(test)]
mod tests;

use json::{Value, json};
use meta::time::Time;

use crate::clock::Now;
use crate::read::Read;

pub use custom::{Custom, JsonPathError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    /// A type of `OpenAPI`: string, integer, boolean, date.
    pub kind: &'static str,
    /// `name` marks the column that names the object.
    pub format: &'static str,
    /// Above zero it shows only in wide output.
    pub priority: i32,
    pub description: &'static str,
}

/// As an entry of a Table's `columnDefinitions`.
impl From<Column> for meta::table::Column {
    fn from(column: Column) -> Self {
        Self {
            name: column.name.into(),
            kind: column.kind.into(),
            format: column.format.into(),
            description: column.description.into(),
            priority: column.priority,
        }
    }
}

/// The columns of a built-in kind; name and time of creation for the rest.
pub fn definitions(group: &str, _version: &str, kind: &str) -> &'static [Column] {
    table::find(group, kind).map_or(table::DEFAULT, |(columns, _)| columns)
}

/// The cells of one object, one per column, wide ones included.
pub fn row(group: &str, version: &str, kind: &str, object: &Value, now: Time) -> Vec<Value> {
    let Some((_, cells)) = table::find(group, kind) else {
        return cell::default(object);
    };
    let converted = spoken(group, version, kind, object);
    cells(converted.as_ref().unwrap_or(object), Now::new(now))
}

/// The cells of a list, in which a kind may mark one of its objects: the default storage class.
pub fn rows(
    group: &str,
    version: &str,
    kind: &str,
    objects: &[Value],
    now: Time,
) -> Vec<Vec<Value>> {
    let mut rows: Vec<_> = objects
        .iter()
        .map(|it| row(group, version, kind, it, now))
        .collect();
    if (group, kind) == ("storage.k8s.io", "StorageClass")
        && let Some(at) = storage::effective_default(objects)
    {
        rows[at][0] = format!("{} (default)", objects[at].text("metadata.name")).into();
    }
    rows
}

/// The conditions of a row, which tell a client that the object is done.
pub fn row_conditions(group: &str, kind: &str, object: &Value) -> Vec<Value> {
    let (reason, message) = match (group, kind, object.text("status.phase")) {
        ("", "Pod", "Succeeded") => ("Succeeded", "The pod has completed successfully."),
        ("", "Pod", "Failed") => ("Failed", "The pod failed."),
        _ => return Vec::new(),
    };
    vec![json!({"type": "Completed", "status": "True", "reason": reason, "message": message})]
}

/// The version that the printers read, where the object's own differs.
fn spoken(group: &str, version: &str, kind: &str, object: &Value) -> Option<Value> {
    let (group_to, version_to) = match (group, version, kind) {
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => ("autoscaling", "v2"),
        ("events.k8s.io", _, "Event") => ("", "v1"),
        _ => return None,
    };
    let mut object = object.clone();
    crate::convert::to(group, version, kind, &mut object, (group_to, version_to)).ok()?;
    Some(object)
}
