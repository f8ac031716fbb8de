use std::sync::Arc;
use std::time::Duration;

use store::{Error, Options, Revision, Store, View};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use crate::Config;
use crate::backend::Etcd;
use crate::barrier::{Asker, Barrier};
use crate::failure::Failure;
use crate::feed::Feed;
use crate::goal::Reach;
use crate::keys::Keys;
use crate::load;
use crate::members::Members;

/// Connects to the cluster, reads everything below the prefix, and returns when the view has caught up.
///
/// Starts tasks on the runtime it is called on; they end with the last handle of the store.
pub async fn open(config: Config, options: &Options) -> Result<Store, Error> {
    let members = Arc::new(Members::new(&config).await?);
    let keys = Keys::new(&config.prefix);
    let limit = config.start_timeout;
    let now = members.revision(&keys, limit).await;
    let now = now.map_err(|failure| at_start(failure, limit))?;
    let loaded = load::with_past(&members, &keys, now, config.history_revisions, limit).await;
    let loaded = loaded.map_err(|failure| at_start(failure, limit))?;
    let view = Arc::new(View::new(loaded.entries, loaded.revision, options));

    let (reach, goal) = Reach::new(view.clone(), config.request_timeout);
    let feed = Feed {
        members: members.clone(),
        keys: keys.clone(),
        view: view.clone(),
        goal,
        request_timeout: config.request_timeout,
        stall_timeout: config.stall_timeout,
    };
    let (queue, waiting) = mpsc::unbounded_channel();
    let asker = Asker {
        queue: waiting,
        members: members.clone(),
        keys: keys.clone(),
        view: view.clone(),
        limit: config.request_timeout,
    };
    // From here on the backend owns the tasks: if catching up fails it goes, and they with it.
    let backend = Etcd::new(
        members,
        keys,
        view.clone(),
        Barrier::new(queue, reach.clone()),
        reach.clone(),
        vec![
            tokio::spawn(feed.run()).abort_handle(),
            tokio::spawn(asker.run()).abort_handle(),
        ],
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
            let reason = format!(
                "etcd is at revision {now}, its watch does not get beyond {last} within {limit:?}"
            );
            return Err(Error::Unavailable {
                reason: reason.into(),
            });
        }
    }
}

fn at_start(failure: Failure, limit: Duration) -> Error {
    match failure.of_read() {
        Error::Unavailable { reason } => Error::Unavailable {
            reason: format!("no etcd member gave a usable answer within {limit:?}; last: {reason}")
                .into(),
        },
        other => other,
    }
}
