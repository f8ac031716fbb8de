//! Long work on a thread of the runtime, while other requests go on.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does it on this thread, and lets another thread take over what this worker would have done next.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|it| it.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // There is no other worker.
        _ => work(),
    }
}
