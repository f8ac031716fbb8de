//! Reading fields the way typed code does: what is not there, or is of another kind, has its zero.

use json::Value;

pub(crate) trait Read {
    /// Below keys joined by dots.
    fn find(&self, path: &str) -> Option<&Value>;
    fn text(&self, path: &str) -> &str;
    fn int(&self, path: &str) -> i64;
    fn flag(&self, path: &str) -> bool;
    fn list(&self, path: &str) -> &[Value];
    fn has(&self, path: &str) -> bool;
}

impl Read for Value {
    fn find(&self, path: &str) -> Option<&Value> {
        let found = path.split('.').try_fold(self, |it, key| it.get(key));
        found.filter(|it| !it.is_null())
    }

    fn text(&self, path: &str) -> &str {
        self.find(path).and_then(Value::as_str).unwrap_or_default()
    }

    fn int(&self, path: &str) -> i64 {
        self.find(path).and_then(Value::as_i64).unwrap_or_default()
    }

    fn flag(&self, path: &str) -> bool {
        self.find(path).and_then(Value::as_bool).unwrap_or_default()
    }

    fn list(&self, path: &str) -> &[Value] {
        self.find(path)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    fn has(&self, path: &str) -> bool {
        self.find(path).is_some()
    }
}

/// The condition of a type.
pub(crate) fn condition<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    let mut all = object.list("status.conditions").iter();
    all.find(|it| it.text("type") == name)
}

pub(crate) fn is_true(object: &Value, name: &str) -> bool {
    condition(object, name).is_some_and(|it| it.text("status") == "True")
}

pub(crate) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.at(&["metadata", "annotations", key])?.as_str()
}

/// The texts of a list of strings.
pub(crate) fn texts<'a>(object: &'a Value, path: &str) -> Vec<&'a str> {
    object.list(path).iter().filter_map(Value::as_str).collect()
}
