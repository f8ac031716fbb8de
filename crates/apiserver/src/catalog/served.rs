//! The catalog that is served now.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use tokio::sync::watch;

use super::Catalog;

/// A catalog is never changed: a new one takes its place, and subscribers are notified.
#[derive(Debug)]
pub struct ServedCatalog {
    current: ArcSwap<Catalog>,
    changed: watch::Sender<()>,
}

impl ServedCatalog {
    pub(crate) fn new(catalog: Catalog) -> Self {
        Self {
            current: ArcSwap::from_pointee(catalog),
            changed: watch::Sender::new(()),
        }
    }

    pub fn load(&self) -> Guard<Arc<Catalog>> {
        self.current.load()
    }

    pub fn load_full(&self) -> Arc<Catalog> {
        self.current.load_full()
    }

    /// Gives back the one before.
    pub(crate) fn replace(&self, catalog: Arc<Catalog>) -> Arc<Catalog> {
        self.current.swap(catalog)
    }

    /// To be called after [`Self::replace`], when all is done that goes with it.
    pub(crate) fn announce(&self) {
        self.changed.send_replace(());
    }

    /// Tells of each new catalog.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}
