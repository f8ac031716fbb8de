//! From `FlowSchema` and `PriorityLevelConfiguration` objects to what the filter goes by.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowcontrol::{
    Adjusted, BrokenLevel, Dealer, Demand, DemandStats, FlowSchema, Limits, PriorityLevel, adjust,
    bootstrap, limits, max_seats, with_mandatory,
};
use json::Value;
use telemetry::logs::{self, Field, SERVER};

use super::FlowControl;
use super::level::{Entry, EntryRefs, Level};

/// What there is, and what is made of it.
#[derive(Debug, Default)]
pub(super) struct State {
    schemas: BTreeMap<String, FlowSchema>,
    levels: BTreeMap<String, PriorityLevel>,
    /// Also of levels whose object is gone, while their requests are not.
    pub(super) active: BTreeMap<String, Active>,
    pub(super) fair_fraction: f64,
}

#[derive(Debug)]
pub(super) struct Active {
    pub(super) level: Arc<Level>,
    pub(super) config: PriorityLevel,
    pub(super) limits: Limits,
    pub(super) stats: DemandStats,
    pub(super) adjusted: Adjusted,
    /// Its object is gone: it ends when it has nothing left to do.
    pub(super) is_quiescing: bool,
}

/// Something happened to objects.
pub(crate) enum Changed<'a> {
    Nothing,
    /// The object as it is now, or `None`.
    Schema(&'a str, Option<&'a Value>),
    Level(&'a str, Option<&'a Value>),
    /// All that there are, whatever was there before.
    Schemas(Vec<Value>),
    Levels(Vec<Value>),
}

impl State {
    /// Whether anything is to be done about it.
    fn note(&mut self, changed: Changed<'_>) -> bool {
        match changed {
            Changed::Nothing => true,
            Changed::Schema(name, object) => {
                put(&mut self.schemas, name, object.map(FlowSchema::from_value))
            }
            Changed::Level(name, object) => put(&mut self.levels, name, object.and_then(level)),
            Changed::Schemas(all) => {
                let all = all.iter().map(FlowSchema::from_value);
                self.schemas = all.map(|it| (it.name.clone(), it)).collect();
                true
            }
            Changed::Levels(all) => {
                let all = all.iter().filter_map(level);
                self.levels = all.map(|it| (it.name.clone(), it)).collect();
                true
            }
        }
    }

    /// Gives every level that there is to be its state: those that have an object, those that must be there, and those
    /// that are still busy.
    fn renew(&mut self, flow: &FlowControl) {
        let mut before = std::mem::take(&mut self.active);
        let mandatory = bootstrap::priority_levels();
        let mandatory = mandatory.iter().filter(|it| it.is_mandatory);
        let mandatory: Vec<_> = mandatory
            .filter_map(|it| PriorityLevel::from_value(&it.object).ok())
            .collect();
        let mut desired = self.levels.clone();
        for one in mandatory {
            // Without an object it is as it was, or as it must be.
            let config = before.get(&one.name).map_or(one, |it| it.config.clone());
            desired.entry(config.name.clone()).or_insert(config);
        }
        for (name, config) in desired {
            let old = before.remove(&name);
            let same = old.filter(|it| it.level.is_exempt == config.is_exempt());
            let active = match same {
                Some(old) => Active {
                    config,
                    is_quiescing: false,
                    ..old
                },
                None => Active {
                    level: Arc::new(Level::new(&config, &flow.shared)),
                    config,
                    limits: Limits::default(),
                    stats: DemandStats::default(),
                    adjusted: Adjusted::default(),
                    is_quiescing: false,
                },
            };
            self.active.insert(name, active);
        }
        before.retain(|_, it| !it.level.is_idle());
        for (name, mut busy) in before {
            busy.is_quiescing = true;
            self.active.insert(name, busy);
        }
    }

    fn divide(&mut self, seats: u32) {
        let shares = self.active.values().map(|it| f64::from(it.config.shares));
        let sum = shares.sum();
        for active in self.active.values_mut() {
            active.limits = limits(seats, sum, &active.config);
            let queuing = active.config.queuing();
            let most = queuing.map_or(0, |it| max_seats(active.limits.nominal, it.hand_size));
            let queues = queuing.map_or(0, |it| it.queues);
            active.level.max_seats.store(most, Ordering::Relaxed);
            active.level.queue_count.store(queues, Ordering::Relaxed);
        }
    }

