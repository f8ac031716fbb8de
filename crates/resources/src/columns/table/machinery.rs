//! What keeps the cluster going.

use super::make::{AGE, CREATED, NAME, column, flag, int, text, wide};
use crate::columns::Column;

pub(crate) const STATUS: &[Column] = &[
    text("Status", "Success or Failure."),
    text("Reason", "Why, in one word."),
    text("Message", "Why, for people."),
];
pub(crate) const CONTROLLER_REVISION: &[Column] = &[
    NAME,
    text("Controller", "Who owns the revision."),
    text("Revision", "Its number."),
    AGE,
];
pub(crate) const RESOURCE_QUOTA: &[Column] = &[
    NAME,
    text("Request", "Requests and counts, used of allowed."),
    text("Limit", "Limits, used of allowed."),
    AGE,
];
pub(crate) const PRIORITY_CLASS: &[Column] = &[
    NAME,
    int("Value", "Priority of pods of this class."),
    flag("Global-Default", "Whether pods without a class get it."),
    AGE,
    text("PreemptionPolicy", "Whether its pods push others away."),
];
pub(crate) const RUNTIME_CLASS: &[Column] = &[
    NAME,
    text("Handler", "Handler in the container runtime."),
    AGE,
];
pub(crate) const ATTACHMENT: &[Column] = &[
    NAME,
    Column {
        format: "name",
        ..text("Attacher", "Driver that attaches.")
    },
    text("PV", "Volume to attach."),
    text("Node", "Node to attach to."),
    flag("Attached", "Whether it is attached."),
    AGE,
];
pub(crate) const ENDPOINT_SLICE: &[Column] = &[
    NAME,
    text("AddressType", "Kind of addresses."),
    text("Ports", "Ports of the endpoints."),
    text("Endpoints", "Addresses of the endpoints."),
    AGE,
];
pub(crate) const CSI_NODE: &[Column] =
    &[NAME, int("Drivers", "Drivers registered on the node."), AGE];
pub(crate) const CSI_DRIVER: &[Column] = &[
    NAME,
    flag("AttachRequired", "Whether volumes need attaching."),
    flag("PodInfoOnMount", "Whether it is told about the pod."),
    flag("StorageCapacity", "Whether it reports capacity."),
    text("TokenRequests", "Audiences of tokens it asks for."),
    flag("RequiresRepublish", "Whether mounts are refreshed."),
    text("Modes", "Life cycles of its volumes."),
    AGE,
];
pub(crate) const WEBHOOKS: &[Column] = &[NAME, int("Webhooks", "Number of webhooks."), AGE];
pub(crate) const VALIDATING_POLICY: &[Column] = &[
    NAME,
    int("Validations", "Number of rules."),
    text("ParamKind", "Kind of its parameters."),
    AGE,
];
pub(crate) const MUTATING_POLICY: &[Column] = &[
    NAME,
    int("Mutations", "Number of mutations."),
    text("ParamKind", "Kind of its parameters."),
    AGE,
];
pub(crate) const POLICY_BINDING: &[Column] = &[
    NAME,
    text("PolicyName", "Policy that is bound."),
    text("ParamRef", "Parameters it is bound with."),
    AGE,
];
pub(crate) const FLOW_SCHEMA: &[Column] = &[
    NAME,
    text("PriorityLevel", "Priority level of its requests."),
    text("MatchingPrecedence", "Lower ones are tried first."),
    text("DistinguisherMethod", "How its requests are told apart."),
    AGE,
    text("MissingPL", "Whether its priority level is missing."),
];
pub(crate) const PRIORITY_LEVEL: &[Column] = &[
    NAME,
    text("Type", "Limited or Exempt."),
    text(
        "NominalConcurrencyShares",
        "Its part of the server's seats.",
    ),
    text("Queues", "Number of queues."),
    text("HandSize", "Queues a flow may use."),
    text("QueueLengthLimit", "Longest queue."),
    AGE,
];
pub(crate) const STORAGE_VERSION: &[Column] = &[
    NAME,
    text(
        "CommonEncodingVersion",
        "Version all servers write, if they agree.",
    ),
    text("StorageVersions", "Version each server writes."),
    AGE,
];
pub(crate) const SCALE: &[Column] = &[
    text("Name", "Name of the object."),
    int("Desired", "Pods wanted."),
    int("Available", "Pods there are."),
    AGE,
];
pub(crate) const RESOURCE_CLAIM: &[Column] = &[
    NAME,
    text("State", "Pending, allocated, reserved or deleted."),
    AGE,
];
pub(crate) const RESOURCE_SLICE: &[Column] = &[
    NAME,
    text("Node", "Node the devices belong to."),
    text("Driver", "Driver of the devices."),
    text("Pool", "Pool the slice is part of."),
    AGE,
];
pub(crate) const POOL_STATUS: &[Column] = &[
    NAME,
    text("Driver", "Driver whose pools are asked for."),
    text("Total", "Devices in all pools."),
    text("Available", "Devices that are free."),
    text("Allocated", "Devices in use."),
    text("Unavailable", "Devices that cannot be used."),
    text("Errors", "Pools that are not valid."),
    int("Pools", "Pools that match."),
    text("Status", "How far the request is."),
    text("Completed", "Time since it was answered."),
];
pub(crate) const TAINT_RULE: &[Column] = &[
    NAME,
    text("Key", "Key of the taint."),
    text("Value", "Value of the taint."),
    text("Effect", "What the taint does."),
    text("TimeAdded", "Time since the taint was added."),
    AGE,
];
pub(crate) const SERVICE_CIDR: &[Column] =
    &[NAME, text("CIDRs", "Ranges of service addresses."), AGE];
