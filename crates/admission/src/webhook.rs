//! Admission webhooks: what others may change or refuse, from the configurations in `admissionregistration.k8s.io`.
//!
//! As upstream: mutating ones are called one after the other, in the order of their configurations' names, and some a
//! second time if the object changed after them; validating ones are called all at once. Without any configuration
//! nothing here costs anything.
//!
//! `matchConditions` are evaluated as those of policies are (`crate::policy`).

mod call;
mod hook;
mod matching;
mod mutate;
mod review;
mod validate;

use std::sync::{Arc, Mutex, PoisonError};

use auth::Authorizer;

use self::hook::Hook;
pub(crate) use self::mutate::Reinvocation;
pub(crate) use self::review::decode;
use crate::client::Targets;
use crate::metrics::Metrics;
use crate::{Admitting, Lookup, Outcome, Plugin, Random, Request};

const GROUP: &str = "admissionregistration.k8s.io";

/// What both kinds of webhooks share.
#[derive(Clone, Debug)]
pub struct Caller {
    pub targets: Arc<Targets>,
    /// For the identity of each call.
    pub random: Random,
    /// Whom `matchConditions` ask.
    pub authorizer: Arc<dyn Authorizer>,
    pub metrics: Arc<Metrics>,
}

#[derive(Debug)]
pub struct MutatingAdmissionWebhook(Hooks);

#[derive(Debug)]
pub struct ValidatingAdmissionWebhook(Hooks);

impl MutatingAdmissionWebhook {
    pub fn new(caller: Caller) -> Self {
        Self(Hooks::new(caller, "mutatingwebhookconfigurations"))
    }
}

impl ValidatingAdmissionWebhook {
    pub fn new(caller: Caller) -> Self {
        Self(Hooks::new(caller, "validatingwebhookconfigurations"))
    }
}

impl Plugin for MutatingAdmissionWebhook {
    fn name(&self) -> &'static str {
        "MutatingAdmissionWebhook"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        self.0.handles(request)
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        Outcome::Later(Box::pin(mutate::all(&self.0, request, admitting)))
    }
}

impl Plugin for ValidatingAdmissionWebhook {
    fn name(&self) -> &'static str {
        "ValidatingAdmissionWebhook"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        self.0.handles(request)
    }

    fn validate<'a>(
        &'a self,
        request: &'a Request<'a>,
        admitting: &'a mut Admitting,
    ) -> Outcome<'a> {
        Outcome::Later(Box::pin(validate::all(&self.0, request, admitting)))
    }
}

/// The configurations of one kind, read once for each change.
#[derive(Debug)]
struct Hooks {
    caller: Caller,
    resource: &'static str,
    /// With the stamp they were read at.
    read: Mutex<(u64, Arc<[Hook]>)>,
}

impl Hooks {
    fn new(caller: Caller, resource: &'static str) -> Self {
        Self {
            caller,
            resource,
            read: Mutex::new((0, Arc::new([]))),
        }
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        !is_exempt(request) && request.lookup.stamp(GROUP, self.resource) != 0
    }

    fn get(&self, lookup: &dyn Lookup) -> Arc<[Hook]> {
        let stamp = lookup.stamp(GROUP, self.resource);
        {
            let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            if read.0 == stamp {
                return read.1.clone();
            }
        }
        let mut all = lookup.list(GROUP, self.resource, "");
        all.sort_by(|a, b| meta::object::name(a).cmp(meta::object::name(b)));
        let hooks = all
            .iter()
            .flat_map(|it| hook::all(it, &self.caller.targets));
        let hooks: Arc<[Hook]> = hooks.collect();
        // What the old ones alone had is closed with them.
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = (stamp, hooks.clone());
        hooks
    }
}

/// Webhooks could otherwise forbid their own removal, or lock all out.
fn is_exempt(request: &Request<'_>) -> bool {
    let (group, kind) = (&*request.kind.group, &*request.kind.kind);
    crate::matching::is_review(request)
        || group == GROUP
            && matches!(
                kind,
                "ValidatingWebhookConfiguration"
                    | "MutatingWebhookConfiguration"
                    | "ValidatingAdmissionPolicy"
                    | "ValidatingAdmissionPolicyBinding"
                    | "MutatingAdmissionPolicy"
                    | "MutatingAdmissionPolicyBinding"
            )
}
