//! A wire to etcd that can be cut, or swallow what etcd answers.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Whole,
    Cut,
    /// Requests arrive, answers do not.
    OneWay,
}

#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) endpoint: String,
    mode: Arc<watch::Sender<Mode>>,
    target: Arc<Mutex<String>>,
}

impl Wire {
    pub(crate) async fn to(endpoint: &str) -> Self {
        let target = Arc::new(Mutex::new(address(endpoint)));
        let targets = target.clone();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("listen");
        let endpoint = format!("http://{}", listener.local_addr().expect("bound"));
        let mode = Arc::new(watch::Sender::new(Mode::Whole));
        let modes = mode.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if *modes.borrow() != Mode::Cut {
                    let target = targets.lock().unwrap().clone();
                    tokio::spawn(carry(client, target, modes.subscribe()));
                }
            }
        });
        Self {
            endpoint,
            mode,
            target,
        }
    }

    /// Leads elsewhere from the next connection on.
    pub(crate) fn lead_to(&self, endpoint: &str) {
        *self.target.lock().unwrap() = address(endpoint);
    }

    pub(crate) fn cut(&self) {
        self.mode.send_replace(Mode::Cut);
    }

    pub(crate) fn swallow_answers(&self) {
        self.mode.send_replace(Mode::OneWay);
    }

    /// New connections work; those from before stay as broken as they were made.
    pub(crate) fn mend(&self) {
        self.mode.send_replace(Mode::Cut);
        self.mode.send_replace(Mode::Whole);
    }
}

fn address(endpoint: &str) -> String {
    endpoint.strip_prefix("http://").expect("plain").to_owned()
}

async fn carry(mut client: TcpStream, target: String, mut mode: watch::Receiver<Mode>) {
    let Ok(mut server) = TcpStream::connect(target).await else {
        return;
    };
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut swallow = false;
    loop {
        tokio::select! {
            changed = mode.changed() => {
                let now = *mode.borrow_and_update();
                // A wire mended was cut before, even if both were too quick to see.
                if changed.is_err() || now == Mode::Cut || (now == Mode::Whole) {
                    return;
                }
                swallow = now == Mode::OneWay;
            }
            read = client.read(&mut up) => match read {
                Ok(count) if count > 0 && server.write_all(&up[..count]).await.is_ok() => {}
                _ => return,
            },
            read = server.read(&mut down) => match read {
                Ok(count) if count > 0 => {
                    if !swallow && client.write_all(&down[..count]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}
