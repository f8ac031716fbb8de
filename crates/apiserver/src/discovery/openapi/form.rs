//! One form of a document: always kept compressed, and uncompressed while clients ask for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use encoding::gzip::Packed;
use tokio::time::Instant;

/// How long the uncompressed bytes are kept after their last use.
const KEPT: Duration = Duration::from_secs(60);
/// More than this is unpacked on a thread of its own.
const LARGE: usize = 256 << 10;

#[derive(Debug)]
pub(super) struct Form {
    pub(super) packed: Packed,
    unpacked: Mutex<Option<(Bytes, Instant)>>,
    /// Held while it is unpacked: others wait for the same bytes.
    unpacking: tokio::sync::Mutex<()>,
}

impl Form {
    pub(super) fn new(packed: Packed) -> Arc<Self> {
        Arc::new(Self {
            packed,
            unpacked: Mutex::default(),
            unpacking: tokio::sync::Mutex::default(),
        })
    }

    /// As it is for clients that take nothing compressed.
    pub(super) async fn plain(self: &Arc<Self>) -> Bytes {
        if let Some(known) = self.known() {
            return known;
        }
        let _turn = self.unpacking.lock().await;
        if let Some(known) = self.known() {
            return known;
        }
        let bytes = if self.packed.size < LARGE {
            self.packed.unpack()
        } else {
            let packed = self.packed.clone();
            let unpacked = tokio::task::spawn_blocking(move || packed.unpack()).await;
            unpacked.unwrap_or_else(|_| self.packed.unpack())
        };
        *self.slot() = Some((bytes.clone(), Instant::now()));
        tokio::spawn(forget(Arc::downgrade(self)));
        bytes
    }

    fn known(&self) -> Option<Bytes> {
        let mut slot = self.slot();
        let (bytes, used) = slot.as_mut()?;
        *used = Instant::now();
        Some(bytes.clone())
    }

    fn slot(&self) -> MutexGuard<'_, Option<(Bytes, Instant)>> {
        self.unpacked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn is_unpacked(&self) -> bool {
        self.slot().is_some()
    }
}

/// Drops the uncompressed bytes when they were not used for a while.
async fn forget(form: std::sync::Weak<Form>) {
    let mut end = Instant::now() + KEPT;
    loop {
        tokio::time::sleep_until(end).await;
        let Some(form) = form.upgrade() else {
            return;
        };
        let mut slot = form.slot();
        match &*slot {
            Some((_, used)) if *used + KEPT > Instant::now() => end = *used + KEPT,
            _ => {
                *slot = None;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn unpacked_bytes_go_when_nobody_asks() {
        let form = Form::new(Packed::new(b"document"));
        assert_eq!(form.plain().await, "document");
        tokio::time::sleep(KEPT / 2).await;
        assert_eq!(form.plain().await, "document");
        tokio::time::sleep(KEPT * 3 / 4).await;
        assert!(form.is_unpacked(), "it was used since");
        tokio::time::sleep(KEPT).await;
        assert!(!form.is_unpacked());
        assert_eq!(form.plain().await, "document");
    }
}
