//! What the feed should reach: revisions that others are known to have reached.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use store::{Error, Revision, View};
use tokio::sync::watch;
use tokio::time::timeout;

const FAILOVER: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Goal {
    /// This revision exists. A feed that does not get there follows the wrong member.
    pub(crate) exists: Revision,
    /// A read waits for this one, which may be somebody else's: no event will tell, etcd must be asked.
    pub(crate) asked: Revision,
}

/// Why the feed is not where it should be, for those who wait for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<Reason>>>);

/// What is wrong, and since when something is.
type Reason = (Arc<str>, Instant);

impl Trouble {
    pub(crate) fn set(&self, reason: Option<Arc<str>>) {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = place.as_ref().map(|(_, since)| *since);
        *place = reason.map(|it| (it, since.unwrap_or_else(Instant::now)));
    }

    pub(crate) fn get(&self) -> Option<Arc<str>> {
        self.lasting(Duration::ZERO)
    }

    /// The reason, if it has been one thing after the other for so long.
    pub(crate) fn lasting(&self, time: Duration) -> Option<Arc<str>> {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (reason, since) = place.as_ref()?;
        (since.elapsed() >= time).then(|| reason.clone())
    }
}

/// Waits for the feed on behalf of reads and writes.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    view: Arc<View>,
    goal: Arc<watch::Sender<Goal>>,
    trouble: Trouble,
    patience: Duration,
}

impl Reach {
    pub(crate) fn new(
        view: Arc<View>,
        trouble: Trouble,
        patience: Duration,
    ) -> (Self, watch::Receiver<Goal>) {
        let (goal, receiver) = watch::channel(Goal::default());
        let goal = Arc::new(goal);
        let reach = Self {
            view,
            goal,
            trouble,
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

    /// Why the feed has shown nothing for some time, whether anybody waits for it or not. Moving on to another member
    /// takes less.
    pub(crate) fn lasting_trouble(&self) -> Option<Arc<str>> {
        self.trouble.lasting(FAILOVER)
    }

    async fn wait(&self, revision: Revision, set: impl FnOnce(&mut Goal)) -> Result<(), Error> {
        if self.view.revision() >= revision {
            return Ok(());
        }
        self.goal.send_modify(set);
        match timeout(self.patience, self.view.reached(revision)).await {
            Ok(reached) => reached,
            Err(_) => Err(self.not_there(revision, self.patience)),
        }
    }

    pub(crate) fn not_there(&self, revision: Revision, after: Duration) -> Error {
        let seen = self.view.revision();
        let mut reason = format!(
            "etcd is at revision {revision}, its watch has shown only {seen} after {after:?}"
        );
        if let Some(trouble) = self.trouble.get() {
            reason = format!("{reason}: {trouble}");
        }
        Error::Unavailable {
            reason: reason.into(),
        }
    }
}
