//! `SQLite` as a log: one row a change in the order of revisions, so that a write goes to the end of the table. What is
//! superseded goes after a while. WAL mode, synced on every commit; another connection moves the WAL into the database
//! beside the writer. The WAL starts over only when all of it has been moved, which never happens while the writer keeps
//! writing: beyond a limit the writer has to wait for it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use rusqlite::Connection;
use store::engine::{AppendError, Engine, EngineStats, Record, Recovered};
use store::{Entry, Error, Revision};

use crate::candidate::{Scan, failed, stats};

/// Revisions a superseded row is kept for: the past that watches may ask for.
const KEEP: u64 = 20_000;
/// Rows written between two checkpoints.
const CHECKPOINT: usize = 4000;
/// The writer itself empties a WAL larger than this.
const WAL_LIMIT: u64 = 256 << 20;
const SCHEMA: &str = "
    pragma page_size = 8192;
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma wal_autocheckpoint = 0;
    pragma cache_size = -16000;
    create table if not exists log(
        revision integer primary key, key blob not null, value blob, created integer not null
    );";

#[derive(Debug)]
struct Sqlite {
    connection: Connection,
    past: Past,
    rows: usize,
    wal: PathBuf,
    checkpoint: Option<Sender<()>>,
    checkpointer: Option<JoinHandle<()>>,
}

/// Which rows are live, and which are to go.
#[derive(Debug, Default)]
struct Past {
    live: HashMap<Bytes, Revision>,
    /// Since when, and which row.
    dead: VecDeque<(Revision, Revision)>,
}

impl Past {
    fn follow(&mut self, record: &Record) {
        match record {
            Record::Put(entry) => {
                if let Some(old) = self.live.insert(entry.key.clone(), entry.modified) {
                    self.dead.push_back((entry.modified, old));
                }
            }
            Record::Delete { key, revision } => {
                if let Some(old) = self.live.remove(key) {
                    self.dead.push_back((*revision, old));
                }
                self.dead.push_back((*revision, *revision));
            }
            _ => {}
        }
    }
}

pub(crate) fn open(dir: &Path) -> Result<(impl Scan, Recovered)> {
    let path = dir.join("sqlite");
    let connection = Connection::open(&path)?;
    connection.busy_timeout(Duration::from_secs(60))?;
    connection.execute_batch(SCHEMA)?;
    let (past, recovered) = load(&connection)?;
    let (checkpoint, asked) = channel();
    let checkpointer = std::thread::spawn(move || move_wal(&path, &asked));
    let engine = Sqlite {
        connection,
        past,
        rows: 0,
        wal: dir.join("sqlite-wal"),
        checkpoint: Some(checkpoint),
        checkpointer: Some(checkpointer),
    };
    Ok((engine, recovered))
}

/// The state below the kept past as entries, the past as the tail.
fn load(connection: &Connection) -> Result<(Past, Recovered)> {
    let newest: Option<i64> =
        connection.query_row("select max(revision) from log", [], |row| row.get(0))?;
    let floor = newest.unwrap_or(0).unsigned_abs().saturating_sub(KEEP);
    let mut past = Past::default();
    let mut entries = BTreeMap::new();
    let mut tail = Vec::new();
    let mut select =
        connection.prepare("select revision, key, value, created from log order by revision")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let record = record(row)?;
        past.follow(&record);
        match record {
            Record::Put(entry) if entry.modified <= floor => {
                entries.insert(entry.key.clone(), entry);
            }
            Record::Delete { key, revision } if revision <= floor => {
                entries.remove(&key);
            }
            record => tail.push(record),
        }
    }
    let recovered = Recovered {
        entries: entries.into_values().collect(),
        revision: floor,
        tail,
        ..Recovered::default()
    };
    Ok((past, recovered))
}

fn record(row: &rusqlite::Row<'_>) -> Result<Record> {
    let revision = row.get::<_, i64>(0)?.unsigned_abs();
    let key = Bytes::copy_from_slice(row.get_ref(1)?.as_blob()?);
    Ok(match row.get_ref(2)?.as_blob_or_null()? {
        None => Record::Delete { key, revision },
        Some(value) => Record::Put(Arc::new(Entry {
            key,
            value: Bytes::copy_from_slice(value),
            created: row.get::<_, i64>(3)?.unsigned_abs(),
            modified: revision,
            lease: 0,
        })),
    })
}

fn move_wal(path: &PathBuf, asked: &Receiver<()>) {
    let Ok(connection) = Connection::open(path) else {
        return;
    };
    while asked.recv().is_ok() {
        while asked.try_recv().is_ok() {}
        // What cannot be moved now is moved the next time.
        let _ = connection.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(()));
    }
}

impl Sqlite {
    /// Returns how many superseded rows went.
    fn write(&mut self, batch: &[Record], last: Revision) -> Result<usize> {
        let transaction = self.connection.transaction()?;
        let mut gone = 0;
        {
            let mut insert = transaction.prepare_cached("insert into log values (?, ?, ?, ?)")?;
            for record in batch {
                match record {
                    Record::Put(entry) => insert.execute((
                        i64::try_from(entry.modified)?,
                        &entry.key[..],
                        Some(&entry.value[..]),
                        i64::try_from(entry.created)?,
                    ))?,
                    Record::Delete { key, revision } => {
                        let none: Option<&[u8]> = None;
                        insert.execute((i64::try_from(*revision)?, &key[..], none, 0))?
                    }
                    _ => 0,
                };
            }
            let mut delete = transaction.prepare_cached("delete from log where revision = ?")?;
            for (since, row) in &self.past.dead {
                if since + KEEP > last {
                    break;
                }
                delete.execute([i64::try_from(*row)?])?;
                gone += 1;
            }
        }
        transaction.commit()?;
        Ok(gone)
    }
}

impl Scan for Sqlite {
    fn scan(&self) -> Result<u64> {
        Ok(load(&self.connection)?.0.live.len() as u64)
    }
}

impl Engine for Sqlite {
    fn append(&mut self, batch: &[Record], last: Revision) -> Result<(), AppendError> {
        let gone = self.write(batch, last).map_err(failed)?;
        self.past.dead.drain(..gone);
        for record in batch {
            self.past.follow(record);
        }
        self.rows += batch.len();
        if self.rows >= CHECKPOINT {
            self.rows = 0;
            if let Some(checkpoint) = &self.checkpoint {
                // The thread is gone only if it could not open the database; then the WAL grows.
                let _ = checkpoint.send(());
            }
            if self.wal.metadata().is_ok_and(|wal| wal.len() > WAL_LIMIT) {
                let empty = "pragma wal_checkpoint(truncate)";
                let emptied = self.connection.query_row(empty, [], |_| Ok(()));
                emptied.map_err(failed)?;
            }
        }
        Ok(())
    }

    fn stats(&self) -> EngineStats {
        stats("sqlite")
    }

    fn close(&mut self) -> Result<(), Error> {
        self.checkpoint = None;
        if let Some(thread) = self.checkpointer.take() {
            // It has nothing to say.
            let _ = thread.join();
        }
        Ok(())
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        let _ = self.close();
    }
}
