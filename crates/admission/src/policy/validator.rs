//! A `ValidatingAdmissionPolicy` compiled, and what it decides about an object and its parameters.

use std::time::Duration;

use cel::kubernetes::{AdmissionVariables, RUNTIME_COST_BUDGET};
use cel::{Type, Value};
use json::Value as Json;

use super::expression::{
    self, Bindings, Compiler, ErrorType, Expression, Failure, Outcome, Variable,
};
use super::match_conditions::{MatchConditions, Owner};
use crate::metrics::PolicyMetrics;
use crate::read::{has, items, text};

/// A message that an expression made may have so many bytes.
const MAX_MESSAGE: usize = 5 * 1024;

#[derive(Debug)]
pub(crate) struct Validator {
    variables: Vec<Variable>,
    conditions: MatchConditions,
    validations: Vec<Validation>,
    annotations: Vec<Annotation>,
    ignore_errors: bool,
}

#[derive(Debug)]
struct Validation {
    expression: Expression,
    message: String,
    message_expression: Option<Expression>,
    reason: String,
}

#[derive(Debug)]
struct Annotation {
    key: String,
    expression: Expression,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evaluation {
    Admit,
    Deny,
    Error,
}

/// What one validation says.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    pub admits: bool,
    pub evaluation: Evaluation,
    pub error: ErrorType,
    pub message: String,
    /// Empty where an error is the reason.
    pub reason: String,
    pub elapsed: Duration,
}

/// What one audit annotation says: a text, nothing, or why it could not be told.
#[derive(Clone, Debug)]
pub(crate) struct Audited {
    pub key: String,
    pub value: Result<Option<String>, Failure>,
    pub elapsed: Duration,
}

/// All that a policy says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// What validations, messages and annotations have cost.
    pub cost: u64,
    pub decisions: Vec<Decision>,
    pub annotations: Vec<Audited>,
}

/// What the value of an expression is to a policy.
enum Read {
    Bool(bool),
    Text(String),
    Null,
    Other(String),
}

fn read(value: &Value<'_>) -> Read {
    match value {
        Value::Bool(it) => Read::Bool(*it),
        Value::String(it) => Read::Text(it.to_string()),
        Value::Null => Read::Null,
        other => Read::Other(other.type_of().name().to_owned()),
    }
}

impl Validator {
    pub(crate) fn new(spec: &Json) -> Self {
        let params = has(spec, &["paramKind"]);
        let full = AdmissionVariables {
            params,
            authorizer: true,
            patch_types: false,
        };
        let unasked = AdmissionVariables {
            authorizer: false,
            ..full
        };
        let ignore_errors = text(spec, &["failurePolicy"]) == "Ignore";
        let (mut compiler, variables) = Compiler::new(items(spec, &["variables"]), full);
        let conditions = items(spec, &["matchConditions"]);
        let conditions = MatchConditions::new(&mut compiler, conditions, full, ignore_errors);
        let validations = items(spec, &["validations"]).iter().map(|it| {
            let expression = text(it, &["expression"]);
            let message = text(it, &["messageExpression"]);
            let message_expression =
                (!message.is_empty()).then(|| compiler.compile(message, &[Type::String], unasked));
            Validation {
                expression: compiler.compile(expression, &[Type::Bool], full),
                message: text(it, &["message"]).to_owned(),
                message_expression,
                reason: text(it, &["reason"]).to_owned(),
            }
        });
        let validations = validations.collect();
        let annotations = items(spec, &["auditAnnotations"]).iter().map(|it| {
            let expression = text(it, &["valueExpression"]);
            Annotation {
                key: text(it, &["key"]).to_owned(),
                expression: compiler.compile(expression, &[Type::String, Type::Null], full),
            }
        });
        let annotations = annotations.collect();
        Self {
            variables,
            conditions,
            validations,
            annotations,
            ignore_errors,
        }
    }

