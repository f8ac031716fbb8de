//! The caller's keys and etcd's: with and without the prefix.

use std::sync::Arc;

use bytes::Bytes;
use store::{Entry, Error, Revision, prefix_end};

use crate::wire::KeyValue;

#[derive(Clone, Debug)]
pub(crate) struct Keys {
    prefix: Bytes,
}

/// A range as etcd takes it; an end of `\0` means "to the last key".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: Vec<u8>,
    pub(crate) end: Vec<u8>,
}

impl Keys {
    pub(crate) fn new(prefix: &str) -> Self {
        // As kube-apiserver has it, which joins paths: one slash before each part. The caller's keys bring the next.
        let parts = prefix.split('/').filter(|it| !it.is_empty());
        let prefix: String = parts.flat_map(|it| ["/", it]).collect();
        Self {
            prefix: prefix.into(),
        }
    }

    pub(crate) fn is_all(&self) -> bool {
        self.prefix.is_empty()
    }

    /// `/foo` and `/foobar` are two users of one etcd: without the separator the first would own the second's keys.
    pub(crate) fn check(&self, key: &[u8]) -> Result<(), Error> {
        if self.is_all() || key.starts_with(b"/") {
            return Ok(());
        }
        Err(Error::Unavailable {
            reason: "below an etcd prefix every key begins with /".into(),
        })
    }

    pub(crate) fn outer(&self, key: &[u8]) -> Vec<u8> {
        [&self.prefix, key].concat()
    }

    /// `None`: somebody else's key.
    pub(crate) fn inner(&self, key: Vec<u8>) -> Option<Bytes> {
        let rest = key.strip_prefix(&*self.prefix)?;
        self.check(rest).ok()?;
        Some(Bytes::from(key).slice(self.prefix.len()..))
    }

    /// All keys of ours.
    pub(crate) fn span(&self) -> Span {
        if self.is_all() {
            return Span::everything();
        }
        let start = [&self.prefix, &b"/"[..]].concat();
        let end = prefix_end(&start).unwrap_or_else(|| vec![0]);
        Span { start, end }
    }

    /// `None`: somebody else's entry.
    pub(crate) fn entry(&self, kv: KeyValue) -> Option<Arc<Entry>> {
        Some(Arc::new(Entry {
            key: self.inner(kv.key)?,
            value: kv.value.into(),
            created: revision(kv.create_revision),
            modified: revision(kv.mod_revision),
            lease: kv.lease.cast_unsigned(),
        }))
    }
}

impl Span {
    pub(crate) fn everything() -> Self {
        Self {
            start: vec![0],
            end: vec![0],
        }
    }
}

/// etcd's revisions are signed and never negative.
pub(crate) fn revision(raw: i64) -> Revision {
    Revision::try_from(raw).unwrap_or(0)
}

/// For etcd; it has no revision beyond `i64::MAX`.
pub(crate) fn raw(revision: Revision) -> i64 {
    i64::try_from(revision).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_pass_unchanged_through_any_prefix() {
        for prefix in ["", "/foo", "/foo/", "foo"] {
            let keys = Keys::new(prefix);
            for key in [&b"/registry/x"[..], b"/", b"/\xff\x00"] {
                let outer = keys.outer(key);
                assert_eq!(keys.inner(outer).unwrap(), key, "prefix {prefix:?}");
            }
        }
        for prefix in ["/foo", "foo", "//foo/"] {
            let outer = Keys::new(prefix).outer(b"/registry/x");
            assert_eq!(outer, b"/foo/registry/x", "prefix {prefix:?}");
        }
    }

    #[test]
    fn a_longer_sibling_of_the_prefix_is_somebody_else() {
        let keys = Keys::new("/foo");
        assert_eq!(keys.inner(b"/foobar/x".to_vec()), None);
        assert_eq!(keys.inner(b"/bar/x".to_vec()), None);
        let Span { start, end } = keys.span();
        assert!(b"/foo/x"[..] >= start[..] && b"/foo/x"[..] < end[..]);
        assert!(b"/foobar"[..] >= end[..]);
        assert!(keys.check(b"bar").is_err());
    }
}
