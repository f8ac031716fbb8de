//! Webhook configurations and admission policies.

use super::rule::Lit::{Empty, Int, Str};
use super::rule::Rule::{self, All, Each, If, In, Unset};

pub(super) fn rules(version: &str, kind: &str) -> Option<&'static [Rule]> {
    Some(match kind {
        "ValidatingWebhookConfiguration" => &[In("metadata", &[]), Each("webhooks", WEBHOOK)],
        "MutatingWebhookConfiguration" => &[
            In("metadata", &[]),
            Each(
                "webhooks",
                &[All(WEBHOOK), Unset("reinvocationPolicy", Str("Never"))],
            ),
        ],
        "ValidatingAdmissionPolicy" => {
            &[In("metadata", &[]), In("spec", POLICY), In("status", &[])]
        }
        "MutatingAdmissionPolicy" => &[In("metadata", &[]), In("spec", POLICY)],
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding"
            if version == "v1alpha1" =>
        {
            &[
                In("metadata", &[]),
                In(
                    "spec",
                    &[
                        If("paramRef", &[Unset("parameterNotFoundAction", Str("Deny"))]),
                        If("matchResources", MATCH_RESOURCES),
                    ],
                ),
            ]
        }
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding" => &[
            In("metadata", &[]),
            In("spec", &[If("matchResources", MATCH_RESOURCES)]),
        ],
        _ => return None,
    })
}

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
