//! `Impersonate-User`, `-Uid`, `-Group` and `-Extra-*`.

use encoding::percent;

use crate::User;
use crate::quote::quote;

const EXTRA: &str = "impersonate-extra-";

/// Whether a header, by its name in lower case, is to be taken off before the request goes on.
pub fn is_header(name: &str) -> bool {
    matches!(
        name,
        "impersonate-user" | "impersonate-group" | "impersonate-uid"
    ) || name.starts_with(EXTRA)
}

/// Whom the headers ask for, as they say it; none if they do not. Names are in lower case. The error is for a
/// `BadRequest`.
pub fn wanted<'a>(
    headers: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Option<User>, String> {
    // Of several names or uids, the first counts, as empty as it may be.
    let (mut name, mut uid) = (None, None);
    let mut user = User::default();
    for (header, value) in headers {
        match header {
            "impersonate-user" => name = name.or(Some(value)),
            "impersonate-uid" => uid = uid.or(Some(value)),
            "impersonate-group" => user.groups.push(value.to_owned()),
            _ => {
                if let Some(key) = header.strip_prefix(EXTRA) {
                    let values = user.extra.entry(unescape(key)).or_default();
                    values.push(value.to_owned());
                }
            }
        }
    }
    name.unwrap_or_default().clone_into(&mut user.name);
    uid.unwrap_or_default().clone_into(&mut user.uid);
    let more = !user.uid.is_empty() || !user.groups.is_empty() || !user.extra.is_empty();
    if user.name.is_empty() && more {
        let user = in_go(&user);
        return Err(format!(
            "requested {user} without impersonating a user name"
        ));
    }
    Ok((!user.name.is_empty()).then_some(user))
}

/// Percent-decoded; as it is where that does not work.
pub(crate) fn unescape(key: &str) -> String {
    let decoded = percent::decode(key.as_bytes()).ok();
    let decoded = decoded.and_then(|it| String::from_utf8(it.into_owned()).ok());
    decoded.unwrap_or_else(|| key.to_owned())
}

/// As Go's `%#v` shows it in upstream's message.
fn in_go(user: &User) -> String {
    let list = |values: &[String]| {
        let values: Vec<_> = values.iter().map(|it| quote(it)).collect();
        format!("[]string{{{}}}", values.join(", "))
    };
    let groups = if user.groups.is_empty() {
        "[]string(nil)".to_owned()
    } else {
        list(&user.groups)
    };
    let mut extra = "map[string][]string(nil)".to_owned();
    if !user.extra.is_empty() {
        let pairs = user.extra.iter();
        let pairs: Vec<_> = pairs
            .map(|(key, values)| format!("{}:{}", quote(key), list(values)))
            .collect();
        extra = format!("map[string][]string{{{}}}", pairs.join(", "));
    }
    let (name, uid) = (quote(&user.name), quote(&user.uid));
    format!("&user.DefaultInfo{{Name:{name}, UID:{uid}, Groups:{groups}, Extra:{extra}}}")
}
