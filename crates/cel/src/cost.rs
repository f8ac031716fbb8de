//! What expressions cost: before they run ([`estimate`]) and while they do ([`runtime`]).

pub(crate) mod estimate;
pub(crate) mod runtime;
mod size;

pub use estimate::{CostEstimate, SizeHints};

/// Functions of Kubernetes' libraries that cost 1, whatever their arguments. The estimate and the run-time cost must agree on
/// them, as in `k8s.io/apiserver/pkg/cel/library/cost.go`.
fn is_unit_cost(function: &str) -> bool {
    matches!(
        function,
        "serviceAccount"
            | "path"
            | "group"
            | "resource"
            | "subresource"
            | "namespace"
            | "name"
            | "allowed"
            | "reason"
            | "error"
            | "errored"
            | "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast"
            | "format.named"
            | "sign"
            | "asInteger"
            | "isInteger"
            | "asApproximateFloat"
            | "isGreaterThan"
            | "isLessThan"
            | "compareTo"
            | "add"
            | "sub"
            | "major"
            | "minor"
            | "patch"
            | "getScheme"
            | "getHostname"
            | "getHost"
            | "getPort"
            | "getEscapedPath"
            | "getQuery"
    )
}
