//! Upstream's scenarios of clients that compete for seats (`queueset_test.go`), in simulated time: who gets how many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Finished, QueueSet, Started, Ticket};
use crate::config::Queuing;
use crate::shuffle::Dealer;
use crate::{Integrator, Nanos, WorkEstimate};

const SECOND: i64 = 1_000_000_000;

/// Some threads that each ask, wait for the answer, think, and ask again.
#[derive(Clone, Copy)]
struct Client {
    hash: u64,
    threads: usize,
    calls: usize,
    executes: i64,
    /// If it is negative, the next request comes before the end of this one.
    thinks: i64,
    initial_seats: u32,
    final_seats: u32,
    /// How long the final seats stay taken.
    pads: i64,
    /// Half of the threads begin at half time.
    split: bool,
}

fn client(hash: u64, threads: usize, calls: usize, executes: i64, thinks: i64) -> Client {
    Client {
        hash,
        threads,
        calls,
        executes,
        thinks,
        initial_seats: 1,
        final_seats: 1,
        pads: 0,
        split: false,
    }
}

impl Client {
    fn wide(self, initial_seats: u32) -> Self {
        Self {
            initial_seats,
            ..self
        }
    }

    fn padded(self, final_seats: u32, pads: i64) -> Self {
        Self {
            final_seats,
            pads,
            ..self
        }
    }

    fn split(self) -> Self {
        Self {
            split: true,
            ..self
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Call(usize, usize, usize),
    Finish(usize, usize),
    Release(usize),
    ReturnDemand(u32),
}

struct Scenario {
    clients: Vec<Client>,
    queues: u32,
    length: u32,
    hand: u32,
    limit: u32,
    evaluate: i64,
}

struct Run<'a> {
    scenario: &'a Scenario,
    set: QueueSet<(usize, usize, usize)>,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    count: u64,
    now: Nanos,
    /// By number, as events name them.
    tickets: Vec<Option<Ticket>>,
    waiting: Vec<((usize, usize, usize), Ticket)>,
    seats: Vec<(f64, Integrator)>,
    demand: (f64, Integrator),
    rejected: usize,
}

fn nanos(duration: i64) -> Nanos {
    Nanos::try_from(duration).unwrap()
}

impl Scenario {
    fn new(
        clients: &[Client],
        (queues, length, hand): (u32, u32, u32),
        limit: u32,
        evaluate: i64,
    ) -> Self {
        Self {
            clients: clients.to_vec(),
            queues,
            length,
            hand,
            limit,
            evaluate,
        }
    }

    fn run(&self) -> Run<'_> {
        let mut set = QueueSet::new(0);
        let queuing = (self.queues > 0).then(|| {
            let queuing = Queuing {
                queues: self.queues,
                hand_size: self.hand,
                queue_length_limit: self.length,
            };
            let dealer = Dealer::new(self.queues as usize, self.hand as usize).unwrap();
            (queuing, dealer)
        });
        set.configure(queuing, self.limit, self.limit, 0, &mut |_| {});
        let mut run = Run {
            scenario: self,
            set,
            events: BinaryHeap::new(),
            count: 0,
            now: 0,
            tickets: Vec::new(),
            waiting: Vec::new(),
            seats: vec![(0.0, Integrator::new(0)); self.clients.len()],
            demand: (0.0, Integrator::new(0)),
            rejected: 0,
        };
        for (at, client) in self.clients.iter().enumerate() {
            for thread in 0..client.threads {
                let late = client.split && thread >= client.threads / 2;
                let start = 90 * thread + 20 * at;
                let start =
                    i64::try_from(start).unwrap() + if late { self.evaluate / 2 } else { 0 };
                run.at(start, Event::Call(at, thread, 0));
            }
        }
        run
    }

