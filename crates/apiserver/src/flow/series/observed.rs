//! Metrics of priority and fairness that are computed from existing state when they are scraped.

use std::sync::{Arc, Weak};

use flowcontrol::{Counts, Gauges, RatioHistogram, SeatSeconds};
use telemetry::metrics::{Collected, CollectedHistograms, Desc, Registry, Stability};

use super::{READ_VS_WRITE, alpha, beta};
use crate::flow::FlowControl;
use crate::flow::level::{Entry, EntryRefs, Level};
use crate::flow::objects::{Active, State};

type Table = [(&'static str, &'static str, fn(&Active) -> f64)];

/// By level.
const LEVELS: &Table = &[
    (
        "apiserver_flowcontrol_current_limit_seats",
        "Seats that a priority level has for now.",
        |it| it.adjusted.current.into(),
    ),
    (
        "apiserver_flowcontrol_lower_limit_seats",
        "Seats that a priority level has at least.",
        |it| it.limits.min.into(),
    ),
    (
        "apiserver_flowcontrol_upper_limit_seats",
        "Seats that a priority level may have at most.",
        |it| it.limits.max.into(),
    ),
    (
        "apiserver_flowcontrol_demand_seats_high_watermark",
        "The most seats that were asked for in the last period of adjustment.",
        |it| it.stats.high_watermark.into(),
    ),
    (
        "apiserver_flowcontrol_demand_seats_average",
        "The average of the seats that were asked for in the last period of adjustment.",
        |it| it.stats.average,
    ),
    (
        "apiserver_flowcontrol_demand_seats_stdev",
        "The standard deviation of the seats that were asked for in the last period of adjustment.",
        |it| it.stats.deviation,
    ),
    (
        "apiserver_flowcontrol_demand_seats_smoothed",
        "The seats that were asked for, smoothed over several periods of adjustment.",
        |it| it.stats.smoothed,
    ),
    (
        "apiserver_flowcontrol_target_seats",
        "The seats that a priority level was to get in the last adjustment.",
        |it| it.adjusted.target,
    ),
];

type FlowTable = [(&'static str, Stability, &'static str, fn(&Counts) -> u32)];

/// By schema and level.
const FLOWS: &FlowTable = &[
    (
        "apiserver_flowcontrol_current_inqueue_requests",
        Stability::Beta,
        "Requests that wait in queues.",
        |it| it.waiting,
    ),
    (
        "apiserver_flowcontrol_current_inqueue_seats",
        Stability::Alpha,
        "Seats that requests in queues wait for.",
        |it| it.seats_waiting,
    ),
    (
        "apiserver_flowcontrol_current_executing_requests",
        Stability::Beta,
        "Requests that hold seats.",
        |it| it.executing,
    ),
    (
        "apiserver_flowcontrol_current_executing_seats",
        Stability::Beta,
        "Seats that requests hold.",
        |it| it.seats_executing,
    ),
];

const LEVEL: &[&str] = &["priority_level"];
const FLOW: &[&str] = &["flow_schema", "priority_level"];

/// Has the registry ask for what is known anyway.
pub(in crate::flow) fn observe(registry: &Registry, flow: &Arc<FlowControl>) {
    let weak = Arc::downgrade(flow);
    for (name, help, read) in LEVELS {
        let read = of_state(&weak, move |state| by_level(state, *read));
        registry.observe_gauge(alpha(name, help), LEVEL, read);
    }
    let nominal = of_state(&weak, |state| {
        by_level(state, |it| it.limits.nominal.into())
    });
    let desc = beta(
        "apiserver_flowcontrol_nominal_limit_seats",
        "Seats that a priority level has by its configuration.",
    );
    registry.observe_gauge(desc, LEVEL, nominal);
    let fair = of_state(&weak, |state| vec![(Vec::new(), state.fair_fraction)]);
    let desc = alpha(
        "apiserver_flowcontrol_seat_fair_frac",
        "The part of its target that a priority level got in the last adjustment, if no bound was in its way.",
    );
    registry.observe_gauge(desc, &[], fair);
    for (name, stability, help, read) in FLOWS {
        let weak = weak.clone();
        let read = move || {
            weak.upgrade()
                .map_or_else(Vec::new, |flow| by_flow(&flow, |it| f64::from(read(it))))
        };
        registry.observe_gauge(Desc::new(name, *stability, help), FLOW, read);
    }
    let shared = weak.clone();
    registry.observe_counter(
        alpha(
            "apiserver_flowcontrol_request_dispatch_no_accommodation_total",
            "How often the next request needed more seats than were free.",
        ),
        FLOW,
        move || {
            let flow = shared.upgrade();
            flow.map_or_else(Vec::new, |flow| no_accommodation(&flow))
        },
    );
    virtual_time(registry, &weak);
    over_time(registry, &weak);
}

