//! The thread that keeps what nobody has asked for yet.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::watch;

use super::Recent;
use crate::export::yield_to_requests;

/// How long a finished trace may wait for company. Who looks for it does not wait.
const DELAY: Duration = Duration::from_millis(500);

/// A keeper at work.
#[derive(Debug)]
pub struct Keeper {
    stop: watch::Sender<bool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Keeper {
    pub fn start(recent: Arc<Recent>) -> io::Result<Self> {
        let (stop, mut stopped) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        let work = move || {
            yield_to_requests();
            runtime.block_on(async {
                loop {
                    tokio::select! {
                        _ = stopped.wait_for(|it| *it) => break,
                        () = enough(&recent) => {}
                        () = tokio::time::sleep(DELAY) => {}
                    }
                    recent.refresh();
                }
            });
            // What is under way at this moment is waited for: pushing waits for nothing.
            while let Some(source) = recent.source.get() {
                source.queue.close();
                recent.refresh();
                if source.queue.is_drained() {
                    break;
                }
                thread::yield_now();
            }
        };
        let thread = thread::Builder::new().name("keep-traces".into());
        Ok(Self {
            stop,
            thread: Mutex::new(Some(thread.spawn(work)?)),
        })
    }

    /// Takes what waits, and no more after that. Blocks until it is done, which is soon.
    pub fn stop(&self) {
        self.stop.send_replace(true);
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
        self.stop.send_replace(true);
    }
}

/// Comes back when so much waits that it should be taken now.
async fn enough(recent: &Recent) {
    match recent.source.get() {
        Some(source) => source.queue.batch().await,
        None => std::future::pending().await,
    }
}