    /// What each gets if all get the same, but nobody more than it asks for.
    fn fair(&self, is_first_half: bool) -> Vec<f64> {
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        let demands: Vec<f64> = (self.clients.iter())
            .map(|it| {
                let threads = if it.split && is_first_half {
                    it.threads / 2
                } else {
                    it.threads
                };
                let busy = it.executes as f64 / (it.executes + it.thinks) as f64;
                threads as f64 * f64::from(it.initial_seats) * busy
            })
            .collect();
        let mut order: Vec<_> = (0..demands.len()).collect();
        order.sort_by(|a, b| demands[*a].total_cmp(&demands[*b]));
        let mut parts = vec![0.0; demands.len()];
        let (mut left, mut count) = (f64::from(self.limit), demands.len());
        for at in order {
            #[expect(clippy::cast_precision_loss, reason = "some clients")]
            let even = left / count as f64;
            parts[at] = demands[at].min(even);
            left -= parts[at];
            count -= 1;
        }
        parts
    }

    /// Runs it all, and holds that each client gets its part, within the margin, or does not.
    fn expect(&self, averages: Option<&[f64]>, halves: &[(bool, f64)]) -> Run<'_> {
        let mut run = self.run();
        let steps = i64::try_from(halves.len()).unwrap();
        for (step, (is_fair, margin)) in (1..).zip(halves) {
            run.until(nanos(self.evaluate * step / steps));
            let fair = self.fair(step < steps);
            let expected = averages.unwrap_or(&fair);
            for (at, (got, expected)) in run.averages().iter().zip(expected).enumerate() {
                let off = (got - expected).abs() / if *expected > 0.0 { *expected } else { 1.0 };
                let text = format!("client {at}, part {step}: {got} seats, {expected} expected");
                // A margin of none still allows for rounding.
                assert_eq!(off <= margin + 1e-9, *is_fair, "{text}");
            }
            run.check_demand();
        }
        run.until(Nanos::MAX);
        assert!(run.set.is_idle());
        assert_eq!(run.set.totals().seats_in_use, 0);
        run
    }

    fn expect_fair(&self, margin: f64) -> Run<'_> {
        let run = self.expect(None, &[(true, margin)]);
        assert_eq!(run.rejected, 0);
        run
    }
}

impl Run<'_> {
    fn at(&mut self, after: i64, event: Event) {
        self.count += 1;
        let time = self.now + nanos(after);
        self.events.push(Reverse((time, self.count, event)));
    }

    fn until(&mut self, end: Nanos) {
        while let Some(Reverse((time, ..))) = self.events.peek()
            && *time <= end
        {
            let Some(Reverse((time, _, event))) = self.events.pop() else {
                return;
            };
            self.now = time;
            self.happen(event);
        }
        if end != Nanos::MAX {
            self.now = end;
        }
    }

    fn happen(&mut self, event: Event) {
        let mut dispatched = Vec::new();
        match event {
            Event::Call(client, thread, turn) => self.call(client, thread, turn, &mut dispatched),
            Event::Finish(client, ticket) => {
                let seats = self.scenario.clients[client].initial_seats;
                self.add_seats(client, -f64::from(seats));
                let Some(known) = self.tickets[ticket] else {
                    return;
                };
                let finished = self
                    .set
                    .finish(known, self.now, &mut |it| dispatched.push(*it));
                if let Finished::Lingering(longer) = finished {
                    self.at(i64::try_from(longer).unwrap(), Event::Release(ticket));
                }
            }
            Event::Release(ticket) => {
                if let Some(known) = self.tickets[ticket] {
                    self.set
                        .release(known, self.now, &mut |it| dispatched.push(*it));
                }
            }
            Event::ReturnDemand(seats) => self.add_demand(-f64::from(seats)),
        }
        for who in dispatched {
            let found = self.waiting.iter().position(|(it, _)| *it == who);
            if let Some(found) = found {
                let (_, ticket) = self.waiting.swap_remove(found);
                self.execute(who, ticket);
            }
        }
    }

    fn call(
        &mut self,
        client: usize,
        thread: usize,
        turn: usize,
        dispatched: &mut Vec<(usize, usize, usize)>,
    ) {
        let it = self.scenario.clients[client];
        let late = it.split && thread >= it.threads / 2;
        if turn >= if late { it.calls / 2 } else { it.calls } {
            return;
        }
        let work = WorkEstimate {
            initial_seats: it.initial_seats,
            final_seats: it.final_seats,
            additional_latency: nanos(it.pads),
        };
        let who = (client, thread, turn);
        self.add_demand(f64::from(work.max_seats()));
        let mut note = |it: &mut (usize, usize, usize)| {
            // It is told by the answer.
            if *it != who {
                dispatched.push(*it);
            }
        };
        match self
            .set
            .start(work, it.hash, client, who, self.now, &mut note)
        {
            Started::Executing(ticket) => self.execute(who, ticket),
            Started::Waiting(ticket) => self.waiting.push((who, ticket)),
            Started::Rejected(_) => {
                self.rejected += 1;
                self.add_demand(-f64::from(work.max_seats()));
            }
        }
    }

    fn execute(&mut self, (client, thread, turn): (usize, usize, usize), ticket: Ticket) {
        let it = self.scenario.clients[client];
        self.add_seats(client, f64::from(it.initial_seats));
        self.at(
            it.executes + it.thinks,
            Event::Call(client, thread, turn + 1),
        );
        self.tickets.push(Some(ticket));
        self.at(it.executes, Event::Finish(client, self.tickets.len() - 1));
        let seats = it.initial_seats.max(it.final_seats);
        self.at(it.executes + it.pads, Event::ReturnDemand(seats));
    }

    fn add_seats(&mut self, client: usize, seats: f64) {
        let (value, integrator) = &mut self.seats[client];
        *value += seats;
        integrator.set(*value, self.now);
    }

    fn add_demand(&mut self, seats: f64) {
        let (value, integrator) = &mut self.demand;
        *value += seats;
        integrator.set(*value, self.now);
    }

    fn averages(&mut self) -> Vec<f64> {
        let now = self.now;
        let all = self.seats.iter_mut();
        all.map(|(_, it)| it.reset(now).average).collect()
    }

    /// What the set tells of its demand is what there was.
    fn check_demand(&mut self) {
        let now = self.now;
        let told = self.set.gauges().demand.results(now);
        let real = self.demand.1.results(now);
        let near =
            |a: f64, b: f64| a.is_nan() && b.is_nan() || (a - b).abs() < 1e-6 * a.abs().max(1.0);
        assert!(near(told.average, real.average), "{told:?} {real:?}");
        assert!(near(told.deviation, real.deviation), "{told:?} {real:?}");
    }
}