fn of_state<T: Default, F: Fn(&State) -> T>(
    flow: &Weak<FlowControl>,
    read: F,
) -> impl Fn() -> T + use<T, F> {
    let flow = flow.clone();
    move || {
        let flow = flow.upgrade();
        flow.map_or_else(T::default, |flow| read(&flow.state()))
    }
}

fn by_level(state: &State, read: fn(&Active) -> f64) -> Collected {
    let all = state.active.iter();
    all.map(|(name, it)| (vec![name.clone()], read(it)))
        .collect()
}

/// Of those that were used.
fn used(flow: &FlowControl) -> Vec<Arc<Entry>> {
    let entries = flow.entries.load();
    let all = entries.iter().map(EntryRefs::entry);
    let used = all.filter(|it| it.used_series().is_some());
    used.cloned().collect()
}

fn flow_labels(entry: &Entry) -> Vec<String> {
    vec![entry.schema.name.clone(), entry.level.name.clone()]
}

fn by_flow(flow: &FlowControl, read: impl Fn(&Counts) -> f64) -> Collected {
    let each = used(flow).into_iter().map(|entry| {
        let counts = if entry.level.is_exempt {
            entry.level.exempt.counts(entry.number)
        } else {
            entry.level.queues().counts(entry.number.into())
        };
        (flow_labels(&entry), read(&counts))
    });
    each.collect()
}

fn no_accommodation(flow: &FlowControl) -> Collected {
    let each = used(flow).into_iter().filter_map(|entry| {
        let count = entry
            .level
            .queues()
            .counts(entry.number.into())
            .no_accommodation;
        #[expect(clippy::cast_precision_loss, reason = "it is shown as a float")]
        (count > 0).then(|| (flow_labels(&entry), count as f64))
    });
    each.collect()
}

/// Levels that have queues, or had.
fn limited(state: &State) -> impl Iterator<Item = (&String, &Arc<Level>)> {
    let all = state.active.iter().map(|(name, it)| (name, &it.level));
    all.filter(|(_, it)| !it.is_exempt)
}

/// Name, help, and how it is read; `None` before the first dispatch.
type Row<T> = (&'static str, &'static str, fn(&Level) -> Option<T>);
/// The least and the most.
type Bounds = (SeatSeconds, SeatSeconds);

fn virtual_time(registry: &Registry, flow: &Weak<FlowControl>) {
    let seconds = |value: SeatSeconds| value.as_f64();
    let single: [Row<SeatSeconds>; 3] = [
        (
            "apiserver_flowcontrol_current_r",
            "Virtual time when the queues were last looked at.",
            |it| Some(it.queues().current_r()),
        ),
        (
            "apiserver_flowcontrol_dispatch_r",
            "Virtual time at the last dispatch.",
            |it| it.queues().dispatch_state().map(|it| it.r),
        ),
        (
            "apiserver_flowcontrol_latest_s",
            "When the request that was last dispatched was to be, in virtual time.",
            |it| it.queues().dispatch_state().map(|it| it.s),
        ),
    ];
    for (name, help, read) in single {
        let read = of_state(flow, move |state| {
            let each = limited(state).filter_map(|(name, level)| {
                let value = read(level)?;
                Some((vec![name.clone()], seconds(value)))
            });
            each.collect()
        });
        registry.observe_gauge(alpha(name, help), LEVEL, read);
    }
    let double: [Row<Bounds>; 2] = [
        (
            "apiserver_flowcontrol_next_s_bounds",
            "The least and the most over all queues of when their next request is to be dispatched, in virtual time.",
            |it| it.queues().dispatch_state().map(|it| it.s_bounds),
        ),
        (
            "apiserver_flowcontrol_next_discounted_s_bounds",
            "The same less the work that is expected to be under way.",
            |it| {
                it.queues()
                    .dispatch_state()
                    .map(|it| it.discounted_s_bounds)
            },
        ),
    ];
    for (name, help, read) in double {
        let read = of_state(flow, move |state| {
            let each = limited(state).filter_map(|(name, level)| {
                let (least, most) = read(level)?;
                let of =
                    |bound: &str, value| (vec![bound.to_owned(), name.clone()], seconds(value));
                Some([of("min", least), of("max", most)])
            });
            each.flatten().collect()
        });
        registry.observe_gauge(alpha(name, help), &["bound", "priority_level"], read);
    }
    let epochs = of_state(flow, |state| {
        let each = limited(state).flat_map(|(name, level)| {
            let totals = level.queues().totals();
            let done = totals.epochs - totals.failed_epochs;
            let all = [("true", done), ("false", totals.failed_epochs)];
            let all = all.into_iter().filter(|(_, count)| *count > 0);
            #[expect(clippy::cast_precision_loss, reason = "it is shown as a float")]
            all.map(move |(fits, count)| (vec![name.clone(), fits.to_owned()], count as f64))
        });
        each.collect()
    });
    let desc = alpha(
        "apiserver_flowcontrol_epoch_advance_total",
        "How often virtual time was set back.",
    );
    registry.observe_counter(desc, &["priority_level", "success"], epochs);
}

