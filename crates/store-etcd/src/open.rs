use std::sync::Arc;
use std::time::Duration;

use store::{Error, Options, Revision, Store, View};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::Config;
use crate::backend::Etcd;
use crate::barrier::{Asker, Barrier};
use crate::compactor::Compactor;
use crate::failure::Failure;
use crate::feed::Feed;
use crate::goal::{Reach, Trouble};
use crate::keys::Keys;
use crate::load;
use crate::members::Members;
use crate::size::Size;

/// Connects to the cluster, reads everything below the prefix, and returns when the view has caught up.
///
/// Starts tasks on the runtime it is called on; they end with the last handle of the store.
pub async fn open(config: Config, options: &Options) -> Result<Store, Error> {
    let members = Arc::new(Members::new(&config)?);
    let keys = Keys::new(&config.prefix);
    let limit = config.start_timeout;
    let now = members.revision(&keys, limit).await;
    let now = now.map_err(|failure| at_start(failure, &config))?;
    let loaded = load::with_past(&members, &keys, now, config.history_revisions, limit).await;
    let loaded = loaded.map_err(|failure| at_start(failure, &config))?;
    let view = Arc::new(View::new(loaded.entries, loaded.revision, options));

    let trouble = Trouble::default();
    let (reach, goal) = Reach::new(view.clone(), trouble.clone(), config.request_timeout);
    let feed = Feed {
        members: members.clone(),
        keys: keys.clone(),
        view: view.clone(),
        goal,
        trouble,
        cluster: None,
        request_timeout: config.request_timeout,
        stall_timeout: config.stall_timeout,
    };
    let (queue, waiting) = mpsc::unbounded_channel();
    let unanswered = Trouble::default();
    let asker = Asker {
        queue: waiting,
        members: members.clone(),
        keys: keys.clone(),
        view: view.clone(),
        limit: config.request_timeout,
        trouble: unanswered.clone(),
    };
    let size = Size::default();
    let mut tasks = vec![
        tokio::spawn(feed.run()).abort_handle(),
        tokio::spawn(asker.run()).abort_handle(),
        tokio::spawn(size.clone().follow(members.clone())).abort_handle(),
    ];
    if let Some(interval) = config.compaction_interval {
        let compactor = Compactor::new(members.clone(), view.clone());
        tasks.push(tokio::spawn(compactor.run(interval)).abort_handle());
    }
    // From here on the backend owns the tasks: if catching up fails it goes, and they with it.
    let backend = Etcd::new(
        members,
        keys,
        view.clone(),
        Barrier::new(queue, reach.clone(), unanswered),
        reach.clone(),
        size,
        tasks,
    );
    catch_up(&view, &reach, now, limit).await?;
    Ok(Store::new(view, Arc::new(backend), options))
}

/// A long past takes its time; only standing still is an error.
async fn catch_up(view: &View, reach: &Reach, now: Revision, limit: Duration) -> Result<(), Error> {
    let mut moved = Instant::now();
    let mut last = view.revision();
    loop {
        // Ends early to look whether something moves.
        let waited = timeout(limit.min(Duration::from_secs(1)), reach.any(now)).await;
        if let Ok(Ok(())) = waited {
            return Ok(());
        }
        if view.revision() > last {
            (moved, last) = (Instant::now(), view.revision());
        }
        if moved.elapsed() >= limit {
            return Err(reach.not_there(now, limit));
        }
    }
}

fn at_start(failure: Failure, config: &Config) -> Error {
    // With TLS 1.3 a member that wants a certificate hangs up on us, and often that is all we get to see.
    let anonymous = matches!(&config.tls, Some(tls) if tls.cert.is_none());
    let hung_up = failure.is_passing() && !failure.reason().contains("connect error");
    let hint = if anonymous && hung_up {
        " (no client certificate is given: does etcd want one?)"
    } else {
        ""
    };
    match failure.of_read() {
        Error::Unavailable { reason } => {
            let limit = config.start_timeout;
            let reason = format!(
                "no etcd member gave a usable answer within {limit:?}, the last: {reason}{hint}"
            );
            Error::Unavailable {
                reason: reason.into(),
            }
        }
        other => other,
    }
}