    /// `namespace` is what `namespaceObject` is to validations and messages; for conditions it is null, and audit
    /// annotations see the whole object.
    pub(crate) fn validate(
        &self,
        bindings: &Bindings<'_>,
        (condition_request, whole_namespace): (&Json, &Json),
        metrics: &PolicyMetrics,
        owner: Owner<'_>,
    ) -> Verdict {
        let conditions = Bindings {
            namespace: &Json::Null,
            request: condition_request,
            ..*bindings
        };
        let held = self
            .conditions
            .hold(&self.variables, &conditions, metrics, owner);
        match held {
            Ok(true) => {}
            Ok(false) => return Verdict::default(),
            Err(failure) => return self.aborted(failure),
        }
        let all = self.validations.iter().map(|it| Some(&it.expression));
        let budget = RUNTIME_COST_BUDGET;
        let evaluated = expression::evaluate(all, &self.variables, bindings, budget, read);
        let (outcomes, left) = match evaluated {
            Ok(it) => it,
            Err(failure) => return self.aborted(failure),
        };
        let unasked = Bindings {
            authorizer: None,
            ..*bindings
        };
        let all = self
            .validations
            .iter()
            .map(|it| it.message_expression.as_ref());
        let messages = expression::evaluate(all, &self.variables, &unasked, left, read);
        let mut cost = budget - left;
        let messages = messages.map(|(all, after)| {
            cost += left - after;
            all
        });
        let mut decisions = Vec::with_capacity(outcomes.len());
        for (index, (outcome, validation)) in outcomes
            .into_iter()
            .flatten()
            .zip(&self.validations)
            .enumerate()
        {
            let message = match &messages {
                Ok(all) => Ok(all.get(index).and_then(Option::as_ref)),
                Err(failure) => Err(failure),
            };
            decisions.push(self.decide(validation, outcome, message));
        }
        let annotated = Bindings {
            namespace: whole_namespace,
            ..unasked
        };
        let all = self.annotations.iter().map(|it| Some(&it.expression));
        let annotations = expression::evaluate(all, &self.variables, &annotated, budget, read);
        let annotations = match annotations {
            Ok((outcomes, left)) => {
                cost += budget - left;
                let outcomes = outcomes.into_iter().flatten().zip(&self.annotations);
                outcomes.map(|(it, of)| self.annotation(of, it)).collect()
            }
            Err(failure) => return self.aborted(failure),
        };
        Verdict {
            cost,
            decisions,
            annotations,
        }
    }

    fn failed(&self, error: ErrorType, message: String, elapsed: Duration) -> Decision {
        Decision {
            admits: self.ignore_errors,
            evaluation: Evaluation::Error,
            error,
            message,
            reason: String::new(),
            elapsed,
        }
    }

    /// Nothing was decided.
    fn aborted(&self, failure: Failure) -> Verdict {
        let decision = self.failed(failure.error, failure.detail, Duration::ZERO);
        Verdict {
            cost: 0,
            decisions: vec![decision],
            annotations: Vec::new(),
        }
    }

    fn decide(
        &self,
        validation: &Validation,
        outcome: Outcome<Read>,
        message: Result<Option<&Outcome<Read>>, &Failure>,
    ) -> Decision {
        let elapsed = outcome.elapsed;
        let value = match outcome.result {
            Ok(value) => value,
            Err(failure) => return self.failed(failure.error, failure.detail, elapsed),
        };
        let message = match message {
            Ok(message) => message,
            Err(failure) => {
                let text = format!("failed messageExpression: {}", failure.detail);
                return self.failed(ErrorType::Invalid, text, elapsed);
            }
        };
        if matches!(value, Read::Bool(true)) {
            return Decision {
                admits: true,
                evaluation: Evaluation::Admit,
                error: ErrorType::None,
                message: String::new(),
                reason: String::new(),
                elapsed,
            };
        }
        let reason = match &*validation.reason {
            "" => "Invalid",
            given => given,
        };
        Decision {
            admits: false,
            evaluation: Evaluation::Deny,
            error: ErrorType::Invalid,
            message: said(validation, message),
            reason: reason.to_owned(),
            elapsed,
        }
    }

    fn annotation(&self, of: &Annotation, outcome: Outcome<Read>) -> Audited {
        let value = match outcome.result {
            Ok(Read::Text(text)) => {
                let text = text.trim();
                Ok((!text.is_empty()).then(|| text.to_owned()))
            }
            Ok(Read::Null) => Ok(None),
            Ok(other) => {
                let name = match other {
                    Read::Other(name) => name,
                    _ => "bool".to_owned(),
                };
                let text = &of.expression.text;
                Err(Failure {
                    error: ErrorType::Invalid,
                    detail: format!(
                        "valueExpression '{text}' resulted in unsupported return type: {name}. Return type must be either \
                         string or null."
                    ),
                })
            }
            Err(_) if self.ignore_errors => Ok(None),
            Err(failure) => Err(failure),
        };
        Audited {
            key: of.key.clone(),
            value,
            elapsed: outcome.elapsed,
        }
    }
}

/// What whoever is refused is told.
fn said(validation: &Validation, message: Option<&Outcome<Read>>) -> String {
    if let Some(Outcome {
        result: Ok(Read::Text(text)),
        ..
    }) = message
    {
        let text = text.trim();
        if !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n') {
            return text.to_owned();
        }
    }
    match validation.message.trim() {
        "" => format!("failed expression: {}", validation.expression.text.trim()),
        message => message.to_owned(),
    }
}
