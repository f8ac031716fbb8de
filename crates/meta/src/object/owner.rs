use json::{Object, Value};

use super::items;

/// One of `metadata.ownerReferences`, borrowed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerReference<'a> {
    pub api_version: &'a str,
    pub kind: &'a str,
    pub name: &'a str,
    pub uid: &'a str,
    pub controller: Option<bool>,
    pub block_owner_deletion: Option<bool>,
}

impl<'a> OwnerReference<'a> {
    pub fn from_value(value: &'a Value) -> Self {
        let text = |key| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let flag = |key| value.get(key).and_then(Value::as_bool);
        Self {
            api_version: text("apiVersion"),
            kind: text("kind"),
            name: text("name"),
            uid: text("uid"),
            controller: flag("controller"),
            block_owner_deletion: flag("blockOwnerDeletion"),
        }
    }

    /// In upstream's order of fields, with the required ones always there.
    pub fn to_value(self) -> Value {
        let mut out = Object::with_capacity(6);
        out.insert("apiVersion", self.api_version);
        out.insert("kind", self.kind);
        out.insert("name", self.name);
        out.insert("uid", self.uid);
        if let Some(controller) = self.controller {
            out.insert("controller", controller);
        }
        if let Some(block) = self.block_owner_deletion {
            out.insert("blockOwnerDeletion", block);
        }
        Value::Object(out)
    }
}

pub fn owner_references(object: &Value) -> impl Iterator<Item = OwnerReference<'_>> {
    items(object, "ownerReferences")
        .iter()
        .map(OwnerReference::from_value)
}

/// The one owner that manages the object.
pub fn controller_of(object: &Value) -> Option<OwnerReference<'_>> {
    owner_references(object).find(|it| it.controller == Some(true))
}
