//! Work beside the writer, on a thread of its own: zeroing the next segment, writing base images, dropping segments
//! that a base has made superfluous. Nothing here can make a write fail; an error is kept for the statistics and the
//! work is tried again later.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{SPARE, segment};
use crate::disk::{Disk, DiskFile, Pace, Paced};
use crate::engine::{EngineStats, Image, MakeImage};
use crate::{Options, Revision, image};

/// After a failed checkpoint the next one waits this long.
const RETRY: Duration = Duration::from_secs(5);

pub(super) enum Job {
    /// Files that are not needed any more.
    Remove(Vec<String>),
    Spare,
    Image(MakeImage),
}

/// A segment that takes no more batches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealed {
    pub(super) number: u64,
    /// The newest revision in it or before it.
    pub(super) last: Revision,
    pub(super) bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    pub(super) revision: Revision,
    pub(super) bytes: u64,
}

#[derive(Debug)]
pub(super) struct Keeper {
    shared: Arc<Shared>,
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    disk: Arc<dyn Disk>,
    segment_bytes: u64,
    stop: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    base: Option<Base>,
    /// In ascending order.
    sealed: Vec<Sealed>,
    spare: Option<Arc<dyn DiskFile>>,
    /// A spare is ordered and not made yet. One at a time: a second would be made in the file the writer is just
    /// turning into a segment.
    ordered: bool,
    imaging: bool,
    /// The newest segment when the image was ordered. Its leases are of that moment: later segments are still needed
    /// for theirs, whatever revision the image has when it is made.
    imaged: u64,
    checkpoints: u64,
    error: Option<(Arc<str>, Instant)>,
}

impl Keeper {
    pub(super) fn start(
        disk: Arc<dyn Disk>,
        base: Option<Base>,
        sealed: Vec<Sealed>,
        options: &Options,
    ) -> Self {
        let state = State {
            base,
            sealed,
            spare: None,
            ordered: false,
            imaging: false,
            imaged: 0,
            checkpoints: 0,
            error: None,
        };
        let shared = Arc::new(Shared {
            disk,
            segment_bytes: options.segment_bytes,
            stop: AtomicBool::new(false),
            state: Mutex::new(state),
        });
        let (jobs, inbox) = channel();
        let worker = shared.clone();
        // Without the thread the log still works: segments are not zeroed ahead and checkpoints do not happen.
        let thread = std::thread::Builder::new()
            .name("store-keeper".into())
            .spawn(move || worker.run(&inbox))
            .ok();
        Self {
            shared,
            jobs: Some(jobs),
            thread,
        }
    }

    pub(super) fn submit(&self, job: Job) {
        let mut state = self.shared.state();
        match job {
            Job::Image(_) => {
                state.imaging = true;
                state.imaged = state.sealed.last().map_or(0, |segment| segment.number);
            }
            Job::Spare if state.ordered || state.spare.is_some() => return,
            Job::Spare => state.ordered = true,
            Job::Remove(_) => {}
        }
        drop(state);
        if let Some(jobs) = &self.jobs {
            // The thread is gone only when stopping.
            let _ = jobs.send(job);
        }
    }

    pub(super) fn take_spare(&self) -> Option<Arc<dyn DiskFile>> {
        self.shared.state().spare.take()
    }

    pub(super) fn sealed(&self, segment: Sealed) {
        self.shared.state().sealed.push(segment);
    }

    pub(super) fn wants_image(&self, floor: Revision, at_least: u64) -> bool {
        let state = self.shared.state();
        let freed: u64 = state
            .sealed
            .iter()
            .filter(|segment| segment.last <= floor)
            .map(|segment| segment.bytes)
            .sum();
        let base = state.base.map_or(0, |base| base.bytes);
        let resting = state
            .error
            .as_ref()
            .is_some_and(|(_, at)| at.elapsed() < RETRY);
        !state.imaging && !resting && freed >= at_least.max(base / 2)
    }

