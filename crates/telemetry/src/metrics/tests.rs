use std::time::{Duration, SystemTime};

use super::family::UNEXPECTED;
use super::*;
use crate::{Ids, labels};

labels!(Ask { code, verb });
labels!(Typed { name, r#type });

const STABLE: Desc = Desc::new(
    "asks_total",
    Stability::Stable,
    "How many \"asks\" \\ there were.",
);

#[test]
fn text_as_prometheus_reads_it() {
    let registry = Registry::default();
    let asks = registry.counter::<Ask<'_>>(STABLE);
    asks.with(&Ask {
        code: "200",
        verb: "GET",
    })
    .add(3);
    asks.with(&Ask {
        code: "200",
        verb: "a\"b\\c\nd",
    })
    .inc();
    let took = registry.histogram::<()>(
        Desc::new("took_seconds", Stability::Beta, "How long it took.").deprecated("1.2.3"),
        Unit::Seconds,
        &[0.005, 1.0, 1e6],
    );
    took.with(&()).observe(Duration::from_millis(5));
    took.with(&()).observe_traced(
        1_500_000_000,
        Some(Ids {
            trace_id: [0xab; 16],
            span_id: [1; 8],
        }),
    );
    let kinds = registry.gauge::<Typed<'_>>(Desc::new("attempts", Stability::Alpha, "x"));
    kinds
        .with(&Typed {
            name: "n",
            r#type: "t",
        })
        .set(-2);
    registry.observe_counter(Desc::new("tries", Stability::Unmarked, "y"), &[], || {
        vec![(Vec::new(), 0.25)]
    });
    assert_eq!(
        render(&registry, Format::Prometheus),
        "# HELP asks_total [STABLE] How many \"asks\" \\\\ there were.\n\
         # TYPE asks_total counter\n\
         asks_total{code=\"200\",verb=\"GET\"} 3\n\
         asks_total{code=\"200\",verb=\"a\\\"b\\\\c\\nd\"} 1\n\
         # HELP attempts [ALPHA] x\n\
         # TYPE attempts gauge\n\
         attempts{name=\"n\",type=\"t\"} -2\n\
         # HELP took_seconds [BETA] (Deprecated since 1.2.3) How long it took.\n\
         # TYPE took_seconds histogram\n\
         took_seconds_bucket{le=\"0.005\"} 1\n\
         took_seconds_bucket{le=\"1\"} 1\n\
         took_seconds_bucket{le=\"1e+06\"} 2\n\
         took_seconds_bucket{le=\"+Inf\"} 2\n\
         took_seconds_sum 1.505\n\
         took_seconds_count 2\n\
         # HELP tries y\n\
         # TYPE tries counter\n\
         tries 0.25\n"
    );
    let open = render(&registry, Format::OpenMetrics);
    let has = |line: &str| assert!(open.contains(line), "{line} is not in\n{open}");
    has("# TYPE asks counter\nasks_total{code=\"200\",verb=\"GET\"} 3\n");
    has("# TYPE tries unknown\ntries 0.25\n");
    has("took_seconds_bucket{le=\"1.0\"} 1\n");
    let trace = "ab".repeat(16);
    has(&format!(
        "took_seconds_bucket{{le=\"1e+06\"}} 2 # {{trace_id=\"{trace}\",span_id=\"0101010101010101\"}} 1.5 "
    ));
    assert!(open.ends_with("# EOF\n"));
}

#[test]
fn what_a_client_accepts() {
    let cases = [
        ("", Format::Prometheus),
        ("*/*", Format::Prometheus),
        ("text/plain", Format::Prometheus),
        (
            "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            Format::OpenMetrics,
        ),
        ("application/openmetrics-text", Format::OpenMetrics),
        (
            "application/openmetrics-text; version=9.0.0",
            Format::Prometheus,
        ),
        ("application/openmetrics-text;q=0", Format::Prometheus),
        (
            "application/openmetrics-text;q=0.2, text/plain;q=0.7",
            Format::Prometheus,
        ),
    ];
    for (header, expected) in cases {
        assert_eq!(Format::accepted(header), expected, "{header}");
    }
}

#[test]
fn an_instrument_has_so_many_series_and_the_sum_stays_true() {
    let registry = Registry::default();
    let asks = registry.counter::<Ask<'_>>(STABLE.cap(2));
    for code in ["200", "404", "500", "200", "503"] {
        asks.with(&Ask { code, verb: "GET" }).inc();
    }
    assert_eq!(
        asks.with(&Ask {
            code: UNEXPECTED,
            verb: UNEXPECTED
        })
        .get(),
        2
    );
    let text = render(&registry, Format::Prometheus);
    assert!(
        text.contains("asks_total{code=\"200\",verb=\"GET\"} 2\n"),
        "{text}"
    );
    assert!(!text.contains("503"), "{text}");
    let refused = "pilothouse_metrics_refused_series_total{metric=\"asks_total\"} 2\n";
    assert!(text.contains(refused), "{text}");
}

#[test]
fn an_idle_series_goes_unless_somebody_holds_it() {
    let registry = Registry::new(Duration::from_secs(60));
    let asks = registry.counter::<Ask<'_>>(STABLE);
    let held = asks.with(&Ask {
        code: "200",
        verb: "GET",
    });
    held.inc();
    asks.with(&Ask {
        code: "404",
        verb: "GET",
    })
    .inc();
    let start = SystemTime::now();
    let series = |after: u64| {
        let all = registry.gather(start + Duration::from_secs(after));
        all.iter().map(|it| it.samples.len()).sum::<usize>()
    };
    assert_eq!(series(0), 2);
    assert_eq!(series(59), 2);
    asks.with(&Ask {
        code: "404",
        verb: "GET",
    })
    .inc();
    assert_eq!(series(61), 2, "it has just moved");
    assert_eq!(series(120), 2);
    assert_eq!(series(122), 1);
    drop(held);
    assert_eq!(series(123), 0);
}

#[test]
fn a_gauge_that_says_something_stays() {
    let registry = Registry::new(Duration::from_secs(1));
    let now = registry.gauge::<()>(Desc::new("now", Stability::Alpha, ""));
    now.with(&()).inc();
    let later = |after| {
        let at = SystemTime::now() + Duration::from_secs(after);
        registry.gather(at).len()
    };
    assert_eq!((later(0), later(100)), (1, 1));
    now.with(&()).dec();
    assert_eq!(later(200), 0);
}

#[test]
fn long_labels_are_cut_where_a_letter_ends() {
    let registry = Registry::default();
    let asks = registry.counter::<Ask<'_>>(STABLE);
    asks.with(&Ask {
        code: &"ä".repeat(400),
        verb: "",
    })
    .inc();
    let text = render(&registry, Format::Prometheus);
    let code = "ä".repeat(256);
    assert!(
        text.contains(&format!("{{code=\"{code}\",verb=\"\"}} 1\n")),
        "{text}"
    );
}

#[test]
fn many_threads_lose_nothing() {
    let registry = Registry::default();
    let asks = registry.counter::<()>(STABLE);
    let took = registry.histogram::<()>(
        Desc::new("bytes", Stability::Alpha, ""),
        Unit::One,
        &[10.0, 100.0],
    );
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let (asks, took) = (asks.with(&()), took.with(&()));
                for value in 0..1000 {
                    asks.inc();
                    took.observe_value(value);
                }
            });
        }
    });
    assert_eq!(asks.with(&()).get(), 8000);
    let (counts, _, sum) = took.with(&()).read();
    assert_eq!(counts, [88, 720, 7192]);
    assert_eq!(sum, 8 * 499_500);
}

