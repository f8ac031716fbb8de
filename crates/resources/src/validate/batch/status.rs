//! What the controller says of a job. A rule holds for what changed: a status that was wrong before may stay so, and one
//! that a change of the spec made wrong waits for the controller to mend it.

use meta::field::Error;

use super::indexes;
use super::jobs::has_condition;
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::object_meta;
use crate::validate::seen::Seen;

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (status, was) = (new.child("status"), old.child("status"));
    let spec = new.child("spec");
    let news = News {
        status: &status,
        was: &was,
    };
    counts(e, &status);
    together(e, &news, &spec);
    times(e, &news);
    finished(e, &news, &spec);
    which_indexes(e, &news, &spec);
    never(e, &news, &spec);
}

/// What is new in a status.
struct News<'a, 'b> {
    status: &'a Field<'b>,
    was: &'a Field<'b>,
}

impl News<'_, '_> {
    fn field(&self, name: &str) -> bool {
        self.status.child(name).value != self.was.child(name).value
    }

    /// A number that is not there is none.
    fn count(&self, name: &str) -> bool {
        self.status.number(name) != self.was.number(name)
    }

    fn condition(&self, kind: &str) -> bool {
        has_condition(self.status, kind) != has_condition(self.was, kind)
    }

    fn is_finished(&self) -> bool {
        is_finished(self.status)
    }

    fn finish(&self) -> bool {
        is_finished(self.status) != is_finished(self.was)
    }
}

fn is_finished(status: &Field) -> bool {
    has_condition(status, "Complete") || has_condition(status, "Failed")
}

