//! Keys that wait for work: each once, never two workers on one key, failures later and later.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use apiserver::local::{Local, QueueSeries};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The first wait after a failure; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(20);

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Again, later each time.
    Retry,
}

#[derive(Debug)]
pub(crate) struct Queue<K> {
    state: Mutex<State<K>>,
    wake: Notify,
    longest: Duration,
    series: QueueSeries,
}

#[derive(Debug)]
struct State<K> {
    /// With the moment at which they were added.
    ready: VecDeque<(K, std::time::Instant)>,
    /// In `ready`, or to be there when its worker is done.
    wanted: HashSet<K>,
    running: HashSet<K>,
    later: BTreeMap<(Instant, u64), K>,
    failures: HashMap<K, u32>,
    count: u64,
}

impl<K: Clone + Eq + Hash + Send + Sync + 'static> Queue<K> {
    /// Failures are tried again after `longest` at the latest. Metrics know the queue by its `name`.
    pub(crate) fn new(client: &Local, name: &str, longest: Duration) -> Arc<Self> {
        Self::counted(client.host().queue_series(name), longest)
    }

    fn counted(series: QueueSeries, longest: Duration) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                ready: VecDeque::new(),
                wanted: HashSet::new(),
                running: HashSet::new(),
                later: BTreeMap::new(),
                failures: HashMap::new(),
                count: 0,
            }),
            wake: Notify::new(),
            longest,
            series,
        })
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, key: K) {
        let mut state = self.state();
        let new = state.add(key);
        self.series.added(state.ready.len());
        drop(state);
        if new {
            self.wake.notify_one();
        }
    }

    /// Works on keys as they come, on up to `workers` at a time. Never ends.
    pub(crate) async fn run<F>(
        self: &Arc<Self>,
        workers: usize,
        mut work: impl FnMut(K) -> F,
    ) -> std::convert::Infallible
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let mut tasks = JoinSet::new();
        loop {
            let wait = if tasks.len() < workers {
                match self.take() {
                    Take::Key(key, added) => {
                        let (queue, doing) = (self.clone(), work(key.clone()));
                        let begun = self.series.begun(added);
                        // Boxed: the runtime's code for tasks is compiled once, not for each controller.
                        let task: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
                            let outcome = doing.await;
                            queue.series.ended(begun);
                            queue.finish(&key, outcome);
                        });
                        tasks.spawn(task);
                        continue;
                    }
                    Take::Later(at) => Some(at),
                    Take::Nothing => None,
                }
            } else {
                None
            };
            let due = async {
                match wait {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.wake.notified() => {}
                () = due => {}
                Some(_) = tasks.join_next() => {}
            }
        }
    }

    fn take(&self) -> Take<K> {
        let mut state = self.state();
        let now = Instant::now();
        while let Some(entry) = state.later.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let key = entry.remove();
            state.add(key);
        }
        if let Some((key, added)) = state.ready.pop_front() {
            state.wanted.remove(&key);
            state.running.insert(key.clone());
            self.series.set_depth(state.ready.len());
            return Take::Key(key, added);
        }
        let first = state.later.first_key_value();
        first.map_or(Take::Nothing, |((at, _), _)| Take::Later(*at))
    }

    fn finish(&self, key: &K, outcome: Outcome) {
        let mut state = self.state();
        state.running.remove(key);
        if state.wanted.contains(key) {
            state
                .ready
                .push_back((key.clone(), std::time::Instant::now()));
        }
        match outcome {
            Outcome::Done => drop(state.failures.remove(key)),
            Outcome::Retry => {
                self.series.retried();
                let failures = state.failures.entry(key.clone()).or_insert(0);
                let wait = FIRST * 2_u32.saturating_pow((*failures).min(20));
                *failures += 1;
                let at = Instant::now() + wait.min(self.longest);
                state.count += 1;
                let place = (at, state.count);
                state.later.insert(place, key.clone());
            }
        }
    }
}

impl<K: Clone + Eq + Hash> State<K> {
    /// Whether there is something new to do now.
    fn add(&mut self, key: K) -> bool {
        if !self.wanted.insert(key.clone()) || self.running.contains(&key) {
            return false;
        }
        self.ready.push_back((key, std::time::Instant::now()));
        true
    }
}

enum Take<K> {
    Key(K, std::time::Instant),
    Later(Instant),
    Nothing,
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use apiserver::local::Queues;
    use telemetry::metrics::Registry;

    use super::*;

    fn series() -> QueueSeries {
        Queues::new(&Registry::default()).of("test")
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_worked_on_by_one_at_a_time_and_again_when_it_changed_meanwhile() {
        let queue = Queue::counted(series(), Duration::from_secs(1));
        let (running, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        queue.add("a");
        queue.add("a");
        let (inner, busy, count) = (queue.clone(), running.clone(), done.clone());
        let work = queue.run(4, move |key| {
            let (inner, busy, count) = (inner.clone(), busy.clone(), count.clone());
            async move {
                assert_eq!(busy.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                if count.load(Ordering::SeqCst) == 0 {
                    inner.add(key);
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
                busy.fetch_sub(1, Ordering::SeqCst);
                count.fetch_add(1, Ordering::SeqCst);
                Outcome::Done
            }
        });
        let _ = tokio::time::timeout(Duration::from_secs(60), work).await;
        assert_eq!(done.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn failures_come_again_later_each_time() {
        let queue = Queue::counted(series(), Duration::from_millis(100));
        queue.add(());
        let (start, times) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
        let seen = times.clone();
        let work = queue.run(1, move |()| {
            seen.lock().unwrap().push(start.elapsed().as_millis());
            async { Outcome::Retry }
        });
        let _ = tokio::time::timeout(Duration::from_millis(400), work).await;
        assert_eq!(*times.lock().unwrap(), [0, 20, 60, 140, 240, 340]);
    }
}
