//! The two versions of `OpenAPI` that documents are written in.

use crate::catalog::Resource;

/// The version of `OpenAPI` that a schema is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    V2,
    V3,
}

impl Dialect {
    /// Where the schemas are, for references.
    pub(super) fn definitions(self) -> &'static str {
        match self {
            Self::V2 => "#/definitions/",
            Self::V3 => "#/components/schemas/",
        }
    }
}

pub(super) fn is_custom(resource: &Resource) -> bool {
    resource.custom.is_some()
}
