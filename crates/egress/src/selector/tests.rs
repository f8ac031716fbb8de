use super::*;

fn parse(selections: &str) -> Result<Selector, String> {
    let text = format!(
        "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n{selections}"
    );
    Selector::parse(text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn each_network_has_its_way() {
    let found = parse(
        "- name: master\n  connection:\n    proxyProtocol: HTTPConnect\n    transport:\n      uds:\n        udsName: /a.sock\n\
         - name: Cluster\n  connection:\n    proxyProtocol: HTTPConnect\n    transport:\n      tcp:\n        url: http://[::1]:8131\n\
         - name: etcd\n  connection:\n    proxyProtocol: Direct\n",
    );
    let found = found.unwrap();
    let way = |network| format!("{:?}", found.dialer(network).proxy);
    assert_eq!(way(Network::ControlPlane), r#"Some(Unix("/a.sock"))"#);
    assert_eq!(
        way(Network::Cluster),
        r#"Some(Tcp { host: "[::1]", port: 8131 })"#
    );
    assert_eq!(way(Network::Etcd), "None");
    let empty = parse("").unwrap();
    assert!(empty.dialer(Network::Cluster).is_direct());
}

#[test]
fn mistakes_are_told_in_upstreams_words() {
    let invalid = |text: &str| format!("failed to validate egress selector configuration: {text}");
    let one = |connection: &str| format!("- name: cluster\n  connection: {connection}\n");
    let tcp = |tcp: &str| {
        one(&format!(
            "{{proxyProtocol: HTTPConnect, transport: {{tcp: {tcp}}}}}"
        ))
    };
    let cases = [
        (
            one("{proxyProtocol: Socks}"),
            invalid(r#"service.connection.protocol: Unsupported value: "Socks": supported values: "Direct", "HTTPConnect", "GRPC""#),
        ),
        (
            one("{proxyProtocol: Direct, transport: {}}"),
            invalid(r#"service.connection.transport: Invalid value: "direct": config must be absent for direct connect"#),
        ),
        (
            one("{proxyProtocol: HTTPConnect}"),
            invalid("service.connection.transport: Required value: transport must be set for HTTPConnect"),
        ),
        (
            one("{proxyProtocol: HTTPConnect, transport: {}}"),
            invalid("service.connection.tcp: Required value: One of TCP or UDS must be set"),
        ),
        (
            one("{proxyProtocol: HTTPConnect, transport: {tcp: {url: a}, uds: {udsName: b}}}"),
            invalid(r#"service.connection.tcp: Invalid value: {"URL":"a","TLSConfig":null}: TCP and UDS cannot both be set"#),
        ),
        (
            one("1"),
            "failed to read egress selector config: json: cannot unmarshal number into Go struct field EgressSelection.egressSelections.connection of type v1beta1.Connection".to_owned(),
        ),
        (
            one("{proxyProtocol: HTTPConnect, transport: {uds: {}}}"),
            invalid(r#"service.connection.udsName: Invalid value: "nil": must be present for UDS connections"#),
        ),
        (
            tcp("{url: 'ftp://x'}"),
            invalid(r#"service.connection.url: Invalid value: "ftp://x": supported connection protocols are http:// and https://"#),
        ),
        (
            tcp("{url: 'http://x:1', tlsConfig: {}}"),
            invalid(r#"service.connection.tlsConfig: Invalid value: "nil": config must not be present when using HTTP"#),
        ),
        (
            tcp("{url: 'https://x:1'}"),
            invalid("service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS"),
        ),
        (
            tcp("{url: 'https://x:1', tlsConfig: {clientCert: /nowhere}}"),
            invalid(
                r#"[service.connection.tlsConfig.clientCert: Invalid value: "/nowhere": TLS client cert does not exist, service.connection.tlsConfig.clientKey: Invalid value: "nil": Using TLS requires requires clientKey]"#,
            ),
        ),
        (
            "- {name: etcd, connection: {proxyProtocol: Direct}}\n- {name: ETCD, connection: {proxyProtocol: Direct}}\n".to_owned(),
            invalid(r#"service.connection[1]: Duplicate value: "etcd""#),
        ),
        (
            "- {name: Master, connection: {proxyProtocol: Direct}}\n".to_owned(),
            invalid(r#"service.connection: Unsupported value: "master": supported values: "cluster", "controlplane", "etcd""#),
        ),
        (
            "- {name: etcd, conection: {}}\n".to_owned(),
            r#"failed to read egress selector config: strict decoding error: unknown field "egressSelections[0].conection""#.to_owned(),
        ),
        (
            one("{proxyProtocol: GRPC, transport: {uds: {udsName: /a}}}"),
            r#"failed to setup egress selector: failed to create dialer for egressSelection "cluster": proxyProtocol GRPC, konnectivity's tunnel, is not supported: use HTTPConnect"#.to_owned(),
        ),
    ];
    for (text, want) in cases {
        assert_eq!(parse(&text).unwrap_err(), want, "{text}");
    }
    let gone = Selector::read(Path::new("/no/such/file")).unwrap_err();
    let want = "unable to read egress selector configuration from \"/no/such/file\"";
    assert_eq!(
        gone.to_string(),
        format!(
            "failed to read egress selector config: {want} [open /no/such/file: no such file or directory]"
        )
    );
}

#[test]
fn authorities() {
    for (text, want) in [
        ("host:1", Some(("host", 1))),
        ("host", Some(("host", 80))),
        ("[::1]:5", Some(("[::1]", 5))),
        ("[::1]", Some(("[::1]", 80))),
        ("host:x", None),
        ("", None),
        (":1", None),
    ] {
        let want = want.map(|(host, port)| (host.to_owned(), port));
        assert_eq!(split(text, 80), want, "{text}");
    }
}
