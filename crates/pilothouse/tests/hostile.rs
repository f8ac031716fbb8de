//! What comes from those who mean no good, or do not know better: a Status with the right code, and a server that goes on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use json::Value;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use testkit::server::Server;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

struct Client {
    server: Server,
    tls: Arc<ClientConfig>,
}

/// Code and body.
type Answer = (u16, String);

impl Client {
    async fn start() -> Self {
        let server = Server::start().await;
        let kubeconfig = std::fs::read(server.kubeconfig()).unwrap();
        let kubeconfig = yaml::to_json(&kubeconfig).unwrap();
        let cluster = &kubeconfig
            .get("clusters")
            .and_then(Value::as_array)
            .unwrap()[0];
        let authority = cluster
            .str_at(&["cluster", "certificate-authority-data"])
            .unwrap();
        let authority =
            base64::Engine::decode(&base64::engine::general_purpose::STANDARD, authority).unwrap();
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(&authority).unwrap())
            .unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self {
            server,
            tls: Arc::new(tls),
        }
    }

    /// Sends bytes as they are, and reads until the server ends the connection.
    fn raw(&self, request: &[u8]) -> String {
        let socket = TcpStream::connect(self.server.address).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let session = ClientConnection::new(self.tls.clone(), name).unwrap();
        let mut stream = StreamOwned::new(session, socket);
        // The server may answer and hang up before it has read everything.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        let answer = self.raw(&request);
        let code = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (code.unwrap_or(0), body.to_owned())
    }

    fn admin(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        let headers = format!("Authorization: Bearer admin-token\r\nContent-Type: {kind}\r\n");
        self.send(method, path, &headers, body)
    }

    fn post(&self, body: &[u8]) -> Answer {
        self.admin("POST", MAPS, "application/json", body)
    }

    /// It is still there, and answers.
    fn lives(&self) {
        let (code, body) = self.send("GET", "/livez", "", b"");
        assert_eq!((code, body.as_str()), (200, "ok"));
    }
}

#[track_caller]
fn refused(answer: &Answer, code: u16, text: &str) {
    assert_eq!(answer.0, code, "{}", answer.1);
    let status = json::parse(answer.1.as_bytes()).unwrap();
    assert_eq!(status.str_at(&["kind"]), Some("Status"), "{}", answer.1);
    let message = status.str_at(&["message"]).unwrap_or_default();
    assert!(message.contains(text), "{message}");
}

#[tokio::test]
async fn bodies_that_are_no_objects_are_refused() {
    let client = Client::start().await;
    refused(
        &client.post(b"{bad"),
        400,
        "invalid character 'b' looking for beginning of object key string",
    );
    refused(
        &client.post(b"[]"),
        400,
        "cannot unmarshal array into Go value",
    );
    refused(&client.post(b""), 400, "unexpected end of JSON input");
    refused(
        &client.post(b"{\"metadata\":{\"name\":\"a\xff\"}}"),
        400,
        "",
    );
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    let deep = [
        b"{\"metadata\":{\"name\":\"a\"},\"data\":".as_slice(),
        &deep,
        b"}",
    ]
    .concat();
    refused(&client.post(&deep), 400, "depth");
    refused(
        &client.post(b"{\"metadata\":{\"name\":\"a\"},\"data\":{\"x\":1}}"),
        400,
        "cannot unmarshal number",
    );
    let large = vec![b' '; (3 << 20) + 1];
    refused(&client.post(&large), 413, "limit is 3145728");
    refused(
        &client.admin("POST", MAPS, "application/xml", b"{}"),
        415,
        "unknown format",
    );
    refused(
        &client.admin("POST", MAPS, "application/cbor", b"{}"),
        415,
        "unknown format",
    );
    refused(
        &client.admin(
            "POST",
            MAPS,
            "application/vnd.kubernetes.protobuf",
            b"k8s\0\xff\xff\xff\xff",
        ),
        400,
        "",
    );
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned()
        + &(b'b'..=b'l')
            .map(|it| (char::from(it), char::from(it - 1)))
            .map(|(it, last)| format!("{it}: &{it} [*{last},*{last},*{last},*{last},*{last},*{last},*{last},*{last},*{last}]\n"))
            .collect::<Vec<_>>()
            .concat();
    refused(
        &client.admin("POST", MAPS, "application/yaml", bomb.as_bytes()),
        400,
        "excessive aliasing",
    );
    client.lives();
}

