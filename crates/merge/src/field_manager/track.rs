//! Creates, updates and patches: the object is what it is, and its managed fields follow.

use std::borrow::Cow;

use json::Value;

use super::{
    Context, MAX_UPDATERS, cap_updaters, describe, managed_fields, remove_managed_fields,
    set_managed_fields, strip_meta,
};
use crate::Error;
use crate::managed::{self, Managed, ManagerId, Operation};

/// Sets the managed fields of `new`, which is about to be written. After an error it has those of the live object: a
/// write never fails for want of tracking.
pub fn update(context: &Context, new: &mut Value, manager: &str, now: &str) -> Result<(), Error> {
    let given = remove_managed_fields(new);
    let kept = match fields_of(context, given.as_ref(), new, manager, now, MAX_UPDATERS) {
        Ok(Fields::Same) => None,
        Ok(Fields::New(fields)) => {
            set_managed_fields(new, fields);
            return Ok(());
        }
        Err(why) => Some(why),
    };
    let live = context.live.and_then(managed_fields);
    let failed = kept.is_some();
    let fields = match given {
        Some(given) if !failed && Some(&given) == live => Some(given),
        _ => live.cloned(),
    };
    set_managed_fields(new, fields);
    kept.map_or(Ok(()), |why| Err(Error::Internal(why)))
}

enum Fields {
    /// Those of the live object.
    Same,
    New(Option<Value>),
}

fn fields_of(
    context: &Context,
    given: Option<&Value>,
    new: &Value,
    manager: &str,
    now: &str,
    max_updaters: usize,
) -> Result<Fields, String> {
    let empty;
    let live = if let Some(live) = context.live {
        live
    } else {
        empty = context.empty();
        &empty
    };
    let mut entries = read(context, live, given);
    let created = live.str_at(&["metadata", "uid"]).unwrap_or("").is_empty();
    if entries.is_empty() && !created {
        return Ok(Fields::New(None));
    }
    let from_live =
        given.is_none() || !context.subresource.is_empty() || given == managed_fields(live);
    let before = total(&entries);
    let count = entries.len();
    let changed = track(context, live, new, &mut entries, manager, now)?;
    let updaters = entries.iter().filter(|it| !it.applied).count();
    if !changed
        && from_live
        && context.live.is_some()
        && entries.len() == count
        && total(&entries) == before
        && updaters <= max_updaters
    {
        return Ok(Fields::Same);
    }
    cap_updaters(&mut entries, max_updaters);
    Ok(Fields::New(managed::encode(&mut entries)))
}

/// How many fields are owned. Without a change of hands they can only become fewer.
fn total(managed: &Managed) -> usize {
    managed.iter().map(|it| it.fields.len()).sum()
}

/// Those of the request, if it may say so and they can be read; otherwise those of the live object.
fn read<'v>(context: &Context, live: &'v Value, given: Option<&'v Value>) -> Managed<'v> {
    let of_live = || managed::decode(managed_fields(live)).unwrap_or_default();
    if !context.subresource.is_empty() {
        return of_live();
    }
    if is_reset(given) {
        return Vec::new();
    }
    match managed::decode(given) {
        Ok(managed) if !managed.is_empty() => managed,
        _ => of_live(),
    }
}

/// An empty list, or one empty entry, asks to forget all managers.
fn is_reset(given: Option<&Value>) -> bool {
    match given {
        Some(Value::Array(entries)) => match entries.as_slice() {
            [] | [Value::Null] => true,
            [Value::Object(entry)] => entry.values().all(|it| match it {
                Value::Null => true,
                Value::String(text) => text.is_empty(),
                _ => false,
            }),
            _ => false,
        },
        _ => false,
    }
}

/// Lets the managers follow the write. Says whether this one took any field.
pub(super) fn track<'v>(
    context: &Context<'v>,
    live: &'v Value,
    new: &'v Value,
    entries: &mut Managed<'v>,
    manager: &'v str,
    now: &'v str,
) -> Result<bool, String> {
    for (object, name) in [(new, "new"), (live, "live")] {
        context.schema.validate(object, true).map_err(|why| {
            let what = describe(object);
            format!("failed to convert {name} object ({what}) to smd typed: {why}")
        })?;
    }
    // The changes of this write are seen apart from what the manager owned before: only they set its time.
    let this = ManagerId::new("current-operation", Operation::Update, "", "");
    let updater = context.updater();
    let tracked = updater.update(live, new, entries, &this);
    tracked.map_err(|why| {
        let what = describe(new);
        format!("failed to update ManagedFields ({what}): {why}")
    })?;
    strip_meta(entries, &this);
    let Some(at) = entries.iter().position(|it| it.manager == this) else {
        return Ok(false);
    };
    let mut owned = entries.remove(at);
    let name = if manager.is_empty() {
        "unknown"
    } else {
        manager
    };
    owned.manager = ManagerId::new(
        name,
        Operation::Update,
        context.api_version,
        context.subresource,
    );
    owned.time = Some(Cow::Borrowed(now));
    match entries.iter_mut().find(|it| it.manager == owned.manager) {
        Some(previous) => {
            let before = std::mem::replace(previous, owned);
            previous.fields.union(before.fields);
        }
        None => entries.push(owned),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use json::Value;

    use super::super::Context;
    use super::{Fields, fields_of};
    use crate::typed::Type;
    use crate::{Unconverted, Versions};

    struct Same;

    impl Versions for Same {
        fn convert(&self, object: &Value, _: &str) -> Result<Value, Unconverted> {
            Ok(object.clone())
        }

        fn schema(&self, _: &str) -> Type<'_> {
            Type::Deduced
        }
    }

    /// Upstream's table, which caps at three: live, new, and what is written.
    #[test]
    fn old_updaters_are_merged() {
        for text in include_str!("../../tests/data/cap.jsonl").lines() {
            let row = json::parse(text.as_bytes()).expect("JSON");
            let [manager, live, new, expected] = row.as_array().expect("a list").as_slice() else {
                panic!("{text}");
            };
            let entries_of = |object: &Value| object.at(&["metadata", "managedFields"]).cloned();
            let context = Context {
                schema: Type::Deduced,
                api_version: new.str_at(&["apiVersion"]).expect("a version"),
                kind: "Pod",
                subresource: "",
                custom: true,
                versions: &Same,
                live: Some(live),
            };
            let mut new = new.clone();
            let given = super::remove_managed_fields(&mut new);
            let manager = manager.as_str().expect("a name");
            let now = "2030-01-01T00:00:00Z";
            let got = match fields_of(&context, given.as_ref(), &new, manager, now, 3) {
                Ok(Fields::New(fields)) => fields,
                Ok(Fields::Same) => entries_of(live),
                Err(why) => panic!("{why}"),
            };
            assert_eq!(got, entries_of(expected), "{text}");
        }
    }
}
