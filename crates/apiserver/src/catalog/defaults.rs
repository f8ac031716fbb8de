//! Fields that the server fills in where the client left them out.

use json::Value;
use resources::defaults;

use super::{Resource, structural};

pub(crate) fn apply(resource: &Resource, object: &mut Value) {
    if let Some(custom) = &resource.custom {
        structural::default(custom, object);
    } else {
        defaults::apply(&resource.group, &resource.version, &resource.kind, object);
        if let Some(schema) = &resource.schema {
            schema::canonical(schema.place(), object);
        }
    }
}
