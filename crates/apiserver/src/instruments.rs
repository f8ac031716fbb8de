//! Handles of metric series that hot paths hold: counters and histograms, by the labels of upstream.
//!
//! **Belongs here:** what the row of a kind, a connection or a limit counts by itself. Which metrics there are, and
//! when a request is counted, is for `observe` to say.
//! **May use:** no other room.

pub(crate) mod inflight;
pub(crate) mod labels;
pub(crate) mod requests;
pub(crate) mod row;

/// What upstream's requests to its storage, and its own to clients, are sorted by.
pub(crate) const LATENCIES: &[f64] = &[
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0,
    10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
];
