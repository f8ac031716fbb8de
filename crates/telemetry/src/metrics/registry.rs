//! All instruments of a server.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::family::{Family, Labels};
use super::handle::{Counter, Gauge, Histogram, Seen, Unit};
use super::layout::Native;
use super::view::View;

/// What Kubernetes promises of a metric's name and labels; its help text begins with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    Alpha,
    Beta,
    Stable,
    /// Not one of Kubernetes'.
    Unmarked,
}

/// What an instrument is called and says.
#[derive(Clone, Copy, Debug)]
pub struct Desc {
    pub name: &'static str,
    pub help: &'static str,
    pub stability: Stability,
    /// Since which version it is on its way out.
    pub deprecated: Option<&'static str>,
    /// How many series it may have.
    pub cap: usize,
}

impl Desc {
    /// Series of an instrument that says nothing else.
    pub const CAP: usize = 1000;

    pub const fn new(name: &'static str, stability: Stability, help: &'static str) -> Self {
        Self {
            name,
            help,
            stability,
            deprecated: None,
            cap: Self::CAP,
        }
    }

    #[must_use]
    pub const fn cap(mut self, cap: usize) -> Self {
        self.cap = cap;
        self
    }

    #[must_use]
    pub const fn deprecated(mut self, since: &'static str) -> Self {
        self.deprecated = Some(since);
        self
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram(Unit),
}

/// An instrument as it is read.
#[derive(Debug)]
pub(super) struct Gathered {
    pub desc: Desc,
    pub kind: Kind,
    pub names: Cow<'static, [&'static str]>,
    /// Of a histogram, as they are shown.
    pub bounds: Arc<[f64]>,
    /// In the order of their labels.
    pub samples: Vec<Sample>,
}

#[derive(Debug)]
pub(super) struct Sample {
    pub labels: Vec<String>,
    pub value: Value,
    pub created: SystemTime,
}

#[derive(Debug)]
pub(super) enum Value {
    Counter(u64),
    Number(f64),
    Histogram {
        counts: Vec<u64>,
        /// None where only classic buckets are known.
        native: Option<Native>,
        sum: f64,
        exemplars: Vec<(usize, Seen)>,
    },
}

pub(super) trait Collect: Send + Sync {
    fn collect(&self, now: SystemTime) -> Gathered;

    fn refused(&self) -> u64 {
        0
    }

    /// What series with these labels are about is gone.
    fn retire(&self, _: &[(&str, &str)], _: SystemTime) {}

    /// Counts as settings say from now on.
    fn apply(&self, _: &View) {}
}

/// Values of labels and a number, computed by a function at each scrape.
pub type Collected = Vec<(Vec<String>, f64)>;
/// Values of labels, how much each bucket has, the last of which has no bound, and the sum.
pub type CollectedHistograms = Vec<(Vec<String>, Vec<u64>, f64)>;

/// Shared by instruments and scrapes.
#[derive(Clone)]
pub struct Registry(Arc<Shared>);

struct Shared {
    all: Mutex<Vec<Arc<dyn Collect>>>,
    /// Taken before `all`.
    view: Mutex<Arc<View>>,
    /// No series are shown.
    no_exemplars: AtomicBool,
    started: SystemTime,
    idle: Duration,
}

/// Series without a handle are removed after so long without a change.
const IDLE: Duration = Duration::from_secs(3600);

const REFUSED: Desc = Desc::new(
    "pilothouse_metrics_refused_series_total",
    Stability::Unmarked,
    "How often a metric had no room for another series and counted under \"unexpected\".",
);

impl Default for Registry {
    fn default() -> Self {
        Self::new(IDLE)
    }
}

impl Registry {
    /// `idle` is how long a series without a handle stays without a change.
    pub fn new(idle: Duration) -> Self {
        Self(Arc::new(Shared {
            all: Mutex::default(),
            view: Mutex::default(),
            no_exemplars: AtomicBool::new(false),
            started: SystemTime::now(),
            idle,
        }))
    }

    pub fn counter<L: Labels>(&self, desc: Desc) -> Family<L, Counter> {
        let family = Family::new(desc, Kind::Counter, &[], self.0.idle);
        self.add(family.series().clone());
        family
    }

    pub fn gauge<L: Labels>(&self, desc: Desc) -> Family<L, Gauge> {
        let family = Family::new(desc, Kind::Gauge, &[], self.0.idle);
        self.add(family.series().clone());
        family
    }

    /// `bounds` as they are shown, growing.
    pub fn histogram<L: Labels>(
        &self,
        desc: Desc,
        unit: Unit,
        bounds: &'static [f64],
    ) -> Family<L, Histogram> {
        let family = Family::new(desc, Kind::Histogram(unit), bounds, self.0.idle);
        self.add(family.series().clone());
        family
    }

