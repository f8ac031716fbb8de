//! Rules of custom resource definitions in CEL.

use telemetry::metrics::{Desc, Histogram, Registry, Stability, Unit};

/// Prometheus' own, which upstream uses here.
const BOUNDS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

#[derive(Debug)]
pub(crate) struct Cel {
    /// The rules of each place in the schema of a version, once.
    pub(crate) compilation: Histogram,
    /// The rules of each place in an object, and below it.
    pub(crate) evaluation: Histogram,
}

impl Cel {
    pub(super) fn new(registry: &Registry) -> Self {
        let histogram = |name, help| {
            let desc = Desc::new(name, Stability::Beta, help);
            let family = registry.histogram::<()>(desc, Unit::Seconds, BOUNDS);
            family.with(&())
        };
        Self {
            compilation: histogram(
                "apiserver_cel_compilation_duration_seconds",
                "Seconds that it took to compile the rules in CEL of a place in the schema of a custom resource.",
            ),
            evaluation: histogram(
                "apiserver_cel_evaluation_duration_seconds",
                "Seconds that it took to evaluate the rules in CEL of a place in a custom resource and below it.",
            ),
        }
    }
}
