//! A client that knows no more than a kubeconfig tells.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::Value;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::TLS12;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

pub(crate) type Stream = StreamOwned<ClientConnection, TcpStream>;

pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    name: ServerName<'static>,
    roots: RootCertStore,
    identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
    token: String,
    headers: String,
    only_tls12: bool,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn new(kubeconfig: &str) -> Self {
        let config = yaml::to_json(kubeconfig.as_bytes()).unwrap();
        let first = |list: &str, item: &str| {
            let list = config.get(list).and_then(Value::as_array).unwrap();
            list.first().and_then(|it| it.get(item)).unwrap().clone()
        };
        let (cluster, user) = (first("clusters", "cluster"), first("users", "user"));
        let data = |value: &Value, field: &str| {
            let text = value.str_at(&[field]).unwrap();
            STANDARD.decode(text).unwrap()
        };
        let mut roots = RootCertStore::empty();
        for root in CertificateDer::pem_slice_iter(&data(&cluster, "certificate-authority-data")) {
            roots.add(root.unwrap()).unwrap();
        }
        let chain = data(&user, "client-certificate-data");
        let chain = CertificateDer::pem_slice_iter(&chain).map(Result::unwrap);
        let key = PrivateKeyDer::from_pem_slice(&data(&user, "client-key-data")).unwrap();
        let server = cluster.str_at(&["server"]).unwrap();
        let address = server.strip_prefix("https://").unwrap().parse().unwrap();
        let name = match cluster.str_at(&["tls-server-name"]) {
            Some(name) => ServerName::try_from(name.to_owned()).unwrap(),
            None => ServerName::from(SocketAddr::ip(&address)),
        };
        Self {
            address,
            name,
            roots,
            identity: Some((chain.collect(), key)),
            token: String::new(),
            headers: String::new(),
            only_tls12: false,
        }
    }

    /// Nobody in particular.
    pub(crate) fn anonymous(mut self) -> Self {
        self.identity = None;
        self
    }

    pub(crate) fn with_token(self, token: &str) -> Self {
        let mut client = self.anonymous();
        token.clone_into(&mut client.token);
        client
    }

    pub(crate) fn with_certificate(mut self, chain: &str, key: &str) -> Self {
        let chain = CertificateDer::pem_slice_iter(chain.as_bytes()).map(Result::unwrap);
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        self.identity = Some((chain.collect(), key));
        self
    }

    /// Lines that each request has, each with its end.
    pub(crate) fn with_headers(mut self, headers: &str) -> Self {
        headers.clone_into(&mut self.headers);
        self
    }

    pub(crate) fn with_tls12(mut self) -> Self {
        self.only_tls12 = true;
        self
    }

    pub(crate) fn tls(&self) -> ClientConfig {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = if self.only_tls12 {
            builder.with_protocol_versions(&[&TLS12])
        } else {
            builder.with_safe_default_protocol_versions()
        };
        let builder = builder.unwrap().with_root_certificates(self.roots.clone());
        match &self.identity {
            Some((chain, key)) => builder
                .with_client_auth_cert(chain.clone(), key.clone_key())
                .unwrap(),
            None => builder.with_no_client_auth(),
        }
    }

    pub(crate) fn name(&self) -> ServerName<'static> {
        self.name.clone()
    }

    /// A connection whose handshake is done.
    pub(crate) fn connect(&self) -> std::io::Result<Stream> {
        self.connect_by(self.tls())
    }

    pub(crate) fn connect_by(&self, tls: ClientConfig) -> std::io::Result<Stream> {
        let mut socket = TcpStream::connect(self.address)?;
        socket.set_read_timeout(Some(Duration::from_secs(90)))?;
        let mut session = ClientConnection::new(tls.into(), self.name()).unwrap();
        while session.is_handshaking() {
            session.complete_io(&mut socket)?;
        }
        Ok(StreamOwned::new(session, socket))
    }

    /// The head of a request, up to the empty line.
    fn head(&self, method: &str, path: &str, more: &str) -> String {
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nUser-Agent: flags-test\r\nConnection: close\r\n{}{more}",
            self.headers
        );
        if !self.token.is_empty() {
            head = format!("{head}Authorization: Bearer {}\r\n", self.token);
        }
        head + "\r\n"
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        self.try_send(method, path, body).unwrap()
    }

    pub(crate) fn try_send(&self, method: &str, path: &str, body: &str) -> std::io::Result<Answer> {
        let mut stream = self.connect()?;
        let length = body.len();
        let head = self.head(
            method,
            path,
            &format!("Content-Type: application/json\r\nContent-Length: {length}\r\n"),
        );
        stream.write_all((head + body).as_bytes())?;
        finish(&mut stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &json::to_string(body))
    }

    /// Asks for a watch and comes back when it has begun.
    pub(crate) fn watch(&self, path: &str) -> Stream {
        let mut stream = self.connect().unwrap();
        let head = self.head("GET", path, "");
        stream.write_all(head.as_bytes()).unwrap();
        let head = read_head(&mut stream);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        stream
    }

    /// A POST whose body the server waits for: `finish` is up to the caller.
    pub(crate) fn begin_post(&self, path: &str, length: usize) -> Stream {
        let mut stream = self.connect().unwrap();
        let head = self.head(
            "POST",
            path,
            &format!("Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n"),
        );
        stream.write_all(head.as_bytes()).unwrap();
        // Said when somebody begins to read the body: the request is under way then.
        let head = read_head(&mut stream);
        assert!(head.starts_with("HTTP/1.1 100 "), "{head}");
        stream
    }

    /// Who the server takes us for: name and groups, or the code of its refusal.
    pub(crate) fn whoami(&self) -> Result<(String, Vec<String>), u16> {
        let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        let answer = self.post(path, &json::json!({}));
        if answer.code != 201 {
            return Err(answer.code);
        }
        let answer = answer.json();
        let info = answer.at(&["status", "userInfo"]).unwrap();
        let groups = info.get("groups").and_then(Value::as_array).unwrap();
        let groups = groups.iter().filter_map(Value::as_str).map(str::to_owned);
        let name = info.str_at(&["username"]).unwrap().to_owned();
        Ok((name, groups.collect()))
    }
}

/// Everything up to the end of the connection.
pub(crate) fn finish(stream: &mut Stream) -> std::io::Result<Answer> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        // The server need not say goodbye.
        Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => return Err(error),
        _ => {}
    }
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let code = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    let body = if head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked")
    {
        dechunk(body)
    } else {
        body.to_owned()
    };
    Ok(Answer {
        code: code.unwrap_or(0),
        head: head.to_owned(),
        body,
    })
}

fn dechunk(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        body += &after[..length];
        rest = after[length..].trim_start_matches("\r\n");
    }
    body
}

fn read_head(stream: &mut Stream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        json::parse(self.body.as_bytes()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn expect(self, code: u16) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.head, self.body);
        self
    }
}