    /// Metrics that are computed from existing state at each scrape.
    pub fn observe_gauge(
        &self,
        desc: Desc,
        names: &'static [&'static str],
        read: impl Fn() -> Collected + Send + Sync + 'static,
    ) {
        self.observe(desc, Kind::Gauge, names, Box::new(read));
    }

    /// The same for numbers that only grow.
    pub fn observe_counter(
        &self,
        desc: Desc,
        names: &'static [&'static str],
        read: impl Fn() -> Collected + Send + Sync + 'static,
    ) {
        self.observe(desc, Kind::Counter, names, Box::new(read));
    }

    /// The same for histograms that are there anyway. `bounds` as they are shown, growing.
    pub fn observe_histogram(
        &self,
        desc: Desc,
        names: &'static [&'static str],
        bounds: &'static [f64],
        read: impl Fn() -> CollectedHistograms + Send + Sync + 'static,
    ) {
        self.add(Arc::new(AskedHistogram {
            desc,
            names,
            bounds: bounds.into(),
            read: Box::new(read),
            started: self.0.started,
        }));
    }

    fn observe(&self, desc: Desc, kind: Kind, names: &'static [&'static str], read: Read) {
        self.add(Arc::new(Asked {
            desc,
            kind,
            names,
            read,
            started: self.0.started,
        }));
    }

    fn add(&self, one: Arc<dyn Collect>) {
        let view = self.0.view.lock().unwrap_or_else(PoisonError::into_inner);
        one.apply(&view);
        self.lock().push(one);
    }

    /// Shows and counts as settings say from now on. A histogram whose bounds change begins anew.
    pub fn set_view(&self, view: View) {
        let mut place = self.0.view.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Arc::new(view);
        for one in self.lock().iter() {
            one.apply(&place);
        }
    }

    /// What series with these labels, names and values, are about is gone: they go after a few minutes without a change,
    /// not after an hour, and whatever they show. A series that is requested again stays.
    pub fn retire(&self, labels: &[(&str, &str)]) {
        let now = SystemTime::now();
        for one in self.lock().iter() {
            one.retire(labels, now);
        }
    }

    /// No trace is named beside numbers from now on.
    pub fn hide_exemplars(&self) {
        self.0.no_exemplars.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<dyn Collect>>> {
        self.0.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All instruments that have series, by name.
    pub(super) fn gather(&self, now: SystemTime) -> Vec<Gathered> {
        // A callback may register another instrument.
        let all = self.lock().clone();
        let view = self.0.view.lock();
        let view = view.unwrap_or_else(PoisonError::into_inner).clone();
        let mut gathered: Vec<_> = all.iter().map(|it| it.collect(now)).collect();
        let refused = all.iter().zip(&gathered);
        let refused = refused.filter(|(it, _)| it.refused() > 0);
        let samples = refused.map(|(it, of)| Sample {
            labels: vec![of.desc.name.to_owned()],
            value: Value::Counter(it.refused()),
            created: self.0.started,
        });
        let refused = Gathered {
            desc: REFUSED,
            kind: Kind::Counter,
            names: Cow::Borrowed(&["metric"]),
            bounds: Arc::default(),
            samples: samples.collect(),
        };
        gathered.push(refused);
        let mut gathered: Vec<_> = gathered.into_iter().map(|it| view.show(it)).collect();
        gathered.retain(|it| !it.samples.is_empty());
        if self.0.no_exemplars.load(Ordering::Relaxed) {
            for sample in gathered.iter_mut().flat_map(|it| &mut it.samples) {
                if let Value::Histogram { exemplars, .. } = &mut sample.value {
                    exemplars.clear();
                }
            }
        }
        gathered.sort_by_key(|it| it.desc.name);
        gathered
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Registry({} instruments)", self.lock().len())
    }
}

type Read = Box<dyn Fn() -> Collected + Send + Sync>;

struct Asked {
    desc: Desc,
    kind: Kind,
    names: &'static [&'static str],
    read: Read,
    started: SystemTime,
}

impl Collect for Asked {
    fn collect(&self, _: SystemTime) -> Gathered {
        let mut samples: Vec<_> = (self.read)()
            .into_iter()
            .map(|(labels, value)| Sample {
                labels,
                value: Value::Number(value),
                created: self.started,
            })
            .collect();
        samples.sort_by(|a, b| a.labels.cmp(&b.labels));
        samples.truncate(self.desc.cap);
        Gathered {
            desc: self.desc,
            kind: self.kind,
            names: Cow::Borrowed(self.names),
            bounds: Arc::default(),
            samples,
        }
    }
}

struct AskedHistogram {
    desc: Desc,
    names: &'static [&'static str],
    bounds: Arc<[f64]>,
    read: Box<dyn Fn() -> CollectedHistograms + Send + Sync>,
    started: SystemTime,
}

impl Collect for AskedHistogram {
    fn collect(&self, _: SystemTime) -> Gathered {
        let mut samples: Vec<_> = (self.read)()
            .into_iter()
            .filter(|(_, counts, _)| counts.len() == self.bounds.len() + 1)
            .map(|(labels, counts, sum)| Sample {
                labels,
                value: Value::Histogram {
                    counts,
                    native: None,
                    sum,
                    exemplars: Vec::new(),
                },
                created: self.started,
            })
            .collect();
        samples.sort_by(|a, b| a.labels.cmp(&b.labels));
        samples.truncate(self.desc.cap);
        Gathered {
            desc: self.desc,
            kind: Kind::Histogram(Unit::One),
            names: Cow::Borrowed(self.names),
            bounds: self.bounds.clone(),
            samples,
        }
    }
}
