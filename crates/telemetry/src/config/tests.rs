use super::*;
use std::time::Duration;

fn written(body: &str) -> Result<Written, String> {
    let text =
        format!("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n{body}");
    checked(&text)
}

fn client(body: &str) -> Result<Written, String> {
    let head =
        "apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: OpenTelemetryClientConfiguration\n";
    checked(&format!("{head}{body}"))
}

fn checked(text: &str) -> Result<Written, String> {
    let written = decode(text.as_bytes()).map_err(|error| error.to_string())?;
    let errors = written.validate();
    if errors.is_empty() {
        return Ok(written);
    }
    Err(field::aggregate(&errors))
}

fn target(written: &Written, variables: &[(&str, &str)]) -> Result<Target, String> {
    let environment = variables.iter().copied().collect();
    written.target(
        Signal::Traces,
        Protocol::default(),
        &environment,
        &Selector::default(),
    )
}

fn tcp(host: &str, port: u16) -> Place {
    Place::Tcp {
        host: host.into(),
        port,
    }
}

#[test]
fn endpoints_lead_where_grpc_says() {
    let cases = [
        ("", tcp("localhost", 4317)),
        ("endpoint: localhost:4317\n", tcp("localhost", 4317)),
        ("endpoint: 127.0.0.1:1\n", tcp("127.0.0.1", 1)),
        ("endpoint: '[::1]:5'\n", tcp("::1", 5)),
        ("endpoint: collector\n", tcp("collector", 4317)),
        ("endpoint: dns:///a.b:7\n", tcp("a.b", 7)),
        ("endpoint: dns://8.8.8.8/a.b:7\n", tcp("a.b", 7)),
        ("endpoint: dns://a.b:7\n", tcp("a.b", 7)),
        (
            "endpoint: unix:///run/otel.sock\n",
            Place::Unix("/run/otel.sock".into()),
        ),
        (
            "endpoint: unix-abstract:///otel\n",
            Place::Unix("\0/otel".into()),
        ),
        (
            "endpoint: unix-abstract://otel\n",
            Place::Unix("\0otel".into()),
        ),
        ("endpoint: dns:a.b:7\n", tcp("a.b", 7)),
        ("endpoint: dns:7\n", tcp("dns", 7)),
        ("endpoint: unix:/a\n", Place::Unix("/a".into())),
        ("protocol: http/protobuf\n", tcp("localhost", 4318)),
    ];
    for (body, want) in cases {
        let found = target(&written(body).unwrap(), &[]).unwrap();
        assert_eq!(found.place, want, "{body}");
        assert!(found.tls.is_none());
    }
}

