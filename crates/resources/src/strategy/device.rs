//! The group `resource.k8s.io`.

use super::{Action, Deletion, SPEC, Strategy};
use crate::columns::table::{PLAIN, machinery};
use crate::columns::{Columns, core, device};
use crate::defaults::Defaults;
use crate::defaults::device::{
    DEVICE_CLASS, DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_CLAIM_TEMPLATE_V1BETA1, RESOURCE_CLAIM_V1BETA1, RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
};
use crate::prepare::fields::{SelectableFields, Unsupported};
use crate::prepare::{Meta, Prepare, Status, kinds};
use crate::validate;

const GROUP: &str = "resource.k8s.io";

pub(super) const RESOURCE: &[Strategy] = &[
    Strategy {
        defaults: Defaults::ByVersion("v1beta1", RESOURCE_CLAIM_V1BETA1, RESOURCE_CLAIM),
        status: Status::Wiped,
        metadata: Meta::Reset,
        validate: rules!(validate::devices),
        columns: Some(Columns::new(
            machinery::RESOURCE_CLAIM,
            device::resource_claim,
        )),
        deletion: Deletion::WITH_OBJECT,
        action: Action::SharesStatus,
        ..Strategy::unconditional(GROUP, "ResourceClaim")
    },
    Strategy {
        defaults: Defaults::ByVersion(
            "v1beta1",
            RESOURCE_CLAIM_TEMPLATE_V1BETA1,
            RESOURCE_CLAIM_TEMPLATE,
        ),
        validate: rules!(validate::devices::templates, no status),
        columns: Some(Columns::new(PLAIN, core::plain)),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::unconditional(GROUP, "ResourceClaimTemplate")
    },
    Strategy {
        defaults: Defaults::Always(DEVICE_CLASS),
        generation: SPEC,
        validate: rules!(validate::devices::classes, no status),
        columns: Some(Columns::new(PLAIN, core::plain)),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::unconditional(GROUP, "DeviceClass")
    },
    Strategy {
        defaults: Defaults::Always(RESOURCE_SLICE),
        generation: SPEC,
        validate: rules!(validate::devices::slices, no status),
        columns: Some(Columns::new(
            machinery::RESOURCE_SLICE,
            device::resource_slice,
        )),
        fields: Some(SelectableFields {
            unsupported: Unsupported::LabelAndVersion,
            ..SelectableFields::new(&["spec.nodeName", "spec.driver", "spec.pool.name"], false)
        }),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::unconditional(GROUP, "ResourceSlice")
    },
    Strategy {
        defaults: Defaults::Always(DEVICE_TAINT_RULE),
        status: Status::Wiped,
        metadata: Meta::Reset,
        generation: SPEC,
        prepare: Prepare {
            update: kinds::taint_time,
            ..Prepare::NOTHING
        },
        validate: rules!(validate::devices::taint_rules, no status),
        columns: Some(Columns::new(machinery::TAINT_RULE, device::taint_rule)),
        ..Strategy::unconditional(GROUP, "DeviceTaintRule")
    },
    Strategy {
        defaults: Defaults::Always(RESOURCE_POOL_STATUS_REQUEST),
        status: Status::Wiped,
        metadata: Meta::Reset,
        columns: Some(Columns::new(
            machinery::POOL_STATUS,
            device::pool_status_request,
        )),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::new(GROUP, "ResourcePoolStatusRequest")
    },
];
