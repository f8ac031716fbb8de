//! Credentials of Google Cloud Storage: a token, the key of a service account that gets one, or an HMAC key.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use egress::http::Client;
use egress::tls::Trust;
use http::header::CONTENT_TYPE;
use http::{Request, Uri};
use json::{Value, json};

use super::TIMEOUT;
use super::signature::Credentials;
use crate::record::unix_seconds;
use crate::{Error, Invocation};

const SCOPE: &str = "https://www.googleapis.com/auth/devstorage.read_write";
const GRANT: &str = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";

/// HMAC keys, for the S3-compatible API of Google.
pub(super) fn hmac(invocation: &Invocation<'_>) -> Option<Credentials> {
    Some(Credentials {
        key_id: invocation.variable("GS_ACCESS_KEY_ID")?,
        secret: invocation.variable("GS_SECRET_ACCESS_KEY")?,
        session: None,
    })
}

pub(super) async fn token(invocation: &Invocation<'_>) -> Result<Option<String>, Error> {
    let given = invocation.variable("GOOGLE_OAUTH_ACCESS_TOKEN");
    let given = given.or_else(|| invocation.variable("CLOUDSDK_AUTH_ACCESS_TOKEN"));
    if given.is_some() {
        return Ok(given);
    }
    match invocation.variable("GOOGLE_APPLICATION_CREDENTIALS") {
        Some(path) => of_account(&path, invocation).await.map(Some),
        None => Ok(None),
    }
}

/// A signed JWT (RFC 7523) is exchanged for a token.
async fn of_account(path: &str, invocation: &Invocation<'_>) -> Result<String, Error> {
    let wrong = |why: &str| Error::Later(format!("{path}: {why}"));
    let text = std::fs::read(path).map_err(|error| Error::Read(path.into(), error))?;
    let file = json::parse(&text).map_err(|_| wrong("it is not JSON"))?;
    let field = |name: &str| {
        file.str_at(&[name])
            .ok_or_else(|| wrong("it is no key of a service account"))
    };
    let (account, url) = (field("client_email")?, field("token_uri")?);
    let claim = claim(account, url, unix_seconds(invocation.now));
    let signature =
        sign(&claim, field("private_key")?).ok_or_else(|| wrong("its private key is damaged"))?;
    let body = format!("grant_type={GRANT}&assertion={claim}.{signature}");
    let url: Uri = url.parse().map_err(|_| wrong("its token_uri is no URL"))?;
    let client = Client::new(&url, &Trust::default(), TIMEOUT)?;
    let request = Request::post(url)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Bytes::from(body))
        .map_err(|error| Error::Later(error.to_string()))?;
    let answer = client.send(request).await?;
    let token = json::parse(&answer.body).unwrap_or(Value::Null);
    let token = token.str_at(&["access_token"]).map(str::to_owned);
    token.ok_or_else(|| Error::Later(format!("no token from Google: {}", answer.status)))
}

fn claim(account: &str, audience: &str, now: u64) -> String {
    let now = i64::try_from(now).unwrap_or_default();
    let header = json!({"alg": "RS256", "typ": "JWT"});
    let claims = json!({
        "iss": account, "scope": SCOPE, "aud": audience, "iat": now, "exp": (now + 600),
    });
    let encode = |it: &Value| URL_SAFE_NO_PAD.encode(json::to_vec(it));
    format!("{}.{}", encode(&header), encode(&claims))
}

fn sign(claim: &str, pem: &str) -> Option<String> {
    let lines = pem.lines().filter(|it| !it.starts_with("-----"));
    let key = STANDARD.decode(lines.collect::<String>()).ok()?;
    let key = RsaKeyPair::from_pkcs8(&key).ok()?;
    let mut signature = vec![0; key.public_modulus_len()];
    let random = SystemRandom::new();
    key.sign(&RSA_PKCS1_SHA256, &random, claim.as_bytes(), &mut signature)
        .ok()?;
    Some(URL_SAFE_NO_PAD.encode(signature))
}
