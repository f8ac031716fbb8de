//! The words of a refusal. The apiserver makes a Status of them: reason Forbidden, code 403.

use crate::Attributes;
use crate::quote::quote;

/// The whole message of the Status, with the kind, the name and what was asked.
pub fn message(attributes: &Attributes, reason: &str) -> String {
    let mut what = sanitize(&asked(attributes));
    if !reason.is_empty() {
        what = format!("{what}: {reason}");
    }
    of(
        attributes.api_group,
        attributes.resource,
        attributes.name,
        &what,
    )
}

/// The message of a refusal that names a resource, as upstream's `NewForbidden` puts it.
pub fn of(api_group: &str, resource: &str, name: &str, error: &str) -> String {
    if resource.is_empty() {
        return format!("forbidden: {error}");
    }
    let dot = if api_group.is_empty() { "" } else { "." };
    if name.is_empty() {
        return format!("{resource}{dot}{api_group} is forbidden: {error}");
    }
    let name = quote(name);
    format!("{resource}{dot}{api_group} {name} is forbidden: {error}")
}

/// What the user may not do.
pub fn asked(attributes: &Attributes) -> String {
    let user = quote(&attributes.user.name);
    let verb = attributes.verb;
    if !attributes.is_resource_request {
        let path = quote(attributes.path);
        return format!("User {user} cannot {verb} path {path}");
    }
    let resource = match attributes.subresource {
        "" => quote(attributes.resource),
        subresource => quote(&format!("{}/{subresource}", attributes.resource)),
    };
    let group = quote(attributes.api_group);
    let scope = match attributes.namespace {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {}", quote(namespace)),
    };
    format!("User {user} cannot {verb} resource {resource} in API group {group} {scope}")
}

/// A browser must not read markup out of a message.
fn sanitize(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::User;

    /// The cases of upstream's responsewriters tests.
    #[test]
    fn says_what_was_forbidden() {
        let user = User::new("NAME", &[]);
        let tag = User::new("<u>", &[]);
        let pod = Attributes::resource(&user, "get", "", "pods");
        let cases = [
            (
                pod.namespace("default"),
                "",
                r#"pods is forbidden: User "NAME" cannot get resource "pods" in API group "" in the namespace "default""#,
            ),
            (
                pod.namespace("default").name("x").subresource("log"),
                "why",
                r#"pods "x" is forbidden: User "NAME" cannot get resource "pods/log" in API group "" in the namespace "default": why"#,
            ),
            (
                Attributes::resource(&user, "list", "apps", "deployments"),
                "",
                r#"deployments.apps is forbidden: User "NAME" cannot list resource "deployments" in API group "apps" at the cluster scope"#,
            ),
            (
                Attributes::path(&user, "get", "/whatever"),
                "",
                r#"forbidden: User "NAME" cannot get path "/whatever""#,
            ),
            (
                Attributes::path(&tag, "get", "/a&b"),
                "<kept>",
                r#"forbidden: User "&lt;u&gt;" cannot get path "/a&amp;b": <kept>"#,
            ),
        ];
        for (attributes, reason, expected) in cases {
            assert_eq!(message(&attributes, reason), expected);
        }
    }
}
