//! How single values are written in cells.

use json::{Object, Value};
use meta::selector::LabelSelector;

use crate::quantity as amount;
use crate::read::Read;

macro_rules! cells {
    ($($cell:expr),* $(,)?) => { vec![$(json::Value::from($cell)),*] };
}
pub(super) use cells;

pub(super) const NONE: &str = "<none>";
pub(super) const UNSET: &str = "<unset>";
pub(super) const UNKNOWN: &str = "<unknown>";

pub(super) fn default(object: &Value) -> Vec<Value> {
    let created = object
        .find("metadata.creationTimestamp")
        .and_then(Value::as_str);
    cells![name(object), created.unwrap_or("0001-01-01T00:00:00Z")]
}

pub(super) fn name(object: &Value) -> &str {
    object.text("metadata.name")
}

pub(super) fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

/// A pointer to a string.
pub(super) fn text_or<'a>(object: &'a Value, path: &str, other: &'a str) -> &'a str {
    object.find(path).and_then(Value::as_str).unwrap_or(other)
}

/// Names and images of containers.
pub(super) fn containers(object: &Value, path: &str) -> [String; 2] {
    let all = object.list(path);
    ["name", "image"].map(|key| join(all.iter().map(|it| it.text(key)), ","))
}

pub(super) fn join<'a>(texts: impl IntoIterator<Item = &'a str>, separator: &str) -> String {
    texts.into_iter().collect::<Vec<_>>().join(separator)
}

/// At most some of many, with the number of the rest.
pub(super) fn some_of(texts: &[String], most: usize, separator: &str) -> String {
    let shown = texts[..texts.len().min(most)].join(separator);
    match texts.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    }
}

/// A map of labels: `a=b,c=d`, by key.
pub(super) fn labels(object: &Value, path: &str) -> String {
    let pairs = object.find(path).and_then(Value::as_object);
    let mut pairs: Vec<_> = pairs.into_iter().flat_map(Object::iter).collect();
    pairs.sort_by_key(|(key, _)| key.as_str());
    let pairs = pairs
        .iter()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    or(&pairs.collect::<Vec<_>>().join(","), NONE).to_owned()
}

/// A label selector as one writes it in a query, by key; nothing if it is not valid.
pub(super) fn selector(selector: Option<&Value>) -> Option<String> {
    let selector = LabelSelector::from_value(selector).ok()?;
    Some(selector.to_string())
}

/// The same for people: never empty.
pub(super) fn selector_text(found: Option<&Value>) -> String {
    match selector(found) {
        Some(text) => or(&text, NONE).to_owned(),
        None => "<error>".into(),
    }
}

/// A quantity in its canonical form; zero if it is not there.
pub(super) fn quantity(value: Option<&Value>) -> String {
    value
        .and_then(amount::of)
        .unwrap_or_else(amount::zero)
        .to_string()
}

/// A pointer to a quantity.
pub(super) fn quantity_pointer(value: Option<&Value>) -> String {
    match value {
        Some(value) => quantity(Some(value)),
        None => "<nil>".into(),
    }
}

/// An integer or a string.
pub(super) fn int_or_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

pub(super) fn deleted(object: &Value) -> bool {
    object.has("metadata.deletionTimestamp")
}