#[test]
fn one_client_gets_what_it_asks_for() {
    let clients = [client(1_001_001_001, 1, 21, SECOND, 0)];
    Scenario::new(&clients, (9, 8, 3), 1, 20 * SECOND).expect_fair(0.0);
}

/// Thinking time, seats that stay taken for a while, and one or two clients.
#[test]
fn separations() {
    let half = SECOND / 2;
    let third = 1.0 / 3.0;
    #[rustfmt::skip]
    let table: [(i64, i64, u32, u32, usize, Option<f64>); 24] = [
        (SECOND, 0, 1, 1, 1, None),
        (SECOND, 0, 1, 2, 1, None),
        (SECOND, 0, 2, 2, 1, None),
        (SECOND, 0, 1, 1, 2, None),
        (SECOND, 0, 1, 2, 2, None),
        (SECOND, 0, 2, 2, 2, None),
        (0, SECOND, 1, 1, 1, Some(0.5)),
        (0, SECOND, 1, 2, 1, None),
        (0, SECOND, 2, 2, 1, Some(0.5)),
        (0, SECOND, 1, 1, 2, Some(0.25)),
        (0, SECOND, 1, 2, 2, Some(0.5)),
        (0, SECOND, 2, 2, 2, Some(0.25)),
        (SECOND, half, 1, 1, 1, None),
        (SECOND, half, 1, 2, 1, None),
        (SECOND, half, 2, 2, 1, None),
        (SECOND, half, 1, 1, 2, Some(third)),
        (SECOND, half, 1, 2, 2, None),
        (SECOND, half, 2, 2, 2, Some(third)),
        (half, SECOND, 1, 1, 1, Some(0.5)),
        (half, SECOND, 1, 2, 1, None),
        (half, SECOND, 2, 2, 1, Some(0.5)),
        (half, SECOND, 1, 1, 2, Some(0.25)),
        (half, SECOND, 1, 2, 2, Some(0.5)),
        (half, SECOND, 2, 2, 2, Some(0.25)),
    ];
    for (thinks, pads, final_seats, limit, count, average) in table {
        let clients = [1_001_001_001, 2_002_002_002]
            .map(|hash| client(hash, 1, 25, SECOND, thinks).padded(final_seats, pads));
        let scenario = Scenario::new(&clients[..count], (9, 8, 3), limit, 24 * SECOND);
        let averages = average.map(|it| vec![it; count]);
        // Threads begin some nanoseconds after the start.
        let run = scenario.expect(averages.as_deref(), &[(true, 1e-7)]);
        assert_eq!(run.rejected, 0);
    }
}

