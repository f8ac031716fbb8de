//! How many seats a request takes, and for how much longer than it runs.

use crate::{Nanos, SeatSeconds};

/// What a request is expected to cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkEstimate {
    /// While it is executed.
    pub initial_seats: u32,
    /// After that, for `additional_latency`: what its watchers are sent keeps the server busy when its client has the
    /// answer already.
    pub final_seats: u32,
    pub additional_latency: Nanos,
}

impl WorkEstimate {
    pub const fn seats(initial_seats: u32) -> Self {
        Self {
            initial_seats,
            final_seats: 0,
            additional_latency: 0,
        }
    }

    /// What is reserved from beginning to end.
    pub fn max_seats(&self) -> u32 {
        self.initial_seats.max(self.final_seats)
    }
}

/// How many objects a resource has, and how large they are on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectStats {
    pub count: u64,
    /// Zero if it is not known.
    pub average_bytes: u64,
}

/// The parameters of LIST and WATCH that matter here, as they stand in the URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListOptions<'a> {
    pub limit: i64,
    pub resource_version: &'a str,
    pub resource_version_match: &'a str,
    pub continue_token: &'a str,
    /// By labels or by fields.
    pub has_selector: bool,
    pub send_initial_events: bool,
    /// A single object is asked for by name.
    pub is_single: bool,
}

/// Estimates for the requests of one priority level.
#[derive(Clone, Copy, Debug)]
pub struct Estimator {
    /// What [`crate::max_seats`] allows the level; zero for no such limit.
    pub max_seats: u32,
    /// Consistent reads are answered from memory.
    pub reads_from_cache: bool,
}

const MIN_SEATS: u32 = 1;
const MAX_LIST_SEATS: u32 = 100;
const MAX_MUTATING_SEATS: u32 = 10;
const BYTES_PER_SEAT: u64 = 100_000;
/// A list that is streamed from memory holds no more than this at once.
const MAX_STREAMED_BYTES: u64 = 1_000_000;
/// What etcd takes as one object.
const MAX_OBJECT_BYTES: u64 = 1_500_000;
const WATCHES_PER_SEAT: u32 = 10;
/// How long an event keeps each of its seats busy.
const EVENT_DURATION: Nanos = 5_000_000;

impl Estimator {
    fn most(self, limit: u32) -> u32 {
        match self.max_seats {
            0 => limit,
            most => most.min(limit),
        }
    }

    /// Of a list whose parameters nobody understands: it will fail, and costs as much as a list may.
    pub fn malformed_list(self) -> WorkEstimate {
        WorkEstimate::seats(self.most(MAX_LIST_SEATS))
    }

    /// `stats` is `None` for a resource that is not known: what is served elsewhere costs little here.
    pub fn list(self, options: &ListOptions<'_>, stats: Option<ObjectStats>) -> WorkEstimate {
        self.of_list(options, stats, self.is_cached(options))
    }

    /// A watch costs what the objects cost that it begins with.
    pub fn watch(self, options: &ListOptions<'_>, stats: Option<ObjectStats>) -> WorkEstimate {
        let begins_with_state =
            options.send_initial_events || matches!(options.resource_version, "" | "0");
        if begins_with_state {
            self.of_list(options, stats, true)
        } else {
            WorkEstimate::seats(MIN_SEATS)
        }
    }

    fn of_list(
        self,
        options: &ListOptions<'_>,
        stats: Option<ObjectStats>,
        is_cached: bool,
    ) -> WorkEstimate {
        let Some(stats) = stats else {
            return WorkEstimate::seats(MIN_SEATS);
        };
        let seats = bytes_at_once(options, stats, is_cached).div_ceil(BYTES_PER_SEAT);
        let seats = u32::try_from(seats).unwrap_or(u32::MAX);
        WorkEstimate::seats(seats.min(self.most(MAX_LIST_SEATS)).max(MIN_SEATS))
    }

    /// Whether upstream answers such a list from its watch cache.
    fn is_cached(self, options: &ListOptions<'_>) -> bool {
        match options.resource_version_match {
            "NotOlderThan" => true,
            "" if !options.continue_token.is_empty() => false,
            "" => match options.resource_version {
                "" => self.reads_from_cache,
                "0" => true,
                _ => options.limit <= 0,
            },
            _ => false,
        }
    }

    /// Of create, update, patch and delete. `watches` is how many watches will see the event.
    pub fn mutating(self, watches: u32) -> WorkEstimate {
        if watches < WATCHES_PER_SEAT {
            return WorkEstimate::seats(MIN_SEATS);
        }
        let seats = watches.div_ceil(WATCHES_PER_SEAT);
        let work = SeatSeconds::new(f64::from(seats), EVENT_DURATION);
        // A wide request keeps others waiting until enough seats are free: narrower and longer is the same work.
        let final_seats = seats.min(self.most(MAX_MUTATING_SEATS));
        WorkEstimate {
            initial_seats: MIN_SEATS,
            final_seats,
            additional_latency: work.duration_per_seat(f64::from(final_seats)),
        }
    }

    /// Everything else, and what causes no event.
    pub fn other(self) -> WorkEstimate {
        WorkEstimate::seats(MIN_SEATS)
    }
}

