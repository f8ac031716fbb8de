//! An instrument: its series by their labels, at most so many.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use super::handle::{Counter, Gauge, Histogram, Unit};
use super::layout::Layout;
use super::registry::{Collect, Desc, Gathered, Kind, Sample, Value};
use super::view::{Shape, View};

/// The labels of an instrument; see [`crate::labels`].
pub trait Labels {
    /// In the alphabet's order.
    const NAMES: &'static [&'static str];
    type Values<'a>: Values;
}

/// Values of labels, in the order of their names.
pub trait Values {
    fn each(&self, take: &mut dyn FnMut(&str));
}

/// No labels.
impl Labels for () {
    const NAMES: &'static [&'static str] = &[];
    type Values<'a> = ();
}

impl Values for () {
    fn each(&self, _: &mut dyn FnMut(&str)) {}
}

/// All series of an instrument.
#[derive(Debug)]
pub struct Family<L, M>(Arc<Series<M>>, PhantomData<fn(L)>);

impl<L, M> Clone for Family<L, M> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

#[derive(Debug)]
pub(super) struct Series<M> {
    desc: Desc,
    kind: Kind,
    names: &'static [&'static str],
    own_bounds: &'static [f64],
    own_idle: Duration,
    /// In seconds.
    idle: AtomicU64,
    /// Whether there is a shape: most instruments have none, and need not look.
    is_shaped: AtomicBool,
    shape: RwLock<Option<Shape>>,
    /// Of a histogram. Taken after `all`.
    bounds: RwLock<Bounds>,
    all: RwLock<HashMap<Box<[u8]>, Slot<M>>>,
    /// How often a new series was refused.
    refused: Counter,
}

#[derive(Clone, Debug)]
struct Bounds {
    shown: Arc<[f64]>,
    layout: Arc<Layout>,
}

impl Bounds {
    fn new(kind: Kind, shown: &[f64]) -> Self {
        Self {
            shown: shown.into(),
            layout: Arc::new(Layout::new(unit(kind), shown)),
        }
    }
}

fn unit(kind: Kind) -> Unit {
    match kind {
        Kind::Histogram(unit) => unit,
        _ => Unit::One,
    }
}

#[derive(Debug)]
struct Slot<M> {
    handle: M,
    created: SystemTime,
    /// How it looked when it was last read, and when that was new, in seconds since 1970.
    looked: AtomicU64,
    since: AtomicU64,
    /// Its subject is gone; unset when the series is requested again.
    retired: AtomicBool,
}

/// What series that there is no room for are counted under, in each of their labels. Kubernetes has this word for
/// values that are not on its lists.
pub(super) const UNEXPECTED: &str = "unexpected";
/// Seconds that a series whose subject is gone stays without a change: several scrapes.
const RETIRED: u64 = 300;
/// Of a label's value.
const LONGEST: usize = 512;
/// Between the values of a key: no byte of UTF-8.
const SEPARATOR: u8 = 0xff;

pub(super) trait Instrument: Clone + Send + Sync + std::fmt::Debug + 'static {
    fn make(layout: &Arc<Layout>) -> Self;
    fn read(&self, unit: Unit) -> Value;
    fn holders(&self) -> usize;
    /// Another number whenever it has moved; `None` if it must stay, whoever moved it last.
    fn look(&self) -> Option<u64>;
    /// Begins anew with other bounds, for all its handles.
    fn rebound(&self, _: &Arc<Layout>) {}
}

impl Instrument for Counter {
    fn make(_: &Arc<Layout>) -> Self {
        Self::new()
    }

    fn read(&self, _: Unit) -> Value {
        Value::Counter(self.get())
    }

    fn holders(&self) -> usize {
        self.holders()
    }

    fn look(&self) -> Option<u64> {
        Some(self.get())
    }
}

impl Instrument for Gauge {
    fn make(_: &Arc<Layout>) -> Self {
        Self::new()
    }

    fn read(&self, _: Unit) -> Value {
        #[expect(clippy::cast_precision_loss, reason = "it is shown as a float")]
        Value::Number(self.get() as f64)
    }

    fn holders(&self) -> usize {
        self.holders()
    }

