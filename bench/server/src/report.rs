//! Figures with what they are held against, as a Markdown table that is readable as it is, or as JSON.

use std::fmt::Write;

use anyhow::{Result, ensure};

use crate::lines::{Bar, LINES, Line};
use crate::plan::{Peer, Plan};
use crate::sheet::Sheet;

pub(crate) struct Report<'a> {
    sheet: &'a Sheet,
    lines: Vec<Line>,
    plan: &'a Plan,
    /// What a reader must know to read the figures.
    notes: Vec<String>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(plan: &'a Plan, sheet: &'a Sheet) -> Result<Self> {
        let wanted = |line: &&Line| plan.wants_line(line);
        let mut lines: Vec<_> = LINES.iter().filter(wanted).copied().collect();
        ensure!(!lines.is_empty(), "nothing to measure without peers");
        if matches!(plan.peer, Some(Peer::Baseline(_))) {
            lines.iter_mut().for_each(Line::hold_against_baseline);
        }
        for line in &lines {
            let sides = if plan.peer.is_some() && line.compared {
                2
            } else {
                1
            };
            let measured = (0..sides).all(|side| sheet.median(side, line.key).is_some());
            ensure!(measured, "no figure for: {}", line.what);
        }
        let mut notes = plan.versions();
        notes.push(format!(
            "medians of {} rounds, {:?} where the number of requests is not given",
            plan.rounds, plan.seconds
        ));
        if plan.peer.is_none() {
            notes.push(
                "nothing to measure against: --peer-apiserver and --peer-etcd, or --baseline, name it"
                    .into(),
            );
        }
        if plan.quick {
            notes.push("--quick: nothing is judged, no figure is worth quoting".into());
        }
        Ok(Self {
            sheet,
            lines,
            plan,
            notes,
        })
    }

    pub(crate) fn missed(&self) -> usize {
        let missed = |line: &&Line| self.ok(line) == Some(false);
        self.lines.iter().filter(missed).count()
    }

    fn ratio(&self, line: &Line) -> Option<f64> {
        Some(self.sheet.median(0, line.key)? / self.sheet.median(1, line.key)?)
    }

    fn ok(&self, line: &Line) -> Option<bool> {
        let judged = self
            .ratio(line)
            .or_else(|| self.sheet.median(0, line.key))?;
        let bar = line.bar.filter(|_| self.plan.judges(line.row))?;
        Some(bar.holds(judged))
    }

    fn cells(&self, line: &Line) -> [String; 5] {
        let value = |side| self.sheet.median(side, line.key);
        let text = |value: f64| format!("{} {}", figure(value), line.unit);
        let mut bar = line.bar.map_or_else(String::new, Bar::text);
        if self.ok(line) == Some(false) {
            bar.push_str(" **missed**");
        }
        [
            line.what.into(),
            value(0).map_or_else(String::new, text),
            value(1).map_or_else(String::new, |it| format!("{} ({})", text(it), line.against)),
            self.ratio(line)
                .map_or_else(String::new, |ratio| format!("{}x", figure(ratio))),
            bar,
        ]
    }

    pub(crate) fn table(&self) -> String {
        let head = ["what", "ours", "against", "ratio", "bar"].map(String::from);
        let mut rows = vec![head];
        rows.extend(self.lines.iter().map(|line| self.cells(line)));
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let widths: Vec<_> = (0..5).map(width).collect();
        let mut out = String::new();
        for (number, row) in rows.iter().enumerate() {
            for (cell, width) in row.iter().zip(&widths) {
                let _ = write!(out, "| {cell:width$} ");
            }
            out.push_str("|\n");
            if number == 0 {
                for width in &widths {
                    let _ = write!(out, "|{}", "-".repeat(width + 2));
                }
                out.push_str("|\n");
            }
        }
        for note in &self.notes {
            let _ = write!(out, "\nnote: {note}");
        }
        out
    }

    pub(crate) fn json(&self) -> String {
        let lines: Vec<_> = self.lines.iter().map(|line| self.json_line(line)).collect();
        let notes: Vec<_> = self.notes.iter().map(|note| quote(note)).collect();
        format!(
            "{{\"lines\":[{}],\"notes\":[{}]}}",
            lines.join(",\n"),
            notes.join(",")
        )
    }

    fn json_line(&self, line: &Line) -> String {
        let number = |value: Option<f64>| {
            value
                .filter(|value| value.is_finite())
                .map_or_else(|| "null".into(), |value| value.to_string())
        };
        let rounds = |side| {
            let rounds = self.sheet.rounds(side, line.key).unwrap_or_default();
            let rounds: Vec<_> = rounds.iter().map(|it| number(Some(*it))).collect();
            rounds.join(",")
        };
        format!(
            "{{\"row\":{},\"what\":{},\"unit\":{},\"ours\":{},\"against\":{},\"theirs\":{},\"ratio\":{},\"bar\":{},\"ok\":{},\"our_rounds\":[{}],\"their_rounds\":[{}]}}",
            quote(&format!("{:?}", line.row).to_lowercase()),
            quote(line.what),
            quote(line.unit),
            number(self.sheet.median(0, line.key)),
            quote(line.against),
            number(self.sheet.median(1, line.key)),
            number(self.ratio(line)),
            line.bar
                .map_or_else(|| "null".into(), |bar| quote(&bar.text())),
            self.ok(line)
                .map_or_else(|| "null".into(), |ok| ok.to_string()),
            rounds(0),
            rounds(1),
        )
    }
}

fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for symbol in text.chars() {
        match symbol {
            '"' | '\\' => out.extend(['\\', symbol]),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            _ => out.push(symbol),
        }
    }
    out.push('"');
    out
}
