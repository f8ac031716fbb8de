//! Tells servers beside us whom to believe: the `ConfigMap` `extension-apiserver-authentication`.

use apiserver::local::Local;
use auth::RequestHeader;
use auth::pki::combine;
use json::{Object, Value, json};
use meta::Status;

use crate::{bootstrap, condition};

const MAPS: &str = "/api/v1/namespaces/kube-system/configmaps";
const NAME: &str = "extension-apiserver-authentication";
const CLIENTS: &str = "client-ca-file";
const PROXIES: &str = "requestheader-client-ca-file";

/// Whose word counts with this server.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// PEM of the authorities whose client certificates count.
    pub client_authorities: String,
    /// PEM of the authorities whose clients speak for others, and how they do.
    pub proxies: Option<(String, RequestHeader)>,
}

impl Trust {
    /// Adds what this server has to what others over the same store have said.
    pub(crate) async fn publish(&self, client: &Local) -> Result<(), Status> {
        let now = condition::unix();
        let wanted = self.data(&Value::Null, now);
        if wanted.is_empty() {
            return Ok(());
        }
        let map = json!({
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"name": NAME, "namespace": "kube-system"},
            "data": wanted,
        });
        bootstrap::ensure(client, MAPS, &map).await?;
        let path = format!("{MAPS}/{NAME}");
        let found = client.get(&path).await?;
        let known = found.get("data").cloned().unwrap_or_default();
        let data = Value::from(self.data(&known, now));
        if data == known {
            return Ok(());
        }
        let version = meta::object::resource_version(&found);
        let change = json!({"metadata": {"resourceVersion": version}, "data": data});
        client.merge_patch(&path, &change).await.map(|_| ())
    }

    fn data(&self, known: &Value, now: i64) -> Object {
        let text = |key: &str| known.str_at(&[key]).unwrap_or_default();
        let mut data = Object::new();
        let clients = combine(&[text(CLIENTS), &self.client_authorities], now);
        if !clients.is_empty() {
            data.insert(CLIENTS, clients);
        }
        let none = (String::new(), RequestHeader::default());
        let (own, headers) = self.proxies.as_ref().unwrap_or(&none);
        let proxies = combine(&[text(PROXIES), own], now);
        if proxies.is_empty() {
            return data;
        }
        data.insert(PROXIES, proxies);
        let lists = [
            ("requestheader-allowed-names", &headers.allowed_names),
            ("requestheader-username-headers", &headers.username_headers),
            ("requestheader-uid-headers", &headers.uid_headers),
            ("requestheader-group-headers", &headers.group_headers),
            (
                "requestheader-extra-headers-prefix",
                &headers.extra_header_prefixes,
            ),
        ];
        for (key, own) in lists {
            let said = json::parse(text(key).as_bytes()).unwrap_or_default();
            let mut all: Vec<Value> = said.as_array().cloned().unwrap_or_default();
            for name in own {
                let name = Value::from(name);
                if !all.contains(&name) {
                    all.push(name);
                }
            }
            // It was added later: clients that do not know it ignore it.
            if !all.is_empty() || key != "requestheader-uid-headers" {
                data.insert(key, json::to_string(&Value::from(all)));
            }
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use auth::pki::CertificateAuthority;

    use super::*;

    const NOW: i64 = 1_800_000_000;

    #[test]
    fn servers_add_up() {
        let made = |name| {
            CertificateAuthority::generate(name, NOW)
                .unwrap()
                .certificate
        };
        let (clients, proxies, other) = (made("clients"), made("proxies"), made("other"));
        let alone = Trust {
            client_authorities: clients.clone(),
            proxies: None,
        };
        assert_eq!(alone.data(&Value::Null, NOW).len(), 1);
        let headers = RequestHeader {
            allowed_names: vec!["proxy".into()],
            username_headers: vec!["X-Remote-User".into()],
            ..RequestHeader::default()
        };
        let trust = Trust {
            client_authorities: clients.clone(),
            proxies: Some((proxies.clone(), headers)),
        };
        let first = Value::from(trust.data(&Value::Null, NOW));
        assert_eq!(
            first,
            json!({
                "client-ca-file": (clients.clone()),
                "requestheader-client-ca-file": (proxies.clone()),
                "requestheader-allowed-names": "[\"proxy\"]",
                "requestheader-username-headers": "[\"X-Remote-User\"]",
                "requestheader-group-headers": "[]",
                "requestheader-extra-headers-prefix": "[]",
            })
        );
        let again = Value::from(trust.data(&first, NOW));
        assert_eq!(again, first, "nothing new");
        let headers = RequestHeader {
            allowed_names: vec!["proxy".into(), "second".into()],
            uid_headers: vec!["X-Remote-Uid".into()],
            ..RequestHeader::default()
        };
        let second = Trust {
            client_authorities: other.clone(),
            proxies: Some((proxies.clone(), headers)),
        };
        let both = Value::from(second.data(&first, NOW));
        let text = |key| both.str_at(&[key]).unwrap_or_default();
        assert_eq!(text("client-ca-file"), format!("{clients}{other}"));
        assert_eq!(text("requestheader-client-ca-file"), proxies);
        assert_eq!(
            text("requestheader-allowed-names"),
            "[\"proxy\",\"second\"]"
        );
        assert_eq!(text("requestheader-uid-headers"), "[\"X-Remote-Uid\"]");
        assert_eq!(
            Value::from(alone.data(&both, NOW)),
            both,
            "a server without proxies keeps those of others"
        );
    }
}
