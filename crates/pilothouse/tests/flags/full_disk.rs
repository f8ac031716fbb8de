//! A disk without room: reads go on, also over a restart, the reason is told, and all is well again by itself.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use json::{Value, json};
use rustix::process::{Pid, Signal, kill_process};
use testkit::small_disk::SmallDisk;

use super::client::Client;
use super::program::until;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

struct Server<'a> {
    disk: &'a SmallDisk,
    child: Child,
    address: String,
    log: tempfile::NamedTempFile,
}

impl<'a> Server<'a> {
    fn start(disk: &'a SmallDisk) -> Self {
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut child = disk
            .command(env!("CARGO_BIN_EXE_pilothouse"))
            .args(["serve", "--secure-port", "0", "--data-dir"])
            .arg(disk.path().join("data"))
            .stdout(Stdio::piped())
            .stderr(File::create(log.path()).unwrap())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("stop it with Ctrl-C\n") {
            if out.read_line(&mut said).unwrap() == 0 {
                let log = fs::read_to_string(log.path()).unwrap();
                panic!("it did not start: {said}{log}");
            }
        }
        let (_, address) = said.split_once("serving https://").unwrap();
        let address = address.split(';').next().unwrap().to_owned();
        Self {
            disk,
            child,
            address,
            log,
        }
    }

    /// With the kubeconfig of the first start: what it says of the port may be old.
    fn admin(&self) -> Client {
        let path = self.disk.outside().join("data/admin.kubeconfig");
        let mut client = Client::new(&fs::read_to_string(path).unwrap());
        client.address = self.address.parse().unwrap();
        client
    }

    fn log(&self) -> String {
        fs::read_to_string(self.log.path()).unwrap()
    }

    fn end(mut self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn map(name: &str, size: usize) -> Value {
    json!({"metadata": {"name": name}, "data": {"k": ("x".repeat(size))}})
}

/// What somebody who may not read the reason sees, and what the admin sees.
fn readiness(server: &Server) -> (u16, String, String) {
    let anonymous = server.admin().anonymous().get("/readyz");
    let admin = server.admin().get("/readyz");
    assert_eq!(anonymous.code, admin.code);
    (admin.code, anonymous.body, admin.body)
}

#[testkit::requires(mount_namespace)]
#[test]
fn reads_go_on_over_restarts_and_the_reason_is_told() {
    let disk = SmallDisk::mount(40 << 20);
    let server = Server::start(&disk);
    server.admin().post(MAPS, &map("before", 1)).expect(201);
    disk.fill();
    // The segment at hand has its room; the next one has none.
    let refused = (0..60).find_map(|count| {
        let answer = server
            .admin()
            .post(MAPS, &map(&format!("m{count}"), 900_000));
        (answer.code != 201).then_some(answer)
    });
    let refused = refused.expect("the disk is full").expect(503);
    assert!(refused.body.contains("No space left"), "{}", refused.body);
    until("the log says it", || {
        server
            .log()
            .contains("\"Health check failed\" check=\"storage\"")
    });
    let log = server.log();
    assert!(
        log.contains("The store did not make a change") && log.contains("class=\"read-only\""),
        "{log}"
    );
    assert!(
        log.contains("check=\"storage\"") && log.contains("No space left"),
        "{log}"
    );
    server.end(Signal::TERM);

    // After a clean stop, and after a crash, whose tail cannot be rewritten.
    for signal in [Signal::KILL, Signal::TERM] {
        let server = Server::start(&disk);
        let admin = server.admin();
        admin.get(&format!("{MAPS}/before")).expect(200);
        let refused = admin.post(MAPS, &map("between", 900_000)).expect(503);
        assert!(refused.body.contains("No space left"), "{}", refused.body);
        let nobody = admin.anonymous();
        let alive = nobody.get("/livez?verbose").expect(200).body;
        assert!(alive.contains("[+]storage excluded: ok\n"), "{alive}");
        let (code, withheld, told) = readiness(&server);
        assert_eq!(code, 500);
        assert!(
            withheld.contains("[-]storage failed: reason withheld\n"),
            "{withheld}"
        );
        assert!(!withheld.contains("[-]etcd"), "{withheld}");
        assert!(
            told.contains("[-]storage failed: ") && told.contains("No space left"),
            "{told}"
        );
        let log = server.log();
        assert!(log.contains("kubeconfig could not be renewed"), "{log}");
        server.end(signal);
    }

    let server = Server::start(&disk);
    let admin = server.admin();
    admin.post(MAPS, &map("between", 900_000)).expect(503);
    until("the log says it", || {
        server
            .log()
            .contains("\"Health check failed\" check=\"storage\"")
    });
    disk.free();
    // Nobody writes: the store finds out by itself.
    until("ready again", || admin.get("/readyz").code == 200);
    until("the log says that, too", || {
        server
            .log()
            .contains("\"Health check passes again\" check=\"storage\"")
    });
    admin.post(MAPS, &map("after", 900_000)).expect(201);
    let log = server.log();
    assert!(log.contains("The store takes writes again"), "{log}");
    let metrics = admin.get("/metrics").body;
    let counted = |line: &str| metrics.lines().any(|it| it.starts_with(line));
    for line in [
        "pilothouse_store_write_errors_total{reason=\"read-only\"} ",
        "pilothouse_health_check_changes_total{name=\"storage\",status=\"error\"} 1",
        "pilothouse_health_check_changes_total{name=\"storage\",status=\"success\"} 1",
    ] {
        assert!(counted(line), "{line}");
    }
}