#[test]
fn clients_that_ask_for_more_get_the_same() {
    let even = SECOND - 1;
    let clients = [1_001_001_001, 2_002_002_002].map(|it| client(it, 8, 20, SECOND, even));
    Scenario::new(&clients, (9, 8, 1), 4, 50 * SECOND).expect_fair(0.01);
    let clients = [400_900_100_100, 300_900_200_200].map(|it| client(it, 8, 30, SECOND, even));
    Scenario::new(&clients, (8, 16, 3), 4, 60 * SECOND).expect_fair(0.03);
}

#[test]
fn clients_that_differ_get_the_same() {
    let clients = [
        client(1_001_001_001, 8, 20, SECOND, SECOND),
        client(2_002_002_002, 7, 30, SECOND, SECOND / 2),
    ];
    Scenario::new(&clients, (9, 8, 1), 4, 40 * SECOND).expect_fair(0.01);
}

#[test]
fn who_asks_for_less_gets_all_of_it() {
    let clients = [
        client(1_001_001_001, 4, 20, SECOND, SECOND - 1),
        client(2_002_002_002, 2, 20, SECOND, SECOND - 1),
    ];
    Scenario::new(&clients, (9, 6, 1), 3, 20 * SECOND).expect_fair(0.01);
}

/// Virtual time overflows nothing in years.
#[test]
fn seat_seconds_roll_over() {
    let quarter = 91 * 24 * 3600 * SECOND;
    let clients = [
        client(1_001_001_001, 8, 20, quarter, quarter).wide(500),
        client(2_002_002_002, 7, 30, quarter, quarter / 2).wide(500),
    ];
    let scenario = Scenario::new(&clients, (9, 8, 1), 2000, 40 * quarter);
    let run = scenario.expect_fair(0.01);
    let totals = run.set.totals();
    assert_eq!((totals.epochs, totals.failed_epochs), (8, 0));
}

#[test]
fn seats_count_and_not_requests() {
    let clients = [
        client(10_010_010_010_010, 13, 10, SECOND, SECOND - 1),
        client(20_020_020_020_020, 7, 10, SECOND, SECOND - 1).wide(2),
    ];
    Scenario::new(&clients, (64, 13, 7), 6, 20 * SECOND).expect_fair(0.155);
}

/// One asks for more seats than there are, and gets its turn.
#[test]
fn too_wide() {
    let of = |hash, seats| client(hash, 15, 21, SECOND, SECOND - 1).wide(seats);
    let clients = [
        of(40_040_040_040_040, 2),
        of(50_050_050_050_050, 2),
        of(60_060_060_060_060, 2),
        of(70_070_070_070_070, 2),
        of(90_090_090_090_090, 7),
    ];
    Scenario::new(&clients, (64, 35, 7), 6, 400 * SECOND).expect_fair(0.35);
}

/// Who could not use all of its part for a while gets somewhat more later, and not too much.
#[test]
fn windup() {
    let clients = [
        client(1_001_001_001, 2, 40, SECOND, -1),
        client(2_002_002_002, 2, 40, SECOND, -1).split(),
    ];
    let scenario = Scenario::new(&clients, (9, 6, 1), 3, 40 * SECOND);
    scenario.expect(None, &[(true, 0.01), (true, 0.26)]);
    scenario.expect(None, &[(true, 0.01), (false, 0.1)]);
}

#[test]
fn without_queues_the_faster_gets_more() {
    let ms = SECOND / 1000;
    let clients = [
        client(1_001_001_001, 6, 10, SECOND, 57 * ms),
        client(2_002_002_002, 4, 15, SECOND, 750 * ms),
    ];
    let scenario = Scenario::new(&clients, (0, 0, 0), 4, 13 * SECOND);
    let run = scenario.expect(None, &[(false, 0.20)]);
    assert!(run.rejected > 0);
}
