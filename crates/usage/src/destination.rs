//! Where counts go.

use std::path::PathBuf;

use crate::{CONTRIBUTORS, EXPORT, Error};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The user's own service, by OpenTelemetry's variables.
    Otlp,
    /// [`CONTRIBUTORS`].
    Contributors,
    /// A directory.
    File(PathBuf),
    S3(Bucket),
    Gs(Bucket),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub name: String,
    /// Without a slash at either end.
    pub prefix: String,
}

impl Destination {
    /// All that the setting may be but `none`.
    pub fn parse(value: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Value {
            key: EXPORT,
            value: value.to_owned(),
            why: why.to_owned(),
        };
        let after = |scheme: &str| value.strip_prefix(scheme);
        if value == "otlp" {
            return Ok(Self::Otlp);
        }
        if value == "default" {
            if CONTRIBUTORS.is_empty() {
                return Err(wrong("this program was built without a default endpoint"));
            }
            return Ok(Self::Contributors);
        }
        if let Some(path) = after("file:") {
            // Also as a URL, where the host is empty.
            let path = PathBuf::from(path.strip_prefix("//").unwrap_or(path));
            if !path.is_absolute() {
                return Err(wrong("the path must be absolute"));
            }
            return Ok(Self::File(path));
        }
        let bucket = |rest: &str| {
            let rest = rest.trim_start_matches("//");
            let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            let fits = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            if name.is_empty() || !name.chars().all(fits) {
                return Err(wrong("the name of a bucket is missing"));
            }
            Ok(Bucket {
                name: name.to_owned(),
                prefix: prefix.trim_matches('/').to_owned(),
            })
        };
        if let Some(rest) = after("s3:") {
            return bucket(rest).map(Self::S3);
        }
        if let Some(rest) = after("gs:") {
            return bucket(rest).map(Self::Gs);
        }
        Err(wrong(
            "it is none, otlp, default, file:/DIRECTORY, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX",
        ))
    }
}

impl std::fmt::Display for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Otlp => f.write_str("otlp"),
            Self::Contributors => write!(f, "default, {CONTRIBUTORS}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::S3(bucket) => write!(f, "s3://{}/{}", bucket.name, bucket.prefix),
            Self::Gs(bucket) => write!(f, "gs://{}/{}", bucket.name, bucket.prefix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_read() {
        let bucket = |prefix: &str| Bucket {
            name: "b".into(),
            prefix: prefix.into(),
        };
        let cases = [
            ("otlp", Destination::Otlp),
            ("file:/a/b", Destination::File("/a/b".into())),
            ("file:///a", Destination::File("/a".into())),
            ("s3:b", Destination::S3(bucket(""))),
            ("s3://b/", Destination::S3(bucket(""))),
            ("s3://b/p/q/", Destination::S3(bucket("p/q"))),
            ("gs://b/p", Destination::Gs(bucket("p"))),
        ];
        for (text, wanted) in cases {
            assert_eq!(Destination::parse(text).unwrap(), wanted, "{text}");
        }
        for wrong in ["", "x", "file:", "file:a", "s3:", "s3:///p", "gs://a b/p"] {
            assert!(Destination::parse(wrong).is_err(), "{wrong}");
        }
    }
}
