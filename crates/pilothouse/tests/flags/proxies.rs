//! Proxies that say in headers who asks.

use std::fs;

use super::client::Client;
use super::program::{Program, run, until};
use super::tls::{Authority, write};

const HEADERS: &str = "X-Remote-User: jane\r\nX-Remote-Uid: 42\r\nX-Remote-Group: developers\r\nX-Remote-Extra-Scopes: a\r\n";
const USUAL: [&str; 8] = [
    "--requestheader-username-headers",
    "X-Remote-User",
    "--requestheader-uid-headers",
    "X-Remote-Uid",
    "--requestheader-group-headers",
    "X-Remote-Group",
    "--requestheader-extra-headers-prefix",
    "X-Remote-Extra-",
];

fn name(client: &Client) -> Result<String, u16> {
    client.whoami().map(|(name, _)| name)
}

#[test]
fn only_a_proxy_is_believed() {
    let files = tempfile::tempdir().unwrap();
    let (proxies, clients, foreign) = (
        Authority::new("proxies"),
        Authority::new("clients"),
        Authority::new("foreign"),
    );
    let bundle = write(files.path(), "proxies.crt", &proxies.pem);
    let others = write(files.path(), "clients.crt", &clients.pem);
    let mut flags = USUAL.to_vec();
    flags.extend(["--requestheader-client-ca-file", &bundle]);
    flags.extend(["--requestheader-allowed-names", "front-proxy,second"]);
    flags.extend(["--client-ca-file", &others]);
    let server = Program::serve(&flags);
    let by = |authority: &Authority, user: &str| {
        let (certificate, key) = authority.client(user, "of-the-certificate");
        let client = server.admin().with_certificate(&certificate, &key);
        client.with_headers(HEADERS)
    };
    let (user, groups) = by(&proxies, "front-proxy").whoami().unwrap();
    assert_eq!(user, "jane");
    assert_eq!(groups, ["developers", "system:authenticated"]);
    // Signed by the right one, but not a proxy; signed by another; no certificate at all.
    assert_eq!(name(&by(&proxies, "somebody")), Err(401));
    assert_eq!(name(&by(&foreign, "front-proxy")), Err(401));
    let nobody = server.admin().anonymous().with_headers(HEADERS);
    assert_eq!(name(&nobody), Err(403));
    // Whoever else is known stays who it is.
    assert_eq!(name(&by(&clients, "front-proxy")), Ok("front-proxy".into()));
    let admin = server.admin().with_headers(HEADERS);
    assert_eq!(name(&admin), Ok("kubernetes-admin".into()));
    // A proxy that names nobody is nobody.
    let quiet = by(&proxies, "front-proxy").with_headers("X-Remote-Group: system:masters\r\n");
    assert_eq!(name(&quiet), Err(401));

    let map = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    until("the proxies are published", || {
        server.admin().get(map).code == 200
    });
    let map = server.admin().get(map).json();
    let text = |key| map.str_at(&["data", key]).unwrap_or_default();
    assert_eq!(
        text("requestheader-client-ca-file").trim(),
        proxies.pem.trim()
    );
    assert_eq!(
        text("requestheader-allowed-names"),
        "[\"front-proxy\",\"second\"]"
    );
    assert_eq!(
        text("requestheader-username-headers"),
        "[\"X-Remote-User\"]"
    );

    // The bundle changes while the server runs.
    fs::write(&bundle, &foreign.pem).unwrap();
    let new = by(&foreign, "front-proxy");
    until("the new bundle counts", || name(&new) == Ok("jane".into()));
    assert_eq!(name(&by(&proxies, "front-proxy")), Err(401));
}

#[test]
fn what_would_believe_too_many_is_refused() {
    let files = tempfile::tempdir().unwrap();
    let authority = Authority::new("one for all");
    let bundle = write(files.path(), "ca.crt", &authority.pem);
    let ca = "--requestheader-client-ca-file";
    let cases: [(&[&str], &str); 4] = [
        (
            &[ca, &bundle, "--client-ca-file", &bundle],
            "--requestheader-allowed-names",
        ),
        (&USUAL, "--requestheader-client-ca-file"),
        (
            &[ca, &bundle, "--requestheader-username-headers", " "],
            "empty name",
        ),
        (
            &[ca, &bundle, "--requestheader-uid-headers", "X-Uid"],
            "X-Remote-Uid",
        ),
    ];
    for (flags, expected) in cases {
        let arguments = [&["serve", "--ephemeral"], flags].concat();
        let (ok, said) = run(&arguments);
        assert!(!ok && said.contains(expected), "{flags:?}: {said}");
    }
}
