//! The owner of a data directory: crashes, backups, damage, two servers at once. All on the real program.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

fn pilothouse() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pilothouse"))
}

/// `pilothouse storage COMMAND --data-dir DIR ARGUMENTS...`, run to its end.
fn storage(command: &str, directory: &Path, arguments: &[&str]) -> Output {
    let mut call = pilothouse();
    call.args(["storage", command, "--data-dir"])
        .arg(directory)
        .args(arguments);
    call.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

#[track_caller]
fn failed(output: &Output) -> String {
    assert!(
        !output.status.success(),
        "succeeded: {}",
        text(&output.stdout)
    );
    text(&output.stdout) + &text(&output.stderr)
}

/// A crash drill under way: its acknowledgements go to a file line by line.
struct Drill {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    acknowledged: std::fs::File,
}

impl Drill {
    fn start(directory: &Path, acknowledgements: &Path) -> Self {
        let mut child = pilothouse()
            .args(["storage", "exercise", "--writers", "8", "--data-dir"])
            .arg(directory)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let acknowledged = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(acknowledgements)
            .unwrap();
        Self {
            child,
            lines,
            acknowledged,
        }
    }

    fn acknowledge(&mut self, count: usize) {
        for _ in 0..count {
            let mut line = String::new();
            assert!(
                self.lines.read_line(&mut line).unwrap() > 0,
                "the drill ended early"
            );
            self.acknowledged.write_all(line.as_bytes()).unwrap();
        }
    }

    /// `kill -9`, then whatever was still printed counts too.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut rest = Vec::new();
        self.lines.read_to_end(&mut rest).unwrap();
        self.acknowledged.write_all(&rest).unwrap();
    }
}

#[test]
fn killed_under_load_again_and_again_it_loses_nothing_acknowledged() {
    let place = tempfile::tempdir().unwrap();
    let (data, lines) = (place.path().join("data"), place.path().join("acknowledged"));
    for round in 0..12 {
        let mut drill = Drill::start(&data, &lines);
        drill.acknowledge(1 + round * 97);
        drill.kill();
        let said = succeeded(&storage(
            "exercise",
            &data,
            &["--verify", lines.to_str().unwrap()],
        ));
        assert!(said.contains("acknowledged writes are there"), "{said}");
    }
    let said = succeeded(&storage("check", &data, &[]));
    assert!(said.contains("sound: "), "{said}");
}

#[test]
fn a_verify_that_misses_something_says_so() {
    let place = tempfile::tempdir().unwrap();
    let (data, lines) = (place.path().join("data"), place.path().join("acknowledged"));
    let mut drill = Drill::start(&data, &lines);
    drill.acknowledge(20);
    drill.kill();
    std::fs::write(&lines, "3 999999999 1\n").unwrap();
    let said = failed(&storage(
        "exercise",
        &data,
        &["--verify", lines.to_str().unwrap()],
    ));
    assert!(
        said.contains("writer 3: acknowledged step 999999999 is lost"),
        "{said}"
    );
}

#[test]
fn a_backup_under_load_is_whole_and_survives_kill_9() {
    let place = tempfile::tempdir().unwrap();
    let (data, lines) = (place.path().join("data"), place.path().join("acknowledged"));
    let file = place.path().join("backup");
    let before = place.path().join("acknowledged-before");
    let mut drill = Drill::start(&data, &lines);
    drill.acknowledge(200);
    std::fs::copy(&lines, &before).unwrap();
    let said = succeeded(&storage("backup", &data, &[file.to_str().unwrap()]));
    assert!(
        said.contains("backed up 2") || said.contains("backed up 1"),
        "{said}"
    );
    drill.acknowledge(50);
    drill.kill();

    let restored = place.path().join("restored");
    succeeded(&storage(
        "restore",
        &restored,
        &[file.to_str().unwrap(), "--skip-revisions", "1000"],
    ));
    let said = succeeded(&storage(
        "exercise",
        &restored,
        &["--verify", before.to_str().unwrap()],
    ));
    assert!(said.contains("acknowledged writes are there"), "{said}");
    assert!(succeeded(&storage("check", &restored, &[])).contains("sound: "));

    let said = failed(&storage("restore", &restored, &[file.to_str().unwrap()]));
    assert!(said.contains("must be empty"), "{said}");
    let said = failed(&storage("backup", &restored, &[file.to_str().unwrap()]));
    assert!(said.contains("never overwrites"), "{said}");
    // A damaged or cut backup is refused by name.
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.truncate(bytes.len() - 1);
    std::fs::write(&file, &bytes).unwrap();
    let target = place.path().join("other");
    let said = failed(&storage("restore", &target, &[file.to_str().unwrap()]));
    assert!(
        said.contains("corrupt data in") && said.contains("backup"),
        "{said}"
    );
    assert!(!target.exists(), "nothing is left behind");
    // What was there before stays.
    std::fs::create_dir(&target).unwrap();
    std::fs::write(target.join("notes"), "mine").unwrap();
    failed(&storage("restore", &target, &[file.to_str().unwrap()]));
    assert!(target.join("notes").exists() && !target.join("store").exists());
}

