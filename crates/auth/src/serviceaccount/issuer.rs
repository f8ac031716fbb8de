//! Signs the tokens of `TokenRequests`.

use json::{Object, Value};

use super::jwt;
use super::key::SigningKey;
use crate::user::service_account_name;

/// The issuer, and its signing key.
#[derive(Debug)]
pub struct Issuer {
    pub url: String,
    pub key: SigningKey,
}

/// What a token says. Bound objects are a name and a uid.
#[derive(Clone, Debug, Default)]
pub struct TokenSpec<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
    pub uid: &'a str,
    pub audiences: &'a [String],
    /// A token is bound to one of pod, secret and node; a pod's token also names its node.
    pub pod: Option<(&'a str, &'a str)>,
    pub secret: Option<(&'a str, &'a str)>,
    pub node: Option<(&'a str, &'a str)>,
    pub expiration_seconds: i64,
    /// Zero for none.
    pub warn_after_seconds: i64,
    /// A random UUID.
    pub id: &'a str,
}

impl Issuer {
    /// The token; none if a secret is named together with a pod or a node, or the key fails.
    pub fn sign(&self, spec: &TokenSpec, now: i64) -> Option<String> {
        if spec.secret.is_some() && (spec.pod.is_some() || spec.node.is_some()) {
            return None;
        }
        jwt::sign(&self.key, &self.claims(spec, now))
    }

    /// In the order of their names, as upstream writes them.
    fn claims(&self, spec: &TokenSpec, now: i64) -> Value {
        let reference = |(name, uid): (&str, &str)| {
            let mut value = Object::new();
            for (key, text) in [("name", name), ("uid", uid)] {
                if !text.is_empty() {
                    value.insert(key, text);
                }
            }
            Value::from(value)
        };
        let mut private = Object::new();
        private.insert("namespace", spec.namespace);
        for (key, bound) in [
            ("node", spec.node),
            ("pod", spec.pod),
            ("secret", spec.secret),
        ] {
            if let Some(bound) = bound {
                private.insert(key, reference(bound));
            }
        }
        private.insert("serviceaccount", reference((spec.name, spec.uid)));
        if spec.warn_after_seconds != 0 {
            private.insert("warnafter", now.saturating_add(spec.warn_after_seconds));
        }
        let mut claims = Object::new();
        if !spec.audiences.is_empty() {
            claims.insert("aud", spec.audiences.iter().collect::<Value>());
        }
        claims.insert("exp", now.saturating_add(spec.expiration_seconds));
        claims.insert("iat", now);
        claims.insert("iss", &self.url);
        claims.insert("jti", spec.id);
        claims.insert("kubernetes.io", private);
        claims.insert("nbf", now);
        claims.insert("sub", service_account_name(spec.namespace, spec.name));
        claims.into()
    }
}
