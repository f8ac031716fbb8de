//! How kubectl finds and trusts the server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A kubeconfig with everything in it: no file beside it is needed.
pub fn render(server: &str, authority: &str, certificate: &str, key: &str) -> String {
    let [authority, certificate, key] =
        [authority, certificate, key].map(|pem| STANDARD.encode(pem));
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: pilothouse
  cluster:
    server: {server}
    certificate-authority-data: {authority}
users:
- name: admin
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: pilothouse
  context:
    cluster: pilothouse
    user: admin
current-context: pilothouse
"
    )
}
