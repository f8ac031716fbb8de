//! The text of an expression, places in it, and problems found there.

use std::fmt::{self, Write as _};

/// No more problems are written out; the rest is counted.
const MAX_REPORTED: usize = 100;
/// A longer line is not quoted below a problem.
const MAX_SNIPPET: usize = 16_384;

/// Where something is: a line from 1 and a column from 0, in characters.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Location {
    pub line: i32,
    pub column: i32,
}

impl Location {
    /// For a problem of the expression as a whole.
    pub(crate) const NONE: Self = Self {
        line: -1,
        column: -1,
    };

    /// The place of a byte of the text.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let offset = offset.min(text.len());
        let before = text.get(..offset).unwrap_or(text);
        let line = before.bytes().filter(|it| *it == b'\n').count();
        let start = before.rfind('\n').map_or(0, |it| it + 1);
        let column = before[start..].chars().count();
        Self {
            line: i32::try_from(line + 1).unwrap_or(i32::MAX),
            column: i32::try_from(column).unwrap_or(i32::MAX),
        }
    }
}

/// One problem of an expression.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Issue {
    pub location: Location,
    pub message: String,
}

/// Why an expression does not compile. Displayed as cel-go displays its issues: sorted by place, with the line
/// of the source and a mark below it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Issues {
    text: String,
    all: Vec<Issue>,
    total: usize,
}

impl Issues {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            all: Vec::new(),
            total: 0,
        }
    }

    pub(crate) fn report(&mut self, offset: usize, message: impl Into<String>) {
        let location = Location::of(&self.text, offset);
        self.report_at(location, message);
    }

    pub(crate) fn report_at(&mut self, location: Location, message: impl Into<String>) {
        self.total += 1;
        if self.total <= MAX_REPORTED {
            self.all.push(Issue {
                location,
                message: message.into(),
            });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &Issue> {
        self.all.iter()
    }
}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted: Vec<&Issue> = self.all.iter().collect();
        sorted.sort_by_key(|it| it.location);
        for (index, issue) in sorted.iter().enumerate() {
            if index > 0 {
                f.write_char('\n')?;
            }
            let Location { line, column } = issue.location;
            write!(f, "ERROR: <input>:{line}:{}: {}", column + 1, issue.message)?;
            self.snippet(f, issue.location)?;
        }
        if self.total > MAX_REPORTED {
            write!(
                f,
                "\n{} more errors were truncated",
                self.total - MAX_REPORTED
            )?;
        }
        Ok(())
    }
}

impl Issues {
    /// The line and a mark below the column. A wide character gets a wide dot.
    fn snippet(&self, f: &mut fmt::Formatter<'_>, location: Location) -> fmt::Result {
        let Some(line) = usize::try_from(location.line)
            .ok()
            .and_then(|line| line.checked_sub(1))
            .and_then(|line| self.text.split('\n').nth(line))
            .filter(|line| line.len() <= MAX_SNIPPET)
        else {
            return Ok(());
        };
        f.write_str("\n | ")?;
        for it in line.chars() {
            f.write_char(if it == '\t' { ' ' } else { it })?;
        }
        f.write_str("\n | ")?;
        let column = usize::try_from(location.column).unwrap_or(0);
        let mut rest = line.chars();
        for it in rest.by_ref().take(column) {
            f.write_char(if it.is_ascii() { '.' } else { '\u{ff0e}' })?;
        }
        f.write_char(match rest.next() {
            Some(it) if !it.is_ascii() => '\u{ff3e}',
            _ => '^',
        })
    }
}

impl std::error::Error for Issues {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_shown_below_its_line() {
        let mut issues = Issues::new("a\n\tü + x");
        issues.report(7, "no x");
        assert_eq!(
            issues.to_string(),
            "ERROR: <input>:2:5: no x\n |  ü + x\n | .．..^"
        );
    }
}
