//! `matchConditions` of policies and webhooks.

use std::time::Instant;

use cel::kubernetes::{AdmissionVariables, MATCH_CONDITIONS_COST_BUDGET};
use cel::{Type, Value};
use json::Value as Json;

use super::expression::{self, Bindings, Compiler, ErrorType, Expression, Failure, Variable};
use crate::Operation;
use crate::metrics::{Conditioned, Phase, PolicyMetrics};

/// All conditions of one policy or webhook.
#[derive(Debug)]
pub(crate) struct MatchConditions {
    expressions: Vec<Expression>,
    ignore_errors: bool,
}

/// Whose conditions they are, for metrics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    pub name: &'a str,
    /// `policy` or `webhook`
    pub kind: &'static str,
    pub phase: Phase,
    pub operation: Operation,
}

impl MatchConditions {
    pub(crate) fn new(
        compiler: &mut Compiler,
        conditions: &[Json],
        has: AdmissionVariables,
        ignore_errors: bool,
    ) -> Self {
        let expressions = conditions
            .iter()
            .map(|it| compiler.compile(super::text(it, "expression"), &[Type::Bool], has));
        Self {
            expressions: expressions.collect(),
            ignore_errors,
        }
    }

    /// Those of a webhook.
    pub(crate) fn of_webhook(conditions: &[Json], ignore_errors: bool) -> Self {
        let has = AdmissionVariables {
            authorizer: true,
            ..AdmissionVariables::default()
        };
        let mut compiler = Compiler::without_variables();
        Self::new(&mut compiler, conditions, has, ignore_errors)
    }

    /// Whether all hold. One that is false decides, whatever is wrong with others.
    pub(crate) fn hold(
        &self,
        variables: &[Variable],
        bindings: &Bindings<'_>,
        metrics: &PolicyMetrics,
        owner: Owner<'_>,
    ) -> Result<bool, Failure> {
        if self.expressions.is_empty() {
            return Ok(true);
        }
        let started = Instant::now();
        let all = self.expressions.iter().map(Some);
        let budget = MATCH_CONDITIONS_COST_BUDGET;
        let read = |value: &Value<'_>| value.as_bool() != Some(false);
        let outcomes = match expression::evaluate(all, variables, bindings, budget, read) {
            Ok((outcomes, _)) => outcomes,
            Err(failure) => {
                metrics.conditions_took(&owner.labels(), started.elapsed());
                return self.failed(failure);
            }
        };
        let mut failures = Vec::new();
        for outcome in outcomes.into_iter().flatten() {
            match outcome.result {
                Ok(true) => {}
                Ok(false) => {
                    metrics.conditions_took(&owner.labels(), started.elapsed());
                    return Ok(false);
                }
                Err(failure) => {
                    metrics.condition_failed(&owner.labels());
                    failures.push(failure);
                }
            }
        }
        let Some(failure) = aggregate(failures) else {
            return Ok(true);
        };
        metrics.conditions_took(&owner.labels(), started.elapsed());
        self.failed(failure)
    }

    fn failed(&self, failure: Failure) -> Result<bool, Failure> {
        if self.ignore_errors {
            Ok(false)
        } else {
            Err(failure)
        }
    }
}

impl Owner<'_> {
    pub(crate) fn labels(&self) -> Conditioned<'_> {
        Conditioned {
            kind: self.kind,
            name: self.name,
            operation: self.operation.as_str(),
            r#type: self.phase.as_str(),
        }
    }

    /// Counts a webhook that is left out.
    pub(crate) fn excluded(&self, metrics: &PolicyMetrics) {
        metrics.condition_excluded(&self.labels());
    }
}

/// Several errors as one, each text once.
fn aggregate(failures: Vec<Failure>) -> Option<Failure> {
    let mut texts: Vec<String> = Vec::new();
    let mut error = None;
    for failure in failures {
        error.get_or_insert(failure.error);
        if !texts.contains(&failure.detail) {
            texts.push(failure.detail);
        }
    }
    let error = error?;
    Some(match &mut texts[..] {
        [one] => Failure {
            error,
            detail: std::mem::take(one),
        },
        // Metrics look at how the text begins, and it begins with a bracket.
        _ => Failure {
            error: ErrorType::Invalid,
            detail: format!("[{}]", texts.join(", ")),
        },
    })
}
