//! One row.

use json::Text;

use crate::{Strategy, Verbs};

/// What is known of a resource in one version of its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Empty for the core group.
    pub group: Text,
    pub version: Text,
    pub kind: Text,
    /// None if it cannot be listed.
    pub list_kind: Option<Text>,
    /// The name in paths: `pods`.
    pub plural: Text,
    pub singular: Text,
    pub namespaced: bool,
    pub short_names: Vec<Text>,
    pub categories: Vec<Text>,
    pub verbs: Verbs,
    pub subresources: Vec<Subresource>,
    /// The place below `/registry`; none if it is not stored.
    pub prefix: Option<Text>,
    /// Group and version that kube-apiserver stores it in.
    pub stored: (Text, Text),
    /// The name of its type in `OpenAPI` documents.
    pub schema: Text,
    /// A kube-apiserver without flags serves it.
    pub served_by_default: bool,
    /// What the kind does.
    pub strategy: &'static Strategy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    pub name: Text,
    /// Of what it takes and gives; often that of its resource.
    pub group: Text,
    pub version: Text,
    pub kind: Text,
    /// Group and version are not those of its resource: discovery names them.
    pub foreign: bool,
    pub verbs: Verbs,
}

impl Resource {
    /// `v1` or `apps/v1`
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|it| *it.name == *name)
    }

    /// The key of an object below `/registry`, as kube-apiserver lays it out.
    pub fn key(&self, namespace: Option<&str>, name: &str) -> Option<String> {
        let prefix = self.prefix.as_ref()?;
        Some(match namespace {
            Some(namespace) => format!("{prefix}/{namespace}/{name}"),
            None => format!("{prefix}/{name}"),
        })
    }

    /// The type of a built-in.
    pub fn builtin_schema(&self) -> Option<schema::Schema> {
        schema::builtin().named(&self.schema)
    }
}

pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.into()
    } else {
        format!("{group}/{version}")
    }
}
