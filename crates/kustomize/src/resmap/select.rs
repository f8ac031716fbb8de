//! Selecting by patterns, labels and annotations.

use std::borrow::Cow;

use regex::Regex;

use super::ResMap;
use super::meta_selector::MetaSelector;
use crate::error::Result;
use crate::id::Gvk;
use crate::regexp;
use crate::types::Selector;

/// A pattern that must match as a whole; one without special characters is compared.
pub(crate) enum Pattern {
    Any,
    Text(String),
    Regex(Regex),
}

pub(crate) fn anchored(pattern: &str) -> Result<Pattern> {
    if pattern.is_empty() {
        return Ok(Pattern::Any);
    }
    let plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'/');
    if pattern.bytes().all(plain) {
        return Ok(Pattern::Text(pattern.to_owned()));
    }
    let regex = regexp::compile(&format!("^(?:{pattern})$"))?;
    Ok(Pattern::Regex(regex))
}

impl Pattern {
    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Text(wanted) => wanted == text,
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

pub(crate) struct SelectorRegex {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
}

impl SelectorRegex {
    pub(crate) fn new(selector: &Selector) -> Result<Self> {
        Ok(Self {
            group: anchored(&selector.group)?,
            version: anchored(&selector.version)?,
            kind: anchored(&selector.kind)?,
            name: anchored(&selector.name)?,
            namespace: anchored(&selector.namespace)?,
        })
    }

    pub(crate) fn matches_gvk(&self, gvk: &Gvk) -> bool {
        self.group.matches(&gvk.group)
            && self.version.matches(&gvk.version)
            && self.kind.matches(&gvk.kind)
    }

    pub(crate) fn matches_name(&self, name: &str) -> bool {
        self.name.matches(name)
    }

    pub(crate) fn matches_namespace(&self, namespace: &str) -> bool {
        self.namespace.matches(namespace)
    }
}

impl ResMap {
    /// The positions of those that a selector selects, by their first or their current id.
    pub(crate) fn select(&self, selector: &Selector) -> Result<Vec<usize>> {
        let regex = SelectorRegex::new(selector)?;
        let labels = MetaSelector::labels(selector);
        let annotations = MetaSelector::annotations(selector);
        let mut found = Vec::new();
        for (at, resource) in self.list.iter().enumerate() {
            // Mostly the kind alone decides.
            let kind = resource.node.get("kind").map_or("", |it| it.raw().as_str());
            if !regex.kind.matches(kind) {
                continue;
            }
            if let Pattern::Text(name) = &regex.name
                && !resource.may_be_called(name)
            {
                continue;
            }
            let current = resource.current_id();
            if !regex.matches_gvk(&current.gvk) {
                continue;
            }
            let mut original = Cow::Borrowed(&current);
            let mut first = || {
                if matches!(original, Cow::Borrowed(_)) {
                    original = Cow::Owned(resource.original_id());
                }
                original.clone().into_owned()
            };
            let by_name = regex.matches_name(&current.name) || regex.matches_name(&first().name);
            if !by_name {
                continue;
            }
            let by_namespace = matches!(regex.namespace, Pattern::Any)
                || regex.matches_namespace(&current.effective_namespace())
                || regex.matches_namespace(&first().effective_namespace());
            if by_namespace
                && labels.matches(&resource.node)?
                && annotations.matches(&resource.node)?
            {
                found.push(at);
            }
        }
        Ok(found)
    }
}
