//! What the controller says of a job. Upstream holds old statuses to fewer rules; here all rules hold for what changed.

use json::Value;
use meta::field::Error;

use super::indexes;
use super::jobs::has_condition;
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::object_meta;

pub(in crate::validate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (status, was) = (new.child("status"), old.child("status"));
    let spec = new.child("spec");
    counts(e, &status);
    together(e, &status, &spec);
    times(e, &status);
    finished(e, &status);
    which_indexes(e, &status, &spec);
    let conditions = status.child("conditions");
    let mut refuse = |text: String| e.push(Error::invalid_omitted(conditions.path, text));
    for kind in ["Failed", "Complete", "FailureTarget"] {
        if has_condition(&was, kind) && !has_condition(&status, kind) {
            refuse(format!("cannot disable the terminal {kind}=True condition"));
        }
    }
    for name in ["failed", "succeeded"] {
        let count = status.child(name);
        if count.int() < was.number(name) {
            e.invalid_value(
                &count,
                count.int(),
                &format!("cannot decrease the {name} counter"),
            );
        }
    }
    let (completed, before) = (status.child("completionTime"), was.child("completionTime"));
    if completed.is_set() && before.is_set() && completed.value != before.value {
        e.invalid(&completed, "field is immutable");
    }
    let (started, before) = (status.child("startTime"), was.child("startTime"));
    if before.is_set() && started.value != before.value && !spec.flag("suspend") {
        let text = "field is immutable for unsuspended job once set";
        e.invalid_value(&started, started.value.clone(), text);
    }
    let met = "SuccessCriteriaMet";
    if has_condition(&was, met) && !has_condition(&status, met) {
        let text = "cannot disable the SuccessCriteriaMet=True condition";
        e.push(Error::invalid_omitted(conditions.path, text));
    }
    if has_condition(&was, "Complete") && !has_condition(&was, met) && has_condition(&status, met) {
        let text =
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        e.push(Error::invalid_omitted(conditions.path, text));
    }
}

fn counts(e: &mut Errors, it: &Field) {
    for name in ["active", "succeeded", "failed", "ready", "terminating"] {
        e.non_negative(&it.child(name));
    }
    let pods = it.child("uncountedTerminatedPods");
    let mut seen: Vec<&Value> = Vec::new();
    for name in ["succeeded", "failed"] {
        for uid in pods.child(name).items() {
            if uid.is_empty() {
                e.invalid(&uid, "must not be empty");
            } else if seen.iter().any(|it| it.as_str() == Some(uid.str())) {
                e.duplicate(&uid);
            }
        }
        seen.extend(
            it.value
                .at(&["uncountedTerminatedPods", name])
                .and_then(Value::as_array)
                .into_iter()
                .flatten(),
        );
    }
}

/// Conditions that exclude or need each other.
fn together(e: &mut Errors, it: &Field, spec: &Field) {
    let has = |kind| has_condition(it, kind);
    let (complete, failed) = (has("Complete"), has("Failed"));
    let (target, met) = (has("FailureTarget"), has("SuccessCriteriaMet"));
    let wrong = [
        (
            complete && failed,
            "cannot set Complete=True and Failed=true conditions",
        ),
        (
            complete && target,
            "cannot set Complete=True and FailureTarget=true conditions",
        ),
        (
            failed && !target,
            "cannot set Failed=True condition without the FailureTarget=true condition",
        ),
        (
            complete && !met,
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        ),
        (
            met && failed,
            "cannot set SuccessCriteriaMet=True and Failed=true conditions",
        ),
        (
            met && target,
            "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
        ),
        (
            spec.has("successPolicy") && !met && complete,
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        ),
    ];
    let at = it.child("conditions");
    for (_, text) in wrong.iter().filter(|(wrong, _)| *wrong) {
        e.push(Error::invalid_omitted(at.path, *text));
    }
}

fn times(e: &mut Errors, it: &Field) {
    let (completed, started) = (it.child("completionTime"), it.child("startTime"));
    let complete = has_condition(it, "Complete");
    if completed.is_set() && !complete {
        let text = "cannot set completionTime when there is no Complete=True condition";
        e.invalid(&completed, text);
    }
    if !completed.is_set() && complete {
        e.required(&completed, "completionTime is required for Complete jobs");
    }
    if completed.is_set() && started.is_set() && completed.str() < started.str() {
        e.invalid(&completed, "must be equal to or after `startTime`");
    }
}

fn finished(e: &mut Errors, it: &Field) {
    let active = it.child("active");
    if has_condition(it, "Complete") || has_condition(it, "Failed") {
        let (started, pods) = (it.child("startTime"), it.child("uncountedTerminatedPods"));
        let terminating = it.child("terminating");
        if active.int() > 0 {
            e.invalid(&active, "active>0 is invalid for finished job");
        }
        if !started.is_set() {
            e.required(&started, "startTime is required for finished job");
        }
        if !pods.child("failed").is_empty() || !pods.child("succeeded").is_empty() {
            e.invalid(&pods, "must be empty for finished job");
        }
        if terminating.int() > 0 {
            e.invalid(&terminating, "terminating>0 is invalid for finished job");
        }
    }
    let ready = it.child("ready");
    if ready.int() > active.int() {
        e.invalid(&ready, "cannot set more ready pods than active");
    }
}

fn which_indexes(e: &mut Errors, it: &Field, spec: &Field) {
    let (completed, failed) = (it.child("completedIndexes"), it.child("failedIndexes"));
    let per_index = spec.has("backoffLimitPerIndex");
    let completions = spec.child("completions").opt_int();
    if let Some(completions) = completions {
        if let Err(wrong) = indexes::count(completed.str(), completions) {
            e.invalid(
                &completed,
                &format!("error parsing completedIndexes: {wrong}"),
            );
        }
        if per_index && let Err(wrong) = indexes::count(failed.str(), completions) {
            e.invalid(&failed, &format!("error parsing failedIndexes: {wrong}"));
        }
    }
    if !completed.is_empty() && spec.text("completionMode") != "Indexed" {
        let text = "cannot set non-empty completedIndexes when non-indexed completion mode";
        e.invalid(&completed, text);
    }
    if failed.is_set() && !per_index {
        let text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        e.invalid(&failed, text);
    }
    if let Some(completions) = completions
        && let Some(index) = indexes::overlap(completed.str(), failed.str(), completions)
    {
        let why = format!("failedIndexes and completedIndexes overlap at index: {index}");
        e.invalid(&failed, &why);
    }
}
