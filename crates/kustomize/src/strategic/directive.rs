//! `$patch: delete`, `$patch: replace`, `$patch: merge`. Reading one takes it out of the patch.

use super::list::set_element;
use crate::error::{Error, Result};
use crate::node::{Data, Node};

const KEY: &str = "$patch";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

pub(super) fn directive(patch: &mut Node) -> Result<Directive> {
    match &mut patch.data {
        Data::Map(_) => {
            let Some(found) = patch.get(KEY) else {
                return Ok(Directive::Merge);
            };
            let found = read(found.raw())?;
            patch.remove(KEY);
            Ok(found)
        }
        Data::Seq(items) => {
            let first = items.iter().find(|item| item.get(KEY).is_some());
            let Some(first) = first.filter(|item| item.pairs().len() == 1) else {
                return Ok(Directive::Merge);
            };
            let value = first.get(KEY).map(|it| it.raw().to_string());
            let value = value.unwrap_or_default();
            let found = read(&value)?;
            set_element(items, None, &[KEY.to_owned()], &[value])?;
            Ok(found)
        }
        Data::Scalar(text) => Err(Error::new(format!(
            "no implemented strategic merge patch strategy for '!!str' ('{text}')"
        ))),
    }
}

/// Whether the patch as a whole says so.
pub(crate) fn replaces(patch: &Node) -> bool {
    patch.get(KEY).is_some_and(|it| it.raw() == "replace")
}

fn read(text: &str) -> Result<Directive> {
    match text {
        "delete" => Ok(Directive::Delete),
        "replace" => Ok(Directive::Replace),
        "merge" => Ok(Directive::Merge),
        other => Err(Error::new(format!("unknown patch strategy '{other}'"))),
    }
}
