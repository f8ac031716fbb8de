//! Conversions between the served versions of a built-in kind.
//!
//! Most versions differ in their name only. What differs more goes through the newest version.

mod autoscaling;
mod definition;
mod device;
mod event;

use json::Value;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    #[error("{kind} cannot be converted from {from} to {to}")]
    NoRoad {
        kind: String,
        from: String,
        to: String,
    },
    #[error("{kind} is not an object")]
    NotAnObject { kind: String },
}

/// Turns an object of `group`/`version` into the target's, its `apiVersion` included. The object should have its defaults.
pub fn to(
    group: &str,
    version: &str,
    kind: &str,
    object: &mut Value,
    (target_group, target_version): (&str, &str),
) -> Result<(), ConvertError> {
    let Some(fields) = object.as_object_mut() else {
        return Err(ConvertError::NotAnObject { kind: kind.into() });
    };
    match (group, target_group, kind) {
        ("", "events.k8s.io", "Event") => event::to_events(fields),
        ("events.k8s.io", "", "Event") => event::to_core(fields),
        _ if group != target_group => {
            return Err(ConvertError::NoRoad {
                kind: kind.into(),
                from: api_version(group, version),
                to: api_version(target_group, target_version),
            });
        }
        ("autoscaling", _, "HorizontalPodAutoscaler") => match (version, target_version) {
            ("v1", "v2") => autoscaling::to_v2(fields),
            ("v2", "v1") => autoscaling::to_v1(fields),
            _ => {}
        },
        ("resource.k8s.io", _, kind) => match (version, target_version) {
            ("v1beta1", "v1beta1") => {}
            ("v1beta1", _) => device::from_v1beta1(kind, fields),
            (_, "v1beta1") => device::to_v1beta1(kind, fields),
            _ => {}
        },
        ("apiextensions.k8s.io", _, "CustomResourceDefinition") if version == "v1beta1" => {
            definition::from_v1beta1(fields);
        }
        ("certificates.k8s.io", _, "PodCertificateRequest") if target_version == "v1" => {
            // What v1 left behind.
            if let Some(Value::Object(spec)) = fields.get_mut("spec") {
                spec.remove("pkixPublicKey");
                spec.remove("proofOfPossession");
            }
        }
        _ => {}
    }
    fields.insert("apiVersion", api_version(target_group, target_version));
    Ok(())
}

fn api_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        _ => format!("{group}/{version}"),
    }
}
