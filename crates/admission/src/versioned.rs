//! The object of a request at the version that a webhook or a policy wants to see.

use json::Value;
use meta::Status;
use meta::gvk::GroupVersionKind;

use crate::Request;

/// Both objects of a request at one version. Converted only when another version is wanted.
pub(crate) struct Versioned<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) kind: GroupVersionKind,
    pub(crate) object: Value,
    pub(crate) old: Option<Value>,
}

impl Versioned<'_> {
    pub(crate) async fn convert_to(&mut self, kind: &GroupVersionKind) -> Result<(), Status> {
        if self.kind == *kind {
            return Ok(());
        }
        let kinds = self.request.kinds;
        if !self.object.is_null() {
            self.object = kinds.convert(self.object.take(), kind).await?;
        }
        if let Some(old) = self.old.take() {
            self.old = Some(kinds.convert(old, kind).await?);
        }
        self.kind = kind.clone();
        Ok(())
    }
}
