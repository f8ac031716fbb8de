//! What was measured: for each line of the report and each side a figure a round.

use std::collections::BTreeMap;

use crate::load::{Outcome, median};

/// Ours is side 0, what it is held against side 1.
#[derive(Debug, Default)]
pub(crate) struct Sheet(BTreeMap<String, [Vec<f64>; 2]>);

impl Sheet {
    pub(crate) fn add(&mut self, side: usize, key: impl Into<String>, figure: f64) {
        let sides = self.0.entry(key.into()).or_default();
        if let Some(rounds) = sides.get_mut(side) {
            rounds.push(figure);
        }
    }

    /// All figures of a load, under keys that begin with its name.
    pub(crate) fn add_load(&mut self, side: usize, name: &str, outcome: &Outcome) {
        let figures = [
            ("rate", outcome.per_second),
            ("p50", outcome.p50),
            ("p99", outcome.p99),
            ("cpu", outcome.cpu_each),
            ("own", outcome.own_cpu_each),
        ];
        for (figure, value) in figures {
            self.add(side, format!("{name} {figure}"), value);
        }
    }

    /// One figure for all rounds, in the place of what it was before.
    pub(crate) fn add_worst(&mut self, side: usize, key: &str, figure: f64) {
        let sides = self.0.entry(key.into()).or_default();
        if let Some(rounds) = sides.get_mut(side) {
            *rounds = vec![figure];
        }
    }

    /// The rounds of a side, none if it was not measured.
    pub(crate) fn rounds(&self, side: usize, key: &str) -> Option<&[f64]> {
        let rounds = self.0.get(key)?.get(side)?;
        (!rounds.is_empty()).then_some(rounds)
    }

    pub(crate) fn median(&self, side: usize, key: &str) -> Option<f64> {
        self.rounds(side, key).map(|rounds| median(rounds.to_vec()))
    }
}
