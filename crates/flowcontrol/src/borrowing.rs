//! How many seats each priority level has: nominally, at least, at most, and for now.

use std::time::Duration;

use crate::allocation::{Class, allocate};
use crate::config::{Level, PriorityLevel};
use crate::integrator::Results;

/// How often the limits that hold for now are adjusted to demand.
pub const PERIOD: Duration = Duration::from_secs(10);
/// With the period above, half of what was is forgotten in five minutes.
const SMOOTHING: f64 = 0.977;
/// The part of a level's nominal seats that one request may take.
const MAX_SEATS_PART: f64 = 0.15;

/// What a level's configuration gives it, in seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub nominal: u32,
    /// What is left if all is lent that may be.
    pub min: u32,
    pub max: u32,
}

/// The seats of a level out of the server's, by the level's part in the sum of all shares.
pub fn limits(server: u32, share_sum: f64, level: &PriorityLevel) -> Limits {
    if share_sum <= 0.0 {
        return Limits::default();
    }
    // Rounded up, so that no level that has shares is without seats.
    let nominal = (f64::from(server) * f64::from(level.shares) / share_sum).ceil();
    let part = |percent: u32| whole((nominal * f64::from(percent) / 100.0).round());
    let nominal = whole(nominal);
    let borrowing = match level.level {
        Level::Exempt => None,
        Level::Limited {
            borrowing_limit, ..
        } => borrowing_limit,
    };
    Limits {
        nominal,
        min: nominal.saturating_sub(part(level.lendable)),
        max: nominal.saturating_add(borrowing.map_or(server, part)),
    }
}

/// The most seats that the estimate of one request's work may come to.
pub fn max_seats(nominal: u32, hand_size: u32) -> u32 {
    let part = whole((f64::from(nominal) * MAX_SEATS_PART).ceil());
    part.min(nominal / hand_size.max(1)).max(1)
}

/// What a level's requests asked for of late.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DemandStats {
    pub average: f64,
    pub deviation: f64,
    /// The most within the last period.
    pub high_watermark: u32,
    pub smoothed: f64,
}

impl DemandStats {
    pub fn update(&mut self, observed: Results) {
        self.high_watermark = whole(observed.max.round());
        if observed.duration <= 0.0 {
            return;
        }
        self.average = observed.average;
        self.deviation = if observed.deviation.is_nan() {
            0.0
        } else {
            observed.deviation
        };
        let envelope = self.average + self.deviation;
        let decayed = SMOOTHING * self.smoothed + (1.0 - SMOOTHING) * envelope;
        self.smoothed = envelope.max(decayed);
    }
}

/// A level that takes part in borrowing.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    pub is_exempt: bool,
    pub limits: Limits,
    pub stats: DemandStats,
    /// The limit that holds until now.
    pub current: u32,
}

/// What a level gets for the next period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Adjusted {
    pub current: u32,
    /// What it was to get, had there been enough.
    pub target: f64,
}

impl Demand {
    /// What it gets at least: what it asked for, if its nominal limit covers that. Who is exempt takes what it asks for.
    fn floor(&self) -> u32 {
        let asked = if self.is_exempt {
            self.stats.high_watermark
        } else {
            self.stats.high_watermark.min(self.limits.nominal)
        };
        asked.max(self.limits.min)
    }
}

