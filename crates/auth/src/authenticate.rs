//! Authentication: each credential of a request in upstream's order.

use crate::quote::aggregate;
use crate::serviceaccount::{Authenticated, Lookup, Verifier};
use crate::token_cache::TokenCache;
use crate::token_file::StaticTokens;
use crate::{User, bearer, bootstrap_token, x509};

const INVALID: &str = "invalid bearer token";

/// The credentials of a request.
#[derive(Clone, Debug, Default)]
pub struct Credentials<'a> {
    /// The client's certificate as DER, whose chain TLS has verified.
    pub certificate: Option<&'a [u8]>,
    /// The client showed a certificate that leads to none of our authorities. It does not make its bearer anonymous; another
    /// credential may still count.
    pub untrusted_certificate: bool,
    pub authorization: Option<&'a str>,
    /// `Sec-WebSocket-Protocol` of a request that upgrades.
    pub websocket_protocols: Vec<&'a str>,
}

/// The authenticators of this server.
#[derive(Debug)]
pub struct Authenticator {
    pub static_tokens: StaticTokens,
    pub service_accounts: Verifier,
    pub bootstrap_tokens: bool,
    pub anonymous: bool,
    pub cache: TokenCache<Authenticated>,
}

impl Authenticator {
    /// The user, or why there is none: the client gets no more than 401 Unauthorized.
    ///
    /// A credential that is there but wrong does not make its bearer anonymous.
    pub fn request(
        &self,
        credentials: &Credentials,
        now: i64,
        lookup: &dyn Lookup,
    ) -> Result<User, String> {
        let mut errors = Vec::new();
        match credentials.certificate.map(|it| x509::user(it, now)) {
            Some(Ok(Some(user))) => return Ok(authenticated(user)),
            Some(Err(error)) => errors.push(error.to_string()),
            Some(Ok(None)) | None => {}
        }
        if credentials.untrusted_certificate {
            errors.push("x509: certificate signed by unknown authority".to_owned());
        }
        let header = credentials.authorization.and_then(bearer::token);
        let websocket = bearer::websocket_token(credentials.websocket_protocols.iter().copied());
        let websocket = websocket.unwrap_or_else(|error| {
            errors.push(error.to_owned());
            None
        });
        let websocket = websocket.as_ref().map(|it| &*it.token);
        for token in [header, websocket].into_iter().flatten() {
            match self.token(token, None, now, lookup) {
                Ok(found) => return Ok(found.user),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(aggregate(&errors));
        }
        if self.anonymous {
            return Ok(User::anonymous());
        }
        Err("no credentials provided".to_owned())
    }

    /// The user of a bearer token; audiences are what a `TokenReview` asks for. The error is for its status.
    pub fn token(
        &self,
        token: &str,
        audiences: Option<&[String]>,
        now: i64,
        lookup: &dyn Lookup,
    ) -> Result<Authenticated, String> {
        if let Some(found) = self.cache.get(token, audiences, now) {
            return Ok(found);
        }
        let found = self.verify(token, audiences, now, lookup)?;
        self.cache.put(token, audiences, found.clone(), now);
        Ok(found)
    }

    fn verify(
        &self,
        token: &str,
        audiences: Option<&[String]>,
        now: i64,
        lookup: &dyn Lookup,
    ) -> Result<Authenticated, String> {
        if let Some(user) = self.static_tokens.authenticate(token) {
            return self.for_us(user.clone(), audiences);
        }
        let verified = self
            .service_accounts
            .authenticate(token, audiences, now, lookup);
        match verified {
            Some(Ok(mut found)) => {
                found.user = authenticated(found.user);
                return Ok(found);
            }
            Some(Err(error)) => return Err(format!("[{INVALID}, {error}]")),
            None => {}
        }
        if self.bootstrap_tokens
            && let Some((id, _)) = bootstrap_token::split(token)
        {
            let name = bootstrap_token::secret_name(id);
            let secret = lookup.get("secrets", bootstrap_token::NAMESPACE, &name);
            let user = secret.and_then(|it| bootstrap_token::authenticate(token, &it, now));
            if let Some(user) = user {
                return self.for_us(user, audiences);
            }
        }
        Err(INVALID.to_owned())
    }

    /// A token that knows no audiences is for the API server.
    fn for_us(&self, user: User, asked: Option<&[String]>) -> Result<Authenticated, String> {
        let own = &self.service_accounts.api_audiences;
        let asked = asked.unwrap_or(own);
        let audiences: Vec<_> = own
            .iter()
            .filter(|it| asked.contains(it))
            .cloned()
            .collect();
        if audiences.is_empty() && !own.is_empty() {
            return Err(INVALID.to_owned());
        }
        let user = authenticated(user);
        Ok(Authenticated { user, audiences })
    }
}

fn authenticated(mut user: User) -> User {
    user.add_authenticated();
    user
}
