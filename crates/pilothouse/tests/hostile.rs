//! What comes from those who mean no good, or do not know better: a Status with the right code, and a server that goes
//! on. Texts are those of a kube-apiserver asked the same.

#[path = "hostile/bodies.rs"]
mod bodies;
#[path = "hostile/certificates.rs"]
mod certificates;
#[path = "hostile/client.rs"]
mod client;
#[path = "hostile/connections.rs"]
mod connections;
#[path = "hostile/grants.rs"]
mod grants;
#[path = "hostile/heads.rs"]
mod heads;
#[path = "hostile/http2.rs"]
mod http2;
#[path = "hostile/impersonation.rs"]
mod impersonation;
#[path = "hostile/kubelets.rs"]
mod kubelets;
#[path = "hostile/paths.rs"]
mod paths;
#[path = "hostile/pods.rs"]
mod pods;
#[path = "hostile/readers.rs"]
mod readers;
#[path = "hostile/tokens.rs"]
mod tokens;
#[path = "hostile/unread.rs"]
mod unread;
#[path = "hostile/watches.rs"]
mod watches;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
