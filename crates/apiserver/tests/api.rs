//! The API over a store in memory: no network, no controllers, no bootstrap objects.

#[path = "api/admission.rs"]
mod admission;
#[path = "api/apply.rs"]
mod apply;
#[path = "api/certificates.rs"]
mod certificates;
#[path = "api/creates.rs"]
mod creates;
#[path = "api/decoding.rs"]
mod decoding;
#[path = "api/deletes.rs"]
mod deletes;
#[path = "api/events.rs"]
mod events;
#[path = "api/feature_gates.rs"]
mod feature_gates;
#[path = "api/field_validation.rs"]
mod field_validation;
#[path = "api/fixture.rs"]
mod fixture;
#[path = "api/gateway_api.rs"]
mod gateway_api;
#[path = "api/lists.rs"]
mod lists;
#[path = "api/mutating_policies.rs"]
mod mutating_policies;
#[path = "api/openapi.rs"]
mod openapi;
#[path = "api/policies.rs"]
mod policies;
#[path = "api/reads.rs"]
mod reads;
#[path = "api/selectors.rs"]
mod selectors;
#[path = "api/updates.rs"]
mod updates;
#[path = "api/validation_rules.rs"]
mod validation_rules;
#[path = "api/watch_by_name.rs"]
mod watch_by_name;
#[path = "api/watches.rs"]
mod watches;
