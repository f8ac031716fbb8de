//! What a verified token claims, and whether that still holds.

use json::Value;

use super::lookup::{Lookup, Referent};
use super::verify::TokenError;
use crate::User;
use crate::user::{service_account_groups, service_account_name};

/// How far clocks may differ, as go-jose allows.
pub(super) const LEEWAY: i64 = 60;

/// An object the token depends on: it must exist with this uid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub resource: &'static str,
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

/// The claims of a token made for a `TokenRequest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenClaims {
    pub subject: String,
    pub service_account: Reference,
    pub pod: Option<Reference>,
    pub secret: Option<Reference>,
    pub node: Option<Reference>,
    pub not_before: Option<i64>,
    pub expiry: Option<i64>,
    pub issued_at: Option<i64>,
    pub warn_after: Option<i64>,
    /// Empty if the token has none.
    pub id: String,
    /// Bound to a webhook configuration, which is alpha and off.
    webhook: bool,
}

impl TokenClaims {
    /// None if a claim is of the wrong type.
    pub(super) fn of(claims: &Value) -> Option<Self> {
        let private = claims.get("kubernetes.io");
        let namespace = text(private, "namespace")?;
        let reference = |key, resource| -> Option<Option<Reference>> {
            let Some(value) = private
                .and_then(|it| it.get(key))
                .filter(|it| !it.is_null())
            else {
                return Some(None);
            };
            value.as_object()?;
            Some(Some(Reference {
                resource,
                namespace: if resource == "nodes" {
                    String::new()
                } else {
                    namespace.clone()
                },
                name: text(Some(value), "name")?,
                uid: text(Some(value), "uid")?,
            }))
        };
        let own = reference("serviceaccount", "serviceaccounts")?;
        let webhook = [
            "validatingwebhookconfiguration",
            "mutatingwebhookconfiguration",
        ];
        let webhook = webhook
            .iter()
            .any(|key| private.is_some_and(|it| it.get(key).is_some()));
        Some(Self {
            subject: text(Some(claims), "sub")?,
            service_account: own.unwrap_or_else(|| Reference {
                resource: "serviceaccounts",
                namespace: namespace.clone(),
                name: String::new(),
                uid: String::new(),
            }),
            pod: reference("pod", "pods")?,
            secret: reference("secret", "secrets")?,
            node: reference("node", "nodes")?,
            not_before: date(claims.get("nbf")).ok()?,
            expiry: date(claims.get("exp")).ok()?,
            issued_at: date(claims.get("iat")).ok()?,
            warn_after: date(private.and_then(|it| it.get("warnafter"))).ok()?,
            id: text(Some(claims), "jti")?,
            webhook,
        })
    }

    pub(super) fn check_time(&self, now: i64) -> Result<(), TokenError> {
        check_time(self.not_before, self.expiry, self.issued_at, now)
    }

    /// What must still be there, in the order it is checked. A pod's node is only told, not checked.
    pub fn references(&self) -> Vec<&Reference> {
        let node = self.node.as_ref().filter(|_| self.pod.is_none());
        let bound = [self.secret.as_ref(), self.pod.as_ref(), node];
        std::iter::once(&self.service_account)
            .chain(bound.into_iter().flatten())
            .collect()
    }

    /// Whether all that the token depends on still exists.
    pub fn check(&self, lookup: &dyn Lookup, now: i64) -> Result<(), TokenError> {
        if self.webhook {
            return Err(TokenError::WebhookBound);
        }
        for reference in self.references() {
            check_reference(reference, lookup, now)?;
        }
        Ok(())
    }

    /// The seconds the token is used beyond the time it was asked for, for an audit annotation.
    pub fn stale_seconds(&self, now: i64) -> Option<i64> {
        let after = self.warn_after.filter(|after| *after != 0)?;
        (now > after).then(|| now - after)
    }

    pub fn user(&self) -> User {
        let own = &self.service_account;
        let mut user = User {
            name: service_account_name(&own.namespace, &own.name),
            uid: own.uid.clone(),
            groups: service_account_groups(&own.namespace),
            ..User::default()
        };
        let mut extra = |key: &str, value: String| {
            let key = format!("authentication.kubernetes.io/{key}");
            user.extra.insert(key, vec![value]);
        };
        if !self.id.is_empty() {
            extra("credential-id", format!("JTI={}", self.id));
        }
        if let Some(pod) = self
            .pod
            .as_ref()
            .filter(|it| !it.name.is_empty() && !it.uid.is_empty())
        {
            extra("pod-name", pod.name.clone());
            extra("pod-uid", pod.uid.clone());
        }
        if let Some(node) = self.node.as_ref().filter(|it| !it.name.is_empty()) {
            extra("node-name", node.name.clone());
            if !node.uid.is_empty() {
                extra("node-uid", node.uid.clone());
            }
        }
        user
    }
}

fn check_reference(it: &Reference, lookup: &dyn Lookup, now: i64) -> Result<(), TokenError> {
    let own = it.resource == "serviceaccounts";
    let Some(object) = lookup.get(it.resource, &it.namespace, &it.name) else {
        return Err(if own {
            TokenError::NoServiceAccount(it.name.clone())
        } else {
            TokenError::Invalidated
        });
    };
    let referent = Referent::of(&object);
    if referent.uid != it.uid {
        return Err(TokenError::OtherUid {
            resource: it.resource,
            found: referent.uid,
            claimed: it.uid.clone(),
        });
    }
    if referent
        .deleted
        .is_some_and(|at| at < now.saturating_sub(LEEWAY))
    {
        return Err(if own {
            TokenError::Deleted(it.namespace.clone(), it.name.clone())
        } else {
            TokenError::Invalidated
        });
    }
    Ok(())
}

pub(super) fn check_time(
    not_before: Option<i64>,
    expiry: Option<i64>,
    issued_at: Option<i64>,
    now: i64,
) -> Result<(), TokenError> {
    let soon = now.saturating_add(LEEWAY);
    if not_before.is_some_and(|at| soon < at) {
        return Err(TokenError::NotYet);
    }
    if expiry.is_some_and(|at| now.saturating_sub(LEEWAY) > at) {
        return Err(TokenError::Expired);
    }
    if issued_at.is_some_and(|at| soon < at) {
        return Err(TokenError::IssuedInFuture);
    }
    Ok(())
}

/// Empty if it is not there, none if it is no string.
pub(super) fn text(value: Option<&Value>, key: &str) -> Option<String> {
    match value.and_then(|it| it.get(key)) {
        None | Some(Value::Null) => Some(String::new()),
        Some(value) => value.as_str().map(str::to_owned),
    }
}

pub(super) struct NotADate;

/// Nothing is fine, what is no number is not.
pub(super) fn date(value: Option<&Value>) -> Result<Option<i64>, NotADate> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_number().ok_or(NotADate)?;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "saturates; seconds are whole"
            )]
            Ok(Some(number.as_i64().unwrap_or(number.as_f64() as i64)))
        }
    }
}
