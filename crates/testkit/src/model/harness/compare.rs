//! Whether the store shows what the reference knows.

use std::sync::Arc;

use store::{Entry, Event, Page, Revision, Snapshot};

use super::Harness;
use crate::model::reference::{Change, Item, State, Turn};

impl Harness {
    pub(super) fn same_floor(&self, found: Revision) {
        let want = self.real[self.model.floor];
        assert!(
            found == want || (found < want && !self.compacted),
            "floor {found}, not {want}"
        );
    }

    pub(super) fn same_item(&self, found: Option<&Entry>, want: Option<&Item>) {
        assert_eq!(found.is_some(), want.is_some(), "{found:?}, not {want:?}");
        if let (Some(found), Some(want)) = (found, want) {
            let lease = want.lease.map_or(0, |slot| self.leases[slot]);
            let want = (
                &want.value[..],
                self.real[want.created],
                self.real[want.modified],
                lease,
            );
            assert_eq!(
                (&found.value[..], found.created, found.modified, found.lease),
                want
            );
        }
    }

    pub(super) fn same_items<'a>(
        &self,
        found: impl Iterator<Item = &'a Arc<Entry>>,
        want: &[(&Vec<u8>, &Item)],
    ) {
        let found: Vec<_> = found.collect();
        let keys: Vec<_> = found.iter().map(|entry| &entry.key[..]).collect();
        assert_eq!(
            keys,
            want.iter().map(|(key, _)| &key[..]).collect::<Vec<_>>()
        );
        for (found, (_, want)) in found.iter().zip(want) {
            self.same_item(Some(found), Some(want));
        }
    }

    pub(super) fn same_state(&self, snapshot: &Snapshot, turn: Turn) {
        let want: Vec<_> = self.model.states[turn].iter().collect();
        self.same_items(snapshot.range(b""), &want);
        assert_eq!(snapshot.len(), want.len());
        assert!(snapshot.revision() >= self.real[turn]);
    }

    pub(super) fn same_page(
        &self,
        page: &Page,
        turn: Turn,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) {
        let rest = matching(&self.model.states[turn], prefix)
            .filter(|(key, _)| after.is_none_or(|after| &key[..] > after));
        let mut want: Vec<_> = rest.collect();
        let remaining = want.len().saturating_sub(limit);
        want.truncate(limit);
        self.same_items(page.entries.iter(), &want);
        assert_eq!(page.remaining, remaining);
    }

    pub(super) fn same_changes(&self, found: &[Arc<Event>], want: &[Change]) {
        assert!(found.is_sorted_by_key(|event| event.revision));
        // Within a revision any order will do: a key is in it once.
        let mut found = found.to_vec();
        found.sort_by(|a, b| (a.revision, &a.key).cmp(&(b.revision, &b.key)));
        let name = |event: &Arc<Event>| (event.revision, event.key.to_vec());
        let names: Vec<_> = want
            .iter()
            .map(|it| (self.real[it.turn], it.key.clone()))
            .collect();
        assert_eq!(found.iter().map(name).collect::<Vec<_>>(), names);
        for (found, want) in found.iter().zip(want) {
            self.same_item(found.current.as_deref(), want.current.as_ref());
            self.same_item(found.previous.as_deref(), want.previous.as_ref());
        }
    }
}

pub(super) fn matching<'a>(
    state: &'a State,
    prefix: &'a [u8],
) -> impl Iterator<Item = (&'a Vec<u8>, &'a Item)> {
    state.iter().filter(move |(key, _)| key.starts_with(prefix))
}
