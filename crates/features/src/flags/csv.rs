//! One record of comma-separated values, as Go's `encoding/csv` reads it for flags that are lists.

use std::fmt;

/// The fields of the first line that is not empty; quoted fields may go over several lines.
pub(super) fn record(text: &str) -> Result<Vec<String>, CsvError> {
    let mut lines = Lines {
        rest: text,
        number: 0,
    };
    let mut line = loop {
        match lines.next() {
            None => return Err(CsvError::EndOfFile),
            // A lone carriage return at the end is dropped and leaves an empty line, which counts as the others do.
            Some(line) if line.trim_end_matches('\n').is_empty() => {}
            Some(line) => break line,
        }
    };
    let start = lines.number;
    let mut column = 1;
    let mut fields = Vec::new();
    loop {
        let Some(quoted) = line.strip_prefix('"') else {
            let (field, rest) = match line.split_once(',') {
                Some((field, rest)) => (field, Some(rest)),
                None => (line.strip_suffix('\n').unwrap_or(&line), None),
            };
            if let Some(at) = field.find('"') {
                let problem = "bare \" in non-quoted-field";
                return Err(lines.error(start, column + at, problem));
            }
            fields.push(field.to_owned());
            let Some(rest) = rest else {
                return Ok(fields);
            };
            column += field.len() + 1;
            line = rest.to_owned();
            continue;
        };
        line = quoted.to_owned();
        column += 1;
        let mut field = String::new();
        let is_last = loop {
            if let Some((before, after)) = line.split_once('"') {
                field.push_str(before);
                column += before.len() + 1;
                if let Some(rest) = after.strip_prefix('"') {
                    field.push('"');
                    column += 1;
                    line = rest.to_owned();
                } else if let Some(rest) = after.strip_prefix(',') {
                    column += 1;
                    line = rest.to_owned();
                    break false;
                } else if after.is_empty() || after == "\n" {
                    break true;
                } else {
                    return Err(lines.error(start, column - 1, EXTRANEOUS));
                }
            } else if line.is_empty() {
                return Err(lines.error(start, column, EXTRANEOUS));
            } else {
                field.push_str(&line);
                column += line.len();
                match lines.next() {
                    Some(next) => {
                        column = 1;
                        line = next;
                    }
                    None => line = String::new(),
                }
            }
        };
        fields.push(field);
        if is_last {
            return Ok(fields);
        }
    }
}

const EXTRANEOUS: &str = "extraneous or missing \" in quoted-field";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CsvError {
    EndOfFile,
    Malformed {
        start: usize,
        line: usize,
        column: usize,
        problem: &'static str,
    },
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfFile => f.write_str("EOF"),
            Self::Malformed {
                start,
                line,
                column,
                problem,
            } => {
                if start != line {
                    write!(f, "record on line {start}; ")?;
                }
                write!(f, "parse error on line {line}, column {column}: {problem}")
            }
        }
    }
}

/// Lines with their line feed, without the carriage return before it.
struct Lines<'a> {
    rest: &'a str,
    number: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Option<String> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.find('\n').map_or(self.rest.len(), |it| it + 1);
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(match line.strip_suffix("\r\n") {
            Some(line) => format!("{line}\n"),
            None if rest.is_empty() => line.strip_suffix('\r').unwrap_or(line).to_owned(),
            None => line.to_owned(),
        })
    }

    fn error(&self, start: usize, column: usize, problem: &'static str) -> CsvError {
        CsvError::Malformed {
            start,
            line: self.number,
            column,
            problem,
        }
    }
}
