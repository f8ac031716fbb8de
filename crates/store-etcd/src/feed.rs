//! Hot path. The one watch that feeds the view, from whichever member can be followed.
//!
//! ## Which keys it watches
//! Changes of keys outside of the prefix take revisions too, and a read may have to wait for one. Members that order
//! the progress notification we ask for are watched at the prefix only, and asked. For older ones ([`orders_progress`])
//! there is no safe way to learn that nothing of ours is left to come up to a revision, so they are watched as a whole:
//! then every revision has an event, at the price of the others' traffic. A store without a prefix needs neither.
//!
//! ## Why revisions arrive whole
//! etcd puts all events of a revision into one message; also when a watch catches up, where it cuts between revisions
//! (`eventBatch.add` in etcd's `watcher_group.go`). Only `fragment` would cut within one, so we do not ask for it.

mod apply;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use store::{Revision, View};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use self::apply::Applied;
use crate::barrier::not_back;
use crate::failure::Failure;
use crate::goal::{Goal, Trouble};
use crate::keys::{Keys, Span, raw};
use crate::load;
use crate::members::{Member, Members};
use crate::version::orders_progress;
use crate::wire::{WatchCreateRequest, WatchStream};

/// A member that is not yet in step ignores the question for its progress: it is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(100);
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) members: Arc<Members>,
    pub(crate) keys: Keys,
    pub(crate) view: Arc<View>,
    pub(crate) goal: watch::Receiver<Goal>,
    pub(crate) trouble: Trouble,
    /// The cluster's id, once it is known.
    pub(crate) cluster: Option<u64>,
    pub(crate) request_timeout: Duration,
    pub(crate) stall_timeout: Duration,
}

/// Why a watch could not go on.
#[derive(Debug)]
enum End {
    /// Another member, the same place.
    Lost(Arc<str>),
    /// What comes next is not to be had any more: everything anew.
    Gap,
}

#[derive(Debug)]
struct Following {
    stream: WatchStream,
    endpoint: Arc<str>,
    /// Whether revisions without an event of ours must be asked for.
    ask: bool,
}

impl Feed {
    pub(crate) async fn run(mut self) {
        let mut index = 0;
        let mut pause = FIRST_PAUSE;
        loop {
            let before = self.view.revision();
            let member = self.members.get(index).clone();
            let end = match self.start(&member).await {
                Ok(following) => self.follow(following).await,
                Err(end) => end,
            };
            match end {
                End::Lost(reason) => self.trouble.set(Some(reason)),
                End::Gap => self.start_over().await,
            }
            index = index.wrapping_add(1);
            if self.view.revision() > before {
                pause = FIRST_PAUSE;
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Watches from the first revision not seen yet.
    async fn start(&self, member: &Member) -> Result<Following, End> {
        let endpoint = member.endpoint.clone();
        let ask = !self.keys.is_all() && self.orders_progress(member).await?;
        let span = if ask {
            self.keys.span()
        } else {
            Span::everything()
        };
        let opening = member.client.watch(WatchCreateRequest {
            key: span.start,
            range_end: span.end,
            start_revision: raw(self.view.revision() + 1),
            progress_notify: true,
            // To see that nothing was left out.
            prev_kv: true,
        });
        match self.within(member, opening).await {
            Ok(stream) => Ok(Following {
                stream,
                endpoint,
                ask,
            }),
            Err(failure) => Err(End::Lost(failure.reason())),
        }
    }

    async fn orders_progress(&self, member: &Member) -> Result<bool, End> {
        match self.within(member, member.client.status()).await {
            Ok(status) => Ok(orders_progress(&status.version)),
            Err(failure) if failure.is_passing() => Err(End::Lost(failure.reason())),
            // Not allowed to know. Watching everything is right for any version.
            Err(_) => Ok(false),
        }
    }

    async fn within<T>(
        &self,
        member: &Member,
        request: impl Future<Output = Result<T, tonic::Status>>,
    ) -> Result<T, Failure> {
        match timeout(self.request_timeout, request).await {
            Ok(answer) => answer.map_err(|error| Failure::new(&member.endpoint, &error)),
            Err(_) => Err(Failure::late(&member.endpoint)),
        }
    }

    async fn follow(&mut self, mut following: Following) -> End {
        let lost = |why: &str| End::Lost(format!("etcd {}: {why}", following.endpoint).into());
        let mut behind_since: Option<Instant> = None;
        let mut asked: Option<(Instant, Revision)> = None;
        loop {
            let at = self.view.revision();
            let goal = *self.goal.borrow_and_update();
            // Time runs from when there is something to see: being in step for long is not being stalled.
            behind_since = (goal.exists > at).then(|| behind_since.unwrap_or_else(Instant::now));
            let stalled = behind_since.map(|since| since + self.stall_timeout);
            let mut wake = stalled;
            if following.ask && goal.asked > at {
                let again = |(last, covers): (Instant, Revision)| {
                    covers < goal.asked || last.elapsed() >= ASK_AGAIN
                };
                if asked.is_none_or(again) {
                    if following.stream.request_progress().await.is_err() {
                        return lost("the watch takes no more questions");
                    }
                    asked = Some((Instant::now(), goal.asked));
                }
                wake = wake.min(asked.map(|(last, _)| last + ASK_AGAIN));
            }
            tokio::select! {
                biased;
                message = following.stream.message() => {
                    let message = match message {
                        Ok(Some(message)) => message,
                        Ok(None) => return lost("the watch ended"),
                        Err(error) => {
                            return End::Lost(Failure::new(&following.endpoint, &error).reason());
                        }
                    };
                    match apply::apply(&self.view, &self.keys, message) {
                        Applied::Advanced => behind_since = None,
                        Applied::Created { cluster } => {
                            // Another cluster behind the same address: its revisions mean something else.
                            if *self.cluster.get_or_insert(cluster) != cluster {
                                return End::Gap;
                            }
                            self.trouble.set(None);
                        }
                        Applied::Nothing => {}
                        Applied::Canceled(reason) => return lost(&reason),
                        Applied::Gap => return End::Gap,
                    }
                }
                changed = self.goal.changed() => {
                    if changed.is_err() {
                        return lost("nobody wants it any more");
                    }
                }
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {
                    if stalled.is_some_and(|deadline| deadline <= Instant::now()) {
                        return lost("it shows nothing new");
                    }
                }
            }
        }
    }

    /// Reads everything anew; every watch ends, as it would miss what lies between.
    async fn start_over(&mut self) {
        match load::now_or_compacted(&self.members, &self.keys).await {
            Ok(loaded) => match not_back(self.view.revision(), loaded.revision) {
                Ok(()) => {
                    self.view.reset(loaded.entries, loaded.revision);
                    self.cluster = None;
                }
                // Not followed; reads and writes say so, too.
                Err(error) => self.trouble.set(Some(error.to_string().into())),
            },
            Err(failure) => self.trouble.set(Some(failure.reason())),
        }
    }
}
