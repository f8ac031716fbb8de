//! `pilothouse cel`: expressions as the server compiles and evaluates them, without a server.

mod admission;
mod check;
mod eval;
mod expressions;
mod files;
mod locate;
mod report;
mod rule;
mod tree;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Evaluate an expression on an object, and show what each part of it costs
    Eval(Box<eval::Arguments>),
    /// Compile all expressions in files, and report errors with their file, line and column
    Check(check::Arguments),
}

/// Something is wrong with an expression.
const WRONG: u8 = 1;
/// A file cannot be read, or is not what it should be.
const UNREADABLE: u8 = 2;

impl Command {
    pub(crate) fn run(self) -> ExitCode {
        // Expressions nest as deep as the parser takes; the server's threads have as much room.
        let thread = std::thread::Builder::new().stack_size(crate::STACK);
        let started = thread.spawn(move || match self {
            Self::Eval(arguments) => eval::run(&arguments),
            Self::Check(arguments) => check::run(&arguments),
        });
        let code = match started.map(std::thread::JoinHandle::join) {
            Ok(Ok(Ok(code))) => code,
            Ok(Ok(Err(error))) => {
                let _ = writeln!(std::io::stderr(), "error: {}", crate::told(&error));
                UNREADABLE
            }
            Ok(Err(_)) => UNREADABLE,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "error: cannot start: {error}");
                UNREADABLE
            }
        };
        ExitCode::from(code)
    }
}

/// A number with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What something costs at most. Nothing bounds what is as large as a number can be.
fn maximum(cost: u64) -> String {
    if cost == u64::MAX {
        "no bound".to_owned()
    } else {
        grouped(cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (10_000_000, "10,000,000"),
        ] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(maximum(u64::MAX), "no bound");
    }
}
