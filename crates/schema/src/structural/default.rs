//! Defaults of structural schemas, and the nulls that give way to them.

use json::{Text, Value};

use crate::{NodeId, Place};

/// Fills in defaults. A null that may not be one counts as not there.
pub fn default(place: Place<'_>, value: &mut Value) {
    let Some(rules) = &place.node().rules else {
        return;
    };
    match value {
        Value::Object(object) => {
            for (name, id) in &rules.defaults {
                let node = place.at(*id).node();
                let Some(default) = &node.default else {
                    continue;
                };
                if object
                    .get(name)
                    .is_none_or(|it| it.is_null() && !node.nullable)
                {
                    object.insert(name.clone(), default.clone());
                }
            }
            for (key, value) in object.iter_mut() {
                if let Some((_, id)) = rules.properties.find(key) {
                    default(place.at(id), value);
                } else if let Some(id) = rules.additional {
                    default_null(place.at(id), value);
                    default(place.at(id), value);
                }
            }
        }
        Value::Array(items) => {
            let Some(id) = rules.items else { return };
            for item in items {
                default_null(place.at(id), item);
                default(place.at(id), item);
            }
        }
        _ => {}
    }
}

/// Whether [`default`] would change anything.
pub fn lacks_default(place: Place<'_>, value: &Value) -> bool {
    let Some(rules) = &place.node().rules else {
        return false;
    };
    // Where a default would stand if there were something.
    let is_given = |id, value: &Value| {
        let node = place.at(id).node();
        value.is_null() && !node.nullable && node.default.is_some()
            || lacks_default(place.at(id), value)
    };
    match value {
        Value::Object(object) => {
            let missing = |(name, _): &(Text, NodeId)| object.get(name).is_none();
            rules.defaults.iter().any(missing)
                || object.iter().any(|(key, value)| {
                    let property = rules.properties.find(key);
                    let id = property.map(|(_, id)| id).or(rules.additional);
                    id.is_some_and(|id| is_given(id, value))
                })
        }
        Value::Array(items) => {
            let id = rules.items;
            id.is_some_and(|id| items.iter().any(|it| is_given(id, it)))
        }
        _ => false,
    }
}

fn default_null(place: Place<'_>, value: &mut Value) {
    let node = place.node();
    if value.is_null() && !node.nullable {
        *value = node.default.clone().unwrap_or_default();
    }
}

/// Drops nulls that may not be ones and that no default replaces. Comes before [`default`].
pub fn drop_nulls(place: Place<'_>, value: &mut Value) {
    let Some(rules) = &place.node().rules else {
        return;
    };
    match value {
        Value::Object(object) => object.retain(|key, value| {
            let property = rules.properties.find(key);
            let Some(id) = property.map(|(_, id)| id).or(rules.additional) else {
                return true;
            };
            let node = place.at(id).node();
            if value.is_null() && !node.nullable && node.default.is_none() {
                return false;
            }
            drop_nulls(place.at(id), value);
            true
        }),
        Value::Array(items) => {
            if let Some(id) = rules.items {
                for item in items {
                    drop_nulls(place.at(id), item);
                }
            }
        }
        _ => {}
    }
}
