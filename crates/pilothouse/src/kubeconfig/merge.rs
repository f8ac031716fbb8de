//! A cluster among those that a kubeconfig knows already.

use json::{Object, Value};

/// Reason a kubeconfig cannot take one more cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    #[error("it is not YAML: {0}")]
    Yaml(String),
    #[error("it is not a kubeconfig")]
    Other,
    #[error("{0} is not a list")]
    NoList(&'static str),
}

/// The text of a kubeconfig with the new cluster, user and context in it, in place of those of the same names, and the
/// new context as the current one. All else stays.
pub fn merge(old: &str, new: &Value) -> Result<String, MergeError> {
    let old = yaml::to_json(old.as_bytes()).map_err(|error| MergeError::Yaml(error.to_string()))?;
    let mut merged = match old {
        Value::Null => Object::new(),
        Value::Object(it) => it,
        _ => return Err(MergeError::Other),
    };
    let kind = merged.get("kind").and_then(Value::as_str);
    if kind.is_some_and(|it| it != "Config") {
        return Err(MergeError::Other);
    }
    for list in ["clusters", "users", "contexts"] {
        let mut items = match merged.get(list) {
            None | Some(Value::Null) => Vec::new(),
            Some(found) => found.as_array().ok_or(MergeError::NoList(list))?.clone(),
        };
        let added = new.get(list).and_then(Value::as_array);
        for item in added.into_iter().flatten() {
            items.retain(|it| it.get("name") != item.get("name"));
            items.push(item.clone());
        }
        merged.insert(list, Value::from_iter(items));
    }
    for field in ["apiVersion", "kind", "current-context"] {
        merged.insert(field, new.get(field).cloned().unwrap_or_default());
    }
    Ok(yaml::value_to_string(&Value::Object(merged)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    fn new(server: &str) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "p", "cluster": {"server": server}}],
            "users": [{"name": "admin@p", "user": {}}],
            "contexts": [{"name": "p", "context": {"cluster": "p", "user": "admin@p"}}],
            "current-context": "p",
        })
    }

    #[test]
    fn what_is_there_stays_and_ours_is_replaced() {
        let first = merge("", &new("https://a")).unwrap();
        assert_eq!(yaml::to_json(first.as_bytes()).unwrap(), new("https://a"));
        let old = "kind: Config\npreferences: {colors: true}\nclusters:\n- {name: other, cluster: {server: https://o}}\n- \
                   {name: p, cluster: {server: https://a}}\nusers: null\ncurrent-context: other\n";
        let merged = merge(old, &new("https://b")).unwrap();
        let merged = yaml::to_json(merged.as_bytes()).unwrap();
        let clusters = merged.get("clusters").and_then(Value::as_array).unwrap();
        let servers: Vec<_> = clusters
            .iter()
            .map(|it| it.str_at(&["cluster", "server"]).unwrap())
            .collect();
        assert_eq!(servers, ["https://o", "https://b"]);
        assert_eq!(merged.str_at(&["current-context"]), Some("p"));
        assert_eq!(merged.at(&["preferences", "colors"]), Some(&true.into()));
    }

    #[test]
    fn what_is_no_kubeconfig_is_left_alone() {
        let new = new("https://a");
        assert_eq!(merge("- a\n", &new), Err(MergeError::Other));
        assert_eq!(merge("kind: Pod\n", &new), Err(MergeError::Other));
        assert_eq!(merge("users: x\n", &new), Err(MergeError::NoList("users")));
        assert!(matches!(merge("a: [", &new), Err(MergeError::Yaml(_))));
    }
}
