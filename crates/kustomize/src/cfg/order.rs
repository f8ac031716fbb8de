//! The order that people expect fields in.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Where a field stands before others; those that are not known follow by name.
static RANK: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
    let fields = FIELDS.iter().flat_map(|it| it.split(' '));
    // Of those that are there twice, the last place counts.
    fields.enumerate().map(|(at, field)| (field, at)).collect()
});

pub(super) fn compare(a: &str, b: &str) -> Ordering {
    match (RANK.get(a), RANK.get(b)) {
        (Some(a), Some(b)) => a.cmp(b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

const FIELDS: &[&str] = &[
    // Of all objects.
    "name generateName namespace clusterName apiVersion kind metadata type labels annotations spec status",
    "stringData data binaryData",
    // Of workloads.
    "parallelism completions activeDeadlineSeconds backoffLimit replicas selector manualSelector template",
    "ttlSecondsAfterFinished volumeClaimTemplates service serviceName podManagementPolicy updateStrategy strategy",
    "minReadySeconds revision revisionHistoryLimit paused progressDeadlineSeconds",
    // Of Pods.
    "restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy serviceAccountName serviceAccount",
    "automountServiceAccountToken nodeName hostNetwork hostPID hostIPC shareProcessNamespace hostname subdomain",
    "schedulerName priorityClassName priority runtimeClassName enableServiceLinks nodeSelector hostAliases",
    "initContainers containers volumes securityContext imagePullSecrets affinity tolerations dnsConfig readinessGates",
    // Of containers.
    "image command args workingDir ports envFrom env resources volumeMounts volumeDevices livenessProbe readinessProbe",
    "lifecycle terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty",
    // Of Services.
    "clusterIP externalIPs loadBalancerIP loadBalancerSourceRanges externalName externalTrafficPolicy sessionAffinity",
    // Of what is in containers.
    "protocol port targetPort hostPort containerPort hostIP readOnly mountPath subPath subPathExpr mountPropagation",
    "value valueFrom fieldRef resourceFieldRef configMapKeyRef secretKeyRef prefix configMapRef secretRef",
];