    fn look(&self) -> Option<u64> {
        (self.get() == 0).then_some(0)
    }
}

impl Instrument for Histogram {
    fn make(layout: &Arc<Layout>) -> Self {
        Self::new(layout)
    }

    fn read(&self, unit: Unit) -> Value {
        let (counts, native, sum) = Self::read(self);
        let exemplars = self.exemplars();
        Value::Histogram {
            counts,
            native: Some(native),
            sum: unit.shown(sum),
            exemplars,
        }
    }

    fn holders(&self) -> usize {
        self.holders()
    }

    fn look(&self) -> Option<u64> {
        Some(self.count())
    }

    fn rebound(&self, layout: &Arc<Layout>) {
        Self::rebound(self, layout);
    }
}

#[expect(private_bounds, reason = "there are three, and all are ours")]
impl<L: Labels, M: Instrument> Family<L, M> {
    /// `bounds` are of a histogram.
    pub(super) fn new(desc: Desc, kind: Kind, bounds: &'static [f64], idle: Duration) -> Self {
        let series = Series {
            desc,
            kind,
            names: L::NAMES,
            own_bounds: bounds,
            own_idle: idle,
            idle: AtomicU64::new(idle.as_secs()),
            is_shaped: AtomicBool::new(false),
            shape: RwLock::default(),
            bounds: RwLock::new(Bounds::new(kind, bounds)),
            all: RwLock::default(),
            refused: Counter::new(),
        };
        Self(Arc::new(series), PhantomData)
    }

    pub(super) fn series(&self) -> &Arc<Series<M>> {
        &self.0
    }

    /// The handle of a series. This looks it up: code that uses it often should hold it.
    pub fn with(&self, labels: &L::Values<'_>) -> M {
        thread_local! {
            static KEY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        KEY.with_borrow_mut(|key| {
            key.clear();
            if self.0.is_shaped.load(Ordering::Acquire) {
                return self.0.shaped(key, labels);
            }
            labels.each(&mut |value| push(key, value));
            self.0.get(key)
        })
    }
}

fn push(key: &mut Vec<u8>, value: &str) {
    key.extend_from_slice(crate::text::cut(value, LONGEST).as_bytes());
    key.push(SEPARATOR);
}

impl<M: Instrument> Series<M> {
    /// The same where settings say what counts. Other series get a handle that is not exported.
    #[cold]
    fn shaped(&self, key: &mut Vec<u8>, labels: &impl Values) -> M {
        let shape = self.shape.read().unwrap_or_else(PoisonError::into_inner);
        let shape = shape.clone().unwrap_or_default();
        let (mut at, mut counts) = (0, true);
        labels.each(&mut |value| {
            let hidden = shape.hidden.get(at).copied().unwrap_or_default();
            push(key, if hidden { "" } else { value });
            counts &= shape.namespace != Some(at) || shape.namespaces.count(value);
            at += 1;
        });
        if counts {
            self.get(key)
        } else {
            M::make(&self.bounds().layout)
        }
    }

    fn bounds(&self) -> Bounds {
        let bounds = self.bounds.read().unwrap_or_else(PoisonError::into_inner);
        bounds.clone()
    }

    fn get(&self, key: &[u8]) -> M {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = all.get(key) {
            if slot.retired.load(Ordering::Relaxed) {
                slot.retired.store(false, Ordering::Relaxed);
            }
            return slot.handle.clone();
        }
        drop(all);
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() < self.desc.cap || all.contains_key(key) {
            return self.slot(&mut all, key);
        }
        self.refused.inc();
        let mut other = Vec::new();
        for _ in self.names {
            push(&mut other, UNEXPECTED);
        }
        self.slot(&mut all, &other)
    }

    fn slot(&self, all: &mut HashMap<Box<[u8]>, Slot<M>>, key: &[u8]) -> M {
        let slot = all.entry(key.into()).or_insert_with(|| {
            let now = SystemTime::now();
            Slot {
                handle: M::make(&self.bounds().layout),
                created: now,
                looked: AtomicU64::new(0),
                since: AtomicU64::new(seconds(now)),
                retired: AtomicBool::new(false),
            }
        });
        slot.handle.clone()
    }

