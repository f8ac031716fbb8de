//! Notes where a resource is have an old and a new name. A function that changes one has changed both.

use crate::cfg::annotations as notes;
use crate::error::{Error, Result};

use super::Resource;

/// Which resource it was before a function saw it.
const NUMBER: &str = "internal.config.kubernetes.io/annotations-migration-resource-id";

const PAIRS: [(&str, &str, &str); 3] = [
    (notes::PATH, notes::LEGACY_PATH, "path"),
    (notes::INDEX, notes::LEGACY_INDEX, "index"),
    (notes::ID, notes::LEGACY_ID, "id"),
];

/// What resources had noted before a function ran.
pub(super) struct Before {
    /// Of each: path, index and id.
    values: Vec<[String; 3]>,
    has_new: bool,
    has_old: bool,
}

impl Before {
    /// Numbers the resources.
    pub(super) fn of(resources: &mut [Resource]) -> Result<Self> {
        let mut before = Self {
            values: Vec::with_capacity(resources.len()),
            has_new: resources.is_empty(),
            has_old: resources.is_empty(),
        };
        for (at, resource) in resources.iter_mut().enumerate() {
            let node = &mut resource.node;
            notes::set(node, NUMBER, &at.to_string())?;
            let get = |key: &str| notes::get(node, key).map(str::to_owned);
            before.has_new |= PAIRS.iter().any(|(new, _, _)| get(new).is_some());
            before.has_old |= PAIRS.iter().any(|(_, old, _)| get(old).is_some());
            let value = |(new, old, _): (&str, &str, &str)| {
                get(new).or_else(|| get(old)).unwrap_or_default()
            };
            before.values.push(PAIRS.map(value));
            notes::copy_legacy(node)?;
        }
        Ok(before)
    }

    /// Brings old and new names together again.
    pub(super) fn reconcile(&self, resources: &mut [Resource]) -> Result<()> {
        for node in resources.iter_mut().map(|it| &mut it.node) {
            notes::copy_legacy(node)?;
            let number = notes::get(node, NUMBER).and_then(|it| it.parse::<usize>().ok());
            if let Some(before) = number.and_then(|it| self.values.get(it)) {
                for ((new, old, what), before) in PAIRS.into_iter().zip(before) {
                    if before.is_empty() {
                        continue;
                    }
                    let value = |key| notes::get(node, key).unwrap_or_default().to_owned();
                    let (by_new, by_old) = (value(new), value(old));
                    if *before != by_new && *before != by_old && by_new != by_old {
                        return Err(Error::new(format!(
                            "resource input to function has mismatched legacy and internal {what} annotations"
                        )));
                    }
                    if *before != by_new {
                        notes::set(node, old, &by_new)?;
                    } else if *before != by_old {
                        notes::set(node, new, &by_old)?;
                    }
                }
            }
            for (new, old, _) in PAIRS {
                if !self.has_new {
                    notes::clear(node, &[new])?;
                }
                if !self.has_old {
                    notes::clear(node, &[old])?;
                }
            }
            notes::clear(node, &[NUMBER])?;
        }
        Ok(())
    }
}
