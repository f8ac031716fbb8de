//! The engine on disk: an append-only log in segments over a base image.
//!
//! ```text
//! base-<revision>   image of everything at that revision (see `image.rs`); none in a young store
//! log-<number>      segments, without a gap, from the base's first segment on
//! spare             a zeroed file, the next segment to be
//! *.tmp             unfinished, removed on open
//! ```
//! A batch is one frame, written and synced before it is acknowledged. A frame starts on a sector of its own, so that
//! no write ever touches a sector that holds acknowledged data. After a failed write or sync the segment is left as it
//! is and the next one says where the good part ends: what failed can never come back behind what succeeded.
//! docs/storage.md has the argument why a crash at any point is safe.

mod check;
mod frame;
mod keeper;
mod recover;
mod scan;
mod segment;

use std::io;
use std::sync::Arc;

pub use self::check::{FileReport, Report, check};

use self::keeper::{Job, Keeper, Sealed};
use self::segment::Segment;
use crate::disk::{Disk, Pace};
use crate::engine::{AppendError, Engine, EngineStats, Image, MakeImage, Record, Recovered};
use crate::format::encode;
use crate::{Corruption, Error, Options, Revision};

const SPARE: &str = "spare";
/// The first segment is made while the store is opened.
const FIRST_SEGMENT: u64 = 2 << 20;

#[derive(Debug)]
pub struct Log {
    disk: Arc<dyn Disk>,
    keeper: Keeper,
    active: Segment,
    /// The active segment may not take another batch: a write or sync in it failed, or its tail is not known to be
    /// on disk.
    broken: bool,
    /// Batches of the active segment that could not be rewritten on open, and must be before the next one.
    unsure: Option<Vec<Vec<u8>>>,
    /// The largest batch that there was no room for, and why.
    refused: Option<(usize, Arc<str>)>,
    last: Revision,
    segment_bytes: u64,
    checkpoint_bytes: u64,
    /// The segment after the active one is being seen to.
    spare_ordered: bool,
    buffer: Vec<u8>,
}

impl Log {
    /// Opens what is there, or starts anew in an empty directory.
    pub fn open(disk: Arc<dyn Disk>, options: &Options) -> Result<(Self, Recovered), Error> {
        let found = recover::recover(&*disk)?;
        let Some(found) = found else {
            let log = Self::start(disk, None, options)?;
            return Ok((log, Recovered::default()));
        };
        let last = found.last;
        let mut active = found.active;
        let mut unsure = None;
        if !found.sealed {
            // The last process did not say that its tail was synced: write it again before anybody reads it. If that
            // cannot be (the disk is full), sync what is there; writes are refused until the tail can be rewritten.
            match segment::rewrite(&*disk, &active, &found.frames) {
                Ok(rewritten) => active = rewritten,
                Err(first) => {
                    active.file.sync().map_err(|_| {
                        Error::io(format!("make the tail of {} durable", active.name()), first)
                    })?;
                    unsure = Some(found.frames);
                }
            }
        }
        // What a finished checkpoint no longer needs, and a spare from before; next time, if not now. The writer makes
        // its own files anew at any time, so they go at once; the others are the keeper's.
        let (own, others): (Vec<_>, Vec<_>) =
            (found.leftovers.into_iter()).partition(|name| segment::is_unfinished(name));
        for name in own {
            let _ = disk.remove(&name);
        }
        let keeper = Keeper::start(disk.clone(), found.base, found.sealed_segments, options);
        keeper.submit(Job::Remove(others));
        let log = Self {
            disk,
            keeper,
            active,
            broken: false,
            unsure,
            refused: None,
            last,
            segment_bytes: options.segment_bytes,
            checkpoint_bytes: options.checkpoint_bytes,
            spare_ordered: false,
            buffer: Vec::new(),
        };
        Ok((log, found.recovered))
    }

    /// Fills an empty directory with an image and an empty log behind it.
    pub(crate) fn create(
        disk: Arc<dyn Disk>,
        image: &Image,
        options: &Options,
    ) -> Result<(), Error> {
        let names = disk
            .names()
            .map_err(|source| Error::io("list the data directory", source))?;
        if let Some(name) = names.iter().find(|name| recover::is_ours(name)) {
            let source = io::Error::new(io::ErrorKind::AlreadyExists, format!("it holds {name}"));
            return Err(Error::io(
                "restore into the data directory, which must be empty",
                source,
            ));
        }
        let mut log = Self::start(disk, Some(image), options)?;
        log.close()
    }

    /// The base first, the segment last: a directory with a segment is complete.
    fn start(disk: Arc<dyn Disk>, image: Option<&Image>, options: &Options) -> Result<Self, Error> {
        let mut base = None;
        if let Some(image) = image {
            base = Some(
                keeper::write_base(&*disk, image, 1, &|| Pace::Hurry)
                    .map_err(|source| Error::io("write the base image", source))?,
            );
        }
        let last = image.map_or(0, |image| image.snapshot.revision());
        let size = options.segment_bytes.min(FIRST_SEGMENT);
        let active = segment::first(&*disk, size, last)
            .map_err(|source| Error::io("create the log", source))?;
        Ok(Self {
            keeper: Keeper::start(disk.clone(), base, Vec::new(), options),
            disk,
            active,
            broken: false,
            unsure: None,
            refused: None,
            last,
            segment_bytes: options.segment_bytes,
            checkpoint_bytes: options.checkpoint_bytes,
            spare_ordered: false,
            buffer: Vec::new(),
        })
    }

