//! Hostile clients against a server, and what another client notices of them.
//!
//! Each [`Attack`] is bounded in requests and time, stays on loopback, and says what must hold: the right answers, a server
//! that lives and serves afterwards, bounds on its memory and its CPU, and a bystander who notices little. `cargo xtask attack`
//! runs all against a release build and prints a table; a short form is part of `cargo test`.

#![allow(
    clippy::unnecessary_wraps,
    clippy::format_collect,
    reason = "attacks share one signature; their texts are made once"
)]

pub mod attacks;
pub mod bystander;
pub mod client;
pub mod field;
pub mod http2;
pub mod report;
pub mod server;

use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

use bystander::{Bystander, Seen};
use field::{Field, Scale};
use report::{Figures, Report};
use server::Program;

/// Who attacks.
#[derive(Clone, Copy, Debug)]
pub enum Who {
    /// Without credentials.
    Anonymous,
    /// An account without any role.
    NoRole,
    /// An account that may edit in one namespace.
    Editor,
    /// One who may change definitions or webhooks of the cluster.
    Operator,
}

/// What an attack may cost at most. Times are those of a machine that does nothing else; see [`Runner::slack`].
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How much the server's memory may grow.
    pub memory_mib: u64,
    /// How much CPU the server may take.
    pub cpu: Duration,
    /// How long 99 of 100 of the bystander's requests may take.
    pub bystander: Duration,
    /// How long each answer of `/livez` may take.
    pub livez: Duration,
}

/// For attacks that cost a server next to nothing.
pub const USUAL: Bounds = Bounds {
    memory_mib: 128,
    cpu: Duration::from_secs(10),
    bystander: Duration::from_millis(100),
    livez: Duration::from_secs(1),
};

#[derive(Clone, Copy, Debug)]
pub struct Attack {
    pub name: &'static str,
    pub about: &'static str,
    pub who: Who,
    pub bounds: Bounds,
    /// Faults are told to the field; an error is something that the attack needs and could not have.
    pub run: fn(&mut Field) -> io::Result<()>,
}

/// Runs attacks one after the other.
#[derive(Debug)]
pub struct Runner {
    pub program: Program,
    pub scale: Scale,
    /// Bounds in time are multiplied by this, for machines that are busy with other things; none means that they do not
    /// count at all.
    pub slack: Option<u32>,
}

impl Runner {
    /// Each against a new server, in a directory below `place`.
    pub fn run(&self, attack: &Attack, place: &Path) -> Report {
        match Field::new(&self.program, &place.join(attack.name), self.scale) {
            Ok(mut field) => self.run_on(attack, &mut field),
            Err(error) => Report::failed(attack, format!("could not be prepared: {error}")),
        }
    }

    /// On a server that is there. If it dies, all that follows fails.
    pub fn run_on(&self, attack: &Attack, field: &mut Field) -> Report {
        field.server.forget_peak();
        let before = field.server.usage();
        let bystander = Bystander::start(&field.anonymous());
        let outcome = (attack.run)(field);
        let (user, probe) = bystander.stop();
        let after = field.server.usage();
        let ended = field.server.ended();
        if let Err(error) = outcome {
            field.fault(format!("could not go on: {error}"));
        }
        if let Some(status) = ended {
            field.fault(format!("the server died: {status}"));
        } else if let Err(error) = serves(field) {
            field.fault(format!("the server does not serve afterwards: {error}"));
        }
        let figures = Figures {
            memory_mib: after.peak_kib.saturating_sub(before.resident_kib) / 1024,
            cpu: after.cpu.saturating_sub(before.cpu),
            bystander: user.percentile(99),
            livez: probe.slowest(),
            livez_answers: probe.took.len() - probe.failures.len(),
        };
        self.judge(attack, field, &figures, [&user, &probe])
    }

    fn judge(
        &self,
        attack: &Attack,
        field: &mut Field,
        figures: &Figures,
        seen: [&Seen; 2],
    ) -> Report {
        let bounds = attack.bounds;
        for seen in seen {
            if let Some(first) = seen.failures.first() {
                let (failures, all) = (seen.failures.len(), seen.took.len());
                field.fault(format!(
                    "{failures} of {all} requests of a bystander failed, {first}"
                ));
            }
        }
        if figures.memory_mib > bounds.memory_mib {
            let (found, bound) = (figures.memory_mib, bounds.memory_mib);
            field.fault(format!("memory grew by {found} MiB, more than {bound} MiB"));
        }
        if let Some(slack) = self.slack {
            for (what, found, bound) in [
                ("CPU", figures.cpu, bounds.cpu),
                ("the bystander's p99", figures.bystander, bounds.bystander),
                ("the slowest /livez", figures.livez, bounds.livez),
            ] {
                if found > bound * slack {
                    field.fault(format!(
                        "{what} was {found:.1?}, more than {:.1?}",
                        bound * slack
                    ));
                }
            }
        }
        let (tried, faults) = field.take();
        Report {
            name: attack.name,
            who: attack.who,
            tried,
            faults,
            figures: *figures,
        }
    }
}

/// It answers, and what is written is there.
fn serves(field: &Field) -> io::Result<()> {
    let admin = field.admin();
    let livez = field.anonymous().get("/livez")?;
    if livez.code != 200 {
        return Err(io::Error::other(format!("/livez: {}", livez.code)));
    }
    let map = json::json!({"metadata": {"generateName": "after-"}});
    let made = admin.make(field::MAPS, &map)?;
    let name = made.str_at(&["metadata", "name"]).unwrap_or_default();
    let found = admin.get(&format!("{}/{name}", field::MAPS))?;
    let same = found.code == 200 && found.json() == made;
    let lost = || io::Error::other(format!("{name} is not there: {}", found.text()));
    same.then_some(()).ok_or_else(lost)
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Who::Anonymous => "anonymous",
            Who::NoRole => "no role",
            Who::Editor => "editor",
            Who::Operator => "operator",
        })
    }
}
