//! The core group.

use super::{
    Action, DeleteAnswer, Deletion, GarbageCollection, SPEC, Strategy, SubresourceStrategy,
    Unenforced,
};
use crate::columns::table::{PLAIN, machinery, objects, pods};
use crate::columns::{Columns, core, network, pod, storage, workload};
use crate::defaults::{self, Defaults};
use crate::prepare::fields::{self, SelectableFields};
use crate::prepare::warnings::{self, Warn};
use crate::prepare::{
    Generation, Prepare, ResetFields, Status, delete, keep_metadata, kinds, service,
};
use crate::read::Read;
use crate::validate;

const GROUP: &str = "";

pub(super) const CORE: &[Strategy] = &[
    POD,
    Strategy {
        defaults: Defaults::Always(defaults::core::POD_TEMPLATE),
        generation: Generation::Of(&[&["template"]]),
        validate: rules!(validate::pod::templates, no status),
        warnings: Warn {
            template: Some("template"),
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(pods::POD_TEMPLATE, pod::template)),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::unconditional(GROUP, "PodTemplate")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::REPLICATION_CONTROLLER),
        status: Status::Wiped,
        generation: SPEC,
        validate: rules!(validate::workloads::replica_sets::controllers),
        warnings: Warn {
            name_used_in: Some("Pod names and hostnames"),
            template: Some("spec.template"),
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(
            pods::REPLICAS,
            workload::replication_controller,
        )),
        fields: Some(SelectableFields {
            value: |object, label| {
                (label == "status.replicas").then(|| object.int(label).to_string())
            },
            ..SelectableFields::new(&["status.replicas"], true)
        }),
        deletion: Deletion {
            dependents: GarbageCollection::Orphan,
            ..Deletion::AT_ONCE
        },
        ..Strategy::unconditional(GROUP, "ReplicationController")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::SERVICE),
        status: Status::Wiped,
        prepare: Prepare {
            create: |object, _| service::create(object),
            update: |new, old, _| service::update(new, old),
            stored: service::stored,
            ..Prepare::NOTHING
        },
        validate: rules!(validate::service),
        warnings: Warn {
            both: warnings::service,
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(pods::SERVICE, network::service)),
        fields: Some(SelectableFields::new(
            &["spec.clusterIP", "spec.type"],
            true,
        )),
        allow_create_on_update: true,
        deletion: Deletion::WITH_OBJECT,
        action: Action::Allocates,
        ..Strategy::unconditional(GROUP, "Service")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::ENDPOINTS),
        validate: rules!(validate::endpoints, no status),
        warnings: Warn {
            both: warnings::endpoints,
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(pods::ENDPOINTS, network::endpoints)),
        allow_create_on_update: true,
        deprecation: Some(
            "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
        ),
        ..Strategy::unconditional(GROUP, "Endpoints")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::NODE),
        status: Status::Taken,
        prepare: Prepare {
            create: |object, _| kinds::node_config(object, &json::Value::Null),
            update: |new, old, _| kinds::node_config(new, old),
            ..Prepare::NOTHING
        },
        validate: rules!(validate::node, no status),
        warnings: Warn {
            both: warnings::node,
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(pods::NODE, core::node)),
        fields: Some(SelectableFields {
            value: |object, label| {
                (label == "spec.unschedulable").then(|| object.flag(label).to_string())
            },
            ..SelectableFields::new(&["spec.unschedulable"], false)
        }),
        ..Strategy::unconditional(GROUP, "Node")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::EVENT),
        validate: rules!(validate::events::core, no status),
        columns: Some(Columns::new(pods::EVENT, core::event)),
        fields: Some(SelectableFields {
            value: fields::event_value,
            ..SelectableFields::new(
                &[
                    "involvedObject.kind",
                    "involvedObject.namespace",
                    "involvedObject.name",
                    "involvedObject.uid",
                    "involvedObject.apiVersion",
                    "involvedObject.resourceVersion",
                    "involvedObject.fieldPath",
                    "reason",
                    "reportingComponent",
                    "source",
                    "type",
                ],
                true,
            )
        }),
        allow_create_on_update: true,
        deletion: Deletion {
            dependents: GarbageCollection::Unsupported,
            ..Deletion::AT_ONCE
        },
        expires: true,
        ..Strategy::unconditional(GROUP, "Event")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::NAMESPACE),
        status: Status::Wiped,
        prepare: Prepare {
            create: |object, _| kinds::namespace(object),
            update: |new, old, _| kinds::update_namespace(new, old),
            ..Prepare::NOTHING
        },
        validate: rules!(validate::core::namespaces),
        subresources: &[SubresourceStrategy {
            name: "finalize",
            prepare: |new, old, _| kinds::finalize_namespace(new, old),
            validate: validate::core::namespaces::finalize,
            validate_create: |_, _| {},
        }],
        reset_fields: &[("finalize", ResetFields::Paths(&[&["status"]]))],
        columns: Some(Columns::new(objects::NAMESPACE, core::namespace)),
        fields: Some(SelectableFields::new(&["status.phase"], false)),
        deletion: Deletion {
            answer: DeleteAnswer::ObjectNotDocumented,
            spec_finalizers: true,
            in_two_steps: true,
            marks_time_only: true,
            mark: delete::mark_namespace,
            ..Deletion::AT_ONCE
        },
        action: Action::HoldsObjects,
        ..Strategy::unconditional(GROUP, "Namespace")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::SECRET),
        prepare: Prepare {
            create: |object, _| kinds::secret_strings(object),
            update: |new, old, _| kinds::update_secret(new, old),
            ..Prepare::NOTHING
        },
        validate: rules!(validate::config::secrets, no status),
        warnings: Warn {
            key_pair: warnings::tls_pair,
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(objects::SECRET, core::secret)),
        fields: Some(SelectableFields::new(&["type"], true)),
        ..Strategy::unconditional(GROUP, "Secret")
    },
    Strategy {
        validate: rules!(validate::config::maps, no status),
        columns: Some(Columns::new(objects::CONFIG_MAP, core::config_map)),
        ..Strategy::unconditional(GROUP, "ConfigMap")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::PERSISTENT_VOLUME),
        status: Status::Wiped,
        prepare: Prepare {
            create: kinds::new_volume,
            update_status: kinds::phase_time,
            ..Prepare::NOTHING
        },
        validate: rules!(validate::volumes),
        warnings: Warn {
            both: warnings::volume,
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(objects::VOLUME, storage::volume)),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::unconditional(GROUP, "PersistentVolume")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::CLAIM),
        status: Status::Wiped,
        prepare: Prepare {
            create: |object, _| kinds::data_sources(object, &json::Value::Null),
            update: |new, old, _| kinds::data_sources(new, old),
            stored: kinds::stored_claim,
            ..Prepare::NOTHING
        },
        validate: rules!(validate::claims),
        warnings: Warn {
            both: warnings::claim,
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(objects::CLAIM, storage::claim)),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::unconditional(GROUP, "PersistentVolumeClaim")
    },
    Strategy {
        columns: Some(Columns::new(
            objects::COMPONENT_STATUS,
            core::component_status,
        )),
        deprecation: Some("v1 ComponentStatus is deprecated in v1.19+"),
        ..Strategy::unconditional(GROUP, "ComponentStatus")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::RESOURCE_QUOTA),
        status: Status::Wiped,
        validate: rules!(validate::quotas),
        columns: Some(Columns::new(
            machinery::RESOURCE_QUOTA,
            core::resource_quota,
        )),
        deletion: Deletion::WITH_OBJECT,
        unenforced: Some(Unenforced {
            what: "ResourceQuota",
            effect: "resource quotas are stored and not enforced by this server: nothing is counted and nothing is refused",
            plugin: Some("ResourceQuota"),
            applies: |_| true,
        }),
        ..Strategy::unconditional(GROUP, "ResourceQuota")
    },
    Strategy {
        prepare: Prepare {
            create: |object, _| kinds::secret_references(object),
            update: |new, _, _| kinds::secret_references(new),
            ..Prepare::NOTHING
        },
        validate: rules!(validate::core::service_accounts, no status),
        subresources: &[SubresourceStrategy {
            name: "token",
            prepare: |new, old, _| keep_metadata(new, old),
            validate: validate::core::service_accounts::update,
            validate_create: validate::core::service_accounts::token_request,
        }],
        warnings: Warn {
            create: |object, all| warnings::mountable_secrets(object, None, all),
            update: |new, old, all| warnings::mountable_secrets(new, Some(old), all),
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(PLAIN, core::plain)),
        deletion: Deletion::WITH_OBJECT,
        ..Strategy::unconditional(GROUP, "ServiceAccount")
    },
    Strategy {
        defaults: Defaults::Always(defaults::core::LIMIT_RANGE),
        prepare: Prepare {
            create: kinds::limit_range_name,
            ..Prepare::NOTHING
        },
        validate: rules!(validate::quotas::limits, no status),
        allow_create_on_update: true,
        ..Strategy::unconditional(GROUP, "LimitRange")
    },
    Strategy::unconditional(GROUP, "Binding"),
    // Not a resource: the answer of many requests, which `kubectl` prints.
    Strategy {
        columns: Some(Columns::new(machinery::STATUS, core::status)),
        ..Strategy::unconditional(GROUP, "Status")
    },
];

