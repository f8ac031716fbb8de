//! Row `trace`: ours alone, with every request recorded and sent to a collector, or kept in memory, against none.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result};

use crate::plan::{Plan, order, say};
use crate::server::{LOG, Program, Server, TRACING};
use crate::sheet::Sheet;
use crate::verbs;

const OBJECTS: usize = 1000;
const CLIENTS: usize = 64;
/// Turns of each side in a round: what is compared is a few per cent.
const TURNS: usize = 5;

pub(crate) async fn measure(
    plan: &Plan,
    dir: &Path,
    round: usize,
    sheet: &mut Sheet,
) -> Result<()> {
    let collector = collect()?;
    let traced = dir.join("traced");
    std::fs::create_dir_all(&traced)?;
    let config = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: {collector}\n\
         protocol: http/protobuf\nsamplingRatePerMillion: 1000000\n"
    );
    std::fs::write(traced.join(TRACING), config)?;
    let kept = dir.join("kept");
    let sides = [
        (Program::PilothouseTraced, traced.clone()),
        (Program::PilothouseKept, kept.clone()),
        (Program::Pilothouse, dir.join("plain")),
    ];
    let mut servers = Vec::new();
    for (program, dir) in &sides {
        let server = Server::start(plan, *program, dir).await?;
        verbs::make_namespace(&server).await?;
        verbs::fill(&server, 0..OBJECTS).await?;
        server.pause()?;
        servers.push(server);
    }
    for turn in 0..TURNS {
        for side in order(round + turn, sides.len()) {
            let server = &mut servers[side];
            say(&format!("trace: {}", server.program.name()));
            server.resume().await?;
            let outcome = verbs::read(server, CLIENTS, OBJECTS, plan.seconds).await?;
            match server.program {
                Program::PilothouseTraced => sheet.add_load(0, "trace", &outcome),
                Program::PilothouseKept => sheet.add_load(0, "kept", &outcome),
                // Both are held against the same.
                _ => {
                    sheet.add_load(1, "trace", &outcome);
                    sheet.add_load(1, "kept", &outcome);
                }
            }
            server.pause()?;
        }
    }
    for mut server in servers {
        server.resume().await?;
        server.stop().await?;
    }
    for (key, dir) in [("trace dropped", traced), ("kept dropped", kept)] {
        let log = std::fs::read_to_string(dir.join(LOG))?;
        sheet.add(0, key, dropped(&log)?);
    }
    std::fs::remove_dir_all(dir).context("remove the data of trace")
}

/// A server says in the end what became of its spans: `traces: spans 3 exported, 1 dropped, 0 failed`, or `kept`.
fn dropped(log: &str) -> Result<f64> {
    let line = log.lines().rfind(|it| it.starts_with("traces: "));
    let line = line.context("the server did not say what became of its spans")?;
    let numbers = line.split([' ', ',']).filter_map(|it| it.parse().ok());
    let [exported, dropped, failed]: [f64; 3] = numbers
        .collect::<Vec<_>>()
        .try_into()
        .ok()
        .with_context(|| format!("not understood: {line}"))?;
    Ok(dropped / (exported + dropped + failed))
}

/// Takes in whatever is sent by OTLP over HTTP, as fast as it comes, until the bench ends.
fn collect() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A connection that ends in the middle is the end of it.
            thread::spawn(|| take(stream).ok());
        }
    });
    Ok(address)
}

fn take(stream: TcpStream) -> Result<()> {
    let mut answers = stream.try_clone()?;
    let mut requests = BufReader::with_capacity(1 << 16, stream);
    let mut length = 0;
    let mut line = String::new();
    while requests.read_line(&mut line)? > 0 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
        if line.trim_end().is_empty() {
            std::io::copy(&mut requests.by_ref().take(length), &mut std::io::sink())?;
            answers.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
        }
        line.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::dropped;

    #[test]
    fn what_a_server_says_in_the_end() {
        let log = "ready\ntraces: spans 6 exported, 3 dropped, 1 failed\nstopped\n";
        assert!((dropped(log).unwrap() - 0.3).abs() < 1e-9);
        let log = "traces: spans 8 kept, 2 dropped, 0 failed\n";
        assert!((dropped(log).unwrap() - 0.2).abs() < 1e-9);
        assert!(dropped("ready\n").is_err());
        assert!(dropped("traces: none\n").is_err());
    }
}
