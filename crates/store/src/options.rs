use std::time::Duration;

/// Bounds of a store. The defaults suit a control plane; tests make them small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Keys and values of one request, as etcd's `--max-request-bytes`.
    pub max_request_bytes: usize,
    /// The past kept for watches and reads at a revision.
    pub history_bytes: usize,
    /// How far a watcher may fall behind before it is dropped.
    pub watch_buffer_bytes: usize,
    /// Size of one log file.
    pub segment_bytes: u64,
    /// A checkpoint waits until it frees at least this much log.
    pub checkpoint_bytes: u64,
    /// While writes are refused: how often the store tries by itself whether the disk takes them again.
    pub retry_interval: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_request_bytes: 3 << 19,
            history_bytes: 64 << 20,
            watch_buffer_bytes: 16 << 20,
            segment_bytes: 16 << 20,
            checkpoint_bytes: 32 << 20,
            retry_interval: Duration::from_secs(5),
        }
    }
}
