//! Workloads: the groups `apps`, `batch`, `autoscaling`, `policy`, `scheduling.k8s.io` and `lifecycle.k8s.io`.

use super::{Deletion, GarbageCollection, SPEC, Strategy};
use crate::columns::table::{PLAIN, machinery, objects, pods};
use crate::columns::{Columns, core, device, scaling, workload};
use crate::defaults::cluster::{METADATA_SPEC, METADATA_SPEC_STATUS};
use crate::defaults::{self, Defaults};
use crate::prepare::fields::{SelectableFields, Unsupported};
use crate::prepare::warnings::{self, Warn};
use crate::prepare::{Generation, Meta, Prepare, Status, kinds};
use crate::read::Read;
use crate::validate;

const POD_NAMES: Option<&str> = Some("Pod names and hostnames");

pub(super) const APPS: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(defaults::workload::DEPLOYMENT),
        status: Status::Wiped,
        metadata: Meta::Labels,
        generation: Generation::Of(&[&["spec"], &["metadata", "annotations"]]),
        validate: rules!(validate::workloads::deployments),
        warnings: Warn {
            name_used_in: POD_NAMES,
            template: Some("spec.template"),
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(objects::DEPLOYMENT, workload::deployment)),
        ..Strategy::unconditional("apps", "Deployment")
    },
    Strategy {
        defaults: Defaults::Always(defaults::workload::REPLICA_SET),
        status: Status::Wiped,
        generation: SPEC,
        validate: rules!(validate::workloads::replica_sets),
        warnings: Warn {
            name_used_in: POD_NAMES,
            template: Some("spec.template"),
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(pods::REPLICAS, workload::replica_set)),
        ..Strategy::unconditional("apps", "ReplicaSet")
    },
    Strategy {
        defaults: Defaults::Always(defaults::workload::STATEFUL_SET),
        status: Status::Wiped,
        generation: SPEC,
        validate: rules!(validate::workloads::stateful_sets),
        warnings: Warn {
            template: Some("spec.template"),
            both: warnings::stateful_set,
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(pods::STATEFUL_SET, workload::stateful_set)),
        ..Strategy::unconditional("apps", "StatefulSet")
    },
    Strategy {
        defaults: Defaults::Always(defaults::workload::DAEMON_SET),
        status: Status::Wiped,
        generation: SPEC,
        prepare: Prepare {
            create: |object, _| kinds::new_daemon_set(object),
            update: |new, old, _| kinds::update_daemon_set(new, old),
            ..Prepare::NOTHING
        },
        validate: rules!(validate::workloads::daemon_sets),
        warnings: Warn {
            template: Some("spec.template"),
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(pods::DAEMON_SET, workload::daemon_set)),
        ..Strategy::unconditional("apps", "DaemonSet")
    },
    Strategy {
        defaults: Defaults::Always(defaults::workload::CONTROLLER_REVISION),
        validate: rules!(validate::workloads::revisions, no status),
        columns: Some(Columns::new(
            machinery::CONTROLLER_REVISION,
            workload::controller_revision,
        )),
        ..Strategy::unconditional("apps", "ControllerRevision")
    },
];

