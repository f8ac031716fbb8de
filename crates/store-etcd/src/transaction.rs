//! Our transactions as etcd's, and its answers as ours.

use std::sync::Arc;

use etcd_client::proto::{PbTxnOpResponse, PbTxnResponse};
use etcd_client::{Compare, CompareOp, DeleteOptions, PutOptions, Txn as EtcdTxn, TxnOp};
use store::{Condition, Entry, Error, Revision, Txn, Write};

use crate::keys::Keys;
use crate::members::lease_id;

pub(crate) fn check(keys: &Keys, txn: &Txn) -> Result<(), Error> {
    let conditions = txn.conditions.iter().map(Condition::key);
    let mut all = conditions.chain(txn.writes.iter().map(Write::key));
    all.try_for_each(|key| keys.check(key))
}

pub(crate) fn request(keys: &Keys, txn: &Txn) -> EtcdTxn {
    let compares: Vec<_> = txn.conditions.iter().map(|it| compare(keys, it)).collect();
    let writes: Vec<_> = txn.writes.iter().map(|it| write(keys, it)).collect();
    // What the keys hold instead, read at the same moment.
    let instead = |it: &Condition| TxnOp::get(keys.outer(it.key()), None);
    let instead: Vec<_> = txn.conditions.iter().map(instead).collect();
    EtcdTxn::new()
        .when(compares)
        .and_then(writes)
        .or_else(instead)
}

fn compare(keys: &Keys, condition: &Condition) -> Compare {
    let key = keys.outer(condition.key());
    match condition {
        Condition::Absent(_) => Compare::create_revision(key, CompareOp::Equal, 0),
        Condition::Exists(_) => Compare::create_revision(key, CompareOp::Greater, 0),
        Condition::Unchanged(_, revision) => {
            // A key that does not exist compares as revision 0, and must never count as unchanged.
            let revision = i64::try_from(*revision).ok().filter(|it| *it > 0);
            Compare::mod_revision(key, CompareOp::Equal, revision.unwrap_or(-1))
        }
    }
}

fn write(keys: &Keys, write: &Write) -> TxnOp {
    let key = keys.outer(write.key());
    match write {
        Write::Put { value, lease, .. } => {
            let options = PutOptions::new()
                .with_prev_key()
                .with_lease(lease_id(*lease));
            TxnOp::put(key, value.as_ref(), Some(options))
        }
        Write::Delete { .. } => TxnOp::delete(key, Some(DeleteOptions::new().with_prev_key())),
    }
}

/// For each write, what its key held before.
pub(crate) fn previous(keys: &Keys, answer: PbTxnResponse) -> Vec<Option<Arc<Entry>>> {
    let answers = answer.responses.into_iter();
    answers
        .map(|answer| match answer.response? {
            PbTxnOpResponse::ResponsePut(put) => keys.entry(put.prev_kv?),
            PbTxnOpResponse::ResponseDeleteRange(deleted) => {
                keys.entry(deleted.prev_kvs.into_iter().next()?)
            }
            _ => None,
        })
        .collect()
}

/// The first condition that does not hold, and what its key holds.
pub(crate) fn conflict(keys: &Keys, txn: &Txn, answer: PbTxnResponse) -> Error {
    let found = answer.responses.into_iter().map(|answer| {
        let Some(PbTxnOpResponse::ResponseRange(range)) = answer.response else {
            return None;
        };
        keys.entry(range.kvs.into_iter().next()?)
    });
    for (condition, current) in txn.conditions.iter().zip(found) {
        if !condition.holds(current.as_deref()) {
            let key = condition.key().clone();
            return Error::Conflict { key, current };
        }
    }
    Error::Unavailable {
        reason: "etcd refused a transaction whose conditions all hold".into(),
    }
}

/// The revision in an answer's header; etcd always sends one.
pub(crate) fn revision(answer: &PbTxnResponse) -> Revision {
    let header = answer.header.as_ref();
    header.map_or(0, |header| crate::keys::revision(header.revision))
}
