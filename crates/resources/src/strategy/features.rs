//! The group `features.k8s.io`, which Kubernetes does not have.

use super::{Action, SPEC, Strategy, SubresourceStrategy};
use crate::columns::{Columns, feature};
use crate::prepare::{self, Meta, Prepare, ResetFields, Status};
use crate::validate;

pub(super) const FEATURES: &[Strategy] = &[
    Strategy {
        // The API servers announce a feature together with its status.
        status: Status::Taken,
        metadata: Meta::Reset,
        generation: SPEC,
        prepare: Prepare {
            create: prepare::features::create,
            update: prepare::features::update,
            ..Prepare::NOTHING
        },
        validate: rules!(validate::features),
        subresources: &[SubresourceStrategy {
            name: "desired",
            prepare: prepare::features::set_desired,
            validate: validate::features::update_desired,
            validate_create: |_, _| {},
        }],
        reset_fields: &[
            (
                "",
                ResetFields::Paths(&[&["spec", "desired"], &["spec", "urgency"], &["status"]]),
            ),
            (
                "desired",
                ResetFields::AllBut(&[&["spec", "desired"], &["spec", "urgency"]]),
            ),
        ],
        columns: Some(Columns::new(feature::FEATURE, feature::feature)),
        action: Action::IsAnnounced,
        ..Strategy::new("features.k8s.io", "Feature")
    },
    Strategy::new("features.k8s.io", "FeatureUpgradeReview"),
];
