//! Which limit holds: priority and fairness, or numbers alone.

use std::sync::Arc;

use telemetry::metrics::Registry;

use super::FlowControl;
use super::inflight_limit::InflightLimit;

/// How much is served at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Zero for no limit.
    pub(crate) max_requests_inflight: usize,
    /// Zero for no limit.
    pub(crate) max_mutating_requests_inflight: usize,
    pub(crate) priority_and_fairness: bool,
    /// Of bodies whose requests hold no seat.
    pub(crate) max_slow_body_bytes: usize,
}

/// Decides which requests are served when there are more than fit.
#[derive(Debug)]
pub(crate) enum Limiter {
    /// By priority and fairly.
    Flow(Arc<FlowControl>),
    /// By number alone (`--enable-priority-and-fairness=false`).
    InFlight(InflightLimit),
}

impl Limiter {
    pub(crate) fn new(limits: &Limits, registry: &Registry) -> Self {
        match FlowControl::new(limits, registry) {
            Some(flow) => Self::Flow(flow),
            None => Self::InFlight(InflightLimit::new(limits)),
        }
    }

    pub(crate) fn flow(&self) -> Option<&Arc<FlowControl>> {
        match self {
            Self::Flow(flow) => Some(flow),
            Self::InFlight(_) => None,
        }
    }
}
