//! How the engines that keep a map keep an entry, and the newest revision beside it.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use store::engine::Recovered;
use store::{Entry, Revision};

/// Sorts before every key of the store, which are not empty and begin with a slash.
pub(crate) const REVISION: &[u8] = b"\0revision";
const HEAD: usize = 24;

pub(crate) fn encode(entry: &Entry) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD + entry.value.len());
    for number in [entry.created, entry.modified, entry.lease] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&entry.value);
    out
}

fn decode(key: &[u8], stored: &[u8]) -> Result<Entry> {
    ensure!(stored.len() >= HEAD, "an entry is cut short");
    Ok(Entry {
        key: Bytes::copy_from_slice(key),
        value: Bytes::copy_from_slice(&stored[HEAD..]),
        created: number(&stored[..8])?,
        modified: number(&stored[8..16])?,
        lease: number(&stored[16..HEAD])?,
    })
}

fn number(bytes: &[u8]) -> Result<u64> {
    let bytes = bytes.try_into().context("a number is cut short")?;
    Ok(u64::from_le_bytes(bytes))
}

/// Pairs in key order into what the store starts from.
#[derive(Default)]
pub(crate) struct Loading {
    entries: Vec<Arc<Entry>>,
    revision: Revision,
}

impl Loading {
    pub(crate) fn take(&mut self, key: &[u8], stored: &[u8]) -> Result<()> {
        if key == REVISION {
            self.revision = number(stored)?;
        } else {
            self.entries.push(Arc::new(decode(key, stored)?));
        }
        Ok(())
    }

    pub(crate) fn done(self) -> Recovered {
        Recovered {
            entries: self.entries,
            revision: self.revision,
            ..Recovered::default()
        }
    }
}
