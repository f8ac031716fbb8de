//! The engines compared: each behind the store's own `Engine`, plus what only this bench asks.

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;
use store::engine::{AppendError, Engine, EngineStats, MakeImage, Record, Recovered};
use store::{Error, Options, Revision};

use crate::{with_fjall, with_log, with_redb, with_sqlite};

/// Our log first: the others are held against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Log,
    Fjall,
    Redb,
    Sqlite,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Log, Self::Fjall, Self::Redb, Self::Sqlite];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Log => "our log",
            Self::Fjall => "fjall",
            Self::Redb => "redb",
            Self::Sqlite => "SQLite",
        }
    }

    pub(crate) fn open(self, dir: &Path, options: &Options) -> Result<(Candidate, Recovered)> {
        std::fs::create_dir_all(dir)?;
        Ok(match self {
            Self::Log => boxed(with_log::open(dir, options)?),
            Self::Fjall => boxed(with_fjall::open(dir)?),
            Self::Redb => boxed(with_redb::open(dir)?),
            Self::Sqlite => boxed(with_sqlite::open(dir)?),
        })
    }
}

fn boxed(opened: (impl Scan, Recovered)) -> (Candidate, Recovered) {
    (Candidate(Box::new(opened.0)), opened.1)
}

pub(crate) trait Scan: Engine {
    /// Reads all there is from the disk, now, and counts the keys.
    fn scan(&self) -> Result<u64>;
}

#[derive(Debug)]
pub(crate) struct Candidate(Box<dyn Scan>);

impl Candidate {
    pub(crate) fn scan(&self) -> Result<u64> {
        self.0.scan()
    }
}

impl Engine for Candidate {
    fn append(&mut self, batch: &[Record], last: Revision) -> Result<(), AppendError> {
        self.0.append(batch, last)
    }

    fn idle(&mut self) {
        self.0.idle();
    }

    fn wants_image(&self, floor: Revision) -> bool {
        self.0.wants_image(floor)
    }

    fn start_image(&mut self, make: MakeImage) {
        self.0.start_image(make);
    }

    fn stats(&self) -> EngineStats {
        self.0.stats()
    }

    fn close(&mut self) -> Result<(), Error> {
        self.0.close()
    }
}

/// The foreign engines do not say what became of a failed batch.
pub(crate) fn failed(error: impl std::fmt::Display) -> AppendError {
    AppendError::Unknown {
        reason: error.to_string().into(),
    }
}

pub(crate) fn stats(kind: &'static str) -> EngineStats {
    EngineStats {
        kind,
        ..EngineStats::default()
    }
}
