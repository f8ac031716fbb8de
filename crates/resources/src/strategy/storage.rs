//! The group `storage.k8s.io`.

use super::{Deletion, Strategy};
use crate::columns::table::{machinery, objects};
use crate::columns::{Columns, storage};
use crate::defaults::cluster::METADATA_SPEC_STATUS;
use crate::defaults::{self, Defaults};
use crate::prepare::warnings::{self, Warn};
use crate::prepare::{Generation, Meta, Status};
use crate::validate;

const GROUP: &str = "storage.k8s.io";

pub(super) const STORAGE: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(defaults::cluster::STORAGE_CLASS),
        validate: rules!(validate::storage::classes, no status),
        warnings: Warn {
            both: warnings::storage_class,
            ..Warn::NOTHING
        },
        columns: Some(Columns {
            mark: storage::mark_default,
            ..Columns::new(objects::STORAGE_CLASS, storage::storage_class)
        }),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::unconditional(GROUP, "StorageClass")
    },
    Strategy {
        validate: rules!(validate::storage::attribute_classes, no status),
        columns: Some(Columns::new(
            objects::ATTRIBUTES_CLASS,
            storage::attributes_class,
        )),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::unconditional(GROUP, "VolumeAttributesClass")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::VOLUME_ATTACHMENT),
        status: Status::Wiped,
        metadata: Meta::Reset,
        validate: rules!(validate::storage::attachments, no status),
        columns: Some(Columns::new(machinery::ATTACHMENT, storage::attachment)),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::new(GROUP, "VolumeAttachment")
    },
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC_STATUS),
        status: Status::Wiped,
        metadata: Meta::Reset,
        validate: rules!(validate::storage::nodes, no status),
        columns: Some(Columns::new(machinery::CSI_NODE, storage::csi_node)),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::new(GROUP, "CSINode")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::CSI_DRIVER),
        generation: Generation::UpdateOnly(&[&["spec"]]),
        validate: rules!(validate::storage::drivers, no status),
        columns: Some(Columns::new(machinery::CSI_DRIVER, storage::csi_driver)),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::new(GROUP, "CSIDriver")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::CSI_STORAGE_CAPACITY),
        validate: rules!(validate::storage::capacities, no status),
        ..Strategy::new(GROUP, "CSIStorageCapacity")
    },
];
