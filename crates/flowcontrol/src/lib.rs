//! API Priority and Fairness (KEP-1040), as `k8s.io/apiserver/pkg/util/flowcontrol` has it.
//!
//! **Invariant:** no I/O, no tasks, no clock: the time comes in as a parameter, in nanoseconds since any fixed moment.

mod allocation;
mod bodies;
pub mod bootstrap;
mod borrowing;
mod change_log;
mod classify;
mod config;
mod dropped;
mod dump;
mod exempt;
mod integrator;
mod meter;
mod queue_set;
mod seat_seconds;
mod shuffle;
mod timing;
mod watches;
mod work;

pub use allocation::{AllocationError, Class, allocate};
pub use bodies::{BodyBudget, OverBudget};
pub use borrowing::{Adjusted, Demand, DemandStats, Limits, PERIOD, adjust, limits, max_seats};
pub use change_log::{SHARDS, thread_shard};
pub use classify::{Request, Resource, order, with_mandatory};
pub use config::{BrokenLevel, Distinguisher, FlowSchema, Level, PriorityLevel, Queuing};
pub use dropped::RetryAfter;
pub use dump::Table;
pub use exempt::Exempt;
pub use integrator::{Integrator, Results};
pub use meter::Meter;
pub use queue_set::{
    Counts, DispatchState, Finished, Gauges, QueueDump, QueueSet, Rejection, RequestDump, Started,
    Ticket, Totals,
};
pub use seat_seconds::SeatSeconds;
pub use shuffle::{Dealer, Hand, InvalidDealer, flow_hash};
pub use timing::{RatioHistogram, TimingHistogram};
pub use watches::{Tracked, WatchId, WatchTracker};
pub use work::{Estimator, ListOptions, ObjectStats, WorkEstimate};

/// Nanoseconds since a moment that stays the same for as long as the process runs.
pub type Nanos = u64;
