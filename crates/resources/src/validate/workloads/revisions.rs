//! Controller revisions.

use json::Value;

use crate::validate::errors::Errors;
use crate::validate::field::Field;
use crate::validate::object_meta::{self, Named};

pub(crate) fn create(e: &mut Errors, it: &Field) {
    common(e, it);
    let data = it.child("data");
    match data.value {
        Value::Null => e.required(&data, "data is mandatory"),
        Value::Object(_) => {}
        _ => e.required(&data, "data must be a valid JSON object"),
    }
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    common(e, new);
    e.immutable(&new.child("data"), &old.child("data"));
}

fn common(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::SUBDOMAIN);
    e.non_negative(&it.child("revision"));
}