    /// Gives each level the seats that go by what was asked for of late.
    fn borrow(&mut self, flow: &FlowControl) {
        let now = flow.shared.now();
        let demands: Vec<_> = (self.active.values_mut())
            .map(|it| {
                let observed = if it.level.is_exempt {
                    it.level.exempt.take_demand(now)
                } else {
                    it.level.queues().gauges().demand.reset(now)
                };
                it.stats.update(observed);
                Demand {
                    is_exempt: it.level.is_exempt,
                    limits: it.limits,
                    stats: it.stats,
                    current: it.adjusted.current,
                }
            })
            .collect();
        let (adjusted, fair_fraction) = adjust(&demands);
        self.fair_fraction = fair_fraction;
        for (active, adjusted) in self.active.values_mut().zip(adjusted) {
            active.adjusted = adjusted;
            active.apply(flow.seats);
        }
    }

    /// Schemas whose level there is, in their order.
    fn entries(&self, before: &[EntryRefs]) -> Vec<EntryRefs> {
        let with_level = self.schemas.values();
        let with_level = with_level.filter(|it| self.levels.contains_key(&it.priority_level));
        let all = with_mandatory(with_level.cloned().collect());
        let all = all.into_iter().filter_map(|schema| {
            let active = self.active.get(&schema.priority_level)?;
            let (config, level) = (&active.config, &active.level);
            let mut before = before.iter().map(EntryRefs::entry);
            let same = before.find(|it| it.is(&schema, config, level));
            Some(match same {
                Some(same) => EntryRefs::new(same),
                None => EntryRefs::new(&Arc::new(Entry::new(schema, config, level))),
            })
        });
        all.collect()
    }
}

impl Active {
    fn apply(&self, server: u32) {
        let current = self.adjusted.current;
        // Metrics relate to something, also where there is no seat.
        let denominator = if current > 0 {
            current
        } else {
            (server + 5) / 10
        };
        let level = &self.level;
        if level.is_exempt {
            let now = level.shared.now();
            level.exempt.set_denominator(denominator, now);
            return;
        }
        let queuing = self.config.queuing().and_then(|it| {
            let dealer = Dealer::new(it.queues as usize, it.hand_size as usize);
            Some((it, dealer.ok()?))
        });
        level.change(|queues, now, woken| {
            queues.configure(queuing, current, denominator, now, woken);
        });
    }
}

impl FlowControl {
    /// Goes by other objects from now on.
    pub(crate) fn configure(&self, changed: Changed<'_>) {
        let mut state = self.state();
        if !state.note(changed) {
            return;
        }
        state.renew(self);
        state.divide(self.seats);
        state.borrow(self);
        let entries = state.entries(&self.entries.load());
        self.entries.store(Arc::new(entries));
        let waiting = state.active.values().filter_map(|it| it.config.queuing());
        let waiting = waiting.map(|it| f64::from(it.queues) * f64::from(it.queue_length_limit));
        let executing = state.active.values().map(|it| f64::from(it.limits.nominal));
        let now = self.shared.now();
        self.shared
            .meters
            .set_limits(waiting.sum(), executing.sum(), now);
    }

    /// Moves seats to where they were asked for, and ends levels that have nothing left to do.
    pub(crate) fn adjust(&self) {
        let mut state = self.state();
        state.borrow(self);
        let mut active = state.active.values();
        let is_over = active.any(|it| it.is_quiescing && it.level.is_idle());
        drop(state);
        if is_over {
            self.configure(Changed::Nothing);
        }
    }
}

fn put<T: PartialEq>(all: &mut BTreeMap<String, T>, name: &str, new: Option<T>) -> bool {
    if all.get(name) == new.as_ref() {
        return false;
    }
    match new {
        Some(new) => drop(all.insert(name.to_owned(), new)),
        None => drop(all.remove(name)),
    }
    true
}

/// An object that cannot be used is ignored and logged.
fn level(object: &Value) -> Option<PriorityLevel> {
    let broken = |error: &BrokenLevel| {
        let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
        let why = error.to_string();
        let fields = [("name", Field::Text(name)), ("err", Field::Text(&why))];
        let text = "Ignoring a PriorityLevelConfiguration because its spec is broken";
        logs::error(&SERVER, text, &fields);
    };
    PriorityLevel::from_value(object).inspect_err(broken).ok()
}
