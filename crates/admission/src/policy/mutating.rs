//! `MutatingAdmissionPolicy`: policies that change objects, one after the other.

use std::collections::BTreeSet;
use std::sync::Arc;

use auth::Authorizer;
use json::Value;
use meta::Status;
use meta::status::{Cause, Reason};
use telemetry::trace;

use super::constraints::Matched;
use super::expression::{Bindings, ErrorType, Failure};
use super::manifests::StaticPolicies;
use super::match_conditions::Owner;
use super::mutator::{Mutator, Patch, wrong};
use super::source::{Binding, Bound, Definition, FailurePolicy, Policies, Source, Unreadable};
use super::{RequestAuthorizer, params, request, request_resource};
use crate::metrics::{Metrics, Mutation, Phase};
use crate::versioned::Versioned;
use crate::{Admitting, ApplyError, Operation, Outcome, Plugin, Request};

#[derive(Debug)]
pub struct MutatingAdmissionPolicy {
    source: Source<Mutator>,
    authorizer: Arc<dyn Authorizer>,
    metrics: Arc<Metrics>,
}

impl MutatingAdmissionPolicy {
    pub fn new(
        authorizer: Arc<dyn Authorizer>,
        metrics: Arc<Metrics>,
        manifests: Arc<StaticPolicies>,
    ) -> Self {
        Self {
            source: Source::new(
                "mutatingadmissionpolicies",
                "mutatingadmissionpolicybindings",
                manifests,
            ),
            authorizer,
            metrics,
        }
    }
}

impl Plugin for MutatingAdmissionPolicy {
    fn name(&self) -> &'static str {
        "MutatingAdmissionPolicy"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        // What is deleted cannot be changed.
        request.operation != Operation::Delete && !self.source.is_empty_for(request)
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
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
        Outcome::Later(Box::pin(async move {
            let mut dispatch = Dispatch {
                plugin: self,
                request,
                errors: Vec::new(),
            };
            let invocations = dispatch
                .select(&policies, &candidates, &admitting.object)
                .await;
            if !invocations.is_empty() {
                dispatch.invoke(&invocations, admitting).await?;
            }
            dispatch.refusal(&admitting.object).map_or(Ok(()), Err)
        }))
    }
}

/// Which policies are evaluated again in the second round.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicyReinvocation {
    last: Value,
    invoked: BTreeSet<Key>,
    again: BTreeSet<Key>,
}

/// Policy, binding, and namespace and name of the parameters.
type Key = (String, String, String, String);

impl PolicyReinvocation {
    /// The object changed: those evaluated before, that asked for it, see it again.
    fn require(&mut self) {
        self.again.append(&mut self.invoked);
    }
}

/// One policy with one binding and one object of parameters.
struct Invocation<'a> {
    definition: &'a Definition<Mutator>,
    binding: &'a Binding,
    matched: Matched,
    params: Value,
}

impl Invocation<'_> {
    fn key(&self) -> Key {
        (
            self.definition.name.clone(),
            self.binding.name.clone(),
            meta::object::namespace(&self.params).to_owned(),
            meta::object::name(&self.params).to_owned(),
        )
    }
}

struct PolicyError {
    message: String,
    /// Nothing stays as a refusal has it.
    reason: Option<Reason>,
}

struct Dispatch<'a> {
    plugin: &'a MutatingAdmissionPolicy,
    request: &'a Request<'a>,
    /// Those that count.
    errors: Vec<PolicyError>,
}

