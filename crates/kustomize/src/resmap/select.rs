//! Selecting by patterns, labels and annotations.

use std::borrow::Cow;

use regex::Regex;

use super::ResMap;
use crate::error::{Error, Result};
use crate::id::Gvk;
use crate::node::meta_map_matches;
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
        let labels = label_selector(&selector.label_selector)?;
        let annotations = label_selector(&selector.annotation_selector)?;
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
                && meta_map_matches(&resource.node, "labels", &labels)
                && meta_map_matches(&resource.node, "annotations", &annotations)
            {
                found.push(at);
            }
        }
        Ok(found)
    }
}

/// One requirement of a label selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) key: String,
    pub(crate) operator: Operator,
    pub(crate) values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    In,
    NotIn,
    Exists,
    Missing,
    Greater,
    Less,
}

impl Requirement {
    pub(crate) fn matches(&self, found: Option<&str>) -> bool {
        let is_in = |text: &str| self.values.iter().any(|it| it == text);
        match self.operator {
            Operator::In => found.is_some_and(is_in),
            Operator::NotIn => !found.is_some_and(is_in),
            Operator::Exists => found.is_some(),
            Operator::Missing => found.is_none(),
            Operator::Greater | Operator::Less => {
                let number = found.and_then(|it| it.parse::<i64>().ok());
                let bound = self.values.first().and_then(|it| it.parse::<i64>().ok());
                match (number, bound) {
                    (Some(a), Some(b)) if self.operator == Operator::Greater => a > b,
                    (Some(a), Some(b)) => a < b,
                    _ => false,
                }
            }
        }
    }
}

/// `a=b,c!=d,e in (f, g),!h,i`, as Kubernetes reads it.
pub(crate) fn label_selector(text: &str) -> Result<Vec<Requirement>> {
    let mut all = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = end_of_requirement(rest);
        let (part, after) = rest.split_at(end);
        all.push(requirement(part.trim()).ok_or_else(|| {
            Error::new(format!(
                "unable to parse requirement: <nil>: Invalid value: {part:?}"
            ))
        })?);
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
    }
    Ok(all)
}

/// Commas in parentheses do not count.
fn end_of_requirement(text: &str) -> usize {
    let mut open = false;
    let end = text.find(|it| {
        open = match it {
            '(' => true,
            ')' => false,
            _ => open,
        };
        it == ',' && !open
    });
    end.unwrap_or(text.len())
}

fn requirement(text: &str) -> Option<Requirement> {
    let new = |key: &str, operator, values: Vec<String>| {
        let key = key.trim();
        let valid = !key.is_empty()
            && key
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.' | b'/'));
        valid.then(|| Requirement {
            key: key.to_owned(),
            operator,
            values,
        })
    };
    if let Some(key) = text.strip_prefix('!') {
        return new(key, Operator::Missing, Vec::new());
    }
    if let Some(inner) = text.strip_suffix(')') {
        let (head, list) = inner.split_once('(')?;
        let values = list.split(',').map(|it| it.trim().to_owned()).collect();
        let (key, word) = head.trim().split_once(char::is_whitespace)?;
        let operator = match word.trim() {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            _ => return None,
        };
        return new(key, operator, values);
    }
    let split = [
        ("!=", Operator::NotIn),
        ("==", Operator::In),
        ("=", Operator::In),
        (">", Operator::Greater),
        ("<", Operator::Less),
    ];
    for (sign, operator) in split {
        if let Some((key, value)) = text.split_once(sign) {
            return new(key, operator, vec![value.trim().to_owned()]);
        }
    }
    new(text, Operator::Exists, Vec::new())
}
