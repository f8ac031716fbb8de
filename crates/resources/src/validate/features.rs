//! `Feature`: what may be wanted of a feature, and how its state may change.

use json::Value;
use meta::names;

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};

fn name(name: &str, _: bool) -> Vec<String> {
    names::path_segment_name(name)
}

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::namespaced(name));
    spec(e, &it.child("spec"));
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    spec(e, &new.child("spec"));
    let (rollout, before) = (
        new.children(&["spec", "rollout"]),
        old.children(&["spec", "rollout"]),
    );
    if rollout.is_set()
        && rollout.value != before.value
        && old.child("status").text("canary") != "PerInstance"
    {
        let text = "may be set only where status.canary is PerInstance: this feature is the same in all instances";
        e.forbidden(&rollout, text);
    }
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (status, before) = (new.child("status"), old.child("status"));
    let epoch = status.child("epoch");
    if epoch.int() < before.number("epoch") {
        let text = format!(
            "must not be less than {}: another API server has started a later transition, read the Feature again",
            before.number("epoch")
        );
        e.invalid_value(&epoch, epoch.int(), &text);
    }
}

/// A change of what is wanted.
pub(crate) fn update_desired(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    spec(e, &new.child("spec"));
    let (desired, was) = (
        new.children(&["spec", "desired"]),
        old.children(&["spec", "desired"]),
    );
    if desired.value == was.value || !desired.is_set() {
        return;
    }
    let status = old.child("status");
    let metadata = old.child("metadata");
    let full = format!("{}/{}", metadata.text("namespace"), metadata.text("name"));
    if status.text("settable") != "Dynamic" {
        let text = format!(
            "the feature is not set dynamically: start the API servers with --dynamic-features={full}, or set it with --feature-gates"
        );
        e.forbidden(&desired, &text);
        return;
    }
    if status.text("stage") == "Unavailable" {
        e.forbidden(
            &desired,
            "no API server knows the feature: upgrade to a version that has it",
        );
        return;
    }
    let enabled = desired.str() == "Enabled";
    if status.flag("locked") && status.flag("default") != enabled {
        let locked = if enabled { "Disabled" } else { "Enabled" };
        e.forbidden(&desired, &format!("the feature is locked to {locked}"));
    }
    let unmet = status.child("dependencies");
    let unmet = unmet.items().filter(|it| !it.flag("satisfied"));
    let unmet: Vec<&str> = unmet.map(|it| it.text("name")).collect();
    if enabled && !unmet.is_empty() {
        let text = format!(
            "depends on features that are not on: {}; enable them first",
            unmet.join(", ")
        );
        e.forbidden(&desired, &text);
    }
    let dependents = status.child("dependents");
    let dependents: Vec<&str> = dependents.texts().collect();
    if !enabled && !dependents.is_empty() {
        let text = format!(
            "features that are on depend on it: {}; disable them first",
            dependents.join(", ")
        );
        e.forbidden(&desired, &text);
    }
}

fn spec(e: &mut Errors, it: &Field) {
    let one_of = |e: &mut Errors, key: &'static str, supported: &[&str]| {
        let field = it.child(key);
        if !field.is_empty() && !supported.contains(&field.str()) {
            e.not_supported(&field, supported);
        }
    };
    one_of(e, "desired", &["Disabled", "Enabled"]);
    one_of(e, "urgency", &["Immediate", "Normal"]);
    one_of(e, "onDangling", &["Accept", "Hold"]);
    let urgency = it.child("urgency");
    if urgency.str() == "Immediate" && it.text("desired") != "Disabled" {
        e.invalid(
            &urgency,
            "only a feature that is Disabled can be so immediately",
        );
    }
    let rollout = it.child("rollout");
    if rollout.is_set() {
        self::rollout(e, &rollout);
    }
}

