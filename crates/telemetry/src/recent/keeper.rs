//! The thread that moves finished traces from the queue into the ring.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::Recent;

/// How long finished traces may wait to be moved together. A search moves them at once.
const DELAY: Duration = Duration::from_millis(500);

/// A keeper at work.
#[derive(Debug)]
pub struct Keeper {
    /// Until when what waits is taken, once that is known.
    stop: watch::Sender<Option<Instant>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Keeper {
    pub fn start(recent: Arc<Recent>) -> io::Result<Self> {
        let (stop, mut stopped) = watch::channel(None);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        let work = move || {
            let end = runtime.block_on(async {
                loop {
                    tokio::select! {
                        end = stopped.wait_for(Option::is_some) => break end.ok().and_then(|it| *it),
                        () = enough(&recent) => {}
                        () = tokio::time::sleep(DELAY) => {}
                    }
                    recent.refresh();
                }
            });
            recent.finish(end.unwrap_or_else(Instant::now));
        };
        let thread = thread::Builder::new().name("keep-traces".into());
        Ok(Self {
            stop,
            thread: Mutex::new(Some(thread.spawn(work)?)),
        })
    }

    /// Takes what waits, within the limit, and no more after that. Blocks until it is done.
    pub fn stop(&self, limit: Duration) {
        self.stop.send_replace(Some(Instant::now() + limit));
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop.send_if_modified(|it| {
            let first = it.is_none();
            it.get_or_insert_with(Instant::now);
            first
        });
    }
}

/// Comes back when so much waits that it should be taken now.
async fn enough(recent: &Recent) {
    match recent.source.get() {
        Some(source) => source.queue.batch().await,
        None => std::future::pending().await,
    }
}
