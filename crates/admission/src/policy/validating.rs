//! `ValidatingAdmissionPolicy`: what the decisions of policies mean for a request.

use std::borrow::Cow;
use std::sync::Arc;

use auth::Authorizer;
use json::{Value, json};
use meta::Status;
use meta::gvk::GroupVersionKind;
use meta::status::{Cause, Reason};
use telemetry::trace;

use super::constraints::Matched;
use super::expression::{Bindings, ErrorType};
use super::manifests::StaticPolicies;
use super::match_conditions::Owner;
use super::source::{Binding, Bound, Definition, FailurePolicy, Policies, Source, Unreadable};
use super::validator::{Decision, Evaluation, Validator, Verdict};
use super::{RequestAuthorizer, request, request_resource};
use crate::metrics::{Metrics, Phase, PolicyCheck};
use crate::{Admitting, Outcome, Plugin, Request};

/// No more failures are told to the audit log for one request.
const MAX_FAILURES: usize = 50;
/// Longer values of audit annotations are cut.
const MAX_ANNOTATION: usize = 10 * 1024;
const FAILURE_ANNOTATION: &str = "validation.policy.admission.k8s.io/validation_failure";

#[derive(Debug)]
pub struct ValidatingAdmissionPolicy {
    source: Source<Validator>,
    authorizer: Arc<dyn Authorizer>,
    metrics: Arc<Metrics>,
}

impl ValidatingAdmissionPolicy {
    pub fn new(
        authorizer: Arc<dyn Authorizer>,
        metrics: Arc<Metrics>,
        manifests: Arc<StaticPolicies>,
    ) -> Self {
        Self {
            source: Source::new(
                "validatingadmissionpolicies",
                "validatingadmissionpolicybindings",
                manifests,
            ),
            authorizer,
            metrics,
        }
    }
}

impl Plugin for ValidatingAdmissionPolicy {
    fn name(&self) -> &'static str {
        "ValidatingAdmissionPolicy"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        !self.source.is_empty_for(request)
    }

    fn validate<'a>(
        &'a self,
        request: &'a Request<'a>,
        admitting: &'a mut Admitting,
    ) -> Outcome<'a> {
        let policies = match self.source.get(request.lookup) {
            Ok(policies) => policies,
            // Whoever repairs the object must be let in.
            Err(_) if super::is_exempt_from_api(request) => return Outcome::Nothing,
            Err(Unreadable) => {
                return Outcome::Now(Err(Unreadable::refusal(request, &admitting.object)));
            }
        };
        let candidates = policies.candidates(request);
        if candidates.is_empty() {
            return Outcome::Nothing;
        }
        Outcome::Later(Box::pin(
            self.dispatch(policies, candidates, request, admitting),
        ))
    }
}

/// Why a request is refused, as far as it is known.
struct Denial {
    message: String,
    reason: String,
}

/// What gathers while policies are looked at.
struct Dispatch<'a> {
    plugin: &'a ValidatingAdmissionPolicy,
    request: &'a Request<'a>,
    authorizer: RequestAuthorizer<'a>,
    asked_for: cel::Attributes,
    versions: Vec<(GroupVersionKind, Value, Option<Value>)>,
    namespace: Option<(Value, Value)>,
    /// Only the first is told.
    denial: Option<Denial>,
    failures: Vec<Value>,
    warnings: Vec<String>,
}

impl ValidatingAdmissionPolicy {
    async fn dispatch(
        &self,
        policies: Arc<Policies<Validator>>,
        candidates: Vec<usize>,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        let mut dispatch = Dispatch {
            plugin: self,
            request,
            authorizer: RequestAuthorizer::new(&*self.authorizer, request.user),
            asked_for: request_resource(request),
            versions: Vec::new(),
            namespace: None,
            denial: None,
            failures: Vec::new(),
            warnings: Vec::new(),
        };
        for number in candidates {
            let bound = policies.get(number);
            dispatch.policy(bound, admitting).await?;
        }
        admitting.warnings.append(&mut dispatch.warnings);
        if !dispatch.failures.is_empty() {
            dispatch.failures.truncate(MAX_FAILURES);
            let value = Value::from(std::mem::take(&mut dispatch.failures));
            let annotation = (FAILURE_ANNOTATION.to_owned(), value.to_string());
            admitting.audit_annotations.push(annotation);
        }
        match dispatch.denial {
            None => Ok(()),
            Some(denial) => Err(refusal(request, &admitting.object, denial)),
        }
    }
}

