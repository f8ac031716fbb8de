//! The document in the spool, which is also what is shown and sent: counts of builds, with the version of the program and the
//! hour.

use json::Value;
use telemetry::metrics::delta::{self, Counter};

/// In OpenTelemetry's words.
const OS: &str = match std::env::consts::OS.as_bytes() {
    b"macos" => "darwin",
    _ => std::env::consts::OS,
};
const ARCH: &str = match std::env::consts::ARCH.as_bytes() {
    b"x86_64" => "amd64",
    b"aarch64" => "arm64",
    _ => std::env::consts::ARCH,
};

const HOUR: u64 = 3600;

/// Times are rounded to the hour.
pub(crate) fn document(counters: &[Counter], unix_seconds: u64) -> Value {
    let resource = [
        ("service.name", "pilothouse"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("os.type", OS),
        ("host.arch", ARCH),
    ];
    let hour = unix_seconds / HOUR * HOUR;
    let during = (hour.saturating_sub(HOUR), hour);
    delta::document(&resource, "kustomize", counters, during)
}
