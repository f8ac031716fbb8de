//! The order of the output.

use std::cmp::Reverse;

use crate::error::{Error, Result, Wrap as _};
use crate::id::{ORDER_FIRST, ORDER_LAST, ResId};
use crate::resmap::ResMap;
use crate::types::SortOptions;

pub(crate) fn sort(map: &mut ResMap, options: &SortOptions) -> Result<()> {
    match options.order.as_str() {
        "legacy" => {}
        "fifo" if options.legacy.is_some() => {
            return Err(Error::new(
                "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not 'legacy'",
            ));
        }
        "fifo" => return Ok(()),
        _ => {
            return Err(Error::new(
                "the field 'sortOptions.order' must be one of [fifo, legacy]",
            ));
        }
    }
    let (first, last): (Vec<&str>, Vec<&str>) = match &options.legacy {
        Some(legacy) => (
            legacy.order_first.iter().map(String::as_str).collect(),
            legacy.order_last.iter().map(String::as_str).collect(),
        ),
        None => (ORDER_FIRST.to_vec(), ORDER_LAST.to_vec()),
    };
    // A kind that is in both lists is where the second puts it.
    let place = |kind: &str| {
        let at = |list: &[&str]| {
            list.iter()
                .rposition(|it| *it == kind)
                .map(usize::cast_signed)
        };
        match at(&last) {
            Some(at) => at + 1,
            None => at(&first).map_or(0, |at| at - first.len().cast_signed()),
        }
    };
    map.list_mut().sort_by_cached_key(|resource| {
        let id = resource.current_id();
        let kind_order = id.gvk.stable_string();
        // Kubernetes' own Namespace goes before others of that kind, and its versions from the last to the first.
        let (is_other, own, other) = match id.gvk.kind.as_str() {
            "Namespace" if id.gvk.group.is_empty() => (false, Some(Reverse(kind_order)), None),
            "Namespace" => (true, None, Some(kind_order)),
            _ => (false, None, Some(kind_order)),
        };
        (place(&id.gvk.kind), is_other, own, other, sort_string(&id))
    });
    map.check_ids()
        .wrap("SortOrderTransformer: Failed to append to resources")
}

fn sort_string(id: &ResId) -> String {
    let or = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
    format!(
        "{}|{}|{}",
        id.gvk,
        or(&id.namespace, "~X"),
        or(&id.name, "~N")
    )
}
