//! Hot path. Which `FlowSchema` a request matches.

use json::Value;

use crate::bootstrap;
use crate::config::{CATCH_ALL, EXEMPT, FlowSchema, text};

/// What a request is classified by.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub user: &'a str,
    pub groups: &'a [String],
    /// In small letters.
    pub verb: &'a str,
    /// `None` if it is about no resource: then the path counts.
    pub resource: Option<Resource<'a>>,
    pub path: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub struct Resource<'a> {
    pub group: &'a str,
    pub resource: &'a str,
    pub subresource: &'a str,
    pub namespace: &'a str,
}

impl FlowSchema {
    pub fn matches(&self, request: &Request<'_>) -> bool {
        self.rules.iter().any(|it| it.matches(request))
    }
}

/// The order in which schemas are tried.
pub fn order(schemas: &mut [FlowSchema]) {
    schemas.sort_by(|a, b| (a.precedence, &a.name).cmp(&(b.precedence, &b.name)));
}

/// Adds the mandatory schemas that are missing: `exempt` is tried first, `catch-all` last.
pub fn with_mandatory(mut schemas: Vec<FlowSchema>) -> Vec<FlowSchema> {
    order(&mut schemas);
    for (name, at_end) in [(EXEMPT, false), (CATCH_ALL, true)] {
        if schemas.iter().any(|it| it.name == name) {
            continue;
        }
        let all = bootstrap::flow_schemas();
        let found = all.iter().find(|it| it.is_mandatory && it.name() == name);
        let made = found.map(|it| FlowSchema::from_value(&it.object));
        let place = if at_end { schemas.len() } else { 0 };
        schemas.splice(place..place, made);
    }
    schemas
}

/// One of a schema's rules: some subjects, and what they may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    subjects: Vec<Subject>,
    resources: Vec<ResourceRule>,
    paths: Vec<PathRule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    AnyUser,
    User(String),
    AnyGroup,
    Group(String),
    /// Of all service accounts of a namespace.
    UserPrefix(String),
}

