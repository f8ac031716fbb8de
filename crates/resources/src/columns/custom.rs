//! Columns that a CRD adds for its kind (`additionalPrinterColumns`).

use json::{Number, Value, json};
use meta::table::Column;
use meta::time::Time;

use super::cell::name;
use super::jsonpath::{self, Path};
use crate::clock::{self, Now};
use crate::read::Read;

pub use super::jsonpath::JsonPathError;

/// The compiled columns of one version.
#[derive(Debug)]
pub struct Custom {
    columns: Vec<(Path, String)>,
    definitions: Vec<Column>,
}

impl Custom {
    /// From `additionalPrinterColumns`; without any, upstream shows the age.
    pub fn new(columns: &[Value]) -> Result<Self, JsonPathError> {
        let age = [
            json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
            "description": "Time since the object was created."}),
        ];
        let columns = if columns.is_empty() { &age } else { columns };
        let mut it = Self {
            columns: Vec::new(),
            definitions: vec![super::table::NAME.into()],
        };
        for column in columns {
            let path = column.text("jsonPath");
            let description = match column.text("description") {
                "" => format!("Custom resource definition column (in JSONPath format): {path}"),
                some => some.to_owned(),
            };
            it.columns
                .push((Path::parse(path)?, column.text("type").to_owned()));
            it.definitions.push(Column {
                name: column.text("name").into(),
                kind: column.text("type").into(),
                format: column.text("format").into(),
                description,
                priority: i32::try_from(column.int("priority")).unwrap_or_default(),
            });
        }
        Ok(it)
    }

    /// As a Table's `columnDefinitions`.
    pub fn definitions(&self) -> &[Column] {
        &self.definitions
    }

    pub fn row(&self, object: &Value, now: Time) -> Vec<Value> {
        let now = Now::new(now);
        let cells = self
            .columns
            .iter()
            .map(|(path, kind)| match path.first(object) {
                Some(found) => cell(kind, found, now),
                None => Value::Null,
            });
        std::iter::once(name(object).into()).chain(cells).collect()
    }
}

/// A value that does not fit its column's type has no cell.
fn cell(kind: &str, value: &Value, now: Now) -> Value {
    match (kind, value) {
        ("string", value) => jsonpath::print(value).into(),
        ("integer", Value::Number(Number::Float(it))) => truncated(*it).into(),
        ("integer" | "number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(it)) => match clock::parse(it) {
            Some(_) => now.since(Some(value)).into(),
            None => "<invalid>".into(),
        },
        _ => Value::Null,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "saturates, and Go truncates too"
)]
fn truncated(it: f64) -> i64 {
    it as i64
}
