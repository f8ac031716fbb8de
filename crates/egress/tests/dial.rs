//! Connections that leave through real proxies.

use std::path::Path;
use std::sync::{Arc, Mutex};

use egress::{Dialing, Network, Observer, Selector};
use testkit::certificates::Certificates;
use testkit::collector::{Listen, Secured};
use testkit::proxy::Proxy;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

fn selector(transport: &str) -> Selector {
    let text = format!(
        "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n\
         - name: cluster\n  connection: {{proxyProtocol: HTTPConnect, transport: {{{transport}}}}}\n"
    );
    Selector::parse(text.as_bytes()).unwrap()
}

fn plain(port: u16) -> Selector {
    selector(&format!("tcp: {{url: 'http://127.0.0.1:{port}'}}"))
}

fn secured(port: u16, files: &Certificates, ca: &Path, name: &str) -> Selector {
    selector(&format!(
        "tcp: {{url: 'https://127.0.0.1:{port}', tlsConfig: {{caBundle: {}, clientCert: {}, clientKey: {}, tlsServerName: '{name}'}}}}",
        ca.display(),
        files.client_cert.display(),
        files.client_key.display()
    ))
}

/// Somebody who says hello first, and then the same as the other.
async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                stream.write_all(b"hello").await.unwrap();
                let (mut read, mut write) = stream.split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
        }
    });
    port
}

/// Says one thing to whoever comes, and closes.
async fn says(answer: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 256];
            let _ = stream.read(&mut asked).await;
            let _ = stream.write_all(&answer).await;
        }
    });
    port
}

async fn talk(selector: &Selector, port: u16) -> Result<(), String> {
    let dialer = selector.dialer(Network::Cluster);
    let stream = dialer.dial("127.0.0.1", port).await;
    let mut stream = stream.map_err(|error| error.to_string())?;
    let mut heard = [0; 5];
    stream.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"hello");
    stream.write_all(b"again").await.unwrap();
    stream.flush().await.unwrap();
    stream.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"again");
    Ok(())
}

#[tokio::test]
async fn tunnels() {
    let folder = tempfile::tempdir().unwrap();
    let files = Certificates::make(folder.path());
    let socket = folder.path().join("proxy.sock");
    let port = echo().await;
    let both = Secured {
        certificates: &files,
        clients: true,
    };
    let tcp = Proxy::on(&Listen::Port, None);
    let tls = Proxy::on(&Listen::Port, Some(&both));
    let unix = Proxy::on(&Listen::Socket(socket.clone()), None);
    let to = |name: &str, ca: &Path| secured(tls.served.port(), &files, ca, name);
    talk(&plain(tcp.served.port()), port).await.unwrap();
    talk(&to("", &files.ca), port).await.unwrap();
    talk(&to("localhost", &files.ca), port).await.unwrap();
    let uds = selector(&format!("uds: {{udsName: {}}}", socket.display()));
    talk(&uds, port).await.unwrap();
    let want = vec![format!("127.0.0.1:{port}")];
    assert_eq!((tcp.asked(), unix.asked()), (want.clone(), want));
    assert_eq!(tls.asked().len(), 2);
    // Those who are not believed are not asked.
    let error = talk(&to("", &files.wrong_ca), port).await.unwrap_err();
    assert!(error.contains("signed by unknown authority"), "{error}");
    let error = talk(&to("other.example", &files.ca), port)
        .await
        .unwrap_err();
    assert!(error.contains("not other.example"), "{error}");
    assert_eq!(tls.asked().len(), 2);
    // What has no entry is reached directly.
    let direct = uds.dialer(Network::Etcd).dial("127.0.0.1", port).await;
    direct.unwrap();
    assert_eq!(unix.asked().len(), 1);
}

#[tokio::test]
async fn what_goes_wrong_is_told_in_upstreams_words() {
    let proxy = Proxy::on(&Listen::Port, None);
    proxy.refuse(403);
    let port = proxy.served.port();
    let error = talk(&plain(port), 1).await.unwrap_err();
    let want =
        format!("proxy error from 127.0.0.1:{port} while dialing 127.0.0.1:1, code 403: 403 No");
    assert_eq!(error, want);
    let reading = |port: u16, why: &str| {
        format!(
            "reading HTTP response from CONNECT to 127.0.0.1:1 via proxy 127.0.0.1:{port} failed: {why}"
        )
    };
    for (answer, why) in [
        (Vec::new(), "unexpected EOF"),
        (b"HTTP/1.1 200 OK\r\n".to_vec(), "unexpected EOF"),
        (
            b"SSH-2.0-OpenSSH\r\n\r\n".to_vec(),
            "malformed HTTP response \"SSH-2.0-OpenSSH\"",
        ),
    ] {
        let port = says(answer).await;
        let error = talk(&plain(port), 1).await.unwrap_err();
        assert_eq!(error, reading(port, why));
    }
    let mut endless = b"HTTP/1.1 200 OK\r\nX: ".to_vec();
    endless.resize(3 << 20, b'x');
    let port = says(endless).await;
    let error = talk(&plain(port), 1).await.unwrap_err();
    assert_eq!(error, reading(port, "more than 1048576 bytes of headers"));
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("none.sock");
    let uds = selector(&format!("uds: {{udsName: {}}}", socket.display()));
    let error = talk(&uds, 1).await.unwrap_err();
    let want = format!(
        "dial unix {}: connect: no such file or directory",
        socket.display()
    );
    assert_eq!(error, want);
    let direct = Selector::default();
    let error = talk(&direct, 1).await.unwrap_err();
    assert_eq!(error, "dial tcp 127.0.0.1:1: connect: connection refused");
}

#[tokio::test]
async fn what_becomes_of_connections_through_proxies_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("proxy.sock");
    let (proxy, port) = (Proxy::on(&Listen::Port, None), echo().await);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observer = {
        let seen = seen.clone();
        Observer::new(move |transport, dialing| {
            let told = match dialing {
                Dialing::Started => "started",
                Dialing::NotConnected => "not connected",
                Dialing::Refused => "refused",
                Dialing::Done(_) => "done",
            };
            seen.lock().unwrap().push((transport, told));
        })
    };
    let told = || std::mem::take(&mut *seen.lock().unwrap());
    let tcp = plain(proxy.served.port()).observed(&observer);
    talk(&tcp, port).await.unwrap();
    assert_eq!(told(), [("tcp", "started"), ("tcp", "done")]);
    proxy.refuse(403);
    talk(&tcp, port).await.unwrap_err();
    assert_eq!(told(), [("tcp", "started"), ("tcp", "refused")]);
    let uds = selector(&format!("uds: {{udsName: {}}}", socket.display()));
    let uds = uds.observed(&observer);
    talk(&uds, port).await.unwrap_err();
    assert_eq!(told(), [("uds", "started"), ("uds", "not connected")]);
    // Nothing is told of what goes directly.
    let direct = uds.dialer(Network::Etcd).dial("127.0.0.1", port).await;
    direct.unwrap();
    assert_eq!(told(), []);
}
