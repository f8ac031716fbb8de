//! The lines of the report with their bars, in the order in which they are printed.

use clap::ValueEnum;

use self::Row::{
    Apply, Create, Custom, Delete, Etcd, Flood, Get, Growth, List, Memory, Patch, Start, Trace,
    Watch,
};

/// What `--only` chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Row {
    /// Cold and warm start
    Start,
    /// Memory and disk
    Memory,
    Create,
    Get,
    List,
    /// Merge patch
    Patch,
    /// Server-side apply
    Apply,
    Watch,
    /// Definitions and custom resources
    Custom,
    Delete,
    /// Both sides over etcd
    Etcd,
    /// What it costs to record every request
    Trace,
    /// What one user notices of another's flood
    Flood,
    /// What it costs to have many objects
    Growth,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Bar {
    AtLeast(f64),
    AtMost(f64),
    /// At most one part of so many.
    Part(f64),
}

impl Bar {
    pub(crate) fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(bar) => figure >= bar,
            Self::AtMost(bar) => figure <= bar,
            Self::Part(of) => figure <= 1.0 / of,
        }
    }

    pub(crate) fn text(self) -> String {
        match self {
            Self::AtLeast(bar) => format!(">= {bar}"),
            Self::AtMost(bar) => format!("<= {bar}"),
            Self::Part(of) => format!("<= 1/{of}"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) row: Row,
    /// Under which the sheet has its figures.
    pub(crate) key: &'static str,
    pub(crate) what: &'static str,
    pub(crate) unit: &'static str,
    /// On the ratio, or on the figure itself where it is held against nothing.
    pub(crate) bar: Option<Bar>,
    pub(crate) against: &'static str,
    /// Whether there is something to hold it against.
    pub(crate) compared: bool,
    /// It tells of the kube-apiserver alone.
    pub(crate) of_peer: bool,
}

impl Line {
    /// The bar against an earlier build: at most 3 % worse. What the load generator needs is not judged.
    pub(crate) fn hold_against_baseline(&mut self) {
        self.against = "baseline";
        self.bar = match self.unit {
            _ if self.key.ends_with(" own") => None,
            "/s" => Some(Bar::AtLeast(0.97)),
            _ => Some(Bar::AtMost(1.03)),
        };
    }
}

const PEER: &str = "kube-apiserver";
const FEW: &str = "1,000 objects";

const fn bare(
    row: Row,
    key: &'static str,
    what: &'static str,
    unit: &'static str,
    bar: Option<Bar>,
) -> Line {
    Line {
        row,
        key,
        what,
        unit,
        bar,
        against: PEER,
        compared: true,
        of_peer: false,
    }
}

const fn more(row: Row, key: &'static str, what: &'static str, times: f64) -> Line {
    bare(row, key, what, "/s", Some(Bar::AtLeast(times)))
}

const fn less(
    row: Row,
    key: &'static str,
    what: &'static str,
    unit: &'static str,
    part: f64,
) -> Line {
    bare(row, key, what, unit, Some(Bar::Part(part)))
}

const fn grown(key: &'static str, what: &'static str) -> Line {
    let mut line = bare(Growth, key, what, "ms", Some(Bar::AtMost(1.3)));
    line.against = FEW;
    line
}

const fn traced(
    key: &'static str,
    what: &'static str,
    unit: &'static str,
    bar: Option<Bar>,
) -> Line {
    let mut line = bare(Trace, key, what, unit, bar);
    line.against = "not traced";
    line
}

const fn flooded(key: &'static str, what: &'static str, bar: Option<Bar>) -> Line {
    let mut line = bare(Flood, key, what, "ms", bar);
    line.against = "quiet";
    line
}

const fn of_peer(mut line: Line) -> Line {
    line.of_peer = true;
    line
}

const fn flood_figure(key: &'static str, what: &'static str, unit: &'static str) -> Line {
    let mut line = alone(Flood, key, what, None);
    line.unit = unit;
    line
}

const fn alone(row: Row, key: &'static str, what: &'static str, bar: Option<Bar>) -> Line {
    let mut line = bare(row, key, what, "x", bar);
    line.compared = false;
    line
}

#[rustfmt::skip]
pub(crate) const LINES: &[Line] = &[
    less(Start, "cold", "cold start to /readyz", "s", 20.0),
    less(Start, "warm", "warm start, 10,000 objects", "s", 20.0),
    less(Memory, "memory ready", "memory when ready", "MiB", 10.0),
    less(Memory, "memory filled", "memory after 10,000 ConfigMaps", "MiB", 8.0),
    less(Memory, "memory end", "memory with 20,000 objects, 100 watchers", "MiB", 8.0),
    less(Memory, "disk filled", "disk after 10,000 ConfigMaps", "MiB", 3.0),
    more(Create, "create 1 rate", "create, 1 client", 1.5),
    bare(Create, "create 1 p99", "create p99, 1 client", "ms", None),
    more(Create, "create 16 rate", "create, 16 clients", 5.0),
    less(Create, "create 16 p99", "create p99, 16 clients", "ms", 3.0),
    more(Create, "create 64 rate", "create, 64 clients", 8.0),
    less(Create, "create 64 p99", "create p99, 64 clients", "ms", 5.0),
    bare(Create, "create 64 cpu", "CPU a create, 64 clients", "ms", None),
    more(Get, "get 16 rate", "GET, 16 clients", 10.0),
    less(Get, "get 16 cpu", "CPU a GET, 16 clients", "ms", 12.0),
    more(Get, "get 64 rate", "GET, 64 clients", 10.0),
    less(Get, "get 64 cpu", "CPU a GET, 64 clients", "ms", 12.0),
    bare(Get, "get 64 own", "the load generator's CPU a GET", "ms", None),
    less(List, "list", "LIST of 10,000", "s", 8.0),
    more(List, "pages rate", "LIST limit=500, 16 clients", 12.0),
    bare(List, "pages cpu", "CPU a LIST limit=500", "ms", None),
    bare(List, "pages own", "the load generator's CPU a LIST limit=500", "ms", None),
    more(Patch, "patch rate", "merge patch, 16 clients", 6.0),
    more(Apply, "apply create rate", "apply that creates, 16 clients", 6.0),
    more(Apply, "apply update rate", "apply that changes, 16 clients", 6.0),
    more(Apply, "apply no-op rate", "apply that changes nothing, 16 clients", 6.0),
    more(Watch, "watch full rate", "events to 100 watchers, writes at full speed", 4.0),
    bare(Watch, "watch full own", "the load generator's CPU an event", "ms", None),
    bare(Watch, "watch paced p50", "event p50 after the answer, 100 writes/s", "ms", None),
    less(Watch, "watch paced p99", "event p99 after the answer, 100 writes/s", "ms", 3.0),
    bare(Watch, "watch paced sent p50", "event p50 after the request, 100 writes/s", "ms", None),
    bare(Watch, "watch paced sent p99", "event p99 after the request, 100 writes/s", "ms", None),
    less(Watch, "watch paced cpu", "CPU for 200,000 events, 100 writes/s", "s", 6.0),
    less(Custom, "definition", "CRD until served", "ms", 5.0),
    more(Custom, "custom create rate", "custom resource create, 16 clients", 8.0),
    more(Custom, "custom patch rate", "custom resource merge patch, 16 clients", 8.0),
    more(Custom, "custom apply rate", "custom resource apply, 16 clients", 8.0),
    more(Delete, "delete rate", "delete, 16 clients", 5.0),
    more(Etcd, "etcd create 64 rate", "over etcd: create, 64 clients", 1.5),
    bare(Etcd, "etcd create 64 p99", "over etcd: create p99, 64 clients", "ms", None),
    more(Etcd, "etcd get 16 rate", "over etcd: GET, 16 clients", 10.0),
    less(Etcd, "etcd get 16 cpu", "over etcd: CPU a GET, 16 clients", "ms", 12.0),
    more(Etcd, "etcd get 64 rate", "over etcd: GET, 64 clients", 10.0),
    less(Etcd, "etcd get 64 cpu", "over etcd: CPU a GET, 64 clients", "ms", 12.0),
    less(Etcd, "etcd list", "over etcd: LIST of 10,000", "s", 8.0),
    more(Etcd, "etcd pages rate", "over etcd: LIST limit=500, 16 clients", 12.0),
    traced("trace cpu", "CPU a GET, 64 clients, all of them traced and sent", "ms", Some(Bar::AtMost(1.15))),
    alone(Trace, "trace lost", "spans lost of those that were to be sent, the worst round", Some(Bar::AtMost(0.0))),
    traced("trace rate", "GET, 64 clients, all of them traced and sent", "/s", None),
    traced("kept cpu", "CPU a GET, all of them kept by --debug-traces", "ms", None),
    alone(Trace, "kept lost", "spans lost of those that were to be kept, the worst round", None),
    traced("kept rate", "GET, 64 clients, all of them kept by --debug-traces", "/s", None),
    flooded("flood p99", "GET p99 of another user during a flood", Some(Bar::AtMost(2.0))),
    flooded("flood p50", "GET p50 of another user during a flood", None),
    flood_figure("flood rate", "answers to the flood", "/s"),
    flood_figure("flood rejected", "of them 429", ""),
    of_peer(flooded("flood peer p99", "kube-apiserver: GET p99 of another user during a flood", None)),
    of_peer(flooded("flood peer p50", "kube-apiserver: GET p50 of another user during a flood", None)),
    of_peer(flood_figure("flood peer rate", "kube-apiserver: answers to the flood", "/s")),
    of_peer(flood_figure("flood peer rejected", "kube-apiserver: of them 429", "")),
    grown("growth get", "CPU a GET at 100,000 objects"),
    grown("growth pages", "CPU a LIST limit=500 at 100,000 objects"),
    grown("growth create", "CPU a create at 100,000 objects"),
    grown("growth patch", "CPU a merge patch at 100,000 objects"),
    alone(Growth, "growth memory", "memory an object over its JSON", Some(Bar::AtMost(1.5))),
    alone(Growth, "growth memory reopened", "the same after a restart", None),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Bar, LINES};

    #[test]
    fn bars() {
        assert!(Bar::AtLeast(8.0).holds(8.0) && !Bar::AtLeast(8.0).holds(7.9));
        assert!(Bar::AtMost(1.3).holds(1.3) && !Bar::AtMost(1.3).holds(1.31));
        assert!(Bar::Part(4.0).holds(0.25) && !Bar::Part(4.0).holds(0.26));
        assert!(!Bar::AtLeast(1.0).holds(f64::NAN) && !Bar::Part(2.0).holds(f64::NAN));
    }

    #[test]
    fn no_two_lines_share_their_figures() {
        let keys: BTreeSet<_> = LINES.iter().map(|line| line.key).collect();
        assert_eq!(keys.len(), LINES.len());
    }
}
