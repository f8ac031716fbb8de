//! Hot path. A connection and the requests on it as one task.
//!
//! With a task for each request, every answer wakes the connection's task on whatever thread that is, and every event
//! for ten watches on one connection is ten wakes and ten small writes. Here all that is ready is polled first and what
//! it has to say leaves in one write. What is worth a thread of its own is for the service to spawn.

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::stream::{FuturesUnordered, Stream as _};
use futures_util::task::AtomicWaker;
use hyper::rt::Executor;

use crate::gather::{Gathered, Seal};

type Request = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Polls of everything in a row, before others get their turn.
const ROUNDS: usize = 8;

/// Takes in the requests that a connection begins.
#[derive(Clone, Default)]
pub(crate) struct Requests(Arc<Mutex<Vec<Request>>>);

impl Requests {
    fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Requests {
    fn execute(&self, request: F) {
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.push(Box::pin(request));
    }
}

/// Drives a connection, whose executor `begun` is, and its requests to the connection's end.
pub(crate) struct Together<'a, C, S> {
    connection: Pin<&'a mut C>,
    begun: Requests,
    stream: Gathered<S>,
    running: FuturesUnordered<Request>,
    alarm: Arc<Alarm>,
    waker: Waker,
}

impl<'a, C: Future, S: Seal> Together<'a, C, S> {
    pub(crate) fn new(connection: Pin<&'a mut C>, begun: Requests, stream: Gathered<S>) -> Self {
        let alarm = Arc::new(Alarm::default());
        Self {
            connection,
            begun,
            stream,
            running: FuturesUnordered::new(),
            waker: alarm.clone().into(),
            alarm,
        }
    }

    pub(crate) fn connection(&mut self) -> Pin<&mut C> {
        self.connection.as_mut()
    }

    /// All that was said in this turn, together. If the client takes no more now, the alarm goes off when it does; if it
    /// is gone, the connection will see that itself.
    fn send(&self) {
        let mut context = Context::from_waker(&self.waker);
        let _ = self.stream.poll_send(&mut context);
    }

    fn poll_all(&mut self) -> Poll<C::Output> {
        let Self {
            connection,
            begun,
            running,
            waker,
            ..
        } = self;
        let mut context = Context::from_waker(waker);
        while let Poll::Ready(Some(())) = Pin::new(&mut *running).poll_next(&mut context) {}
        let ended = connection.as_mut().poll(&mut context);
        for mut request in begun.take() {
            // Most end where they begin: no need to keep account of them.
            if request.as_mut().poll(&mut context).is_pending() {
                running.push(request);
            }
        }
        ended
    }
}

impl<C: Future, S: Seal> Future for Together<'_, C, S> {
    type Output = C::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<C::Output> {
        self.alarm.task.register(context.waker());
        for _ in 0..ROUNDS {
            self.alarm.listen();
            if let Poll::Ready(ended) = self.poll_all() {
                self.send();
                return Poll::Ready(ended);
            }
            if self.alarm.sleep() {
                self.send();
                return Poll::Pending;
            }
        }
        self.send();
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Wakes the task, unless the task is at it anyway: then it just looks again.
#[derive(Default)]
struct Alarm {
    state: AtomicU8,
    task: AtomicWaker,
}

const ASLEEP: u8 = 0;
const AWAKE: u8 = 1;
const CALLED: u8 = 2;

impl Alarm {
    fn listen(&self) {
        self.state.swap(AWAKE, Ordering::AcqRel);
    }

    /// False if somebody called meanwhile.
    fn sleep(&self) -> bool {
        let (order, failure) = (Ordering::AcqRel, Ordering::Acquire);
        let slept = self.state.compare_exchange(AWAKE, ASLEEP, order, failure);
        slept.is_ok()
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(CALLED, Ordering::AcqRel) == ASLEEP {
            self.task.wake();
        }
    }
}
