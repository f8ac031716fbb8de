//! The thread that takes what waits, and has it sent.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;

use super::restraint::Restraint;
use super::transport::Stop;
use super::troubles::Troubles;
use super::{Item, Queue, Resource, Signal, Transport};

/// How an exporter works.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long what waits may wait for more.
    pub delay: Duration,
    /// How many spans a message has, at most, unless one item alone has more.
    pub batch_spans: u64,
    /// As many bytes as make a message full.
    pub batch_bytes: usize,
    /// How long one message is tried to be sent.
    pub patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(1),
            batch_spans: 4096,
            // Collectors take 4 MiB by default.
            batch_bytes: 1 << 20,
            patience: Duration::from_secs(60),
        }
    }
}

/// What became of all that was recorded, when all is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub exported: u64,
    pub dropped: u64,
    pub failed: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            exported,
            dropped,
            failed,
        } = self;
        write!(f, "{exported} exported, {dropped} dropped, {failed} failed")
    }
}

/// An exporter at work.
#[derive(Debug)]
pub struct Exporter<T> {
    queue: Arc<Queue<T>>,
    stop: watch::Sender<Option<Instant>>,
    done: Mutex<mpsc::Receiver<()>>,
    troubles: Arc<Troubles>,
}

impl<T: Item> Exporter<T> {
    /// Waits for nothing: the collector need not be there yet. `beside` runs on the same thread until the end.
    pub fn start(
        signal: Signal,
        queue: Arc<Queue<T>>,
        transport: Arc<Transport>,
        resource: Resource,
        settings: Settings,
        beside: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopping) = watch::channel(None);
        let (over, done) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let troubles = Arc::new(Troubles::new(signal));
        let work = Work {
            signal,
            queue: queue.clone(),
            transport,
            resource,
            settings,
            stop: stopping,
            troubles: troubles.clone(),
            size: 0,
        };
        let name = match signal {
            Signal::Traces => "export-traces",
            Signal::Metrics => "export-metrics",
            Signal::Logs => "export-logs",
        };
        thread::Builder::new().name(name.into()).spawn(move || {
            yield_to_requests();
            runtime.block_on(async {
                tokio::select! {
                    () = work.run() => {}
                    () = forever(beside) => {}
                }
            });
            // A name that is still being looked up does not hold up the end.
            runtime.shutdown_background();
            // Nobody may be waiting.
            let _ = over.send(());
        })?;
        Ok(Self {
            queue,
            stop,
            done: Mutex::new(done),
            troubles,
        })
    }

    pub fn queue(&self) -> &Arc<Queue<T>> {
        &self.queue
    }

    /// What went wrong last, if all is not well again.
    pub fn trouble(&self) -> Option<String> {
        self.troubles.last()
    }

    /// Takes no more, sends what waits, and tells what became of everything. Blocks, for little more than `limit`.
    pub fn shutdown(&self, limit: Duration) -> Report {
        self.stop.send_if_modified(|it| {
            let first = it.is_none();
            it.get_or_insert_with(|| Instant::now() + limit);
            first
        });
        {
            let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            // The thread looks at the clock itself; this is for a machine that gives it no time. It says so once.
            let _ = done.recv_timeout(limit + Duration::from_secs(5));
        }
        let numbers = self.queue.numbers();
        Report {
            exported: numbers.exported,
            dropped: numbers.dropped,
            // Under way for ever counts as lost.
            failed: numbers.failed + numbers.waiting(),
        }
    }
}

/// Where there is not enough processor for all, those who ask come first, and what cannot be told of them is dropped and
/// counted. This thread alone: on Linux each has a priority of its own.
pub(crate) fn yield_to_requests() {
    #[cfg(target_os = "linux")]
    // A system that does not let it be lowered goes on as it is.
    let _ = rustix::process::nice(19);
}

async fn forever(work: impl Future<Output = ()>) {
    work.await;
    std::future::pending::<()>().await;
}

struct Work<T> {
    signal: Signal,
    queue: Arc<Queue<T>>,
    transport: Arc<Transport>,
    resource: Resource,
    settings: Settings,
    stop: Stop,
    troubles: Arc<Troubles>,
    /// Of the last message.
    size: usize,
}

struct Batch {
    spans: u64,
    message: Bytes,
}

impl<T: Item> Work<T> {
    async fn run(mut self) {
        let mut restraint = Restraint::new();
        loop {
            let all = tokio::select! {
                _ = self.stop.wait_for(Option::is_some) => break,
                () = self.queue.batch() => false,
                () = tokio::time::sleep(self.settings.delay) => true,
            };
            // Small messages wait for their time; when it has come, all go.
            while (all || self.queue.is_batch()) && self.stop.borrow().is_none() {
                let Some(batch) = self.next() else { break };
                self.send(batch).await;
                self.rest(restraint.rest()).await;
            }
            self.troubles.tell(self.queue.numbers().dropped);
        }
        self.finish().await;
    }

    async fn rest(&mut self, length: Duration) {
        if !length.is_zero() {
            // Also over when the end has come.
            let _ = tokio::time::timeout(length, self.stop.wait_for(Option::is_some)).await;
        }
    }

    /// What came before the end is sent as long as there is time; the rest is counted.
    async fn finish(&mut self) {
        self.queue.close();
        let end = self.stop.borrow().unwrap_or_else(Instant::now);
        while !self.queue.is_drained() {
            match self.next() {
                Some(batch) if Instant::now() < end => self.send(batch).await,
                Some(batch) => self.queue.settle(0, 0, batch.spans),
                // Somebody is just pushing.
                None => tokio::task::yield_now().await,
            }
        }
    }

    async fn send(&self, Batch { spans, message }: Batch) {
        let patience = self.settings.patience;
        let stop = self.stop.clone();
        let sent = (self.transport).send_until(stop, self.signal, message, spans, patience);
        let outcome = sent.await;
        // First: whoever sees that something failed can ask why.
        self.troubles.note(&outcome);
        self.queue.settle(outcome.accepted, outcome.rejected, 0);
        self.troubles.tell(self.queue.numbers().dropped);
    }

    fn next(&mut self) -> Option<Batch> {
        let mut spans = 0;
        let mut items = self.resource.begin(self.size);
        let start = items.len();
        while let Some(item) = self.queue.try_pop() {
            item.encode(&mut items);
            spans += item.spans();
            if spans >= self.settings.batch_spans
                || items.len() - start >= self.settings.batch_bytes
            {
                break;
            }
        }
        let made = items.len() - start;
        let some = spans > 0 || made > 0;
        if some {
            // The next is about as large.
            self.size = made;
        }
        some.then(|| Batch {
            spans,
            message: self.resource.end(items),
        })
    }
}
