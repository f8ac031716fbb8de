//! What health checks said.

use telemetry::labels;
use telemetry::metrics::{Counter, Desc, Family, Gauge, Registry, Stability};

use super::desc::own_metric;

labels!(pub(crate) Check { name, r#type });
labels!(pub(crate) Checked { name, status, r#type });
labels!(pub(crate) Changed { name, status });

/// What health checks said.
#[derive(Debug)]
pub(crate) struct Health {
    last: Family<Check<'static>, Gauge>,
    total: Family<Checked<'static>, Counter>,
    changes: Family<Changed<'static>, Counter>,
}

impl Health {
    pub(super) fn new(slis: &Registry, registry: &Registry) -> Self {
        let stable = |name, help| Desc::new(name, Stability::Stable, help);
        Self {
            last: slis.gauge(stable(
                "kubernetes_healthcheck",
                "What a health check said when it was last asked: 1 if all is well.",
            )),
            total: slis.counter(stable(
                "kubernetes_healthchecks_total",
                "How often a health check was asked, by what it said.",
            )),
            changes: registry.counter(own_metric(
                "pilothouse_health_check_changes_total",
                "How often a health check began to fail, or passed again; looked at each second, whether it is asked or not.",
            )),
        }
    }

    pub(crate) fn changed(&self, name: &str, is_well: bool) {
        let status = if is_well { "success" } else { "error" };
        self.changes.with(&Changed { name, status }).inc();
    }

    pub(crate) fn note(&self, name: &str, kind: &str, is_well: bool) {
        let (value, status) = if is_well {
            (1, "success")
        } else {
            (0, "error")
        };
        self.last.with(&Check { name, r#type: kind }).set(value);
        let checked = Checked {
            name,
            status,
            r#type: kind,
        };
        self.total.with(&checked).inc();
    }
}
