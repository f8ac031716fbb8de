//! The store in this process: one writer thread over an [`Engine`].
//!
//! The writer takes all requests that wait, drafts the state they lead to, appends one batch, syncs once, publishes,
//! and only then answers. While it syncs, the next batch gathers by itself: the batch grows with load and a lone write
//! waits for no timer. If the append fails the draft is dropped, and readers never saw it.

mod draft;
mod lease;
mod queue;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use self::draft::{Batch, Done};
use self::lease::Leases;
use self::queue::{Queue, Request};
use crate::disk::{DirDisk, Disk};
use crate::engine::{AppendError, Engine, Image, Memory, Record, Recovered};
use crate::log::Log;
use crate::{
    Backend, BackendStats, BoxFuture, Committed, Corruption, Error, LeaseId, Options, Revision,
    Store, Txn, View,
};

/// Opens the data directory, or makes it.
pub fn open(directory: &Path, options: &Options) -> Result<Store, Error> {
    on_disk(Arc::new(DirDisk::lock(directory)?), options)
}

/// Opens a store on any disk.
pub fn on_disk(disk: Arc<dyn Disk>, options: &Options) -> Result<Store, Error> {
    let (engine, recovered) = Log::open(disk, options)?;
    with_engine(engine, recovered, options)
}

/// A store that is gone when the last handle is.
pub fn in_memory(options: &Options) -> Store {
    with_engine(Memory, Recovered::default(), options)
        .expect("an empty memory engine holds nothing to reject")
}

/// A store over any engine, with what the engine gave back on open.
pub fn with_engine(
    engine: impl Engine,
    recovered: Recovered,
    options: &Options,
) -> Result<Store, Error> {
    let mut leases = Leases::new(recovered.leases, recovered.next_lease, &recovered.entries);
    let view = Arc::new(View::new(recovered.entries, recovered.revision, options));
    replay(&view, &mut leases, recovered.tail)?;
    let queue = Arc::new(Queue::new());
    let stats = Arc::new(Mutex::new(BackendStats::default()));
    let writer = Writer {
        engine,
        view: view.clone(),
        queue: queue.clone(),
        leases,
        stats: stats.clone(),
        retry_interval: options.retry_interval,
        // At once: whether a full disk takes writes is known before the first one comes.
        retry_at: Some(Instant::now()),
    };
    writer.report(None);
    let thread = std::thread::Builder::new()
        .name("store-writer".into())
        .spawn(move || writer.run())
        .map_err(|source| Error::io("start the writer thread", source))?;
    let backend = Embedded {
        view: view.clone(),
        queue,
        stats,
        thread: Mutex::new(Some(thread)),
    };
    Ok(Store::new(view, Arc::new(backend), options))
}

/// Goes through the tail of the log as the writer once did.
fn replay(view: &View, leases: &mut Leases, tail: Vec<Record>) -> Result<(), Error> {
    let mut draft = view.draft();
    for record in tail {
        match record {
            Record::Put(entry) => {
                in_order(&draft, entry.modified)?;
                draft.put(entry);
            }
            Record::Delete { key, revision } => {
                in_order(&draft, revision)?;
                draft.delete(&key, revision);
            }
            Record::Grant { lease, ttl } => leases.grant(lease, ttl),
            Record::Revoke { lease } => leases.revoke(lease),
            Record::Compact { revision } => {
                leases.follow(draft.events());
                view.publish(draft);
                view.compact(revision);
                draft = view.draft();
            }
        }
        if draft.events().len() >= 4096 {
            leases.follow(draft.events());
            view.publish(draft);
            draft = view.draft();
        }
    }
    leases.follow(draft.events());
    view.publish(draft);
    Ok(())
}

fn in_order(draft: &crate::Draft, revision: Revision) -> Result<(), Error> {
    if revision >= draft.revision() {
        return Ok(());
    }
    let what = format!("revision {revision} follows revision {}", draft.revision());
    Err(Error::Corrupt(Corruption {
        file: "log".into(),
        offset: 0,
        what,
    }))
}

