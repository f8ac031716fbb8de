//! `metadata.managedFields`, read and written.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use encoding::go::quote;
use json::{Object, Value};

use crate::fieldpath::Set;
use crate::time;
use crate::updater::{Managers, Owned};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    Apply,
    Update,
}

/// Who wrote. One name may stand for several managers: an applier, an updater per version, one per subresource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ManagerId<'a> {
    pub name: Cow<'a, str>,
    pub operation: Operation,
    /// Empty for appliers: they are the same in every version.
    pub version: Cow<'a, str>,
    pub subresource: Cow<'a, str>,
}

impl<'a> ManagerId<'a> {
    pub fn new(
        name: &'a str,
        operation: Operation,
        version: impl Into<Cow<'a, str>>,
        subresource: &'a str,
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            operation,
            version: match operation {
                Operation::Apply => Cow::Borrowed(""),
                Operation::Update => version.into(),
            },
            subresource: Cow::Borrowed(subresource),
        }
    }

    pub fn into_owned(self) -> ManagerId<'static> {
        let text = |it: Cow<str>| Cow::Owned(it.into_owned());
        ManagerId {
            name: text(self.name),
            operation: self.operation,
            version: text(self.version),
            subresource: text(self.subresource),
        }
    }

    /// As conflicts name it.
    pub(crate) fn describe(&self) -> String {
        let mut text = quote(&self.name);
        if !self.subresource.is_empty() {
            text.push_str(" with subresource ");
            text.push_str(&quote(&self.subresource));
        }
        if self.operation == Operation::Update {
            text.push_str(" using ");
            text.push_str(&self.version);
        }
        text
    }
}

pub type Managed<'a> = Managers<'a, ManagerId<'a>>;

/// Reads the list. Where two entries are of one manager, the last counts.
pub fn decode(entries: Option<&Value>) -> Result<Managed<'_>, String> {
    let entries = match entries {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err("managedFields must be a list".into()),
    };
    let mut managed: Managed = Vec::with_capacity(entries.len());
    let mut known = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let owned = decode_entry(index, entry)?;
        match known.entry(owned.manager.clone()) {
            Entry::Occupied(at) => managed[*at.get()] = owned,
            Entry::Vacant(free) => {
                free.insert(managed.len());
                managed.push(owned);
            }
        }
    }
    Ok(managed)
}

fn decode_entry(index: usize, entry: &Value) -> Result<Owned<'_, ManagerId<'_>>, String> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or("");
    let operation = match text("operation") {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err("operation must be `Apply` or `Update`".into()),
    };
    let version = text("apiVersion");
    if version.is_empty() {
        return Err("apiVersion must not be empty".into());
    }
    match text("fieldsType") {
        "FieldsV1" => {}
        "" => {
            return Err(format!(
                "missing fieldsType in managed fields entry {index}"
            ));
        }
        other => {
            return Err(format!(
                "invalid fieldsType {} in managed fields entry {index}",
                quote(other)
            ));
        }
    }
    let fields = Set::from_json(entry.get("fieldsV1").unwrap_or(&Value::Null)).map_err(|why| {
        format!("error decoding versioned set from {entry}: error decoding set: {why}")
    })?;
    let time = entry.get("time").and_then(Value::as_str);
    Ok(Owned {
        manager: ManagerId::new(text("manager"), operation, version, text("subresource")),
        version: Cow::Borrowed(version),
        applied: operation == Operation::Apply,
        fields,
        time: time.map(time::normal),
    })
}

/// Writes the list: appliers first, the oldest first. `None` if there are no managers.
pub fn encode(managed: &mut Managed) -> Option<Value> {
    if managed.is_empty() {
        return None;
    }
    managed.sort_by_cached_key(|it| {
        let operation = if it.applied {
            Operation::Apply
        } else {
            it.manager.operation
        };
        let seconds = it.time.as_deref().and_then(time::seconds).unwrap_or(0);
        let ManagerId {
            name, subresource, ..
        } = &it.manager;
        let names = (name.clone(), it.version.clone(), subresource.clone());
        (operation, seconds, names)
    });
    Some(managed.iter().map(encode_entry).collect())
}

fn encode_entry(owned: &Owned<ManagerId>) -> Value {
    let mut entry = Object::with_capacity(7);
    let mut text = |name: &str, value: &str| {
        if !value.is_empty() {
            entry.push(name, value);
        }
    };
    text("manager", &owned.manager.name);
    let applied = owned.applied || owned.manager.operation == Operation::Apply;
    text("operation", if applied { "Apply" } else { "Update" });
    text("apiVersion", &owned.version);
    text("time", owned.time.as_deref().unwrap_or(""));
    text("fieldsType", "FieldsV1");
    entry.push("fieldsV1", owned.fields.to_json());
    if !owned.manager.subresource.is_empty() {
        entry.push("subresource", &*owned.manager.subresource);
    }
    entry.into()
}
