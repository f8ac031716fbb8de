//! The user of a request.

use std::collections::BTreeMap;

use json::{Object, Value};

pub const ANONYMOUS: &str = "system:anonymous";
pub const AUTHENTICATED: &str = "system:authenticated";
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// Members may do everything, whatever the authorization modes say.
pub const MASTERS: &str = "system:masters";
pub const NODES: &str = "system:nodes";
pub const NODE_PREFIX: &str = "system:node:";
pub const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";
pub const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";

/// A user as the rest of the server sees it, however it was authenticated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    pub name: String,
    /// Empty where the credential knows none.
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// The node that a service account's token names.
    pub fn token_node(&self) -> Option<&str> {
        split_service_account(&self.name)?;
        let names = self.extra.get("authentication.kubernetes.io/node-name")?;
        match &names[..] {
            [name] => Some(name),
            _ => None,
        }
    }

    pub fn new(name: &str, groups: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            groups: groups.iter().map(|&group| group.to_owned()).collect(),
            ..Self::default()
        }
    }

    /// The user of requests without credentials.
    pub fn anonymous() -> Self {
        Self::new(ANONYMOUS, &[UNAUTHENTICATED])
    }

    pub fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|it| it == group)
    }

    /// The name of the node whose kubelet this is; empty if it does not say.
    pub fn node(&self) -> Option<&str> {
        let name = self.name.strip_prefix(NODE_PREFIX);
        name.filter(|_| self.in_group(NODES))
    }

    /// What every proven user gets: `system:authenticated`, unless it, or its opposite, is there already or the user
    /// is anonymous.
    pub fn add_authenticated(&mut self) {
        let told = self.in_group(AUTHENTICATED) || self.in_group(UNAUTHENTICATED);
        if self.name != ANONYMOUS && !told {
            self.groups.push(AUTHENTICATED.to_owned());
        }
    }

    /// The `UserInfo` of authentication.k8s.io/v1; empty fields are left out.
    pub fn to_value(&self) -> Value {
        let mut info = Object::new();
        if !self.name.is_empty() {
            info.insert("username", &self.name);
        }
        if !self.uid.is_empty() {
            info.insert("uid", &self.uid);
        }
        if !self.groups.is_empty() {
            info.insert("groups", self.groups.iter().collect::<Value>());
        }
        if !self.extra.is_empty() {
            let extra = self.extra.iter();
            let extra: Object = extra
                .map(|(key, values)| (key, values.iter().collect::<Value>()))
                .collect();
            info.insert("extra", extra);
        }
        info.into()
    }
}

/// The user name of a service account.
pub fn service_account_name(namespace: &str, name: &str) -> String {
    format!("{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}")
}

/// The groups every service account of the namespace is in.
pub fn service_account_groups(namespace: &str) -> Vec<String> {
    vec![
        SERVICE_ACCOUNTS.to_owned(),
        format!("{SERVICE_ACCOUNTS}:{namespace}"),
    ]
}

/// Namespace and name, if the user name is one a service account could have.
pub fn split_service_account(username: &str) -> Option<(&str, &str)> {
    let rest = username.strip_prefix(SERVICE_ACCOUNT_PREFIX)?;
    let (namespace, name) = rest.split_once(':')?;
    (is_label(namespace) && is_subdomain(name)).then_some((namespace, name))
}

/// The node's name, if the user name is one a kubelet could have.
pub fn split_node(username: &str) -> Option<&str> {
    let name = username.strip_prefix(NODE_PREFIX)?;
    is_subdomain(name).then_some(name)
}

/// A DNS label as RFC 1123 says.
pub(crate) fn is_label(text: &str) -> bool {
    let ends =
        |it: Option<&u8>| it.is_some_and(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && ends(bytes.first())
        && ends(bytes.last())
        && (bytes.iter()).all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || *it == b'-')
}

/// A DNS subdomain as RFC 1123 says; its labels may be longer than 63, as upstream allows.
pub(crate) fn is_subdomain(text: &str) -> bool {
    let ends =
        |it: Option<&u8>| it.is_some_and(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    let middle = |it: &u8| it.is_ascii_lowercase() || it.is_ascii_digit() || *it == b'-';
    text.len() <= 253
        && text.split('.').all(|label| {
            let bytes = label.as_bytes();
            ends(bytes.first()) && ends(bytes.last()) && bytes.iter().all(middle)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_authenticated() {
        let cases: [(&str, &[&str], usize); 4] = [
            ("u", &[], 1),
            ("u", &[AUTHENTICATED], 1),
            ("u", &[UNAUTHENTICATED], 1),
            (ANONYMOUS, &[], 0),
        ];
        for (name, groups, expected) in cases {
            let mut user = User::new(name, groups);
            user.add_authenticated();
            assert_eq!(user.groups.len(), expected, "{name} {groups:?}");
        }
    }

    #[test]
    fn service_account_names() {
        let cases = [
            ("system:serviceaccount:ns:name", Some(("ns", "name"))),
            ("system:serviceaccount:ns:a.b", Some(("ns", "a.b"))),
            ("system:serviceaccount:ns", None),
            ("system:serviceaccount:ns:", None),
            ("system:serviceaccount::name", None),
            ("system:serviceaccount:ns:a:b", None),
            ("system:serviceaccount:a.b:name", None),
            ("system:serviceaccount:ns:Name", None),
            ("system:serviceaccounts:ns:name", None),
            ("user", None),
        ];
        for (name, expected) in cases {
            assert_eq!(split_service_account(name), expected, "{name}");
        }
        assert_eq!(
            service_account_name("ns", "name"),
            "system:serviceaccount:ns:name"
        );
    }
}
