//! How kubectl finds and trusts the server.

mod merge;

use auth::pki::{CertifiedKey, ServingNames};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Object, Value, json};

pub use merge::{MergeError, merge};

/// Everything in one text: no file beside it is needed.
#[derive(Clone, Debug)]
pub struct Kubeconfig<'a> {
    /// What cluster and context are called.
    pub name: &'a str,
    pub user: &'a str,
    pub trust: &'a Trust,
    pub client: &'a CertifiedKey,
}

/// Where a server is, and how to know that it is the right one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// An `https` URL.
    pub server: String,
    /// PEM of the authority of its certificate.
    pub authorities: String,
    /// What its certificate calls it, if that is not how it is reached.
    pub server_name: Option<String>,
}

impl Trust {
    /// For a server at `address` with a certificate that was given to it.
    ///
    /// Its authority is known only if it follows the certificate in the file; the certificate itself counts as its own
    /// authority then, as Go's clients take it.
    pub fn in_certificate(address: std::net::SocketAddr, chain: &str) -> Self {
        let names = ServingNames::of(chain);
        let reached = names
            .as_ref()
            .is_some_and(|it| it.ips.contains(&address.ip()));
        let name = names.filter(|_| !reached);
        let name = name.and_then(|it| it.names.into_iter().next());
        Self {
            server: format!("https://{address}"),
            authorities: chain.to_owned(),
            server_name: name.map(|it| it.replace('*', "kubernetes")),
        }
    }

    /// What an earlier kubeconfig says of its first cluster.
    pub fn read(text: &str) -> Option<Self> {
        let config = yaml::to_json(text.as_bytes()).ok()?;
        let clusters = config.get("clusters")?.as_array()?;
        let cluster = clusters.first()?.get("cluster")?;
        let authorities = cluster.str_at(&["certificate-authority-data"])?;
        let authorities = STANDARD.decode(authorities).ok()?;
        Some(Self {
            server: cluster.str_at(&["server"])?.to_owned(),
            authorities: String::from_utf8(authorities).ok()?,
            server_name: cluster.str_at(&["tls-server-name"]).map(str::to_owned),
        })
    }
}

impl Kubeconfig<'_> {
    pub fn to_value(&self) -> Value {
        let mut cluster = Object::new();
        cluster.insert("server", &*self.trust.server);
        let authorities = STANDARD.encode(&self.trust.authorities);
        cluster.insert("certificate-authority-data", authorities);
        if let Some(name) = &self.trust.server_name {
            cluster.insert("tls-server-name", &**name);
        }
        // Many clusters may be in one file: what a user is called there names its cluster too.
        let user = format!("{}@{}", self.user, self.name);
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": (self.name), "cluster": cluster}],
            "users": [{
                "name": (&*user),
                "user": {
                    "client-certificate-data": (STANDARD.encode(&self.client.certificate)),
                    "client-key-data": (STANDARD.encode(&self.client.key)),
                },
            }],
            "contexts": [{
                "name": (self.context()),
                "context": {"cluster": (self.name), "user": (&*user)},
            }],
            "current-context": (self.context()),
        })
    }

    /// The admin is whom the name alone stands for.
    pub fn context(&self) -> String {
        if self.user == ADMIN {
            self.name.to_owned()
        } else {
            format!("{}@{}", self.user, self.name)
        }
    }
}

/// What the admin of a data directory is called in kubeconfigs.
pub const ADMIN: &str = "admin";

impl std::fmt::Display for Kubeconfig<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&yaml::value_to_string(&self.to_value()))
    }
}
