//! What a Service adds to its transaction.

use json::Value;
use store::{Condition, Txn};

/// More of the transaction that an object is written in.
#[derive(Debug, Default)]
pub struct ExtraWrites {
    pub(super) conditions: Vec<Condition>,
    pub(super) puts: Vec<(String, Vec<u8>)>,
    pub(super) deletes: Vec<String>,
}

impl ExtraWrites {
    pub fn add_to(self, mut txn: Txn) -> Txn {
        for condition in self.conditions {
            txn = txn.when(condition);
        }
        for (key, value) in self.puts {
            txn = txn.put(key, value);
        }
        for key in self.deletes {
            txn = txn.delete(key);
        }
        txn
    }
}

pub(super) fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    object.str_at(path).unwrap_or_default()
}
