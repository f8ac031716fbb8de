//! Where the expressions of policies and webhooks are.

use json::Value;

/// From the spec of a policy: lists, and where in their items an expression is.
const OF_POLICIES: [(&str, &[&str]); 7] = [
    ("matchConditions", &["expression"]),
    ("variables", &["expression"]),
    ("validations", &["expression"]),
    ("validations", &["messageExpression"]),
    ("auditAnnotations", &["valueExpression"]),
    ("mutations", &["applyConfiguration", "expression"]),
    ("mutations", &["jsonPatch", "expression"]),
];

/// The paths of all expressions of an object, as errors name them.
pub(super) fn paths(object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(spec) = object.get("spec") {
        for (list, keys) in OF_POLICIES {
            add(spec, "spec", list, keys, &mut found);
        }
    }
    for (index, webhook) in items(object, "webhooks").enumerate() {
        let at = format!("webhooks[{index}]");
        add(webhook, &at, "matchConditions", &["expression"], &mut found);
    }
    found
}

fn items<'a>(of: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    let list = of.get(key).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn add(of: &Value, path: &str, list: &str, keys: &[&str], found: &mut Vec<String>) {
    for (index, item) in items(of, list).enumerate() {
        if item.str_at(keys).is_some_and(|it| !it.is_empty()) {
            found.push(format!("{path}.{list}[{index}].{}", keys.join(".")));
        }
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn all_expressions_are_found() {
        let policy = json!({"spec": {
            "validations": [{"expression": "true", "messageExpression": "'a'"}, {"expression": "true"}],
            "mutations": [{"jsonPatch": {"expression": "[]"}}],
        }});
        assert_eq!(
            paths(&policy),
            [
                "spec.validations[0].expression",
                "spec.validations[1].expression",
                "spec.validations[0].messageExpression",
                "spec.mutations[0].jsonPatch.expression",
            ]
        );
        let hooks =
            json!({"webhooks": [{}, {"matchConditions": [{"name": "a", "expression": "true"}]}]});
        assert_eq!(paths(&hooks), ["webhooks[1].matchConditions[0].expression"]);
    }
}
