//! A `PolicyRule`, and what it allows.

use json::{Object, Value};

use crate::Attributes;
use crate::quote::quote_all;

/// Empty lists allow nothing, but for `resource_names`, which then means any name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    pub verbs: Vec<String>,
    pub api_groups: Vec<String>,
    pub resources: Vec<String>,
    pub resource_names: Vec<String>,
    pub non_resource_urls: Vec<String>,
}

impl Rule {
    /// What is not a list of strings reads as empty: it can only allow less.
    pub fn of(value: &Value) -> Self {
        let list = |key| strings(value.get(key));
        Self {
            verbs: list("verbs"),
            api_groups: list("apiGroups"),
            resources: list("resources"),
            resource_names: list("resourceNames"),
            non_resource_urls: list("nonResourceURLs"),
        }
    }

    /// The `rules` of a Role or `ClusterRole`.
    pub fn all_of(role: &Value) -> Vec<Self> {
        let rules = role.get("rules").and_then(Value::as_array);
        rules.map_or_else(Vec::new, |rules| rules.iter().map(Self::of).collect())
    }

    /// `verbs` is always there, the rest where it says something.
    pub fn to_value(&self) -> Value {
        let mut rule = Object::new();
        rule.insert("verbs", self.verbs.iter().collect::<Value>());
        let rest = [
            ("apiGroups", &self.api_groups),
            ("resources", &self.resources),
            ("resourceNames", &self.resource_names),
            ("nonResourceURLs", &self.non_resource_urls),
        ];
        for (key, list) in rest {
            if !list.is_empty() {
                rule.insert(key, list.iter().collect::<Value>());
            }
        }
        rule.into()
    }

    pub fn allows(&self, attributes: &Attributes) -> bool {
        if !has_or_all(&self.verbs, attributes.verb) {
            return false;
        }
        if !attributes.is_resource_request {
            let urls = &self.non_resource_urls;
            return urls.iter().any(|url| url_covers(url, attributes.path));
        }
        has_or_all(&self.api_groups, attributes.api_group)
            && self.has_resource(attributes.resource, attributes.subresource)
            && (self.resource_names.is_empty() || has(&self.resource_names, attributes.name))
    }

    fn has_resource(&self, resource: &str, subresource: &str) -> bool {
        self.resources.iter().any(|it| {
            if it == "*" {
                return true;
            }
            if subresource.is_empty() {
                return it == resource;
            }
            let base = it
                .strip_suffix(subresource)
                .and_then(|base| base.strip_suffix('/'));
            base.is_some_and(|base| base == "*" || base == resource)
        })
    }

    /// As refusals to escalate name it.
    pub fn compact(&self) -> String {
        let parts = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let parts = parts.iter().filter(|(_, list)| !list.is_empty());
        let parts: Vec<_> = parts
            .map(|(name, list)| format!("{name}:{}", quote_all(list)))
            .collect();
        format!("{{{}}}", parts.join(", "))
    }
}

pub(super) fn has(list: &[String], it: &str) -> bool {
    list.iter().any(|other| other == it)
}

pub(super) fn has_or_all(list: &[String], it: &str) -> bool {
    list.iter().any(|other| other == "*" || other == it)
}

/// A trailing `*` matches any rest.
pub(super) fn url_covers(owner: &str, path: &str) -> bool {
    owner == path || owner.ends_with('*') && path.starts_with(owner.trim_end_matches('*'))
}

pub(crate) fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array);
    let items = items.into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}
