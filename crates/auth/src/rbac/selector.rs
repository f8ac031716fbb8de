//! The label selectors of an aggregationRule.

use json::Value;

use super::strings;

/// None where the selector is not one: then it selects nothing and the caller may say so.
pub(super) fn matches(selector: &Value, labels: Option<&Value>) -> Option<bool> {
    let label = |key: &str| labels.and_then(|labels| labels.get(key)?.as_str());
    let mut all = true;
    if let Some(wanted) = selector.get("matchLabels").and_then(Value::as_object) {
        all &= wanted
            .iter()
            .all(|(key, value)| label(key) == value.as_str());
    }
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let found = label(expression.str_at(&["key"])?);
        let values = strings(expression.get("values"));
        let among = |it: &str| values.iter().any(|value| value == it);
        all &= match expression.str_at(&["operator"])? {
            "In" => found.is_some_and(among),
            "NotIn" => !found.is_some_and(among),
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            _ => return None,
        };
    }
    Some(all)
}
