//! Webhook configurations and admission policies.

use super::rule::Lit::{Empty, Int, Str};
use super::rule::Rule::{self, All, Each, If, In, Unset};

pub(crate) const VALIDATING_WEBHOOK_CONFIGURATION: &[Rule] =
    &[In("metadata", &[]), Each("webhooks", WEBHOOK)];

pub(crate) const MUTATING_WEBHOOK_CONFIGURATION: &[Rule] = &[
    In("metadata", &[]),
    Each(
        "webhooks",
        &[All(WEBHOOK), Unset("reinvocationPolicy", Str("Never"))],
    ),
];

pub(crate) const VALIDATING_ADMISSION_POLICY: &[Rule] =
    &[In("metadata", &[]), In("spec", POLICY), In("status", &[])];

pub(crate) const MUTATING_ADMISSION_POLICY: &[Rule] = &[In("metadata", &[]), In("spec", POLICY)];

pub(crate) const ADMISSION_POLICY_BINDING_V1ALPHA1: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            If("paramRef", &[Unset("parameterNotFoundAction", Str("Deny"))]),
            If("matchResources", MATCH_RESOURCES),
        ],
    ),
];

pub(crate) const ADMISSION_POLICY_BINDING: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[If("matchResources", MATCH_RESOURCES)]),
];

const POLICY: &[Rule] = &[
    Unset("failurePolicy", Str("Fail")),
    If("matchConstraints", MATCH_RESOURCES),
];

const WEBHOOK: &[Rule] = &[
    In("clientConfig", &[If("service", &[Unset("port", Int(443))])]),
    Each("rules", RULE),
    Unset("failurePolicy", Str("Fail")),
    Unset("matchPolicy", Str("Equivalent")),
    Unset("namespaceSelector", Empty),
    Unset("objectSelector", Empty),
    Unset("timeoutSeconds", Int(10)),
];

const RULE: &[Rule] = &[Unset("scope", Str("*"))];

const MATCH_RESOURCES: &[Rule] = &[
    Unset("matchPolicy", Str("Equivalent")),
    Unset("namespaceSelector", Empty),
    Unset("objectSelector", Empty),
    Each("resourceRules", RULE),
    Each("excludeResourceRules", RULE),
];
