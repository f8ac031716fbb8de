//! The thread that takes what waits, and has it sent.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::chunk::Shared;
use super::message::Message;
use super::transport::Stop;
use super::troubles::Troubles;
use super::{Queue, Resource, Signal, Transport};

/// How an exporter works.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long what waits may wait for more.
    pub delay: Duration,
    /// How many spans a message has, at most, unless one item alone has more.
    pub batch_spans: u64,
    /// The same in bytes, without the resource.
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
pub struct Exporter {
    queue: Arc<Queue>,
    stop: watch::Sender<Option<Instant>>,
    done: Mutex<mpsc::Receiver<()>>,
    troubles: Arc<Troubles>,
}

impl Exporter {
    /// Waits for nothing: the collector need not be there yet. `beside` runs on the same thread until the end.
    pub fn start(
        signal: Signal,
        queue: Arc<Queue>,
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
            current: None,
            swept: Instant::now(),
        };
        let name = match signal {
            Signal::Traces => "export-traces",
            Signal::Metrics => "export-metrics",
            Signal::Logs => "export-logs",
        };
        thread::Builder::new().name(name.into()).spawn(move || {
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

    pub fn queue(&self) -> &Arc<Queue> {
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

async fn forever(work: impl Future<Output = ()>) {
    work.await;
    std::future::pending::<()>().await;
}

struct Work {
    signal: Signal,
    queue: Arc<Queue>,
    transport: Arc<Transport>,
    resource: Resource,
    settings: Settings,
    stop: Stop,
    troubles: Arc<Troubles>,
    /// What was taken from the queue and did not fit into the last message.
    current: Option<Shared>,
    /// When chunks were taken last that were not full.
    swept: Instant,
}

struct Batch {
    spans: u64,
    message: Message,
}

impl Work {
    async fn run(mut self) {
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
            }
            self.troubles.tell(self.queue.numbers().dropped);
        }
        self.finish().await;
    }

    /// What came before the end is sent as long as there is time; the rest is counted.
    async fn finish(&mut self) {
        self.queue.close();
        let end = self.stop.borrow().unwrap_or_else(Instant::now);
        while self.current.is_some() || !self.queue.is_drained() {
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
        let sent = (self.transport).send_until(stop, self.signal, &message, spans, patience);
        let outcome = sent.await;
        // First: whoever sees that something failed can ask why.
        self.troubles.note(&outcome);
        self.queue.settle(outcome.accepted, outcome.rejected, 0);
        self.troubles.tell(self.queue.numbers().dropped);
    }

    /// What was encoded is not copied any more: a message is made of pieces of chunks.
    fn next(&mut self) -> Option<Batch> {
        if self.swept.elapsed() >= self.settings.delay {
            // However much comes from some threads, what others left does not wait for ever.
            self.queue.sweep();
            self.swept = Instant::now();
        }
        let (mut spans, mut bytes, mut pieces) = (0, 0, Vec::new());
        loop {
            let mut chunk = match self.current.take() {
                Some(chunk) => chunk,
                None => match self.queue.pop() {
                    Some(chunk) => chunk.share(),
                    None => break,
                },
            };
            let (piece, more) = chunk.take(
                self.settings.batch_spans.saturating_sub(spans),
                self.settings.batch_bytes.saturating_sub(bytes),
                pieces.is_empty(),
            );
            spans += more;
            bytes += piece.len();
            // An item may be nothing at all.
            pieces.push(piece);
            if !chunk.is_empty() {
                self.current = Some(chunk);
                break;
            }
        }
        let some = spans > 0 || bytes > 0;
        some.then(|| Batch {
            spans,
            message: self.resource.message(pieces),
        })
    }
}
