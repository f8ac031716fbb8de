//! What upstream has behind gates, and whether it is here: there are no gates to turn.

use telemetry::metrics::{Desc, Registry, Stability};

const ALPHA: &str = "ALPHA";
const BETA: &str = "BETA";
const DEPRECATED: &str = "DEPRECATED";

/// Of the generic API server of 1.37, as far as it is known here: the gate, its stage, and whether this server does it.
#[rustfmt::skip]
const FEATURES: &[(&str, &str, bool)] = &[
    ("APIResponseCompression", BETA, true),
    ("APIServerIdentity", BETA, true),
    ("AllowParsingUserUIDFromCertAuth", BETA, true),
    ("AllowUnsafeMalformedObjectDeletion", BETA, false),
    ("CBORServingAndStorage", ALPHA, false),
    ("ConstrainedImpersonation", BETA, true),
    ("CoordinatedLeaderElection", BETA, false),
    ("KMSv1", DEPRECATED, false),
    ("ListFromCacheSnapshot", BETA, true),
    ("ManifestBasedAdmissionControlConfig", BETA, false),
    ("MutatingAdmissionPolicy", "", false),
    ("RemoteRequestHeaderUID", BETA, false),
    ("ShardedListAndWatch", ALPHA, false),
    ("SizeBasedListCostEstimate", BETA, false),
    ("StorageVersionAPI", ALPHA, false),
    ("StorageVersionHash", BETA, true),
    ("UnknownVersionInteroperabilityProxy", BETA, false),
    ("WatchList", BETA, true),
];

pub(super) fn register(registry: &Registry) {
    let desc = Desc::new(
        "kubernetes_feature_enabled",
        Stability::Beta,
        "What Kubernetes has behind feature gates: 1 if this server does it, 0 if not.",
    );
    registry.observe_gauge(desc, &["name", "stage"], || {
        let all = FEATURES.iter().map(|(name, stage, enabled)| {
            let labels = vec![(*name).to_owned(), (*stage).to_owned()];
            (labels, f64::from(u8::from(*enabled)))
        });
        all.collect()
    });
}
