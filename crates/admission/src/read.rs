//! Reading and filling objects of any shape: what is missing or of another type is as good as empty.

use json::{Object, Value};

pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    value.str_at(path).unwrap_or_default()
}

pub(crate) fn items<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    let items = value.at(path).and_then(Value::as_array);
    items.map_or(&[], |it| it)
}

pub(crate) fn pairs<'a>(
    value: &'a Value,
    path: &[&str],
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let pairs = value.at(path).and_then(Value::as_object);
    let pairs = pairs.into_iter().flat_map(Object::iter);
    pairs.map(|(key, value)| (&**key, value))
}

pub(crate) fn flag(value: &Value, path: &[&str]) -> Option<bool> {
    value.at(path).and_then(Value::as_bool)
}

/// Whether something is there, be it empty.
pub(crate) fn has(value: &Value, path: &[&str]) -> bool {
    value.at(path).is_some_and(|it| !it.is_null())
}

/// The object below a key, which is made if it is not there. What is of another type is left to validation.
pub(crate) fn section<'a>(value: &'a mut Value, key: &str) -> Option<&'a mut Object> {
    let field = value.as_object_mut()?.get_or_insert(key);
    if field.is_null() {
        *field = Object::new().into();
    }
    field.as_object_mut()
}

/// The list below a key of an object, made if it is not there.
pub(crate) fn list<'a>(object: &'a mut Object, key: &str) -> Option<&'a mut Vec<Value>> {
    let field = object.get_or_insert(key);
    if field.is_null() {
        *field = Vec::new().into();
    }
    field.as_array_mut()
}

/// Of those marked as default by an annotation, the newest; of equally new ones the first by name.
pub(crate) fn default_class(classes: Vec<Value>, annotations: &[&str]) -> Option<String> {
    let is_default = |it: &Value| {
        let mut all = annotations.iter();
        all.any(|key| meta::object::annotation(it, key) == Some("true"))
    };
    let mut found: Vec<Value> = classes.into_iter().filter(is_default).collect();
    found.sort_by(|a, b| {
        let created = meta::object::creation_timestamp;
        let newest = created(b).cmp(&created(a));
        newest.then_with(|| meta::object::name(a).cmp(meta::object::name(b)))
    });
    found.first().map(|it| meta::object::name(it).to_owned())
}
