//! What several metrics have in common.

use telemetry::labels;
use telemetry::metrics::Desc;
use telemetry::metrics::Stability::Unmarked;

labels!(
    /// A kind, whatever its version.
    pub(crate) Kind { group, resource }
);

/// An instrument that only we have.
pub(crate) const fn own_metric(name: &'static str, help: &'static str) -> Desc {
    Desc::new(name, Unmarked, help)
}