pub(crate) const IP_ADDRESS: &[Column] =
    &[NAME, text("ParentRef", "Object the address belongs to.")];
pub(crate) const MIGRATION: &[Column] = &[
    text("Name", "Name of the object."),
    text("Resource", "Resource to migrate."),
    text("Status", "How far the migration is."),
];
pub(crate) const POD_GROUP: &[Column] = &[
    NAME,
    text("Policy", "How its pods are scheduled."),
    text("Workload", "Workload it belongs to."),
    text("Status", "Whether it is scheduled."),
    AGE,
];
pub(crate) const COMPOSITE_POD_GROUP: &[Column] = &[
    NAME,
    text("Policy", "How its groups are scheduled."),
    text("Workload", "Workload it belongs to."),
    AGE,
];
pub(crate) const EVICTION_REQUEST: &[Column] = &[
    NAME,
    text("Target", "What should be evicted."),
    text("Target Type", "Kind of the target."),
    text("Status", "How far the eviction is."),
    text("Requester", "Who asks."),
    text("Intent", "Evict, or no longer."),
    AGE,
];
pub(crate) const EVICTION: &[Column] = &[
    NAME,
    text("Target", "What should be evicted."),
    text("Target Type", "Kind of the target."),
    text("Status", "How far the eviction is."),
    text("Active Responder", "Who acts on it."),
    text("Responder Status", "How far that one is."),
    text("Responder Expected Finish", "When it expects to be done."),
    text("Requesters", "Who asks."),
    AGE,
    wide("Responder Heartbeat", "Time since it last reported."),
    wide("Responder Status Message", "What it last reported."),
];
pub(crate) const API_SERVICE: &[Column] = &[
    NAME,
    text("Service", "Service that serves the group version."),
    text("Available", "Whether it can be reached."),
    AGE,
];
pub(crate) const DEFINITION: &[Column] = &[
    NAME,
    text("Scope", "Cluster or Namespaced."),
    text("Versions", "Versions that are served."),
    CREATED,
    wide("Group", "API group."),
    wide("Kind", "Kind of its objects."),
    wide("ShortNames", "Short names of the resource."),
    column("Established", "boolean", 1, "Whether it is served."),
];
