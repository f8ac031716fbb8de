//! Tokens kept in Secrets of type `kubernetes.io/service-account-token`: they do not expire.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};
use meta::time::Time;

use super::claims::text;
use super::jwt;
use super::key::SigningKey;
use super::lookup::{Lookup, Referent};
use super::verify::TokenError;
use crate::User;
use crate::user::{service_account_groups, service_account_name, split_service_account};

pub const LEGACY_ISSUER: &str = "kubernetes/serviceaccount";
/// On a Secret, it says since when its token no longer counts.
const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";
/// On a Secret, the day on which its token was used last.
pub const LAST_USED: &str = "kubernetes.io/legacy-token-last-used";
const DAY: i64 = 24 * 60 * 60;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyClaims {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub secret: String,
}

/// The token that the token controller puts into a Secret.
pub fn legacy_token(key: &SigningKey, claims: &LegacyClaims) -> Option<String> {
    let claims = json!({
        "iss": LEGACY_ISSUER,
        "kubernetes.io/serviceaccount/namespace": (&claims.namespace),
        "kubernetes.io/serviceaccount/secret.name": (&claims.secret),
        "kubernetes.io/serviceaccount/service-account.name": (&claims.name),
        "kubernetes.io/serviceaccount/service-account.uid": (&claims.uid),
        "sub": (service_account_name(&claims.namespace, &claims.name)),
    });
    jwt::sign(key, &claims)
}

/// The day, in UTC.
fn date(seconds: i64) -> String {
    let mut text = Time::from_unix(seconds, 0).to_string();
    text.truncate("2006-01-02".len());
    text
}

impl LegacyClaims {
    pub(super) fn of(claims: &Value) -> Result<Self, TokenError> {
        let required = |key: &str, name: &str| {
            let text = text(Some(claims), key).ok_or(TokenError::Malformed)?;
            if text.is_empty() {
                return Err(TokenError::Legacy(format!("{name} claim is missing")));
            }
            Ok(text)
        };
        let own =
            |key: &str, name: &str| required(&format!("kubernetes.io/serviceaccount/{key}"), name);
        let subject = required("sub", "sub")?;
        let found = Self {
            namespace: own("namespace", "namespace")?,
            secret: own("secret.name", "secretName")?,
            name: own("service-account.name", "serviceAccountName")?,
            uid: own("service-account.uid", "serviceAccountUID")?,
        };
        if split_service_account(&subject) != Some((&found.namespace, &found.name)) {
            return Err(TokenError::Legacy("sub claim is invalid".to_owned()));
        }
        Ok(found)
    }

    /// The Secret must still hold this very token, and the account be the same.
    pub fn check(&self, token: &str, lookup: &dyn Lookup, now: i64) -> Result<(), TokenError> {
        let refuse = |text: &str| Err(TokenError::Legacy(text.to_owned()));
        let (namespace, name) = (&self.namespace, &self.name);
        let secret = lookup.get("secrets", namespace, &self.secret);
        let Some(secret) = secret.filter(|it| Referent::of(it).deleted.is_none()) else {
            return refuse("Token has been invalidated");
        };
        let copy = secret.str_at(&["data", "token"]).unwrap_or_default();
        let copy = STANDARD.decode(copy).unwrap_or_default();
        if verify_slices_are_equal(&copy, token.as_bytes()).is_err() {
            return refuse("Token does not match server's copy");
        }
        let Some(account) = lookup.get("serviceaccounts", namespace, name) else {
            return Err(TokenError::NoServiceAccount(name.clone()));
        };
        let account = Referent::of(&account);
        if account.deleted.is_some() {
            return refuse(&format!(
                "ServiceAccount {namespace}/{name} has been deleted"
            ));
        }
        if account.uid != self.uid {
            let (found, claimed) = (account.uid, &self.uid);
            return refuse(&format!(
                "ServiceAccount UID ({found}) does not match claim ({claimed})"
            ));
        }
        self.note_use(&secret, lookup, now);
        let since = secret.str_at(&["metadata", "labels", INVALID_SINCE]);
        if since.is_some_and(|since| !since.is_empty()) {
            let secret = &self.secret;
            return refuse(&format!(
                "the token in secret {namespace}/{secret} for service account {namespace}/{name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '{INVALID_SINCE}' label from the secret to temporarily allow use of this token"
            ));
        }
        Ok(())
    }

    /// One that counts no longer is noted too: its owner wants to know.
    fn note_use(&self, secret: &Value, lookup: &dyn Lookup, now: i64) {
        let last = secret.str_at(&["metadata", "labels", LAST_USED]);
        // Clocks of servers differ: it may be tomorrow already.
        let noted = [now, now.saturating_add(DAY)].map(date);
        if !noted.iter().any(|it| Some(&**it) == last) {
            let uid = Referent::of(secret).uid;
            lookup.used(&self.namespace, &self.secret, &uid);
        }
    }

    pub fn user(&self) -> User {
        User {
            name: service_account_name(&self.namespace, &self.name),
            uid: self.uid.clone(),
            groups: service_account_groups(&self.namespace),
            ..User::default()
        }
    }
}
