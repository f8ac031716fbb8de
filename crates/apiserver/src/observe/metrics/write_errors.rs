//! Changes that the store did not make: each class is counted, and logged when it begins and when it is over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::{Error, Store};
use telemetry::labels;
use telemetry::logs::{self, Field, Limited, SERVER};
use telemetry::metrics::{Counter, Family, Registry};

use super::desc::own_metric;

labels!(pub(crate) Reason { reason });

/// Between two lines about one class.
const PAUSE: Duration = Duration::from_secs(60);

/// By the outcome of the change, and by whether the client or the operator can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// The store refuses all writes, for example because its disk is full.
    ReadOnly,
    /// It cannot be reached.
    Unavailable,
    /// It may or may not have been made.
    OutcomeUnknown,
    Closed,
    /// The client asks for more than fits.
    TooLarge,
    Other,
}

impl Class {
    const COUNT: usize = 6;

    /// None for a conflict, which is no failure of the store.
    fn of(error: &Error) -> Option<Self> {
        match error {
            Error::Conflict { .. } => None,
            Error::ReadOnly { .. } => Some(Self::ReadOnly),
            Error::Unavailable { .. } => Some(Self::Unavailable),
            Error::Unknown { .. } => Some(Self::OutcomeUnknown),
            Error::Closed => Some(Self::Closed),
            Error::TooLarge { .. } | Error::TooManyOperations { .. } => Some(Self::TooLarge),
            _ => Some(Self::Other),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Unavailable => "unavailable",
            Self::OutcomeUnknown => "outcome-unknown",
            Self::Closed => "closed",
            Self::TooLarge => "too-large",
            Self::Other => "other",
        }
    }

    /// Whether a write that succeeds says that this is over.
    fn passes(self) -> bool {
        matches!(
            self,
            Self::ReadOnly | Self::Unavailable | Self::OutcomeUnknown
        )
    }
}

#[derive(Debug)]
pub(crate) struct WriteErrors {
    total: Family<Reason<'static>, Counter>,
    limits: [Limited; Class::COUNT],
    /// The log says that writes fail.
    told: AtomicBool,
}

impl WriteErrors {
    pub(super) fn new(registry: &Registry) -> Self {
        Self {
            total: registry.counter(own_metric(
                "pilothouse_store_write_errors_total",
                "Changes that the store did not make, by reason: read-only, unavailable, outcome-unknown, closed, too-large, other.",
            )),
            limits: [const { Limited::new(PAUSE) }; Class::COUNT],
            told: AtomicBool::new(false),
        }
    }

    /// Hot path: of a write that succeeded. While a store has no room for large ones, small ones may still fit.
    pub(super) fn succeeded(&self, store: &Store) {
        if self.told.load(Ordering::Relaxed)
            && store.stats().1.refusing.is_none()
            && self.told.swap(false, Ordering::Relaxed)
        {
            logs::info(&SERVER, "The store takes writes again", &[]);
        }
    }

    pub(super) fn failed(&self, error: &Error) {
        let Some(class) = Class::of(error) else {
            return;
        };
        let reason = class.as_str();
        self.total.with(&Reason { reason }).inc();
        let Some(more) = self.limits[class as usize].admit() else {
            return;
        };
        if class.passes() {
            self.told.store(true, Ordering::Relaxed);
        }
        let why = error.to_string();
        let more = i64::try_from(more).unwrap_or(i64::MAX);
        let fields = [
            ("class", Field::Text(reason)),
            ("err", Field::Text(&why)),
            ("repeated", Field::Number(more)),
        ];
        logs::error(&SERVER, "The store did not make a change", &fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_is_counted_under_its_name() {
        let registry = Registry::default();
        let errors = WriteErrors::new(&registry);
        let reason = || "No space left on device".into();
        let all = [
            (Error::ReadOnly { reason: reason() }, "read-only"),
            (Error::ReadOnly { reason: reason() }, "read-only"),
            (Error::Unavailable { reason: reason() }, "unavailable"),
            (Error::Unknown { reason: reason() }, "outcome-unknown"),
            (Error::Closed, "closed"),
            (Error::TooLarge { size: 2, limit: 1 }, "too-large"),
            (Error::NoLease(7), "other"),
        ];
        for (error, _) in &all {
            errors.failed(error);
        }
        errors.failed(&Error::Conflict {
            key: "k".into(),
            current: None,
        });
        let count = |reason| errors.total.with(&Reason { reason }).get();
        for (_, reason) in &all {
            let expected = all.iter().filter(|it| it.1 == *reason).count();
            assert_eq!(count(reason), expected as u64, "{reason}");
        }
        assert!(errors.told.load(Ordering::Relaxed));
        errors.succeeded(&store::embedded::in_memory(&store::Options::default()));
        assert!(!errors.told.load(Ordering::Relaxed));
    }
}
