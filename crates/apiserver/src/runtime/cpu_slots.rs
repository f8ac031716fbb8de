//! Requests that need much CPU leave the worker threads, so that small requests and health checks never wait for them.
//!
//! A request whose next step reads many bytes calls [`enter`] before it. From then on each poll of it waits for a CPU slot and
//! runs by [`blocking`]: the worker's other tasks go on elsewhere. There are as many slots as cores. Users take turns, so that
//! one user's crowd of heavy requests delays another's by one poll and not by the whole crowd; among one user's requests,
//! those that have begun come first, so that they end and free what they hold.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use telemetry::trace::{self, Role, Scope};
use tokio::sync::oneshot;

use crate::runtime::blocking::blocking;

/// From here on a step is taken for heavy: a round number, not one that was measured for each kind.
pub(crate) const CPU_SLOT_THRESHOLD: usize = 16 << 10;

thread_local! {
    /// What the request that this thread polls has said of itself.
    static DECLARED: Cell<Option<Class>> = const { Cell::new(None) };
    /// This poll runs in a slot already.
    static IN_SLOT: Cell<bool> = const { Cell::new(false) };
}

/// Whose turn a request takes.
#[derive(Clone, Copy, Debug)]
struct Class {
    user: u64,
    /// Its user comes before others.
    is_exempt: bool,
}

/// Whether a step that reads so many bytes should wait for a slot. Not if this request has one.
pub(crate) fn needs_cpu_slot(bytes: usize) -> bool {
    bytes >= CPU_SLOT_THRESHOLD && !IN_SLOT.get()
}

