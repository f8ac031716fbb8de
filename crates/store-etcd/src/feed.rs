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

use std::sync::Arc;
use std::time::Duration;

use etcd_client::{WatchOptions, WatchStream};
use store::View;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use self::apply::Applied;
use crate::goal::Goal;
use crate::keys::{Keys, Span, raw};
use crate::load;
use crate::members::{Member, Members};
use crate::version::orders_progress;

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
    pub(crate) request_timeout: Duration,
    pub(crate) stall_timeout: Duration,
}

/// Why a watch could not go on.
#[derive(Debug)]
enum End {
    /// Another member, the same place.
    Lost,
    /// What comes next is not to be had any more: everything anew.
    Gap,
}

#[derive(Debug)]
struct Following {
    stream: WatchStream,
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
            if matches!(end, End::Gap) && self.start_over().await {
                pause = FIRST_PAUSE;
                continue;
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
        let ask = !self.keys.is_all() && self.asks(member).await;
        let span = if ask {
            self.keys.span()
        } else {
            Span::everything()
        };
        let options = WatchOptions::new()
            .with_range(span.end)
            .with_start_revision(raw(self.view.revision() + 1))
            .with_progress_notify()
            // To see that nothing was left out.
            .with_prev_key();
        let mut client = member.watch();
        let opening = client.watch(span.start, Some(options));
        match timeout(self.request_timeout, opening).await {
            Ok(Ok(stream)) => Ok(Following { stream, ask }),
            _ => Err(End::Lost),
        }
    }

    async fn asks(&self, member: &Member) -> bool {
        let mut maintenance = member.maintenance();
        match timeout(self.request_timeout, maintenance.status()).await {
            Ok(Ok(status)) => orders_progress(status.version()),
            // Watching everything is right for any version.
            _ => false,
        }
    }

    async fn follow(&mut self, mut following: Following) -> End {
        let mut advanced = Instant::now();
        let mut asked: Option<Instant> = None;
        loop {
            let at = self.view.revision();
            let goal = *self.goal.borrow_and_update();
            let behind = goal.exists > at;
            let mut wake = advanced + self.stall_timeout;
            if following.ask && goal.asked > at {
                if asked.is_none_or(|last| last.elapsed() >= ASK_AGAIN) {
                    if following.stream.request_progress().await.is_err() {
                        return End::Lost;
                    }
                    asked = Some(Instant::now());
                }
                wake = wake.min(asked.unwrap_or(advanced) + ASK_AGAIN);
            }
            tokio::select! {
                biased;
                message = following.stream.message() => {
                    let Ok(Some(message)) = message else {
                        return End::Lost;
                    };
                    match apply::apply(&self.view, &self.keys, message) {
                        Applied::Advanced => {
                            advanced = Instant::now();
                            // What is asked for next was not covered by the question before.
                            asked = None;
                        }
                        Applied::Nothing => {}
                        Applied::Canceled => return End::Lost,
                        Applied::Gap => return End::Gap,
                    }
                }
                changed = self.goal.changed() => {
                    if changed.is_err() {
                        // Everybody who could want something is gone; the task is about to be stopped.
                        return End::Lost;
                    }
                    // Being in step for long is not being stalled: time runs from when there is something to see.
                    if !behind {
                        advanced = Instant::now();
                    }
                }
                () = sleep_until(wake), if behind => {
                    if advanced.elapsed() >= self.stall_timeout {
                        return End::Lost;
                    }
                }
            }
        }
    }

    /// Reads everything anew; every watch ends, as it would miss what lies between.
    async fn start_over(&self) -> bool {
        match load::now_or_compacted(&self.members, &self.keys).await {
            // A cluster that went back in time is not followed; reads and writes say so (see the barrier).
            Ok(loaded) if loaded.revision >= self.view.revision() => {
                self.view.reset(loaded.entries, loaded.revision);
                true
            }
            Ok(_) | Err(_) => false,
        }
    }
}
