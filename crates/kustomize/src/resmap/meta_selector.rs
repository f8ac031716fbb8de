//! Selecting by labels, and by annotations as if they were labels.

use std::cell::OnceCell;

use meta::selector::LabelSelector;

use crate::error::{Error, Result};
use crate::node::Node;
use crate::types::Selector;

/// Read when something is to be matched, not before: so a mistake may go unnoticed, as it does upstream.
pub(crate) struct MetaSelector<'s> {
    text: &'s str,
    field: &'static str,
    read: OnceCell<LabelSelector>,
}

impl<'s> MetaSelector<'s> {
    pub(crate) fn labels(selector: &'s Selector) -> Self {
        Self {
            text: &selector.label_selector,
            field: "labels",
            read: OnceCell::new(),
        }
    }

    pub(crate) fn annotations(selector: &'s Selector) -> Self {
        Self {
            text: &selector.annotation_selector,
            field: "annotations",
            read: OnceCell::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn matches(&self, node: &Node) -> Result<bool> {
        if self.is_empty() {
            return Ok(true);
        }
        let selector = if let Some(known) = self.read.get() {
            known
        } else {
            let read = LabelSelector::parse(self.text);
            let read = read.map_err(|error| Error::new(in_kyamls_words(&error.0)))?;
            self.read.get_or_init(|| read)
        };
        let map = node.metadata().and_then(|meta| meta.get(self.field));
        Ok(selector.matches_with(|key| map?.get(key).map(|it| it.raw().as_str())))
    }
}

/// kyaml has the parser of an older Kubernetes.
fn in_kyamls_words(error: &str) -> String {
    const UNABLE: &str = "unable to parse requirement: ";
    const INVALID: &str = "Invalid value: ";
    let error = error
        .replace(
            "expected: in, notin, =, ==, !=, gt, lt",
            "expected: '=', '!=', '==', 'in', notin'",
        )
        .replace("63 bytes", "63 characters")
        .replace("253 bytes", "253 characters")
        .replace(": a valid label key must", ": a qualified name must")
        .replace("a lowercase RFC 1123 subdomain", "a DNS-1123 subdomain");
    let Some(rest) = error.strip_prefix(UNABLE) else {
        return error;
    };
    if let Some(wrong) = rest.strip_prefix("<nil>: ") {
        let wrong = wrong.strip_prefix(INVALID).unwrap_or(wrong);
        return format!("{UNABLE}invalid label key {wrong}");
    }
    let value = rest.trim_start_matches('[').strip_prefix("values[");
    let Some((place, wrong)) = value.and_then(|it| it.split_once(INVALID)) else {
        return error;
    };
    if let Some(at) = wrong.find("for 'Gt'") {
        let end = wrong[at..]
            .find("an integer")
            .map_or(wrong.len(), |it| at + it + 10);
        return format!("{UNABLE}{}", &wrong[at..end]);
    }
    // `0][key]: `
    let key = place.split_once("][").map_or("", |(_, key)| key);
    let key = key.trim_end_matches("]: ");
    match wrong.split_once("\": ") {
        Some((value, why)) => {
            format!("{UNABLE}invalid label value: {value}\": at key: {key:?}: {why}")
        }
        None => error,
    }
}
