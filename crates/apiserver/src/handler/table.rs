//! Objects as the rows of a Table: what `kubectl get` shows.

use std::time::SystemTime;

use json::{Object, Value, json};
use meta::Status;
use meta::time::Time;
use store::Revision;

use crate::catalog::Resource;
use crate::catalog::convert;
use crate::handler::render::{Renderer, partial};
use crate::request::Query;
use crate::request::negotiate::{Accepted, View};

/// `includeObject`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Include {
    None,
    #[default]
    Metadata,
    Object,
}

impl Include {
    /// Only tables ask.
    pub(crate) fn of(query: &Query, accepted: Accepted) -> Result<Self, Status> {
        if !matches!(accepted.view, View::Table(_)) {
            return Ok(Self::default());
        }
        match query.get("includeObject") {
            None | Some("" | "Metadata") => Ok(Self::Metadata),
            Some("None") => Ok(Self::None),
            Some("Object") => Ok(Self::Object),
            Some(other) => {
                let allowed = "must be 'Metadata', 'Object', 'None', or empty";
                let error = meta::field::Error::invalid("includeObject", other, allowed);
                let text = format!("Unable to convert to Table as requested: {error}");
                Err(Status::bad_request(text))
            }
        }
    }
}

pub(crate) fn columns(resource: &Resource) -> Value {
    if let Some(custom) = &resource.custom {
        return custom.columns();
    }
    let all = resources::columns::definitions(&resource.group, &resource.version, &resource.kind);
    let all = all.iter().map(|it| meta::table::Column::from(*it));
    all.map(|it| it.to_value()).collect()
}

/// One row, with as much of its object as is asked for.
pub(crate) fn row(
    renderer: &Renderer<'_>,
    version: &'static str,
    object: Value,
    listed: bool,
) -> Value {
    let resource = renderer.resource;
    let now = Time::from(SystemTime::now());
    let cells: Vec<Value> = if let Some(custom) = &resource.custom {
        custom.columns.row(&object, now)
    } else {
        let (group, version, kind) = (&resource.group, &resource.version, &resource.kind);
        if listed {
            // As a list of one: there, a default storage class is marked.
            let one = std::slice::from_ref(&object);
            let mut rows = resources::columns::rows(group, version, kind, one, now);
            rows.pop().unwrap_or_default()
        } else {
            resources::columns::row(group, version, kind, &object, now)
        }
    };
    let mut row = Object::new();
    row.insert("cells", cells);
    if resource.custom.is_none() {
        let done = resources::columns::row_conditions(&resource.group, &resource.kind, &object);
        if !done.is_empty() {
            row.insert("conditions", done);
        }
    }
    match renderer.include {
        Include::None => {
            row.insert("object", Value::Null);
        }
        Include::Metadata => {
            row.insert("object", partial(version, object));
        }
        Include::Object => {
            row.insert("object", object);
        }
    }
    row.into()
}

/// A table of one object.
pub(crate) fn of_one(renderer: &Renderer<'_>, version: &'static str, object: Value) -> Value {
    let revision = object
        .str_at(&["metadata", "resourceVersion"])
        .map(str::to_owned);
    table(
        version,
        revision,
        columns(renderer.resource),
        vec![row(renderer, version, object, false)],
    )
}

fn table(version: &str, revision: Option<String>, columns: Value, rows: Vec<Value>) -> Value {
    let mut metadata = Object::new();
    if let Some(revision) = revision {
        metadata.insert("resourceVersion", revision);
    }
    json!({
        "kind": "Table",
        "apiVersion": (format!("meta.k8s.io/{version}")),
        "metadata": metadata,
        "columnDefinitions": columns,
        "rows": rows,
    })
}

/// A watch event whose object is a table of one row; the columns come with the first one only.
pub(crate) fn event(
    renderer: &Renderer<'_>,
    version: &'static str,
    first: bool,
    kind: &str,
    bytes: &[u8],
    revision: Revision,
    out: &mut Vec<u8>,
) -> Result<(), Status> {
    let object = convert::decode(renderer.resource, bytes, revision)?;
    let columns = if first {
        columns(renderer.resource)
    } else {
        Value::Null
    };
    let rows = vec![row(renderer, version, object, false)];
    let table = table(version, Some(revision.to_string()), columns, rows);
    json::write(out, &json!({"type": kind, "object": table}));
    Ok(())
}

/// How far a watch of tables is.
pub(crate) fn bookmark(resource: &Resource, version: &str, metadata: Value) -> Value {
    let _ = resource;
    json!({
        "kind": "Table",
        "apiVersion": (format!("meta.k8s.io/{version}")),
        "metadata": (metadata.clone()),
        "columnDefinitions": null,
        "rows": [{
            "cells": [],
            "object": {
                "kind": "PartialObjectMetadata",
                "apiVersion": (format!("meta.k8s.io/{version}")),
                "metadata": metadata,
            },
        }],
    })
}
