use std::collections::HashSet;

use json::Value;

use crate::field::{Error, ErrorList, Path};
use crate::names;
use crate::selector::validate_label_name;

const REASON_LENGTH: usize = 1024;
const MESSAGE_LENGTH: usize = 32 * 1024;

/// A list of `metav1.Condition`.
pub fn validate_conditions(conditions: &[Value], path: &Path) -> Vec<Error> {
    let mut errors = ErrorList::default();
    let mut types = HashSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        let kind = condition.str_at(&["type"]).unwrap_or_default();
        if !types.insert(kind) {
            errors.push_with(|| Error::duplicate(path, kind));
        }
        validate_condition(condition, &path, &mut errors);
    }
    errors.into_vec()
}

fn validate_condition(condition: &Value, path: &Path, errors: &mut ErrorList) {
    let text = |key| {
        condition
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match text("type") {
        "" => errors.push_with(|| Error::required(path.child("type"), "is required")),
        it => errors.extend(validate_label_name(it, &path.child("type"))),
    }
    match text("status") {
        "" => errors.push_with(|| Error::required(path.child("status"), "")),
        "True" | "False" | "Unknown" => {}
        other => {
            let all = ["False", "True", "Unknown"];
            errors.push_with(|| Error::not_supported(path.child("status"), other, all));
        }
    }
    let generation = condition.get("observedGeneration").and_then(Value::as_i64);
    if let Some(generation @ ..0) = generation {
        let detail = "must be greater than or equal to zero";
        errors.push_with(|| Error::invalid(path.child("observedGeneration"), generation, detail));
    }
    if text("lastTransitionTime").is_empty() {
        errors.push_with(|| Error::required(path.child("lastTransitionTime"), ""));
    }
    match text("reason") {
        "" => errors.push_with(|| Error::required(path.child("reason"), "")),
        it => {
            let wrong = names::condition_reason(it).into_iter();
            errors.extend(wrong.map(|wrong| Error::invalid(path.child("reason"), it, wrong)));
            if it.len() > REASON_LENGTH {
                errors.push_with(|| Error::too_long(path.child("reason"), REASON_LENGTH));
            }
        }
    }
    if text("message").len() > MESSAGE_LENGTH {
        errors.push_with(|| Error::too_long(path.child("message"), MESSAGE_LENGTH));
    }
}
