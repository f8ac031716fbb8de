//! How long plugins and webhooks take, and what webhooks refuse: by the names and buckets that upstream has.

mod policies;

use std::sync::OnceLock;
use std::time::Duration;

use telemetry::labels;
use telemetry::logs::{self, Field, LimitedBy, SERVER};
use telemetry::metrics::{Counter, Desc, Family, Histogram, Registry, Stability, Unit};

pub(crate) use self::policies::{Conditioned, Mutation, PolicyCheck, PolicyMetrics};
use crate::Operation;

labels!(pub Step { operation, rejected, r#type });
labels!(pub Named { name, operation, rejected, r#type });
labels!(pub Refusal { error_type, name, operation, rejection_code, r#type });
labels!(pub Asked { code, name, operation, rejected, r#type });
labels!(pub FailedOpen { name, r#type });
labels!(pub Sent { code, host, method });
labels!(pub Taken { host, verb });
labels!(pub Converted { failure_type, result });
labels!(pub ConvertedKind { crd_name, from_version, succeeded, to_version });

const PLUGINS: &[f64] = &[0.005, 0.025, 0.1, 0.5, 1.0, 2.5];
const WEBHOOKS: &[f64] = &[0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0];
const CLIENT: &[f64] = &[
    0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0,
];
const CONVERSIONS: &[f64] = &[
    0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0,
];
const DEFINITIONS: &[f64] = &[
    0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096,
    8.192, 16.384,
];

/// Between two lines about one webhook that fails.
const FAILURE_PAUSE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Metrics {
    step: Family<Step<'static>, Histogram>,
    controller: Family<Named<'static>, Histogram>,
    webhook: Family<Named<'static>, Histogram>,
    rejections: Family<Refusal<'static>, Counter>,
    asked: Family<Asked<'static>, Counter>,
    failed_open: Family<FailedOpen<'static>, Counter>,
    sent: Family<Sent<'static>, Counter>,
    taken: Family<Taken<'static>, Histogram>,
    converted: Family<Converted<'static>, Counter>,
    converting: Family<Converted<'static>, Histogram>,
    definitions: Family<ConvertedKind<'static>, Histogram>,
    pub(crate) policies: PolicyMetrics,
    failures: LimitedBy,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    Admit,
    Validate,
}

impl Phase {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::Validate => "validate",
        }
    }

    /// Webhooks have another word than plugins.
    fn of_webhook(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::Validate => "validating",
        }
    }
}

/// What a webhook was called for, and what came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called<'a> {
    pub name: &'a str,
    pub phase: Phase,
    pub operation: Operation,
    pub took: Duration,
    pub outcome: Outcome,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    Allowed,
    /// It said no, with this code.
    Refused(u16),
    /// It could not be asked; if that is `ignored` the request goes on.
    Failed {
        code: u16,
        ignored: bool,
    },
    /// It must not be asked, or what it made cannot be used.
    Impossible,
}

impl Metrics {
    pub fn new(registry: &Registry) -> Self {
        let stable = |name, help| Desc::new(name, Stability::Stable, help);
        let alpha = |name, help| Desc::new(name, Stability::Alpha, help);
        Self {
            step: registry.histogram(
                stable(
                    "apiserver_admission_step_admission_duration_seconds",
                    "Seconds that a whole phase of admission took: admit, which may change the object, or validate.",
                ),
                Unit::Seconds,
                PLUGINS,
            ),
            controller: registry.histogram(
                stable(
                    "apiserver_admission_controller_admission_duration_seconds",
                    "Seconds that one admission plugin took.",
                ),
                Unit::Seconds,
                PLUGINS,
            ),
            webhook: registry.histogram(
                stable(
                    "apiserver_admission_webhook_admission_duration_seconds",
                    "Seconds that one admission webhook took to answer.",
                ),
                Unit::Seconds,
                WEBHOOKS,
            ),
            rejections: registry.counter(alpha(
                "apiserver_admission_webhook_rejection_count",
                "Requests refused because of a webhook: by its own word (no_error), because it could not be called (calling_webhook_error), or because what it made cannot be used (apiserver_internal_error).",
            )),
            asked: registry.counter(alpha(
                "apiserver_admission_webhook_request_total",
                "Calls of admission webhooks, by their code and whether the request was refused.",
            )),
            failed_open: registry.counter(alpha(
                "apiserver_admission_webhook_fail_open_count",
                "Calls of admission webhooks that failed and were passed over.",
            )),
            sent: registry.counter(alpha(
                "rest_client_requests_total",
                "HTTP requests that the server made, by the code of the answer, or <error>.",
            )),
            taken: registry.histogram(
                alpha(
                    "rest_client_request_duration_seconds",
                    "Seconds that HTTP requests of the server took.",
                ),
                Unit::Seconds,
                CLIENT,
            ),
            converted: registry.counter(alpha(
                "apiserver_conversion_webhook_request_total",
                "Calls of conversion webhooks, and why they failed.",
            )),
            converting: registry.histogram(
                alpha(
                    "apiserver_conversion_webhook_duration_seconds",
                    "Seconds that conversion webhooks took.",
                ),
                Unit::Seconds,
                CONVERSIONS,
            ),
            definitions: registry.histogram(
                alpha(
                    "apiserver_crd_conversion_webhook_duration_seconds",
                    "Seconds until custom objects were at another version.",
                ),
                Unit::Seconds,
                DEFINITIONS,
            ),
            policies: PolicyMetrics::new(registry),
            failures: LimitedBy::new(FAILURE_PAUSE),
        }
    }

    /// Logs that a webhook could not be asked, in upstream's words. With `open` the request goes on without it.
    pub(crate) fn webhook_failed(&self, name: &str, open: bool, why: &str) {
        let Some(more) = self.failures.admit(name) else {
            return;
        };
        let text = if open {
            "Failed calling webhook, failing open"
        } else {
            "Failed calling webhook, failing closed"
        };
        let more = i64::try_from(more).unwrap_or(i64::MAX);
        let fields = [
            ("webhook", Field::Text(name)),
            ("err", Field::Text(why)),
            ("repeated", Field::Number(more)),
        ];
        logs::warning(&SERVER, text, &fields);
    }

    /// `took` is in nanoseconds.
    pub(crate) fn step(
        &self,
        held: &Held,
        phase: Phase,
        operation: Operation,
        rejected: bool,
        took: u64,
    ) {
        let histogram = held.get(operation, rejected, || {
            self.step.with(&Step {
                operation: operation.as_str(),
                rejected: flag(rejected),
                r#type: phase.as_str(),
            })
        });
        histogram.observe_value(took);
    }

    pub(crate) fn plugin(
        &self,
        held: &Held,
        name: &str,
        phase: Phase,
        operation: Operation,
        rejected: bool,
        took: u64,
    ) {
        let histogram = held.get(operation, rejected, || {
            self.controller.with(&Named {
                name,
                operation: operation.as_str(),
                rejected: flag(rejected),
                r#type: phase.as_str(),
            })
        });
        histogram.observe_value(took);
    }

    pub(crate) fn webhook(&self, call: Called<'_>) {
        let (name, kind) = (call.name, call.phase.of_webhook());
        let operation = call.operation.as_str();
        let (code, refused) = match call.outcome {
            Outcome::Allowed => (200, None),
            // Whatever the webhook thinks of: there are only so many codes.
            Outcome::Refused(code) => (code.min(600), Some("no_error")),
            Outcome::Failed {
                code,
                ignored: false,
            } => (code.min(600), Some("calling_webhook_error")),
            Outcome::Failed {
                code,
                ignored: true,
            } => (code.min(600), None),
            Outcome::Impossible => (0, Some("apiserver_internal_error")),
        };
        let code = code.to_string();
        let rejected = flag(refused.is_some());
        if let Some(error_type) = refused {
            let rejection = Refusal {
                error_type,
                name,
                operation,
                rejection_code: &code,
                r#type: kind,
            };
            self.rejections.with(&rejection).inc();
        }
        if matches!(call.outcome, Outcome::Failed { ignored: true, .. }) {
            let open = FailedOpen { name, r#type: kind };
            self.failed_open.with(&open).inc();
        }
        let asked = Asked {
            code: &code,
            name,
            operation,
            rejected,
            r#type: kind,
        };
        self.asked.with(&asked).inc();
        let named = Named {
            name,
            operation,
            rejected,
            r#type: kind,
        };
        self.webhook.with(&named).observe(call.took);
    }

    /// Objects of a definition that a webhook made another version of, or did not, in upstream's word for why.
    pub(crate) fn converted(
        &self,
        definition: &str,
        (from, to): (&str, &str),
        failure: Option<&'static str>,
        took: Duration,
    ) {
        let result = failure.map_or("success", |_| "failure");
        let failure_type = failure.unwrap_or_default();
        let converted = Converted {
            failure_type,
            result,
        };
        self.converted.with(&converted).inc();
        self.converting.with(&converted).observe(took);
        let definition = ConvertedKind {
            crd_name: definition,
            from_version: from,
            succeeded: flag(failure.is_none()),
            to_version: to,
        };
        self.definitions.with(&definition).observe(took);
    }

    /// An HTTP request of ours; no code if there was no answer.
    pub(crate) fn sent(&self, host: &str, code: Option<u16>, took: Duration) {
        let code = code.map_or_else(|| "<error>".to_owned(), |it| it.to_string());
        let sent = Sent {
            code: &code,
            host,
            method: "POST",
        };
        self.sent.with(&sent).inc();
        self.taken.with(&Taken { host, verb: "POST" }).observe(took);
    }
}

fn flag(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// The handles of one plugin or phase, each from its first use on.
#[derive(Debug, Default)]
pub(crate) struct Held([OnceLock<Histogram>; 8]);

impl Held {
    fn get(
        &self,
        operation: Operation,
        rejected: bool,
        make: impl FnOnce() -> Histogram,
    ) -> &Histogram {
        let at = operation as usize * 2 + usize::from(rejected);
        self.0[at].get_or_init(make)
    }
}
