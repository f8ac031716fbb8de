//! What operators see of requests: metrics, traces and the request log, by kube-apiserver's own names.
//!
//! **Belongs here:** names, labels, and when a request is counted. Recording never waits and never fails a request.
//! **May use:** `catalog`, `flow`, `handler`, `instruments`, `request`, `runtime`, `transport`.

pub mod metrics;
pub mod request_log;
pub(crate) mod traced;
