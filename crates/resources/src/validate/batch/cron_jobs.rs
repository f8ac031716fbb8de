//! Cron jobs.

use super::{cron, jobs, zones};
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::object_meta::{self, Named};

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::SUBDOMAIN);
    spec(e, &it.child("spec"), None);
    let metadata = it.child("metadata");
    let name = metadata.child("name");
    if name.len() > 52 {
        e.invalid(&name, "must be no more than 52 characters");
    }
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    spec(e, &new.child("spec"), Some(&old.child("spec")));
}

fn spec(e: &mut Errors, it: &Field, old: Option<&Field>) {
    let (schedule, zone) = (it.child("schedule"), it.child("timeZone"));
    if schedule.is_empty() {
        e.late(|e| e.required(&schedule, ""));
    } else {
        if let Some(wrong) = cron::wrong(schedule.str()) {
            e.invalid(&schedule, &wrong);
        }
        let had_zone = old.is_some_and(|old| old.text("schedule").contains("TZ"));
        if schedule.str().contains("TZ") {
            if !had_zone {
                let text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
                e.invalid(&schedule, text);
            } else if zone.is_set() {
                let text = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
                e.invalid(&schedule, text);
            }
        }
    }
    e.non_negative(&it.child("startingDeadlineSeconds"));
    if old.is_none_or(|old| old.child("timeZone").value != zone.value) && zone.is_set() {
        time_zone(e, &zone);
    }
    e.required_one_of(
        &it.child("concurrencyPolicy"),
        &["Allow", "Forbid", "Replace"],
    );
    let job = it.children(&["jobTemplate", "spec"]);
    jobs::any_spec(e, &job);
    let (selector, manual) = (job.child("selector"), job.child("manualSelector"));
    if selector.is_set() {
        e.invalid(&selector, "`selector` will be auto-generated");
    }
    if manual.opt_bool() == Some(true) {
        e.not_supported(&manual, &["nil", "false"]);
    }
    e.non_negative(&it.child("successfulJobsHistoryLimit"));
    e.non_negative(&it.child("failedJobsHistoryLimit"));
}

fn time_zone(e: &mut Errors, it: &Field) {
    let name = it.str();
    if name.is_empty() {
        return e.invalid(it, "timeZone must be nil or non-empty string");
    }
    let odd = |part: &str| {
        let plain = |it: u8| it.is_ascii_alphanumeric() || b".-_+".contains(&it);
        matches!(part, "." | "..")
            || part.starts_with('-')
            || !(1..=14).contains(&part.len())
            || !part.bytes().all(plain)
    };
    let unknown = format!("unknown time zone {name}");
    if name.split('/').any(odd) {
        return e.invalid(it, &unknown);
    }
    if name.eq_ignore_ascii_case("Local") {
        let text =
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        e.invalid(it, text);
    }
    if name != "Local" && !zones::is_known(name) {
        e.invalid(it, &unknown);
    }
}
