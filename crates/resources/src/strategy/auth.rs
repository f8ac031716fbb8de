//! Access and certificates: the groups `rbac.authorization.k8s.io`, `authentication.k8s.io`, `authorization.k8s.io` and
//! `certificates.k8s.io`.

use super::{Action, Strategy, SubresourceStrategy};
use crate::columns::table::objects;
use crate::columns::{Columns, cluster};
use crate::defaults::cluster::{METADATA_SPEC, METADATA_SPEC_STATUS};
use crate::defaults::{self, Defaults};
use crate::prepare::{Meta, Prepare, ResetFields, SelectableFields, Status, kinds};
use crate::validate;

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

pub(super) const RBAC: &[Strategy] = &[
    Strategy {
        validate: rules!(validate::rbac::roles, no status),
        allow_create_on_update: true,
        action: Action::GrantsRules,
        ..Strategy::unconditional(RBAC_GROUP, "Role")
    },
    Strategy {
        validate: rules!(validate::rbac::cluster_roles, no status),
        allow_create_on_update: true,
        action: Action::GrantsRules,
        ..Strategy::unconditional(RBAC_GROUP, "ClusterRole")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::ROLE_BINDING),
        validate: rules!(validate::rbac::bindings, no status),
        columns: Some(Columns::new(objects::ROLE_BINDING, cluster::role_binding)),
        allow_create_on_update: true,
        action: Action::BindsRole,
        ..Strategy::unconditional(RBAC_GROUP, "RoleBinding")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::ROLE_BINDING),
        validate: rules!(validate::rbac::cluster_bindings, no status),
        columns: Some(Columns::new(objects::ROLE_BINDING, cluster::role_binding)),
        allow_create_on_update: true,
        action: Action::BindsRole,
        ..Strategy::unconditional(RBAC_GROUP, "ClusterRoleBinding")
    },
];

pub(super) const AUTHENTICATION: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(defaults::cluster::SELF_SUBJECT_REVIEW),
        ..Strategy::new("authentication.k8s.io", "SelfSubjectReview")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::TOKEN_REQUEST),
        ..Strategy::new("authentication.k8s.io", "TokenRequest")
    },
    review("authentication.k8s.io", "TokenReview"),
];

pub(super) const AUTHORIZATION: &[Strategy] = &[
    review("authorization.k8s.io", "LocalSubjectAccessReview"),
    review("authorization.k8s.io", "SelfSubjectAccessReview"),
    review("authorization.k8s.io", "SelfSubjectRulesReview"),
    review("authorization.k8s.io", "SubjectAccessReview"),
];

const fn review(group: &'static str, kind: &'static str) -> Strategy {
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC_STATUS),
        ..Strategy::new(group, kind)
    }
}

const CERTIFICATES_GROUP: &str = "certificates.k8s.io";

pub(super) const CERTIFICATES: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC_STATUS),
        status: Status::Wiped,
        prepare: Prepare {
            create: kinds::requester,
            update: |new, old, _| kinds::keep_spec(new, old),
            update_status: kinds::certificate_status,
            ..Prepare::NOTHING
        },
        validate: rules!(validate::certificates::requests),
        subresources: &[SubresourceStrategy {
            name: "approval",
            prepare: kinds::certificate_approval,
            validate: validate::certificates::requests::approve,
            validate_create: |_, _| {},
        }],
        reset_fields: &[
            ("", ResetFields::Paths(&[&["spec"], &["status"]])),
            (
                "status",
                ResetFields::Paths(&[&["spec"], &["status", "conditions"]]),
            ),
            (
                "approval",
                ResetFields::Paths(&[&["spec"], &["status", "certificate"]]),
            ),
        ],
        columns: Some(Columns::new(
            objects::SIGNING_REQUEST,
            cluster::signing_request,
        )),
        fields: Some(SelectableFields::new(&["spec.signerName"], false)),
        action: Action::HoldsCertificate,
        ..Strategy::unconditional(CERTIFICATES_GROUP, "CertificateSigningRequest")
    },
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC),
        columns: Some(Columns::new(objects::TRUST_BUNDLE, cluster::trust_bundle)),
        fields: Some(SelectableFields::new(&["spec.signerName"], false)),
        ..Strategy::new(CERTIFICATES_GROUP, "ClusterTrustBundle")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::POD_CERTIFICATE_REQUEST),
        status: Status::Wiped,
        metadata: Meta::Reset,
        columns: Some(Columns::new(
            objects::POD_CERTIFICATE,
            cluster::pod_certificate_request,
        )),
        fields: Some(SelectableFields::new(
            &["spec.signerName", "spec.podName", "spec.nodeName"],
            false,
        )),
        ..Strategy::new(CERTIFICATES_GROUP, "PodCertificateRequest")
    },
];
