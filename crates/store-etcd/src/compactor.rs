//! Forgets etcd's past from time to time, together with all other servers on the same etcd, kube-apiserver's included.
//!
//! The servers agree by one key: its value is the revision compacted at last, its version counts the rounds. Whoever
//! writes the next version first compacts, at the revision its last round saw, so that one interval of the past stays.
//! The others learn the new count and try again an interval later: if the first is gone by then, another has its turn.

use std::sync::Arc;
use std::time::Duration;

use store::{Revision, View};

use crate::failure::Failure;
use crate::keys::{raw, revision};
use crate::members::{Members, at};
use crate::wire::{
    CompactionRequest, Compare, CompareResult, KeyValue, Operation, Outcome, PutRequest,
    RangeRequest, TxnRequest,
};

/// As kube-apiserver has it, outside of any prefix: compaction is for the whole of etcd.
const KEY: &[u8] = b"compact_rev_key";

#[derive(Debug)]
pub(crate) struct Compactor {
    members: Arc<Members>,
    view: Arc<View>,
    /// The version of the key that the last round saw.
    round: i64,
    /// Where etcd was in the last round.
    seen: Revision,
}

impl Compactor {
    pub(crate) fn new(members: Arc<Members>, view: Arc<View>) -> Self {
        Self {
            members,
            view,
            round: 0,
            seen: 0,
        }
    }

    pub(crate) async fn run(mut self, interval: Duration) {
        loop {
            tokio::time::sleep(interval).await;
            // The next round tries again.
            if let Ok(Some(compacted)) = self.turn().await {
                self.view.compact(compacted);
            }
        }
    }

    /// One round; the revision that etcd is compacted at now, if it is known.
    async fn turn(&mut self) -> Result<Option<Revision>, Failure> {
        let last = self.seen;
        let request = TxnRequest {
            compare: vec![Compare::version(
                KEY.to_vec(),
                CompareResult::Equal,
                self.round,
            )],
            success: vec![
                Operation::Put(PutRequest {
                    key: KEY.to_vec(),
                    value: last.to_string().into(),
                    ..PutRequest::default()
                })
                .into(),
            ],
            failure: vec![
                Operation::Range(RangeRequest {
                    key: KEY.to_vec(),
                    ..RangeRequest::default()
                })
                .into(),
            ],
        };
        let answer = self
            .members
            .write(|member| member.client.txn(request.clone()))
            .await?;
        self.seen = at(answer.header.as_ref());
        if !answer.succeeded {
            let mut answers = answer.responses.into_iter();
            let found = answers.find_map(|it| match it.response {
                Some(Outcome::Range(range)) => range.kvs.into_iter().next(),
                _ => None,
            });
            // Without it the key was removed by hand: the rounds begin anew.
            self.round = found.as_ref().map_or(0, |it| it.version);
            return Ok(found.as_ref().and_then(value));
        }
        self.round += 1;
        if last == 0 {
            return Ok(None);
        }
        let request = CompactionRequest {
            revision: raw(last),
            physical: false,
        };
        let compacted = self
            .members
            .write(|member| member.client.compact(request))
            .await;
        match compacted {
            Ok(_) | Err(Failure::Compacted) => Ok(Some(last)),
            Err(failure) => Err(failure),
        }
    }
}

/// What a round left behind; 0 is what the very first leaves.
fn value(kv: &KeyValue) -> Option<Revision> {
    let text = std::str::from_utf8(&kv.value).ok()?;
    let found = revision(text.parse().ok()?);
    (found > 0).then_some(found)
}