/// Comes back in a CPU slot, if this is called below [`Offload`].
pub(crate) async fn enter(user: &str, is_exempt: bool) {
    let mut is_declared = false;
    std::future::poll_fn(|context| {
        if is_declared {
            return Poll::Ready(());
        }
        is_declared = true;
        let user = hash(user);
        DECLARED.set(Some(Class { user, is_exempt }));
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn hash(user: &str) -> u64 {
    static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    STATE.hash_one(user)
}

/// Slots for heavy work.
#[derive(Debug)]
pub(crate) struct CpuSlots(Mutex<Waiting>);

#[derive(Debug)]
struct Waiting {
    free: usize,
    /// Waiting requests by user, first come first served.
    users: HashMap<u64, VecDeque<oneshot::Sender<CpuSlot>>>,
    /// The users that wait, in the order of their turns.
    turns: VecDeque<u64>,
}

impl Waiting {
    fn next(&mut self) -> Option<oneshot::Sender<CpuSlot>> {
        let user = self.turns.pop_front()?;
        let queue = self.users.get_mut(&user)?;
        let next = queue.pop_front();
        if queue.is_empty() {
            self.users.remove(&user);
        } else {
            self.turns.push_back(user);
        }
        next
    }
}

/// A slot, given to the next one when it is dropped.
#[derive(Debug)]
struct CpuSlot(Option<Arc<CpuSlots>>);

impl Drop for CpuSlot {
    fn drop(&mut self) {
        if let Some(slots) = self.0.take() {
            slots.give_back();
        }
    }
}

impl CpuSlots {
    /// One for each core.
    pub(crate) fn new() -> Arc<Self> {
        let cores = std::thread::available_parallelism();
        Self::of(cores.map_or(2, std::num::NonZero::get))
    }

    fn of(free: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Waiting {
            free,
            users: HashMap::new(),
            turns: VecDeque::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(
        self: &Arc<Self>,
        class: Class,
        has_begun: bool,
    ) -> Result<CpuSlot, oneshot::Receiver<CpuSlot>> {
        let mut waiting = self.lock();
        if waiting.free > 0 {
            waiting.free -= 1;
            return Ok(CpuSlot(Some(self.clone())));
        }
        let (sender, receiver) = oneshot::channel();
        let queue = waiting.users.entry(class.user).or_default();
        if has_begun {
            queue.push_front(sender);
        } else {
            queue.push_back(sender);
        }
        if queue.len() > 1 {
            return Err(receiver);
        }
        if class.is_exempt {
            waiting.turns.push_front(class.user);
        } else {
            waiting.turns.push_back(class.user);
        }
        Err(receiver)
    }

    fn give_back(self: Arc<Self>) {
        loop {
            let next = {
                let mut waiting = self.lock();
                let next = waiting.next();
                if next.is_none() {
                    waiting.free += 1;
                }
                next
            };
            let Some(next) = next else {
                return;
            };
            match next.send(CpuSlot(Some(self.clone()))) {
                Ok(()) => return,
                // Given up meanwhile; the slot in hand goes to the one behind.
                Err(mut slot) => slot.0 = None,
            }
        }
    }
}

/// A request's work, which may turn out to be heavy.
pub(crate) struct Offload<'a, F> {
    work: Pin<&'a mut F>,
    slots: &'a Arc<CpuSlots>,
    /// Once it is heavy.
    class: Option<Class>,
    has_begun: bool,
    waiting: Option<(oneshot::Receiver<CpuSlot>, trace::Span)>,
}

impl<'a, F: Future> Offload<'a, F> {
    pub(crate) fn new(slots: &'a Arc<CpuSlots>, work: Pin<&'a mut F>) -> Self {
        Self {
            work,
            slots,
            class: None,
            has_begun: false,
            waiting: None,
        }
    }

    fn poll_slot(&mut self, class: Class, context: &mut Context<'_>) -> Poll<CpuSlot> {
        let (mut receiver, span) = match self.waiting.take() {
            Some(waiting) => waiting,
            None => match self.slots.take(class, self.has_begun) {
                Ok(slot) => return Poll::Ready(slot),
                Err(receiver) => {
                    let span = trace::span_as("cpu.wait", Scope::Own, Role::Plain);
                    (receiver, span)
                }
            },
        };
        match Pin::new(&mut receiver).poll(context) {
            // A sender is dropped only after it has sent.
            Poll::Ready(slot) => Poll::Ready(slot.unwrap_or(CpuSlot(None))),
            Poll::Pending => {
                self.waiting = Some((receiver, span));
                Poll::Pending
            }
        }
    }
}

impl<F: Future> Future for Offload<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(class) = self.class else {
            let polled = self.work.as_mut().poll(context);
            self.class = DECLARED.take();
            return polled;
        };
        let _slot = ready!(self.poll_slot(class, context));
        self.has_begun = true;
        blocking(|| {
            let _in_slot = InSlot::enter();
            self.work.as_mut().poll(context)
        })
    }
}

/// Marks this thread while it lives, also if the work panics.
struct InSlot;

impl InSlot {
    fn enter() -> Self {
        IN_SLOT.set(true);
        Self
    }
}

impl Drop for InSlot {
    fn drop(&mut self) {
        IN_SLOT.set(false);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    fn of(user: u64) -> Class {
        Class {
            user,
            is_exempt: false,
        }
    }

    fn wait(slots: &Arc<CpuSlots>, user: u64) -> oneshot::Receiver<CpuSlot> {
        slots
            .take(of(user), false)
            .expect_err("there is no free slot")
    }

    #[test]
    fn users_take_turns() {
        let slots = CpuSlots::of(1);
        let first = slots.take(of(1), false).unwrap();
        let mut crowd: Vec<_> = (0..3).map(|_| wait(&slots, 1)).collect();
        let mut other = wait(&slots, 2);
        drop(first);
        let second = crowd[0].try_recv().unwrap();
        assert!(other.try_recv().is_err());
        drop(second);
        let third = other.try_recv().unwrap();
        assert!(crowd[1].try_recv().is_err());
        drop(third);
        assert!(crowd[1].try_recv().is_ok());
    }

    #[test]
    fn what_has_begun_and_who_is_exempt_come_first() {
        let slots = CpuSlots::of(1);
        let first = slots.take(of(1), false).unwrap();
        let mut new = wait(&slots, 1);
        let mut begun = slots.take(of(1), true).expect_err("no free slot");
        let exempt = Class {
            is_exempt: true,
            ..of(2)
        };
        let mut exempt = slots.take(exempt, false).expect_err("no free slot");
        drop(first);
        drop(exempt.try_recv().unwrap());
        drop(begun.try_recv().unwrap());
        drop(new.try_recv().unwrap());
    }

    #[test]
    fn a_slot_passes_those_who_gave_up() {
        let slots = CpuSlots::of(1);
        let first = slots.take(of(1), false).unwrap();
        drop(wait(&slots, 1));
        let unseen = wait(&slots, 2);
        let mut last = wait(&slots, 3);
        drop(first);
        // The slot was sent, but its receiver is gone.
        drop(unseen);
        drop(last.try_recv().unwrap());
        assert!(slots.take(of(4), false).is_ok());
        assert!(slots.lock().users.is_empty());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn heavy_work_holds_up_no_other_task() {
        let slots = CpuSlots::of(1);
        let (started, wait) = std::sync::mpsc::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let one = slots.clone();
        let task = tokio::spawn(async move {
            let work = pin!(async move {
                assert!(needs_cpu_slot(CPU_SLOT_THRESHOLD));
                enter("alice", false).await;
                assert!(!needs_cpu_slot(CPU_SLOT_THRESHOLD));
                started.send(()).unwrap();
                released.recv().unwrap();
            });
            Offload::new(&one, work).await;
        });
        tokio::task::spawn_blocking(move || wait.recv().unwrap())
            .await
            .unwrap();
        // The only worker goes on.
        let small = tokio::spawn(async { needs_cpu_slot(CPU_SLOT_THRESHOLD - 1) });
        assert!(!small.await.unwrap());
        assert_eq!(slots.lock().free, 0);
        release.send(()).unwrap();
        task.await.unwrap();
        assert_eq!(slots.lock().free, 1);
    }
}
