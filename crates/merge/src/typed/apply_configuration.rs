//! A partial object laid over another by somebody who owns nothing of it, as mutating admission policies do.

use std::fmt::Write as _;

use json::Value;

use super::{Errors, ListKind, Type};

/// Why a partial object cannot be applied, in upstream's words.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ApplyConfigurationError {
    #[error("failed to convert patch object to typed object: {0}")]
    Patch(Errors),
    #[error("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}", .0.join(", "))]
    Atomic(Vec<String>),
    #[error("failed to convert original object to typed object: {0}")]
    Object(Errors),
    #[error("failed to merge patch: {0}")]
    Merge(Errors),
}

/// No more paths are told.
const MAX_PATHS: usize = 100;

impl Type<'_> {
    /// The object with the partial one laid over it. What is owned as a whole may not be named: whoever writes one field of
    /// it seldom means to remove the others.
    pub fn apply_configuration(
        self,
        mut object: Value,
        patch: &Value,
    ) -> Result<Value, ApplyConfigurationError> {
        use ApplyConfigurationError as Error;
        self.validate(patch, false).map_err(Error::Patch)?;
        let mut atomic = Vec::new();
        self.find_atomic(patch, &mut String::new(), &mut atomic);
        if !atomic.is_empty() {
            return Err(Error::Atomic(atomic));
        }
        self.validate(&object, true).map_err(Error::Object)?;
        self.merge(&mut object, patch).map_err(Error::Merge)?;
        Ok(object)
    }

    /// The paths of all lists, maps and structs in a value that are owned as a whole.
    fn find_atomic(self, value: &Value, path: &mut String, found: &mut Vec<String>) {
        if found.len() >= MAX_PATHS {
            return;
        }
        let (atom, length) = (self.atom_for(Some(value)), path.len());
        match value {
            Value::Object(object) => {
                let Some(map) = atom.map else {
                    return;
                };
                if map.atomic {
                    found.push(path.clone());
                }
                for (key, value) in object.iter() {
                    // Only what the schema names.
                    if let (field, true) = map.ty.field(key) {
                        path.push('.');
                        path.push_str(key);
                        field.find_atomic(value, path, found);
                        path.truncate(length);
                    }
                }
            }
            Value::Array(items) => {
                let Some(list) = atom.list else {
                    return;
                };
                if matches!(list.kind, ListKind::Atomic) {
                    found.push(path.clone());
                }
                for (index, item) in items.iter().enumerate() {
                    // A String takes all.
                    let _ = write!(path, "[{index}]");
                    list.items.find_atomic(item, path, found);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }
}
