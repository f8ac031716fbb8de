//! A socket in the data directory through which its owner reaches the running server: one line asks, the answer is
//! `ok` and what was asked for, or `error` and why. Only the owner of the directory can open it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use store::Store;
use tokio::net::UnixListener;

/// Whoever asks must say what within this time, and take the answer at some pace.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn listen(socket: &Path, store: Store) -> io::Result<()> {
    // Left by a server that was killed: the lock on the store tells that nobody listens there.
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let store = store.clone();
            tokio::spawn(async move {
                // Whoever asked is gone: there is nobody to tell.
                let _ = answer(stream, store).await;
            });
        }
    });
    Ok(())
}

async fn answer(stream: tokio::net::UnixStream, store: Store) -> anyhow::Result<()> {
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let reader = stream.try_clone()?;
    let request = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        BufReader::new(reader.take(256))
            .read_line(&mut line)
            .map(|_| line)
    });
    let mut stream = stream;
    match request.await??.trim() {
        "backup" => {
            stream.write_all(b"ok\n")?;
            store.backup(stream).await?;
        }
        "stats" => write!(stream, "ok\n{}", describe(&store))?,
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