/// A list of names, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Names {
    All,
    Of(Vec<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ResourceRule {
    verbs: Names,
    groups: Names,
    resources: Names,
    /// Also what is in no namespace.
    cluster_scope: bool,
    namespaces: Names,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PathRule {
    verbs: Names,
    /// Each with what everything below it begins with.
    paths: Option<Vec<(String, String)>>,
}

impl Rule {
    pub(crate) fn from_value(rule: &Value) -> Self {
        let list = |field: &str| {
            let all = rule.get(field).and_then(Value::as_array);
            all.into_iter().flatten()
        };
        Self {
            subjects: list("subjects").filter_map(Subject::from_value).collect(),
            resources: list("resourceRules")
                .map(ResourceRule::from_value)
                .collect(),
            paths: list("nonResourceRules").map(PathRule::from_value).collect(),
        }
    }

    fn matches(&self, request: &Request<'_>) -> bool {
        if !self.subjects.iter().any(|it| it.matches(request)) {
            return false;
        }
        match &request.resource {
            Some(resource) => (self.resources.iter()).any(|it| it.matches(request.verb, resource)),
            None => (self.paths.iter()).any(|it| it.matches(request.verb, request.path)),
        }
    }
}

impl Subject {
    fn from_value(subject: &Value) -> Option<Self> {
        let named = |part: &str| subject.str_at(&[part, "name"]);
        Some(match subject.str_at(&["kind"])? {
            "User" => match named("user")? {
                "*" => Self::AnyUser,
                name => Self::User(name.to_owned()),
            },
            "Group" => match named("group")? {
                "*" => Self::AnyGroup,
                name => Self::Group(name.to_owned()),
            },
            "ServiceAccount" => {
                let namespace = text(subject, &["serviceAccount", "namespace"]);
                let prefix = format!("system:serviceaccount:{namespace}:");
                match named("serviceAccount")? {
                    "*" => Self::UserPrefix(prefix),
                    name => Self::User(prefix + name),
                }
            }
            _ => return None,
        })
    }

    fn matches(&self, request: &Request<'_>) -> bool {
        match self {
            Self::AnyUser | Self::AnyGroup => true,
            Self::User(name) => name == request.user,
            Self::Group(name) => request.groups.contains(name),
            Self::UserPrefix(prefix) => request.user.starts_with(prefix.as_str()),
        }
    }
}

impl Names {
    fn from_value(list: Option<&Value>) -> Self {
        let all = list.and_then(Value::as_array).into_iter().flatten();
        let all: Vec<_> = all.filter_map(Value::as_str).map(str::to_owned).collect();
        // Beside other names a star is none.
        if all == ["*"] {
            Self::All
        } else {
            Self::Of(all)
        }
    }

    fn contains(&self, is: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::All => true,
            Self::Of(all) => all.iter().any(|it| is(it)),
        }
    }
}

impl ResourceRule {
    fn from_value(rule: &Value) -> Self {
        let names = |field| Names::from_value(rule.get(field));
        let cluster_scope = rule.get("clusterScope").and_then(Value::as_bool);
        Self {
            verbs: names("verbs"),
            groups: names("apiGroups"),
            resources: names("resources"),
            cluster_scope: cluster_scope.unwrap_or_default(),
            namespaces: names("namespaces"),
        }
    }

    fn matches(&self, verb: &str, asked: &Resource<'_>) -> bool {
        self.verbs.contains(|it| it == verb)
            && self.resources.contains(|it| is_resource(it, asked))
            && self.groups.contains(|it| it == asked.group)
            && match asked.namespace {
                "" => self.cluster_scope,
                namespace => self.namespaces.contains(|it| it == namespace),
            }
    }
}

/// Subresources are named `resource/subresource`.
fn is_resource(name: &str, asked: &Resource<'_>) -> bool {
    if asked.subresource.is_empty() {
        return name == asked.resource;
    }
    let rest = name.strip_prefix(asked.resource);
    rest.and_then(|it| it.strip_prefix('/')) == Some(asked.subresource)
}

impl PathRule {
    fn from_value(rule: &Value) -> Self {
        let paths = match Names::from_value(rule.get("nonResourceURLs")) {
            Names::All => None,
            Names::Of(all) if all.iter().any(|it| it == "*") => None,
            Names::Of(all) => Some(all.into_iter().map(|path| {
                let prefix = path.strip_suffix('*').unwrap_or(&path);
                let below = format!("{}/", prefix.strip_suffix('/').unwrap_or(prefix));
                (path, below)
            })),
        };
        Self {
            verbs: Names::from_value(rule.get("verbs")),
            paths: paths.map(Iterator::collect),
        }
    }

    fn matches(&self, verb: &str, path: &str) -> bool {
        let is_path = match &self.paths {
            None => true,
            Some(all) => {
                (all.iter()).any(|(it, below)| it == path || path.starts_with(below.as_str()))
            }
        };
        is_path && self.verbs.contains(|it| it == verb)
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    const USER: &str = "goodu";

    fn schema(rule: Value) -> FlowSchema {
        FlowSchema::from_value(&json!({"metadata": {"name": "x"}, "spec": {"rules": [rule]}}))
    }

    fn groups() -> Vec<String> {
        vec!["goodg1".into(), "goodg2".into()]
    }

    fn in_namespace(namespace: &str) -> Resource<'_> {
        Resource {
            group: "goodapig",
            resource: "goodrscs",
            subresource: "",
            namespace,
        }
    }

    fn rule(field: &str, value: Value) -> Value {
        let mut rule = json!({
            "verbs": ["goodverb"],
            "apiGroups": ["goodapig"],
            "resources": ["goodrscs"],
            "namespaces": ["goodns"],
        });
        let fields = rule.as_object_mut().unwrap();
        fields.insert(field, value);
        rule
    }

    fn user(name: &str) -> Value {
        json!({"kind": "User", "user": {"name": name}})
    }

    fn group(name: &str) -> Value {
        json!({"kind": "Group", "group": {"name": name}})
    }

    fn matches(rule: Value, resource: Option<Resource<'_>>) -> bool {
        let groups = groups();
        schema(rule).matches(&Request {
            user: USER,
            groups: &groups,
            verb: "goodverb",
            resource,
            path: "/openapi/v2",
        })
    }

    #[test]
    fn subjects_match_by_name_group_and_star() {
        let table = [
            (user("goodu"), true),
            (user("*"), true),
            (user("badu"), false),
            (group("goodg1"), true),
            (group("goodg2"), true),
            (group("*"), true),
            (group("badg"), false),
            (json!({"kind": "Robot", "user": {"name": "*"}}), false),
            (json!({"kind": "User"}), false),
        ];
        for (subject, expected) in table {
            let text = json::to_string(&subject);
            let whole =
                json!({"subjects": [subject], "resourceRules": [(rule("verbs", json!(["*"])))]});
            assert_eq!(
                matches(whole, Some(in_namespace("goodns"))),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn service_accounts_match_by_namespace_and_name() {
        let table = [
            ("system:serviceaccount:ns:a", "ns", "a", true),
            ("system:serviceaccount:ns:b", "ns", "a", false),
            ("system:serviceaccount:ns:b", "ns", "*", true),
            ("system:serviceaccount:nsx:b", "ns", "*", false),
            ("goodu", "ns", "*", false),
        ];
        for (name, namespace, account, expected) in table {
            let subject = json!({"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": account}});
            let paths = json!({"verbs": ["*"], "nonResourceURLs": ["*"]});
            let schema = schema(json!({"subjects": [subject], "nonResourceRules": [paths]}));
            let request = Request {
                user: name,
                groups: &[],
                verb: "get",
                resource: None,
                path: "/",
            };
            assert_eq!(
                schema.matches(&request),
                expected,
                "{name} {namespace} {account}"
            );
        }
    }

    #[test]
    fn resources_match_field_by_field() {
        let table = [
            ("verbs", json!(["goodverb"]), true),
            ("verbs", json!(["*"]), true),
            ("verbs", json!(["badverb"]), false),
            ("verbs", json!(["badverb", "*"]), false),
            ("apiGroups", json!(["*"]), true),
            ("apiGroups", json!(["badapig"]), false),
            ("resources", json!(["*"]), true),
            ("resources", json!(["badrscs", "goodrscs"]), true),
            ("resources", json!(["goodrscs/status"]), false),
            ("namespaces", json!(["*"]), true),
            ("namespaces", json!(["badns"]), false),
            ("clusterScope", json!(true), true),
        ];
        for (field, value, expected) in table {
            let text = json::to_string(&value);
            let whole =
                json!({"subjects": [(user(USER))], "resourceRules": [(rule(field, value))]});
            assert_eq!(
                matches(whole, Some(in_namespace("goodns"))),
                expected,
                "{field} {text}"
            );
        }
        for scope in [true, false] {
            let whole = json!({"subjects": [(user(USER))], "resourceRules": [(rule("clusterScope", json!(scope)))]});
            assert_eq!(matches(whole, Some(in_namespace(""))), scope);
        }
        let status = Resource {
            subresource: "status",
            ..in_namespace("goodns")
        };
        for (name, expected) in [
            ("goodrscs/status", true),
            ("goodrscs", false),
            ("goodrscs/statusx", false),
        ] {
            let whole = json!({"subjects": [(user(USER))], "resourceRules": [(rule("resources", json!([name])))]});
            assert_eq!(matches(whole, Some(status)), expected, "{name}");
        }
    }

    #[test]
    fn paths_match_whole_and_below() {
        let table = [
            ("goodverb", "/openapi/v2", true),
            ("*", "/openapi/v2", true),
            ("goodverb", "*", true),
            ("goodverb", "/openapi/*", true),
            ("goodverb", "/openapi", true),
            ("goodverb", "/open", false),
            ("goodverb", "/open*", false),
            ("badverb", "/openapi/v2", false),
            ("goodverb", "/closedapi/v2", false),
        ];
        for (verb, path, expected) in table {
            let paths = json!({"verbs": [verb], "nonResourceURLs": [path]});
            let whole = json!({"subjects": [(user(USER))], "nonResourceRules": [paths]});
            assert_eq!(matches(whole, None), expected, "{verb} {path}");
        }
    }

    #[test]
    fn schemas_are_tried_by_precedence_then_name() {
        let named = |name: &str, precedence: i64| {
            let meta = json!({"name": name});
            FlowSchema::from_value(
                &json!({"metadata": meta, "spec": {"matchingPrecedence": precedence}}),
            )
        };
        let all = with_mandatory(vec![named("b", 5), named("c", 1), named("a", 5)]);
        let names: Vec<_> = all.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["exempt", "c", "a", "b", "catch-all"]);
    }
}
