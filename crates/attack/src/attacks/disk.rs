//! A disk that is full: writes are refused, reads go on, `/livez` is well, and the server can be started again.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use json::json;

use crate::field::{Field, MAPS};
use crate::{Attack, USUAL, Who};

pub(super) const ALL: &[Attack] = &[Attack {
    name: "full-disk",
    about: "writes until the disk is full, a restart on the full disk, and room again",
    who: Who::Editor,
    bounds: USUAL,
    run: full_disk,
}];

/// A small file system in memory, gone when dropped.
struct Small(tempfile::TempDir);

impl Small {
    /// `None` for whom may not mount.
    fn mount(size: &str) -> io::Result<Option<Self>> {
        let place = tempfile::tempdir()?;
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(place.path())
            .stderr(Stdio::null())
            .status();
        Ok(done.is_ok_and(|it| it.success()).then(|| Self(place)))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn full_disk(field: &mut Field) -> io::Result<()> {
    let Some(small) = Small::mount("24m")? else {
        // Visible in the table: nothing was tried.
        eprintln!("full-disk: not tried, a file system cannot be mounted here (it takes root)");
        return Ok(());
    };
    let mut full = Field::new(
        field.server.program(),
        &small.path().join("data"),
        field.scale,
    )?;
    let alice = full.alice();
    let text = "x".repeat(200_000);
    let mut refused = None;
    for number in 0..300 {
        let map =
            json!({"metadata": {"name": (format!("fill-{number}"))}, "data": {"text": (&*text)}});
        let answer = alice.post(MAPS, &map)?;
        field.tried(1);
        if answer.code != 201 {
            refused = Some(answer);
            break;
        }
    }
    let Some(refused) = refused else {
        field.fault("60 MB fit on a disk of 24 MB");
        return Ok(());
    };
    if !(500..600).contains(&refused.code) || refused.json().str_at(&["kind"]) != Some("Status") {
        field.fault(format!(
            "a refused write says {} {}",
            refused.code,
            refused.text()
        ));
    }
    let first = format!("{MAPS}/fill-0");
    field.expect("a read while the disk is full", alice.get(&first), &[200]);
    field.expect(
        "a list while the disk is full",
        alice.get(&format!("{MAPS}?limit=2")),
        &[200],
    );
    field.expect(
        "/livez while the disk is full",
        full.anonymous().get("/livez"),
        &[200],
    );
    if full.server.log().is_empty() {
        field.fault("the log says nothing of a full disk");
    }
    full.server.stop()?;
    if let Err(error) = full.restart() {
        field.fault(format!("no restart on a full disk: {error}"));
        return Ok(());
    }
    let alice = full.alice();
    field.expect("a read after the restart", alice.get(&first), &[200]);
    field.expect(
        "/livez after the restart",
        full.anonymous().get("/livez"),
        &[200],
    );
    grow(small.path())?;
    let admin = full.admin();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let answer = admin.post(MAPS, &json!({"metadata": {"generateName": "room-"}}))?;
        if answer.code == 201 {
            return Ok(());
        }
        if std::time::Instant::now() > deadline {
            field.fault(format!(
                "no write though there is room again: {}",
                answer.text()
            ));
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

fn grow(place: &Path) -> io::Result<()> {
    let done = Command::new("mount")
        .args(["-o", "remount,size=256m"])
        .arg(place)
        .status()?;
    done.success()
        .then_some(())
        .ok_or_else(|| io::Error::other("remount failed"))
}