#[tokio::test]
async fn paths_and_queries_do_not_trick_it() {
    let client = Client::start().await;
    let get = |path: &str| client.admin("GET", path, "application/json", b"");
    let (code, _) = get(&format!("{MAPS}/..%2f..%2fkube-system%2fsecrets"));
    assert_eq!(code, 404);
    assert_eq!(
        get("/api/v1/namespaces/default/../../../../etc/passwd").0,
        404
    );
    assert_eq!(
        get("/api/v1/namespaces/%2e%2e/secrets").0,
        200,
        "a namespace of that name has none"
    );
    refused(&get("/api/v1/namespaces/%zz/secrets"), 400, "");
    refused(
        &get("/api/v1/nothings"),
        404,
        "the server could not find the requested resource",
    );
    assert_eq!(get("/apis/no.such/v1/things").0, 404);
    refused(
        &get(&format!("{MAPS}?labelSelector=a%3D%3D%3Db")),
        400,
        "unable to parse requirement",
    );
    refused(
        &get(&format!("{MAPS}?fieldSelector=spec.x%3Db")),
        400,
        "is not a known field selector",
    );
    refused(
        &get(&format!("{MAPS}?limit=1&continue=!!")),
        400,
        "continue",
    );
    refused(&get(&format!("{MAPS}?resourceVersion=-1")), 400, "");
    refused(
        &get(&format!("{MAPS}?resourceVersion=99999999")),
        504,
        "Too large resource version",
    );
    let token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi9zZWNyZXRzL3gifQ";
    refused(
        &get(&format!("{MAPS}?limit=1&continue={token}")),
        400,
        "continue",
    );
    client.lives();
}

#[tokio::test]
async fn nobody_gets_in_with_what_is_not_theirs() {
    let client = Client::start().await;
    let with = |token: &str| {
        let headers = format!("Authorization: Bearer {token}\r\n");
        client.send("GET", MAPS, &headers, b"").0
    };
    // {"alg":"none"} over a service account's claims, without and with a made-up signature.
    let none = "eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2t1YmVybmV0ZXMuZGVmYXVsdC5zdmMuY2x1c3Rlci5sb2NhbCIsInN1YiI6InN5c3RlbTpzZXJ2aWNlYWNjb3VudDprdWJlLXN5c3RlbTpkZWZhdWx0In0.";
    for token in [
        "",
        "x",
        "a.b.c",
        none,
        &format!("{none}AAAA"),
        &"a".repeat(100_000),
    ] {
        assert!(
            matches!(with(token), 401 | 403 | 431),
            "{} with {}",
            with(token),
            token.len()
        );
    }
    assert_eq!(with("admin-token"), 200);
    assert_eq!(with("alice-token"), 403);
    let headers = "Authorization: Bearer alice-token\r\nImpersonate-User: admin\r\nImpersonate-Group: system:masters\r\n";
    let answer = client.send("GET", MAPS, headers, b"");
    refused(&answer, 403, "cannot impersonate");
    let answer = client.send("GET", MAPS, "", b"");
    refused(
        &answer,
        403,
        "User \"system:anonymous\" cannot list resource \"configmaps\"",
    );
    client.lives();
}

#[tokio::test]
async fn nobody_grants_what_they_do_not_hold() {
    let client = Client::start().await;
    let local = client.server.local();
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    let may_write = json::json!({
        "metadata": {"name": "role-writer"},
        "rules": [{
            "apiGroups": ["rbac.authorization.k8s.io"],
            "resources": ["roles", "rolebindings"],
            "verbs": ["create", "update"],
        }],
    });
    local.create(roles, &may_write).await.unwrap();
    let bound = json::json!({
        "metadata": {"name": "alice"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "role-writer"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}],
    });
    local.create(bindings, &bound).await.unwrap();
    let alice = |path: &str, body: &[u8]| {
        let headers = "Authorization: Bearer alice-token\r\nContent-Type: application/json\r\n";
        client.send("POST", path, headers, body)
    };
    // The rule reaches the index a moment after it is acknowledged.
    for _ in 0..200 {
        if alice(roles, b"{}").0 != 403 {
            break;
        }
        tokio::task::yield_now().await;
    }
    let secrets = br#"{"metadata":{"name":"more"},"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]}"#;
    refused(
        &alice(roles, secrets),
        403,
        "is attempting to grant RBAC permissions not currently held",
    );
    let admin = br#"{"metadata":{"name":"me"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"alice"}]}"#;
    refused(
        &alice(bindings, admin),
        403,
        "is attempting to grant RBAC permissions not currently held",
    );
    let own = br#"{"metadata":{"name":"less"},"rules":[{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],"verbs":["create"]}]}"#;
    assert_eq!(alice(roles, own).0, 201);
}

#[tokio::test]
async fn what_is_not_http_costs_nothing() {
    let client = Client::start().await;
    for request in [
        &b"\0\0\0\0"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    ] {
        let _ = client.raw(request);
    }
    let many = (0..200)
        .map(|index| format!("X-{index}: y\r\n"))
        .collect::<Vec<_>>()
        .concat();
    let (code, _) = client.send("GET", "/livez", &many, b"");
    assert!(matches!(code, 0 | 400 | 431), "{code}");
    // Not TLS at all.
    let mut plain = TcpStream::connect(client.server.address).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    client.lives();
}
