//! Compaction: history is kept for an interval, as kube-apiserver has etcd keep it.

use std::sync::Arc;
use std::time::Duration;

use crate::state::Api;

/// As upstream.
pub const INTERVAL: Duration = Duration::from_secs(5 * 60);

/// At the end of each interval, compacts the history before its beginning. Ends when the server is told to stop.
pub async fn run(api: Arc<Api>, interval: Duration) {
    let mut before = api.store.latest().revision();
    loop {
        tokio::select! {
            () = tokio::time::sleep(interval) => {}
            () = api.stopping() => return,
        }
        // What cannot be forgotten now, the next time forgets.
        let _ = api.store.compact(before).await;
        before = api.store.latest().revision();
    }
}
