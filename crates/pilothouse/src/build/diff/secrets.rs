//! Values of Secrets in a diff, which are shown as `kubectl diff` shows them: `***`, or `*** (before)` and `*** (after)`
//! where they differ. Builds that are kept hold digests in their place, by a key of this user.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use aws_lc_rs::hmac;
use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};
use encoding::hex;
use json::Value;

use super::private_file;

/// Fields of a Secret whose values are all sensitive.
const FIELDS: [&str; 2] = ["data", "stringData"];
/// A copy of the whole object, which `kubectl apply` leaves.
const LAST_APPLIED: [&str; 3] = [
    "metadata",
    "annotations",
    "kubectl.kubernetes.io/last-applied-configuration",
];

const MASK: &str = "***";
const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";
const KEY_BYTES: usize = 32;

pub(super) fn is_secret(object: &Value) -> bool {
    object.str_at(&["apiVersion"]) == Some("v1") && object.str_at(&["kind"]) == Some("Secret")
}

/// Masks the values of two versions of a Secret, or of the only one there is.
pub(super) fn mask<'a>(mut before: Option<&'a mut Value>, mut after: Option<&'a mut Value>) {
    for field in FIELDS {
        let pairs = |object: Option<&Value>| -> Vec<(String, Value)> {
            let found = object
                .and_then(|it| it.get(field))
                .and_then(Value::as_object);
            let pairs = found.into_iter().flat_map(json::Object::iter);
            pairs.map(|(k, v)| (k.to_string(), v.clone())).collect()
        };
        let (old, new) = (pairs(before.as_deref()), pairs(after.as_deref()));
        let differs = |key: &str, value: &Value, others: &[(String, Value)]| {
            others.iter().any(|(k, v)| k == key && v != value)
        };
        for (object, own, others, changed) in [
            (&mut before, &old, &new, BEFORE),
            (&mut after, &new, &old, AFTER),
        ] {
            let Some(fields) = object.as_deref_mut().and_then(|it| it.get_mut(field)) else {
                continue;
            };
            let Some(fields) = fields.as_object_mut() else {
                // Not base64: it may contain a secret as it is.
                *fields = MASK.into();
                continue;
            };
            for (key, value) in own {
                let is_changed = differs(key, value, others);
                fields.insert(key.as_str(), if is_changed { changed } else { MASK });
            }
        }
    }
    for object in [before, after].into_iter().flatten() {
        replace_last_applied(object, |_| MASK.to_owned());
    }
}

fn replace_last_applied(object: &mut Value, new: impl FnOnce(&Value) -> String) {
    let found = LAST_APPLIED
        .iter()
        .try_fold(object, |it, key| it.get_mut(key));
    if let Some(found) = found {
        let text = new(found);
        *found = text.into();
    }
}

/// What stands for values in builds that are kept.
pub(super) struct Digests {
    key: hmac::Key,
}

impl Digests {
    /// With the key in a file, which is made if it is not there.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let fail = |error: std::io::Error| format!("{}: {error}", path.display());
        match std::fs::read(path) {
            Ok(bytes) if bytes.len() == KEY_BYTES => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
                return Ok(Self { key });
            }
            Ok(_) => {
                // Half written; builds that were kept with it just differ in their Secrets.
                std::fs::remove_file(path).map_err(fail)?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(fail(error)),
        }
        let mut bytes = [0; KEY_BYTES];
        let random = SystemRandom::new();
        random
            .fill(&mut bytes)
            .map_err(|_| "no random numbers for a key".to_owned())?;
        private_file(path)
            .and_then(|mut file| file.write_all(&bytes))
            .map_err(fail)?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        Ok(Self { key })
    }

    /// Puts digests in the place of values.
    pub(super) fn apply(&self, secret: &mut Value) {
        let name = secret
            .str_at(&["metadata", "name"])
            .unwrap_or_default()
            .to_owned();
        for field in FIELDS {
            let Some(values) = secret.get_mut(field) else {
                continue;
            };
            let Some(values) = values.as_object_mut() else {
                *values = self.digest(&[&name, field], values).into();
                continue;
            };
            let keys: Vec<_> = values.iter().map(|(key, _)| key.clone()).collect();
            for key in keys {
                if let Some(value) = values.get_mut(&key) {
                    *value = self.digest(&[&name, field, &key], value).into();
                }
            }
        }
        replace_last_applied(secret, |it| self.digest(&[&name], it));
    }

    /// Equal values in different places have different digests.
    fn digest(&self, place: &[&str], value: &Value) -> String {
        let mut context = hmac::Context::with_key(&self.key);
        for part in place {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part.as_bytes());
        }
        context.update(&json::to_vec(value));
        format!("hmac-sha256:{}", hex::encode(context.sign().as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(data: &str) -> Value {
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"a"}},"data":{data}}}"#
        );
        json::parse(text.as_bytes()).expect("an object")
    }

    fn data(object: &Value) -> String {
        json::to_string(object.get("data").expect("data"))
    }

    /// The same as kubectl's Masker.
    #[test]
    fn values_are_masked_as_kubectl_masks_them() {
        let mut before = secret(r#"{"same":"1","changed":"1","gone":"1"}"#);
        let mut after = secret(r#"{"same":"1","changed":"2","new":"1"}"#);
        mask(Some(&mut before), Some(&mut after));
        assert_eq!(
            data(&before),
            r#"{"same":"***","changed":"*** (before)","gone":"***"}"#
        );
        assert_eq!(
            data(&after),
            r#"{"same":"***","changed":"*** (after)","new":"***"}"#
        );
        let mut alone = secret(r#"{"a":"1"}"#);
        mask(None, Some(&mut alone));
        assert_eq!(data(&alone), r#"{"a":"***"}"#);
        let mut odd = secret(r#"["secret"]"#);
        mask(Some(&mut odd), None);
        assert_eq!(data(&odd), r#""***""#);
    }

    #[test]
    fn a_digest_tells_only_whether_a_value_changed() {
        let dir = tempfile::tempdir().expect("a directory of our own");
        let path = dir.path().join("key");
        let digest = |text: &str| {
            let mut it = secret(text);
            Digests::open(&path).expect("a key").apply(&mut it);
            data(&it)
        };
        let first = digest(r#"{"a":"aHVudGVyMg==","b":"aHVudGVyMg=="}"#);
        assert!(!first.contains("aHVudGVyMg"), "{first}");
        assert_eq!(first, digest(r#"{"a":"aHVudGVyMg==","b":"aHVudGVyMg=="}"#));
        assert_ne!(first, digest(r#"{"a":"aHVudGVyMw==","b":"aHVudGVyMg=="}"#));
        let parts: Vec<&str> = first.split('"').collect();
        assert_ne!(
            parts[3], parts[7],
            "equal values cannot be told by their digests"
        );
    }
}