#[test]
fn a_sum_may_be_greater_than_its_cell() {
    let registry = Registry::default();
    let long = registry.histogram::<()>(
        Desc::new("long_seconds", Stability::Alpha, ""),
        Unit::Seconds,
        &[1.0],
    );
    for _ in 0..4 {
        long.with(&()).observe_value(u64::MAX);
    }
    let (counts, _, sum) = long.with(&()).read();
    assert_eq!((counts, sum), (vec![0, 4], 4 * u128::from(u64::MAX)));
}

#[test]
fn otlp_is_what_the_proto_files_say() {
    let registry = Registry::default();
    registry
        .counter::<Ask<'_>>(STABLE)
        .with(&Ask {
            code: "200",
            verb: "GET",
        })
        .add(7);
    let took = registry.histogram::<()>(
        Desc::new("took_seconds", Stability::Alpha, "t"),
        Unit::Seconds,
        &[1.0],
    );
    let exemplar = Ids {
        trace_id: [2; 16],
        span_id: [3; 8],
    };
    took.with(&()).observe_traced(2_000_000_000, Some(exemplar));
    let messages = encode_otlp(&registry);
    assert_eq!((messages.len(), messages[0].points), (1, 2));
    let of = read(&messages[0].metrics);
    assert_eq!(of.at(&[2, 1, 1]).text(), "pilothouse");
    let metrics = of.at(&[2]).all(2);
    assert_eq!(metrics.len(), 2);
    let (asks, took) = (&metrics[0], &metrics[1]);
    assert_eq!(asks.at(&[1]).text(), "asks_total");
    assert_eq!(asks.at(&[7, 2]).number(), 2, "cumulative");
    assert_eq!(asks.at(&[7, 3]).number(), 1, "monotonic");
    let point = asks.at(&[7, 1]);
    assert_eq!(point.at(&[6]).number(), 7);
    let labels: Vec<_> = point
        .all(7)
        .iter()
        .map(|it| (it.at(&[1]).text(), it.at(&[2, 1]).text()))
        .collect();
    assert_eq!(
        labels,
        [("code".into(), "200".into()), ("verb".into(), "GET".into())]
    );
    assert!(
        point.at(&[2]).number() <= point.at(&[3]).number(),
        "it began before now"
    );
    assert_eq!(took.at(&[3]).text(), "s");
    let point = took.at(&[9, 1]);
    assert_eq!(point.at(&[4]).number(), 1);
    assert_eq!(f64::from_bits(point.at(&[5]).number()).to_string(), "2");
    assert_eq!(
        point.at(&[6]).0,
        Field::Bytes([0_u64, 1].map(u64::to_le_bytes).concat())
    );
    assert_eq!(
        point.at(&[7]).0,
        Field::Bytes(1.0_f64.to_le_bytes().to_vec())
    );
    assert_eq!(point.at(&[8, 5]).0, Field::Bytes(vec![2; 16]));
    assert_eq!(point.at(&[8, 4]).0, Field::Bytes(vec![3; 8]));
}

