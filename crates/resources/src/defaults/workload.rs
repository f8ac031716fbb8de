//! The groups apps and batch.

use json::{Object, Value};

use super::core::CLAIM;
use super::pod::TEMPLATE;
use super::rule::Lit::{Bool, Int, Str};
use super::rule::Rule::{self, All, Do, Each, If, In, Unset, Zero};
use super::rule::{is_zero, made, unset, zero};

pub(crate) const DEPLOYMENT: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            Unset("replicas", Int(1)),
            In("template", TEMPLATE),
            In("strategy", &[Do(deployment_strategy)]),
            Unset("revisionHistoryLimit", Int(10)),
            Unset("progressDeadlineSeconds", Int(600)),
        ],
    ),
    In("status", &[]),
];

pub(crate) const REPLICA_SET: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[Unset("replicas", Int(1)), In("template", TEMPLATE)],
    ),
    In("status", &[Zero("replicas", Int(0))]),
];

pub(crate) const JOB: &[Rule] = &[
    In("metadata", &[]),
    In("spec", &[Do(job), JOB_SPEC]),
    Do(labels_from_template),
    In("status", &[]),
];

pub(crate) const CONTROLLER_REVISION: &[Rule] = &[In("metadata", &[])];

pub(crate) const STATEFUL_SET: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            Unset("replicas", Int(1)),
            In("template", TEMPLATE),
            Each("volumeClaimTemplates", &[Do(claim_type), All(CLAIM)]),
            Zero("serviceName", Str("")),
            Zero("podManagementPolicy", Str("OrderedReady")),
            In("updateStrategy", &[Do(stateful_set_strategy)]),
            Unset("revisionHistoryLimit", Int(10)),
            // A pointer, but one that is always made.
            In(
                "persistentVolumeClaimRetentionPolicy",
                &[
                    Zero("whenDeleted", Str("Retain")),
                    Zero("whenScaled", Str("Retain")),
                ],
            ),
        ],
    ),
    In(
        "status",
        &[Zero("replicas", Int(0)), Zero("availableReplicas", Int(0))],
    ),
];

pub(crate) const DAEMON_SET: &[Rule] = &[
    In("metadata", &[In("annotations", &[Do(template_generation)])]),
    In(
        "spec",
        &[
            In("template", TEMPLATE),
            In("updateStrategy", &[Do(daemon_set_strategy)]),
            Unset("revisionHistoryLimit", Int(10)),
        ],
    ),
    In(
        "status",
        &[
            Zero("currentNumberScheduled", Int(0)),
            Zero("numberMisscheduled", Int(0)),
            Zero("desiredNumberScheduled", Int(0)),
            Zero("numberReady", Int(0)),
        ],
    ),
];

pub(crate) const CRON_JOB: &[Rule] = &[
    In("metadata", &[]),
    In(
        "spec",
        &[
            Zero("concurrencyPolicy", Str("Allow")),
            Unset("suspend", Bool(false)),
            In(
                "jobTemplate",
                &[In("metadata", &[]), In("spec", &[JOB_SPEC])],
            ),
            Unset("successfulJobsHistoryLimit", Int(3)),
            Unset("failedJobsHistoryLimit", Int(1)),
        ],
    ),
    In("status", &[]),
];

/// What a job's spec gets wherever it stands; the rest only a Job gets.
const JOB_SPEC: Rule = Rule::All(&[
    If(
        "podFailurePolicy",
        &[Each(
            "rules",
            &[Each("onPodConditions", &[Zero("status", Str("True"))])],
        )],
    ),
    In("template", TEMPLATE),
]);

/// Templates of claims say what they are, whatever the client wrote.
fn claim_type(claim: &mut Object) {
    claim.insert("apiVersion", "v1");
    claim.insert("kind", "PersistentVolumeClaim");
}

/// Once a field, now an annotation that is always there.
fn template_generation(annotations: &mut Object) {
    unset(
        annotations,
        "deprecated.daemonset.template.generation",
        Str("0"),
    );
}

fn is_rolling(strategy: &Object) -> bool {
    strategy.get("type").and_then(Value::as_str) == Some("RollingUpdate")
}

fn deployment_strategy(strategy: &mut Object) {
    zero(strategy, "type", Str("RollingUpdate"));
    if is_rolling(strategy)
        && let Some(rolling) = made(strategy, "rollingUpdate")
    {
        unset(rolling, "maxUnavailable", Str("25%"));
        unset(rolling, "maxSurge", Str("25%"));
    }
}

fn daemon_set_strategy(strategy: &mut Object) {
    zero(strategy, "type", Str("RollingUpdate"));
    if is_rolling(strategy)
        && let Some(rolling) = made(strategy, "rollingUpdate")
    {
        unset(rolling, "maxUnavailable", Int(1));
        unset(rolling, "maxSurge", Int(0));
    }
}

/// Details are made only where the type was left out too.
fn stateful_set_strategy(strategy: &mut Object) {
    if strategy.get("type").is_none_or(is_zero) {
        zero(strategy, "type", Str("RollingUpdate"));
        made(strategy, "rollingUpdate");
    }
    if is_rolling(strategy)
        && let Some(Value::Object(rolling)) = strategy.get_mut("rollingUpdate")
    {
        unset(rolling, "partition", Int(0));
        unset(rolling, "maxUnavailable", Int(1));
    }
}

fn job(spec: &mut Object) {
    let has = |spec: &Object, key| spec.get(key).is_some_and(|it| !it.is_null());
    if !has(spec, "completions") && !has(spec, "parallelism") {
        unset(spec, "completions", Int(1));
    }
    unset(spec, "parallelism", Int(1));
    let per_index = has(spec, "backoffLimitPerIndex");
    unset(
        spec,
        "backoffLimit",
        Int(if per_index { i64::from(i32::MAX) } else { 6 }),
    );
    unset(spec, "completionMode", Str("NonIndexed"));
    unset(spec, "suspend", Bool(false));
    let policy = if has(spec, "podFailurePolicy") {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    unset(spec, "podReplacementPolicy", Str(policy));
    unset(spec, "manualSelector", Bool(false));
}

fn labels_from_template(job: &mut Object) {
    let labels = job.get("spec");
    let labels = labels.and_then(|it| it.at(&["template", "metadata", "labels"]));
    let Some(labels) = labels.filter(|it| !is_zero(it)).cloned() else {
        return;
    };
    if let Some(metadata) = made(job, "metadata")
        && metadata.get("labels").is_none_or(is_zero)
    {
        metadata.insert("labels", labels);
    }
}
