//! What an object must be to be stored, beyond what its schema says: upstream's rules, sentences and order.
//!
//! Objects come decoded and defaulted. What upstream lets pass because an old object already had it is only allowed
//! where a comment says so.

pub(crate) mod autoscaling;
pub(crate) mod batch;
pub(crate) mod certificates;
pub(crate) mod claims;
pub(crate) mod cluster;
pub(crate) mod config;
pub(crate) mod core;
pub(crate) mod definitions;
pub(crate) mod devices;
mod diff;
pub(crate) mod endpoints;
mod errors;
pub(crate) mod events;
mod expressions;
pub(crate) mod features;
mod field;
pub(crate) mod flowcontrol;
mod go_form;
mod ip;
pub(crate) mod mutating;
pub(crate) mod networking;
pub(crate) mod node;
mod object_meta;
mod paths;
pub(crate) mod pod;
pub(crate) mod policy;
mod quota_names;
pub(crate) mod quotas;
pub(crate) mod rbac;
mod seen;
pub(crate) mod service;
mod sources;
pub(crate) mod storage;
pub(crate) mod volumes;
pub(crate) mod webhooks;
mod words;
pub(crate) mod workloads;

use json::Value;
use meta::field::Error;

use crate::strategy::{self, Strategy};

pub(crate) use errors::Errors;
pub(crate) use field::Field;
pub(crate) use webhooks::{STATIC_NAMES, STATIC_SUFFIX};

/// The rules of one kind.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) create: fn(&mut Errors, &Field),
    pub(crate) update: fn(&mut Errors, &Field, &Field),
    pub(crate) status: fn(&mut Errors, &Field, &Field),
}

/// What feature gates allow that is refused by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The gate `StatefulSetRecreateStrategy`.
    pub stateful_set_recreate: bool,
}

/// What is wrong with a new object; nothing for a kind without rules.
pub fn create(group: &str, version: &str, kind: &str, object: &Value) -> Vec<Error> {
    create_with(group, version, kind, object, Options::default())
}

/// The same where feature gates are on that are off by default.
pub fn create_with(
    group: &str,
    version: &str,
    kind: &str,
    object: &Value,
    options: Options,
) -> Vec<Error> {
    let _ = version;
    let mut e = Errors::with(options);
    let row = strategy::find(group, kind);
    if let Some(rules) = row.validate {
        (rules.create)(&mut e, &Field::root(object));
    }
    if row.reserves_static_names {
        webhooks::not_static(&mut e, &Field::root(object).child("metadata").child("name"));
    }
    list(row, e)
}

pub fn update(group: &str, version: &str, kind: &str, new: &Value, old: &Value) -> Vec<Error> {
    update_with(group, version, kind, new, old, Options::default())
}

/// The same where feature gates are on that are off by default.
pub fn update_with(
    group: &str,
    version: &str,
    kind: &str,
    new: &Value,
    old: &Value,
    options: Options,
) -> Vec<Error> {
    let mut e = Errors::of_update((group, version, kind), options);
    let row = strategy::find(group, kind);
    if let Some(rules) = row.validate {
        (rules.update)(&mut e, &Field::root(new), &Field::root(old));
    }
    list(row, e)
}

/// What is wrong with the addresses of a Service, before it gets some.
pub fn service_ips(service: &Value, old: Option<&Value>) -> Vec<Error> {
    let mut e = Errors::default();
    let (it, old) = (Field::root(service), old.map(Field::root));
    service::cluster_ips(&mut e, &it.child("spec"), old.as_ref());
    e.into_list()
}

pub fn update_status(
    group: &str,
    version: &str,
    kind: &str,
    new: &Value,
    old: &Value,
) -> Vec<Error> {
    let mut e = Errors::of_update((group, version, kind), Options::default());
    let row = strategy::find(group, kind);
    if let Some(rules) = row.validate {
        (rules.status)(&mut e, &Field::root(new), &Field::root(old));
    }
    list(row, e)
}

/// A change through a subresource. A `scale` is itself the new object; all others are objects of the kind.
pub fn update_subresource(
    group: &str,
    version: &str,
    kind: &str,
    subresource: &str,
    new: &Value,
    old: &Value,
) -> Vec<Error> {
    let mut e = Errors::of_update((group, version, kind), Options::default());
    let (at, was) = (Field::root(new), Field::root(old));
    let row = strategy::find(group, kind);
    match (subresource, row.subresource(subresource)) {
        ("scale", _) => autoscaling::scale(&mut e, &at),
        (_, Some(sub)) => (sub.validate)(&mut e, &at, &was),
        ("status", None) => return update_status(group, version, kind, new, old),
        _ => return update(group, version, kind, new, old),
    }
    list(row, e)
}

fn list(row: &Strategy, e: Errors) -> Vec<Error> {
    if row.repeats_errors {
        e.into_list()
    } else {
        e.into_told_once()
    }
}

/// What is sent to a subresource and not stored: `binding` of pods, `token` of service accounts.
pub fn create_subresource(
    group: &str,
    kind: &str,
    subresource: &str,
    object: &Value,
) -> Vec<Error> {
    let mut e = Errors::default();
    let at = Field::root(object);
    if let Some(row) = strategy::find(group, kind).subresource(subresource) {
        (row.validate_create)(&mut e, &at);
    }
    e.into_list()
}
