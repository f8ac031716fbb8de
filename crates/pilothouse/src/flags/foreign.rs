//! Flags that kube-apiserver has and this server does not: the error says what to do instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Adds a tip to the error about a flag that kube-apiserver users know.
pub(crate) fn explain(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let name = flag.trim_start_matches('-').split('=').next();
    let name = name.unwrap_or_default().to_owned();
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    let usage = usage.unwrap_or_default();
    // What clap guesses from the flags so far is one that has nothing to do with the mistake.
    if let Some((command, _)) = usage.split_once(" --") {
        let plain = format!("{command} [OPTIONS]");
        error.insert(ContextKind::Usage, ContextValue::StyledStr(plain.into()));
    }
    if usage.contains("pilothouse storage ") && name.starts_with("etcd-") {
        error.remove(ContextKind::SuggestedArg);
        let tip = "this is about the store in --data-dir; data in etcd is etcd's own to check and back up: \
                   `etcdctl endpoint status`, `etcdctl snapshot save FILE`";
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    } else if let Some(hint) = hint(&name) {
        error.remove(ContextKind::SuggestedArg);
        let tip = format!("kube-apiserver's '--{name}' is not here: {hint}");
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

fn hint(name: &str) -> Option<&'static str> {
    // The longest that begins the name knows best.
    let found = HINTS
        .iter()
        .filter(|(prefix, _)| match prefix.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == *prefix,
        });
    let found = found.max_by_key(|(prefix, _)| prefix.len());
    found.map(|(_, hint)| *hint)
}

const LEAVE_OUT: &str = "leave it out";

/// A star stands for the rest of a name. One line each: it is a table.
#[rustfmt::skip]
const HINTS: &[(&str, &str)] = &[
    ("admission-control", "use --enable-admission-plugins and --disable-admission-plugins"),
    ("aggregator-*", "other API servers cannot be aggregated yet"),
    ("allow-metric-labels*", "leave it out: all of /metrics is shown"),
    ("allow-privileged", "leave it out: Pods may ask for privileged containers, Pod Security decides"),
    ("audit-*", "there is no audit log yet; -v 3 tells of each request"),
    ("authentication-token-webhook-*", "tokens are not asked about elsewhere yet"),
    ("authorization-policy-file", "ABAC is not supported, use RBAC"),
    ("authorization-webhook-*", "authorization by webhook is not supported yet"),
    ("cert-dir", "certificates are in pki/ of --data-dir"),
    ("cloud-*", LEAVE_OUT),
    ("contention-profiling", LEAVE_OUT),
    ("coordinated-leadership-*", "leaders are elected by their clients, with Leases"),
    ("cors-allowed-origins", "requests from pages of other origins are not supported"),
    ("debug-socket-path", LEAVE_OUT),
    ("default-not-ready-toleration-seconds", "it is 300 seconds"),
    ("default-unreachable-toleration-seconds", "it is 300 seconds"),
    ("delete-collection-workers", LEAVE_OUT),
    ("disable-http2-serving", "HTTP/2 is always on offer, HTTP/1.1 too"),
    ("disabled-metrics", LEAVE_OUT),
    ("emulation-forward-compatible", "leave it out: APIs that are newer than --emulated-version are not served"),
    ("enable-aggregator-routing", "other API servers cannot be aggregated yet"),
    ("enable-garbage-collector", "use --controllers '*,-garbage-collector-controller' to switch it off"),
    ("enable-logs-handler", LEAVE_OUT),
    ("encryption-provider-config*", "data is not encrypted by the server yet: keep it on an encrypted disk"),
    ("endpoint-reconciler-type", "leave it out, or --controllers '*,-kubernetes-service-controller'"),
    ("etcd-*", "of etcd's flags there are --etcd-servers, --etcd-prefix, --etcd-cafile, --etcd-certfile and --etcd-keyfile"),
    ("insecure-*", "all is served with TLS on --secure-port"),
    ("kubelet-*", "there are no nodes to talk to"),
    ("kubernetes-service-node-port", "the Service kubernetes has a cluster IP"),
    ("lease-reuse-duration-seconds", LEAVE_OUT),
    ("livez-grace-period", "leave it out: /livez is true from the start"),
    ("log-*", "lines go to stderr; see -v and --logging-format"),
    ("max-connection-bytes-per-sec", LEAVE_OUT),
    ("oidc-*", "use --token-auth-file, client certificates or service accounts"),
    ("peer-*", LEAVE_OUT),
    ("permit-*", LEAVE_OUT),
    ("profiling", LEAVE_OUT),
    ("proxy-client-*", "other API servers cannot be aggregated yet"),
    ("runtime-config", "the APIs that are on by default are served, as --feature-gates allow"),
    ("runtime-config-emulation-forward-compatible", "leave it out: APIs that are newer than --emulated-version are not served"),
    ("service-account-lookup", "leave it out: whether a token's account is still there is always checked"),
    ("service-account-signing-endpoint", "use --service-account-signing-key-file"),
    ("show-hidden-metrics-for-version", LEAVE_OUT),
    ("shutdown-send-retry-after", LEAVE_OUT),
    ("shutdown-watch-termination-grace-period", "watches end at once when the server stops"),
    ("storage-backend", "leave it out: data is in --data-dir, or in etcd with --etcd-servers"),
    ("storage-initialization-timeout", LEAVE_OUT),
    ("storage-media-type", "objects are stored as JSON, and read in any form"),
    ("strict-transport-security-directives", LEAVE_OUT),
    ("tls-curve-preferences", LEAVE_OUT),
    ("tls-sni-cert-key", "there is one certificate: --tls-cert-file"),
    ("watch-cache*", "leave it out: all is read from memory"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_explains() {
        assert_eq!(hint("audit-log-path"), hint("audit-policy-file"));
        assert_ne!(
            hint("runtime-config"),
            hint("runtime-config-emulation-forward-compatible")
        );
        assert!(
            hint("etcd-count-metric-poll-period").is_some_and(|it| it.contains("--etcd-servers"))
        );
        assert_eq!(hint("profilingx"), None);
        assert_eq!(hint("nonsense"), None);
    }
}
