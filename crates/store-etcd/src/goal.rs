//! What the feed should reach: revisions that others are known to have reached.

use std::sync::Arc;
use std::time::Duration;

use store::{Error, Revision, View};
use tokio::sync::watch;
use tokio::time::timeout;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Goal {
    /// This revision exists. A feed that does not get there follows the wrong member.
    pub(crate) exists: Revision,
    /// A read waits for this one, which may be somebody else's: no event will tell, etcd must be asked.
    pub(crate) asked: Revision,
}

/// Waits for the feed on behalf of reads and writes.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    view: Arc<View>,
    goal: Arc<watch::Sender<Goal>>,
    patience: Duration,
}

impl Reach {
    pub(crate) fn new(view: Arc<View>, patience: Duration) -> (Self, watch::Receiver<Goal>) {
        let (goal, receiver) = watch::channel(Goal::default());
        let goal = Arc::new(goal);
        let reach = Self {
            view,
            goal,
            patience,
        };
        (reach, receiver)
    }

    /// A revision with a change of ours.
    pub(crate) async fn own(&self, revision: Revision) -> Result<(), Error> {
        self.wait(revision, |goal| {
            goal.exists = goal.exists.max(revision);
        })
        .await
    }

    /// A revision with anybody's change.
    pub(crate) async fn any(&self, revision: Revision) -> Result<(), Error> {
        self.wait(revision, |goal| {
            goal.exists = goal.exists.max(revision);
            goal.asked = goal.asked.max(revision);
        })
        .await
    }

    async fn wait(&self, revision: Revision, set: impl FnOnce(&mut Goal)) -> Result<(), Error> {
        if self.view.revision() >= revision {
            return Ok(());
        }
        self.goal.send_modify(set);
        match timeout(self.patience, self.view.reached(revision)).await {
            Ok(reached) => reached,
            Err(_) => Err(Error::Unavailable {
                reason: format!(
                    "etcd is at revision {revision}, its watch has shown only {} after {:?}",
                    self.view.revision(),
                    self.patience
                )
                .into(),
            }),
        }
    }
}
