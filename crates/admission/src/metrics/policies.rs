//! What policies and match conditions count.

use std::time::Duration;

use telemetry::labels;
use telemetry::metrics::{Counter, Desc, Family, Histogram, Registry, Stability, Unit};

labels!(pub PolicyCheck { enforcement_action, error_type, policy, policy_binding });
labels!(pub Mutation { error_type, policy, policy_binding });
labels!(pub Conditioned { kind, name, operation, r#type });

/// From what reading a field takes to what the costliest expression takes.
const POLICIES: &[f64] = &[0.000_000_5, 0.001, 0.01, 0.1, 1.0];
const CONDITIONS: &[f64] = &[0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

#[derive(Debug)]
pub(crate) struct PolicyMetrics {
    checks: Family<PolicyCheck<'static>, Counter>,
    seconds: Family<PolicyCheck<'static>, Histogram>,
    mutations: Family<Mutation<'static>, Counter>,
    mutation_seconds: Family<Mutation<'static>, Histogram>,
    condition_errors: Family<Conditioned<'static>, Counter>,
    condition_exclusions: Family<Conditioned<'static>, Counter>,
    condition_seconds: Family<Conditioned<'static>, Histogram>,
}

impl PolicyMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let beta = |name, help| Desc::new(name, Stability::Beta, help);
        let alpha = |name, help| Desc::new(name, Stability::Alpha, help);
        Self {
            checks: registry.counter(beta(
                "apiserver_validating_admission_policy_check_total",
                "Validations of admission policies that failed, by policy, binding and what was done about it.",
            )),
            seconds: registry.histogram(
                beta(
                    "apiserver_validating_admission_policy_check_duration_seconds",
                    "Seconds that validations of admission policies took that failed, by policy, binding and what was done about it.",
                ),
                Unit::Seconds,
                POLICIES,
            ),
            mutations: registry.counter(alpha(
                "apiserver_mutating_admission_policy_check_total",
                "Mutations of admission policies, by policy and binding.",
            )),
            mutation_seconds: registry.histogram(
                alpha(
                    "apiserver_mutating_admission_policy_check_duration_seconds",
                    "Seconds that mutations of admission policies took, by policy and binding.",
                ),
                Unit::Seconds,
                POLICIES,
            ),
            condition_errors: registry.counter(alpha(
                "apiserver_admission_match_condition_evaluation_errors_total",
                "Match conditions of webhooks and policies that could not be evaluated.",
            )),
            condition_exclusions: registry.counter(alpha(
                "apiserver_admission_match_condition_exclusions_total",
                "Calls of webhooks that were left out because of their match conditions.",
            )),
            condition_seconds: registry.histogram(
                alpha(
                    "apiserver_admission_match_condition_evaluation_seconds",
                    "Seconds that match conditions of webhooks and policies took that did not hold.",
                ),
                Unit::Seconds,
                CONDITIONS,
            ),
        }
    }

    /// A validation that failed.
    pub(crate) fn checked(&self, check: &PolicyCheck<'_>, took: Duration) {
        self.checks.with(check).inc();
        self.seconds.with(check).observe(took);
    }

    /// A mutation, whatever came of it.
    pub(crate) fn mutated(&self, mutation: &Mutation<'_>, took: Duration) {
        self.mutations.with(mutation).inc();
        self.mutation_seconds.with(mutation).observe(took);
    }

    pub(crate) fn condition_failed(&self, of: &Conditioned<'_>) {
        self.condition_errors.with(of).inc();
    }

    pub(crate) fn condition_excluded(&self, of: &Conditioned<'_>) {
        self.condition_exclusions.with(of).inc();
    }

    pub(crate) fn conditions_took(&self, of: &Conditioned<'_>, took: Duration) {
        self.condition_seconds.with(of).observe(took);
    }
}