    /// Removes series without a handle that did not change for long.
    fn expire(&self, now: SystemTime) {
        let idle = self.idle.load(Ordering::Relaxed);
        let gone = |slot: &Slot<M>| {
            let retired = slot.retired.load(Ordering::Relaxed);
            let look = match slot.handle.look() {
                Some(look) => look,
                None if retired => slot.looked.load(Ordering::Relaxed),
                None => return false,
            };
            if slot.looked.swap(look, Ordering::Relaxed) != look {
                slot.since.store(seconds(now), Ordering::Relaxed);
                return false;
            }
            let still = seconds(now).saturating_sub(slot.since.load(Ordering::Relaxed));
            // The handle of a retired series is about to be dropped.
            (still >= idle && slot.handle.holders() == 1) || (retired && still >= RETIRED)
        };
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        let some = all.values().filter(|it| gone(it)).count() > 0;
        drop(all);
        if some {
            // No handle can be taken meanwhile.
            let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
            all.retain(|_, it| !gone(it));
        }
    }
}

impl<M: Instrument> Collect for Series<M> {
    fn collect(&self, now: SystemTime) -> Gathered {
        // A sum over series must not become less because one of them is gone.
        let shape = self.shape.read().unwrap_or_else(PoisonError::into_inner);
        let merges = shape.as_ref().is_some_and(|it| it.hidden.contains(&true));
        drop(shape);
        if !merges {
            self.expire(now);
        }
        let unit = unit(self.kind);
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        let bounds = self.bounds().shown;
        let mut samples: Vec<_> = all
            .iter()
            .map(|(key, slot)| Sample {
                labels: values(key),
                value: slot.handle.read(unit),
                created: slot.created,
            })
            .collect();
        drop(all);
        samples.sort_by(|a, b| a.labels.cmp(&b.labels));
        Gathered {
            desc: self.desc,
            kind: self.kind,
            names: Cow::Borrowed(self.names),
            bounds,
            samples,
        }
    }

    fn refused(&self) -> u64 {
        self.refused.get()
    }

    fn retire(&self, labels: &[(&str, &str)], now: SystemTime) {
        let places: Option<Vec<_>> = labels
            .iter()
            .map(|(name, value)| {
                let at = self.names.iter().position(|it| it == name)?;
                Some((at, value.as_bytes()))
            })
            .collect();
        let Some(places) = places else {
            return;
        };
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        for (key, slot) in &*all {
            let value = |at: usize| key.split(|byte| *byte == SEPARATOR).nth(at);
            if places
                .iter()
                .all(|(at, wanted)| value(*at) == Some(*wanted))
            {
                slot.retired.store(true, Ordering::Relaxed);
                slot.since.store(seconds(now), Ordering::Relaxed);
            }
        }
    }

    fn apply(&self, view: &View) {
        let idle = view.idle.unwrap_or(self.own_idle);
        self.idle.store(idle.as_secs(), Ordering::Relaxed);
        let shape = view.shape(self.desc.name, self.names);
        let is_shaped = shape.is_some();
        *self.shape.write().unwrap_or_else(PoisonError::into_inner) = shape;
        self.is_shaped.store(is_shaped, Ordering::Release);
        if matches!(self.kind, Kind::Histogram(_)) {
            self.rebound(view.bounds(self.desc.name).unwrap_or(self.own_bounds));
        }
    }
}

impl<M: Instrument> Series<M> {
    fn rebound(&self, wanted: &[f64]) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        let mut bounds = self.bounds.write().unwrap_or_else(PoisonError::into_inner);
        if *bounds.shown == *wanted {
            return;
        }
        *bounds = Bounds::new(self.kind, wanted);
        let now = SystemTime::now();
        for slot in all.values_mut() {
            slot.handle.rebound(&bounds.layout);
            slot.created = now;
        }
    }
}

fn values(key: &[u8]) -> Vec<String> {
    let values = key.split(|byte| *byte == SEPARATOR);
    let values = values.map(|it| String::from_utf8_lossy(it).into_owned());
    let mut values: Vec<_> = values.collect();
    // What follows the last separator.
    values.pop();
    values
}

pub(super) fn seconds(at: SystemTime) -> u64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |it| it.as_secs())
}
