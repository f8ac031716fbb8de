//! The parameters of a policy, which its bindings name.

use json::Value;
use meta::gvk::{GroupVersionKind, GroupVersionResource};
use meta::selector::LabelSelector;

use crate::Request;
use crate::read::{has, text};

/// `paramKind`
#[derive(Clone, Debug)]
pub(crate) struct ParamKind(GroupVersionKind);

impl ParamKind {
    /// Nothing if the policy has none.
    pub(crate) fn new(spec: &Value) -> Option<Result<Self, String>> {
        if !has(spec, &["paramKind"]) {
            return None;
        }
        let version = text(spec, &["paramKind", "apiVersion"]);
        let kind = GroupVersionKind::parse(version, text(spec, &["paramKind", "kind"]));
        Some(match kind {
            Ok(kind) => Ok(Self(kind)),
            Err(error) => Err(format!("failed to parse paramKind APIVersion: {error}")),
        })
    }

    /// The resource, if it is served.
    pub(crate) fn resource(&self, request: &Request<'_>) -> Result<GroupVersionResource, String> {
        request.kinds.resource_for(&self.0).ok_or_else(|| {
            format!(
                "failed to find resource referenced by paramKind: '{}'",
                self.0
            )
        })
    }
}

/// `paramRef`
#[derive(Debug)]
pub(crate) struct ParamRef {
    name: String,
    namespace: String,
    selector: Option<Result<LabelSelector, String>>,
    deny_missing: bool,
}

impl ParamRef {
    /// Nothing if the binding has none.
    pub(crate) fn new(spec: &Value) -> Option<Self> {
        let it = spec.get("paramRef").filter(|it| !it.is_null())?;
        let selector = has(it, &["selector"]).then(|| crate::matching::selector(it, "selector"));
        Some(Self {
            name: text(it, &["name"]).to_owned(),
            namespace: text(it, &["namespace"]).to_owned(),
            selector,
            deny_missing: text(it, &["parameterNotFoundAction"]) == "Deny",
        })
    }
}

/// Whether parameters are a Go struct in kube-apiserver.
pub(crate) fn are_struct(request: &Request<'_>, params: &Value) -> bool {
    meta::object::gvk(params).is_ok_and(|it| request.kinds.is_struct(&it))
}

/// The parameters that a binding means for a request. Null where a policy is evaluated without any.
pub(crate) async fn collect(
    kind: Option<(&ParamKind, &GroupVersionResource)>,
    reference: Option<&ParamRef>,
    request: &Request<'_>,
) -> Result<Vec<Value>, String> {
    let (Some((kind, resource)), Some(reference)) = (kind, reference) else {
        return Ok(vec![Value::Null]);
    };
    let namespace = if request.kinds.is_namespaced(resource) {
        match (&*reference.namespace, request.namespace) {
            ("", "") => {
                return Err(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources".to_owned(),
                );
            }
            ("", own) => own,
            (given, _) => given,
        }
    } else if reference.namespace.is_empty() {
        ""
    } else {
        return Err(
            "paramRef.namespace must not be provided for a cluster-scoped `paramKind`".to_owned(),
        );
    };
    let (group, plural) = (&*resource.group, &*resource.resource);
    let mut found = match (&*reference.name, &reference.selector) {
        ("", None) => return Err("one of name or selector must be provided".to_owned()),
        ("", Some(selector)) => {
            let selector = selector.as_ref().map_err(Clone::clone)?;
            let mut all = request.lookup.list(group, plural, namespace);
            all.retain(|it| selector.matches(meta::object::labels(it)));
            all
        }
        (_, Some(_)) => {
            return Err("paramRef.name and paramRef.selector are mutually exclusive".to_owned());
        }
        (name, None) => {
            let found = request.lookup.get(group, plural, namespace, name);
            found.into_iter().collect()
        }
    };
    if found.is_empty() && reference.deny_missing {
        return Err(
            "no params found for policy binding with `Deny` parameterNotFoundAction".to_owned(),
        );
    }
    for object in &mut found {
        if meta::object::gvk(object).ok().as_ref() != Some(&kind.0) {
            let converted = request.kinds.convert(object.take(), &kind.0).await;
            *object = converted.map_err(|status| status.message)?;
        }
    }
    Ok(found)
}
