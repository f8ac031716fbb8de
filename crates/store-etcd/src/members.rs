//! The members of the cluster: which one to ask, and when to ask another.
//!
//! Every member has a client of its own, so that we decide and know where a request went.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use store::{Error, Revision};
use tokio::time::{Instant, sleep, timeout};
use tonic::Status;

use crate::Config;
use crate::failure::Failure;
use crate::keys::{Keys, revision};
use crate::wire::{Client, RangeRequest, ResponseHeader};

/// Between two rounds over all members.
const AGAIN: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Members {
    all: Vec<Member>,
    /// Where requests go as long as all is well.
    preferred: AtomicUsize,
    request_timeout: Duration,
}

#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) endpoint: Arc<str>,
    pub(crate) client: Client,
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Member({})", self.endpoint)
    }
}

impl Members {
    /// Does not connect yet: a member that is down now may be up when it is needed.
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        if config.endpoints.is_empty() {
            return Err(Error::Unavailable {
                reason: "no etcd endpoint is given".into(),
            });
        }
        let options = config.connect_options()?;
        let mut all = Vec::with_capacity(config.endpoints.len());
        for endpoint in &config.endpoints {
            let client = Client::new(endpoint, &options)
                .map_err(|error| Failure::new(endpoint, &error).of_read())?;
            all.push(Member {
                endpoint: endpoint.as_str().into(),
                client,
            });
        }
        Ok(Self {
            all,
            preferred: AtomicUsize::new(0),
            request_timeout: config.request_timeout,
        })
    }

    pub(crate) fn get(&self, index: usize) -> &Member {
        &self.all[index % self.all.len()]
    }

    /// Something that changes nothing: asked until somebody answers or the time is up.
    pub(crate) async fn read<T, F, Fut>(&self, ask: F) -> Result<T, Failure>
    where
        F: Fn(&Member) -> Fut,
        Fut: Future<Output = Result<T, Status>>,
    {
        self.read_within(self.request_timeout, ask).await
    }

    /// As [`Self::read`], with its own limit of time.
    pub(crate) async fn read_within<T, F, Fut>(&self, limit: Duration, ask: F) -> Result<T, Failure>
    where
        F: Fn(&Member) -> Fut,
        Fut: Future<Output = Result<T, Status>>,
    {
        // One hung member must not take all the time there is for the others.
        let turn = (limit / 2).min(self.request_timeout);
        self.call(limit, turn, Failure::is_passing, ask).await
    }

    /// Something that changes things: asked again only when it is certain that nothing happened.
    pub(crate) async fn write<T, F, Fut>(&self, ask: F) -> Result<T, Failure>
    where
        F: Fn(&Member) -> Fut,
        Fut: Future<Output = Result<T, Status>>,
    {
        self.write_within(self.request_timeout, ask).await
    }

    /// As [`Self::write`], with its own limit of time.
    pub(crate) async fn write_within<T, F, Fut>(
        &self,
        limit: Duration,
        ask: F,
    ) -> Result<T, Failure>
    where
        F: Fn(&Member) -> Fut,
        Fut: Future<Output = Result<T, Status>>,
    {
        let not_done = |failure: &Failure| matches!(failure, Failure::NotDone(_));
        self.call(limit, limit, not_done, ask).await
    }

    async fn call<T, F, Fut>(
        &self,
        limit: Duration,
        turn: Duration,
        again: fn(&Failure) -> bool,
        ask: F,
    ) -> Result<T, Failure>
    where
        F: Fn(&Member) -> Fut,
        Fut: Future<Output = Result<T, Status>>,
    {
        let deadline = Instant::now() + limit;
        let mut tried = 0;
        loop {
            let index = self.preferred.load(Ordering::Relaxed);
            let member = self.get(index);
            let left = deadline.saturating_duration_since(Instant::now());
            let failure = match timeout(left.min(turn).max(AGAIN), ask(member)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => Failure::new(&member.endpoint, &error),
                Err(_) => Failure::late(&member.endpoint),
            };
            if failure.is_passing() {
                self.turn_from(index);
            }
            if !again(&failure) || Instant::now() + AGAIN >= deadline {
                return Err(failure);
            }
            tried += 1;
            if tried % self.all.len() == 0 {
                sleep(AGAIN).await;
            }
        }
    }

    /// The next request goes to another member, unless somebody has turned already.
    fn turn_from(&self, index: usize) {
        let next = (index + 1) % self.all.len();
        let _ = self
            .preferred
            .compare_exchange(index, next, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// etcd's current revision, at least that of every write answered before this call.
    pub(crate) async fn revision(&self, keys: &Keys, limit: Duration) -> Result<Revision, Failure> {
        // Any linearizable read tells it. A key that need not exist, below the prefix: rights may end there.
        let request = RangeRequest {
            key: keys.span().start,
            limit: 1,
            count_only: true,
            ..RangeRequest::default()
        };
        let answer = self
            .read_within(limit, |member| member.client.range(request.clone()))
            .await?;
        Ok(at(answer.header.as_ref()))
    }
}

/// The revision in an answer's header; etcd always sends one.
pub(crate) fn at(header: Option<&ResponseHeader>) -> Revision {
    header.map_or(0, |header| revision(header.revision))
}

/// etcd's lease ids are signed.
pub(crate) fn lease_id(lease: store::LeaseId) -> i64 {
    lease.cast_signed()
}
