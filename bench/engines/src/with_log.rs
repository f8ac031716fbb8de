//! The store's own log.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use store::disk::{DirDisk, Disk};
use store::engine::{AppendError, Engine, EngineStats, MakeImage, Record, Recovered};
use store::log::{Log, check};
use store::{Error, Options, Revision};

use crate::candidate::Scan;

#[derive(Debug)]
struct Ours {
    log: Log,
    disk: Arc<dyn Disk>,
}

pub(crate) fn open(dir: &Path, options: &Options) -> Result<(impl Scan, Recovered)> {
    let disk: Arc<dyn Disk> = Arc::new(DirDisk::lock(dir)?);
    let (log, recovered) = Log::open(disk.clone(), options)?;
    Ok((Ours { log, disk }, recovered))
}

impl Scan for Ours {
    fn scan(&self) -> Result<u64> {
        let report = check(&*self.disk)?;
        let problem = report.files.into_iter().find_map(|file| file.problem);
        match problem {
            Some(problem) => bail!(problem),
            None => Ok(report.keys),
        }
    }
}

impl Engine for Ours {
    fn append(&mut self, batch: &[Record], last: Revision) -> Result<(), AppendError> {
        self.log.append(batch, last)
    }

    fn idle(&mut self) {
        self.log.idle();
    }

    fn wants_image(&self, floor: Revision) -> bool {
        self.log.wants_image(floor)
    }

    fn start_image(&mut self, make: MakeImage) {
        self.log.start_image(make);
    }

    fn stats(&self) -> EngineStats {
        self.log.stats()
    }

    fn close(&mut self) -> Result<(), Error> {
        self.log.close()
    }
}
