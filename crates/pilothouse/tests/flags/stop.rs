//! How it ends: what is under way finishes, watches close, data is safe.

use std::io::{Read as _, Write as _};

use rustix::process::Signal;

use super::client::finish;
use super::program::{Program, until};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MAP: &str = r#"{"metadata":{"name":"late"},"data":{"k":"v"}}"#;

#[test]
fn what_is_under_way_finishes_and_watches_close() {
    let server = Program::serve::<&str>(&[]);
    let client = server.admin();
    let mut watch = client.watch(&format!("{MAPS}?watch=true"));
    let mut post = client.begin_post(MAPS, MAP.len());
    let (first, rest) = MAP.split_at(10);
    post.write_all(first.as_bytes()).unwrap();
    server.signal(Signal::INT);
    // Ends with the last chunk: not cut off.
    let mut events = Vec::new();
    watch.read_to_end(&mut events).unwrap();
    assert!(
        events.ends_with(b"0\r\n\r\n"),
        "{}",
        String::from_utf8_lossy(&events)
    );
    post.write_all(rest.as_bytes()).unwrap();
    finish(&mut post).unwrap().expect(201);
    let (status, said, place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("stopped, all data is safe"), "{said}");
    let server = Program::serve_in::<&str>(place, &[]);
    server.admin().get(&format!("{MAPS}/late")).expect(200);
}

#[test]
fn the_second_signal_does_not_wait() {
    let server = Program::serve::<&str>(&[]);
    let client = server.admin();
    let mut watch = client.watch(&format!("{MAPS}?watch=true"));
    // Never finished.
    let _post = client.begin_post(MAPS, MAP.len());
    server.signal(Signal::INT);
    watch.read_to_end(&mut Vec::new()).unwrap();
    server.signal(Signal::INT);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("stopped at once"), "{said}");
}

#[test]
fn those_who_ask_for_nothing_hold_up_nobody() {
    let server = Program::serve::<&str>(&[]);
    let client = server.admin();
    // One in the middle of its handshake, one that is idle.
    let _silent = std::net::TcpStream::connect(client.address).unwrap();
    let _idle = client.connect().unwrap();
    server.signal(Signal::TERM);
    let (status, said, _place) = server.ended();
    assert_eq!(status.code(), Some(0), "{said}");
}

#[test]
fn the_shutdown_delay_goes_on_serving_but_is_not_ready() {
    let server = Program::serve(&["--shutdown-delay-duration", "10m"]);
    let client = server.admin();
    assert_eq!(client.get("/readyz").code, 200);
    server.signal(Signal::TERM);
    until("readyz fails", || client.get("/readyz").code == 500);
    assert_eq!(client.get("/livez").code, 200);
    client
        .post(MAPS, &json::parse(MAP.as_bytes()).unwrap())
        .expect(201);
    let failed = client.get("/readyz?verbose").body;
    assert!(failed.contains("[-]shutdown failed"), "{failed}");
    server.signal(Signal::TERM);
    assert_eq!(server.ended().0.code(), Some(1));
}

#[test]
fn a_reader_of_its_output_that_leaves_does_not_end_it() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;
    let place = tempfile::tempdir().unwrap();
    let mut child = super::program::pilothouse()
        .args(["serve", "--secure-port", "0", "--data-dir"])
        .arg(place.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    let config = place.path().join("admin.kubeconfig");
    until("it serves", || {
        assert_eq!(child.try_wait().unwrap(), None, "it ended");
        let config = std::fs::read_to_string(&config).unwrap_or_default();
        !config.is_empty()
            && super::client::Client::new(&config)
                .try_send("GET", "/readyz", "")
                .is_ok_and(|it| it.code == 200)
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
