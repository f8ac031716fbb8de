//! The variables of callers: admission, authentication and authorization.

use std::sync::Arc;

use crate::cost::SizeHints;
use crate::decls::libraries;
use crate::env::{Env, Library, StructType};
use crate::schema::Structs;
use crate::types::Type;

/// What an expression of admission can use beyond the objects and the request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct AdmissionVariables {
    pub params: bool,
    pub authorizer: bool,
    /// The types of mutations.
    pub patch_types: bool,
}

/// The environment of policies and match conditions.
pub fn admission_environment(env: Env, has: AdmissionVariables) -> Env {
    let mut env = env
        .structures(request())
        .structures(namespace())
        .variable("object", Type::Dyn)
        .variable("oldObject", Type::Dyn)
        .variable("namespaceObject", Type::structure("kubernetes.Namespace"))
        .variable("request", Type::structure("kubernetes.AdmissionRequest"));
    if has.params {
        env = env.variable("params", Type::Dyn);
    }
    if has.authorizer {
        let of = |name: &str| Type::structure(&format!("kubernetes.authorization.{name}"));
        env = env
            .variable("authorizer", of("Authorizer"))
            .variable("authorizer.requestResource", of("ResourceCheck"));
    }
    if has.patch_types {
        env = super::with_mutation_types(env);
    }
    env
}

/// The environment that the types of policies are checked in: objects and parameters are of the types that their schemas
/// tell, or of any.
pub fn type_checking_environment(
    env: Env,
    object: Option<(Type, Structs)>,
    params: Option<Option<(Type, Structs)>>,
) -> Env {
    let mut env = env
        .structures(request())
        .structures(namespace())
        .variable("namespaceObject", Type::structure("kubernetes.Namespace"))
        .variable("request", Type::structure("kubernetes.AdmissionRequest"))
        .variable(
            "authorizer",
            Type::structure("kubernetes.authorization.Authorizer"),
        );
    let mut declare = |names: &[&str], of: Option<(Type, Structs)>| {
        let of = match of {
            Some((of, structs)) => {
                env = env.clone().structures(structs);
                of
            }
            None => Type::Dyn,
        };
        for name in names {
            env = env.clone().variable(name, of.clone());
        }
    };
    declare(&["object", "oldObject"], object);
    if let Some(params) = params {
        declare(&["params"], params);
    }
    env
}

/// The environment of authentication: `claims`.
pub fn claims_environment(env: Env) -> Env {
    env.variable("claims", Type::map(Type::String, Type::Any))
}

/// The environment of authentication: `user`.
pub fn user_environment(env: Env) -> Env {
    env.structures([user()])
        .variable("user", Type::structure("kubernetes.UserInfo"))
}

/// The environment of webhooks of authorization: `request`.
pub fn authorization_environment(env: Env) -> Env {
    let requirements = Type::list(Type::structure("kubernetes.SelectorRequirement"));
    let selector = |name: &str| {
        structure(
            name,
            &[
                ("rawSelector", Type::String),
                ("requirements", requirements.clone()),
            ],
        )
    };
    let text = |names: &[&'static str]| -> Vec<(&'static str, Type)> {
        names.iter().map(|it| (*it, Type::String)).collect()
    };
    let mut resource = text(&[
        "namespace",
        "verb",
        "group",
        "version",
        "resource",
        "subresource",
        "name",
    ]);
    resource.push((
        "fieldSelector",
        Type::structure("kubernetes.FieldSelectorAttributes"),
    ));
    resource.push((
        "labelSelector",
        Type::structure("kubernetes.LabelSelectorAttributes"),
    ));
    env.structures([
        structure(
            "kubernetes.SubjectAccessReviewSpec",
            &[
                (
                    "resourceAttributes",
                    Type::structure("kubernetes.ResourceAttributes"),
                ),
                (
                    "nonResourceAttributes",
                    Type::structure("kubernetes.NonResourceAttributes"),
                ),
                ("user", Type::String),
                ("groups", Type::list(Type::String)),
                ("extra", Type::map(Type::String, Type::list(Type::String))),
                ("uid", Type::String),
            ],
        ),
        structure("kubernetes.ResourceAttributes", &resource),
        selector("kubernetes.FieldSelectorAttributes"),
        selector("kubernetes.LabelSelectorAttributes"),
        structure(
            "kubernetes.SelectorRequirement",
            &[
                ("key", Type::String),
                ("operator", Type::String),
                ("values", Type::list(Type::String)),
            ],
        ),
        structure("kubernetes.NonResourceAttributes", &text(&["path", "verb"])),
    ])
    .variable(
        "request",
        Type::structure("kubernetes.SubjectAccessReviewSpec"),
    )
}

fn structure(name: &str, fields: &[(&str, Type)]) -> (Arc<str>, StructType) {
    let fields = fields
        .iter()
        .map(|(name, of)| (Arc::from(*name), of.clone()))
        .collect();
    (Arc::from(name), StructType { fields })
}

