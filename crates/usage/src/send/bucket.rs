//! Buckets: one object for each request, put over HTTP. S3 and compatible servers, and Google Cloud Storage.

use bytes::Bytes;
use egress::http::Client;
use egress::tls::Trust;
use encoding::percent;
use http::header::CONTENT_TYPE;
use http::{Request, Uri};
use json::Value;

use super::signature::{Credentials, Put, headers};
use super::{TIMEOUT, google, object_name, timestamp};
use crate::destination::Bucket;
use crate::{Error, Invocation};

pub(super) async fn s3(
    bucket: &Bucket,
    invocation: &Invocation<'_>,
    document: &Value,
) -> Result<u64, Error> {
    let variable = |name| invocation.variable(name);
    let credentials = credentials(invocation)?;
    let region = variable("AWS_REGION")
        .or_else(|| variable("AWS_DEFAULT_REGION"))
        .unwrap_or_else(|| "us-east-1".into());
    let own = variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL"));
    let Bucket { name, .. } = bucket;
    let base = match own {
        Some(endpoint) => format!("{}/{name}", endpoint.trim_end_matches('/')),
        // No certificate is good for a dot below a dot.
        None if name.contains('.') => format!("https://s3.{region}.amazonaws.com/{name}"),
        None => format!("https://{name}.s3.{region}.amazonaws.com"),
    };
    let url = object(&base, bucket, invocation)?;
    let body = json::to_vec(document);
    let put = Put {
        host: url.authority().map_or("", |it| it.as_str()),
        path: url.path(),
        body: &body,
        region: &region,
        time: &timestamp(invocation.now),
    };
    let headers = headers(&put, &credentials);
    send(url, headers, body).await
}

pub(super) async fn gs(
    bucket: &Bucket,
    invocation: &Invocation<'_>,
    document: &Value,
) -> Result<u64, Error> {
    let emulator = invocation.variable("STORAGE_EMULATOR_HOST");
    let endpoint = match &emulator {
        Some(host) if host.contains("://") => host.clone(),
        Some(host) => format!("http://{host}"),
        None => "https://storage.googleapis.com".into(),
    };
    let base = format!("{}/{}", endpoint.trim_end_matches('/'), bucket.name);
    let url = object(&base, bucket, invocation)?;
    let body = json::to_vec(document);
    let headers = if let Some(credentials) = google::hmac(invocation) {
        let put = Put {
            host: url.authority().map_or("", |it| it.as_str()),
            path: url.path(),
            body: &body,
            region: "auto",
            time: &timestamp(invocation.now),
        };
        headers(&put, &credentials)
    } else {
        match google::token(invocation).await? {
            Some(token) => vec![("authorization", format!("Bearer {token}"))],
            None if emulator.is_some() => Vec::new(),
            None => {
                return Err(Error::Later(
                    "no credentials: set GOOGLE_APPLICATION_CREDENTIALS, GOOGLE_OAUTH_ACCESS_TOKEN, or GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY"
                        .into(),
                ));
            }
        }
    };
    send(url, headers, body).await
}

fn object(base: &str, bucket: &Bucket, invocation: &Invocation<'_>) -> Result<Uri, Error> {
    let mut key = object_name(invocation.now)?;
    if !bucket.prefix.is_empty() {
        key = format!("{}/{key}", bucket.prefix);
    }
    let url = format!("{base}/{}", encode(&key));
    url.parse()
        .map_err(|_| Error::Later(format!("{url} is no URL")))
}

/// As the signature wants it: all but the unreserved, and slashes.
fn encode(key: &str) -> String {
    percent::encode(key.as_bytes(), |it| {
        percent::is_unreserved(it) || it == b'/'
    })
}

async fn send(url: Uri, headers: Vec<(&'static str, String)>, body: Vec<u8>) -> Result<u64, Error> {
    let client = Client::new(&url, &Trust::default(), TIMEOUT)?;
    let mut request = Request::put(url).header(CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request
        .body(Bytes::from(body))
        .map_err(|error| Error::Later(error.to_string()))?;
    let answer = client.send(request).await?;
    if answer.status.is_success() {
        return Ok(0);
    }
    // A bucket says no while it is not set up right, and that may change.
    let said = String::from_utf8_lossy(&answer.body);
    let said: String = said.chars().take(200).collect();
    Err(Error::Later(format!("{} {said}", answer.status)))
}

/// From the environment, else from the file that AWS's own tools read.
fn credentials(invocation: &Invocation<'_>) -> Result<Credentials, Error> {
    let variable = |name| invocation.variable(name);
    if let Some(key_id) = variable("AWS_ACCESS_KEY_ID")
        && let Some(secret) = variable("AWS_SECRET_ACCESS_KEY")
    {
        return Ok(Credentials {
            key_id,
            secret,
            session: variable("AWS_SESSION_TOKEN"),
        });
    }
    let path = variable("AWS_SHARED_CREDENTIALS_FILE")
        .or_else(|| Some(format!("{}/.aws/credentials", variable("HOME")?)));
    let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".into());
    let text = path.and_then(|it| std::fs::read_to_string(it).ok());
    let found = text.and_then(|it| in_profile(&it, &profile));
    found.ok_or_else(|| {
        Error::Later("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY".into())
    })
}

fn in_profile(text: &str, profile: &str) -> Option<Credentials> {
    let (mut inside, mut key_id, mut secret, mut session) = (false, None, None, None);
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            inside = name.trim_end_matches(']').trim() == profile;
        } else if inside && let Some((key, value)) = line.split_once('=') {
            let value = Some(value.trim().to_owned());
            match key.trim() {
                "aws_access_key_id" => key_id = value,
                "aws_secret_access_key" => secret = value,
                "aws_session_token" => session = value,
                _ => {}
            }
        }
    }
    Some(Credentials {
        key_id: key_id?,
        secret: secret?,
        session,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read() {
        let text = "[default]\naws_access_key_id = a\naws_secret_access_key=b\n\n[other]\naws_access_key_id=c\n\
                    aws_secret_access_key = d=\naws_session_token = e\n[half]\naws_access_key_id=f\n";
        let of = |profile| in_profile(text, profile).map(|it| (it.key_id, it.secret, it.session));
        assert_eq!(of("default"), Some(("a".into(), "b".into(), None)));
        let other = ("c".to_owned(), "d=".to_owned(), Some("e".to_owned()));
        assert_eq!(of("other"), Some(other));
        assert_eq!(of("half"), None);
        assert_eq!(of("none"), None);
    }

    #[test]
    fn keys_are_encoded() {
        assert_eq!(encode("a b/ü~"), "a%20b/%C3%BC~");
    }
}
