//! When a job fails, and when it has succeeded.

use meta::field::Error;
use meta::names;

use super::indexes;
use crate::validate::errors::Errors;
use crate::validate::field::{Field, text};
use crate::validate::seen::{Key, Seen};

const ACTIONS: &[&str] = &["Count", "FailIndex", "FailJob", "Ignore"];
const STATUSES: &[&str] = &["False", "True", "Unknown"];

pub(super) fn policies(e: &mut Errors, spec: &Field) {
    let failure = spec.child("podFailurePolicy");
    if failure.is_set() {
        let rules = failure.child("rules");
        if rules.len() > 20 {
            e.too_many(&rules, 20);
        }
        let template = spec.children(&["template", "spec"]);
        let (regular, init) = (
            template.child("containers").list(),
            template.child("initContainers").list(),
        );
        let names = regular.iter().chain(init).map(|it| text(it, "name"));
        let containers: Seen<&str> = names.collect();
        for rule in rules.items() {
            failure_rule(e, &rule, spec, &containers);
        }
    }
    let success = spec.child("successPolicy");
    if success.is_set() {
        if spec.text("completionMode") == "Indexed" {
            success_policy(e, &success, spec);
        } else {
            e.invalid(&success, "requires indexed completion mode");
        }
    }
    let replacement = spec.child("podReplacementPolicy");
    let supported: &[&str] = if failure.is_set() {
        &["Failed"]
    } else {
        &["Failed", "TerminatingOrFailed"]
    };
    e.optional_one_of(&replacement, supported);
}

/// As Go prints a list of quoted words.
fn listed(all: &[&str]) -> String {
    let quoted: Vec<String> = all.iter().map(|it| meta::go::quote(it)).collect();
    format!("valid values: [{}]", quoted.join(" "))
}

fn failure_rule(e: &mut Errors, it: &Field, spec: &Field, containers: &Seen<&str>) {
    let action = it.child("action");
    if action.is_empty() {
        e.required(&action, &listed(ACTIONS));
    } else if action.str() == "FailIndex" {
        if !spec.has("backoffLimitPerIndex") {
            e.invalid(&action, "requires the backoffLimitPerIndex to be set");
        }
    } else {
        e.one_of(&action, ACTIONS);
    }
    let (codes, conditions) = (it.child("onExitCodes"), it.child("onPodConditions"));
    if codes.is_set() {
        exit_codes(e, &codes, containers);
    }
    if conditions.len() > 20 {
        e.too_many(&conditions, 20);
    }
    for pattern in conditions.items() {
        let (kind, status) = (pattern.child("type"), pattern.child("status"));
        e.invalid_all(&kind, names::qualified_name(kind.str()));
        if status.is_empty() {
            e.required(&status, &listed(STATUSES));
        } else {
            e.one_of(&status, STATUSES);
        }
    }
    match (codes.is_set(), conditions.is_empty()) {
        (true, false) => {
            let text = "specifying both OnExitCodes and OnPodConditions is not supported";
            e.push(Error::invalid_omitted(it.path, text));
        }
        (false, true) => {
            let text = "specifying one of OnExitCodes and OnPodConditions is required";
            e.push(Error::invalid_omitted(it.path, text));
        }
        _ => {}
    }
}

fn exit_codes(e: &mut Errors, it: &Field, containers: &Seen<&str>) {
    let (operator, values) = (it.child("operator"), it.child("values"));
    if operator.is_empty() {
        e.required(&operator, &listed(&["In", "NotIn"]));
    } else {
        e.one_of(&operator, &["In", "NotIn"]);
    }
    let container = it.child("containerName");
    if container.is_set() && !containers.contains(&container.str()) {
        let text = "must be one of the container or initContainer names in the pod template";
        e.invalid(&container, text);
    }
    if values.is_empty() {
        e.invalid_value(
            &values,
            values.value.clone(),
            "at least one value is required",
        );
    } else if values.len() > 255 {
        e.too_many(&values, 255);
    }
    let mut seen = Seen::default();
    for code in values.items() {
        if operator.str() == "In" && code.int() == 0 {
            e.invalid(&code, "must not be 0 for the In operator");
        }
        if !seen.insert(Key::from(code.value)) {
            e.duplicate(&code);
        }
    }
    if !values.items().map(|it| it.int()).is_sorted() {
        e.invalid(&values, "must be ordered");
    }
}

fn success_policy(e: &mut Errors, it: &Field, spec: &Field) {
    let rules = it.child("rules");
    if rules.is_empty() {
        let text = "at least one rules must be specified when the successPolicy is specified";
        e.required(&rules, text);
    }
    if rules.len() > 20 {
        e.too_many(&rules, 20);
    }
    let completions = spec.number("completions");
    for rule in rules.items() {
        let (count, which) = (rule.child("succeededCount"), rule.child("succeededIndexes"));
        if !count.is_set() && !which.is_set() {
            let text = "at least one of succeededCount or succeededIndexes must be specified";
            e.required(&rule, text);
        }
        let mut total = 0;
        if which.is_set() {
            if which.len() > 64 * 1024 {
                e.too_long(&which, 64 * 1024);
            }
            match indexes::count(which.str(), completions) {
                Ok(it) => total = it,
                Err(wrong) => {
                    e.invalid(&which, &format!("error parsing succeededIndexes: {wrong}"));
                }
            }
        }
        if count.is_set() {
            e.non_negative(&count);
            let most = |of: i64, what: &str| {
                format!("must be less than or equal to {of} (the number of {what})")
            };
            if count.int() > completions {
                e.invalid(&count, &most(completions, "specified completions"));
            }
            if which.is_set() && count.int() > total {
                let what = "indexes in the specified succeededIndexes field";
                e.invalid(&count, &most(total, what));
            }
        }
    }
}