    pub(super) fn stats(&self) -> EngineStats {
        let state = self.shared.state();
        let log: u64 = state.sealed.iter().map(|segment| segment.bytes).sum();
        let spare = state
            .spare
            .as_ref()
            .map_or(0, |_| self.shared.segment_bytes);
        EngineStats {
            kind: "",
            disk_bytes: Some(log + spare + state.base.map_or(0, |base| base.bytes)),
            log_bytes: Some(log),
            checkpoints: state.checkpoints,
            checkpoint_error: state.error.as_ref().map(|(error, _)| error.clone()),
        }
    }

    /// Gives up what is under way and ends the thread.
    pub(super) fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed, and no data depends on that thread.
            let _ = thread.join();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn run(&self, inbox: &Receiver<Job>) {
        // On Linux this is the thread's own: when processors are short, requests go first.
        let _ = rustix::process::nice(10);
        while let Ok(job) = inbox.recv() {
            let stopping = || self.stop.load(Ordering::Relaxed);
            if stopping() {
                return;
            }
            match job {
                Job::Remove(names) => {
                    for name in names.iter().take_while(|_| !stopping()) {
                        self.remove(name);
                    }
                }
                Job::Spare => {
                    // No spare is no harm: the writer then makes its segment itself.
                    let made = self.make_spare(&stopping).ok();
                    let mut state = self.state();
                    state.spare = made;
                    state.ordered = false;
                }
                Job::Image(make) => {
                    let result = self.checkpoint(make, &stopping);
                    let mut state = self.state();
                    state.imaging = false;
                    match result {
                        Ok(()) => state.checkpoints += 1,
                        Err(_) if stopping() => {}
                        Err(error) => state.error = Some((error.into(), Instant::now())),
                    }
                }
            }
        }
    }

    fn make_spare(&self, stop: &(dyn Fn() -> bool + Sync + Send)) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.disk.create(SPARE)?;
        file.allocate(self.segment_bytes)?;
        segment::zero(&*file, self.segment_bytes, stop)?;
        Ok(file)
    }

    fn checkpoint(
        &self,
        make: MakeImage,
        stop: &(dyn Fn() -> bool + Sync + Send),
    ) -> Result<(), String> {
        let image = make().map_err(|error| format!("cannot make the image: {error}"))?;
        let revision = image.snapshot.revision();
        let covered: Vec<_> = {
            let state = self.state();
            state
                .sealed
                .iter()
                .take_while(|segment| segment.last <= revision && segment.number <= state.imaged)
                .copied()
                .collect()
        };
        let Some(last) = covered.last() else {
            return Ok(());
        };
        let pace = || {
            if stop() {
                Pace::Stop
            } else if self.falls_behind() {
                Pace::Hurry
            } else {
                Pace::Gentle
            }
        };
        let base = write_base(&*self.disk, &image, last.number + 1, &pace)
            .map_err(|error| format!("cannot write the base image: {error}"))?;
        let mut state = self.state();
        let old = state.base.replace(base);
        state.sealed.retain(|segment| segment.number > last.number);
        state.error = None;
        drop(state);
        if let Some(old) = old.filter(|old| old.revision != base.revision) {
            self.remove(&base_name(old.revision));
        }
        for segment in covered {
            self.remove(&segment::name(segment.number));
        }
        Ok(())
    }

    /// Writers fill the log faster than an unhurried checkpoint frees it.
    fn falls_behind(&self) -> bool {
        let state = self.state();
        let log: u64 = state.sealed.iter().map(|segment| segment.bytes).sum();
        let base = state.base.map_or(0, |base| base.bytes);
        log > 4 * base.max(16 * self.segment_bytes)
    }

    /// What cannot be removed now is a leftover that the next open removes.
    fn remove(&self, name: &str) {
        let _ = self.disk.remove(name);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn base_name(revision: Revision) -> String {
    format!("base-{revision:016x}")
}

/// Writes an image under its name; it is there whole or not at all.
pub(super) fn write_base(
    disk: &dyn Disk,
    image: &Image,
    first_segment: u64,
    pace: &(dyn Fn() -> Pace + Send + Sync),
) -> io::Result<Base> {
    let file = disk.create("base.tmp")?;
    let mut out = Paced::new(file, pace);
    image::write(image, first_segment, &mut out)?;
    let bytes = out.finish()?;
    let revision = image.snapshot.revision();
    disk.rename("base.tmp", &base_name(revision))?;
    disk.sync_names()?;
    Ok(Base { revision, bytes })
}
