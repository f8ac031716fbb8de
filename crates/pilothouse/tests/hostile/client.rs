//! A client that sends what it is told to, right or wrong.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use json::{Value, json};
use pilothouse::server::Options;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use testkit::server::Server;

use crate::MAPS;

/// For what must happen, on whatever machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(90);

pub(crate) type Stream = StreamOwned<ClientConnection, TcpStream>;

pub(crate) struct Client {
    pub(crate) server: Server,
    pub(crate) tls: Arc<ClientConfig>,
}

/// Code and body.
pub(crate) type Answer = (u16, String);

impl Client {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Options) + Send + 'static) -> Self {
        let server = Server::start_with(change).await;
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

    /// That speaks HTTP/2 from the start.
    pub(crate) fn http2(&self) -> Arc<ClientConfig> {
        let mut tls = (*self.tls).clone();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        Arc::new(tls)
    }

    pub(crate) fn tcp(&self) -> TcpStream {
        let socket = TcpStream::connect(self.server.address).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        socket.set_write_timeout(Some(DEADLINE)).unwrap();
        socket
    }

    pub(crate) fn connect(&self, tls: &Arc<ClientConfig>) -> Stream {
        let name = ServerName::try_from("localhost").unwrap();
        let session = ClientConnection::new(tls.clone(), name).unwrap();
        StreamOwned::new(session, self.tcp())
    }

    /// Sends bytes as they are, and reads until the server ends the connection.
    pub(crate) fn raw(&self, request: &[u8]) -> String {
        String::from_utf8_lossy(&self.bytes(request)).into_owned()
    }

    pub(crate) fn bytes(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = self.connect(&self.tls);
        // The server may answer and hang up before it has read everything.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        split(&self.raw(&request))
    }

    pub(crate) fn user(
        &self,
        user: &str,
        method: &str,
        path: &str,
        kind: &str,
        body: &[u8],
    ) -> Answer {
        let headers = format!("Authorization: Bearer {user}-token\r\nContent-Type: {kind}\r\n");
        self.send(method, path, &headers, body)
    }

    pub(crate) fn admin(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        self.user("admin", method, path, kind, body)
    }

    pub(crate) fn alice(&self, method: &str, path: &str, body: &Value) -> Answer {
        let kind = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        self.user("alice", method, path, kind, &json::to_vec(body))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.admin("GET", path, "application/json", b"")
    }

    pub(crate) fn post(&self, body: &[u8]) -> Answer {
        self.admin("POST", MAPS, "application/json", body)
    }

    /// As an admin, and it must work.
    pub(crate) fn make(&self, path: &str, object: &Value) -> Value {
        let (code, body) = self.admin("POST", path, "application/json", &json::to_vec(object));
        assert_eq!(code, 201, "{body}");
        json::parse(body.as_bytes()).unwrap()
    }

    /// Gives alice rules everywhere, and comes back when they count. A rule is a group, a resource and a verb.
    pub(crate) fn grant(&self, name: &str, rules: &[(&str, &str, &str)]) {
        let group = "/apis/rbac.authorization.k8s.io/v1";
        let rule = |&(group, resource, verb): &(&str, &str, &str)| json!({"apiGroups": [group], "resources": [resource], "verbs": [verb]});
        let role = json!({"metadata": {"name": name}, "rules": (rules.iter().map(rule).collect::<Value>())});
        self.make(&format!("{group}/clusterroles"), &role);
        let binding = json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}],
        });
        self.make(&format!("{group}/clusterrolebindings"), &binding);
        for &(group, resource, verb) in rules {
            let (resource, sub) = resource.split_once('/').unwrap_or((resource, ""));
            self.until_allowed(&json!({
                "group": group, "resource": resource, "subresource": sub, "verb": verb, "namespace": "default", "name": "x",
            }));
        }
    }

    /// Rules reach the authorizer a moment after they are acknowledged.
    pub(crate) fn until_allowed(&self, attributes: &Value) {
        let review = json!({"spec": {"user": "alice", "resourceAttributes": (attributes.clone())}});
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let started = Instant::now();
        loop {
            let answer = self.make(path, &review);
            if answer.at(&["status", "allowed"]) == Some(&Value::Bool(true)) {
                return;
            }
            assert!(started.elapsed() < DEADLINE, "{answer}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// It is still there, and answers. A server that waits for seconds only may hang up on a client on a slow machine.
    pub(crate) fn lives(&self) {
        let started = Instant::now();
        loop {
            let (code, body) = self.send("GET", "/livez", "", b"");
            if code == 0 && started.elapsed() < DEADLINE {
                continue;
            }
            assert_eq!((code, body.as_str()), (200, "ok"));
            return;
        }
    }
}

pub(crate) fn split(answer: &str) -> Answer {
    let code = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (code.unwrap_or(0), body.to_owned())
}

pub(crate) fn message(answer: &Answer) -> String {
    let status = json::parse(answer.1.as_bytes()).unwrap_or_default();
    assert_eq!(status.str_at(&["kind"]), Some("Status"), "{}", answer.1);
    status.str_at(&["message"]).unwrap_or_default().to_owned()
}

/// With exactly this text.
#[track_caller]
pub(crate) fn says(answer: &Answer, code: u16, text: &str) {
    assert_eq!((answer.0, &*message(answer)), (code, text));
}

/// With this text somewhere.
#[track_caller]
pub(crate) fn refused(answer: &Answer, code: u16, text: &str) {
    assert_eq!(answer.0, code, "{}", answer.1);
    let message = message(answer);
    assert!(message.contains(text), "{message}");
}
