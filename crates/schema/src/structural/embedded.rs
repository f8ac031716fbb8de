//! Objects in objects: where `x-kubernetes-embedded-resource` stands, and at the root, there are apiVersion, kind and
//! metadata that no schema needs to name.

use json::Value;
use meta::field::{Error, ErrorList, Path};
use meta::gvk::GroupVersion;
use meta::names;
use meta::object::validate_object_meta;

use crate::unknown::Paths;
use crate::{Place, builtin};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Reads the metadata of all objects as built-in kinds' is read: known fields stay, in their form. Gives the paths of
/// the unknown ones. What is not of its type is an error, or goes if it is to be dropped.
pub fn coerce(
    path: &Path<'_>,
    place: Place<'_>,
    value: &mut Value,
    is_root: bool,
    drop_malformed: bool,
) -> Result<Vec<String>, Error> {
    let mut coercer = Coercer {
        drop_malformed,
        unknown: Paths::default(),
    };
    coercer.value(path, place, value, is_root)?;
    Ok(coercer.unknown.into_sorted())
}

struct Coercer {
    drop_malformed: bool,
    unknown: Paths,
}

impl Coercer {
    fn value(
        &mut self,
        path: &Path<'_>,
        place: Place<'_>,
        value: &mut Value,
        is_root: bool,
    ) -> Result<(), Error> {
        let Some(rules) = &place.node().rules else {
            return Ok(());
        };
        match value {
            Value::Object(object) => {
                if is_root || place.node().embedded {
                    for key in ["apiVersion", "kind"] {
                        match object.get(key) {
                            None | Some(Value::String(_)) => {}
                            Some(_) if self.drop_malformed => drop(object.remove(key)),
                            Some(it) => {
                                return Err(Error::invalid(
                                    path.child(key),
                                    it.clone(),
                                    "must be a string",
                                ));
                            }
                        }
                    }
                    if let Some(metadata) = object.get_mut("metadata") {
                        self.metadata(&path.child("metadata"), metadata)?;
                    }
                }
                for (key, value) in object.iter_mut() {
                    if let Some((_, id)) = rules.properties.find(key) {
                        self.value(&path.child(key), place.at(id), value, false)?;
                    } else if let Some(id) = rules.additional {
                        self.value(&path.key(key), place.at(id), value, false)?;
                    }
                }
            }
            Value::Array(items) => {
                let Some(id) = rules.items else { return Ok(()) };
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(&path.index(index), place.at(id), item, false)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn metadata(&mut self, path: &Path<'_>, value: &mut Value) -> Result<(), Error> {
        let Some(schema) = builtin().named(OBJECT_META) else {
            return Ok(());
        };
        let place = schema.place();
        if let Err(error) = crate::check_types(place, value) {
            if !self.drop_malformed {
                return Err(Error::invalid(path, value.clone(), error.to_string()));
            }
            let Value::Object(object) = value else {
                return Ok(());
            };
            object.retain(|key, value| {
                place
                    .field(key)
                    .is_none_or(|place| crate::check_types(place, value).is_ok())
            });
        }
        if !self.unknown.is_full() {
            for unknown in crate::unknown_paths(place, value) {
                self.unknown.push_with(|| format!("{path}.{unknown}"));
            }
        }
        crate::canonical(place, value);
        Ok(())
    }
}

/// What is wrong with the apiVersion, kind and metadata of embedded objects, and of the object itself if it is to be
/// checked so.
pub fn validate_embedded(
    path: &Path<'_>,
    place: Place<'_>,
    value: &Value,
    is_root: bool,
) -> Vec<Error> {
    let mut errors = ErrorList::default();
    walk(path, place, value, is_root, &mut errors);
    errors.into_vec()
}

fn walk(path: &Path<'_>, place: Place<'_>, value: &Value, is_root: bool, errors: &mut ErrorList) {
    let Some(rules) = &place.node().rules else {
        return;
    };
    match value {
        Value::Object(object) => {
            if is_root || place.node().embedded {
                embedded(path, value, errors);
            }
            for (key, value) in object.iter() {
                if let Some((_, id)) = rules.properties.find(key) {
                    walk(&path.child(key), place.at(id), value, false, errors);
                } else if let Some(id) = rules.additional {
                    walk(&path.key(key), place.at(id), value, false, errors);
                }
            }
        }
        Value::Array(items) => {
            let Some(id) = rules.items else { return };
            for (index, item) in items.iter().enumerate() {
                walk(&path.index(index), place.at(id), item, false, errors);
            }
        }
        _ => {}
    }
}

fn embedded(path: &Path<'_>, object: &Value, errors: &mut ErrorList) {
    if errors.is_full() {
        return;
    }
    for key in ["apiVersion", "kind"] {
        let path = path.child(key);
        let text = match object.get(key) {
            None => {
                errors.push_with(|| Error::required(path, ""));
                continue;
            }
            Some(Value::String(text)) if text.is_empty() => {
                errors.push_with(|| Error::invalid(path, "", "must not be empty"));
                continue;
            }
            Some(Value::String(text)) => text,
            Some(other) => {
                errors.push_with(|| Error::invalid(path, other.clone(), "must be a string"));
                continue;
            }
        };
        if key == "apiVersion" {
            if let Err(why) = GroupVersion::parse(text) {
                errors.push_with(|| Error::invalid(path, text, why.to_string()));
            }
            continue;
        }
        let wrong = names::dns1035_label(&text.to_lowercase());
        if !wrong.is_empty() {
            let detail = format!(
                "may have mixed case, but should otherwise match: {}",
                wrong.join(",")
            );
            errors.push_with(|| Error::invalid(path, text, detail));
        }
    }
    let Some(metadata) = object.get("metadata") else {
        return;
    };
    let at = path.child("metadata");
    let types = builtin()
        .named(OBJECT_META)
        .map(|it| crate::check_types(it.place(), metadata));
    if let Some(Err(error)) = types {
        errors.push_with(|| Error::invalid(at, metadata.clone(), error.to_string()));
        return;
    }
    // An object in another needs no name.
    let mut metadata = metadata.clone();
    let text = |value: &Value, key: &str| value.str_at(&[key]).unwrap_or_default().to_owned();
    if let (true, Value::Object(fields)) = (text(&metadata, "name").is_empty(), &mut metadata) {
        fields.insert("name", "fakename");
    }
    let namespaced = !text(&metadata, "namespace").is_empty();
    let object = json::json!({ "metadata": metadata });
    errors.extend(validate_object_meta(
        &object,
        namespaced,
        names::name_is_path_segment,
        &at,
    ));
}
