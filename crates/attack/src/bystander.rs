//! Another user who goes about his business meanwhile, and a probe of `/livez`: what they notice is what an attack costs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use json::json;

use crate::client::{Answer, Client, Connection};

/// The namespace that is his.
pub const NAMESPACE: &str = "quiet";

const MAPS: &str = "/api/v1/namespaces/quiet/configmaps";

/// After this, an answer is as good as none.
const PATIENCE: Duration = Duration::from_secs(10);

/// One request in so many is a create.
const CREATE_EVERY: usize = 8;

#[derive(Debug)]
pub struct Bystander {
    stop: Arc<AtomicBool>,
    user: JoinHandle<Seen>,
    probe: JoinHandle<Seen>,
}

/// How long answers took, and what else came than the right ones.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub took: Vec<Duration>,
    pub failures: Vec<String>,
}

impl Bystander {
    pub fn start(client: &Client) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let client = client.patient(PATIENCE);
        let user = Connection::new(client.with_user("bystander"));
        let begin = |work: fn(&AtomicBool, Connection) -> Seen, connection| {
            let stop = stop.clone();
            thread::spawn(move || work(&stop, connection))
        };
        Self {
            user: begin(work, user),
            probe: begin(probe, Connection::new(client)),
            stop,
        }
    }

    /// What the user saw, and what the probe saw.
    pub fn stop(self) -> (Seen, Seen) {
        self.stop.store(true, Ordering::Relaxed);
        let seen = |it: JoinHandle<Seen>| it.join().unwrap_or_default();
        (seen(self.user), seen(self.probe))
    }
}

/// Small requests on a connection that is kept.
fn work(stop: &AtomicBool, mut connection: Connection) -> Seen {
    let mut seen = Seen::default();
    let map = json::to_vec(&json!({"metadata": {"generateName": "by-"}, "data": {"k": "v"}}));
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        count += 1;
        if count % CREATE_EVERY == 0 {
            seen.note("create", 201, || {
                connection.send("POST", MAPS, "application/json", &map)
            });
        } else {
            let path = format!("{MAPS}/one");
            seen.note("GET", 200, || {
                connection.send("GET", &path, "application/json", b"")
            });
        }
        thread::sleep(Duration::from_millis(5));
    }
    seen
}

/// As a kubelet would: without credentials, on a new connection each time.
fn probe(stop: &AtomicBool, connection: Connection) -> Seen {
    let mut seen = Seen::default();
    let client = connection.into_client();
    while !stop.load(Ordering::Relaxed) {
        seen.note("/livez", 200, || client.get("/livez"));
        thread::sleep(Duration::from_millis(100));
    }
    seen
}

impl Seen {
    fn note(&mut self, what: &str, code: u16, ask: impl FnOnce() -> io::Result<Answer>) {
        let begun = Instant::now();
        match ask() {
            Ok(answer) if answer.code == code => {}
            Ok(answer) => self
                .failures
                .push(format!("{what}: {} {}", answer.code, answer.text())),
            Err(error) => self.failures.push(format!("{what}: {error}")),
        }
        self.took.push(begun.elapsed());
    }

    /// The time within which this part of a hundred had their answers.
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.took.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or_default()
    }

    pub fn slowest(&self) -> Duration {
        self.took.iter().max().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_slower_end() {
        let took = (1..=200).rev().map(Duration::from_millis).collect();
        let seen = Seen {
            took,
            failures: Vec::new(),
        };
        assert_eq!(seen.percentile(99), Duration::from_millis(198));
        assert_eq!(seen.slowest(), Duration::from_millis(200));
        assert_eq!(Seen::default().percentile(99), Duration::ZERO);
    }
}
