//! One message of the watch, into the view.

use store::{Draft, Entry, View};

use crate::keys::{Keys, revision};
use crate::members::at;
use crate::wire::{Event, EventType, KeyValue, WatchResponse};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Applied {
    Advanced,
    Nothing,
    /// The watch has begun.
    Created {
        cluster: u64,
    },
    /// etcd ended the watch; it can be had again.
    Canceled(String),
    /// Something is missing between the view and this message.
    Gap,
}

pub(super) fn apply(view: &View, keys: &Keys, message: WatchResponse) -> Applied {
    if message.compact_revision != 0 {
        return Applied::Gap;
    }
    if message.canceled {
        return Applied::Canceled(message.cancel_reason);
    }
    // The header of this one is the member's own revision, no promise about events.
    if message.created {
        let cluster = message.header.map_or(0, |header| header.cluster_id);
        return Applied::Created { cluster };
    }
    let mut draft = view.draft();
    let seen = draft.revision();
    if message.events.is_empty() {
        draft.advance(at(message.header.as_ref()));
    } else {
        for event in message.events {
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
fn step(draft: &mut Draft, keys: &Keys, event: Event, seen: u64) -> Option<()> {
    let is_delete = event.r#type() == EventType::Delete;
    let previous = event.prev_kv;
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
fn follows(known: &Entry, previous: Option<&KeyValue>) -> Option<()> {
    let same = |previous: &KeyValue| revision(previous.mod_revision) == known.modified;
    previous.is_none_or(same).then_some(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use store::Options;

    use super::*;
    use crate::wire::ResponseHeader;

    fn view() -> View {
        let entry = |key: &'static str, modified| {
            Arc::new(Entry {
                key: key.into(),
                value: "old".into(),
                created: 2,
                modified,
                lease: 0,
            })
        };
        View::new(
            vec![entry("/a", 5), entry("/b", 2)],
            10,
            &Options::default(),
        )
    }

    fn kv(key: &str, created: i64, modified: i64) -> KeyValue {
        KeyValue {
            key: key.into(),
            create_revision: created,
            mod_revision: modified,
            ..KeyValue::default()
        }
    }

    fn put(key: &str, created: i64, modified: i64, previous: Option<i64>) -> Event {
        Event {
            r#type: EventType::Put.into(),
            kv: Some(kv(key, created, modified)),
            prev_kv: previous.map(|modified| kv(key, created, modified)),
        }
    }

    fn delete(key: &str, modified: i64) -> Event {
        Event {
            r#type: EventType::Delete.into(),
            kv: Some(kv(key, 0, modified)),
            prev_kv: None,
        }
    }

    /// What becomes of a view at revision 10 with `/a` of 5 and `/b` of 2, and where it is then.
    fn told(revision: i64, events: Vec<Event>) -> (Applied, u64) {
        let header = ResponseHeader {
            revision,
            ..ResponseHeader::default()
        };
        let message = WatchResponse {
            header: Some(header),
            events,
            ..WatchResponse::default()
        };
        let view = view();
        let applied = apply(&view, &Keys::new("/p"), message);
        (applied, view.revision())
    }

    #[test]
    fn only_events_and_progress_advance() {
        let update = put("/p/a", 2, 11, Some(5));
        assert_eq!(told(99, vec![update]), (Applied::Advanced, 11));
        let create = put("/p/c", 12, 12, None);
        assert_eq!(
            told(99, vec![create, delete("/p/b", 13)]),
            (Applied::Advanced, 13)
        );
        let foreign = put("/foreign", 3, 14, None);
        assert_eq!(told(99, vec![foreign]), (Applied::Advanced, 14));
        assert_eq!(told(15, Vec::new()), (Applied::Advanced, 15));
        assert_eq!(told(9, Vec::new()), (Applied::Nothing, 10), "never back");
    }

    #[test]
    fn what_is_known_is_not_told_again() {
        let known = put("/p/a", 2, 10, Some(4));
        assert_eq!(told(99, vec![known.clone()]), (Applied::Nothing, 10));
        let next = put("/p/a", 2, 11, Some(5));
        assert_eq!(told(99, vec![known, next]), (Applied::Advanced, 11));
    }

    #[test]
    fn an_event_that_does_not_fit_is_a_gap_and_nothing_is_shown() {
        let fits = put("/p/a", 2, 11, Some(5));
        for (what, event) in [
            ("an update was left out", put("/p/a", 2, 12, Some(8))),
            ("a delete was left out", put("/p/b", 12, 12, None)),
            ("another life of the key", put("/p/b", 7, 12, None)),
            ("the create was left out", put("/p/c", 9, 12, None)),
            ("deleted what is not there", delete("/p/c", 12)),
        ] {
            let gap = (Applied::Gap, 10);
            assert_eq!(told(99, vec![fits.clone(), event]), gap, "{what}");
        }
        let backwards = vec![delete("/p/b", 13), put("/p/a", 2, 12, Some(5))];
        assert_eq!(told(99, backwards), (Applied::Gap, 10));
    }
}
