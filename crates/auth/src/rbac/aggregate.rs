//! Aggregated `ClusterRoles`: the union of the rules of those their selectors find.

use json::Value;

use super::rule::Rule;
use super::selector;

/// The `rules` the `ClusterRole` ought to have, if it is an aggregated one and has others now.
///
/// Selector by selector, roles in the order of their names, each rule once.
pub fn aggregated_rules<'a>(
    role: &Value,
    all: impl IntoIterator<Item = &'a Value>,
) -> Option<Value> {
    let aggregation = role.get("aggregationRule").filter(|it| !it.is_null())?;
    let name = |it: &'a Value| it.str_at(&["metadata", "name"]).unwrap_or_default();
    let own = role.str_at(&["metadata", "name"]).unwrap_or_default();
    let mut others: Vec<_> = all.into_iter().filter(|it| name(it) != own).collect();
    others.sort_by_key(|it| name(it));

    let mut rules: Vec<Rule> = Vec::new();
    let selectors = aggregation
        .get("clusterRoleSelectors")
        .and_then(Value::as_array);
    for selector in selectors.into_iter().flatten() {
        for other in &others {
            // A broken selector leaves the role as it is, as upstream's controller gives up on it.
            if !selector::matches(selector, other.at(&["metadata", "labels"]))? {
                continue;
            }
            for rule in Rule::all_of(other) {
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        }
    }
    (rules != Rule::all_of(role)).then(|| rules.iter().map(Rule::to_value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    fn role(name: &str, label: &str, verbs: &[&str]) -> Value {
        let rules: Value = (verbs.iter())
            .map(|&verb| json!({"verbs": [verb], "apiGroups": [""], "resources": ["r"]}))
            .collect();
        let mut labels = json::Object::new();
        labels.insert(label, "true");
        json!({"metadata": {"name": name, "labels": labels}, "rules": rules})
    }

    #[test]
    fn unions_what_the_selectors_find() {
        let all = [
            role("c", "x", &["c", "shared"]),
            role("a", "x", &["a", "shared"]),
            role("b", "y", &["b"]),
            role("me", "x", &["own"]),
        ];
        let mut me = json!({
            "metadata": {"name": "me"},
            "aggregationRule": {"clusterRoleSelectors": [
                {"matchExpressions": [{"key": "y", "operator": "Exists"}]},
                {"matchLabels": {"x": "true"}},
            ]},
            "rules": [],
        });
        let rules = aggregated_rules(&me, &all).expect("not yet there");
        let verbs = rules.as_array().unwrap().iter();
        let verbs: Vec<_> = verbs.map(|it| Rule::of(it).verbs.concat()).collect();
        assert_eq!(verbs, ["b", "a", "shared", "c"]);

        me.as_object_mut().unwrap().insert("rules", rules);
        assert_eq!(aggregated_rules(&me, &all), None, "settled");
        assert_eq!(aggregated_rules(&all[0], &all), None, "not aggregated");
    }

    #[test]
    fn leaves_a_role_with_a_broken_selector_alone() {
        let all = [role("a", "x", &["a"])];
        let me = json!({"metadata": {"name": "me"}, "aggregationRule": {"clusterRoleSelectors": [
            {"matchExpressions": [{"key": "x", "operator": "Is"}]},
        ]}});
        assert_eq!(aggregated_rules(&me, &all), None);
    }
}
