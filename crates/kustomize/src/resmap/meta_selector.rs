//! Selecting by labels, and by annotations as if they were labels.

use std::cell::OnceCell;

use meta::selector::{Expected, LabelSelector, ParseError};

use crate::error::{Error, Result, quote};
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
            let read = read.map_err(|error| Error::new(in_kyamls_words(&error)))?;
            self.read.get_or_init(|| read)
        };
        let map = node.metadata().and_then(|meta| meta.get(self.field));
        Ok(selector.matches_with(|key| map?.get(key).map(|it| it.raw().as_str())))
    }
}

/// kyaml has the parser of an older Kubernetes.
fn in_kyamls_words(error: &ParseError) -> String {
    let text = match error {
        ParseError::Requirement(inner) => {
            let why = match &**inner {
                ParseError::Key(error) => {
                    let key = error.value.as_str().unwrap_or_default();
                    format!("invalid label key {}: {}", quote(key), error.detail)
                }
                ParseError::Invalid(errors) => invalid(errors),
                other => words(other),
            };
            format!("unable to parse requirement: {why}")
        }
        other => words(other),
    };
    // Of rules for names, which have other words since.
    text.replace("63 bytes", "63 characters")
        .replace("253 bytes", "253 characters")
        .replace(": a valid label key must", ": a qualified name must")
        .replace("a lowercase RFC 1123 subdomain", "a DNS-1123 subdomain")
}

fn words(error: &ParseError) -> String {
    match error {
        ParseError::Unexpected {
            found,
            expected: Expected::Operator,
        } => format!("found '{found}', expected: '=', '!=', '==', 'in', notin'"),
        other => other.to_string(),
    }
}

/// It stops at the first value that is wrong: `values[0]` that is no number, `values[0][key]` that is no label.
fn invalid(errors: &[meta::field::Error]) -> String {
    let Some(first) = errors.first() else {
        return String::new();
    };
    let Some(place) = first.field.strip_prefix("values[") else {
        return meta::field::aggregate(errors);
    };
    let Some((_, key)) = place.split_once("][") else {
        return first.detail.clone();
    };
    let value = quote(first.value.as_str().unwrap_or_default());
    let key = quote(key.trim_end_matches(']'));
    format!(
        "invalid label value: {value}: at key: {key}: {}",
        first.detail
    )
}
