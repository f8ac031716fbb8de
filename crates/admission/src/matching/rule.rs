//! Which requests a rule means.

use json::Value;
use meta::gvk::GroupVersionResource;

use crate::Operation;
use crate::read::{items, text};

#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    /// Resource and subresource.
    resources: Vec<(String, String)>,
    scope: Scope,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scope {
    #[default]
    All,
    Namespaced,
    Cluster,
    /// None that is known.
    None,
}

/// What rules are held against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub operation: Operation,
    pub resource: &'a GroupVersionResource,
    pub subresource: &'a str,
    pub namespace: &'a str,
}

impl Rule {
    pub(crate) fn new(rule: &Value) -> Self {
        let texts = |key| {
            let all = items(rule, &[key]).iter().filter_map(Value::as_str);
            all.map(str::to_owned).collect::<Vec<_>>()
        };
        let resources = texts("resources").into_iter().map(|it| {
            let (resource, sub) = it.split_once('/').unwrap_or((&it, ""));
            (resource.to_owned(), sub.to_owned())
        });
        Self {
            operations: texts("operations"),
            groups: texts("apiGroups"),
            versions: texts("apiVersions"),
            resources: resources.collect(),
            scope: match text(rule, &["scope"]) {
                "" | "*" => Scope::All,
                "Namespaced" => Scope::Namespaced,
                "Cluster" => Scope::Cluster,
                _ => Scope::None,
            },
        }
    }

    pub(crate) fn matches(&self, asked: &Asked<'_>) -> bool {
        let resource = asked.resource;
        self.has_scope(asked)
            && self.has_operation(asked.operation)
            && any(&self.groups, &resource.group)
            && any(&self.versions, &resource.version)
            && self.resources.iter().any(|(main, sub)| {
                (main == "*" || *main == resource.resource)
                    && (sub == "*" || sub == asked.subresource)
            })
    }

    pub(crate) fn has_operation(&self, operation: Operation) -> bool {
        any(&self.operations, operation.as_str())
    }

    /// Without subresources.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &str> {
        self.resources.iter().map(|it| &*it.0)
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|it| &**it)
    }

    /// A Namespace is of the cluster, though a request for it names a namespace: itself.
    fn has_scope(&self, asked: &Asked<'_>) -> bool {
        let resource = asked.resource;
        let is_namespace = resource.group.is_empty() && resource.resource == "namespaces";
        let in_cluster = is_namespace || asked.namespace.is_empty();
        match self.scope {
            Scope::All => true,
            Scope::Namespaced => !in_cluster,
            Scope::Cluster => in_cluster,
            Scope::None => false,
        }
    }
}

fn any(allowed: &[String], asked: &str) -> bool {
    allowed.iter().any(|it| it == "*" || it == asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    /// Operation, group, version, resource and scope of a rule; what is asked, and where; whether the rule means it.
    const CASES: &str = "
        CREATE - v1 pods *              CREATE -/v1/pods/ ns true
        CREATE - v1 pods *              UPDATE -/v1/pods/ ns false
        * - v1 pods *                   DELETE -/v1/pods/ ns true
        * apps v1 pods *                CREATE -/v1/pods/ ns false
        * * v1 deployments *            CREATE apps/v1/deployments/ ns true
        * * v2 deployments *            CREATE apps/v1/deployments/ ns false
        * * * * *                       CREATE -/v1/pods/ ns true
        * * * * *                       CREATE -/v1/pods/status ns false
        * * * */* *                     CREATE -/v1/pods/status ns true
        * * * */* *                     CREATE -/v1/pods/ ns true
        * * * pods/* *                  CREATE -/v1/pods/exec ns true
        * * * pods/exec *               CREATE -/v1/pods/exec ns true
        * * * */scale *                 CREATE -/v1/pods/exec ns false
        * * * * Namespaced              CREATE -/v1/pods/ ns true
        * * * * Cluster                 CREATE -/v1/pods/ ns false
        * * * * Cluster                 CREATE -/v1/nodes/ - true
        * * * * Namespaced              CREATE -/v1/nodes/ - false
        * * * * Namespaced              CREATE -/v1/namespaces/ ns false
        * * * * Cluster                 CREATE -/v1/namespaces/ ns true
        * * * * Sometimes               CREATE -/v1/pods/ ns false";

    #[test]
    fn rules_and_requests() {
        let lines = CASES.lines().filter(|it| !it.trim().is_empty());
        for line in lines {
            let words = line.split_whitespace();
            let words: Vec<&str> = words.map(|it| if it == "-" { "" } else { it }).collect();
            let [
                ops,
                groups,
                versions,
                resources,
                scope,
                op,
                what,
                namespace,
                want,
            ] = words[..]
            else {
                panic!("{line}");
            };
            let rule = Rule::new(&json!({
                "operations": [ops], "apiGroups": [groups], "apiVersions": [versions],
                "resources": [resources], "scope": scope,
            }));
            let parts: Vec<&str> = what.split('/').collect();
            let asked = Asked {
                operation: match op {
                    "CREATE" => Operation::Create,
                    "UPDATE" => Operation::Update,
                    _ => Operation::Delete,
                },
                resource: &GroupVersionResource::new(
                    parts[0].trim_matches('-'),
                    parts[1],
                    parts[2],
                ),
                subresource: parts[3],
                namespace,
            };
            assert_eq!(rule.matches(&asked).to_string(), want, "{line}");
        }
    }
}