/// What nobody takes back.
fn never(e: &mut Errors, news: &News, spec: &Field) {
    let (status, was) = (news.status, news.was);
    let conditions = status.child("conditions");
    let mut refuse = |text: String| e.push(Error::invalid_omitted(conditions.path, text));
    for kind in ["Failed", "Complete", "FailureTarget"] {
        if has_condition(was, kind) && !has_condition(status, kind) {
            refuse(format!("cannot disable the terminal {kind}=True condition"));
        }
    }
    // An elastic job shrinks, and what it counts with it.
    let is_elastic = spec.text("completionMode") == "Indexed"
        && spec.child("completions").value == spec.child("parallelism").value;
    for name in ["failed", "succeeded"] {
        let count = status.child(name);
        if count.int() < was.number(name) && !(name == "succeeded" && is_elastic) {
            let text = format!("cannot decrease the {name} counter");
            e.invalid_value(&count, count.int(), &text);
        }
    }
    let (completed, before) = (status.child("completionTime"), was.child("completionTime"));
    if completed.is_set() && before.is_set() && completed.value != before.value {
        e.invalid(&completed, "field is immutable");
    }
    let (started, before) = (status.child("startTime"), was.child("startTime"));
    let suspended = |status: &Field, said: &str| {
        let all = status.child("conditions");
        let mut all = all.items();
        all.any(|it| it.text("type") == "Suspended" && it.text("status") == said)
    };
    let is_resuming = suspended(was, "True") && suspended(status, "False");
    let may_start = spec.flag("suspend") || is_resuming;
    if before.is_set() && started.value != before.value && !may_start {
        let text = "field is immutable for unsuspended job once set";
        e.invalid_value(&started, started.value.clone(), text);
    }
    let met = "SuccessCriteriaMet";
    let mut refuse = |text: &str| e.push(Error::invalid_omitted(conditions.path, text));
    if has_condition(was, met) && !has_condition(status, met) {
        refuse("cannot disable the SuccessCriteriaMet=True condition");
    }
    if has_condition(was, "Complete") && !has_condition(was, met) && has_condition(status, met) {
        refuse("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
    }
}

fn counts(e: &mut Errors, it: &Field) {
    for name in ["active", "succeeded", "failed", "ready", "terminating"] {
        e.non_negative(&it.child(name));
    }
    let pods = it.child("uncountedTerminatedPods");
    let mut seen: Seen<&str> = Seen::default();
    for name in ["succeeded", "failed"] {
        for uid in pods.child(name).items() {
            if uid.is_empty() {
                e.invalid(&uid, "must not be empty");
            } else if seen.contains(&uid.str()) {
                e.duplicate(&uid);
            }
        }
        for uid in pods.child(name).texts() {
            seen.insert(uid);
        }
    }
}

/// Conditions that exclude or need each other.
fn together(e: &mut Errors, news: &News, spec: &Field) {
    let it = news.status;
    let has = |kind| has_condition(it, kind);
    let (complete, failed) = (has("Complete"), has("Failed"));
    let (target, met) = (has("FailureTarget"), has("SuccessCriteriaMet"));
    let new = |kinds: [&str; 2]| kinds.iter().any(|it| news.condition(it));
    let wrong = [
        (
            complete && failed && new(["Complete", "Failed"]),
            "cannot set Complete=True and Failed=true conditions",
        ),
        (
            complete && target && new(["Complete", "FailureTarget"]),
            "cannot set Complete=True and FailureTarget=true conditions",
        ),
        (
            failed && !target && (news.condition("Failed") || news.field("failedIndexes")),
            "cannot set Failed=True condition without the FailureTarget=true condition",
        ),
        (
            complete && !met && new(["Complete", "SuccessCriteriaMet"]),
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

fn times(e: &mut Errors, news: &News) {
    let it = news.status;
    let (completed, started) = (it.child("completionTime"), it.child("startTime"));
    let complete = has_condition(it, "Complete");
    let is_news = news.condition("Complete") || news.field("completionTime");
    if completed.is_set() && !complete && is_news {
        let text = "cannot set completionTime when there is no Complete=True condition";
        e.invalid(&completed, text);
    }
    if !completed.is_set() && complete && is_news {
        e.required(&completed, "completionTime is required for Complete jobs");
    }
    let is_news = news.field("startTime") || news.field("completionTime");
    if completed.is_set() && started.is_set() && completed.str() < started.str() && is_news {
        e.invalid(&completed, "must be equal to or after `startTime`");
    }
}

fn finished(e: &mut Errors, news: &News, spec: &Field) {
    let it = news.status;
    let active = it.child("active");
    if news.is_finished() {
        let (started, pods) = (it.child("startTime"), it.child("uncountedTerminatedPods"));
        let terminating = it.child("terminating");
        // A job of nothing that is suspended ends without a start.
        let is_empty = spec.flag("suspend") && spec.child("completions").opt_int() == Some(0);
        if active.int() > 0 && (news.finish() || news.count("active")) {
            e.invalid(&active, "active>0 is invalid for finished job");
        }
        if !started.is_set() && !is_empty && (news.finish() || news.field("startTime")) {
            e.required(&started, "startTime is required for finished job");
        }
        let has_pods = !pods.child("failed").is_empty() || !pods.child("succeeded").is_empty();
        if has_pods && (news.finish() || news.field("uncountedTerminatedPods")) {
            e.invalid(&pods, "must be empty for finished job");
        }
        if terminating.int() > 0 && (news.finish() || news.field("terminating")) {
            e.invalid(&terminating, "terminating>0 is invalid for finished job");
        }
    }
    let ready = it.child("ready");
    if ready.int() > active.int() && (news.field("ready") || news.count("active")) {
        e.invalid(&ready, "cannot set more ready pods than active");
    }
}

fn which_indexes(e: &mut Errors, news: &News, spec: &Field) {
    let it = news.status;
    let (is_completed_new, is_failed_new) =
        (news.field("completedIndexes"), news.field("failedIndexes"));
    let (completed, failed) = (it.child("completedIndexes"), it.child("failedIndexes"));
    let per_index = spec.has("backoffLimitPerIndex");
    let completions = spec.child("completions").opt_int();
    if let Some(completions) = completions {
        if is_completed_new && let Err(wrong) = indexes::count(completed.str(), completions) {
            e.invalid(
                &completed,
                &format!("error parsing completedIndexes: {wrong}"),
            );
        }
        if per_index
            && is_failed_new
            && let Err(wrong) = indexes::count(failed.str(), completions)
        {
            e.invalid(&failed, &format!("error parsing failedIndexes: {wrong}"));
        }
    }
    if is_completed_new && !completed.is_empty() && spec.text("completionMode") != "Indexed" {
        let text = "cannot set non-empty completedIndexes when non-indexed completion mode";
        e.invalid(&completed, text);
    }
    if is_failed_new && failed.is_set() && !per_index {
        let text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        e.invalid(&failed, text);
    }
    if (is_completed_new || is_failed_new)
        && let Some(completions) = completions
        && let Some(index) = indexes::overlap(completed.str(), failed.str(), completions)
    {
        let why = format!("failedIndexes and completedIndexes overlap at index: {index}");
        e.invalid(&failed, &why);
    }
}
