//! Figures with what they are held against, as a table for people or as JSON.

use std::fmt::Write;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Bar {
    AtLeast(f64),
    AtMost(f64),
}

impl Bar {
    fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(bar) => figure >= bar,
            Self::AtMost(bar) => figure <= bar,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(bar) => format!(">= {bar}"),
            Self::AtMost(bar) => format!("<= {bar}"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Line {
    row: &'static str,
    what: String,
    unit: &'static str,
    ours: f64,
    /// Who it is measured against, and its figure.
    against: Option<(&'static str, f64)>,
    bar: Option<Bar>,
}

impl Line {
    pub(crate) fn new(
        row: &'static str,
        what: impl Into<String>,
        ours: f64,
        unit: &'static str,
    ) -> Self {
        Self {
            row,
            what: what.into(),
            unit,
            ours,
            against: None,
            bar: None,
        }
    }

    pub(crate) fn against(mut self, name: &'static str, figure: f64) -> Self {
        self.against = Some((name, figure));
        self
    }

    /// Judges the ratio, or the figure itself where it is held against nothing.
    pub(crate) fn bar(mut self, bar: Bar) -> Self {
        self.bar = Some(bar);
        self
    }

    fn ratio(&self) -> Option<f64> {
        self.against.map(|(_, figure)| self.ours / figure)
    }

    fn ok(&self) -> Option<bool> {
        let judged = self.ratio().unwrap_or(self.ours);
        self.bar.map(|bar| bar.holds(judged))
    }

    fn cells(&self) -> [String; 7] {
        let verdict = match self.ok() {
            Some(true) => "ok",
            Some(false) => "MISSED",
            None => "",
        };
        [
            self.row.into(),
            self.what.clone(),
            format!("{} {}", figure(self.ours), self.unit),
            self.against.map_or_else(String::new, |(name, value)| {
                format!("{} {} ({name})", figure(value), self.unit)
            }),
            self.ratio()
                .map_or_else(String::new, |ratio| format!("{}x", figure(ratio))),
            self.bar.map_or_else(String::new, Bar::text),
            verdict.into(),
        ]
    }

    fn json(&self) -> String {
        let number = |value: Option<f64>| {
            value
                .filter(|value| value.is_finite())
                .map_or_else(|| "null".into(), |value| value.to_string())
        };
        let text = |value: Option<String>| value.map_or_else(|| "null".into(), |it| quote(&it));
        format!(
            "{{\"row\":{},\"what\":{},\"unit\":{},\"ours\":{},\"against\":{},\"theirs\":{},\"ratio\":{},\"bar\":{},\"ok\":{}}}",
            quote(self.row),
            quote(&self.what),
            quote(self.unit),
            number(Some(self.ours)),
            text(self.against.map(|(name, _)| name.into())),
            number(self.against.map(|(_, figure)| figure)),
            number(self.ratio()),
            text(self.bar.map(Bar::text)),
            self.ok().map_or_else(|| "null".into(), |ok| ok.to_string()),
        )
    }
}

#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: Vec<Line>,
    /// What a reader must know to read the figures.
    notes: Vec<String>,
}

impl Report {
    pub(crate) fn add(&mut self, line: Line) {
        self.lines.push(line);
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub(crate) fn missed(&self) -> usize {
        let missed = |line: &&Line| line.ok() == Some(false);
        self.lines.iter().filter(missed).count()
    }

    pub(crate) fn table(&self) -> String {
        let head = ["row", "what", "ours", "against", "ratio", "bar", ""].map(String::from);
        let rows: Vec<_> = std::iter::once(head)
            .chain(self.lines.iter().map(Line::cells))
            .collect();
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let widths: Vec<_> = (0..7).map(width).collect();
        let mut out = String::new();
        for row in &rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                // Figures to the right, words to the left.
                let _ = match column {
                    2..=4 => write!(line, "{cell:>width$}  ", width = widths[column]),
                    _ => write!(line, "{cell:width$}  ", width = widths[column]),
                };
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        for note in &self.notes {
            let _ = writeln!(out, "note: {note}");
        }
        out
    }

    pub(crate) fn json(&self) -> String {
        let lines: Vec<_> = self.lines.iter().map(Line::json).collect();
        let notes: Vec<_> = self.notes.iter().map(|note| quote(note)).collect();
        format!(
            "{{\"lines\":[{}],\"notes\":[{}]}}",
            lines.join(","),
            notes.join(",")
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