#[test]
fn mistakes_are_told_in_upstreams_words() {
    let scheme = |it: &str| {
        format!(
            "unsupported scheme: {it}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md"
        )
    };
    let cases = [
        (
            "samplingRatePerMillion: -1\n",
            "samplingRatePerMillion: Invalid value: -1: sampling rate must be positive".to_owned(),
        ),
        (
            "samplingRatePerMillion: 1000001\n",
            "samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million".to_owned(),
        ),
        (
            "endpoint: http://localhost:4317\n",
            format!(r#"endpoint: Invalid value: "http://localhost:4317": {}"#, scheme("http")),
        ),
        (
            "endpoint: 'a:b'\n",
            r#"endpoint: Invalid value: "dns://a:b": parse "dns://a:b": invalid port ":b" after host"#.to_owned(),
        ),
        (
            "endpoint: a b\n",
            r#"endpoint: Invalid value: "dns://a b": parse "dns://a b": invalid character " " in host name"#.to_owned(),
        ),
        (
            "endpoint: '://x'\n",
            r#"endpoint: Invalid value: "://x": parse "://x": missing protocol scheme"#.to_owned(),
        ),
        (
            "endpoint: //x\n",
            format!(r#"endpoint: Invalid value: "//x": {}"#, scheme("")),
        ),
        (
            "endpoint: 1a://x\n",
            r#"endpoint: Invalid value: "1a://x": parse "1a://x": first path segment in URL cannot contain colon"#.to_owned(),
        ),
        (
            "endpoint: ''\n",
            r#"endpoint: Invalid value: "dns://": it names no host"#.to_owned(),
        ),
        (
            "endpont: x\n",
            r#"strict decoding error: unknown field "endpont""#.to_owned(),
        ),
        (
            "url: x\n",
            r#"strict decoding error: unknown field "url""#.to_owned(),
        ),
        (
            "samplingRatePerMillion: x\n",
            "json: cannot unmarshal string into Go struct field TracingConfiguration.TracingConfiguration.samplingRatePerMillion of type int32".to_owned(),
        ),
        (
            "protocol: http/json\n",
            r#"protocol: Unsupported value: "http/json": supported values: "grpc", "http/protobuf""#.to_owned(),
        ),
        (
            "headers: {'a b': c}\n",
            "headers[a b]: Invalid value: is no header of HTTP".to_owned(),
        ),
        (
            "tls: {clientCert: /nowhere}\n",
            r#"[tls: Required value: clientCert and clientKey go together, tls: Invalid value: "/nowhere": does not exist]"#.to_owned(),
        ),
        (
            "tls: {cert: /nowhere}\n",
            r#"strict decoding error: unknown field "tls.cert""#.to_owned(),
        ),
    ];
    for (body, want) in cases {
        assert_eq!(written(body).unwrap_err(), want, "{body}");
    }
    let gone = read(Path::new("/no/such")).unwrap_err().to_string();
    let want =
        "failed to read tracing config: unable to read tracing configuration from \"/no/such\"";
    assert_eq!(
        gone,
        format!("{want}: open /no/such: no such file or directory")
    );
}

#[test]
fn the_first_form_of_the_file() {
    let found = target(&client("url: https://collector:4317\n").unwrap(), &[]).unwrap();
    assert_eq!(found.place, tcp("collector", 4317));
    assert!(found.tls.is_some());
    let found = client("url: http://c:4318/x/y\nprotocol: http/protobuf\n").unwrap();
    let found = target(&found, &[]).unwrap();
    assert_eq!(found.path.as_deref(), Some("/x/y"));
    let found = client("url: collector:1\nsamplingRatePerMillion: 5\n").unwrap();
    assert_eq!(found.rate, Some(5));
    let found = client("service: {namespace: a, name: b}\n").unwrap();
    let place = Place::Service {
        namespace: "a".into(),
        name: "b".into(),
        port: 4317,
    };
    assert_eq!(target(&found, &[]).unwrap().place, place);
    let plain = collector("http://c:1", &Environment::default(), &Selector::default());
    assert_eq!(plain.unwrap().place, tcp("c", 1));
    let wrong = collector("ftp://c", &Environment::default(), &Selector::default());
    assert!(wrong.is_err());
    for (body, want) in [
        ("service: {name: b}\n", "service.namespace: Required value"),
        (
            "service: {namespace: a, name: b, port: 0}\n",
            "service.port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ),
        (
            "url: x\nservice: {namespace: a, name: b}\n",
            "service: Forbidden: may not be set together with url",
        ),
        (
            "endpoint: x\n",
            r#"strict decoding error: unknown field "endpoint""#,
        ),
    ] {
        assert_eq!(client(body).unwrap_err(), want, "{body}");
    }
}

#[test]
fn the_environment_counts_where_the_file_says_nothing() {
    let empty = written("").unwrap();
    let found = target(
        &empty,
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:1"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces:2"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=b%20c"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1500"),
        ],
    );
    let found = found.unwrap();
    assert_eq!(found.place, tcp("traces", 2));
    assert!(found.tls.is_none());
    assert_eq!(found.headers[0].1, "b c");
    assert!(found.gzip && found.timeout == Duration::from_millis(1500));
    assert!(
        !format!("{found:?}").contains("b c"),
        "a header's value is nobody's business"
    );
    let http = [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://all/base"),
    ];
    let found = target(&empty, &http).unwrap();
    assert_eq!((found.place, &*found.base), (tcp("all", 443), "/base"));
    assert!(found.tls.is_some());
    let named = written("endpoint: file:9\nprotocol: grpc\nheaders: {x: z}\n").unwrap();
    let found = target(&named, &http).unwrap();
    assert_eq!(found.place, tcp("file", 9));
    assert_eq!((found.protocol, found.headers.len()), (Protocol::Grpc, 1));
    assert!(found.tls.is_none());
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://x"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a b=c"),
    ] {
        let error = target(&empty, &[(name, value)]).unwrap_err();
        assert!(error.contains("OTEL_EXPORTER_OTLP_"), "{error}");
    }
    let settings = |name: &str, value: &str| {
        [(name, value)]
            .into_iter()
            .collect::<Environment>()
            .settings()
    };
    assert_eq!(
        settings("OTEL_BSP_SCHEDULE_DELAY", "20").unwrap().0.delay,
        Duration::from_millis(20)
    );
    assert_eq!(settings("OTEL_BSP_MAX_QUEUE_SIZE", "7").unwrap().1, 7);
    assert!(settings("OTEL_BSP_MAX_QUEUE_SIZE", "0").is_err());
}

#[test]
fn a_change_is_found_and_a_mistake_leaves_the_old() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tracing.yaml");
    let write = |body: &str| {
        let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n";
        std::fs::write(&path, format!("{head}{body}")).unwrap();
    };
    write("endpoint: a:1\n");
    let opened = Follow::open(&path, Environment::default(), Selector::default());
    let (mut follow, tracing) = opened.unwrap();
    assert_eq!(tracing.target.place, tcp("a", 1));
    assert!(follow.changed().is_none());
    write("endpoint: b:2\nsamplingRatePerMillion: 7\n");
    let tracing = follow.changed().unwrap().unwrap();
    assert_eq!(tracing.target.place, tcp("b", 2));
    assert_eq!(tracing.sampling_rate_per_million, 7);
    assert!(follow.changed().is_none());
    write("endpoint: http://x\n");
    assert!(follow.changed().unwrap().is_err());
    assert!(follow.changed().is_none(), "it is told once");
    std::fs::remove_file(&path).unwrap();
    assert!(follow.changed().unwrap().is_err());
    write("endpoint: b:2\n");
    assert!(follow.changed().unwrap().is_ok());
}
