//! Whom a proxy in front of the server says that it speaks for: `X-Remote-User` and its like.
//!
//! Only a client whose certificate is signed by an authority for proxies is believed. Which authority that is, the caller
//! has checked; here is which of its certificates count, and what the headers say.

use crate::impersonation::unescape;
use crate::{User, x509};

/// The names of kube-apiserver's flags `--requestheader-*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHeader {
    /// Common names of proxies; if there are none, all that the authority signed.
    pub allowed_names: Vec<String>,
    pub username_headers: Vec<String>,
    pub uid_headers: Vec<String>,
    pub group_headers: Vec<String>,
    pub extra_header_prefixes: Vec<String>,
}

impl RequestHeader {
    /// As kubeadm sets up every cluster: the names that front proxies use unless they are told others.
    pub fn front_proxy() -> Self {
        let one = |name: &str| vec![name.to_owned()];
        Self {
            allowed_names: one("front-proxy-client"),
            username_headers: one("X-Remote-User"),
            uid_headers: one("X-Remote-Uid"),
            group_headers: one("X-Remote-Group"),
            extra_header_prefixes: one("X-Remote-Extra-"),
        }
    }

    /// Whether the holder of a certificate may speak for others.
    pub fn allows(&self, certificate: &[u8]) -> bool {
        if self.allowed_names.is_empty() {
            return true;
        }
        let name = x509::common_name(certificate);
        name.is_some_and(|name| self.allowed_names.contains(&name))
    }

    /// The user of the headers; `None` if no header names one. Names of headers are in lower case.
    pub fn user(&self, headers: &[(&str, &str)]) -> Option<User> {
        let name = first(headers, &self.username_headers)?;
        let mut user = User {
            name: name.to_owned(),
            uid: first(headers, &self.uid_headers)
                .unwrap_or_default()
                .to_owned(),
            ..User::default()
        };
        for wanted in &self.group_headers {
            let groups = values(headers, wanted).filter(|it| !it.is_empty());
            user.groups.extend(groups.map(str::to_owned));
        }
        for prefix in &self.extra_header_prefixes {
            for (header, value) in headers {
                let start = header.get(..prefix.len());
                if start.is_some_and(|it| it.eq_ignore_ascii_case(prefix)) {
                    let key = unescape(&header[prefix.len()..]);
                    let values = user.extra.entry(key).or_default();
                    values.push((*value).to_owned());
                }
            }
        }
        Some(user)
    }
}

/// Of the headers in their order, the first that says something. Of several values only the first is looked at.
fn first<'a>(headers: &[(&'a str, &'a str)], wanted: &[String]) -> Option<&'a str> {
    let mut found = wanted.iter().filter_map(|it| values(headers, it).next());
    found.find(|it| !it.is_empty())
}

fn values<'a>(headers: &[(&'a str, &'a str)], name: &str) -> impl Iterator<Item = &'a str> {
    let found = headers
        .iter()
        .filter(move |(header, _)| header.eq_ignore_ascii_case(name));
    found.map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pki::CertificateAuthority;

    const NOW: i64 = 1_800_000_000;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    fn usual() -> RequestHeader {
        RequestHeader {
            allowed_names: names(&["front-proxy-client"]),
            username_headers: names(&["X-Remote-User", "X-Other-User"]),
            uid_headers: names(&["X-Remote-Uid"]),
            group_headers: names(&["X-Remote-Group", "X-Other-Group"]),
            extra_header_prefixes: names(&["X-Remote-Extra-"]),
        }
    }

    #[test]
    fn what_headers_say() {
        let user = usual().user(&[
            ("x-other-group", "c"),
            ("x-remote-user", "jane"),
            ("x-remote-user", "root"),
            ("x-other-user", "root"),
            ("x-remote-uid", "42"),
            ("x-remote-group", "a"),
            ("x-remote-group", ""),
            ("x-remote-group", "b"),
            ("x-remote-extra-example.com%2fscopes", "x"),
            ("x-remote-extra-example.com%2fscopes", "y"),
            ("x-remote-extra-100%", "z"),
        ]);
        let user = user.unwrap();
        assert_eq!((&*user.name, &*user.uid), ("jane", "42"));
        assert_eq!(user.groups, ["a", "b", "c"]);
        assert_eq!(user.extra["example.com/scopes"], ["x", "y"]);
        assert_eq!(user.extra["100%"], ["z"]);
        let other = usual().user(&[("x-remote-user", ""), ("x-other-user", "joe")]);
        assert_eq!(other.map(|it| it.name), Some("joe".to_owned()));
        assert_eq!(usual().user(&[("x-remote-group", "system:masters")]), None);
        assert_eq!(
            RequestHeader::default().user(&[("x-remote-user", "a")]),
            None
        );
    }

    #[test]
    fn who_may_speak_for_others() {
        let authority = CertificateAuthority::generate("ca", NOW).unwrap();
        let authority = CertificateAuthority::from_pem(&authority).unwrap();
        let client = |name: &str| {
            let made = authority.client(name, &[], NOW).unwrap();
            pem::parse(made.certificate).unwrap().into_contents()
        };
        let (proxy, jane) = (client("front-proxy-client"), client("jane"));
        assert!(usual().allows(&proxy) && !usual().allows(&jane));
        assert!(!usual().allows(b"nonsense"));
        let any = RequestHeader::default();
        assert!(any.allows(&jane));
    }
}
