//! Small groups that keep a cluster running: coordination, events, flow control, nodes, storage versions.

use super::{Deletion, GarbageCollection, SPEC, Strategy};
use crate::columns::table::{machinery, objects, pods};
use crate::columns::{Columns, cluster, core};
use crate::defaults::cluster::{METADATA_SPEC, METADATA_SPEC_STATUS};
use crate::defaults::{self, Defaults};
use crate::prepare::{Meta, SelectableFields, Status};
use crate::validate;

pub(super) const COORDINATION: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC),
        validate: rules!(validate::cluster::leases, no status),
        columns: Some(Columns::new(objects::LEASE, core::lease)),
        allow_create_on_update: true,
        ..Strategy::new("coordination.k8s.io", "Lease")
    },
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC),
        columns: Some(Columns::new(
            objects::LEASE_CANDIDATE,
            core::lease_candidate,
        )),
        allow_create_on_update: true,
        ..Strategy::new("coordination.k8s.io", "LeaseCandidate")
    },
];

pub(super) const EVENTS: &[Strategy] = &[Strategy {
    defaults: Defaults::Always(defaults::cluster::EVENT),
    validate: rules!(validate::events, no status),
    columns: Some(Columns {
        read_as: Some(("", "v1")),
        ..Columns::new(pods::EVENT, core::event)
    }),
    fields: Some(SelectableFields::new(
        &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        true,
    )),
    allow_create_on_update: true,
    deletion: Deletion {
        dependents: GarbageCollection::Unsupported,
        ..Deletion::AT_ONCE
    },
    // Upstream has one kind of both, and that is of the core group.
    error_group: Some(""),
    expires: true,
    ..Strategy::unconditional("events.k8s.io", "Event")
}];

pub(super) const FLOW_CONTROL: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(defaults::cluster::FLOW_SCHEMA),
        status: Status::Wiped,
        metadata: Meta::Whole,
        generation: SPEC,
        validate: rules!(validate::flowcontrol::schemas),
        columns: Some(Columns::new(machinery::FLOW_SCHEMA, cluster::flow_schema)),
        ..Strategy::unconditional("flowcontrol.apiserver.k8s.io", "FlowSchema")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::PRIORITY_LEVEL),
        status: Status::Wiped,
        metadata: Meta::Whole,
        generation: SPEC,
        validate: rules!(validate::flowcontrol::levels),
        columns: Some(Columns::new(
            machinery::PRIORITY_LEVEL,
            cluster::priority_level,
        )),
        ..Strategy::unconditional("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration")
    },
];

pub(super) const NODE: &[Strategy] = &[Strategy {
    validate: rules!(validate::cluster::runtime_classes, no status),
    columns: Some(Columns::new(machinery::RUNTIME_CLASS, core::runtime_class)),
    allow_create_on_update: true,
    ..Strategy::new("node.k8s.io", "RuntimeClass")
}];

pub(super) const INTERNAL: &[Strategy] = &[Strategy {
    defaults: Defaults::Always(METADATA_SPEC_STATUS),
    status: Status::Wiped,
    metadata: Meta::Reset,
    columns: Some(Columns::new(
        machinery::STORAGE_VERSION,
        cluster::storage_version,
    )),
    ..Strategy::new("internal.apiserver.k8s.io", "StorageVersion")
}];

pub(super) const STORAGE_MIGRATION: &[Strategy] = &[Strategy {
    defaults: Defaults::Always(METADATA_SPEC_STATUS),
    status: Status::Wiped,
    metadata: Meta::Reset,
    columns: Some(Columns::new(machinery::MIGRATION, cluster::migration)),
    ..Strategy::new("storagemigration.k8s.io", "StorageVersionMigration")
}];