#[test]
fn many_series_go_in_several_messages() {
    let registry = Registry::default();
    let asks = registry.counter::<Ask<'_>>(STABLE.cap(10_000));
    for index in 0..5000 {
        let code = format!("{index:0>400}");
        asks.with(&Ask {
            code: &code,
            verb: "GET",
        })
        .inc();
    }
    let messages = encode_otlp(&registry);
    assert!(messages.len() > 1 && messages.iter().all(|it| it.metrics.len() < 2 << 20));
    assert_eq!(messages.iter().map(|it| it.points).sum::<u64>(), 5000);
    let points = messages.iter().map(|it| {
        let metrics = read(&it.metrics).at(&[2]).all(2);
        metrics
            .iter()
            .map(|it| it.at(&[7]).all(1).len())
            .sum::<usize>()
    });
    assert_eq!(points.sum::<usize>(), 5000);
}

#[test]
fn this_process_is_known() {
    let registry = Registry::default();
    register_process(&registry);
    let text = render(&registry, Format::Prometheus);
    if cfg!(target_os = "linux") {
        for name in [
            "process_cpu_seconds_total",
            "process_resident_memory_bytes",
            "process_open_fds",
        ] {
            assert!(
                text.contains(&format!("\n{name} ")),
                "{name} is not in {text}"
            );
        }
    }
    assert!(text.contains("process_start_time_seconds"));
}

