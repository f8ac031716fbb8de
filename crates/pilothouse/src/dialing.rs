//! Connections through the proxies of `--egress-selector-config-file`, counted as upstream counts them.

use egress::{Dialing, Observer};
use telemetry::labels;
use telemetry::metrics::{Desc, Registry, Stability, Unit};

labels!(Way {
    protocol,
    transport
});
labels!(Failed {
    protocol,
    stage,
    transport
});

const BOUNDS: &[f64] = &[0.005, 0.025, 0.1, 0.5, 2.5, 12.5];
const PROTOCOL: &str = "http_connect";

/// Counts from the first connection of a kind on: what is not used is not shown.
pub fn observer(registry: &Registry) -> Observer {
    let alpha = |name, help| Desc::new(name, Stability::Alpha, help);
    let starts = registry.counter::<Way<'_>>(alpha(
        "apiserver_egress_dialer_dial_start_total",
        "Connections through a proxy that were begun, by how the proxy is spoken to and reached.",
    ));
    let took = registry.histogram::<Way<'_>>(
        alpha(
            "apiserver_egress_dialer_dial_duration_seconds",
            "Seconds until a connection through a proxy was there.",
        ),
        Unit::Seconds,
        BOUNDS,
    );
    let failures = registry.counter::<Failed<'_>>(alpha(
        "apiserver_egress_dialer_dial_failure_count",
        "Connections through a proxy that failed: on the way to it (connect), or from there on (proxy).",
    ));
    Observer::new(move |transport, dialing| {
        let way = Way {
            protocol: PROTOCOL,
            transport,
        };
        let failed = |stage| {
            let labels = Failed {
                protocol: PROTOCOL,
                stage,
                transport,
            };
            failures.with(&labels).inc();
        };
        match dialing {
            Dialing::Started => starts.with(&way).inc(),
            Dialing::Done(time) => took.with(&way).observe(time),
            Dialing::NotConnected => failed("connect"),
            Dialing::Refused => failed("proxy"),
        }
    })
}
