use std::time::SystemTime;

use super::*;
use crate::labels;
use crate::metrics::{Desc, Format, Registry, Stability, Unit, encode_otlp, render};

labels!(Asked { code, verb });
labels!(Judged {
    policy_namespace,
    resource_namespace
});

const ASKED: Desc = Desc::new("asked_total", Stability::Alpha, "a");
const GET: Asked<'_> = Asked {
    code: "200",
    verb: "GET",
};
const PUT: Asked<'_> = Asked {
    code: "200",
    verb: "PUT",
};

fn view(exposure: &'static str) -> View {
    let (view, bad) = View::read(|key| (key == "metricsExposure").then_some(exposure));
    assert!(bad.is_empty(), "{bad:?}");
    view
}

/// Without the lines that say what they are.
fn lines(registry: &Registry) -> Vec<String> {
    let text = render(registry, Format::Prometheus);
    let lines = text.lines().filter(|it| !it.starts_with('#'));
    lines.map(str::to_owned).collect()
}

#[test]
fn labels_go_and_come_back_while_it_counts() {
    let registry = Registry::default();
    let asked = registry.counter::<Asked<'_>>(ASKED);
    let held = asked.with(&GET);
    held.add(2);
    asked.with(&PUT).inc();
    // By the other of its names.
    registry.set_view(view(
        r#"{"asked": {"disabledLabelDimensions": ["verb", "none"]}}"#,
    ));
    assert_eq!(lines(&registry), [r#"asked_total{code="200"} 3"#]);
    held.inc();
    asked.with(&PUT).inc();
    asked.with(&PUT).inc();
    assert_eq!(lines(&registry), [r#"asked_total{code="200"} 6"#]);
    registry.set_view(View::default());
    let all = [
        r#"asked_total{code="200",verb=""} 2"#,
        r#"asked_total{code="200",verb="GET"} 3"#,
        r#"asked_total{code="200",verb="PUT"} 1"#,
    ];
    assert_eq!(lines(&registry), all);
}

#[test]
fn what_is_switched_off_is_in_no_reader() {
    let registry = Registry::default();
    let asked = registry.counter::<Asked<'_>>(ASKED);
    asked.with(&GET).inc();
    registry.set_view(view(r#"{"asked_total": {"enabled": false}}"#));
    asked.with(&GET).inc();
    assert_eq!(lines(&registry), [""; 0]);
    assert!(encode_otlp(&registry).is_empty());
    registry.set_view(View::default());
    assert_eq!(
        lines(&registry),
        [r#"asked_total{code="200",verb="GET"} 2"#]
    );
}

#[test]
fn other_buckets_hold_for_who_counts_already() {
    let registry = Registry::default();
    let sizes = || Desc::new("sizes", Stability::Alpha, "s");
    let family = registry.histogram::<()>(sizes(), Unit::One, &[10.0, 20.0]);
    let held = family.with(&());
    held.observe_value(5);
    let begun = registry.gather(SystemTime::now())[0].samples[0].created;
    registry.set_view(view(r#"{"sizes": {"bucketBoundaries": [1, 2.5, 7]}}"#));
    held.observe_value(2);
    family.with(&()).observe_value(3);
    let all = [
        r#"sizes_bucket{le="1"} 0"#,
        r#"sizes_bucket{le="2.5"} 1"#,
        r#"sizes_bucket{le="7"} 2"#,
        r#"sizes_bucket{le="+Inf"} 2"#,
        "sizes_sum 5",
        "sizes_count 2",
    ];
    assert_eq!(lines(&registry), all);
    let anew = registry.gather(SystemTime::now())[0].samples[0].created;
    assert!(anew > begun, "readers can tell that it began anew");
    // The same again changes nothing.
    registry.set_view(view(
        r#"{"sizes_total": {"bucketBoundaries": [1, 2.5, 7]}}"#,
    ));
    assert_eq!(lines(&registry), all);
    registry.set_view(View::default());
    held.observe_value(15);
    let text = lines(&registry);
    assert_eq!(text[1], r#"sizes_bucket{le="20"} 1"#);
}

#[test]
fn settings_hold_for_what_is_registered_later() {
    let registry = Registry::default();
    registry.set_view(view(
        r#"{"late": {"bucketBoundaries": [3], "disabledLabelDimensions": ["verb"]}}"#,
    ));
    let desc = Desc::new("late", Stability::Alpha, "l");
    let late = registry.histogram::<Asked<'_>>(desc, Unit::One, &[1.0]);
    late.with(&GET).observe_value(2);
    late.with(&PUT).observe_value(2);
    assert_eq!(lines(&registry)[0], r#"late_bucket{code="200",le="3"} 2"#);
}

#[test]
fn of_a_gauge_the_last_counts() {
    let registry = Registry::default();
    registry.observe_gauge(
        Desc::new("info", Stability::Alpha, "i"),
        &["name", "kind"],
        || {
            let series = |name: &str, value| (vec![name.to_owned(), "k".to_owned()], value);
            vec![series("a", 7.0), series("b", 1.0)]
        },
    );
    registry.set_view(view(r#"{"info": {"disabledLabelDimensions": ["name"]}}"#));
    assert_eq!(lines(&registry), [r#"info{kind="k"} 1"#]);
}

#[test]
fn namespaces_that_do_not_count() {
    let registry = Registry::default();
    let judged = registry.counter::<Judged<'_>>(Desc::new("judged", Stability::Alpha, "j"));
    let judge = |policy_namespace, resource_namespace| {
        let labels = Judged {
            policy_namespace,
            resource_namespace,
        };
        judged.with(&labels).inc();
    };
    judge("secret", "a");
    let (view, _) = View::read(|key| (key == "namespaces").then_some(r#"{"exclude":["secret"]}"#));
    registry.set_view(view);
    judge("secret", "a");
    judge("-", "secret");
    let all = [r#"judged{policy_namespace="-",resource_namespace="secret"} 1"#];
    assert_eq!(lines(&registry), all);
    registry.set_view(View::default());
    let back = r#"judged{policy_namespace="secret",resource_namespace="a"} 1"#;
    assert_eq!(lines(&registry)[1], back);
}

#[test]
fn a_sum_does_not_shrink_when_one_of_its_series_is_idle() {
    let registry = Registry::default();
    let asked = registry.counter::<Asked<'_>>(ASKED);
    asked.with(&GET).inc();
    asked.with(&PUT).inc();
    let series = |after: u64| {
        let at = SystemTime::now() + Duration::from_secs(after);
        let all = registry.gather(at);
        all.first().map_or(0, |it| it.samples.len())
    };
    assert_eq!(series(0), 2);
    registry.set_view(view(r#"{"asked": {"disabledLabelDimensions": ["verb"]}}"#));
    assert_eq!(series(100_000), 1);
    assert_eq!(lines(&registry), [r#"asked_total{code="200"} 2"#]);
    let (short, _) = View::read(|key| (key == "metricsRefreshInterval").then_some("5s"));
    registry.set_view(short);
    assert_eq!(series(1), 2);
    assert_eq!(series(60), 0);
}