impl Dispatch<'_> {
    async fn policy(
        &mut self,
        bound: &Bound<Validator>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        let (request, definition) = (self.request, &*bound.definition);
        let object = &admitting.object;
        let meant = match definition.matches(request, object) {
            Ok(Some(meant)) => meant,
            Ok(None) => return Ok(()),
            Err(why) => {
                self.misconfigured(definition, None, &why);
                return Ok(());
            }
        };
        let matched = &meant.matched;
        let mut annotations: Vec<(String, Vec<String>)> = Vec::new();
        for binding in &bound.bindings {
            let found = match binding.matches(request, object) {
                Ok(true) => binding.params(&meant, request).await,
                Ok(false) => continue,
                Err(why) => Err(why),
            };
            let found = match found {
                Ok(found) => found,
                Err(why) => {
                    self.misconfigured(definition, Some(binding), &why);
                    continue;
                }
            };
            if found.is_empty() {
                continue;
            }
            let at = match self.version(&matched.kind, object).await {
                Ok(at) => at,
                Err(why) => {
                    let why = format!("failed to convert object version: {}", why.message);
                    self.misconfigured(definition, Some(binding), &why);
                    continue;
                }
            };
            self.find_namespace()?;
            for params in &found {
                let verdict = self.evaluate(definition, binding, matched, at, params);
                self.settle(definition, binding, verdict, &mut annotations);
            }
        }
        for (key, values) in annotations {
            let key = format!("{}/{key}", definition.name);
            admitting.audit_annotations.push((key, values.join(", ")));
        }
        Ok(())
    }

    /// What is wrong with a policy or a binding counts as the policy says.
    fn misconfigured(
        &mut self,
        definition: &Definition<Validator>,
        binding: Option<&Binding>,
        why: &str,
    ) {
        let what = if binding.is_some() {
            "binding"
        } else {
            "policy"
        };
        let message = match &definition.failure_policy {
            FailurePolicy::Ignore => return,
            FailurePolicy::Fail => format!("failed to configure {what}: {why}"),
            FailurePolicy::Unknown(other) => format!("unrecognized failure policy: '{other}'"),
        };
        self.deny(definition, binding, &message, String::new());
    }

    fn deny(
        &mut self,
        definition: &Definition<Validator>,
        binding: Option<&Binding>,
        message: &str,
        reason: String,
    ) {
        if self.denial.is_some() {
            return;
        }
        let policy = &definition.name;
        let by = match binding {
            Some(binding) => Cow::from(format!(" with binding '{}'", binding.name)),
            None => Cow::from(""),
        };
        let message = format!("ValidatingAdmissionPolicy '{policy}'{by} denied request: {message}");
        self.denial = Some(Denial { message, reason });
    }

    /// The objects at the version that a policy sees.
    async fn version(&mut self, kind: &GroupVersionKind, object: &Value) -> Result<usize, Status> {
        if let Some(at) = self.versions.iter().position(|(it, ..)| it == kind) {
            return Ok(at);
        }
        let request = self.request;
        let mut new = object.clone();
        let mut old = request.old.cloned();
        if kind != request.kind {
            if !new.is_null() {
                new = request.kinds.convert(new, kind).await?;
            }
            if let Some(it) = old {
                old = Some(request.kinds.convert(it, kind).await?);
            }
        }
        if !new.is_null() {
            new = request.kinds.written(new, kind);
        }
        let old = old.map(|it| request.kinds.written(it, kind));
        self.versions.push((kind.clone(), new, old));
        Ok(self.versions.len() - 1)
    }

    /// The namespace of the request, once: as validations see it, and as it is.
    fn find_namespace(&mut self) -> Result<(), Status> {
        if self.namespace.is_some() {
            return Ok(());
        }
        self.namespace = Some(request::namespaces(self.request)?);
        Ok(())
    }

    fn evaluate(
        &self,
        definition: &Definition<Validator>,
        binding: &Binding,
        matched: &Matched,
        at: usize,
        params: &Value,
    ) -> Verdict {
        let span = trace::span("Evaluate validating admission policy");
        span.set_text("policy", &definition.name);
        span.set_text("binding", &binding.name);
        let request = self.request;
        let (kind, new, old) = &self.versions[at];
        let value = request::request(request, matched);
        // Conditions see the resource under the name that was asked for.
        let own = Matched {
            resource: request.resource.clone(),
            kind: kind.clone(),
        };
        let condition_request = request::request(request, &own);
        let null = Value::Null;
        let (seen, whole) = self
            .namespace
            .as_ref()
            .map_or((&null, &null), |it| (&it.0, &it.1));
        let bindings = Bindings {
            is_struct: request.kinds.is_struct(kind),
            params,
            params_are_struct: super::params::are_struct(request, params),
            namespace: seen,
            authorizer: Some((&self.authorizer, &self.asked_for)),
            deadline: request.deadline,
            ..Bindings::new(new, old.as_ref(), &value)
        };
        let owner = Owner {
            name: &definition.name,
            kind: "policy",
            phase: Phase::Validate,
            operation: request.operation,
        };
        let metrics = &self.plugin.metrics.policies;
        let verdict = definition.evaluate(Validator::new, |it| {
            it.validate(&bindings, (&condition_request, whole), metrics, owner)
        });
        span.set("cost", || verdict.cost);
        if verdict.decisions.iter().any(|it| !it.admits) {
            span.set("refused", || true);
        }
        verdict
    }

    /// Does what the binding says to do about each decision.
    fn settle(
        &mut self,
        definition: &Definition<Validator>,
        binding: &Binding,
        verdict: Verdict,
        annotations: &mut Vec<(String, Vec<String>)>,
    ) {
        let metrics = &self.plugin.metrics.policies;
        let count = |error: ErrorType, action: &str, elapsed| {
            let check = PolicyCheck {
                enforcement_action: action,
                error_type: error.as_str(),
                policy: &definition.name,
                policy_binding: &binding.name,
            };
            metrics.checked(&check, elapsed);
        };
        for (index, decision) in verdict.decisions.into_iter().enumerate() {
            if decision.admits {
                if decision.evaluation == Evaluation::Error {
                    count(decision.error, "allow", decision.elapsed);
                }
                continue;
            }
            for action in &binding.actions {
                match &**action {
                    "Deny" => {
                        let reason = decision.reason.clone();
                        self.deny(definition, Some(binding), &decision.message, reason);
                        count(decision.error, "deny", decision.elapsed);
                    }
                    "Audit" => {
                        self.audit(binding, index, &decision);
                        count(decision.error, "audit", decision.elapsed);
                    }
                    "Warn" => {
                        self.warnings.push(format!(
                            "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {}",
                            definition.name, binding.name, decision.message
                        ));
                        count(decision.error, "warn", decision.elapsed);
                    }
                    _ => {}
                }
            }
        }
        for it in verdict.annotations {
            match it.value {
                Ok(None) => {}
                Ok(Some(value)) => annotate(annotations, it.key, cut(value)),
                Err(failure) => {
                    self.deny(definition, Some(binding), &failure.detail, String::new());
                    count(failure.error, "deny", it.elapsed);
                }
            }
        }
    }

    fn audit(&mut self, binding: &Binding, index: usize, decision: &Decision) {
        if self.failures.len() >= MAX_FAILURES {
            return;
        }
        let actions: Vec<Value> = binding.actions.iter().map(Value::from).collect();
        self.failures.push(json!({
            "message": (&*decision.message),
            "policy": (&*binding.policy),
            "binding": (&*binding.name),
            "expressionIndex": (i64::try_from(index).unwrap_or(i64::MAX)),
            "validationActions": actions,
        }));
    }
}

/// The same value of several bindings is told once.
fn annotate(annotations: &mut Vec<(String, Vec<String>)>, key: String, value: String) {
    match annotations.iter_mut().find(|it| it.0 == key) {
        None => annotations.push((key, vec![value])),
        Some((_, values)) if !values.contains(&value) => values.push(value),
        Some(_) => {}
    }
}

fn cut(mut value: String) -> String {
    if value.len() > MAX_ANNOTATION {
        // Upstream cuts within characters, too, which no text here can be.
        let mut at = MAX_ANNOTATION;
        while !value.is_char_boundary(at) {
            at -= 1;
        }
        value.truncate(at);
    }
    value
}

fn refusal(request: &Request<'_>, object: &Value, denial: Denial) -> Status {
    let mut status = request.forbidden(object, &denial.message);
    let reason = match &*denial.reason {
        "" => "Invalid",
        given => given,
    };
    status.code = match reason {
        "Forbidden" => 403,
        "Unauthorized" => 401,
        "RequestEntityTooLarge" => 413,
        _ => 422,
    };
    status.reason = Reason::from(reason);
    let details = status.details.get_or_insert_default();
    details.causes.push(Cause {
        message: denial.message,
        ..Cause::default()
    });
    status
}
