//! Text and wire forms that every crate shares, each written once: Go's quoting and numbers, durations, dates and RFC 3339,
//! base64, hexadecimal, percent-encoding, UUIDs, protobuf's wire format, gzip.
//!
//! **Invariant:** plain functions of bytes and numbers; no I/O, no clock, no Kubernetes.

pub mod base64;
pub mod civil;
pub mod duration;
pub mod go;
pub mod gzip;
pub mod hex;
pub mod percent;
pub mod protobuf;
pub mod rfc3339;
pub mod uuid;
