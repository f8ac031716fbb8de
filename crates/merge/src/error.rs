//! Why two objects do not become one.

use crate::fieldpath::Set;
use crate::managed::ManagerId;

/// The texts are those of kube-apiserver; the variants say which HTTP status they become.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// 400
    #[error("{0}")]
    BadRequest(String),
    /// 413
    #[error("{0}")]
    TooLarge(String),
    /// 422, without details.
    #[error("{0}")]
    Unprocessable(String),
    /// 409, reason Conflict, with a cause of type `FieldManagerConflict` for each.
    #[error("{message}")]
    Conflict {
        message: String,
        causes: Vec<Conflict>,
    },
    /// 500
    #[error("{0}")]
    Internal(String),
}

/// A field that another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// `conflict with "kubectl" using apps/v1`
    pub message: String,
    /// `.spec.replicas`
    pub field: String,
}

impl Error {
    /// From managers in order, each once.
    pub(crate) fn conflict(conflicts: &[(ManagerId, Set)]) -> Self {
        let mut causes = Vec::new();
        let mut lines = Vec::new();
        for (manager, fields) in conflicts {
            let manager = manager.describe();
            lines.push(format!("conflicts with {manager}:"));
            for path in fields.paths() {
                let field = path.to_string();
                lines.push(format!("- {field}"));
                let message = format!("conflict with {manager}");
                causes.push(Conflict { message, field });
            }
        }
        let message = match causes.as_slice() {
            [Conflict { message, field }] => {
                format!("Apply failed with 1 conflict: {message}: {field}")
            }
            all => format!(
                "Apply failed with {} conflicts: {}",
                all.len(),
                lines.join("\n")
            ),
        };
        Self::Conflict { message, causes }
    }
}
