//! AWS Signature Version 4, for S3 and compatible servers.

use std::fmt::Write as _;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
use encoding::hex;

/// The credentials, and the scope of the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) key_id: String,
    pub(super) secret: String,
    /// Of those that hold for some hours only.
    pub(super) session: Option<String>,
}

pub(super) struct Put<'a> {
    pub(super) host: &'a str,
    /// Encoded already.
    pub(super) path: &'a str,
    pub(super) body: &'a [u8],
    pub(super) region: &'a str,
    /// As `20260102T030405Z`.
    pub(super) time: &'a str,
}

/// The headers to send besides `Host`.
pub(super) fn headers(put: &Put<'_>, credentials: &Credentials) -> Vec<(&'static str, String)> {
    let hash = hex::encode(digest(&SHA256, put.body).as_ref());
    let mut headers = vec![
        ("x-amz-content-sha256", hash.clone()),
        ("x-amz-date", put.time.to_owned()),
    ];
    if let Some(token) = &credentials.session {
        headers.push(("x-amz-security-token", token.clone()));
    }
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let signed = format!("host;{}", names.join(";"));
    let mut canonical = format!("PUT\n{}\n\nhost:{}\n", put.path, put.host);
    for (name, value) in &headers {
        _ = writeln!(canonical, "{name}:{value}");
    }
    _ = write!(canonical, "\n{signed}\n{hash}");
    let day = put.time.get(..8).unwrap_or_default();
    let scope = format!("{day}/{}/s3/aws4_request", put.region);
    let to_sign = format!(
        "AWS4-HMAC-SHA256\n{}\n{scope}\n{}",
        put.time,
        hex::encode(digest(&SHA256, canonical.as_bytes()).as_ref())
    );
    let mut key = format!("AWS4{}", credentials.secret).into_bytes();
    for part in [day, put.region, "s3", "aws4_request"] {
        key = hmac(&key, part);
    }
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={signed}, Signature={}",
        credentials.key_id,
        hex::encode(&hmac(&key, &to_sign))
    );
    headers.push(("authorization", authorization));
    headers
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let key = Key::new(HMAC_SHA256, key);
    sign(&key, text.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with Python's `hmac` and `hashlib` from AWS's description.
    #[test]
    fn the_signature_is_aws_s() {
        let credentials = Credentials {
            key_id: "AKIDEXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session: None,
        };
        let put = Put {
            host: "b.s3.us-east-1.amazonaws.com",
            path: "/a/b%20c",
            body: b"hello",
            region: "us-east-1",
            time: "20260102T030405Z",
        };
        let all = headers(&put, &credentials);
        let found = all.last().unwrap();
        assert_eq!(
            found.1,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/s3/aws4_request, \
             SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=656a1db28614ef8edbfd3fbdf729c176128e9ccfe7ea828a516ab8c9e1c46cdd"
        );
    }
}
