//! All that must be allowed in one mode.

use std::borrow::Cow;

use super::mode::Mode;
use super::{Forbidden, Impersonated};
use crate::authorizer::Authorizer;
use crate::user::{self, service_account_groups, split_node, split_service_account};
use crate::{Attributes, User};

const AUTHENTICATION: &str = "authentication.k8s.io";
/// From so many on, `*` is tried before each.
const MANY: usize = 4;

pub(super) async fn check(
    authorizer: &dyn Authorizer,
    mode: Mode,
    attributes: &Attributes<'_>,
    wanted: &User,
) -> Result<Impersonated, Forbidden> {
    let requestor = requestor(mode, attributes.user);
    let verb = match mode.name() {
        Some(name) => format!("impersonate:{name}"),
        None => "impersonate".to_owned(),
    };
    let check = Check {
        authorizer,
        mode,
        verb: &verb,
        requestor: &requestor,
    };
    if let Some(name) = mode.name() {
        let verb = format!("impersonate-on:{name}:{}", attributes.verb);
        let user = &requestor;
        let attributes = Attributes {
            user,
            ..attributes.verb(&verb)
        };
        check.ask(attributes).await?;
    }
    let mut user = wanted.clone();
    check.name(wanted, &mut user).await?;
    if !wanted.uid.is_empty() {
        check
            .ask(check.about(AUTHENTICATION, "uids", &wanted.uid))
            .await?;
    }
    check.groups(&wanted.groups).await?;
    check.extra(wanted).await?;

    if user.name == user::ANONYMOUS {
        ensure_group(&mut user, user::UNAUTHENTICATED);
    } else if !user.in_group(user::UNAUTHENTICATED) {
        ensure_group(&mut user, user::AUTHENTICATED);
    }
    let constraint = if mode == Mode::Legacy {
        String::new()
    } else {
        verb
    };
    Ok(Impersonated { user, constraint })
}

/// For the node of its own pod, what the account's token says beside is not looked at, only which things it says.
fn requestor(mode: Mode, user: &User) -> Cow<'_, User> {
    if mode != Mode::AssociatedNode {
        return Cow::Borrowed(user);
    }
    let keys = user.extra.keys().cloned().collect();
    let key = "authentication.kubernetes.io/associated-node-keys".to_owned();
    Cow::Owned(User {
        extra: [(key, keys)].into(),
        ..user.clone()
    })
}

struct Check<'a> {
    authorizer: &'a dyn Authorizer,
    mode: Mode,
    verb: &'a str,
    requestor: &'a User,
}

impl<'a> Check<'a> {
    fn constrained(&self) -> bool {
        self.mode != Mode::Legacy
    }

    /// Users and groups belong to the core group for the old verb.
    fn group(&self) -> &'static str {
        if self.constrained() {
            AUTHENTICATION
        } else {
            ""
        }
    }

    fn about(&self, api_group: &'a str, resource: &'a str, name: &'a str) -> Attributes<'a> {
        Attributes::resource(self.requestor, self.verb, api_group, resource)
            .version("v1")
            .name(name)
    }

    async fn ask(&self, attributes: Attributes<'_>) -> Result<(), Forbidden> {
        let decision = self.authorizer.authorize(attributes).await;
        if decision.allowed() {
            return Ok(());
        }
        let reason = match decision.error {
            Some(error) if decision.reason.is_empty() => error,
            Some(error) => format!("{error}: {}", decision.reason),
            None => decision.reason,
        };
        Err(Forbidden::new(&attributes, &reason))
    }

    /// Nodes and service accounts are in groups that follow from their names.
    async fn name(&self, wanted: &'a User, user: &mut User) -> Result<(), Forbidden> {
        let node = split_node(&wanted.name).filter(|_| self.constrained());
        let mut attributes = self.about(self.group(), "users", &wanted.name);
        if let Some(node) = node {
            let any = self.mode == Mode::AssociatedNode;
            attributes = self.about(self.group(), "nodes", if any { "*" } else { node });
            user.groups = vec![user::NODES.to_owned()];
        } else if let Some((namespace, name)) = split_service_account(&wanted.name) {
            attributes = self
                .about(self.group(), "serviceaccounts", name)
                .namespace(namespace);
            if wanted.groups.is_empty() {
                user.groups = service_account_groups(namespace);
            }
        }
        self.ask(attributes).await
    }

    async fn groups(&self, groups: &'a [String]) -> Result<(), Forbidden> {
        let about = |name| self.about(self.group(), "groups", name);
        if self.constrained() {
            if groups.iter().any(String::is_empty) {
                let reason = "impersonating the empty string group is not allowed";
                return Err(Forbidden::new(&about(""), reason));
            }
            if groups.iter().any(|it| it == user::MASTERS) {
                let reason = "impersonating the system:masters group is not allowed";
                return Err(Forbidden::new(&about(user::MASTERS), reason));
            }
            if groups.len() >= MANY && self.ask(about("*")).await.is_ok() {
                return Ok(());
            }
        }
        for group in groups {
            self.ask(about(group)).await?;
        }
        Ok(())
    }

    async fn extra(&self, wanted: &'a User) -> Result<(), Forbidden> {
        let extra = &wanted.extra;
        let about = |key, value| {
            self.about(AUTHENTICATION, "userextras", value)
                .subresource(key)
        };
        if self.constrained() && !extra.is_empty() {
            for (key, values) in extra {
                check_extra(key, values)
                    .map_err(|reason| Forbidden::new(&about("", ""), &reason))?;
            }
            let count: usize = extra.values().map(Vec::len).sum();
            if count.max(extra.len()) >= MANY && self.ask(about("*", "*")).await.is_ok() {
                return Ok(());
            }
        }
        for (key, values) in extra {
            for value in values {
                self.ask(about(key, value)).await?;
            }
        }
        Ok(())
    }
}

fn check_extra(key: &str, values: &[String]) -> Result<(), String> {
    let invalid = |value: &str, detail: &str| {
        let value = crate::quote::quote(value);
        Err(format!(
            "impersonating an invalid key in extra is not allowed: extra.key: Invalid value: {value}: {detail}"
        ))
    };
    if key.is_empty() {
        return Err("impersonating the empty string key in extra is not allowed".to_owned());
    }
    let parts = key
        .split_once('/')
        .filter(|(host, path)| !host.is_empty() && !path.is_empty());
    let Some((host, path)) = parts else {
        return invalid(
            key,
            "must be a domain-prefixed path (such as \"acme.io/foo\")",
        );
    };
    if !user::is_subdomain(host) {
        return invalid(
            host,
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        );
    }
    let allowed = |it: char| it.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(it);
    if !path.chars().all(allowed) {
        return invalid(
            path,
            "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
        );
    }
    if key.chars().any(char::is_uppercase) {
        let key = crate::quote::quote(key);
        return Err(format!(
            "impersonating a non-lowercase key in extra is not allowed: {key}"
        ));
    }
    if values.is_empty() {
        return Err("impersonating empty values in extra is not allowed".to_owned());
    }
    if values.iter().any(String::is_empty) {
        return Err("impersonating the empty string value in extra is not allowed".to_owned());
    }
    Ok(())
}

fn ensure_group(user: &mut User, group: &str) {
    if !user.in_group(group) {
        user.groups.push(group.to_owned());
    }
}
