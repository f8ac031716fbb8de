//! What the program says: help, versions, hints, the first lines.

use std::net::TcpListener;

use super::program::{Program, pilothouse, run};

#[test]
fn versions() {
    let (ok, said) = run(&["version"]);
    assert!(
        ok && said.starts_with("pilothouse ") && said.contains("\nKubernetes v1.37."),
        "{said}"
    );
    let (_, said) = run(&["version", "--output", "json"]);
    let version = json::parse(said.as_bytes()).unwrap();
    let own = format!("v{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(version.str_at(&["pilothouse"]), Some(&*own));
    assert!(
        version
            .str_at(&["kubernetes"])
            .is_some_and(|it| it.starts_with("v1.37."))
    );
    for key in ["commit", "commitDate"] {
        let text = version.str_at(&[key]).unwrap();
        assert!(!text.is_empty() && !text.contains(' '), "{said}");
    }
    let (_, said) = run(&["version", "-o", "yaml"]);
    assert_eq!(yaml::to_json(said.as_bytes()).unwrap(), version);
    let (ok, said) = run(&["version", "-o", "xml"]);
    assert!(!ok && said.contains("json, yaml"), "{said}");
}

#[test]
fn help_has_headings_and_a_line_for_each_flag() {
    let (ok, said) = run(&["serve", "--help"]);
    assert!(ok);
    let section = |heading: &str| {
        let rest = said
            .split_once(&format!("\n{heading}:\n"))
            .expect(heading)
            .1;
        rest.split("\n\n").next().unwrap_or_default().to_owned()
    };
    let cases = [
        ("Data", "--ephemeral"),
        ("Storage in etcd", "--etcd-servers"),
        ("Serving", "--tls-cert-file"),
        ("Authentication and authorization", "--client-ca-file"),
        ("Service account tokens", "--service-account-issuer"),
        ("Objects", "--service-cluster-ip-range"),
        ("Features", "--feature-gates"),
        ("Limits", "--max-requests-inflight"),
        ("Logs", "-v, --v"),
    ];
    for (heading, flag) in cases {
        assert!(
            section(heading).contains(flag),
            "{heading}: {}",
            section(heading)
        );
    }
    assert!(!section("Storage in etcd").contains("--bind-address"));
    let flags = said.lines().filter(|it| it.trim_start().starts_with("--"));
    for line in flags {
        let text = line.trim_start();
        assert!(text.contains("  "), "no text beside it: {line:?}");
        assert!(line.chars().count() <= 170, "too long: {line:?}");
    }
}

#[test]
fn the_last_of_two_counts() {
    let (ok, said) = run(&["version", "-o", "yaml", "-o", "json"]);
    assert!(ok && said.starts_with('{'), "{said}");
}

#[test]
fn typos_and_foreign_flags_get_a_hint() {
    for (flag, expected) in [
        ("--audit-log-path=/x", "no audit log yet"),
        ("--runtime-config=api/beta=true", "--feature-gates"),
        ("--emulation-forward-compatible=true", "--emulated-version"),
        ("--allow-privileged=true", "leave it out"),
        ("--kubelet-client-key=x", "no nodes"),
        ("--etcd-count-metric-poll-period=5m", "--etcd-servers"),
        ("--insecure-port=8080", "--secure-port"),
        ("--secure-prot=1", "'--secure-port'"),
        ("--tls-cert-fle=x", "'--tls-cert-file'"),
    ] {
        let (ok, said) = run(&["serve", "--ephemeral", flag]);
        assert!(!ok && said.contains("unexpected argument"), "{said}");
        assert!(said.contains("tip:") && said.contains(expected), "{said}");
        assert!(
            said.contains("\nUsage: pilothouse serve [OPTIONS]\n"),
            "{said}"
        );
    }
    let (ok, said) = run(&["storage", "stats", "--etcd-servers", "http://127.0.0.1:1"]);
    assert!(!ok && said.contains("etcdctl snapshot save"), "{said}");
    let (_, said) = run(&["--help"]);
    let (_, commands) = said.split_once("\nCommands:\n").unwrap();
    assert!(commands.trim_start().starts_with("serve "), "{said}");
    let (ok, said) = run(&["srve"]);
    assert!(!ok && said.contains("serve"), "{said}");
}

#[test]
fn values_that_mean_nothing_are_named_with_their_flag() {
    for (flag, value) in [
        ("--secure-port", "70000"),
        ("--bind-address", "localhost"),
        ("--max-requests-inflight", "-1"),
        ("--request-timeout", "60"),
        ("--request-timeout", "0s"),
        ("--min-request-timeout", "1m"),
        ("--event-ttl", "soon"),
        ("--goaway-chance", "0.5"),
        ("--shutdown-delay-duration", "-1s"),
        ("--service-cluster-ip-range", "10.0.0.0/31"),
        ("--service-cluster-ip-range", "10.0.0.0/16,fd00::/108"),
        ("--service-node-port-range", "9-1"),
        ("--anonymous-auth", "maybe"),
        ("--tls-min-version", "VersionTLS10"),
        ("--external-hostname", "a b"),
        ("--vmodule", "x"),
        ("--v", "much"),
        ("--controllers", "nonsense"),
    ] {
        let (ok, said) = run(&["serve", "--ephemeral", &format!("{flag}={value}")]);
        assert!(!ok && said.contains(flag), "{flag}={value}: {said}");
    }
}

#[test]
fn the_first_lines_say_what_to_type() {
    let server = Program::serve::<&str>(&[]);
    let config = server.data().join("admin.kubeconfig");
    let data = server.data();
    let lines: Vec<&str> = server.start.lines().collect();
    let expected = [
        format!("  export KUBECONFIG={}", config.display()),
        "  kubectl get namespaces".to_owned(),
        format!(
            "  pilothouse storage backup --data-dir {} FILE     # also while it runs",
            data.display()
        ),
        "stop it with Ctrl-C".to_owned(),
    ];
    assert!(lines[0].contains("storage at ") && lines[1].starts_with("stored and not enforced"));
    assert!(lines[2].starts_with("serving https://127.0.0.1:"));
    assert_eq!(lines[3..], expected);
}

#[test]
fn a_printed_kubeconfig_is_all_that_is_on_stdout() {
    use std::io::Read as _;
    use std::process::Stdio;
    let mut child = pilothouse()
        .args(["serve", "--ephemeral", "--print-kubeconfig"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The last line on stderr comes after everything on stdout.
    let mut err = child.stderr.take().unwrap();
    let (mut said, mut byte) = (Vec::new(), [0]);
    while !said.ends_with(b"stop it with Ctrl-C\n") {
        assert_eq!(
            err.read(&mut byte).unwrap(),
            1,
            "{}",
            String::from_utf8_lossy(&said)
        );
        said.push(byte[0]);
    }
    child.kill().unwrap();
    let mut config = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut config)
        .unwrap();
    child.wait().unwrap();
    let config = yaml::to_json(config.as_bytes()).unwrap();
    assert_eq!(config.str_at(&["kind"]), Some("Config"));
}

#[test]
fn a_taken_port_and_a_place_that_is_none_are_explained() {
    let place = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (ok, said) = run(&["serve", "--ephemeral", "--secure-port", &port]);
    assert!(
        !ok && said.contains("--secure-port") && said.contains(&port),
        "{said}"
    );
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below = file.join("data");
    let (ok, said) = run(&["serve", "--data-dir", below.to_str().unwrap()]);
    assert!(!ok && said.contains(below.to_str().unwrap()), "{said}");
}