/// New limits for all levels, in their order, and the fair fraction: the part of its target that a level gets whose bounds
/// do not matter.
pub fn adjust(levels: &[Demand]) -> (Vec<Adjusted>, f64) {
    let sum = |of: fn(&Demand) -> u32, exempt: bool| {
        let those = levels.iter().filter(|it| it.is_exempt == exempt);
        those.map(|it| f64::from(of(it))).sum::<f64>()
    };
    let nominal = sum(|it| it.limits.nominal, false) + sum(|it| it.limits.nominal, true);
    let left = nominal - sum(Demand::floor, true);
    let (least, floor) = (sum(|it| it.limits.min, false), sum(Demand::floor, false));
    let target = |it: &Demand| f64::from(it.floor()).max(it.stats.smoothed);
    let with = |current: &mut dyn FnMut(&Demand) -> f64| {
        let each = levels.iter().map(|it| {
            let target = target(it);
            let current = if it.is_exempt {
                f64::from(it.floor())
            } else {
                current(it)
            };
            Adjusted {
                current: whole(current.round()),
                target,
            }
        });
        each.collect::<Vec<_>>()
    };
    if left <= least {
        return (with(&mut |it| f64::from(it.limits.min)), 0.0);
    }
    if left <= floor {
        let part = (left - least) / (floor - least);
        let mut between = |it: &Demand| {
            let min = f64::from(it.limits.min);
            min + (f64::from(it.floor() - it.limits.min) * part).round()
        };
        return (with(&mut between), 0.0);
    }
    let classes: Vec<_> = (levels.iter().filter(|it| !it.is_exempt))
        .map(|it| Class {
            target: target(it),
            lower_bound: f64::from(it.floor()),
            upper_bound: f64::from(it.limits.max),
        })
        .collect();
    match allocate(nominal, &classes) {
        Ok((parts, fair)) => {
            let mut parts = parts.into_iter();
            (
                with(&mut |it| parts.next().unwrap_or(f64::from(it.current))),
                fair,
            )
        }
        // Bounds that do not fit together leave everything as it is.
        Err(_) => (with(&mut |it| f64::from(it.current)), 0.0),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "never negative, and `as` saturates"
)]
fn whole(value: f64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Queuing;

    fn level(name: &str, shares: u32, lendable: u32, borrowing: Option<u32>) -> PriorityLevel {
        PriorityLevel {
            name: name.to_owned(),
            uid: String::new(),
            shares,
            lendable,
            level: Level::Limited {
                borrowing_limit: borrowing,
                queuing: Some(Queuing {
                    queues: 128,
                    hand_size: 6,
                    queue_length_limit: 50,
                }),
            },
        }
    }

    #[test]
    fn the_default_levels_share_600_seats() {
        let table = [
            ("catch-all", 5, 0, (13, 13, 613)),
            ("global-default", 20, 50, (49, 24, 649)),
            ("leader-election", 10, 0, (25, 25, 625)),
            ("node-high", 40, 25, (98, 73, 698)),
            ("system", 30, 33, (74, 50, 674)),
            ("workload-high", 40, 50, (98, 49, 698)),
            ("workload-low", 100, 90, (245, 24, 845)),
        ];
        for (name, shares, lendable, (nominal, min, max)) in table {
            let given = limits(600, 245.0, &level(name, shares, lendable, None));
            assert_eq!(given, Limits { nominal, min, max }, "{name}");
        }
    }

    #[test]
    fn a_request_takes_a_small_part_of_a_level() {
        let table = [
            (5, 6, 1),
            (10, 6, 1),
            (15, 6, 2),
            (20, 6, 3),
            (35, 6, 5),
            (100, 6, 15),
            (200, 6, 30),
            (10, 1, 2),
            (100, 20, 5),
        ];
        for (nominal, hand, most) in table {
            assert_eq!(max_seats(nominal, hand), most, "{nominal} {hand}");
        }
    }

    struct World {
        levels: [Demand; 4],
    }

    const EXEMPT: usize = 0;
    const HIGH: usize = 1;
    const MID: usize = 2;
    const LOW: usize = 3;

    impl World {
        /// `workload-high`, `workload-low` and `catch-all` beside `exempt`, six seats for each share.
        fn new() -> Self {
            let of = |shares, lendable| limits(145 * 6, 145.0, &level("", shares, lendable, None));
            let demand = |is_exempt, limits: Limits| Demand {
                is_exempt,
                limits,
                stats: DemandStats::default(),
                current: limits.nominal,
            };
            let none = Limits {
                max: 145 * 6,
                ..Limits::default()
            };
            Self {
                levels: [
                    demand(true, none),
                    demand(false, of(40, 50)),
                    demand(false, of(100, 90)),
                    demand(false, of(5, 0)),
                ],
            }
        }

        fn ask(&mut self, demands: [u32; 4]) -> [u32; 4] {
            for (level, seats) in self.levels.iter_mut().zip(demands) {
                level.stats.update(Results {
                    duration: 10.0,
                    average: f64::from(seats),
                    deviation: 0.0,
                    max: f64::from(seats),
                });
            }
            let (adjusted, _) = adjust(&self.levels);
            for (level, adjusted) in self.levels.iter_mut().zip(&adjusted) {
                level.current = adjusted.current;
            }
            [0, 1, 2, 3].map(|it| adjusted[it].current)
        }

        fn limits(&self, at: usize) -> Limits {
            self.levels[at].limits
        }
    }

    /// Upstream's three scenarios of an exempt level that takes from the others.
    #[test]
    fn what_exempt_requests_take_is_missing_elsewhere() {
        let server = 145 * 6;
        let mut world = World::new();
        let all = server + 100;
        let (high, mid, low) = (world.limits(HIGH), world.limits(MID), world.limits(LOW));
        assert_eq!(world.ask([all; 4]), [all, high.min, mid.min, low.min]);
        let half = |it: Limits| u32::midpoint(it.nominal, it.min);
        let halves = [half(high), half(mid), half(low)];
        let exempt = server - halves.iter().sum::<u32>();
        let expected = [exempt, halves[0], halves[1], halves[2]];
        assert_eq!(world.ask([exempt, all, all, all]), expected);
        let exempt = server - (high.nominal + mid.min + low.nominal);
        let expected = [exempt, high.nominal, mid.min, low.nominal];
        assert_eq!(world.ask([exempt, all, 1, all]), expected);
        assert_eq!(world.levels[EXEMPT].current, exempt);
    }

    /// Upstream's two scenarios of a busy level beside a less busy one: 24 and 6 clients on 24 seats.
    #[test]
    fn a_level_borrows_what_another_lends() {
        for [first, second] in [[(50, 67), (33, 50)], [(50, 33), (67, 50)]] {
            let of = |(lendable, borrowing)| {
                let limits = limits(24, 205.0, &level("", 100, lendable, Some(borrowing)));
                Demand {
                    is_exempt: false,
                    limits,
                    stats: DemandStats::default(),
                    current: limits.nominal,
                }
            };
            let catch_all = limits(24, 205.0, &level("", 5, 0, None));
            let mut levels = [
                of(first),
                of(second),
                Demand {
                    limits: catch_all,
                    ..of((0, 0))
                },
            ];
            for (level, seats) in levels.iter_mut().zip([24_u32, 6, 0]) {
                level.stats.update(Results {
                    duration: 10.0,
                    average: f64::from(seats),
                    deviation: 0.0,
                    max: f64::from(seats),
                });
            }
            let (adjusted, _) = adjust(&levels);
            assert_eq!(adjusted[0].current, 16, "{first:?} {second:?}");
            assert!(adjusted[1].current >= 6, "{first:?} {second:?}");
        }
    }

    #[test]
    fn demand_is_forgotten_slowly() {
        let mut stats = DemandStats::default();
        let observed = |average, max| Results {
            duration: 10.0,
            average,
            deviation: f64::NAN,
            max,
        };
        stats.update(observed(100.0, 120.4));
        assert_eq!((stats.smoothed, stats.high_watermark), (100.0, 120));
        for _ in 0..30 {
            stats.update(observed(0.0, 0.0));
        }
        assert!((stats.smoothed - 49.77).abs() < 0.1, "{}", stats.smoothed);
    }
}
