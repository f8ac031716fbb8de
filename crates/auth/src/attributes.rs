//! What is asked.

use crate::User;

/// One question to an [`Authorizer`](crate::Authorizer). Borrowed, so that asking costs no allocation.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    pub user: &'a User,
    pub verb: &'a str,
    /// Whether the fields of a resource count, or the path.
    pub is_resource_request: bool,
    pub api_group: &'a str,
    pub version: &'a str,
    pub resource: &'a str,
    pub subresource: &'a str,
    /// Empty at the cluster scope.
    pub namespace: &'a str,
    /// Empty for collections.
    pub name: &'a str,
    pub path: &'a str,
    /// As the client wrote it; only a webhook reads it.
    pub field_selector: &'a str,
    pub label_selector: &'a str,
}

impl<'a> Attributes<'a> {
    pub fn resource(user: &'a User, verb: &'a str, api_group: &'a str, resource: &'a str) -> Self {
        Self {
            user,
            verb,
            is_resource_request: true,
            api_group,
            version: "",
            resource,
            subresource: "",
            namespace: "",
            name: "",
            path: "",
            field_selector: "",
            label_selector: "",
        }
    }

    pub fn path(user: &'a User, verb: &'a str, path: &'a str) -> Self {
        Self {
            is_resource_request: false,
            path,
            ..Self::resource(user, verb, "", "")
        }
    }

    #[must_use]
    pub fn version(self, version: &'a str) -> Self {
        Self { version, ..self }
    }

    #[must_use]
    pub fn subresource(self, subresource: &'a str) -> Self {
        Self {
            subresource,
            ..self
        }
    }

    #[must_use]
    pub fn namespace(self, namespace: &'a str) -> Self {
        Self { namespace, ..self }
    }

    #[must_use]
    pub fn name(self, name: &'a str) -> Self {
        Self { name, ..self }
    }

    #[must_use]
    pub fn verb(self, verb: &'a str) -> Self {
        Self { verb, ..self }
    }
}
