//! The group `admissionregistration.k8s.io`.

use super::{SPEC, Strategy};
use crate::columns::table::machinery;
use crate::columns::{Columns, cluster, core};
use crate::defaults::Defaults;
use crate::defaults::admission::{
    ADMISSION_POLICY_BINDING, ADMISSION_POLICY_BINDING_V1ALPHA1, MUTATING_ADMISSION_POLICY,
    MUTATING_WEBHOOK_CONFIGURATION, VALIDATING_ADMISSION_POLICY, VALIDATING_WEBHOOK_CONFIGURATION,
};
use crate::prepare::warnings::{self, Warn};
use crate::prepare::{Generation, Meta, Status};
use crate::validate;

pub(super) const ADMISSION_REGISTRATION: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(VALIDATING_WEBHOOK_CONFIGURATION),
        generation: Generation::Of(&[&["webhooks"]]),
        validate: rules!(validate::webhooks, no status),
        warnings: WEBHOOK_WARNINGS,
        columns: Some(Columns::new(machinery::WEBHOOKS, core::webhooks)),
        ..row("ValidatingWebhookConfiguration")
    },
    Strategy {
        defaults: Defaults::Always(MUTATING_WEBHOOK_CONFIGURATION),
        generation: Generation::Of(&[&["webhooks"]]),
        validate: rules!(validate::webhooks, no status),
        warnings: WEBHOOK_WARNINGS,
        columns: Some(Columns::new(machinery::WEBHOOKS, core::webhooks)),
        ..row("MutatingWebhookConfiguration")
    },
    Strategy {
        defaults: Defaults::Always(VALIDATING_ADMISSION_POLICY),
        status: Status::Wiped,
        metadata: Meta::Reset,
        generation: SPEC,
        validate: rules!(validate::webhooks::policies, no status),
        columns: Some(Columns::new(
            machinery::VALIDATING_POLICY,
            cluster::validating_policy,
        )),
        ..row("ValidatingAdmissionPolicy")
    },
    Strategy {
        defaults: BINDING_DEFAULTS,
        generation: SPEC,
        validate: rules!(validate::webhooks::bindings, no status),
        columns: Some(Columns::new(
            machinery::POLICY_BINDING,
            cluster::policy_binding,
        )),
        ..row("ValidatingAdmissionPolicyBinding")
    },
    Strategy {
        defaults: Defaults::Always(MUTATING_ADMISSION_POLICY),
        generation: SPEC,
        validate: rules!(validate::mutating, no status),
        columns: Some(Columns::new(
            machinery::MUTATING_POLICY,
            cluster::mutating_policy,
        )),
        ..row("MutatingAdmissionPolicy")
    },
    Strategy {
        defaults: BINDING_DEFAULTS,
        generation: SPEC,
        validate: rules!(validate::mutating::bindings, no status),
        columns: Some(Columns::new(
            machinery::POLICY_BINDING,
            cluster::policy_binding,
        )),
        ..row("MutatingAdmissionPolicyBinding")
    },
];

const BINDING_DEFAULTS: Defaults = Defaults::ByVersion(
    "v1alpha1",
    ADMISSION_POLICY_BINDING_V1ALPHA1,
    ADMISSION_POLICY_BINDING,
);

const WARNINGS: Warn = Warn {
    update: |new, _, all| warnings::static_name(new, all),
    ..Warn::NOTHING
};

const WEBHOOK_WARNINGS: Warn = Warn {
    both: warnings::webhooks::unseen,
    ..WARNINGS
};

/// What all kinds of the group have in common.
const fn row(kind: &'static str) -> Strategy {
    Strategy {
        reserves_static_names: true,
        warnings: WARNINGS,
        ..Strategy::new("admissionregistration.k8s.io", kind)
    }
}
