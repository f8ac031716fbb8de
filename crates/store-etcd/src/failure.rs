//! The one place where etcd's errors become ours.

use std::error::Error as StdError;
use std::sync::Arc;

use store::{Error, LeaseId, Store, Txn};
use tonic::{Code, ConnectError};

/// etcd's `--max-request-bytes` if not set.
const MAX_REQUEST_BYTES: usize = 3 << 19;

/// What an etcd request came to, if not to an answer.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// Nothing happened there; another member, or the same one later, may do it.
    NotDone(Arc<str>),
    /// It may have happened, it may still happen.
    Lost(Arc<str>),
    /// The cluster is out of space.
    NoSpace,
    TooLarge,
    TooManyOperations,
    NoLease,
    Compacted,
    FutureRevision,
    /// etcd said no, and will say it again.
    Refused(Arc<str>),
}

impl Failure {
    pub(crate) fn new(endpoint: &str, status: &tonic::Status) -> Self {
        let reason: Arc<str> = format!("etcd {endpoint}: {}", describe(status)).into();
        if never_left(status) {
            return Self::NotDone(reason);
        }
        let text = status.message();
        match status.code() {
            // Said before the request is proposed.
            Code::Unavailable if text.contains("no leader") || text.contains("learner") => {
                Self::NotDone(reason)
            }
            // Its code does not survive the way in some versions.
            _ if text.contains("etcdserver: too many requests") => Self::NotDone(reason),
            Code::ResourceExhausted if text.contains("space exceeded") => Self::NoSpace,
            // gRPC's own limit, etcd's `--max-request-bytes` and some.
            Code::ResourceExhausted if text.contains("larger than max") => Self::TooLarge,
            Code::InvalidArgument if text.contains("too large") => Self::TooLarge,
            Code::InvalidArgument if text.contains("too many operations") => {
                Self::TooManyOperations
            }
            Code::NotFound if text.contains("lease not found") => Self::NoLease,
            Code::OutOfRange if text.contains("compacted") => Self::Compacted,
            Code::OutOfRange if text.contains("future revision") => Self::FutureRevision,
            Code::InvalidArgument
            | Code::NotFound
            | Code::OutOfRange
            | Code::FailedPrecondition
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::Unimplemented => Self::Refused(reason),
            _ => Self::Lost(reason),
        }
    }

    /// No answer in time.
    pub(crate) fn late(endpoint: &str) -> Self {
        Self::Lost(format!("etcd {endpoint} did not answer in time").into())
    }

    pub(crate) fn reason(&self) -> Arc<str> {
        match self {
            Self::NotDone(reason) | Self::Lost(reason) | Self::Refused(reason) => reason.clone(),
            other => format!("{other:?}").into(),
        }
    }

    /// Whether another member may give an answer to something that does not change anything.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::NotDone(_) | Self::Lost(_))
    }

    /// For a request that changes nothing.
    pub(crate) fn of_read(self) -> Error {
        match self {
            Self::Lost(reason) => Error::Unavailable { reason },
            other => other.of_write(0, 0, 0),
        }
    }

    pub(crate) fn of_txn(self, txn: &Txn) -> Error {
        let operations = txn.conditions.len().max(txn.writes.len());
        self.of_write(0, txn.size(), operations)
    }

    pub(crate) fn of_lease(self, lease: LeaseId) -> Error {
        self.of_write(lease, 0, 0)
    }

    fn of_write(self, lease: LeaseId, size: usize, operations: usize) -> Error {
        match self {
            Self::NotDone(reason) | Self::Refused(reason) => Error::Unavailable { reason },
            Self::Lost(reason) => Error::Unknown { reason },
            Self::NoSpace => no_space(),
            // etcd does not say its limit: the default, or at least less than what was asked.
            Self::TooLarge => Error::TooLarge {
                size,
                limit: MAX_REQUEST_BYTES.min(size.saturating_sub(1)),
            },
            Self::TooManyOperations => Error::TooManyOperations {
                count: operations,
                limit: operations.saturating_sub(1).min(Store::MAX_OPERATIONS),
            },
            Self::NoLease => Error::NoLease(lease),
            Self::Compacted => Error::Compacted {
                requested: 0,
                floor: 0,
            },
            Self::FutureRevision => Error::FutureRevision {
                requested: 0,
                current: 0,
            },
        }
    }
}

