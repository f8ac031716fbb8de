//! What came of an attack, as a row of a table.

use std::fmt;
use std::time::Duration;

use crate::{Attack, Who};

#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// How much the server's memory grew at its peak.
    pub memory_mib: u64,
    /// CPU that the server took, the bystander's requests included.
    pub cpu: Duration,
    /// The bystander's p99.
    pub bystander: Duration,
    /// The slowest answer of `/livez`.
    pub livez: Duration,
    pub livez_answers: usize,
}

#[derive(Clone, Debug)]
pub struct Report {
    pub name: &'static str,
    pub who: Who,
    pub tried: usize,
    /// What did not hold.
    pub faults: Vec<String>,
    pub figures: Figures,
}

pub const HEAD: &str = "attack                     who         tried  held  memory MiB   CPU s  bystander p99 ms  /livez slowest ms (answers)";

impl Report {
    pub(crate) fn failed(attack: &Attack, why: String) -> Self {
        Self {
            name: attack.name,
            who: attack.who,
            tried: 0,
            faults: vec![why],
            figures: Figures::default(),
        }
    }

    pub fn held(&self) -> bool {
        self.faults.is_empty()
    }

    /// Not possible on this machine.
    pub fn was_not_tried(&self) -> bool {
        self.held() && self.tried == 0
    }
}

/// A row, and a line for each fault below it.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures {
            memory_mib,
            cpu,
            bystander,
            livez,
            livez_answers,
        } = self.figures;
        let milliseconds = |it: Duration| it.as_secs_f64() * 1000.0;
        write!(
            f,
            "{:<26} {:<10} {:>6}  {:<4}  {memory_mib:>10}  {:>6.2}  {:>16.1}  {:>10.1} ({livez_answers})",
            self.name,
            self.who,
            self.tried,
            match self.held() {
                _ if self.was_not_tried() => "-",
                true => "yes",
                false => "NO",
            },
            cpu.as_secs_f64(),
            milliseconds(bystander),
            milliseconds(livez),
        )?;
        for fault in &self.faults {
            write!(f, "\n    {}", fault.replace('\n', " "))?;
        }
        Ok(())
    }
}
