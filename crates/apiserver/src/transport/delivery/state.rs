//! Hot path. What the task of a connection and the responses on it know of each other.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::transport::unread::ConnectionMemory;

/// One per connection. Times are nanoseconds since the connection began, and at least one.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    pub(crate) memory: Arc<ConnectionMemory>,
    began: Instant,
    /// How long a request may take at most, in nanoseconds.
    period: u64,
    /// The deadline of a response that began in the current poll; zero if none did.
    begun: AtomicU64,
    /// Responses of more than one frame that are under way.
    open: AtomicUsize,
    /// The earliest deadline among those that have begun since the last look.
    earliest: AtomicU64,
    /// The client takes no more for now.
    is_clogged: AtomicBool,
    unclogged: Mutex<Vec<Waker>>,
}

impl ConnectionState {
    pub(crate) fn new(memory: Arc<ConnectionMemory>, request_timeout: Duration) -> Self {
        Self {
            memory,
            began: Instant::now(),
            period: nanoseconds(request_timeout).max(1),
            begun: AtomicU64::new(0),
            open: AtomicUsize::new(0),
            earliest: AtomicU64::new(u64::MAX),
            is_clogged: AtomicBool::new(false),
            unclogged: Mutex::default(),
        }
    }

    fn since(&self, at: Instant) -> u64 {
        nanoseconds(at.saturating_duration_since(self.began)).max(1)
    }

    /// A response begins that must be delivered by then.
    pub(super) fn begin(&self, deadline: Instant) {
        self.begun.store(self.since(deadline), Ordering::Relaxed);
    }

    /// The deadline of the response that has begun since the last call, if one has.
    pub(crate) fn take_begun(&self) -> Option<Instant> {
        // Begun and taken within one poll of one task.
        if self.begun.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let deadline = self.begun.swap(0, Ordering::Relaxed);
        Some(self.began + Duration::from_nanos(deadline))
    }

    pub(super) fn open(&self, deadline: Option<Instant>) {
        self.open.fetch_add(1, Ordering::Relaxed);
        if let Some(deadline) = deadline {
            let deadline = self.since(deadline);
            self.earliest.fetch_min(deadline, Ordering::Relaxed);
        }
    }

    /// Whether a response that has begun since the last call must be delivered before this time.
    pub(crate) fn is_earlier(&self, timer: Instant) -> bool {
        if self.earliest.load(Ordering::Relaxed) == u64::MAX {
            return false;
        }
        let earliest = self.earliest.swap(u64::MAX, Ordering::Relaxed);
        earliest < self.since(timer)
    }

    pub(super) fn close(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn has_open(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }

    /// In which period of the connection's life a time lies.
    pub(super) fn period(&self, at: Instant) -> u64 {
        self.since(at) / self.period
    }

    /// When bytes that were handed over have waited too long, if any are waiting: at the end of the period of their
    /// deadline.
    pub(crate) fn overdue_at(&self, now: Instant) -> Option<Instant> {
        if self.memory.bytes() == 0 {
            return None;
        }
        let current = self.period(now);
        let mut periods = current.saturating_sub(2)..=current + 1;
        let first = periods.find(|it| self.memory.due(*it) > 0)?;
        Some(self.began + Duration::from_nanos((first + 1).saturating_mul(self.period)))
    }

    /// Says whether the client has taken all that was sent.
    pub(crate) fn set_clogged(&self, is_clogged: bool) {
        if self.is_clogged.load(Ordering::Relaxed) == is_clogged {
            return;
        }
        let waiting = {
            let mut waiting = lock(&self.unclogged);
            self.is_clogged.store(is_clogged, Ordering::Relaxed);
            if is_clogged {
                return;
            }
            std::mem::take(&mut *waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Ready unless the client takes no more for now.
    pub(super) fn poll_writable(&self, context: &Context<'_>) -> Poll<()> {
        if !self.is_clogged.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        let mut waiting = lock(&self.unclogged);
        if !self.is_clogged.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        if !waiting.iter().any(|it| it.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
