//! Whether a bearer token is a service account's, and whose.

use super::claims::TokenClaims;
use super::jwt::Unverified;
use super::key::PublicKey;
use super::legacy::{LEGACY_ISSUER, LegacyClaims};
use super::lookup::Lookup;
use crate::User;
use crate::quote::{quote, quote_all};

/// Why a token that claims to be ours is not taken. The texts are for `TokenReview`'s status, not for the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("invalid signature, no keys found")]
    NoKey,
    #[error("go-jose/go-jose: unknown/unsupported algorithm")]
    OtherAlgorithm,
    #[error("go-jose/go-jose: error in cryptographic primitive")]
    Signature,
    #[error("service account token claims could not be read")]
    Malformed,
    #[error("token audiences {} is invalid for the target audiences {}", quote_all(.0), quote_all(.1))]
    Audience(Vec<String>, Vec<String>),
    #[error("service account token has expired")]
    Expired,
    #[error("service account token is not valid yet")]
    NotYet,
    #[error("service account token is issued in the future")]
    IssuedInFuture,
    #[error("serviceaccounts {} not found", quote(.0))]
    NoServiceAccount(String),
    #[error("service account {0}/{1} has been deleted")]
    Deleted(String, String),
    #[error("service account token has been invalidated")]
    Invalidated,
    #[error("{}", other_uid(.resource, .found, .claimed))]
    OtherUid {
        resource: &'static str,
        found: String,
        claimed: String,
    },
    #[error(
        "feature gate \"APIServerWebhookAuthenticationToken\" is disabled, but token is webhook bound"
    )]
    WebhookBound,
    /// A legacy token's, in its own words.
    #[error("{0}")]
    Legacy(String),
}

fn other_uid(resource: &str, found: &str, claimed: &str) -> String {
    match resource {
        "serviceaccounts" => {
            format!("service account UID ({found}) does not match claim ({claimed})")
        }
        "pods" => {
            format!("pod UID ({found}) does not match service account pod ref claim ({claimed})")
        }
        "nodes" => {
            format!("node UID ({found}) does not match service account node ref claim ({claimed})")
        }
        _ => format!(
            "secret UID ({found}) does not match service account secret ref claim ({claimed})"
        ),
    }
}

/// Knows the issuers and keys whose tokens count.
#[derive(Clone, Debug, Default)]
pub struct Verifier {
    /// The first signs; all are accepted.
    pub issuers: Vec<String>,
    pub keys: Vec<PublicKey>,
    /// Who the server is to its clients: what a token must be for where no audience is asked for.
    pub api_audiences: Vec<String>,
}

/// A token whose signature, issuer, audience and time are right. Whether it is still valid is checked by a [`Lookup`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified {
    Bound(Box<TokenClaims>),
    Legacy(LegacyClaims),
}

/// A user, and for which of the asked audiences the token is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticated {
    pub user: User,
    pub audiences: Vec<String>,
}

impl Verifier {
    /// None if the token is not a service account's. Audiences are what a `TokenReview` asks for.
    pub fn authenticate(
        &self,
        token: &str,
        audiences: Option<&[String]>,
        now: i64,
        lookup: &dyn Lookup,
    ) -> Option<Result<Authenticated, TokenError>> {
        let verified = self.verify(token, audiences, now)?;
        Some(verified.and_then(|(verified, audiences)| {
            match &verified {
                Verified::Bound(claims) => claims.check(lookup, now)?,
                Verified::Legacy(claims) => claims.check(token, lookup, now)?,
            }
            let user = verified.user();
            Ok(Authenticated { user, audiences })
        }))
    }

    /// The part that needs no lookup.
    pub fn verify(
        &self,
        token: &str,
        audiences: Option<&[String]>,
        now: i64,
    ) -> Option<Result<(Verified, Vec<String>), TokenError>> {
        let unverified = Unverified::parse(token)?;
        let issuer = unverified.claims.str_at(&["iss"])?;
        let legacy = issuer == LEGACY_ISSUER;
        if !legacy && !self.issuers.iter().any(|it| it == issuer) {
            return None;
        }
        Some(self.read(&unverified, legacy, audiences, now))
    }

    fn read(
        &self,
        token: &Unverified,
        legacy: bool,
        audiences: Option<&[String]>,
        now: i64,
    ) -> Result<(Verified, Vec<String>), TokenError> {
        self.check_signature(token)?;
        let audiences = self.audiences(token, audiences)?;
        if legacy {
            let claims = LegacyClaims::of(&token.claims)?;
            return Ok((Verified::Legacy(claims), audiences));
        }
        let claims = TokenClaims::of(&token.claims).ok_or(TokenError::Malformed)?;
        claims.check_time(now)?;
        Ok((Verified::Bound(Box::new(claims)), audiences))
    }

    /// By the key the header names, or by any if it names none; always by that key's own algorithm.
    fn check_signature(&self, token: &Unverified) -> Result<(), TokenError> {
        let named = |key: &&PublicKey| token.key_id.is_empty() || key.id == token.key_id;
        let mut error = TokenError::NoKey;
        for key in self.keys.iter().filter(named) {
            if token.algorithm != key.algorithm.name() {
                error = TokenError::OtherAlgorithm;
            } else if key.verifies(token.signed(), token.signature()) {
                return Ok(());
            } else {
                error = TokenError::Signature;
            }
        }
        Err(error)
    }

    /// Those the token is for among those asked for. A token without an audience is for the API server.
    fn audiences(
        &self,
        token: &Unverified,
        asked: Option<&[String]>,
    ) -> Result<Vec<String>, TokenError> {
        let own = match token.claims.get("aud") {
            None | Some(json::Value::Null) => Vec::new(),
            Some(json::Value::String(one)) => vec![one.to_string()],
            Some(json::Value::Array(all)) => {
                let all = all.iter().map(|it| it.as_str().map(str::to_owned));
                all.collect::<Option<_>>().ok_or(TokenError::Malformed)?
            }
            Some(_) => return Err(TokenError::Malformed),
        };
        let own = if own.is_empty() {
            self.api_audiences.clone()
        } else {
            own
        };
        let asked = asked.unwrap_or(&self.api_audiences);
        let both: Vec<_> = own
            .iter()
            .filter(|it| asked.contains(it))
            .cloned()
            .collect();
        if both.is_empty() && !self.api_audiences.is_empty() {
            return Err(TokenError::Audience(own, asked.to_vec()));
        }
        Ok(both)
    }
}

impl Verified {
    pub fn user(&self) -> User {
        match self {
            Self::Bound(claims) => claims.user(),
            Self::Legacy(claims) => claims.user(),
        }
    }
}