fn user() -> (Arc<str>, StructType) {
    structure(
        "kubernetes.UserInfo",
        &[
            ("username", Type::String),
            ("uid", Type::String),
            ("groups", Type::list(Type::String)),
            ("extra", Type::map(Type::String, Type::list(Type::String))),
        ],
    )
}

fn request() -> Vec<(Arc<str>, StructType)> {
    let kind = Type::structure("kubernetes.GroupVersionKind");
    let resource = Type::structure("kubernetes.GroupVersionResource");
    let text = Type::String;
    vec![
        structure(
            "kubernetes.GroupVersionKind",
            &[
                ("group", text.clone()),
                ("version", text.clone()),
                ("kind", text.clone()),
            ],
        ),
        structure(
            "kubernetes.GroupVersionResource",
            &[
                ("group", text.clone()),
                ("version", text.clone()),
                ("resource", text.clone()),
            ],
        ),
        user(),
        structure(
            "kubernetes.AdmissionRequest",
            &[
                ("kind", kind.clone()),
                ("resource", resource.clone()),
                ("subResource", text.clone()),
                ("requestKind", kind),
                ("requestResource", resource),
                ("requestSubResource", text.clone()),
                ("name", text.clone()),
                // A keyword may be written as it is.
                ("namespace", text.clone()),
                ("operation", text),
                ("userInfo", Type::structure("kubernetes.UserInfo")),
                ("dryRun", Type::Bool),
                ("options", Type::Dyn),
            ],
        ),
    ]
}

fn namespace() -> Vec<(Arc<str>, StructType)> {
    let text = Type::String;
    let texts = Type::list(Type::String);
    let labels = Type::map(Type::String, Type::String);
    vec![
        structure("kubernetes.NamespaceSpec", &[("finalizers", texts.clone())]),
        structure(
            "kubernetes.NamespaceCondition",
            &[
                ("status", text.clone()),
                ("type", text.clone()),
                ("lastTransitionTime", Type::Timestamp),
                ("message", text.clone()),
                ("reason", text.clone()),
            ],
        ),
        structure(
            "kubernetes.NamespaceStatus",
            &[
                (
                    "conditions",
                    Type::list(Type::structure("kubernetes.NamespaceCondition")),
                ),
                ("phase", text.clone()),
            ],
        ),
        structure(
            "kubernetes.NamespaceMetadata",
            &[
                ("name", text.clone()),
                ("generateName", text.clone()),
                ("namespace", text.clone()),
                ("labels", labels.clone()),
                ("annotations", labels),
                ("UID", text.clone()),
                ("creationTimestamp", Type::Timestamp),
                ("deletionGracePeriodSeconds", Type::Int),
                ("deletionTimestamp", Type::Timestamp),
                ("generation", Type::Int),
                ("resourceVersion", text),
                ("finalizers", texts),
            ],
        ),
        structure(
            "kubernetes.Namespace",
            &[
                ("metadata", Type::structure("kubernetes.NamespaceMetadata")),
                ("spec", Type::structure("kubernetes.NamespaceSpec")),
                ("status", Type::structure("kubernetes.NamespaceStatus")),
            ],
        ),
    ]
}

/// What a selector of devices can use beyond the first version of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceFeatures {
    /// `device.allowMultipleAllocations`
    pub consumable_capacity: bool,
    /// Attributes may be lists.
    pub list_attributes: bool,
}

/// The environment of selectors of devices (dynamic resource allocation): `device`.
pub fn device_environment(env: Env, features: DeviceFeatures) -> Env {
    let attribute = if features.list_attributes {
        Type::Dyn
    } else {
        Type::Any
    };
    let by_domain = |of: Type| Type::map(Type::String, Type::map(Type::String, of));
    let mut fields = vec![
        ("driver", Type::String),
        ("attributes", by_domain(attribute)),
        (
            "capacity",
            by_domain(Type::structure("kubernetes.Quantity")),
        ),
    ];
    if features.consumable_capacity {
        fields.push(("allowMultipleAllocations", Type::Bool));
    }
    let mut env = env.library(Library::Bindings);
    if features.list_attributes {
        env = env.with_declarations(libraries::KUBERNETES_LISTS_1);
    }
    env.structures([structure("kubernetes.DRADevice", &fields)])
        .variable("device", Type::structure("kubernetes.DRADevice"))
}

/// How large the parts of a device are.
impl SizeHints for DeviceFeatures {
    fn max_size(&self, path: &[Arc<str>]) -> Option<u64> {
        const ENTRIES: u64 = 32;
        let path: Vec<&str> = path.iter().map(|it| &**it).collect();
        let ["device", rest @ ..] = &path[..] else {
            return None;
        };
        Some(match rest {
            ["driver"] | ["attributes" | "capacity", "@keys"] => 63,
            ["allowMultipleAllocations"] if self.consumable_capacity => 1,
            ["attributes" | "capacity"] | ["attributes" | "capacity", "@values"] => ENTRIES,
            ["attributes" | "capacity", "@values", "@keys"] => 32,
            // All attributes are equally large, whatever their names are.
            ["attributes", "@values", _] => 64,
            [] | ["capacity", "@values", "@values"] => 0,
            _ => return None,
        })
    }
}
