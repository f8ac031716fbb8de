//! Hot path. One question to etcd for all reads that wait at the moment.
//!
//! A read must not be answered by a question asked before it came. So one question is under way at a time; reads that
//! come meanwhile gather for the next. Thousands of reads a second cost one round trip after the other.

use std::sync::Arc;
use std::time::Duration;

use store::{Error, Revision, View};
use telemetry::trace;
use tokio::sync::{mpsc, oneshot};

use crate::goal::{Reach, Trouble};
use crate::keys::Keys;
use crate::members::Members;

type Waiting = oneshot::Sender<Result<Revision, Error>>;

#[derive(Debug)]
pub(crate) struct Barrier {
    queue: mpsc::UnboundedSender<Waiting>,
    reach: Reach,
    trouble: Trouble,
}

/// Asks on behalf of the barrier until it is dropped.
#[derive(Debug)]
pub(crate) struct Asker {
    pub(crate) queue: mpsc::UnboundedReceiver<Waiting>,
    pub(crate) members: Arc<Members>,
    pub(crate) keys: Keys,
    pub(crate) view: Arc<View>,
    pub(crate) limit: Duration,
    /// Why the last question got no answer.
    pub(crate) trouble: Trouble,
}

impl Barrier {
    pub(crate) fn new(
        queue: mpsc::UnboundedSender<Waiting>,
        reach: Reach,
        trouble: Trouble,
    ) -> Self {
        Self {
            queue,
            reach,
            trouble,
        }
    }

    /// Why etcd did not answer when it was asked last.
    pub(crate) fn trouble(&self) -> Option<Arc<str>> {
        self.trouble.get()
    }

    /// A revision no older than any write answered before this call; the view is there when this returns.
    pub(crate) async fn pass(&self) -> Result<Revision, Error> {
        // Asked once for all who wait: each of them waits for it.
        let call = trace::span("etcdserverpb.KV/Range").client();
        call.set("rpc.system.name", || "grpc");
        call.set("shared", || true);
        let (answer, revision) = oneshot::channel();
        self.queue.send(answer).map_err(|_| Error::Closed)?;
        let revision = revision.await.map_err(|_| Error::Closed)??;
        self.reach.any(revision).await?;
        Ok(revision)
    }
}

impl Asker {
    pub(crate) async fn run(mut self) {
        while let Some(first) = self.queue.recv().await {
            let mut waiting = vec![first];
            while let Ok(next) = self.queue.try_recv() {
                waiting.push(next);
            }
            let answer = self.ask().await;
            let reason = answer.as_ref().err().map(|error| error.to_string().into());
            self.trouble.set(reason);
            for waiting in waiting {
                // Who went away does not want it.
                let _ = waiting.send(answer.clone());
            }
        }
    }

    async fn ask(&self) -> Result<Revision, Error> {
        let seen = self.view.revision();
        let revision = self.members.revision(&self.keys, self.limit).await;
        let revision = revision.map_err(crate::failure::Failure::of_read)?;
        not_back(seen, revision)?;
        Ok(revision)
    }
}

/// A cluster restored from a backup counts its revisions anew; what is in memory then belongs to another past.
pub(crate) fn not_back(seen: Revision, now: Revision) -> Result<(), Error> {
    if now >= seen {
        return Ok(());
    }
    let reason = format!(
        "etcd went back from revision {seen} to {now}: was it restored from a backup? Restart to read it anew"
    );
    Err(Error::Unavailable {
        reason: reason.into(),
    })
}
