//! What expressions cost: before they run ([`estimate`]) and while they do ([`runtime`]).

pub(crate) mod estimate;
pub(crate) mod runtime;
mod size;

pub use estimate::{CostEstimate, SizeHints};
