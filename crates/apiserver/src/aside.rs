//! Work that takes long, while others' requests go on.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does it here and now, and lets other threads do what this one would have done next.
pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|it| it.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // There are no others.
        _ => work(),
    }
}
