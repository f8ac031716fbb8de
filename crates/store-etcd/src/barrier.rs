//! Hot path. One question to etcd for all reads that wait at the moment.
//!
//! A read must not be answered by a question asked before it came. So one question is under way at a time; reads that
//! come meanwhile gather for the next. Thousands of reads a second cost one round trip after the other.
//!
//! Whoever got an answer is likely to ask again at once, and then comes just too late for the next question: clients
//! would take turns, half of them in each. So a question waits a moment for those, as long as that proves right.

use std::sync::Arc;
use std::time::Duration;

use store::{Error, Revision, View};
use telemetry::trace;
use tokio::sync::{mpsc, oneshot};

use crate::goal::{Reach, Trouble};
use crate::keys::Keys;
use crate::members::Members;
use crate::moments::Moments;

/// Clients on the same network come back sooner: the waiting is over when they have.
const MOMENT: Duration = Duration::from_micros(1200);

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
        call.set("rpc.method", || "etcdserverpb.KV/Range");
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
        let (moments, mut company) = (Moments::start(), Company::default());
        while let Some(first) = self.queue.recv().await {
            let mut waiting = vec![first];
            while let Ok(next) = self.queue.try_recv() {
                waiting.push(next);
            }
            let expected = company.expected(waiting.len());
            if waiting.len() < expected {
                let gathered = async {
                    while waiting.len() < expected
                        && let Some(next) = self.queue.recv().await
                    {
                        waiting.push(next);
                    }
                };
                tokio::select! {
                    () = gathered => {}
                    () = moments.pass(MOMENT) => {}
                }
                company.came(waiting.len(), expected);
            }
            let answer = self.ask().await;
            company.asked(waiting.len(), self.queue.len());
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

/// How many reads to expect before a question is asked.
#[derive(Debug, Default)]
struct Company {
    /// Reads that the last question was for, and those that came meanwhile.
    last: usize,
    /// Questions to ask without waiting.
    alone: u32,
}

impl Company {
    /// So many questions go without waiting once waiting was in vain.
    const ALONE: u32 = 16;

    fn expected(&self, here: usize) -> usize {
        if self.alone > 0 { here } else { self.last }
    }

    /// How many there were when the waiting was over. Most is as good as all.
    fn came(&mut self, reads: usize, expected: usize) {
        if reads < expected - expected / 4 {
            self.alone = Self::ALONE;
        }
    }

    fn asked(&mut self, reads: usize, meanwhile: usize) {
        self.last = reads + meanwhile;
        self.alone = self.alone.saturating_sub(1);
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

#[cfg(test)]
mod tests {
    use super::Company;

    #[test]
    fn clients_that_took_turns_are_expected_together() {
        let mut company = Company::default();
        assert_eq!(company.expected(1), 0);
        company.asked(8, 8);
        assert_eq!(company.expected(8), 16);
        company.asked(16, 0);
        assert_eq!(company.expected(1), 16);
    }

    #[test]
    fn most_of_them_are_worth_waiting_for_again() {
        let mut company = Company::default();
        company.asked(8, 8);
        company.came(12, 16);
        assert_eq!(company.expected(1), 16);
        company.came(11, 16);
        assert_eq!(company.expected(1), 1);
    }

    #[test]
    fn after_waiting_in_vain_many_questions_go_without() {
        let mut company = Company::default();
        company.asked(1, 1);
        company.came(1, 2);
        for _ in 0..Company::ALONE {
            assert_eq!(company.expected(1), 1);
            company.asked(1, 1);
        }
        assert_eq!(company.expected(1), 2);
    }
}