/// Histograms of what was true for how long.
fn over_time(registry: &Registry, flow: &Weak<FlowControl>) {
    type Read = fn(&mut Gauges) -> &mut RatioHistogram;
    let of = |labels: fn(&str) -> Vec<String>, read: Read| {
        of_state(flow, move |state| by_gauge(state, labels, read))
    };
    let plain: fn(&str) -> Vec<String> = |name| vec![name.to_owned()];
    let executing: fn(&str) -> Vec<String> = |name| vec!["executing".to_owned(), name.to_owned()];
    let waiting: fn(&str) -> Vec<String> = |name| vec!["waiting".to_owned(), name.to_owned()];
    registry.observe_histogram(
        alpha(
            "apiserver_flowcontrol_demand_seats",
            "Each nanosecond: the seats that a priority level could use, as a part of those that it has.",
        ),
        LEVEL,
        Gauges::DEMAND,
        of(plain, |it| &mut it.demand_ratio),
    );
    registry.observe_histogram(
        alpha(
            "apiserver_flowcontrol_priority_level_seat_utilization",
            "Each nanosecond: the seats that are held, as a part of those that a priority level has.",
        ),
        &["phase", "priority_level"],
        Gauges::SEAT_UTILIZATION,
        of(executing, |it| &mut it.seats),
    );
    let execute = of(executing, |it| &mut it.executing);
    let wait = of(waiting, |it| &mut it.waiting);
    registry.observe_histogram(
        alpha(
            "apiserver_flowcontrol_priority_level_request_utilization",
            "Each nanosecond: the requests that wait or execute, as a part of the most that may.",
        ),
        &["phase", "priority_level"],
        Gauges::REQUEST_UTILIZATION,
        move || execute().into_iter().chain(wait()).collect(),
    );
    let flow = flow.clone();
    registry.observe_histogram(
        alpha(
            "apiserver_flowcontrol_read_vs_write_current_requests",
            "Each nanosecond: the requests that wait or execute, as a part of the most that may, by whether they change anything.",
        ),
        &["phase", "request_kind"],
        READ_VS_WRITE,
        move || {
            let flow = flow.upgrade();
            flow.map_or_else(Vec::new, |flow| flow.shared.meters.read(flow.shared.now()))
        },
    );
}

fn by_gauge(
    state: &State,
    labels: fn(&str) -> Vec<String>,
    read: fn(&mut Gauges) -> &mut RatioHistogram,
) -> CollectedHistograms {
    let each = state.active.iter().map(|(name, active)| {
        let level = &active.level;
        let (counts, sum) = if level.is_exempt {
            let now = level.shared.now();
            level.exempt.read(|gauges| read(gauges).read(now))
        } else {
            let mut queues = level.queues();
            let now = level.shared.now();
            read(queues.gauges()).read(now)
        };
        (labels(name), counts, sum)
    });
    each.collect()
}