#[test]
fn names_of_labels_are_in_order() {
    assert_eq!(Typed::NAMES, ["name", "type"]);
}

/// A message as it can be read without knowing its type.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug)]
struct Node(Field);

fn read(bytes: &[u8]) -> Node {
    Node(Field::Bytes(bytes.to_vec()))
}

impl Node {
    fn fields(&self) -> Vec<(u64, Field)> {
        let Field::Bytes(bytes) = &self.0 else {
            return Vec::new();
        };
        let mut at = 0;
        let mut found = Vec::new();
        let varint = |at: &mut usize| {
            let (mut value, mut shift) = (0_u64, 0);
            loop {
                let byte = bytes[*at];
                *at += 1;
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return value;
                }
            }
        };
        while at < bytes.len() {
            let tag = varint(&mut at);
            let value = match tag & 7 {
                0 => Field::Number(varint(&mut at)),
                1 => {
                    at += 8;
                    Field::Number(u64::from_le_bytes(bytes[at - 8..at].try_into().unwrap()))
                }
                _ => {
                    let length = usize::try_from(varint(&mut at)).unwrap();
                    at += length;
                    Field::Bytes(bytes[at - length..at].to_vec())
                }
            };
            found.push((tag >> 3, value));
        }
        found
    }

    fn all(&self, number: u64) -> Vec<Self> {
        let found = self.fields().into_iter();
        found
            .filter(|(it, _)| *it == number)
            .map(|(_, it)| Self(it))
            .collect()
    }

    fn at(&self, path: &[u64]) -> Self {
        path.iter().fold(self.clone(), |node, number| {
            node.all(*number)
                .first()
                .cloned()
                .unwrap_or_else(|| panic!("no field {number} of {path:?}"))
        })
    }

    fn number(&self) -> u64 {
        match self.0 {
            Field::Number(value) => value,
            Field::Bytes(_) => panic!("not a number"),
        }
    }

    fn text(&self) -> String {
        match &self.0 {
            Field::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
            Field::Number(_) => panic!("not a text"),
        }
    }
}

#[test]
fn series_of_what_is_gone_go_soon_unless_somebody_asks_for_them_again() {
    labels!(Of { group, resource });
    let registry = Registry::default();
    let desc = |name| Desc::new(name, Stability::Alpha, "x");
    let asks = registry.counter::<Of<'_>>(desc("asks_total"));
    let used = registry.gauge::<Of<'_>>(desc("used"));
    let of = |resource| Of {
        group: "example.com",
        resource,
    };
    // Held, as by a watch that is about to end.
    let held = asks.with(&of("gone"));
    held.inc();
    used.with(&of("gone")).set(1);
    asks.with(&of("stays")).inc();
    let shown = |after: u64| {
        let now = SystemTime::now() + Duration::from_secs(after);
        let gathered = registry.gather(now);
        let samples = gathered.iter().flat_map(|it| &it.samples);
        let mut names: Vec<_> = samples.map(|it| it.labels[1].clone()).collect();
        names.sort();
        names
    };
    assert_eq!(shown(0), ["gone", "gone", "stays"]);
    registry.retire(&[("group", "example.com"), ("resource", "gone")]);
    registry.retire(&[("crd_name", "gone.example.com")]);
    assert_eq!(shown(200), ["gone", "gone", "stays"]);
    // It is made again.
    used.with(&of("gone")).set(1);
    assert_eq!(shown(301), ["gone", "stays"]);
    registry.retire(&[("group", "example.com"), ("resource", "gone")]);
    assert_eq!(shown(302), ["stays"]);
}
