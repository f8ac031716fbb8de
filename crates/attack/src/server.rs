//! The server under attack: a process of its own, with a data directory of its own and bounds on what it may take.

mod usage;

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use crate::client::Client;

pub use usage::Usage;

/// What a server that has lost its measure may take of the machine before it is ended: address space, not memory.
const ADDRESS_SPACE: u64 = 6 << 30;

/// Who can ask. The administrator may everything, the others nothing until roles are bound to them.
const TOKENS: &str = "\
admin-token,admin,admin-uid,system:masters
mallory-token,mallory,mallory-uid
alice-token,alice,alice-uid
bystander-token,bystander,bystander-uid
";

/// How to start a server.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    /// More arguments of `serve`.
    pub arguments: Vec<String>,
    /// How long a request may take: short, so that what never ends is seen to end.
    pub request_timeout: Duration,
}

#[derive(Debug)]
pub struct Server {
    program: Program,
    data: PathBuf,
    child: Child,
    pub address: SocketAddr,
}

impl Program {
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            arguments: Vec::new(),
            request_timeout: Duration::from_secs(15),
        }
    }

    /// On this directory, which is made if it is not there. Comes back when the server serves.
    pub fn start(&self, data: &Path) -> io::Result<Server> {
        fs::create_dir_all(data)?;
        let tokens = data.with_extension("tokens");
        fs::write(&tokens, TOKENS)?;
        let log = File::options()
            .create(true)
            .append(true)
            .open(data.with_extension("log"))?;
        let mut child = Command::new(&self.path)
            .args(["serve", "--secure-port", "0", "--data-dir"])
            .arg(data)
            .arg("--token-auth-file")
            .arg(tokens)
            .arg("--request-timeout")
            .arg(format!("{}s", self.request_timeout.as_secs()))
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| io::Error::other(format!("{}: {error}", self.path.display())))?;
        let limit = Rlimit {
            current: Some(ADDRESS_SPACE),
            maximum: Some(ADDRESS_SPACE),
        };
        prlimit(Some(pid(&child)), Resource::As, limit)?;
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let Some(address) = address(stdout) else {
            let status = child.wait()?;
            let log = fs::read_to_string(data.with_extension("log")).unwrap_or_default();
            let last = log.lines().next_back().unwrap_or_default();
            return Err(io::Error::other(format!(
                "the server did not start: {status}, {last}"
            )));
        };
        Ok(Server {
            program: self.clone(),
            data: data.to_owned(),
            child,
            address,
        })
    }
}

/// Of the line `serving https://127.0.0.1:6443; next, ...`. What follows is read, so that the server can go on writing.
fn address(stdout: impl io::Read + Send + 'static) -> Option<SocketAddr> {
    let mut lines = BufReader::new(stdout).lines();
    let found = lines.by_ref().find_map(|line| {
        let line = line.ok()?;
        let rest = line.strip_prefix("serving https://")?;
        rest.split(';').next()?.parse().ok()
    });
    std::thread::spawn(move || lines.for_each(drop));
    found
}

impl Server {
    /// Nobody yet; see [`Client::with_user`].
    pub fn client(&self) -> io::Result<Client> {
        Client::new(self.address, &self.data.join("pki/ca.crt"))
    }

    pub fn usage(&self) -> Usage {
        Usage::of(self.child.id())
    }

    /// So that the peak is that of what follows.
    pub fn forget_peak(&self) {
        // Where the kernel does not let us, the peak is that of the whole life.
        let _ = fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// As a power cut would end it.
    pub fn kill(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(drop)
    }

    /// Asks it to end, and waits for some time.
    pub fn stop(&mut self) -> io::Result<ExitStatus> {
        kill_process(pid(&self.child), Signal::TERM)?;
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.child.kill()?;
        self.child.wait()
    }

    /// The same again on the same data, after it has ended.
    pub fn restart(&mut self) -> io::Result<()> {
        let again = self.program.start(&self.data)?;
        *self = again;
        Ok(())
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        let log = fs::read(self.data.with_extension("log")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn request_timeout(&self) -> Duration {
        self.program.request_timeout
    }

    pub fn program(&self) -> &Program {
        &self.program
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails only if it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pid(child: &Child) -> Pid {
    let id = i32::try_from(child.id()).expect("a process id is an i32");
    Pid::from_raw(id).expect("a process id is not 0")
}
