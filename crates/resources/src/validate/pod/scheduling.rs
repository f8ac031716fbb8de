//! Where a pod may run.

use std::collections::HashMap;

use meta::names;

use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::seen::Seen;

pub(super) fn affinity(e: &mut Errors, it: &Field) {
    let node = it.child("nodeAffinity");
    let required = node.child("requiredDuringSchedulingIgnoredDuringExecution");
    if required.is_set() {
        node_selector(e, &required);
    }
    let preferred = node.child("preferredDuringSchedulingIgnoredDuringExecution");
    for term in preferred.items() {
        weight(e, &term);
        node_selector_term(e, &term.child("preference"), false);
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let pods = it.child(name);
        let required = pods.child("requiredDuringSchedulingIgnoredDuringExecution");
        for term in required.items() {
            pod_affinity_term(e, &term);
        }
        let preferred = pods.child("preferredDuringSchedulingIgnoredDuringExecution");
        for term in preferred.items() {
            weight(e, &term);
            pod_affinity_term(e, &term.child("podAffinityTerm"));
        }
    }
}

fn weight(e: &mut Errors, term: &Field) {
    let weight = term.child("weight");
    if !(1..=100).contains(&weight.int()) {
        e.invalid_value(&weight, weight.int(), "must be in the range 1-100");
    }
}

pub(crate) fn node_selector(e: &mut Errors, it: &Field) {
    let terms = it.child("nodeSelectorTerms");
    if terms.is_empty() {
        e.required(&terms, "must have at least one node selector term");
    }
    for term in terms.items() {
        node_selector_term(e, &term, true);
    }
}

/// Preferences may name values that no label can have.
fn node_selector_term(e: &mut Errors, it: &Field, strict: bool) {
    for requirement in it.child("matchExpressions").items() {
        let (operator, values) = (requirement.child("operator"), requirement.child("values"));
        if matches!(operator.str(), "Gt" | "Lt") {
            if values.len() != 1 {
                let text = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                e.required(&values, text);
            }
        } else {
            e.operator_and_values(&operator, &values);
        }
        e.qualified_name(&requirement.child("key"));
        for value in values.items().filter(|_| strict) {
            e.invalid_all(&value, names::label_value(value.str()));
        }
    }
    for requirement in it.child("matchFields").items() {
        let (operator, values) = (requirement.child("operator"), requirement.child("values"));
        if !matches!(operator.str(), "In" | "NotIn") {
            e.invalid(&operator, "not a valid selector operator");
        } else if values.len() != 1 {
            let text =
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            e.required(&values, text);
        }
        let key = requirement.child("key");
        if key.str() == "metadata.name" {
            for value in values.items() {
                e.dns_subdomain(&value);
            }
        } else {
            e.invalid(&key, "not a valid field selector key");
        }
    }
}

fn pod_affinity_term(e: &mut Errors, it: &Field) {
    e.label_selector(&it.child("labelSelector"));
    e.label_selector(&it.child("namespaceSelector"));
    for namespace in it.child("namespaces").items() {
        e.dns_label(&it.child("namespace").with(namespace.value));
    }
    label_keys(e, it);
    let key = it.child("topologyKey");
    if key.is_empty() {
        e.required(&key, "can not be empty");
    }
    e.qualified_name(&key);
}

/// Keys whose values are those of the incoming pod.
fn label_keys(e: &mut Errors, it: &Field) {
    let (matching, other) = (it.child("matchLabelKeys"), it.child("mismatchLabelKeys"));
    let selector = it.child("labelSelector");
    for keys in [&matching, &other] {
        if keys.is_empty() {
            continue;
        }
        if !selector.is_set() {
            e.forbidden(keys, "must not be specified when labelSelector is not set");
            continue;
        }
        for key in keys.items() {
            e.qualified_name(&key);
        }
    }
    let expressions = selector.child("matchExpressions");
    let labels = selector.child("matchLabels");
    let mut positions = HashMap::new();
    for (index, key) in matching.texts().enumerate() {
        positions.entry(key).or_insert(index);
    }
    let mut seen = Seen::default();
    for expression in expressions.items() {
        let key = expression.text("key");
        let twice = !seen.insert(expression.text("key")) || labels.has(key);
        if let Some(&index) = positions.get(key)
            && twice
        {
            let text = "exists in both matchLabelKeys and labelSelector";
            e.invalid_value(&it.item(index), key, text);
        }
    }
    let others: Seen<&str> = other.texts().collect();
    for key in matching.items() {
        if others.contains(&key.str()) {
            e.invalid(&key, "exists in both matchLabelKeys and mismatchLabelKeys");
        }
    }
}

pub(super) fn spread(e: &mut Errors, all: &Field) {
    // How many of each pair are still to come.
    let mut left: HashMap<(&str, &str), usize> = HashMap::new();
    for it in all.items() {
        let pair = (it.text("topologyKey"), it.text("whenUnsatisfiable"));
        *left.entry(pair).or_default() += 1;
    }
    for it in all.items() {
        e.positive(&it.child("maxSkew"));
        let (key, action) = (it.child("topologyKey"), it.child("whenUnsatisfiable"));
        if key.is_empty() {
            e.required(&key, "can not be empty");
        }
        e.one_of(&action, &["DoNotSchedule", "ScheduleAnyway"]);
        let left = left.entry((it.text("topologyKey"), it.text("whenUnsatisfiable")));
        let left = left.or_default();
        *left = left.saturating_sub(1);
        if *left > 0 {
            let pair = format!("{{{}, {}}}", key.str(), action.str());
            e.duplicate_value(&it.child("{topologyKey, whenUnsatisfiable}"), pair);
        }
        let domains = it.child("minDomains");
        if domains.is_set() {
            e.positive(&domains);
            if action.str() != "DoNotSchedule" {
                let why = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    action.str()
                );
                e.invalid(&domains, &why);
            }
        }
        for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            e.optional_one_of(&it.child(policy), &["Honor", "Ignore"]);
        }
        label_keys(e, &it);
        e.label_selector(&it.child("labelSelector"));
    }
}

pub(crate) const TAINT_EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

pub(crate) fn tolerations(e: &mut Errors, all: &Field) {
    for it in all.items() {
        let (key, operator) = (it.child("key"), it.child("operator"));
        let (value, effect) = (it.child("value"), it.child("effect"));
        if !key.is_empty() {
            e.qualified_name(&key);
        }
        if key.is_empty() && operator.str() != "Exists" {
            let text = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            e.invalid(&operator, text);
        }
        if it.has("tolerationSeconds") && effect.str() != "NoExecute" {
            let text = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            e.invalid(&effect, text);
        }
        match operator.str() {
            "Equal" | "" => {
                let wrong = names::label_value(value.str());
                if !wrong.is_empty() {
                    e.invalid_value(&operator, value.str(), &wrong.join(";"));
                }
            }
            "Exists" => {
                if !value.is_empty() {
                    let text = "value must be empty when `operator` is 'Exists'";
                    e.invalid_value(&operator, value.str(), text);
                }
            }
            "Lt" | "Gt" => e.not_supported(&operator, &["Equal", "Exists", "Lt", "Gt"]),
            _ => e.not_supported(&operator, &["Equal", "Exists"]),
        }
        if !effect.is_empty() {
            e.one_of(&effect, TAINT_EFFECTS);
        }
    }
}
