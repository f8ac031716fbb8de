//! fjall: a map in a log-structured tree; a batch is one atomic write, its journal synced.

use std::fmt;
use std::path::Path;

use anyhow::Result;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use store::engine::{AppendError, Engine, EngineStats, Record, Recovered};
use store::{Error, Revision};

use crate::candidate::{Scan, failed, stats};
use crate::state::{Loading, REVISION, encode};

struct Fjall {
    database: Database,
    map: Keyspace,
}

impl fmt::Debug for Fjall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fjall")
    }
}

pub(crate) fn open(dir: &Path) -> Result<(impl Scan, Recovered)> {
    let database = Database::builder(dir).open()?;
    let map = database.keyspace("entries", KeyspaceCreateOptions::default)?;
    let mut loading = Loading::default();
    for item in map.iter() {
        let (key, value) = item.into_inner()?;
        loading.take(&key, &value)?;
    }
    Ok((Fjall { database, map }, loading.done()))
}

impl Scan for Fjall {
    fn scan(&self) -> Result<u64> {
        let mut keys = 0;
        for item in self.map.iter() {
            let (key, _) = item.into_inner()?;
            keys += u64::from(&key[..] != REVISION);
        }
        Ok(keys)
    }
}

impl Engine for Fjall {
    fn append(&mut self, batch: &[Record], last: Revision) -> Result<(), AppendError> {
        let mut write = self.database.batch();
        for record in batch {
            match record {
                Record::Put(entry) => write.insert(&self.map, &entry.key[..], encode(entry)),
                Record::Delete { key, .. } => write.remove(&self.map, &key[..]),
                _ => {}
            }
        }
        write.insert(&self.map, REVISION, &last.to_le_bytes()[..]);
        let write = write.durability(Some(PersistMode::SyncData));
        write.commit().map_err(failed)
    }

    fn stats(&self) -> EngineStats {
        stats("fjall")
    }

    fn close(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
