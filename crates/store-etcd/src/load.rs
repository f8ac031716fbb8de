//! Reading all entries at one revision.

use std::sync::Arc;
use std::time::Duration;

use etcd_client::{GetOptions, WatchOptions};
use store::{Entry, Revision};

use crate::failure::Failure;
use crate::keys::{Keys, raw, revision};
use crate::members::{Members, at};

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
        let mut page = members
            .read(|member| {
                let options = GetOptions::new()
                    .with_range(span.end.clone())
                    .with_limit(PAGE)
                    // 0 is "now"; from the second page on it is what the first page said.
                    .with_revision(raw(loaded.revision));
                let (mut kv, start) = (member.kv(), start.clone());
                async move { kv.get(start, Some(options)).await }
            })
            .await?;
        if loaded.revision == 0 {
            loaded.revision = at(page.header());
        }
        let more = page.more();
        if let Some(last) = page.kvs().last() {
            start = [last.key(), &[0]].concat();
        }
        let kvs = page.take_kvs().into_iter();
        loaded.entries.extend(kvs.filter_map(|kv| keys.entry(kv.0)));
        if !more {
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
            let (mut watch, key) = (member.watch(), keys.span().start);
            async move {
                let options = WatchOptions::new().with_start_revision(1);
                let mut stream = watch.watch(key, Some(options)).await?;
                while let Some(message) = stream.message().await? {
                    if message.compact_revision() != 0 {
                        return Ok(revision(message.compact_revision()));
                    }
                }
                let text = "the watch ended without a word".to_owned();
                Err(etcd_client::Error::WatchError(text))
            }
        })
        .await
}
