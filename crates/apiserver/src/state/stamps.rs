//! Whether objects of a resource came, went or changed since it was last asked: in constant time, whatever their number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use store::{Revision, Store, Watch};

/// A number for each prefix of keys that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Stamps(RwLock<HashMap<String, Arc<Mutex<Stamp>>>>);

#[derive(Debug)]
struct Stamp {
    watch: Option<Watch>,
    number: u64,
    is_empty: bool,
    /// The last change that the number does not include yet.
    pending: Option<Revision>,
}

impl Stamps {
    /// Another number after each change below the prefix; zero if there is nothing.
    pub(crate) fn get(&self, store: &Store, prefix: &str) -> u64 {
        let known = {
            let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
            all.get(prefix).cloned()
        };
        let stamp = known.unwrap_or_else(|| {
            let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
            let stamp = all.entry(prefix.to_owned()).or_insert_with(|| {
                Arc::new(Mutex::new(Stamp {
                    watch: None,
                    number: 0,
                    is_empty: true,
                    pending: None,
                }))
            });
            stamp.clone()
        });
        let mut stamp = stamp.lock().unwrap_or_else(PoisonError::into_inner);
        stamp.get(store, prefix.as_bytes())
    }
}

impl Stamp {
    fn get(&mut self, store: &Store, prefix: &[u8]) -> u64 {
        // Before the changes are looked at: a change is told to watches before it can be read, and the number must not
        // change before that.
        let latest = store.latest();
        while let Some(next) = self.watch.as_mut().and_then(Watch::try_next) {
            match next {
                Ok(changes) => {
                    let last = changes.last().map(|it| it.revision);
                    self.pending = self.pending.max(last);
                }
                Err(_) => self.watch = None,
            }
        }
        if self.watch.is_none() {
            // It has just begun, or changes were missed.
            self.watch = store.watch_local(prefix, latest.revision()).ok();
            self.pending = self.pending.max(Some(latest.revision()));
        }
        if self.pending.is_some_and(|it| it <= latest.revision()) {
            self.pending = None;
            self.number += 1;
            self.is_empty = latest.range(prefix).next().is_none();
        }
        if self.is_empty { 0 } else { self.number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_change_below_the_prefix_has_a_number_of_its_own() {
        let store = store::embedded::in_memory(&store::Options::default());
        let stamps = Stamps::default();
        let stamp = || stamps.get(&store, "/a/");
        assert_eq!(stamp(), 0);
        let made = store.create("/a/1", "x").await.unwrap();
        let first = stamp();
        assert!(first > 0 && stamp() == first);
        store.create("/b/1", "x").await.unwrap();
        assert_eq!(stamp(), first);
        store.update("/a/1", "y", made).await.unwrap();
        let second = stamp();
        assert!(second > first);
        store.create("/a/2", "x").await.unwrap();
        assert!(stamp() > second);
        for name in ["1", "2"] {
            let txn = store::Txn::new().delete(format!("/a/{name}"));
            store.txn(txn).await.unwrap();
        }
        assert_eq!(stamp(), 0);
    }

    #[tokio::test]
    async fn changes_that_were_missed_count() {
        let options = store::Options::default();
        let store = store::embedded::in_memory(&options);
        let stamps = Stamps::default();
        let mut revision = store.create("/a/1", "x").await.unwrap();
        let before = stamps.get(&store, "/a/");
        // More than a watch may be behind.
        let value = vec![b'x'; 1 << 20];
        let mut written = 0;
        while written <= 2 * options.watch_buffer_bytes {
            revision = store.update("/a/1", value.clone(), revision).await.unwrap();
            written += value.len();
        }
        let after = stamps.get(&store, "/a/");
        assert!(after > before && stamps.get(&store, "/a/") == after);
        store.update("/a/1", "z", revision).await.unwrap();
        assert!(stamps.get(&store, "/a/") > after);
    }
}