/// A server that has said that it is up.
fn serve(data: &Path) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = pilothouse()
        .args(["serve", "--secure-port", "0", "--data-dir"])
        .arg(data)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("stop it with Ctrl-C") {
        line.clear();
        assert!(
            out.read_line(&mut line).unwrap() > 0,
            "the server ended early"
        );
    }
    (child, out)
}

#[test]
fn a_second_server_on_the_same_directory_refuses_and_names_the_first() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let (mut first, _out) = serve(&data);
    let second = pilothouse()
        .args(["serve", "--secure-port", "0", "--data-dir"])
        .arg(&data)
        .output()
        .unwrap();
    let said = failed(&second);
    assert!(said.contains("in use by another process"), "{said}");
    assert!(said.contains(&format!("pid {}", first.id())), "{said}");
    let said = failed(&storage("check", &data, &[]));
    assert!(said.contains("in use"), "{said}");
    first.kill().unwrap();
    first.wait().unwrap();
    // A killed server leaves no lock behind.
    let (mut third, _out) = serve(&data);
    third.kill().unwrap();
    third.wait().unwrap();
}

#[test]
fn it_stops_cleanly_when_told_to() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = tempfile::tempdir().unwrap();
        let data = place.path().join("data");
        let (mut child, mut out) = serve(&data);
        let stats = succeeded(&storage("stats", &data, &[]));
        assert!(stats.contains("backend              embedded"), "{stats}");
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        assert!(child.wait().unwrap().success());
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("all data is safe"), "{rest}");
        let said = succeeded(&storage("check", &data, &[]));
        assert!(
            said.contains("sealed") && said.contains("sound: "),
            "{said}"
        );
    }
}

fn newest(directory: &Path, prefix: &str) -> PathBuf {
    let names = std::fs::read_dir(directory)
        .unwrap()
        .map(|item| item.unwrap().path());
    let mut found: Vec<_> = names
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(prefix)
        })
        .collect();
    found.sort();
    found.pop().unwrap()
}

#[test]
fn check_finds_and_names_planted_damage() {
    let place = tempfile::tempdir().unwrap();
    let (data, lines) = (place.path().join("data"), place.path().join("acknowledged"));
    let mut drill = Drill::start(&data, &lines);
    drill.acknowledge(100);
    drill.kill();
    let log = newest(&data.join("store"), "log-");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[5000] ^= 4;
    std::fs::write(&log, bytes).unwrap();
    let said = failed(&storage("check", &data, &[]));
    let name = log.file_name().unwrap().to_str().unwrap();
    assert!(
        said.contains("DAMAGED") && said.contains(&format!("corrupt data in {name} at byte")),
        "{said}"
    );
    assert!(said.contains("restore a backup"), "{said}");
    // And it is not served.
    let said = failed(
        &pilothouse()
            .args(["serve", "--secure-port", "0", "--data-dir"])
            .arg(&data)
            .output()
            .unwrap(),
    );
    assert!(said.contains("corrupt data in"), "{said}");
}

#[test]
fn a_typo_makes_no_data_directory() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("tpyo");
    for command in ["check", "stats"] {
        let said = failed(&storage(command, &data, &[]));
        assert!(said.contains("there is no store in"), "{said}");
    }
    let file = place.path().join("backup");
    failed(&storage("backup", &data, &[file.to_str().unwrap()]));
    assert!(!data.exists() && !file.exists());
}

#[test]
fn what_is_really_wrong_is_said() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("backup");
    let backup = ["backup", file.to_str().unwrap()];
    let commands: [&[&str]; 3] = [&["stats"], &["check"], &backup];
    // The server of this directory keeps its data in etcd.
    let data = place.path().join("certificates");
    std::fs::create_dir_all(data.join("pki")).unwrap();
    for command in commands {
        let said = failed(&storage(command[0], &data, &command[1..]));
        assert!(said.contains("etcdctl snapshot save"), "{said}");
    }
    // Somebody else's.
    let data = place.path().join("data");
    std::fs::create_dir_all(data.join("store")).unwrap();
    let nobody = rustix::process::geteuid().is_root();
    if !nobody {
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o0)).unwrap();
    }
    for command in commands {
        let mut call = pilothouse();
        call.args(["storage", command[0], "--data-dir"]).arg(&data);
        call.args(&command[1..]);
        if nobody {
            std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
            call.uid(65534);
        }
        let said = failed(&call.output().unwrap());
        assert!(
            said.contains("Permission denied") && !said.contains("there is no store"),
            "{said}"
        );
    }
    if !nobody {
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn secrets_are_for_the_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let (mut child, _out) = serve(&data);
    let file = place.path().join("backup");
    succeeded(&storage("backup", &data, &[file.to_str().unwrap()]));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut found = vec![file, data.clone()];
    found.extend(
        std::fs::read_dir(data.join("store"))
            .unwrap()
            .map(|item| item.unwrap().path()),
    );
    assert!(found.len() > 3);
    for path in found {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} is {mode:o}", path.display());
    }
}
