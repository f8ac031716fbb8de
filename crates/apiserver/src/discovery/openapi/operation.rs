//! What can be done at a path, before it is written in one of the two versions of `OpenAPI`.

use meta::gvk::GroupVersionKind;

use super::parameters::Parameter;

/// A path and its operations, in the order of documents.
#[derive(Debug)]
pub(super) struct Path {
    pub path: String,
    pub operations: Vec<Operation>,
}

#[derive(Debug)]
pub(super) struct Operation {
    pub method: &'static str,
    pub action: Option<&'static str>,
    pub id: String,
    pub tag: String,
    pub text: String,
    /// In order of their names.
    pub parameters: Vec<Parameter>,
    pub body: Option<Body>,
    pub consumes: &'static [&'static str],
    pub produces: &'static [&'static str],
    /// By code.
    pub answers: Vec<(&'static str, Answer)>,
    pub kind: Option<GroupVersionKind>,
}

#[derive(Debug)]
pub(super) struct Body {
    /// The name of its type.
    pub of: String,
    pub required: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Answer {
    Text,
    Type(String),
}

impl Path {
    /// Sorts the operations as documents have them, and gives those parameters that all of them take.
    pub(super) fn common(&mut self) -> Vec<Parameter> {
        let order = ["get", "put", "post", "delete", "options", "head", "patch"];
        let rank = |it: &Operation| order.iter().position(|method| *method == it.method);
        self.operations.sort_by_key(rank);
        let Some((first, others)) = self.operations.split_first() else {
            return Vec::new();
        };
        let all_take = |one: &&Parameter| others.iter().all(|it| it.parameters.contains(one));
        let common: Vec<_> = first.parameters.iter().filter(all_take).cloned().collect();
        for operation in &mut self.operations {
            operation.parameters.retain(|it| !common.contains(it));
        }
        common
    }
}

/// A name that may stand in an operation's: punctuation goes, and what follows it is written large.
pub(super) fn camel(name: &str, first_large: bool) -> String {
    let mut out = String::with_capacity(name.len());
    let mut large = first_large;
    for (at, letter) in name.char_indices() {
        if !(letter.is_alphabetic() || letter == '_' || at != 0 && letter.is_numeric()) {
            large = true;
        } else if std::mem::take(&mut large) {
            out.extend(letter.to_uppercase());
        } else {
            out.push(letter);
        }
    }
    out
}

/// How the group is called in operations and tags.
pub(super) fn group_name(group: &str) -> &str {
    match group {
        "" => "core",
        _ => group.strip_suffix(".k8s.io").unwrap_or(group),
    }
}

pub(super) fn tag(group: &str, version: &str) -> String {
    format!(
        "{}_{}",
        camel(group_name(group), false),
        camel(version, false)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_upstream_makes_them() {
        for (name, large, want) in [
            ("flowcontrol.apiserver", true, "FlowcontrolApiserver"),
            ("openapi.example.com", false, "openapiExampleCom"),
            ("v1beta1", true, "V1beta1"),
            ("1x", true, "X"),
            ("snake_case-x", true, "Snake_caseX"),
        ] {
            assert_eq!(camel(name, large), want);
        }
        assert_eq!(
            tag("rbac.authorization.k8s.io", "v1"),
            "rbacAuthorization_v1"
        );
        assert_eq!(tag("", "v1"), "core_v1");
    }
}
