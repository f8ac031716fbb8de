//! Leases and runtime classes.

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};
use super::seen::{Key, Seen};

pub(crate) mod leases {
    //! `Lease`

    use super::{Errors, Field, Named, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        spec(e, &it.child("spec"));
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        spec(e, &new.child("spec"));
    }

    fn spec(e: &mut Errors, it: &Field) {
        let (duration, strategy) = (it.child("leaseDurationSeconds"), it.child("strategy"));
        if duration.opt_int().is_some_and(|it| it <= 0) {
            e.invalid(&duration, "must be greater than 0");
        }
        e.non_negative(&it.child("leaseTransitions"));
        if strategy.is_set() {
            let at = strategy.below("strategy");
            if strategy.str().contains('/') {
                e.qualified_name(&at);
            } else {
                e.one_of(&at, &["OldestEmulationVersion"]);
            }
        }
        let holder = it.child("preferredHolder");
        if !holder.is_empty() && strategy.is_empty() {
            e.forbidden(&holder, "may only be specified if `strategy` is defined");
        }
    }
}

pub(crate) mod runtime_classes {
    //! `RuntimeClass`

    use super::{Errors, Field, Key, Named, Seen, object_meta};
    use crate::validate::pod::resources::overhead;
    use crate::validate::pod::scheduling::tolerations;

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let handler = it.child("handler");
        e.late(|e| {
            if e.required_text(&handler) {
                e.dns_label(&handler);
            }
        });
        let fixed = it.children(&["overhead", "podFixed"]);
        if fixed.is_set() {
            overhead(e, &it.child("overhead").with(fixed.value));
        }
        let scheduling = it.child("scheduling");
        e.labels(&scheduling.child("nodeSelector"));
        let all = scheduling.child("tolerations");
        tolerations(e, &all);
        let mut seen = Seen::default();
        for it in all.items() {
            let key = ["key", "operator", "value", "effect"];
            if !seen.insert(key.map(|name| it.value.get(name).map(Key::from))) {
                e.duplicate(&it);
            }
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        e.late(|e| e.unchanged(&new.child("handler"), &old.child("handler")));
    }
}
