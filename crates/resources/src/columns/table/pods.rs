//! Pods, their controllers, and how they are reached.

use super::make::{AGE, CONTAINERS, IMAGES, NAME, SELECTOR, flag, int, text, wide};
use crate::columns::Column;

pub(crate) const POD: &[Column] = &[
    NAME,
    text("Ready", "Containers that are ready, of all."),
    text("Status", "What the pod's containers are doing."),
    text(
        "Restarts",
        "How often containers were restarted, and when last.",
    ),
    AGE,
    wide("IP", "First address of the pod."),
    wide("Node", "Node the pod is bound to."),
    wide(
        "Nominated Node",
        "Node where room is being made for the pod.",
    ),
    wide("Readiness Gates", "Readiness gates that are open, of all."),
];
pub(crate) const POD_TEMPLATE: &[Column] = &[
    NAME,
    text("Containers", "Names of the template's containers."),
    text("Images", "Images of the template's containers."),
    text("Pod Labels", "Labels that pods get."),
];
pub(crate) const DISRUPTION_BUDGET: &[Column] = &[
    NAME,
    text("Min Available", "Pods that must stay available."),
    text("Max Unavailable", "Pods that may be unavailable."),
    int("Allowed Disruptions", "Pods that may be disrupted now."),
    AGE,
];
pub(crate) const REPLICAS: &[Column] = &[
    NAME,
    int("Desired", "Pods wanted."),
    int("Current", "Pods there are."),
    int("Ready", "Pods that are ready."),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];
pub(crate) const DAEMON_SET: &[Column] = &[
    NAME,
    int("Desired", "Nodes that should run the pod."),
    int("Current", "Nodes that run the pod and should."),
    int("Ready", "Nodes whose pod is ready."),
    int("Up-to-date", "Nodes that run the current template."),
    int("Available", "Nodes whose pod is available."),
    text("Node Selector", "Labels of nodes that run the pod."),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];
pub(crate) const JOB: &[Column] = &[
    NAME,
    text("Status", "How far the job is."),
    text("Completions", "Pods that succeeded, of those wanted."),
    text("Duration", "How long the job ran."),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];
pub(crate) const CRON_JOB: &[Column] = &[
    NAME,
    text("Schedule", "When jobs start, in cron format."),
    text("Timezone", "Time zone of the schedule."),
    flag("Suspend", "Whether no further jobs start."),
    int("Active", "Jobs that run now."),
    text("Last Schedule", "Time since a job was last started."),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];
pub(crate) const SERVICE: &[Column] = &[
    NAME,
    text("Type", "How the service is exposed."),
    text("Cluster-IP", "Address inside the cluster."),
    text("External-IP", "Addresses from outside."),
    text("Port(s)", "Ports of the service."),
    AGE,
    wide("Selector", "Which pods get the traffic."),
];
pub(crate) const INGRESS: &[Column] = &[
    NAME,
    text("Class", "Ingress class that serves it."),
    text("Hosts", "Hosts it answers for."),
    text("Address", "Where its load balancer is reached."),
    text("Ports", "Ports it opens."),
    AGE,
];
pub(crate) const INGRESS_CLASS: &[Column] = &[
    NAME,
    text("Controller", "Controller that serves the class."),
    text("Parameters", "Object with further settings."),
    AGE,
];
pub(crate) const STATEFUL_SET: &[Column] = &[
    NAME,
    text("Ready", "Pods that are ready, of those wanted."),
    AGE,
    CONTAINERS,
    IMAGES,
];
pub(crate) const ENDPOINTS: &[Column] = &[
    NAME,
    text("Endpoints", "Addresses and ports behind the service."),
    AGE,
];
pub(crate) const NODE: &[Column] = &[
    NAME,
    text("Status", "Whether the node is ready."),
    text("Roles", "Roles from the node's labels."),
    AGE,
    text("Version", "Version of the kubelet."),
    wide("Internal-IP", "Address inside the cluster."),
    wide("External-IP", "Address from outside."),
    wide("OS-Image", "Operating system."),
    wide("Kernel-Version", "Kernel and architecture."),
    wide("Container-Runtime", "Container runtime and its version."),
];
pub(crate) const EVENT: &[Column] = &[
    text("Last Seen", "Time since it happened last."),
    text("Type", "Normal, Warning or another kind of event."),
    text("Reason", "Why, in one word."),
    text("Object", "What the event is about."),
    wide("Subobject", "Part of the object it is about."),
    wide("Source", "Who reported it."),
    text("Message", "What happened."),
    wide("First Seen", "Time since it happened first."),
    wide("Count", "How often it happened."),
    Column {
        format: "name",
        priority: 1,
        ..NAME
    },
];
