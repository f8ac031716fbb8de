//! redb: a map in a copy-on-write B-tree; a batch is one transaction with its default durability (synced).

use std::path::Path;

use anyhow::Result;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use store::engine::{AppendError, Engine, EngineStats, Record, Recovered};
use store::{Error, Revision};

use crate::candidate::{Scan, failed, stats};
use crate::state::{Loading, REVISION, encode};

const MAP: TableDefinition<&[u8], &[u8]> = TableDefinition::new("entries");
/// The state is in memory already: a second copy of it is not wanted.
const CACHE: usize = 64 << 20;

#[derive(Debug)]
struct Redb(Database);

pub(crate) fn open(dir: &Path) -> Result<(impl Scan, Recovered)> {
    let database = Database::builder()
        .set_cache_size(CACHE)
        .create(dir.join("redb"))?;
    let write = database.begin_write()?;
    write.open_table(MAP)?;
    write.commit()?;
    let mut loading = Loading::default();
    for item in database.begin_read()?.open_table(MAP)?.iter()? {
        let (key, value) = item?;
        loading.take(key.value(), value.value())?;
    }
    Ok((Redb(database), loading.done()))
}

impl Scan for Redb {
    fn scan(&self) -> Result<u64> {
        let mut keys = 0;
        for item in self.0.begin_read()?.open_table(MAP)?.iter()? {
            keys += u64::from(item?.0.value() != REVISION);
        }
        Ok(keys)
    }
}

impl Redb {
    fn write(&self, batch: &[Record], last: Revision) -> Result<(), redb::Error> {
        let write = self.0.begin_write()?;
        {
            let mut map = write.open_table(MAP)?;
            for record in batch {
                match record {
                    Record::Put(entry) => {
                        map.insert(&entry.key[..], &encode(entry)[..])?;
                    }
                    Record::Delete { key, .. } => {
                        map.remove(&key[..])?;
                    }
                    _ => {}
                }
            }
            map.insert(REVISION, &last.to_le_bytes()[..])?;
        }
        Ok(write.commit()?)
    }
}

impl Engine for Redb {
    fn append(&mut self, batch: &[Record], last: Revision) -> Result<(), AppendError> {
        self.write(batch, last).map_err(failed)
    }

    fn stats(&self) -> EngineStats {
        stats("redb")
    }

    fn close(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
