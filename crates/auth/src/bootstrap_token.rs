//! Bootstrap tokens: short-lived secrets with which nodes join.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::Value;

use crate::User;

pub const NAMESPACE: &str = "kube-system";
const DEFAULT_GROUP: &str = "system:bootstrappers";

/// The token's public id and its secret, if it has that form: six characters, a dot, sixteen characters.
pub fn split(token: &str) -> Option<(&str, &str)> {
    let (id, secret) = token.split_once('.')?;
    let plain = |it: &str| {
        it.bytes()
            .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    (id.len() == 6 && secret.len() == 16 && plain(id) && plain(secret)).then_some((id, secret))
}

/// The Secret in `kube-system` that holds the token.
pub fn secret_name(id: &str) -> String {
    format!("bootstrap-token-{id}")
}

/// The user of the token, if the Secret backs it.
pub fn authenticate(token: &str, secret: &Value, now: i64) -> Option<User> {
    let (id, token_secret) = split(token)?;
    let data = |key| {
        let text = secret.str_at(&["data", key]).unwrap_or_default();
        STANDARD.decode(text).unwrap_or_default()
    };
    let text = |key| String::from_utf8(data(key)).ok();
    let deleted = secret.at(&["metadata", "deletionTimestamp"]);
    if deleted.is_some_and(|it| !it.is_null())
        || secret.str_at(&["type"]) != Some("bootstrap.kubernetes.io/token")
        || verify_slices_are_equal(&data("token-secret"), token_secret.as_bytes()).is_err()
        || text("token-id")? != id
        || expired(&text("expiration")?, now)
        || text("usage-bootstrap-authentication")? != "true"
    {
        return None;
    }
    let mut user = User::new(&format!("system:bootstrap:{id}"), &[DEFAULT_GROUP]);
    let groups = text("auth-extra-groups")?;
    for group in groups.split(',').filter(|_| !groups.is_empty()) {
        if !is_group(group) {
            return None;
        }
        user.groups.push(group.to_owned());
    }
    user.groups.sort();
    user.groups.dedup();
    Some(user)
}

/// An unreadable time counts as over.
fn expired(expiration: &str, now: i64) -> bool {
    !expiration.is_empty() && crate::time::parse(expiration).is_none_or(|at| at <= now)
}

fn is_group(group: &str) -> bool {
    let plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let Some(rest) = group.strip_prefix("system:bootstrappers:") else {
        return false;
    };
    (1..=256).contains(&rest.len())
        && rest.bytes().all(|it| plain(it) || it == b':' || it == b'-')
        && rest.bytes().last().is_some_and(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::{Object, json};

    #[test]
    fn authenticates() {
        type Data<'a> = &'a [(&'a str, &'a str)];
        const TOKEN: &str = "foobar.circumnavigation";
        let good = [
            ("token-id", "foobar"),
            ("token-secret", "circumnavigation"),
            ("usage-bootstrap-authentication", "true"),
        ];
        let now = crate::time::parse("2020-01-01T00:00:00Z").unwrap();
        let groups = "system:bootstrappers:foo,system:bootstrappers:bar,system:bootstrappers:bar";
        let cases: [(&str, Data, Option<&[&str]>); 14] = [
            (TOKEN, &[], Some(&["system:bootstrappers"])),
            (
                TOKEN,
                &[("auth-extra-groups", groups)],
                Some(&[
                    "system:bootstrappers",
                    "system:bootstrappers:bar",
                    "system:bootstrappers:foo",
                ]),
            ),
            (TOKEN, &[("auth-extra-groups", "system:masters")], None),
            (
                TOKEN,
                &[("auth-extra-groups", "system:bootstrappers:foo,")],
                None,
            ),
            (
                TOKEN,
                &[("auth-extra-groups", "system:bootstrappers:")],
                None,
            ),
            (TOKEN, &[("expiration", "2019-12-31T23:59:59Z")], None),
            (TOKEN, &[("expiration", "2020-01-01T00:00:00Z")], None),
            (
                TOKEN,
                &[("expiration", "2020-01-01T00:00:01Z")],
                Some(&["system:bootstrappers"]),
            ),
            (TOKEN, &[("expiration", "garbage")], None),
            (TOKEN, &[("usage-bootstrap-authentication", "false")], None),
            (TOKEN, &[("token-id", "barfoo")], None),
            (TOKEN, &[("token-secret", "circumnavigatioN")], None),
            ("foobar.circumnavigatiom", &[], None),
            ("foobar", &[], None),
        ];
        for (token, changes, expected) in cases {
            let data: Object = (good.iter().chain(changes))
                .map(|(key, value)| (*key, STANDARD.encode(value)))
                .collect();
            let secret = json!({"type": "bootstrap.kubernetes.io/token", "data": data});
            let found = authenticate(token, &secret, now);
            let expected = expected.map(|groups| User::new("system:bootstrap:foobar", groups));
            assert_eq!(found, expected, "{token} {changes:?}");
            let mut other = secret.clone();
            other.as_object_mut().unwrap().insert("type", "Opaque");
            assert_eq!(authenticate(token, &other, now), None);
            let mut deleted = secret;
            let metadata = json!({"deletionTimestamp": "2099-01-01T00:00:00Z"});
            deleted
                .as_object_mut()
                .unwrap()
                .insert("metadata", metadata);
            assert_eq!(authenticate(token, &deleted, now), None);
        }
    }

    #[test]
    fn forms() {
        for token in ["foobar.circumnavigation", "012345.0123456789abcdef"] {
            assert!(split(token).is_some());
        }
        for token in [
            "",
            ".",
            "foobar.",
            "fooba.circumnavigation",
            "Foobar.circumnavigation",
            "foobar.circumnavigation.",
            "foobar.circumnavigation\n",
        ] {
            assert_eq!(split(token), None, "{token}");
        }
    }
}
