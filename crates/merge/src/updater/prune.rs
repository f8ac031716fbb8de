//! What an apply takes away.

use json::Value;

use super::{Managers, Owned, Unconverted, Updater, Versions, at};
use crate::fieldpath::Set;
use crate::typed::{Emptied, Type};

/// Removes what the manager applied last time, not this time, and no one else owns.
pub(super) fn prune<K>(
    updater: &Updater,
    merged: Value,
    managers: &Managers<K>,
    before: &Owned<K>,
    emptied: Emptied,
) -> Result<Value, String> {
    let Updater {
        versions, version, ..
    } = *updater;
    if before.fields.is_empty() {
        return Ok(merged);
    }
    // Whoever applies again what was applied before leaves nothing to remove. (All that leads to an applied field is
    // applied, too, so no unowned parent can take it along.)
    let now = managers.last().map(|it| &it.fields);
    if *before.version == *version && now.is_some_and(|now| before.fields.is_within(now)) {
        return Ok(merged);
    }
    let there = match at(versions, &merged, &before.version) {
        Ok(there) => there.into_owned(),
        Err(Unconverted::MissingVersion) => return Ok(merged),
        Err(Unconverted::Failed(why)) => {
            return Err(format!(
                "failed to convert merged object to last applied version: {why}"
            ));
        }
    };
    let schema = updater.schema_at(&before.version);
    let mut lost = before.fields.clone();
    schema.own_named_fields(&mut lost);
    let mut pruned = there.clone();
    schema.remove(&mut pruned, &lost, Emptied::Null);

    // What is owned in the version of the pruned object comes back first: its conversion may need it.
    let mut order: Vec<&str> = vec![&before.version];
    for owned in managers {
        if !order.contains(&&*owned.version) {
            order.push(&owned.version);
        }
    }
    let mut whole = there.clone();
    for at_version in order {
        let mut managed = Set::new();
        for owned in managers.iter().filter(|it| it.version == at_version) {
            managed.union(owned.fields.clone());
        }
        if at_version == before.version && managed.is_empty() {
            continue;
        }
        let back = add_back(
            versions,
            updater.schema_at(at_version),
            at_version,
            &whole,
            &pruned,
            managed,
        );
        if let Some((new_whole, new_pruned)) =
            back.map_err(|why| format!("failed add back owned items: {why}"))?
        {
            (whole, pruned) = (new_whole, new_pruned);
        }
    }

    // Only what the manager itself had applied may go.
    let pruned = match at(versions, &pruned, &before.version) {
        Ok(pruned) => pruned,
        Err(Unconverted::MissingVersion) => return convert_back(versions, there, version),
        Err(Unconverted::Failed(why)) => {
            return Err(format!(
                "failed add back dangling items: failed to convert pruned object to last applied version: {why}"
            ));
        }
    };
    let gone = {
        let mut all = schema.to_set(&there);
        let mut kept = schema.to_set(&pruned);
        schema.own_named_fields(&mut all);
        schema.own_named_fields(&mut kept);
        all.subtract(&kept);
        all.intersection(&lost).into_owned()
    };
    let mut result = there;
    schema.remove(&mut result, &gone, emptied);
    convert_back(versions, result, version)
}

fn convert_back(versions: &dyn Versions, object: Value, version: &str) -> Result<Value, String> {
    if versions.is_at(&object, version) {
        return Ok(object);
    }
    versions.convert(&object, version).map_err(|why| match why {
        Unconverted::Failed(why) => why,
        Unconverted::MissingVersion => format!("no version {version}"),
    })
}

/// Both objects at a version, with what is managed there put back into the pruned one. None if it is no more.
fn add_back(
    versions: &dyn Versions,
    ty: Type,
    version: &str,
    whole: &Value,
    pruned: &Value,
    mut managed: Set,
) -> Result<Option<(Value, Value)>, String> {
    let convert = |object: &Value, name: &str| match at(versions, object, version) {
        Ok(object) => Ok(Some(object.into_owned())),
        Err(Unconverted::MissingVersion) => Ok(None),
        Err(Unconverted::Failed(why)) => Err(format!(
            "failed to convert {name} object at version {version}: {why}"
        )),
    };
    let Some(whole) = convert(whole, "merged")? else {
        return Ok(None);
    };
    let Some(pruned) = convert(pruned, "pruned")? else {
        return Ok(Some((whole, pruned.clone())));
    };
    let gone = {
        let mut gone = ty.to_set(&whole);
        let mut kept = ty.to_set(&pruned);
        ty.own_named_fields(&mut gone);
        ty.own_named_fields(&mut kept);
        ty.own_named_fields(&mut managed);
        gone.subtract(&kept);
        gone.subtract(&managed);
        gone.into_owned()
    };
    let mut result = whole.clone();
    ty.remove(&mut result, &gone, Emptied::Null);
    Ok(Some((whole, result)))
}
