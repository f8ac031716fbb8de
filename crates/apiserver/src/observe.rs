//! What operators see of requests: metrics, traces and the request log, by kube-apiserver's own names.
//!
//! **Belongs here:** names, labels and series. Recording never waits and never fails a request. **May use:** `flow`,
//! `request`, `catalog`, `transport`, `runtime`.

pub mod metrics;
pub mod request_log;
pub(crate) mod traced;
