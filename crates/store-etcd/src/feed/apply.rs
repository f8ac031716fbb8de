//! One message of the watch, into the view.

use etcd_client::WatchResponse;
use etcd_client::proto::{PbEvent, PbKeyValue};
use store::{Draft, Entry, View};

use crate::keys::{Keys, revision};
use crate::members::at;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Applied {
    Advanced,
    Nothing,
    /// etcd ended the watch; it can be had again.
    Canceled,
    /// Something is missing between the view and this message.
    Gap,
}

pub(super) fn apply(view: &View, keys: &Keys, message: WatchResponse) -> Applied {
    if message.compact_revision() != 0 {
        return Applied::Gap;
    }
    if message.canceled() {
        return Applied::Canceled;
    }
    // The header of this one is the member's own revision, no promise about events.
    if message.created() {
        return Applied::Nothing;
    }
    let mut draft = view.draft();
    let seen = draft.revision();
    if message.events().is_empty() {
        draft.advance(at(message.header()));
    } else {
        for event in message.0.events {
            if step(&mut draft, keys, event, seen).is_none() {
                return Applied::Gap;
            }
        }
    }
    if draft.revision() == seen {
        return Applied::Nothing;
    }
    view.publish(draft);
    Applied::Advanced
}

/// `None`: the event does not follow from what is in the draft.
fn step(draft: &mut Draft, keys: &Keys, event: PbEvent, seen: u64) -> Option<()> {
    // etcd's event types: 0 is a put, 1 a delete.
    let (is_delete, previous) = (event.r#type == 1, event.prev_kv);
    let kv = event.kv?;
    let now = revision(kv.mod_revision);
    // A member that is behind us may tell once more what we know (etcd issue 19220 and its like).
    if now <= seen {
        return Some(());
    }
    if now < draft.revision() {
        return None;
    }
    if is_delete {
        match keys.inner(kv.key) {
            Some(key) => {
                follows(draft.get(&key)?, previous.as_ref())?;
                draft.delete(&key, now)?;
            }
            None => draft.advance(now),
        }
        return Some(());
    }
    match keys.entry(kv) {
        Some(entry) => {
            match draft.get(&entry.key) {
                Some(known) if known.created == entry.created => {
                    follows(known, previous.as_ref())?;
                }
                None if entry.created == entry.modified => {}
                _ => return None,
            }
            draft.put(entry);
        }
        None => draft.advance(now),
    }
    Some(())
}

/// etcd leaves the previous value out when it is compacted.
fn follows(known: &Entry, previous: Option<&PbKeyValue>) -> Option<()> {
    let same = |previous: &PbKeyValue| revision(previous.mod_revision) == known.modified;
    previous.is_none_or(same).then_some(())
}
