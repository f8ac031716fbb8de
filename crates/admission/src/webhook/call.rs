//! One call of one webhook.

use std::sync::Arc;
use std::time::{Duration, Instant};

use json::Value;
use meta::Status;
use telemetry::trace::{self, Span};

use super::hook::DryRun;
use super::matching::Invocation;
use super::review::{self, Objects, Response};
use super::{Caller, Hook};
use crate::metrics::{Called, Metrics, Outcome, Phase};
use crate::{Admitting, Request};

const AGENT: &str = "kube-apiserver-admission";

/// Why a call did not go well.
#[derive(Debug)]
pub(super) enum Failure {
    /// The webhook was not there or spoke nonsense: its failure policy decides. The code is what metrics know it by.
    Calling { why: String, code: u16 },
    /// It said no.
    Refused(Status),
    /// It must not be called, or what it made of the object cannot be used.
    Impossible(Status),
}

/// Of what is not an answer, or none that can be read.
const UNAVAILABLE: u16 = 503;
const BAD_REQUEST: u16 = 400;
const INTERNAL: u16 = 500;

/// What a webhook said beside its decision.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub took: Duration,
    pub warnings: Vec<String>,
    pub audit_annotations: Vec<(String, String)>,
}

impl Beside {
    pub(super) fn add_to(self, admitting: &mut Admitting) {
        admitting.warnings.extend(self.warnings);
        admitting.audit_annotations.extend(self.audit_annotations);
    }
}

impl Failure {
    /// There was an answer, and it makes no sense.
    pub(super) fn nonsense(why: String) -> Self {
        let code = UNAVAILABLE;
        Self::Calling { why, code }
    }

    /// What becomes of the request; nothing if the failure does not count.
    pub(super) fn status(self, hook: &Hook) -> Option<Status> {
        match self {
            Self::Refused(status) | Self::Impossible(status) => Some(status),
            Self::Calling { .. } if hook.ignore => None,
            Self::Calling { why, .. } => {
                let name = meta::go::quote(&hook.name);
                Some(Status::internal(format!(
                    "failed calling webhook {name}: {why}"
                )))
            }
        }
    }
}

/// A call that is about to be made, and its trace.
#[derive(Debug)]
pub(super) struct Call {
    uid: String,
    span: Span,
    metrics: Arc<Metrics>,
}

impl Call {
    pub(super) fn new(
        caller: &Caller,
        invocation: &Invocation<'_>,
        request: &Request<'_>,
        mutating: bool,
    ) -> Self {
        let random = u128::from((caller.random)()) << 64 | u128::from((caller.random)());
        let uid = encoding::uuid::v4(random.to_le_bytes());
        let span = span(invocation, request, &uid, mutating);
        Self {
            uid,
            span,
            metrics: caller.metrics.clone(),
        }
    }

    /// Counts what came of it.
    pub(super) fn note<T>(
        &self,
        invocation: &Invocation<'_>,
        request: &Request<'_>,
        (phase, took): (Phase, Duration),
        result: &Result<T, Failure>,
    ) {
        let ignored = invocation.hook.ignore;
        if let Err(Failure::Calling { why, .. }) = result {
            let name = &invocation.hook.name;
            self.metrics.webhook_failed(name, ignored, why);
        }
        self.metrics.webhook(Called {
            name: &invocation.hook.name,
            phase,
            operation: request.operation,
            took,
            outcome: match result {
                Ok(_) => Outcome::Allowed,
                Err(Failure::Refused(status)) => Outcome::Refused(status.code),
                Err(Failure::Impossible(_)) => Outcome::Impossible,
                Err(Failure::Calling { code, .. }) => Outcome::Failed {
                    code: *code,
                    ignored,
                },
            },
        });
    }
}

/// A response that allows the request.
pub(super) async fn call(
    call: &Call,
    invocation: &Invocation<'_>,
    request: &Request<'_>,
    objects: Objects<'_>,
    mutating: bool,
) -> (Result<Response, Failure>, Beside) {
    let mut beside = Beside::default();
    let started = Instant::now();
    let result = ask(call, invocation, request, objects, mutating).await;
    beside.took = started.elapsed();
    if matches!(result, Err(Failure::Calling { .. })) {
        call.span.fail();
    }
    let result = result.and_then(|mut response| {
        let name = &invocation.hook.name;
        beside.warnings = std::mem::take(&mut response.warnings);
        let annotations = std::mem::take(&mut response.audit_annotations).into_iter();
        let annotations = annotations.map(|(key, value)| (format!("{name}/{key}"), value));
        beside.audit_annotations = annotations.collect();
        if response.allowed {
            return Ok(response);
        }
        Err(Failure::Refused(review::denied(name, &response.status)))
    });
    (result, beside)
}

/// As upstream names it.
fn span(invocation: &Invocation<'_>, request: &Request<'_>, uid: &str, mutating: bool) -> Span {
    let span = trace::span(if mutating {
        "Call mutating webhook"
    } else {
        "Call validating webhook"
    });
    let hook = invocation.hook;
    span.set("configuration", || hook.configuration.clone());
    span.set("webhook", || hook.name.clone());
    span.set("resource", || request.resource.to_string());
    span.set("subresource", || request.subresource.to_owned());
    span.set("operation", || request.operation.as_str());
    span.set("UID", || uid.to_owned());
    span
}

/// A webhook may take what it says, and no more than is left to the request.
fn timeout(own: Option<Duration>, deadline: Option<Instant>) -> Option<Duration> {
    let left = deadline.map(|it| it.saturating_duration_since(Instant::now()));
    own.into_iter().chain(left).min()
}

async fn ask(
    call: &Call,
    invocation: &Invocation<'_>,
    request: &Request<'_>,
    objects: Objects<'_>,
    mutating: bool,
) -> Result<Response, Failure> {
    let hook = invocation.hook;
    let calling = |why: String, code| Err(Failure::Calling { why, code });
    match hook.dry_run {
        DryRun::Unknown if request.dry_run => {
            return calling("Webhook SideEffects is nil".into(), BAD_REQUEST);
        }
        DryRun::Unsupported if request.dry_run => {
            let name = meta::go::quote(&hook.name);
            let why = format!("admission webhook {name} does not support dry run");
            return Err(Failure::Impossible(Status::bad_request(why)));
        }
        _ => {}
    }
    let Some(version) = hook.version else {
        return calling(
            "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)".into(),
            BAD_REQUEST,
        );
    };
    let target = match &hook.target {
        Ok(target) => target,
        Err(why) => return calling(format!("could not get REST client: {why}"), INTERNAL),
    };
    let review: Value = review::request(version, &call.uid, invocation, request, objects);
    let body = json::to_vec(&review).into();
    let failed = |why: String| Failure::nonsense(format!("failed to call webhook: {why}"));
    let timeout = timeout(hook.timeout, request.deadline);
    let answer = target.post(body, timeout, AGENT, request.lookup).await;
    let answer = answer.map_err(failed)?;
    trace::event("Request completed");
    let review = review::decode(&answer).map_err(|why| Failure::Calling {
        why: format!("failed to call webhook: {why}"),
        // An answer that says that it is an error is known by its own code.
        code: answer.refusal().unwrap_or(UNAVAILABLE),
    })?;
    review::check_types(&review, version).map_err(failed)?;
    let invalid =
        |why: String| Failure::nonsense(format!("received invalid webhook response: {why}"));
    review::verify(&review, version, &call.uid, mutating).map_err(invalid)
}