#[derive(Debug)]
struct Embedded {
    view: Arc<View>,
    queue: Arc<Queue>,
    stats: Arc<Mutex<BackendStats>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Embedded {
    async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Request,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.queue.push(request(reply)).await?;
        // Requests that were not taken get an error. A writer that took one and ends without an answer has panicked.
        answer.await.unwrap_or_else(|_| {
            let reason = "the store's writer has failed".into();
            Err(Error::Unknown { reason })
        })
    }
}

impl Backend for Embedded {
    fn commit(&self, txn: Txn) -> BoxFuture<'_, Result<Committed, Error>> {
        Box::pin(async {
            // Here, where there are many of us, what the one writer need not do.
            let latest = self.view.latest();
            for condition in &txn.conditions {
                let current = latest.get(condition.key());
                if !condition.holds(current.map(|entry| &**entry)) {
                    let (key, current) = (condition.key().clone(), current.cloned());
                    return Err(Error::Conflict { key, current });
                }
            }
            for write in &txn.writes {
                latest.warm(write.key());
            }
            drop(latest);
            self.ask(|reply| Request::Commit { txn, reply }).await
        })
    }

    fn barrier(&self) -> Option<BoxFuture<'_, Result<Revision, Error>>> {
        None
    }

    fn grant(&self, ttl: Duration) -> BoxFuture<'_, Result<LeaseId, Error>> {
        Box::pin(self.ask(move |reply| Request::Grant { ttl, reply }))
    }

    fn keep_alive(&self, lease: LeaseId) -> BoxFuture<'_, Result<Duration, Error>> {
        Box::pin(self.ask(move |reply| Request::KeepAlive { lease, reply }))
    }

    fn revoke(&self, lease: LeaseId) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.ask(move |reply| Request::Revoke { lease, reply }))
    }

    fn compact(&self, revision: Revision) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.ask(move |reply| Request::Compact { revision, reply }))
    }

    fn leases(&self) -> BoxFuture<'_, Result<Vec<(LeaseId, Duration)>, Error>> {
        Box::pin(self.ask(|reply| Request::Leases { reply }))
    }

    fn stats(&self) -> BackendStats {
        self.stats
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn close(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async {
            match self.ask(|reply| Request::Close { reply }).await {
                // Closed before: nothing is left to do.
                Err(Error::Closed) => Ok(()),
                answered => answered,
            }
        })
    }
}

