//! Small kinds of the core group.

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};

pub(crate) mod namespaces {
    //! `Namespace`

    use meta::names;

    use super::{Errors, Field, Named, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_LABEL);
        let all = it.children(&["spec", "finalizers"]);
        for finalizer in all.list() {
            self::finalizer(e, &all.with(finalizer));
        }
    }

    fn finalizer(e: &mut Errors, at: &Field) {
        e.invalid_all(at, names::qualified_name(at.str()));
        object_meta::standard_finalizer(e, at);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
    }

    pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        let ending = new.child("metadata").has("deletionTimestamp");
        let (want, why) = if ending {
            (
                "Terminating",
                "may only be 'Terminating' if `deletionTimestamp` is not empty",
            )
        } else {
            (
                "Active",
                "may only be 'Active' if `deletionTimestamp` is empty",
            )
        };
        let status = new.child("status");
        if status.text("phase") != want {
            e.invalid(&status.child_as("phase", "Phase"), why);
        }
    }

    pub(crate) fn finalize(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        for it in new.children(&["spec", "finalizers"]).items() {
            finalizer(e, &it);
        }
    }
}

pub(crate) mod service_accounts {
    //! `ServiceAccount`

    use super::{Errors, Field, Named, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        create(e, new);
    }

    /// What a token is asked for.
    pub(crate) fn token_request(e: &mut Errors, it: &Field) {
        let seconds = it.children(&["spec", "expirationSeconds"]);
        if seconds.int() < 600 {
            let text = "may not specify a duration less than 10 minutes";
            e.invalid_value(&seconds, seconds.int(), text);
        }
        if seconds.int() > 1 << 32 {
            e.invalid(
                &seconds,
                "may not specify a duration larger than 2^32 seconds",
            );
        }
    }
}

pub(crate) mod priority_classes {
    //! `PriorityClass`

    use super::{Errors, Field, Named, object_meta};
    use crate::validate::words::IMMUTABLE;

    const HIGHEST: i64 = 1_000_000_000;
    const SYSTEM: [(&str, i64); 2] = [
        ("system-node-critical", 2 * HIGHEST + 1000),
        ("system-cluster-critical", 2 * HIGHEST),
    ];

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let (metadata, value) = (it.child("metadata"), it.child("value"));
        let name = metadata.child("name");
        if name.str().starts_with("system-") {
            let known = SYSTEM.iter().find(|(known, _)| *known == name.str());
            let wrong = match known {
                None => format!("{} is not a known system priority class", name.str()),
                Some((known, want)) if *want != value.int() => {
                    format!("value of {known} PriorityClass must be {want}")
                }
                Some(_) if it.flag("globalDefault") => {
                    format!(
                        "globalDefault of {} PriorityClass must be false",
                        name.str()
                    )
                }
                Some(_) => String::new(),
            };
            if !wrong.is_empty() {
                let why = format!(
                    "priority class names with 'system-' prefix are reserved for system use only. error: {wrong}"
                );
                e.forbidden(&name, &why);
            }
        } else if value.int() > HIGHEST {
            let why = format!("maximum allowed value of a user defined priority is {HIGHEST}");
            e.forbidden(&value, &why);
        }
        let policy = it.child("preemptionPolicy");
        if policy.is_set() {
            e.required_one_of(&policy, &["PreemptLowerPriority", "Never"]);
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        let value = new.child("value");
        if value.int() != old.number("value") {
            e.forbidden(&value, "may not be changed in an update.");
        }
        let policy = new.child("preemptionPolicy");
        if policy.is_set() != old.has("preemptionPolicy")
            || policy.str() != old.text("preemptionPolicy")
        {
            e.invalid(&policy, IMMUTABLE);
        }
    }
}