pub(super) const BATCH: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(defaults::workload::JOB),
        status: Status::Wiped,
        generation: SPEC,
        prepare: Prepare {
            create: |object, _| kinds::job_selector(object),
            ..Prepare::NOTHING
        },
        validate: rules!(validate::batch::jobs),
        warnings: Warn {
            name_used_in: POD_NAMES,
            job: Some("spec"),
            template: Some("spec.template"),
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(pods::JOB, workload::job)),
        fields: Some(SelectableFields {
            unsupported: Unsupported::LabelAndKind,
            value: |object, label| {
                let count = object.int("status.succeeded");
                (label == "status.successful").then(|| count.to_string())
            },
            ..SelectableFields::new(&["status.successful"], true)
        }),
        deletion: Deletion {
            dependents: GarbageCollection::Orphan,
            warning: Some(
                "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
                 remove them or set propagationPolicy=Orphan to suppress this warning",
            ),
            ..Deletion::AT_ONCE
        },
        ..Strategy::unconditional("batch", "Job")
    },
    Strategy {
        defaults: Defaults::Always(defaults::workload::CRON_JOB),
        status: Status::Wiped,
        generation: SPEC,
        validate: rules!(validate::batch::cron_jobs, no status),
        warnings: Warn {
            name_used_in: POD_NAMES,
            job: Some("spec.jobTemplate.spec"),
            template: Some("spec.jobTemplate.spec.template"),
            update: |new, _, all| warnings::cron_time_zone(new, all),
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(pods::CRON_JOB, workload::cron_job)),
        ..Strategy::unconditional("batch", "CronJob")
    },
];

pub(super) const AUTOSCALING: &[Strategy] = &[
    Strategy {
        defaults: Defaults::ByVersion(
            "v1",
            defaults::cluster::HORIZONTAL_POD_AUTOSCALER_V1,
            defaults::cluster::AUTOSCALER,
        ),
        status: Status::Wiped,
        generation: SPEC,
        validate: rules!(validate::autoscaling),
        columns: Some(Columns {
            read_as: Some(("autoscaling", "v2")),
            ..Columns::new(objects::AUTOSCALER, scaling::autoscaler)
        }),
        ..Strategy::unconditional("autoscaling", "HorizontalPodAutoscaler")
    },
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC_STATUS),
        columns: Some(Columns::new(machinery::SCALE, workload::scale)),
        ..Strategy::unconditional("autoscaling", "Scale")
    },
];

pub(super) const POLICY: &[Strategy] = &[Strategy {
    defaults: Defaults::Always(defaults::cluster::POD_DISRUPTION_BUDGET),
    status: Status::Wiped,
    generation: SPEC,
    validate: rules!(validate::policy),
    columns: Some(Columns::new(
        pods::DISRUPTION_BUDGET,
        workload::disruption_budget,
    )),
    ..Strategy::new("policy", "PodDisruptionBudget")
}];

pub(super) const SCHEDULING: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(defaults::cluster::PRIORITY_CLASS),
        generation: Generation::Fixed,
        validate: rules!(validate::core::priority_classes, no status),
        columns: Some(Columns::new(
            machinery::PRIORITY_CLASS,
            workload::priority_class,
        )),
        ..Strategy::unconditional("scheduling.k8s.io", "PriorityClass")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::POD_GROUP),
        status: Status::Wiped,
        metadata: Meta::Reset,
        columns: Some(Columns::new(machinery::POD_GROUP, workload::pod_group)),
        ..Strategy::new("scheduling.k8s.io", "PodGroup")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::POD_GROUP),
        status: Status::Wiped,
        metadata: Meta::Reset,
        columns: Some(Columns::new(
            machinery::COMPOSITE_POD_GROUP,
            workload::composite_pod_group,
        )),
        ..Strategy::new("scheduling.k8s.io", "CompositePodGroup")
    },
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC),
        columns: Some(Columns::new(PLAIN, core::plain)),
        ..Strategy::new("scheduling.k8s.io", "Workload")
    },
];

pub(super) const LIFECYCLE: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC_STATUS),
        status: Status::Wiped,
        metadata: Meta::Reset,
        generation: SPEC,
        columns: Some(Columns::new(machinery::EVICTION, device::eviction)),
        ..Strategy::new("lifecycle.k8s.io", "Eviction")
    },
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC_STATUS),
        status: Status::Wiped,
        metadata: Meta::Reset,
        generation: SPEC,
        columns: Some(Columns::new(
            machinery::EVICTION_REQUEST,
            device::eviction_request,
        )),
        ..Strategy::new("lifecycle.k8s.io", "EvictionRequest")
    },
];
