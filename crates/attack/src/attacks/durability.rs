//! Kills while much is written: what was acknowledged is there afterwards.

use std::io;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use json::json;

use crate::client::{Client, Connection};
use crate::field::{Field, MAPS};
use crate::{Attack, Bounds, USUAL, Who};

pub(super) const ALL: &[Attack] = &[Attack {
    name: "kill-during-writes",
    about: "kill -9 while eight clients write, again and again: all acknowledged writes are there",
    who: Who::Editor,
    // The bystander is not asked: his server is gone now and then.
    bounds: Bounds {
        memory_mib: 384,
        bystander: Duration::from_secs(60),
        livez: Duration::from_secs(60),
        ..USUAL
    },
    run: kill_during_writes,
}];

/// For a server that is slow to write.
const PATIENCE: Duration = Duration::from_secs(60);

fn kill_during_writes(field: &mut Field) -> io::Result<()> {
    let own = tempfile::tempdir()?;
    // A server of its own: the other one has a bystander.
    let mut killed = Field::new(
        field.server.program(),
        &own.path().join("data"),
        field.scale,
    )?;
    for round in 0..field.of(12, 2) {
        let acknowledged = Mutex::new(Vec::new());
        let alice = killed.alice();
        // Now sooner, now later.
        let enough = 5 + 97 * (round % 10);
        thread::scope(|scope| {
            for writer in 0..8 {
                let (alice, acknowledged) = (&alice, &acknowledged);
                scope.spawn(move || write(alice, round, writer, acknowledged));
            }
            let deadline = Instant::now() + PATIENCE;
            while count(&acknowledged) < enough && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(1));
            }
            killed.server.kill()
        })?;
        killed.restart()?;
        if count(&acknowledged) < enough {
            field.fault(format!("no {enough} writes within {PATIENCE:?}"));
        }
        let acknowledged = acknowledged.into_inner().unwrap_or_default();
        let mut reader = Connection::new(killed.alice());
        field.tried(acknowledged.len());
        for (name, version) in acknowledged {
            let found = reader.send("GET", &format!("{MAPS}/{name}"), "application/json", b"")?;
            let object = found.json();
            if object.str_at(&["metadata", "resourceVersion"]) != Some(&*version) {
                field.fault(format!(
                    "{name} was acknowledged at {version}, and is {}",
                    found.text()
                ));
            }
        }
    }
    Ok(())
}

fn count<T>(all: &Mutex<Vec<T>>) -> usize {
    let all = all.lock();
    all.unwrap_or_else(std::sync::PoisonError::into_inner).len()
}

/// Until the server is gone.
fn write(alice: &Client, round: usize, writer: usize, acknowledged: &Mutex<Vec<(String, String)>>) {
    let mut connection = Connection::new(alice.clone());
    for number in 0..100_000 {
        let name = format!("w-{round}-{writer}-{number}");
        let map = json::to_vec(
            &json!({"metadata": {"name": (&*name)}, "data": {"k": ("v".repeat(number % 3000))}}),
        );
        let Ok(answer) = connection.send("POST", MAPS, "application/json", &map) else {
            return;
        };
        let made = answer.json();
        if let (201, Some(version)) = (answer.code, made.str_at(&["metadata", "resourceVersion"])) {
            let mut all = acknowledged
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            all.push((name, version.to_owned()));
        }
    }
}
