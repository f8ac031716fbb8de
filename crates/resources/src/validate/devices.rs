//! Claims of devices and their classes. What is allocated is not looked at.

mod parts;
pub(crate) mod slices;

use std::collections::{HashMap, HashSet};

use json::Value;
use meta::field::Error;

use super::errors::Errors;
use super::field::{Field, text};
use super::object_meta::{self, Named};
use super::seen::Seen;

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::SUBDOMAIN);
    claim(e, &it.children(&["spec", "devices"]));
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::create(e, new, Named::SUBDOMAIN);
    object_meta::update(e, new, old);
    e.late(|e| e.immutable(&new.child("spec"), &old.child("spec")));
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
}

fn claim(e: &mut Errors, it: &Field) {
    let requests = it.child("requests");
    if requests.len() > 32 {
        return e.late(|e| e.too_many(&requests, 32));
    }
    for request in requests.items() {
        self::request(e, &request);
    }
    e.late(|e| listed_twice(e, &requests));
    // Names of requests and of what they would take instead; the first of a name counts.
    let mut names: HashMap<&str, HashSet<&str>> = HashMap::new();
    for request in requests.list() {
        let subs = request.get("firstAvailable").and_then(Value::as_array);
        let subs = subs.into_iter().flatten().map(|it| text(it, "name"));
        names
            .entry(text(request, "name"))
            .or_insert_with(|| subs.collect());
    }
    let known = |name: &str| match name.split_once('/') {
        None => names.contains_key(name),
        Some((name, sub)) => names.get(name).is_some_and(|it| it.contains(sub)),
    };
    let named = |e: &mut Errors, entry: &Field| {
        for name in entry.child("requests").items() {
            let parts = name.str().split('/');
            let whole = parts.clone().count() <= 2;
            for part in parts.filter(|_| whole) {
                for why in meta::names::dns1123_label(part) {
                    e.invalid_value(&name, part, &why);
                }
            }
            if !whole || !known(name.str()) {
                let text = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
                e.invalid(&name, text);
            }
        }
    };
    let constraints = it.child("constraints");
    parts::count(e, &constraints, 32);
    for constraint in constraints.items() {
        named(e, &constraint);
        self::constraint(e, &constraint);
    }
    let configs = it.child("config");
    parts::count(e, &configs, 32);
    for config in configs.items() {
        named(e, &config);
        parts::configuration(e, &config);
    }
}

fn constraint(e: &mut Errors, it: &Field) {
    let (same, distinct) = (it.child("matchAttribute"), it.child("distinctAttribute"));
    if same.is_set() {
        e.late(|e| parts::fully_qualified_name(e, &same));
    } else if distinct.is_set() {
        e.late(|e| parts::fully_qualified_name(e, &distinct));
    } else {
        let why = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set";
        e.required(it, why);
    }
}

/// What the declarative rules say: they show all of it.
fn listed_twice(e: &mut Errors, all: &Field) {
    for it in repeated(all) {
        e.push_with(|| Error::duplicate(it.path, it.value.clone()));
    }
}

fn duplicates(e: &mut Errors, all: &Field) {
    for it in repeated(all) {
        e.duplicate_value(&it, it.text("name"));
    }
}

/// Items whose name an earlier one has.
fn repeated<'a>(all: &'a Field<'a>) -> impl Iterator<Item = Field<'a>> {
    let mut seen = Seen::default();
    all.items().filter(move |it| !seen.insert(it.text("name")))
}

fn request(e: &mut Errors, it: &Field) {
    name(e, it);
    let (exactly, first) = (it.child("exactly"), it.child("firstAvailable"));
    let one = "exactly one of `exactly` or `firstAvailable` is required";
    match (exactly.is_set(), first.is_empty()) {
        (false, true) => e.required(it, one),
        (true, false) => {
            let why = format!("{one}, but multiple fields are set");
            e.invalid_value(it, Value::Null, &why);
        }
        (true, true) => exact(e, &exactly),
        (false, false) => {
            parts::count(e, &first, 8);
            for sub in first.items() {
                name(e, &sub);
                exact(e, &sub);
            }
            e.late(|e| listed_twice(e, &first));
        }
    }
}

fn name(e: &mut Errors, it: &Field) {
    let name = it.child("name");
    if e.required_text(&name) {
        e.dns_label(&name);
    }
}

fn exact(e: &mut Errors, it: &Field) {
    let (class, count) = (it.child("deviceClassName"), it.child("count"));
    if e.required_text(&class) {
        e.dns_subdomain(&class);
    }
    parts::selectors(e, &it.child("selectors"));
    let mode = it.child("allocationMode");
    match mode.str() {
        "All" if count.int() != 0 => {
            e.invalid(&count, "must not be specified when allocationMode is 'All'");
        }
        "All" => {}
        "ExactCount" => e.positive(&count),
        _ => e.late(|e| e.not_supported(&mode, &["All", "ExactCount"])),
    }
    parts::tolerations(e, &it.child("tolerations"));
}

pub(crate) mod templates {
    //! `ResourceClaimTemplate`

    use super::{Errors, Field, Named, claim, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        claim(e, &it.children(&["spec", "spec", "devices"]));
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::create(e, new, Named::SUBDOMAIN);
        object_meta::update(e, new, old);
        e.late(|e| e.immutable(&new.child("spec"), &old.child("spec")));
    }
}

pub(crate) mod classes {
    //! `DeviceClass`

    use super::{Errors, Field, Named, object_meta, parts};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        spec(e, &it.child("spec"), None);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::create(e, new, Named::CLUSTER_SUBDOMAIN);
        object_meta::update(e, new, old);
        spec(e, &new.child("spec"), Some(&old.child("spec")));
    }

    fn spec(e: &mut Errors, it: &Field, old: Option<&Field>) {
        let selectors = it.child("selectors");
        // What was stored was valid then, and is not compiled again.
        if old.is_none_or(|old| old.child("selectors").value != selectors.value) {
            parts::selectors(e, &selectors);
        }
        parts::configs(e, &it.child("config"));
        let name = it.child("extendedResourceName");
        if name.is_set() {
            e.late(|e| extended(e, &name));
        }
    }

    /// With a domain that is not ours, and fit for quotas.
    fn extended(e: &mut Errors, at: &Field) {
        let name = at.str();
        if !name.contains('/') {
            let why = "a name must be a domain-prefixed path, such as 'example.com/my-prop'";
            e.invalid(at, why);
        } else if name.contains("kubernetes.io/") {
            e.invalid(at, "must not have \"kubernetes.io/\" domain");
        } else {
            e.invalid_all(at, meta::names::qualified_name(&format!("requests.{name}")));
        }
    }
}

pub(crate) mod taint_rules {
    //! `DeviceTaintRule`, of which only metadata is looked at.

    use super::{Errors, Field, Named, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        create(e, new);
        object_meta::update(e, new, old);
    }
}
