//! Labels and selectors as parts of an object.

use json::{Object, Value};

use crate::field::{Error, ErrorList, Path};
use crate::names;

pub fn validate_label_name(name: &str, path: &Path) -> Vec<Error> {
    let wrong = names::qualified_name(name).into_iter();
    wrong.map(|it| Error::invalid(path, name, it)).collect()
}

pub fn validate_labels(labels: &Object, path: &Path) -> Vec<Error> {
    let mut errors = ErrorList::default();
    for (key, value) in labels.iter() {
        for wrong in names::qualified_name(key) {
            errors.push_with(|| Error::invalid(path, key, wrong));
        }
        let value = value.as_str().unwrap_or_default();
        for wrong in names::label_value(value) {
            errors.push_with(|| Error::invalid(path, value, wrong));
        }
    }
    errors.into_vec()
}

/// `allow_invalid_values` is for objects that were stored before values were checked.
pub fn validate_label_selector(
    selector: &Value,
    allow_invalid_values: bool,
    path: &Path,
) -> Vec<Error> {
    let mut errors = ErrorList::default();
    if let Some(labels) = selector.get("matchLabels").and_then(Value::as_object) {
        errors.extend(validate_labels(labels, &path.child("matchLabels")));
    }
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let path = path.child("matchExpressions");
    for (index, it) in expressions.into_iter().flatten().enumerate() {
        expression(it, allow_invalid_values, &path.index(index), &mut errors);
    }
    errors.into_vec()
}

fn expression(it: &Value, allow_invalid_values: bool, path: &Path, errors: &mut ErrorList) {
    let text = |key| it.str_at(&[key]).unwrap_or_default();
    let values = it.get("values").and_then(Value::as_array);
    let values = values.map(Vec::as_slice).unwrap_or_default();
    let at_values = path.child("values");
    match text("operator") {
        "In" | "NotIn" if values.is_empty() => errors.push_with(|| {
            Error::required(
                at_values,
                "must be specified when `operator` is 'In' or 'NotIn'",
            )
        }),
        "Exists" | "DoesNotExist" if !values.is_empty() => errors.push_with(|| {
            Error::forbidden(
                at_values,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )
        }),
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => errors.push_with(|| {
            Error::invalid(
                path.child("operator"),
                other,
                "not a valid selector operator",
            )
        }),
    }
    for wrong in names::qualified_name(text("key")) {
        errors.push_with(|| Error::invalid(path.child("key"), text("key"), wrong));
    }
    if allow_invalid_values {
        return;
    }
    for (index, value) in values.iter().enumerate() {
        let value = value.as_str().unwrap_or_default();
        for wrong in names::label_value(value) {
            errors.push_with(|| Error::invalid(at_values.index(index), value, wrong));
        }
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;
    use crate::field::aggregate;

    #[test]
    fn selectors_are_checked() {
        let table = [
            (json!({"matchLabels": {"a": "b"}}), ""),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "In"}]}),
                "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
            ),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]}),
                "s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "x"}]}),
                "s.matchExpressions[0].operator: Invalid value: \"x\": not a valid selector operator",
            ),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["ok", "-"]}]}),
                "s.matchExpressions[0].values[1]: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
            ),
        ];
        for (selector, want) in table {
            let errors = validate_label_selector(&selector, false, &Path::new("s"));
            assert_eq!(aggregate(&errors), want);
        }
        let old = json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["-"]}]});
        assert!(validate_label_selector(&old, true, &Path::new("s")).is_empty());
    }
}