    /// Leaves the active segment where its good part ends and goes on in a new one, with room for a batch of this length.
    fn rotate(&mut self, length: usize) -> Result<(), Arc<str>> {
        let size = self.segment_bytes.max(segment::size_for(length));
        let spare = if size == self.segment_bytes {
            self.keeper.take_spare()
        } else {
            None
        };
        let next =
            segment::next(&*self.disk, &self.active, size, self.last, spare).map_err(|error| {
                let reason: Arc<str> = format!("cannot start a new log segment: {error}").into();
                let largest = self.refused.as_ref().map_or(0, |it| it.0);
                self.refused = Some((length.max(largest), reason.clone()));
                reason
            })?;
        self.refused = None;
        let mut old = std::mem::replace(&mut self.active, next);
        if !self.broken {
            // Best effort: tells a reader that the next segment must be there.
            let _ = old.mark_continued();
        }
        self.broken = false;
        self.keeper.sealed(Sealed {
            number: old.number,
            last: self.last,
            bytes: old.size,
        });
        self.spare_ordered = false;
        Ok(())
    }

    /// Rewrites the tail that could not be rewritten on open. Nothing may be appended before.
    fn settle(&mut self) -> Result<(), Arc<str>> {
        let Some(frames) = &self.unsure else {
            return Ok(());
        };
        match segment::rewrite(&*self.disk, &self.active, frames) {
            Ok(rewritten) => self.active = rewritten,
            Err(error) => {
                let reason: Arc<str> =
                    format!("cannot rewrite {}: {error}", self.active.name()).into();
                self.refused = Some((0, reason.clone()));
                return Err(reason);
            }
        }
        self.unsure = None;
        self.refused = None;
        Ok(())
    }

    /// Early enough for the spare to be ready when it is needed, and not before: a store that is hardly written to
    /// does without.
    fn order_spare(&mut self) {
        if !self.spare_ordered && self.active.end >= self.active.size / 4 {
            self.keeper.submit(Job::Spare);
            self.spare_ordered = true;
        }
    }
}

impl Engine for Log {
    fn append(&mut self, batch: &[Record], last: Revision) -> Result<(), AppendError> {
        self.settle()
            .map_err(|reason| AppendError::Refused { reason })?;
        self.buffer.clear();
        self.buffer.resize(frame::HEAD, 0);
        for record in batch {
            encode(record, &mut self.buffer);
        }
        if self.broken || !self.active.fits(self.buffer.len()) {
            self.rotate(self.buffer.len())
                .map_err(|reason| AppendError::Refused { reason })?;
        }
        if let Err(error) = self.active.append(&mut self.buffer) {
            self.broken = true;
            let reason = format!("cannot write to {}: {error}", self.active.name()).into();
            return Err(AppendError::Unknown { reason });
        }
        self.last = last;
        self.order_spare();
        Ok(())
    }

    fn refusing(&self) -> Option<Arc<str>> {
        self.refused.as_ref().map(|it| it.1.clone())
    }

    fn recover(&mut self) {
        if self.settle().is_err() {
            return;
        }
        let length = self.refused.as_ref().map_or(0, |it| it.0);
        if self.broken || !self.active.fits(length) {
            // Why it failed is kept.
            let _ = self.rotate(length);
        }
    }

    fn idle(&mut self) {
        if !self.broken && self.unsure.is_none() && self.active.seal().is_err() {
            self.broken = true;
        }
    }

    fn wants_image(&self, floor: Revision) -> bool {
        self.keeper.wants_image(floor, self.checkpoint_bytes)
    }

    fn start_image(&mut self, make: MakeImage) {
        self.keeper.submit(Job::Image(make));
    }

    fn stats(&self) -> EngineStats {
        let mut stats = self.keeper.stats();
        stats.kind = "embedded";
        stats.log_bytes = stats.log_bytes.map(|bytes| bytes + self.active.size);
        stats.disk_bytes = stats.disk_bytes.map(|bytes| bytes + self.active.size);
        stats
    }

    fn close(&mut self) -> Result<(), Error> {
        self.keeper.stop();
        if self.broken || self.unsure.is_some() {
            return Ok(());
        }
        self.active
            .seal()
            .and_then(|()| self.active.file.sync())
            .map_err(|source| {
                self.broken = true;
                Error::io(format!("seal {}", self.active.name()), source)
            })
    }
}

fn corrupt(file: &str, offset: u64, what: impl Into<String>) -> Error {
    Error::Corrupt(Corruption {
        file: file.into(),
        offset,
        what: what.into(),
    })
}
