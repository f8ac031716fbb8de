//! What `kubectl get` shows: the columns of a kind and the cells of an object.

mod cell;
pub(crate) mod cluster;
pub(crate) mod core;
mod custom;
pub(crate) mod device;
pub(crate) mod feature;
mod jsonpath;
pub(crate) mod network;
pub(crate) mod pod;
pub(crate) mod scaling;
pub(crate) mod storage;
pub(crate) mod table;
pub(crate) mod workload;

#[cfg(test)]
mod tests;

use json::Value;
use meta::time::Time;

use crate::clock::Now;
use crate::strategy;

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

/// The columns of a kind.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) definitions: &'static [Column],
    pub(crate) cells: Cells,
    /// Group and version of the objects that `cells` reads, if not any.
    pub(crate) read_as: Option<(&'static str, &'static str)>,
    /// Changes the rows of a list.
    pub(crate) mark: fn(&[Value], &mut [Vec<Value>]),
    /// The conditions of a row, by which a client knows that the object is done.
    pub(crate) conditions: fn(&Value) -> Vec<Value>,
}

/// The cells of an object, one per column.
pub(crate) type Cells = fn(&Value, Now) -> Vec<Value>;

impl Columns {
    pub(crate) const fn new(definitions: &'static [Column], cells: Cells) -> Self {
        Self {
            definitions,
            cells,
            read_as: None,
            mark: |_, _| {},
            conditions: |_| Vec::new(),
        }
    }
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
    let columns = strategy::find(group, kind).columns;
    columns.map_or(table::DEFAULT, |it| it.definitions)
}

/// The cells of one object, one per column, wide ones included.
pub fn row(group: &str, version: &str, kind: &str, object: &Value, now: Time) -> Vec<Value> {
    let Some(columns) = strategy::find(group, kind).columns else {
        return cell::default(object);
    };
    let converted = columns.read_as.filter(|it| *it != (group, version));
    let converted = converted.and_then(|to| {
        let mut object = object.clone();
        crate::convert::to(group, version, kind, &mut object, to).ok()?;
        Some(object)
    });
    (columns.cells)(converted.as_ref().unwrap_or(object), Now::new(now))
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
    if let Some(columns) = strategy::find(group, kind).columns {
        (columns.mark)(objects, &mut rows);
    }
    rows
}

/// The conditions of a row, which tell a client that the object is done.
pub fn row_conditions(group: &str, kind: &str, object: &Value) -> Vec<Value> {
    let columns = strategy::find(group, kind).columns;
    columns.map_or(Vec::new(), |it| (it.conditions)(object))
}