pub(crate) fn no_space() -> Error {
    Error::ReadOnly {
        reason: "etcd is out of space (alarm NOSPACE): compact, `etcdctl defrag`, then `etcdctl alarm disarm`, or \
                 raise its --quota-backend-bytes"
            .into(),
    }
}

/// Whether the request never left: there was no connection, or it went away with the request still in our hands. The
/// latter is all that hyper calls canceled; what it had begun to send ends with another error.
fn never_left(status: &tonic::Status) -> bool {
    chain(status).any(|error| {
        let canceled = error.downcast_ref().is_some_and(hyper::Error::is_canceled);
        canceled || error.is::<ConnectError>()
    })
}

/// The innermost cause says what to do; what is around it says where. Each text once.
fn describe(status: &tonic::Status) -> String {
    let mut text = status.message().to_owned();
    for cause in chain(status) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn chain(status: &tonic::Status) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(status.source(), |&error| error.source())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: Code, text: &str) -> Failure {
        Failure::new("e", &tonic::Status::new(code, text))
    }

    #[test]
    fn only_what_was_certainly_not_done_may_be_done_again() {
        let not_done = [
            (Code::Unavailable, "etcdserver: no leader"),
            (Code::ResourceExhausted, "etcdserver: too many requests"),
            (Code::Unknown, "etcdserver: too many requests"),
        ];
        for (code, text) in not_done {
            assert!(matches!(of(code, text), Failure::NotDone(_)), "{text}");
        }
        let mut status = tonic::Status::unavailable("tcp connect error");
        status.set_source(Arc::new(ConnectError("refused".into())));
        let failure = Failure::new("e", &status);
        assert!(matches!(failure, Failure::NotDone(it) if it.contains("refused")));

        let lost = [
            (Code::Unavailable, "etcdserver: request timed out"),
            (Code::Unavailable, "etcdserver: server stopped"),
            (Code::Unavailable, "etcdserver: leader changed"),
            (Code::Unavailable, "keep-alive timed out"),
            (Code::Cancelled, "operation was canceled"),
            (Code::Unknown, "transport error"),
            (Code::Internal, "h2 protocol error"),
        ];
        for (code, text) in lost {
            let failure = of(code, text);
            assert!(matches!(failure, Failure::Lost(_)), "{text}");
            let error = failure.clone().of_txn(&Txn::new());
            assert!(matches!(error, Error::Unknown { .. }), "{text}");
            assert!(matches!(failure.of_read(), Error::Unavailable { .. }));
        }
    }

    #[test]
    fn etcds_refusals_keep_their_meaning() {
        let txn = Txn::new().put_leased("/k", "v", 7);
        let of = |code, text| of(code, text).of_txn(&txn);
        let large = of(Code::InvalidArgument, "etcdserver: request is too large");
        assert!(matches!(large, Error::TooLarge { size: 3, .. }));
        let large = of(
            Code::ResourceExhausted,
            "grpc: received message larger than max (9 vs. 8)",
        );
        assert!(matches!(large, Error::TooLarge { .. }));
        let space = of(
            Code::ResourceExhausted,
            "etcdserver: mvcc: database space exceeded",
        );
        assert!(matches!(space, Error::ReadOnly { .. }));
        let denied = of(Code::PermissionDenied, "etcdserver: permission denied");
        assert!(matches!(denied, Error::Unavailable { reason } if reason.contains("denied")));
    }
}