fn rollout(e: &mut Errors, it: &Field) {
    let steps = it.child("steps");
    if steps.is_empty() {
        e.required(&steps, "a rollout has at least one step");
    }
    let mut last = 0;
    for step in steps.items() {
        let percent = step.child("percent");
        if percent.int() <= last {
            e.invalid_value(
                &percent,
                percent.int(),
                &format!("must be greater than {last}: percents strictly rise"),
            );
        } else if percent.int() > 100 {
            e.invalid_value(&percent, percent.int(), "must not be greater than 100");
        }
        last = last.max(percent.int());
        let bake = step.child("bakeSeconds");
        if bake.int() < 0 {
            e.invalid_value(&bake, bake.int(), "must be greater than or equal to 0");
        }
    }
    let ends = steps.list().last().and_then(|it| it.get("percent"));
    if !steps.is_empty() && ends.and_then(Value::as_i64) != Some(100) {
        e.invalid_value(&steps, last, "the last step must be 100 percent");
    }
    let unhealthy = it.child("maxUnhealthyPercent");
    if !(0..=100).contains(&unhealthy.int()) {
        e.invalid_value(&unhealthy, unhealthy.int(), "must be between 0 and 100");
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    fn desired(status: &Value, wanted: &str) -> String {
        let feature = |desired: &str| {
            json!({
                "metadata": {"name": "A", "namespace": "kube-system", "resourceVersion": "1"},
                "spec": {"desired": desired}, "status": (status.clone()),
            })
        };
        let (old, new) = (
            feature(if wanted == "Enabled" {
                "Disabled"
            } else {
                "Enabled"
            }),
            feature(wanted),
        );
        let mut e = Errors::default();
        update_desired(&mut e, &Field::root(&new), &Field::root(&old));
        let errors = e.into_list().into_iter().map(|it| it.to_string());
        errors.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn each_refusal_of_a_desired_value_says_what_to_do() {
        let dynamic = json!({"settable": "Dynamic"});
        assert_eq!(desired(&dynamic, "Enabled"), "");
        assert_eq!(
            desired(&json!({"settable": "CommandLine"}), "Enabled"),
            "spec.desired: Forbidden: the feature is not set dynamically: start the API servers with \
             --dynamic-features=kube-system/A, or set it with --feature-gates"
        );
        let unavailable = json!({"settable": "Dynamic", "stage": "Unavailable"});
        assert!(desired(&unavailable, "Enabled").contains("no API server knows the feature"));
        let locked = json!({"settable": "Dynamic", "locked": true, "default": true});
        assert_eq!(
            desired(&locked, "Disabled"),
            "spec.desired: Forbidden: the feature is locked to Enabled"
        );
        assert_eq!(desired(&locked, "Enabled"), "");
        let unmet = json!({"settable": "Dynamic", "dependencies": [
            {"name": "B", "satisfied": true}, {"name": "C", "satisfied": false}]});
        assert!(desired(&unmet, "Enabled").contains("not on: C; enable them first"));
        assert_eq!(desired(&unmet, "Disabled"), "");
        let dependents = json!({"settable": "Dynamic", "dependents": ["D", "E"]});
        assert!(
            desired(&dependents, "Disabled").contains("depend on it: D, E; disable them first")
        );
    }

    fn errors(spec: Value) -> Vec<String> {
        let feature = json!({"metadata": {"name": "A", "namespace": "x"}, "spec": spec});
        let mut e = Errors::default();
        create(&mut e, &Field::root(&feature));
        e.into_list().into_iter().map(|it| it.to_string()).collect()
    }

    #[test]
    fn rollouts_rise_and_end_at_all_instances() {
        let steps = |percents: &[i64]| {
            let steps = percents.iter().map(|it| json!({"percent": (*it)}));
            json!({"rollout": {"steps": (steps.collect::<Vec<Value>>())}})
        };
        assert_eq!(errors(steps(&[1, 10, 100])), Vec::<String>::new());
        assert_eq!(errors(steps(&[])).len(), 1);
        assert_eq!(
            errors(steps(&[10, 10, 100])),
            [
                "spec.rollout.steps[1].percent: Invalid value: 10: must be greater than 10: percents strictly rise"
            ]
        );
        assert_eq!(
            errors(steps(&[1, 50])),
            ["spec.rollout.steps: Invalid value: 50: the last step must be 100 percent"]
        );
        assert_eq!(
            errors(json!({"urgency": "Immediate", "desired": "Enabled"})).len(),
            1
        );
        assert_eq!(
            errors(json!({"urgency": "Immediate", "desired": "Disabled"})).len(),
            0
        );
    }

    #[test]
    fn the_epoch_never_falls() {
        let at = |epoch: i64| json!({"metadata": {"name": "A", "namespace": "x", "resourceVersion": "1"}, "status": {"epoch": epoch}});
        let (new, old) = (at(3), at(4));
        let check = |new: &Value, old: &Value| {
            let mut e = Errors::default();
            update_status(&mut e, &Field::root(new), &Field::root(old));
            e.into_list().len()
        };
        assert_eq!(
            (check(&new, &old), check(&old, &new), check(&new, &new)),
            (1, 0, 0)
        );
    }
}
