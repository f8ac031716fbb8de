//! What may happen to a store, as numbers that proptest can shrink.

use proptest::collection::vec;
use proptest::prelude::*;

/// Few keys, so that they meet; among them prefixes of each other, NUL, and bytes that are no text.
pub(super) const KEYS: [&[u8]; 9] = [
    b"a",
    b"a\0",
    b"a/",
    b"a/b",
    b"a/\xff",
    b"a/\xff\xff",
    b"a0",
    b"\xff",
    b"\xff\xff",
];

pub(super) const PREFIXES: [&[u8]; 8] =
    [b"", b"a", b"a/", b"a/\xff", b"a/b", b"\xff", b"\0", b"zz"];

/// A revision, named by what it is: the one the key has now, one of the past, or one yet to come.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    Now,
    /// Counted from the oldest, modulo how many there are.
    Past(usize),
    Future,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    Absent(usize),
    Exists(usize),
    Unchanged(usize, At),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Do {
    Put(usize, u8),
    /// With the lease in this slot, alive or not.
    PutLeased(usize, u8, usize),
    Delete(usize),
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Create(usize, u8),
    Put(usize, u8),
    Update(usize, u8, At),
    Delete(usize, At),
    Txn(Vec<When>, Vec<Do>),
    Get(usize),
    Range(usize),
    Page {
        at: At,
        prefix: usize,
        after: Option<usize>,
        limit: usize,
    },
    SnapshotAt(At),
    Watch(usize, At),
    Drain,
    Compact(At),
    Grant,
    KeepAlive(usize),
    Revoke(usize),
    Reopen,
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..60)
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..KEYS.len();
    let prefix = || 0..PREFIXES.len();
    let page = (at(), prefix(), proptest::option::of(key()), 0..5_usize);
    prop_oneof![
        6 => (key(), any::<u8>()).prop_map(|(key, value)| Step::Create(key, value)),
        6 => (key(), any::<u8>()).prop_map(|(key, value)| Step::Put(key, value)),
        6 => (key(), any::<u8>(), at()).prop_map(|(key, value, at)| Step::Update(key, value, at)),
        6 => (key(), at()).prop_map(|(key, at)| Step::Delete(key, at)),
        12 => (vec(when(), 0..3), vec(write(), 0..5)).prop_map(|(when, write)| Step::Txn(when, write)),
        2 => key().prop_map(Step::Get),
        2 => prefix().prop_map(Step::Range),
        3 => page.prop_map(|(at, prefix, after, limit)| Step::Page { at, prefix, after, limit }),
        4 => at().prop_map(Step::SnapshotAt),
        5 => (prefix(), at()).prop_map(|(prefix, at)| Step::Watch(prefix, at)),
        2 => Just(Step::Drain),
        1 => at().prop_map(Step::Compact),
        2 => Just(Step::Grant),
        1 => slot().prop_map(Step::KeepAlive),
        2 => slot().prop_map(Step::Revoke),
        1 => Just(Step::Reopen),
    ]
}

fn at() -> impl Strategy<Value = At> {
    prop_oneof![
        6 => Just(At::Now),
        6 => (0..64_usize).prop_map(At::Past),
        1 => Just(At::Future),
    ]
}

fn when() -> impl Strategy<Value = When> {
    let key = || 0..KEYS.len();
    prop_oneof![
        2 => key().prop_map(When::Absent),
        2 => key().prop_map(When::Exists),
        4 => (key(), at()).prop_map(|(key, at)| When::Unchanged(key, at)),
    ]
}

fn write() -> impl Strategy<Value = Do> {
    let key = || 0..KEYS.len();
    prop_oneof![
        4 => (key(), any::<u8>()).prop_map(|(key, value)| Do::Put(key, value)),
        2 => (key(), any::<u8>(), slot()).prop_map(|(key, value, slot)| Do::PutLeased(key, value, slot)),
        3 => key().prop_map(Do::Delete),
    ]
}

/// Leases are named by the order of their grants.
fn slot() -> impl Strategy<Value = usize> {
    0..4_usize
}
