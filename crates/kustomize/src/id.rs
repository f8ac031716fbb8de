//! Group, version, kind and the ids of resources.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use json::Text;

use crate::node::Node;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Gvk {
    pub(crate) group: Text,
    pub(crate) version: Text,
    pub(crate) kind: Text,
}

/// Each kind with its groups and versions, and whether it certainly has no namespace; what is not known may have one.
static SCOPES: LazyLock<HashMap<&str, Vec<Scope>>> = LazyLock::new(|| {
    let mut kinds: HashMap<_, Vec<_>> = HashMap::new();
    for row in include_str!("../tables/scopes.txt").lines() {
        let mut words = row.split(' ');
        if let (Some(api_version), Some(kind), Some(scope)) =
            (words.next(), words.next(), words.next())
        {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            let cluster = scope == "cluster";
            let scope = Scope {
                group,
                version,
                cluster,
            };
            kinds.entry(kind).or_default().push(scope);
        }
    }
    kinds
});

struct Scope {
    group: &'static str,
    version: &'static str,
    cluster: bool,
}

pub(crate) const NOT_NAMESPACEABLE: &str = "_non_namespaceable_";

impl Gvk {
    pub(crate) fn of(node: &Node) -> Self {
        Self::from_parts(&node.api_version(), node.object_kind())
    }

    pub(crate) fn from_parts(api_version: &str, kind: Text) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self {
            group: group.into(),
            version: version.into(),
            kind,
        }
    }

    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// An empty part of the selector selects all.
    pub(crate) fn is_selected(&self, selector: &Gvk) -> bool {
        let fits = |own: &Text, other: &Text| other.is_empty() || own == other;
        fits(&self.group, &selector.group)
            && fits(&self.version, &selector.version)
            && fits(&self.kind, &selector.kind)
    }

    pub(crate) fn is_cluster_scoped(&self) -> bool {
        self.scope().is_some_and(|it| it.cluster)
    }

    /// Whether kustomize knows the kind.
    pub(crate) fn is_known(&self) -> bool {
        self.scope().is_some()
    }

    fn scope(&self) -> Option<&'static Scope> {
        let scopes = SCOPES.get(&*self.kind)?;
        scopes
            .iter()
            .find(|it| *it.group == *self.group && *it.version == *self.version)
    }

    /// What field specs are sorted by.
    pub(crate) fn sort_key(&self) -> (isize, String) {
        (order_of(&self.kind), self.stable_string())
    }

    pub(crate) fn stable_string(&self) -> String {
        let or = |text: &Text, other: &str| {
            if text.is_empty() {
                other.to_owned()
            } else {
                text.to_string()
            }
        };
        format!(
            "{}_{}_{}",
            or(&self.group, "~G"),
            or(&self.version, "~V"),
            or(&self.kind, "~K")
        )
    }
}

pub(crate) const ORDER_FIRST: &[&str] = &[
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

pub(crate) const ORDER_LAST: &[&str] = &[
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

fn order_of(kind: &str) -> isize {
    let place = |list: &[&str]| {
        list.iter()
            .position(|it| *it == kind)
            .map(usize::cast_signed)
    };
    match place(ORDER_FIRST) {
        Some(at) => at - ORDER_FIRST.len().cast_signed(),
        None => place(ORDER_LAST).map_or(0, |at| at + 1),
    }
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |text: &Text, other: &'static str| -> Text {
            if text.is_empty() {
                other.into()
            } else {
                text.clone()
            }
        };
        write!(
            f,
            "{}.{}.{}",
            or(&self.kind, "[noKind]"),
            or(&self.version, "[noVer]"),
            or(&self.group, "[noGrp]")
        )
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ResId {
    pub(crate) gvk: Gvk,
    pub(crate) name: Text,
    pub(crate) namespace: Text,
}

impl ResId {
    pub(crate) fn is_cluster_scoped(&self) -> bool {
        self.gvk.is_cluster_scoped()
    }

    pub(crate) fn effective_namespace(&self) -> Text {
        if self.is_cluster_scoped() {
            NOT_NAMESPACEABLE.into()
        } else if self.namespace.is_empty() {
            "default".into()
        } else {
            self.namespace.clone()
        }
    }

    /// As if every kind had namespaces.
    fn unscoped_namespace(&self) -> &str {
        if self.namespace.is_empty() {
            "default"
        } else {
            &self.namespace
        }
    }

    /// Ids are equal if their keys are.
    pub(crate) fn key(&self) -> Self {
        Self {
            gvk: self.gvk.clone(),
            name: self.name.clone(),
            namespace: self.effective_namespace(),
        }
    }

    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.gvk == other.gvk
            && self.name == other.name
            && self.effective_namespace() == other.effective_namespace()
    }

    /// Empty parts of the selector select all.
    pub(crate) fn is_selected_by(&self, selector: &Self) -> bool {
        (selector.name.is_empty() || selector.name == self.name)
            && (selector.namespace.is_empty()
                || selector.unscoped_namespace() == self.unscoped_namespace())
            && self.gvk.is_selected(&selector.gvk)
    }
}

impl fmt::Display for ResId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name: &str = if self.name.is_empty() {
            "[noName]"
        } else {
            &self.name
        };
        let namespace: &str = if self.namespace.is_empty() {
            "[noNs]"
        } else {
            &self.namespace
        };
        write!(f, "{}/{name}.{namespace}", self.gvk)
    }
}

/// As Go's `%#v`, which some messages show.
pub(crate) fn go_syntax(id: &ResId) -> String {
    format!(
        "resid.ResId{{Gvk:resid.Gvk{{Group:{:?}, Version:{:?}, Kind:{:?}, isClusterScoped:{}}}, Name:{:?}, Namespace:{:?}}}",
        id.gvk.group.as_str(),
        id.gvk.version.as_str(),
        id.gvk.kind.as_str(),
        id.is_cluster_scoped(),
        id.name.as_str(),
        id.namespace.as_str()
    )
}
