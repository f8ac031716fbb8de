//! Which requests a policy or a binding means: `matchConstraints` and `matchResources`.

use json::Value;
use meta::gvk::{GroupVersionKind, GroupVersionResource};
use meta::selector::LabelSelector;

use crate::Request;
use crate::matching::{Asked, Rule, in_namespace, is_selected, selector};
use crate::read::items;

#[derive(Debug)]
pub(crate) struct Constraints {
    namespaces: Result<LabelSelector, String>,
    objects: Result<LabelSelector, String>,
    rules: Vec<NamedRule>,
    excluded: Vec<NamedRule>,
    equivalent: bool,
}

#[derive(Debug)]
struct NamedRule {
    rule: Rule,
    /// Empty for all.
    names: Vec<String>,
}

/// The names under which a policy sees what is requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matched {
    pub resource: GroupVersionResource,
    pub kind: GroupVersionKind,
}

impl Matched {
    fn own(request: &Request<'_>) -> Self {
        Self {
            resource: request.resource.clone(),
            kind: request.kind.clone(),
        }
    }
}

impl Constraints {
    pub(crate) fn new(value: &Value) -> Result<Self, String> {
        for (key, what) in [
            ("namespaceSelector", "namespace"),
            ("objectSelector", "object"),
        ] {
            if !crate::read::has(value, &[key]) {
                return Err(format!(
                    "a nil {what} selector was passed, please ensure selectors are initialized properly"
                ));
            }
        }
        let rules = |key: &str| items(value, &[key]).iter().map(NamedRule::new).collect();
        Ok(Self {
            namespaces: selector(value, "namespaceSelector"),
            objects: selector(value, "objectSelector"),
            rules: rules("resourceRules"),
            excluded: rules("excludeResourceRules"),
            equivalent: !matches!(super::text(value, "matchPolicy"), "" | "Exact"),
        })
    }

    /// Whether a request is meant. What is wrong with selectors matters only to requests that the rules mean.
    pub(crate) fn matches(
        &self,
        request: &Request<'_>,
        object: &Value,
    ) -> Result<Option<Matched>, String> {
        let namespace = in_namespace(&self.namespaces, request, object);
        if namespace == Ok(false) {
            return Ok(None);
        }
        let selected = is_selected(&self.objects, request, object);
        if selected == Ok(false) {
            return Ok(None);
        }
        if self.by_rules(&self.excluded, request).is_some() {
            return Ok(None);
        }
        let found = if self.rules.is_empty() {
            Matched::own(request)
        } else {
            let Some(found) = self.by_rules(&self.rules, request) else {
                return Ok(None);
            };
            found
        };
        namespace.map_err(|status| status.message)?;
        selected.map_err(|status| status.message)?;
        Ok(Some(found))
    }

    fn by_rules(&self, rules: &[NamedRule], request: &Request<'_>) -> Option<Matched> {
        if rules.is_empty() {
            return None;
        }
        let asked = |resource| Asked {
            operation: request.operation,
            resource,
            subresource: request.subresource,
            namespace: request.namespace,
        };
        let own = asked(request.resource);
        if rules.iter().any(|it| it.matches(&own, request.name)) {
            return Some(Matched::own(request));
        }
        if !self.equivalent {
            return None;
        }
        let others = request
            .kinds
            .equivalents(request.resource, request.subresource);
        for rule in rules {
            for (resource, kind) in &others {
                if resource != request.resource && rule.matches(&asked(resource), request.name) {
                    return Some(Matched {
                        resource: resource.clone(),
                        kind: kind.clone(),
                    });
                }
            }
        }
        None
    }

    /// The rules, for an index.
    pub(super) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|it| &it.rule)
    }
}

impl NamedRule {
    fn new(value: &Value) -> Self {
        let names = items(value, &["resourceNames"]).iter();
        let names = names.filter_map(Value::as_str).map(str::to_owned);
        Self {
            rule: Rule::new(value),
            names: names.collect(),
        }
    }

    fn matches(&self, asked: &Asked<'_>, name: &str) -> bool {
        self.rule.matches(asked)
            && (self.names.is_empty() || self.names.iter().any(|it| it == name))
    }
}
