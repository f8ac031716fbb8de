//! Something to send, and somebody to send it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use telemetry::export::{
    Exporter, Item, Place, Protocol, Queue, Report, Resource, Settings, Signal, Target, Transport,
};
use telemetry::protobuf::Message;
use testkit::collector::Collector;

/// How long something may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A trace of so many spans, each called by its number.
#[derive(Debug)]
pub(crate) struct Trace(pub(crate) u64);

impl Item for Trace {
    fn spans(&self) -> u64 {
        self.0
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let mut message = Message(std::mem::take(out));
        message.message(2, |scope_spans| {
            for index in 1..=self.0 {
                scope_spans.message(2, |span| {
                    span.bytes(1, &[7; 16]);
                    span.bytes(2, &index.to_be_bytes());
                    span.text(5, &format!("span {index}"));
                });
            }
        });
        *out = message.0;
    }
}

/// Does not wait long, and gives up late.
pub(crate) fn settings() -> Settings {
    Settings {
        delay: Duration::from_millis(5),
        batch_spans: 50,
        batch_bytes: 1 << 20,
        patience: PATIENCE,
    }
}

pub(crate) struct Sender {
    pub(crate) transport: Arc<Transport>,
    pub(crate) exporter: Exporter,
}

impl Sender {
    pub(crate) fn new(target: Target, most: usize, settings: Settings) -> Self {
        let transport = Arc::new(Transport::new(target));
        let exporter = Exporter::start(
            Signal::Traces,
            Arc::new(Queue::new(most)),
            transport.clone(),
            Resource::new("apiserver", "test", Some("deployment=a")),
            settings,
            std::future::ready(()),
        );
        Self {
            transport,
            exporter: exporter.unwrap(),
        }
    }

    /// Whether it was taken.
    pub(crate) fn push(&self, spans: u64) -> bool {
        self.exporter.queue().try_push(Trace(spans)).is_ok()
    }

    /// Waits until nothing is in the queue or under way.
    pub(crate) fn settled(&self) {
        self.wait("all is settled", |sender| {
            sender.exporter.queue().numbers().waiting() == 0
        });
    }

    pub(crate) fn wait(&self, what: &str, done: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !done(self) {
            assert!(Instant::now() < end, "not within {PATIENCE:?}: {what}");
            std::thread::yield_now();
        }
    }

    /// Ends it, and checks the books: nothing created is missing in them.
    pub(crate) fn finish(self, limit: Duration) -> Report {
        let report = self.exporter.shutdown(limit);
        let numbers = self.exporter.queue().numbers();
        let sum = numbers.exported + numbers.dropped + numbers.failed;
        assert_eq!(numbers.created, sum, "{numbers:?}");
        let Report {
            exported,
            dropped,
            failed,
        } = report;
        assert_eq!(numbers.created, exported + dropped + failed);
        assert!(!self.push(1), "it takes nothing after its end");
        report
    }
}

pub(crate) fn tcp(collector: &Collector, protocol: Protocol) -> Target {
    let place = Place::Tcp {
        host: "127.0.0.1".into(),
        port: collector.served.port(),
    };
    Target::new(place, protocol)
}

pub(crate) fn report(exported: u64, dropped: u64, failed: u64) -> Report {
    Report {
        exported,
        dropped,
        failed,
    }
}
