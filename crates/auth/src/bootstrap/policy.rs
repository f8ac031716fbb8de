//! The table of defaults, as objects.

use json::{Object, Value, json};

use crate::rbac::{GROUP, Rule};

const TABLE: &str = include_str!("policy.txt");
const AGGREGATE: &str = "rbac.authorization.k8s.io/aggregate-to-";
const CONTROLLER: &str = "system:controller:";

/// One default object.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    pub kind: &'static str,
    pub object: Value,
}

/// All defaults: `ClusterRoles`, Roles, then bindings, as upstream creates them.
pub fn bootstrap() -> Vec<Bootstrap> {
    let mut all: Vec<Bootstrap> = Vec::new();
    let mut bindings = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with(' ') {
            let rules = all.last_mut().and_then(|it| it.object.get_mut("rules"));
            add_rule(rules, &rule(line));
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["ClusterRole", name, ref notes @ ..] => {
                all.push(role("ClusterRole", "", name, notes));
            }
            ["Controller", name] => {
                let full = format!("{CONTROLLER}{name}");
                all.push(role("ClusterRole", "", &full, &[]));
                let subject = format!("ServiceAccount:kube-system/{name}");
                bindings.push(binding("ClusterRoleBinding", "", &full, &full, &[&subject]));
            }
            ["Role", path] => {
                let (namespace, name) = path.split_once('/').unwrap_or(("", path));
                all.push(role("Role", namespace, name, &[]));
            }
            ["ClusterRoleBinding", name, role, ref subjects @ ..] => {
                bindings.push(binding("ClusterRoleBinding", "", name, role, subjects));
            }
            ["RoleBinding", path, role, ref subjects @ ..] => {
                let (namespace, name) = path.split_once('/').unwrap_or(("", path));
                bindings.push(binding("RoleBinding", namespace, name, role, subjects));
            }
            _ => {}
        }
    }
    all.append(&mut bindings);
    all
}

/// What the Node mode allows all kubelets alike.
pub fn node_rules() -> Vec<Rule> {
    let mut rows = TABLE
        .lines()
        .skip_while(|line| *line != "ClusterRole system:node");
    rows.next();
    rows.take_while(|line| line.starts_with(' '))
        .map(rule)
        .collect()
}

fn rule(line: &str) -> Rule {
    let list = |text: &str| {
        let items = text.split(',');
        items
            .map(|it| if it == "-" { "" } else { it }.to_owned())
            .collect()
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        [verbs, urls] => Rule {
            verbs: list(verbs),
            non_resource_urls: list(urls),
            ..Rule::default()
        },
        [verbs, groups, resources, ref names @ ..] => Rule {
            verbs: list(verbs),
            api_groups: list(groups),
            resources: list(resources),
            resource_names: names.first().map_or_else(Vec::new, |names| list(names)),
            ..Rule::default()
        },
        _ => Rule::default(),
    }
}

fn add_rule(rules: Option<&mut Value>, rule: &Rule) {
    match rules {
        Some(Value::Array(rules)) => rules.push(rule.to_value()),
        Some(rules) => *rules = Value::Array(vec![rule.to_value()]),
        None => {}
    }
}

fn role(kind: &'static str, namespace: &str, name: &str, notes: &[&str]) -> Bootstrap {
    let mut labels = Object::new();
    let mut selectors = Vec::new();
    for note in notes {
        if let Some(target) = note.strip_prefix("to-") {
            labels.insert(format!("{AGGREGATE}{target}"), "true");
        } else if let Some(source) = note.strip_prefix("from-") {
            let mut wanted = Object::new();
            wanted.insert(format!("{AGGREGATE}{source}"), "true");
            selectors.push(json!({"matchLabels": wanted}));
        }
    }
    let mut object = object(kind, namespace, name, labels);
    object.insert("rules", Value::Null);
    if !selectors.is_empty() {
        object.insert(
            "aggregationRule",
            json!({"clusterRoleSelectors": selectors}),
        );
    }
    let object = object.into();
    Bootstrap { kind, object }
}

fn binding(
    kind: &'static str,
    namespace: &str,
    name: &str,
    role: &str,
    subjects: &[&str],
) -> Bootstrap {
    let mut object = object(kind, namespace, name, Object::new());
    let role_kind = if kind == "RoleBinding" {
        "Role"
    } else {
        "ClusterRole"
    };
    object.insert(
        "roleRef",
        json!({"apiGroup": GROUP, "kind": role_kind, "name": role}),
    );
    if !subjects.is_empty() {
        let subjects: Value = subjects.iter().map(|it| subject(it)).collect();
        object.insert("subjects", subjects);
    }
    let object = object.into();
    Bootstrap { kind, object }
}

fn subject(text: &str) -> Value {
    let (kind, name) = text.split_once(':').unwrap_or((text, ""));
    if let Some((namespace, name)) = name.split_once('/') {
        json!({"kind": kind, "name": name, "namespace": namespace})
    } else {
        json!({"kind": kind, "apiGroup": GROUP, "name": name})
    }
}

fn object(kind: &str, namespace: &str, name: &str, mut labels: Object) -> Object {
    labels.insert("kubernetes.io/bootstrapping", "rbac-defaults");
    labels.sort_keys();
    let mut metadata = Object::new();
    metadata.insert("name", name);
    if !namespace.is_empty() {
        metadata.insert("namespace", namespace);
    }
    metadata.insert("labels", labels);
    metadata.insert(
        "annotations",
        json!({"rbac.authorization.kubernetes.io/autoupdate": "true"}),
    );
    let mut object = Object::new();
    object.insert("kind", kind);
    object.insert("apiVersion", "rbac.authorization.k8s.io/v1");
    object.insert("metadata", metadata);
    object
}
