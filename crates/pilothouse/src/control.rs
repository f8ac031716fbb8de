//! A socket in the data directory through which its owner reaches the running server: one line asks, the answer is
//! `ok` and what was asked for, or `error` and why. Only the owner of the directory can open it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use store::Store;
use tokio::runtime::Handle;

/// The time in which a client must send its request, and read some of the answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn listen(socket: &Path, store: Store) -> io::Result<()> {
    // Left by a server that was killed: this process holds the lock on the store, so no other server listens there.
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
    // Threads of its own: an operator gets an answer however busy the server is.
    let runtime = Handle::current();
    thread::Builder::new()
        .name("control".to_owned())
        .spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (store, runtime) = (store.clone(), runtime.clone());
                let answering = thread::Builder::new().name("control-answer".to_owned());
                // The client is gone, or no thread can be started: there is no one to report that to.
                let _ = answering.spawn(move || answer(stream, &store, &runtime));
            }
        })?;
    Ok(())
}

fn answer(mut stream: UnixStream, store: &Store, runtime: &Handle) -> anyhow::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    let reader = stream.try_clone()?;
    BufReader::new(reader.take(256)).read_line(&mut line)?;
    match line.trim() {
        "backup" => {
            stream.write_all(b"ok\n")?;
            runtime.block_on(store.backup(stream))?;
        }
        "stats" => write!(stream, "ok\n{}", describe(store))?,
        other => writeln!(stream, "error: unknown request {other:?}")?,
    }
    Ok(())
}

/// Asks the running server. `None` if none runs here.
pub(crate) fn ask(socket: &Path, request: &str) -> anyhow::Result<Option<impl Read>> {
    let mut stream = match UnixStream::connect(socket) {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let socket = socket.display();
            return Err(error).with_context(|| {
                format!(
                    "{socket} is for its owner only, run this as the user that the server runs as"
                )
            });
        }
        Err(_) => return Ok(None),
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    writeln!(stream, "{request}").context("ask the running server")?;
    let mut answer = BufReader::with_capacity(256 << 10, stream);
    let mut line = String::new();
    answer
        .read_line(&mut line)
        .context("read the running server's answer")?;
    match line.trim() {
        "ok" => Ok(Some(answer)),
        other => bail!("the running server answers: {other}"),
    }
}

/// The store's figures as lines of `name value`.
pub(crate) fn describe(store: &Store) -> String {
    use std::fmt::Write;
    let (view, backend) = store.stats();
    let mut text = String::new();
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<20} {value}");
    };
    line("backend", &backend.kind);
    line("revision", &view.revision);
    line("compacted at", &view.floor);
    line("keys", &view.keys);
    line("leases", &backend.leases);
    line("watchers", &view.watchers);
    line("watchers dropped", &view.watchers_lagged);
    line("history bytes", &view.history_bytes);
    if let Some(bytes) = backend.disk_bytes {
        line("disk bytes", &bytes);
    }
    if let Some(bytes) = backend.log_bytes {
        line("log bytes", &bytes);
    }
    line("batches", &backend.batches);
    line("transactions", &backend.transactions);
    line("checkpoints", &backend.checkpoints);
    if let Some(reason) = &backend.checkpoint_error {
        line("checkpoint failed", reason);
    }
    line(
        "writes",
        backend
            .refusing
            .as_deref()
            .as_ref()
            .map_or(&"taken", |reason| reason as _),
    );
    text
}
