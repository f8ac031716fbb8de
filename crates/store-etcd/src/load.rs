//! Reading all entries at one revision.

use std::sync::Arc;
use std::time::Duration;

use store::{Entry, Revision};
use tonic::Status;

use crate::failure::Failure;
use crate::keys::{Keys, raw, revision};
use crate::members::{Members, at};
use crate::wire::{RangeRequest, WatchCreateRequest};

/// Keys in one answer.
const PAGE: i64 = 1000;

#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) entries: Vec<Arc<Entry>>,
    pub(crate) revision: Revision,
}

/// Everything at `past` or, without it, now. Fails as compacted when etcd forgets that revision meanwhile.
pub(crate) async fn everything(
    members: &Members,
    keys: &Keys,
    past: Option<Revision>,
) -> Result<Loaded, Failure> {
    let span = keys.span();
    let mut start = span.start;
    let mut loaded = Loaded {
        entries: Vec::new(),
        revision: past.unwrap_or(0),
    };
    loop {
        let request = RangeRequest {
            key: start.clone(),
            range_end: span.end.clone(),
            limit: PAGE,
            // 0 is "now"; from the second page on it is what the first page said.
            revision: raw(loaded.revision),
            ..RangeRequest::default()
        };
        let page = members
            .read(|member| member.client.range(request.clone()))
            .await?;
        if loaded.revision == 0 {
            loaded.revision = at(page.header.as_ref());
        }
        if let Some(last) = page.kvs.last() {
            start = [&last.key[..], &[0]].concat();
        }
        let kvs = page.kvs.into_iter();
        loaded.entries.extend(kvs.filter_map(|kv| keys.entry(kv)));
        if !page.more {
            return Ok(loaded);
        }
    }
}

/// Everything as it was up to `back` revisions before `now`, as far as etcd remembers.
pub(crate) async fn with_past(
    members: &Members,
    keys: &Keys,
    now: Revision,
    back: u64,
    limit: Duration,
) -> Result<Loaded, Failure> {
    let mut past = now.saturating_sub(back).max(1);
    match everything(members, keys, Some(past)).await {
        Err(Failure::Compacted) => past = compacted(members, keys, limit).await?.max(past),
        loaded => return loaded,
    }
    match everything(members, keys, Some(past)).await {
        Err(Failure::Compacted) => now_or_compacted(members, keys).await,
        loaded => loaded,
    }
}

/// Everything now. A compaction may pass between two pages: the next try is ahead of it again.
pub(crate) async fn now_or_compacted(members: &Members, keys: &Keys) -> Result<Loaded, Failure> {
    const TRIES: usize = 5;
    for _ in 1..TRIES {
        match everything(members, keys, None).await {
            Err(Failure::Compacted) => {}
            loaded => return loaded,
        }
    }
    everything(members, keys, None).await
}

/// The last revision etcd was compacted at, given that there was a compaction: only a watch from before it is told.
async fn compacted(members: &Members, keys: &Keys, limit: Duration) -> Result<Revision, Failure> {
    members
        .read_within(limit, |member| {
            let opening = member.client.watch(WatchCreateRequest {
                key: keys.span().start,
                start_revision: 1,
                ..WatchCreateRequest::default()
            });
            async move {
                let mut stream = opening.await?;
                while let Some(message) = stream.message().await? {
                    if message.compact_revision != 0 {
                        return Ok(revision(message.compact_revision));
                    }
                }
                Err(Status::unknown("the watch ended without a word"))
            }
        })
        .await
}
