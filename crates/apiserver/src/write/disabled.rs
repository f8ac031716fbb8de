//! Fields whose feature gate is off: dropped from what clients write, unless the stored object uses them already, and
//! reported as `fieldValidation` asks for.

use json::Value;
use meta::Status;

use crate::catalog::Resource;
use crate::catalog::gates::Gates;
use crate::handler::context::RequestContext;
use crate::handler::decode::{self, Expected, Validation};
use crate::handler::strict::StrictError;

/// Drops disabled fields from the object of a client, and reports them.
pub(super) fn drop_sent(
    ctx: &RequestContext<'_>,
    resource: &Resource,
    object: &mut Value,
    live: Option<&Value>,
) -> Result<(), Status> {
    let Some((gates, root)) = gates(resource) else {
        return Ok(());
    };
    let found = gates.drop_disabled(root, object, live);
    if found.is_empty() {
        return Ok(());
    }
    let expected = Expected {
        kind: &resource.gvk(),
        schema: None,
        custom: None,
    };
    let found = found.iter().map(|it| StrictError::Field {
        path: it.path.clone(),
        text: it.text(),
    });
    let warnings = decode::strict(found.collect(), Validation::of(ctx), &expected)?;
    ctx.warnings.add(warnings);
    Ok(())
}

/// Whether a field is missed that cannot be there, because its gate is off.
pub(super) fn is_missed(resource: &Resource, error: &meta::field::Error) -> bool {
    let gates = gates(resource);
    error.kind == meta::field::ErrorKind::Required
        && gates.is_some_and(|(gates, root)| gates.hide_path(root, &error.field))
}

/// Disabled fields that defaults or admission added are dropped without a report.
pub(super) fn drop_added(resource: &Resource, object: &mut Value, live: Option<&Value>) {
    if let Some((gates, root)) = gates(resource) {
        gates.drop_disabled(root, object, live);
    }
}

/// Fields that are refused where others are dropped.
pub(super) fn validate(
    resource: &Resource,
    object: &Value,
    live: Option<&Value>,
) -> Vec<meta::field::Error> {
    let Some((gates, root)) = gates(resource) else {
        return Vec::new();
    };
    let found = gates.forbidden(root, object, live).into_iter();
    found
        .map(|it| meta::field::Error::forbidden(it.path, ""))
        .collect()
}

fn gates(resource: &Resource) -> Option<(&Gates, schema::NodeId)> {
    let gates = resource.gates.as_deref()?;
    Some((gates, resource.schema.as_ref()?.root))
}
