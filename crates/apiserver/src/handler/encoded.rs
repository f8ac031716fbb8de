//! Hot path. A cache of encoded watch events: the first watcher encodes an event, the others take the same bytes.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use store::Event;

use crate::request::negotiate::Format;

/// Events are looked up within a moment of each other: a few are enough.
const SLOTS: usize = 512;

/// Version, format, and what happened, which depends on the watcher's selectors.
type Key<'a> = (&'a str, Format, &'static str);

#[derive(Debug)]
pub(crate) struct Encoded(Vec<Mutex<Option<Slot>>>);

#[derive(Debug)]
struct Slot {
    event: Arc<Event>,
    version: String,
    format: Format,
    kind: &'static str,
    bytes: Bytes,
}

impl Default for Encoded {
    fn default() -> Self {
        Self((0..SLOTS).map(|_| Mutex::default()).collect())
    }
}

impl Encoded {
    pub(crate) fn get<E>(
        &self,
        event: &Arc<Event>,
        key: Key<'_>,
        encode: impl FnOnce() -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        let (version, format, kind) = key;
        let index = usize::try_from(event.revision).unwrap_or(0) % SLOTS;
        let mut slot = self.0[index].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*slot
            && Arc::ptr_eq(&found.event, event)
            && (found.version.as_str(), found.format, found.kind) == (version, format, kind)
        {
            return Ok(found.bytes.clone());
        }
        let bytes = encode()?;
        *slot = Some(Slot {
            event: event.clone(),
            version: version.to_owned(),
            format,
            kind,
            bytes: bytes.clone(),
        });
        Ok(bytes)
    }
}
