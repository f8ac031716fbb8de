//! The environments of Kubernetes, by compatibility version.

mod policy;
mod variables;

use std::sync::{Arc, OnceLock};

use crate::decls::libraries;
use crate::env::{Env, Library};
use crate::functions::authz;
use crate::schema::Schema;
use crate::types::Type;
use crate::value::Value;
use crate::{Attributes, Authorizer};

pub use policy::{CompileError, PolicyCompiler, TypeChecker};
pub use variables::{
    AdmissionVariables, DeviceFeatures, admission_environment, authorization_environment,
    claims_environment, device_environment, type_checking_environment, user_environment,
};

/// No expression costs more in one evaluation.
pub const PER_CALL_LIMIT: u64 = 1_000_000;
/// All rules of an object, or all expressions of a policy, together.
pub const RUNTIME_COST_BUDGET: u64 = 10_000_000;
/// All match conditions together.
pub const MATCH_CONDITIONS_COST_BUDGET: u64 = 2_500_000;

/// Which expressions an environment is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Those in a request: only what the version of the server's predecessor knows.
    New,
    /// Those that are stored: all that the server knows.
    Stored,
}

/// The minor version that knows all libraries.
const NEWEST: u32 = 37;

/// The environment of a server of version 1.`minor`, without variables.
pub fn environment(minor: u32, mode: Mode) -> Env {
    static STORED: OnceLock<Env> = OnceLock::new();
    static NEW: OnceLock<Env> = OnceLock::new();
    match (minor, mode) {
        (NEWEST, Mode::Stored) => STORED.get_or_init(|| at_version(NEWEST)).clone(),
        (NEWEST, Mode::New) => NEW.get_or_init(|| at_version(NEWEST - 1)).clone(),
        (minor, Mode::Stored) => at_version(minor),
        (minor, Mode::New) => at_version(minor.saturating_sub(1)),
    }
}

/// All that a version has.
fn at_version(minor: u32) -> Env {
    let mut env = Env::standard()
        .with_declarations(libraries::URLS)
        .with_declarations(libraries::REGEX)
        .with_options(|it| {
            it.homogeneous_literals = true;
            it.kubernetes_costs = true;
            it.presence_cost = 0;
            it.keyword_fields = minor >= 31;
        });
    if minor < 37 {
        env = env.with_declarations(libraries::KUBERNETES_LISTS);
    }
    if minor >= 27 {
        env = env.with_declarations(libraries::AUTHZ);
    }
    if minor >= 28 {
        env = env
            .library(Library::Optionals)
            .library(Library::CrossTypeComparisons)
            .with_declarations(libraries::QUANTITY);
    }
    if minor >= 29 {
        env = env
            .with_options(|it| it.validate_literals = true)
            .library(Library::Strings(2))
            .library(Library::Sets);
    } else {
        env = env.library(Library::Strings(0));
    }
    if minor >= 30 {
        env = env
            .with_declarations(libraries::IP)
            .with_declarations(libraries::CIDR);
    }
    if minor >= 31 {
        env = env
            .with_declarations(libraries::FORMAT)
            .with_declarations(libraries::AUTHZ_SELECTORS);
    }
    if minor >= 32 {
        env = env.library(Library::TwoVariables);
    }
    if minor >= 33 {
        env = env.with_declarations(libraries::SEMVER);
    }
    if minor >= 34 {
        env = env.library(Library::Lists);
    }
    if minor >= 37 {
        env = env
            .with_declarations(libraries::KUBERNETES_LISTS)
            .with_declarations(libraries::KUBERNETES_LISTS_1);
    }
    env
}

/// Adds the types of mutations: `Object`, `JSONPatch` and `jsonpatch.escapeKey()`.
#[must_use]
pub fn with_mutation_types(env: Env) -> Env {
    env.with_declarations(libraries::JSON_PATCH)
        .with_options(|it| it.mutation_types = true)
}

/// Declares `self` and `oldSelf` with the type of a schema. Nothing if expressions do not see such data.
pub fn schema_environment(env: Env, schema: &Schema, optional_old_self: bool) -> Option<Env> {
    let (env, of) = env.described(SELF_TYPE, Arc::new(schema.clone()))?;
    let old = if optional_old_self {
        Type::optional(of.clone())
    } else {
        of.clone()
    };
    Some(env.variable("self", of).variable("oldSelf", old))
}

/// The name of the type of `self`. Upstream puts a random number behind it.
pub const SELF_TYPE: &str = "selfType";

/// The value of the variable `authorizer`.
pub fn authorizer(authorizer: &dyn Authorizer) -> Value<'_> {
    authz::authorizer(authorizer)
}

/// The value of the variable `authorizer.requestResource`, with what the request asks for.
pub fn request_resource(authorizer: &dyn Authorizer, attributes: Attributes) -> Value<'_> {
    authz::request_resource(authorizer, attributes)
}
