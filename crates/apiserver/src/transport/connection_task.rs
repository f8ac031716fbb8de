//! Hot path. A connection and the requests on it, as one task.
//!
//! With a task for each request, every answer wakes the connection's task on whatever thread that is, and every event
//! for ten watches on one connection is ten wakes and ten small writes. Here all that is ready is polled first and what
//! it has to say leaves in one write. What is worth a thread of its own is for the service to spawn.

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant;

use futures_util::stream::{FuturesUnordered, Stream as _};
use futures_util::task::AtomicWaker;
use hyper::rt::Executor;
use tokio::time::Sleep;

use crate::transport::delivery::ConnectionState;
use crate::transport::record_writer::{RecordWriter, Seal};
use crate::transport::unread::Charge;

/// A request on a connection of HTTP/2, from its head to the end of its response.
struct Request {
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
    state: Arc<ConnectionState>,
    /// By when its response must be delivered. None before it has begun, and for watches.
    deadline: Option<Instant>,
}

impl Future for Request {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let polled = self.future.as_mut().poll(context);
        if let Some(deadline) = self.state.take_begun() {
            self.deadline = Some(deadline);
        }
        polled
    }
}

/// Polls of everything in a row, before others get their turn.
const ROUNDS: usize = 8;

/// Takes in the requests that a connection begins.
#[derive(Clone)]
pub(crate) struct Requests {
    begun: Arc<Mutex<Vec<Request>>>,
    state: Arc<ConnectionState>,
}

impl Requests {
    pub(crate) fn new(state: Arc<ConnectionState>) -> Self {
        Self {
            begun: Arc::default(),
            state,
        }
    }

    fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.begun.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Requests {
    fn execute(&self, request: F) {
        let request = Request {
            future: Box::pin(request),
            state: self.state.clone(),
            deadline: None,
        };
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.push(request);
    }
}

/// How a connection ended.
pub(crate) enum Ended<T> {
    ByItself(T),
    /// A response was not read in time.
    CutOff,
}

/// Drives a connection, whose executor `begun` is, and its requests to the connection's end.
pub(crate) struct ConnectionTask<'a, C, S> {
    connection: Pin<&'a mut C>,
    begun: Requests,
    stream: RecordWriter<S>,
    running: FuturesUnordered<Request>,
    /// The response under way on a connection of HTTP/1.
    deadline: Option<Instant>,
    /// Goes off when it is time to look for responses that are late. None if there is none to look for.
    timer: Option<Pin<Box<Sleep>>>,
    /// What the client has not taken of what was encrypted for it.
    clogged: Option<Charge>,
    alarm: Arc<Alarm>,
    waker: Waker,
}

impl<'a, C: Future, S: Seal> ConnectionTask<'a, C, S> {
    pub(crate) fn new(
        connection: Pin<&'a mut C>,
        begun: Requests,
        stream: RecordWriter<S>,
    ) -> Self {
        let alarm = Arc::new(Alarm::default());
        Self {
            connection,
            begun,
            stream,
            running: FuturesUnordered::new(),
            deadline: None,
            timer: None,
            clogged: None,
            waker: alarm.clone().into(),
            alarm,
        }
    }

    pub(crate) fn connection(&mut self) -> Pin<&mut C> {
        self.connection.as_mut()
    }

    /// All that was said in this turn, together. If the client takes no more now, the alarm goes off when it does; if it
    /// is gone, the connection will see that itself.
    fn send(&mut self) {
        let mut context = Context::from_waker(&self.waker);
        let is_clogged = self.stream.poll_send(&mut context).is_pending();
        if !is_clogged && self.clogged.is_none() {
            return;
        }
        let state = &self.begun.state;
        self.clogged = is_clogged.then(|| {
            let account = state.memory.last_account();
            state.memory.charge(account, self.stream.held(), None)
        });
        state.set_clogged(is_clogged);
    }

    fn poll_all(&mut self) -> Poll<C::Output> {
        let Self {
            connection,
            begun,
            running,
            waker,
            deadline,
            ..
        } = self;
        let mut context = Context::from_waker(waker);
        while let Poll::Ready(Some(())) = Pin::new(&mut *running).poll_next(&mut context) {}
        let ended = connection.as_mut().poll(&mut context);
        if let Some(begun) = begun.state.take_begun() {
            *deadline = Some(begun);
        }
        for mut request in begun.take() {
            // Most end where they begin: no need to keep account of them.
            if Pin::new(&mut request).poll(&mut context).is_pending() {
                running.push(request);
            }
        }
        ended
    }

    /// Ends what is late, and sets the timer for what may be late next. Says whether the connection must end with it:
    /// HTTP/2 resets a stream, but not one whose last byte was handed over already.
    fn end_late(&mut self) -> bool {
        let state = &self.begun.state;
        let now = Instant::now();
        let is_late = |it: Option<Instant>| it.is_some_and(|it| it <= now);
        if self.running.iter().any(|it| is_late(it.deadline)) {
            let all = std::mem::take(&mut self.running);
            self.running = all.into_iter().filter(|it| !is_late(it.deadline)).collect();
        }
        self.deadline = self.deadline.filter(|_| state.has_open());
        let overdue = state.overdue_at(now);
        if is_late(self.deadline) || is_late(overdue) {
            return true;
        }
        let running = self.running.iter().filter_map(|it| it.deadline);
        let next = running.chain(self.deadline).chain(overdue).min();
        self.timer = next.map(|it| Box::pin(tokio::time::sleep_until(it.into())));
        false
    }

    /// When there is nothing else to do. Ready if the connection must end.
    fn poll_late(&mut self) -> Poll<()> {
        let state = &self.begun.state;
        if let Some(timer) = &mut self.timer {
            if !state.is_earlier(timer.deadline().into_std()) {
                let mut context = Context::from_waker(&self.waker);
                std::task::ready!(timer.as_mut().poll(&mut context));
            }
        } else if !state.has_open() && state.memory.bytes() == 0 {
            // The usual case, decided without reading the clock.
            return Poll::Pending;
        }
        if self.end_late() {
            return Poll::Ready(());
        }
        if let Some(timer) = &mut self.timer {
            let mut context = Context::from_waker(&self.waker);
            // Its time may have come since: then the next look finds out.
            if timer.as_mut().poll(&mut context).is_ready() {
                self.waker.wake_by_ref();
            }
        }
        Poll::Pending
    }
}

impl<C: Future, S: Seal> Future for ConnectionTask<'_, C, S> {
    type Output = Ended<C::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ended<C::Output>> {
        self.alarm.task.register(context.waker());
        for _ in 0..ROUNDS {
            self.alarm.listen();
            if let Poll::Ready(ended) = self.poll_all() {
                self.send();
                return Poll::Ready(Ended::ByItself(ended));
            }
            if self.alarm.sleep() {
                self.send();
                return self.poll_late().map(|()| Ended::CutOff);
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

    /// False if it was woken meanwhile.
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
