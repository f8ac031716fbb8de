//! Our transactions as etcd's, and its answers as ours.

use std::sync::Arc;

use store::{Condition, Entry, Error, Revision, Txn, Write};

use crate::keys::Keys;
use crate::members::{at, lease_id};
use crate::wire::{
    Compare, CompareResult, DeleteRangeRequest, Operation, Outcome, PutRequest, RangeRequest,
    TxnRequest, TxnResponse,
};

pub(crate) fn check(keys: &Keys, txn: &Txn) -> Result<(), Error> {
    let conditions = txn.conditions.iter().map(Condition::key);
    let mut all = conditions.chain(txn.writes.iter().map(Write::key));
    all.try_for_each(|key| keys.check(key))
}

pub(crate) fn request(keys: &Keys, txn: &Txn) -> TxnRequest {
    let (conditions, writes) = (txn.conditions.iter(), txn.writes.iter());
    TxnRequest {
        compare: conditions.clone().map(|it| compare(keys, it)).collect(),
        success: writes.map(|it| write(keys, it).into()).collect(),
        // What the keys hold instead, read at the same moment.
        failure: conditions.map(|it| read(keys, it).into()).collect(),
    }
}

fn compare(keys: &Keys, condition: &Condition) -> Compare {
    let key = keys.outer(condition.key());
    match condition {
        Condition::Absent(_) => Compare::create_revision(key, CompareResult::Equal, 0),
        Condition::Exists(_) => Compare::create_revision(key, CompareResult::Greater, 0),
        Condition::Unchanged(_, revision) => {
            // A key that does not exist compares as revision 0, and must never count as unchanged.
            let revision = i64::try_from(*revision).ok().filter(|it| *it > 0);
            Compare::mod_revision(key, CompareResult::Equal, revision.unwrap_or(-1))
        }
    }
}

fn write(keys: &Keys, write: &Write) -> Operation {
    let key = keys.outer(write.key());
    match write {
        Write::Put { value, lease, .. } => Operation::Put(PutRequest {
            key,
            value: value.clone(),
            lease: lease_id(*lease),
            prev_kv: true,
        }),
        Write::Delete { .. } => Operation::DeleteRange(DeleteRangeRequest {
            key,
            prev_kv: true,
            ..DeleteRangeRequest::default()
        }),
    }
}

fn read(keys: &Keys, condition: &Condition) -> Operation {
    Operation::Range(RangeRequest {
        key: keys.outer(condition.key()),
        ..RangeRequest::default()
    })
}

/// For each write, what its key held before.
pub(crate) fn previous(keys: &Keys, answer: TxnResponse) -> Vec<Option<Arc<Entry>>> {
    let answers = answer.responses.into_iter();
    answers
        .map(|answer| match answer.response? {
            Outcome::Put(put) => keys.entry(put.prev_kv?),
            Outcome::DeleteRange(deleted) => keys.entry(deleted.prev_kvs.into_iter().next()?),
            Outcome::Range(_) => None,
        })
        .collect()
}

/// The first condition that does not hold, and what its key holds.
pub(crate) fn conflict(keys: &Keys, txn: &Txn, answer: TxnResponse) -> Error {
    let found = answer.responses.into_iter().map(|answer| {
        let Some(Outcome::Range(range)) = answer.response else {
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
pub(crate) fn revision(answer: &TxnResponse) -> Revision {
    at(answer.header.as_ref())
}
