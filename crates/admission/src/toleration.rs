//! Tolerations of a pod.

use json::Value;

use crate::read::text;

/// Both lists, without those that another one covers. Of equal ones the first stays.
pub(crate) fn merge(first: &[Value], second: &[Value]) -> Vec<Value> {
    let all: Vec<&Value> = first.iter().chain(second).collect();
    let mut merged: Vec<Value> = Vec::new();
    for (index, toleration) in all.iter().enumerate() {
        let covered = merged.iter().any(|it| covers(it, toleration));
        let mut later = all[index + 1..].iter();
        if !covered && !later.any(|it| it != toleration && covers(it, toleration)) {
            merged.push((*toleration).clone());
        }
    }
    merged
}

/// Whether all that `small` tolerates, `great` tolerates too.
fn covers(great: &Value, small: &Value) -> bool {
    let (operator, effect) = (text(great, &["operator"]), text(great, &["effect"]));
    let field = |it, key| text(it, &[key]);
    if great == small {
        return true;
    }
    let any_key = field(great, "key").is_empty() && operator == "Exists";
    if field(small, "key") != field(great, "key") && !any_key {
        return false;
    }
    if field(small, "effect") != effect && !effect.is_empty() {
        return false;
    }
    let seconds = |it: &Value| it.get("tolerationSeconds").and_then(Value::as_i64);
    if effect == "NoExecute"
        && let Some(most) = seconds(great)
        && seconds(small).is_none_or(|it| it > most)
    {
        return false;
    }
    match operator {
        "Equal" | "" => {
            field(small, "operator") == "Equal" && field(small, "value") == field(great, "value")
        }
        "Exists" => true,
        _ => false,
    }
}