impl Dispatch<'_> {
    /// All that mean the request, before anything is changed.
    async fn select<'p>(
        &mut self,
        policies: &'p Policies<Mutator>,
        candidates: &[usize],
        object: &Value,
    ) -> Vec<Invocation<'p>> {
        let request = self.request;
        let mut all = Vec::new();
        for number in candidates {
            let Bound {
                definition,
                bindings,
            } = policies.get(*number);
            let meant = match definition.matches(request, object) {
                Ok(Some(meant)) => meant,
                Ok(None) => continue,
                Err(why) => {
                    self.misconfigured(definition, None, &why);
                    continue;
                }
            };
            for binding in bindings {
                let found = match binding.matches(request, object) {
                    Ok(true) => binding.params(&meant, request).await,
                    Ok(false) => continue,
                    Err(why) => Err(why),
                };
                match found {
                    Ok(found) => all.extend(found.into_iter().map(|params| Invocation {
                        definition,
                        binding,
                        matched: meant.matched.clone(),
                        params,
                    })),
                    Err(why) => self.misconfigured(definition, Some(binding), &why),
                }
            }
        }
        all
    }

    fn misconfigured(
        &mut self,
        definition: &Definition<Mutator>,
        binding: Option<&Binding>,
        why: &str,
    ) {
        let what = if binding.is_some() {
            "binding"
        } else {
            "policy"
        };
        let why = format!("failed to configure {what}: {why}");
        self.failed(definition, binding, &why, None);
    }

    /// What is wrong counts as the policy says.
    fn failed(
        &mut self,
        definition: &Definition<Mutator>,
        binding: Option<&Binding>,
        why: &str,
        reason: Option<Reason>,
    ) {
        if definition.failure_policy == FailurePolicy::Ignore {
            return;
        }
        let policy = &definition.name;
        let by = binding.map_or_else(
            || meta::go::quote(policy),
            |it| format!("'{policy}' with binding '{}'", it.name),
        );
        let message = format!("policy {by} denied request: {why}");
        self.errors.push(PolicyError { message, reason });
    }

    async fn invoke(
        &mut self,
        invocations: &[Invocation<'_>],
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        let request = self.request;
        let state = &mut admitting.policy_reinvocation;
        if admitting.reinvocation.running && state.last != admitting.object {
            // Others changed the object since.
            state.require();
        }
        let namespaces = request::namespaces(request)?;
        let authorizer = RequestAuthorizer::new(&*self.plugin.authorizer, request.user);
        let mut versioned = Versioned {
            request,
            kind: request.kind.clone(),
            object: admitting.object.clone(),
            old: request.old.cloned(),
        };
        for invocation in invocations {
            let kind = &invocation.matched.kind;
            if let Err(status) = versioned.convert_to(kind).await {
                self.misconfigured(invocation.definition, None, &status.message);
                continue;
            }
            let before = versioned.object.clone();
            let state = &admitting.policy_reinvocation;
            let is_out = admitting.reinvocation.running && !state.again.contains(&invocation.key());
            let around = (&authorizer, &namespaces.0, is_out);
            if !self.one(invocation, &mut versioned, around)? {
                continue;
            }
            let state = &mut admitting.policy_reinvocation;
            if before != versioned.object {
                state.require();
                admitting.reinvocation.wanted = true;
            }
            if invocation
                .definition
                .evaluate(Mutator::new, |it| it.reinvoke)
            {
                state.invoked.insert(invocation.key());
            }
        }
        versioned.convert_to(request.kind).await?;
        admitting.object = versioned.object.clone();
        admitting.policy_reinvocation.last = versioned.object;
        Ok(())
    }

    /// All mutations of a policy. False if it is left out.
    fn one(
        &mut self,
        invocation: &Invocation<'_>,
        versioned: &mut Versioned<'_>,
        (authorizer, namespace, is_out): (&RequestAuthorizer<'_>, &Value, bool),
    ) -> Result<bool, Status> {
        let (definition, binding) = (invocation.definition, invocation.binding);
        let span = trace::span("Evaluate mutating admission policy");
        span.set_text("policy", &definition.name);
        span.set_text("binding", &binding.name);
        let request = self.request;
        let asked_for = request_resource(request);
        let metrics = &self.plugin.metrics.policies;
        let written = |it: &Value| match it {
            Value::Null => Value::Null,
            it => request.kinds.written(it.clone(), &versioned.kind),
        };
        let old = versioned.old.as_ref().map(written);
        // Conditions see the resource under the name that was asked for.
        let own = Matched {
            resource: request.resource.clone(),
            kind: versioned.kind.clone(),
        };
        let condition_request = request::request(request, &own);
        let object = written(&versioned.object);
        let bindings = Bindings {
            is_struct: request.kinds.is_struct(&versioned.kind),
            params: &invocation.params,
            params_are_struct: params::are_struct(request, &invocation.params),
            authorizer: Some((authorizer, &asked_for)),
            deadline: request.deadline,
            ..Bindings::new(&object, old.as_ref(), &condition_request)
        };
        let owner = Owner {
            name: &definition.name,
            kind: "policy",
            // As upstream, though it is the other phase.
            phase: Phase::Validate,
            operation: request.operation,
        };
        let held = definition.evaluate(Mutator::new, |it| it.hold(&bindings, metrics, owner));
        match held {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(failure) => {
                self.failed(
                    definition,
                    Some(binding),
                    &failure.detail,
                    Some(Reason::Invalid),
                );
                return Ok(false);
            }
        }
        if is_out {
            return Ok(false);
        }
        let value = request::request(request, &invocation.matched);
        for index in 0..definition.evaluate(Mutator::new, Mutator::len) {
            if versioned.object.is_null() {
                continue;
            }
            let started = std::time::Instant::now();
            let object = request
                .kinds
                .written(versioned.object.clone(), &versioned.kind);
            let bindings = Bindings {
                // Unlike conditions, mutations see all objects as plain maps.
                is_struct: false,
                namespace,
                request: &value,
                object: &object,
                ..bindings
            };
            let patch = definition.evaluate(Mutator::new, |it| it.patch(index, &bindings));
            let patched = match patch {
                Ok(patch) => apply(versioned, patch),
                Err(failure) => Err(Refused::Policy(failure)),
            };
            let error = match &patched {
                Ok(_) => ErrorType::None,
                Err(Refused::Policy(failure)) => failure.error,
                Err(Refused::Request(_)) => ErrorType::Invalid,
            };
            let mutation = Mutation {
                error_type: error.as_str(),
                policy: &definition.name,
                policy_binding: &binding.name,
            };
            metrics.mutated(&mutation, started.elapsed());
            match patched {
                Ok(object) => versioned.object = object,
                Err(Refused::Request(status)) => return Err(status),
                Err(Refused::Policy(failure)) => {
                    let why = &failure.detail;
                    self.failed(definition, Some(binding), why, Some(Reason::Invalid));
                }
            }
        }
        Ok(true)
    }

    /// What a client is told of all errors: the message of the first, and each as a cause.
    fn refusal(&self, object: &Value) -> Option<Status> {
        let first = self.errors.first()?;
        let mut status = self.request.forbidden(object, "");
        status.message.clone_from(&first.message);
        if let Some(reason) = &first.reason {
            status.reason = reason.clone();
        }
        let details = status.details.get_or_insert_default();
        let causes = self.errors.iter().map(|it| Cause {
            message: it.message.clone(),
            ..Cause::default()
        });
        details.causes.extend(causes);
        Some(status)
    }
}

/// Why a patch is not applied.
pub(super) enum Refused {
    /// The failure policy decides.
    Policy(Failure),
    /// Whatever the policy says.
    Request(Status),
}

/// The object with a patch applied to it, with defaults.
pub(super) fn apply(versioned: &Versioned<'_>, patch: Patch) -> Result<Value, Refused> {
    let (kinds, kind) = (versioned.request.kinds, &versioned.kind);
    let object = versioned.object.clone();
    let patched = match patch {
        Patch::ApplyConfiguration(mut patch) => {
            if let Some(fields) = patch.as_object_mut() {
                for key in ["apiVersion", "kind"] {
                    if let Some(own) = object.get(key) {
                        fields.insert(key, own.clone());
                    }
                }
            }
            match kinds.apply_configuration(object, &patch, kind) {
                Ok(patched) => patched,
                Err(ApplyError::UnknownKind) => {
                    return Err(Refused::Request(Status::service_unavailable(format!(
                        "Resource kind {kind} not found. There can be a delay between when CustomResourceDefinitions are created and when \
                         they are available."
                    ))));
                }
                Err(ApplyError::Failed(why)) => {
                    return Err(Refused::Policy(wrong(format!(
                        "error applying patch: {why}"
                    ))));
                }
            }
        }
        Patch::JsonPatch(patch) => {
            let patched = merge::json_patch_if_tests_pass(object, patch)
                .map_err(|error| Refused::Policy(wrong(format!("JSON Patch: {error}"))))?;
            let Some(patched) = patched else {
                return Ok(versioned.object.clone());
            };
            let unknown = kinds.unknown_fields(&patched, kind);
            if !unknown.is_empty() {
                let text = format!("strict decoding error: {}", unknown.join(", "));
                return Err(Refused::Request(Status::internal(text)));
            }
            patched
        }
    };
    let gvk = meta::object::gvk(&patched).unwrap_or_default();
    if gvk != *kind {
        let text = format!("a policy attempted to make {gvk} of {kind}");
        return Err(Refused::Request(Status::internal(text)));
    }
    kinds.read(patched, kind).map_err(Refused::Request)
}