const POD: Strategy = Strategy {
    defaults: Defaults::Always(defaults::pod::POD),
    status: Status::Wiped,
    generation: SPEC,
    prepare: Prepare {
        create: |object, _| crate::prepare::pod::create(object),
        update: |new, old, _| crate::prepare::pod::update(new, old),
        update_status: |new, old, _| crate::prepare::pod::update_status(new, old),
        ..Prepare::NOTHING
    },
    validate: rules!(validate::pod),
    subresources: &[
        SubresourceStrategy {
            name: "ephemeralcontainers",
            prepare: |new, old, _| crate::prepare::pod::update_ephemeral_containers(new, old),
            validate: validate::pod::update_ephemeral_containers,
            validate_create: |_, _| {},
        },
        SubresourceStrategy {
            name: "resize",
            prepare: |new, old, _| crate::prepare::pod::resize(new, old),
            validate: validate::pod::resize,
            validate_create: |_, _| {},
        },
        SubresourceStrategy {
            name: "binding",
            prepare: |new, old, _| keep_metadata(new, old),
            validate: validate::pod::update,
            validate_create: validate::pod::binding,
        },
    ],
    reset_fields: &[
        (
            "status",
            ResetFields::Paths(&[
                &["spec"],
                &["metadata", "deletionTimestamp"],
                &["metadata", "ownerReferences"],
            ]),
        ),
        (
            "ephemeralcontainers",
            ResetFields::AllBut(&[&["spec", "ephemeralContainers"]]),
        ),
        (
            "resize",
            ResetFields::AllBut(&[
                &["spec", "containers", "*", "resources"],
                &["spec", "containers", "*", "resizePolicy"],
                &["spec", "initContainers", "*", "resources"],
                &["spec", "initContainers", "*", "resizePolicy"],
            ]),
        ),
    ],
    warnings: Warn {
        before_create: warnings::pod::armor,
        name_used_in: Some("the Pod's hostname"),
        create: warnings::pod::pod,
        ..Warn::NOTHING
    },
    columns: Some(Columns {
        conditions: pod::conditions,
        ..Columns::new(pods::POD, pod::pod)
    }),
    fields: Some(SelectableFields {
        // What old clients send.
        alias: Some(("spec.host", "spec.nodeName")),
        value: fields::pod_value,
        ..SelectableFields::new(
            &[
                "spec.nodeName",
                "spec.restartPolicy",
                "spec.schedulerName",
                "spec.serviceAccountName",
                "spec.hostNetwork",
                "status.phase",
                "status.podIP",
                "status.podIPs",
                "status.nominatedNodeName",
            ],
            true,
        )
    }),
    deletion: Deletion {
        grace_period: Some(delete::pod_grace_period),
        ..Deletion::WITH_OBJECT
    },
    ..Strategy::unconditional(GROUP, "Pod")
};