impl Drop for Embedded {
    /// The last handle is gone: the writer ends, and with it the lock on the data directory.
    fn drop(&mut self) {
        self.queue.close();
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // The panic of a writer was printed on stderr.
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
struct Writer<E> {
    engine: E,
    view: Arc<View>,
    queue: Arc<Queue>,
    leases: Leases,
    stats: Arc<Mutex<BackendStats>>,
    retry_interval: Duration,
    /// At the start and while writes are refused: when to try without one.
    retry_at: Option<Instant>,
}

impl<E> Drop for Writer<E> {
    /// When the writer ends, also by a panic, waiting and later requests get the error that the store is closed.
    fn drop(&mut self) {
        self.queue.abandon();
    }
}

impl<E: Engine> Writer<E> {
    fn run(mut self) {
        while let Some(requests) = self.queue.take(self.deadline()) {
            self.recover();
            let mut closing = Vec::new();
            let mut batch = Batch::new(&self.view, &self.leases);
            for lease in self.leases.expired(Instant::now()) {
                batch.revoke(lease);
            }
            for request in requests {
                match request {
                    Request::Commit { txn, reply } => batch.commit(txn, reply),
                    Request::Grant { ttl, reply } => batch.grant(ttl, reply),
                    Request::KeepAlive { lease, reply } => batch.keep_alive(lease, reply),
                    Request::Revoke { lease, reply } => batch.revoke_asked(lease, reply),
                    Request::Compact { revision, reply } => batch.compact(revision, reply),
                    Request::Leases { reply } => batch.leases(reply),
                    Request::Close { reply } => closing.push(reply),
                }
            }
            let done = batch.done();
            self.finish(done);
            if self.queue.is_empty() {
                self.engine.idle();
            }
            if !closing.is_empty() {
                let closed = self.engine.close();
                // Dropping the engine releases the lock on the data directory: after the answer the caller can open it again.
                drop(self);
                for reply in closing {
                    // The caller may have gone away; the store is closed all the same.
                    let _ = reply.send(closed.clone());
                }
                return;
            }
            self.checkpoint();
        }
        // The queue was closed by the last handle: nobody can be told of a failed last seal, and no data depends on it.
        let _ = self.engine.close();
    }

    fn deadline(&self) -> Option<Instant> {
        let deadlines = [self.leases.next_deadline(), self.retry_at];
        deadlines.into_iter().flatten().min()
    }

    /// A store without writes must notice, too, that writes work again: readiness depends on it.
    fn recover(&mut self) {
        let now = Instant::now();
        if self.retry_at.is_some_and(|at| at <= now) {
            self.engine.recover();
            self.took();
        }
    }

    /// Durable, then visible, then answered.
    fn finish(&mut self, batch: Done) {
        if !batch.records.is_empty()
            && let Err(failure) = self.engine.append(&batch.records, batch.draft.revision())
        {
            let (error, reason) = match failure {
                AppendError::Refused { reason } => (
                    Error::ReadOnly {
                        reason: reason.clone(),
                    },
                    reason,
                ),
                AppendError::Unknown { reason } => (
                    Error::Unknown {
                        reason: reason.clone(),
                    },
                    reason,
                ),
            };
            self.report(Some(reason));
            self.retry_at = Some(Instant::now() + self.retry_interval);
            self.leases.retry_expired();
            batch
                .answers
                .into_iter()
                .for_each(|answer| answer.fail(&error));
            return;
        }
        self.leases.apply(&batch.leases, batch.draft.events());
        self.view.publish(batch.draft);
        if let Some(revision) = batch.compact {
            self.view.compact(revision);
        }
        if !batch.records.is_empty() {
            let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
            stats.batches += 1;
            stats.transactions += batch.answers.len() as u64;
            drop(stats);
            self.took();
        }
        let together = batch.answers.len();
        for mut answer in batch.answers {
            if let draft::Answer::Commit(_, Ok(committed)) = &mut answer {
                committed.batch = together;
            }
            answer.send();
        }
    }

    /// Something was written, or could have been: writes are refused only for what did not fit before.
    fn took(&mut self) {
        let refusing = self.engine.refusing();
        let retry = || Instant::now() + self.retry_interval;
        self.retry_at = refusing.is_some().then(retry);
        self.report(refusing);
    }

    fn report(&self, refusing: Option<Arc<str>>) {
        let engine = self.engine.stats();
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        stats.kind = engine.kind;
        stats.disk_bytes = engine.disk_bytes;
        stats.log_bytes = engine.log_bytes;
        stats.checkpoints = engine.checkpoints;
        stats.checkpoint_error = engine.checkpoint_error;
        stats.leases = self.leases.len() as u64;
        stats.refusing = refusing;
    }

    /// An image at the floor of history: below it nothing is needed from the log, above it the log is the history.
    fn checkpoint(&mut self) {
        let floor = self.view.floor();
        if !self.engine.wants_image(floor) {
            return;
        }
        let (leases, next_lease) = self.leases.all();
        let view = self.view.clone();
        let make = move || {
            // History may be trimmed meanwhile; then its new floor is as good.
            let snapshot = loop {
                match view.at(view.floor()) {
                    Err(Error::Compacted { .. }) => {}
                    snapshot => break snapshot?,
                }
            };
            Ok(Image {
                snapshot,
                leases,
                next_lease,
            })
        };
        self.engine.start_image(Box::new(make));
    }
}
