//! Admission policies: what the objects in `admissionregistration.k8s.io` say in CEL, evaluated here.
//!
//! As upstream: a policy is what it says and which requests it means; its bindings put it in force, for fewer requests
//! if they say so, and with parameters. A policy without a binding does nothing. Policies are looked at in the order of
//! their names.
//!
//! | file | does |
//! |---|---|
//! | `manifests` | policies from files |
//! | `source` | follows policies and bindings, keeps what was compiled |
//! | `index`, `constraints` | which requests are meant |
//! | `params` | which parameters a binding means |
//! | `expression` | compiles and evaluates within budgets |
//! | `match_conditions` | `matchConditions`, of webhooks too |
//! | `validator`, `validating` | `ValidatingAdmissionPolicy`: its decisions, and what comes of them |
//! | `mutator`, `mutating` | `MutatingAdmissionPolicy`: its patches, and what becomes of the object |

mod authorizer;
mod constraints;
mod expression;
mod index;
mod manifests;
pub(crate) mod match_conditions;
mod mutating;
mod mutator;
mod params;
mod request;
mod source;
#[cfg(test)]
mod tests;
mod validating;
mod validator;

use json::Value;
use tokio::runtime::{Handle, RuntimeFlavor};

pub(crate) use self::authorizer::{RequestAuthorizer, request_resource};
pub(crate) use self::constraints::Matched;
pub(crate) use self::expression::Bindings;
pub use self::manifests::{Manifests, STATIC_SUFFIX, StaticPolicies};
pub use self::mutating::MutatingAdmissionPolicy;
pub(crate) use self::mutating::PolicyReinvocation;
pub(crate) use self::request::request as request_value;
pub use self::validating::ValidatingAdmissionPolicy;
use crate::Request;

const GROUP: &str = "admissionregistration.k8s.io";

/// Policies and their bindings are not judged by policies of the API: one could forbid its own removal. Those from files
/// judge them, too.
fn is_exempt_from_api(request: &Request<'_>) -> bool {
    request.resource.group == GROUP
        && matches!(
            &*request.resource.resource,
            "validatingadmissionpolicies"
                | "validatingadmissionpolicybindings"
                | "mutatingadmissionpolicies"
                | "mutatingadmissionpolicybindings"
        )
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    crate::read::text(value, &[key])
}

/// Does long work on this thread, and lets another thread take over what this worker would have done next.
fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|it| it.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // There is no other worker.
        _ => work(),
    }
}