fn bytes_at_once(options: &ListOptions<'_>, stats: ObjectStats, is_cached: bool) -> u64 {
    let average = match stats.average_bytes {
        0 if stats.count > 0 => MAX_OBJECT_BYTES,
        known => known,
    };
    let limited = match u64::try_from(options.limit) {
        Ok(limit) if limit > 0 => limit.min(stats.count),
        _ => stats.count,
    };
    let objects = if options.is_single {
        1
    } else if !is_cached && options.has_selector {
        limited.max(stats.count / 2)
    } else {
        limited
    };
    let bytes = objects.saturating_mul(average);
    if is_cached {
        bytes.min(MAX_STREAMED_BYTES)
    } else {
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(query: &str) -> ListOptions<'_> {
        let mut options = ListOptions::default();
        for (key, value) in query.split('&').filter_map(|it| it.split_once('=')) {
            match key {
                "limit" => options.limit = value.parse().unwrap(),
                "rv" => options.resource_version = value,
                "match" => options.resource_version_match = value,
                "continue" => options.continue_token = value,
                "selector" => options.has_selector = true,
                "initial" => options.send_initial_events = value == "true",
                "name" => options.is_single = true,
                other => panic!("{other}"),
            }
        }
        options
    }

    /// Upstream's table, where consistent reads go to etcd.
    #[test]
    fn lists_cost_what_they_load() {
        let old_etcd = Estimator {
            max_seats: 100,
            reads_from_cache: false,
        };
        let table = [
            ("limit=399&rv=1", 699, 10_000, 40),
            ("rv=1", 699, 10_000, 10),
            ("rv=1", 69, 10_000, 7),
            ("limit=399", 699, 10_000, 40),
            ("", 399, 10_000, 40),
            ("continue=token&limit=399", 699, 10_000, 40),
            ("limit=299&rv=0", 399, 10_000, 10),
            ("limit=20&rv=0", 399, 10_000, 2),
            ("rv=0", 799, 10_000, 10),
            ("rv=0", 79, 10_000, 8),
            ("rv=1&match=Exact&limit=399", 699, 10_000, 40),
            ("rv=1&match=NotOlderThan", 799, 10_000, 10),
            ("rv=1&match=NotOlderThan", 79, 10_000, 8),
            ("match=foo", 200, 10_000, 20),
            ("rv=foo&match=Exact&limit=399", 699, 10_000, 40),
            ("", 1, 0, 15),
            ("limit=499&rv=0", 1, 0, 10),
            ("name=test", 799, 200_000, 2),
            ("name=test", 799, 1_500_000, 15),
            ("name=test&limit=500&rv=0", 799, 1_500_000, 10),
            ("selector=a", 799, 10_000, 80),
            ("selector=a&limit=49", 799, 10_000, 40),
            ("selector=a&limit=699", 799, 10_000, 70),
            ("rv=0&selector=a", 799, 10_000, 10),
            ("rv=0&selector=a&limit=29", 799, 10_000, 3),
            ("", 0, 0, 1),
        ];
        for (query, count, average_bytes, seats) in table {
            let stats = Some(ObjectStats {
                count,
                average_bytes,
            });
            let estimate = old_etcd.list(&options(query), stats);
            assert_eq!(estimate, WorkEstimate::seats(seats), "{query} {count}");
        }
        assert_eq!(old_etcd.list(&options(""), None).max_seats(), 1);
        assert_eq!(old_etcd.malformed_list().max_seats(), 100);
        let stats = Some(ObjectStats {
            count: 5000,
            average_bytes: 10_000,
        });
        let narrow = Estimator {
            max_seats: 20,
            reads_from_cache: true,
        };
        assert_eq!(narrow.list(&options("match=Exact"), stats).max_seats(), 20);
        assert_eq!(narrow.list(&options(""), stats).max_seats(), 10);
    }

    #[test]
    fn watches_cost_what_they_begin_with() {
        let estimator = Estimator {
            max_seats: 100,
            reads_from_cache: true,
        };
        let stats = Some(ObjectStats {
            count: 799,
            average_bytes: 1000,
        });
        let table = [
            ("", 8),
            ("rv=0", 8),
            ("rv=1", 1),
            ("initial=false", 8),
            ("initial=false&rv=0", 8),
            ("initial=false&rv=1", 1),
            ("initial=true", 8),
            ("initial=true&rv=7", 8),
        ];
        for (query, seats) in table {
            let estimate = estimator.watch(&options(query), stats);
            assert_eq!(estimate, WorkEstimate::seats(seats), "{query}");
        }
    }

    #[test]
    fn a_change_costs_what_its_watchers_are_sent() {
        let ms = 1_000_000;
        let table = [
            (0, 10, (1, 0, 0)),
            (5, 10, (1, 0, 0)),
            (29, 10, (1, 3, 5 * ms)),
            (199, 10, (1, 10, 10 * ms)),
            (100, 5, (1, 5, 10 * ms)),
            (1000, 20, (1, 10, 50 * ms)),
            (1000, 0, (1, 10, 50 * ms)),
        ];
        for (watches, max_seats, (initial, last, latency)) in table {
            let estimator = Estimator {
                max_seats,
                reads_from_cache: true,
            };
            let expected = WorkEstimate {
                initial_seats: initial,
                final_seats: last,
                additional_latency: latency,
            };
            assert_eq!(estimator.mutating(watches), expected, "{watches}");
        }
    }
}
