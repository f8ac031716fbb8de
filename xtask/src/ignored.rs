//! Which tests did not run, and why: the sum over all test programs, which `cargo test` prints one by one.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::Outcome;

/// A reason that names a package of Debian's: such tests must run in CI.
const OFFERED: &str = "Debian:";

/// What the test programs of one run said.
#[derive(Debug, Default)]
struct Sum {
    passed: u64,
    failed: u64,
    ignored: u64,
    /// How many tests were ignored for each reason.
    reasons: BTreeMap<String, u64>,
}

impl Sum {
    /// Of libtest's lines, `test NAME ... ignored, REASON` and `test result: ok. 1 passed; 0 failed; 2 ignored; ...`.
    fn add(&mut self, line: &str) {
        if let Some((_, rest)) = line.split_once(" ... ignored") {
            let reason = rest.trim_start_matches(", ").trim();
            *self.reasons.entry(reason.to_owned()).or_default() += 1;
        }
        let Some((_, counts)) = line
            .strip_prefix("test result: ")
            .and_then(|it| it.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            let (number, what) = count.split_once(' ').unwrap_or_default();
            let number: u64 = number.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }

    fn offered(&self) -> u64 {
        let all = self.reasons.iter();
        all.filter(|(reason, _)| reason.contains(OFFERED))
            .map(|(_, count)| count)
            .sum()
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            ignored,
            reasons,
        } = self;
        writeln!(f, "{passed} passed, {failed} failed, {ignored} ignored")?;
        let mut reasons: Vec<_> = reasons.iter().collect();
        reasons.sort_by_key(|(reason, count)| (u64::MAX - **count, *reason));
        for (reason, count) in reasons {
            let reason = if reason.is_empty() {
                "no reason given"
            } else {
                reason
            };
            writeln!(f, "{count:>6} ignored: {reason}")?;
        }
        Ok(())
    }
}

/// `cargo test --workspace` with more arguments, and the sum at the end.
pub(crate) fn test(arguments: &[String]) -> Outcome {
    let mut call = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    call.args(["test", "--workspace"]).args(arguments);
    let failed = |error: std::io::Error| format!("cargo test: {error}");
    let mut child = call.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut sum = Sum::default();
    for line in BufReader::new(child.stdout.take().expect("stdout is a pipe")).split(b'\n') {
        let line = line.map_err(failed)?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        sum.add(&line);
    }
    let status = child.wait().map_err(failed)?;
    print!("\n{sum}");
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo test: {status}"))
    }
}

/// The sum of a run whose output is in a file. A problem if tests were ignored that could have run.
pub(crate) fn check(arguments: &[String]) -> Outcome {
    let [file] = arguments else {
        return Err("usage: cargo xtask ignored FILE".to_owned());
    };
    let text = fs::read(file).map_err(|error| format!("read {file}: {error}"))?;
    let mut sum = Sum::default();
    let text = String::from_utf8_lossy(&text);
    text.lines().for_each(|line| sum.add(line));
    print!("{sum}");
    match sum.offered() {
        _ if sum.passed == 0 => Err(format!("{file} is not the output of cargo test")),
        0 => Ok(()),
        count => Err(format!(
            "{count} tests were ignored for want of Debian's packages: install those that are named above"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 3 tests
test a::works ... ok
test a::needs_it ... ignored, needs etcd in $PATH or $ETCD (Debian: apt-get install etcd-server)
test b::other ... ignored, needs ../shared/cases beside the repository
test result: ok. 1 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s
test c::old ... ignored
test result: FAILED. 20 passed; 1 failed; 1 ignored; 0 measured; 5 filtered out; finished in 1.00s
";

    #[test]
    fn programs_are_added_up_and_reasons_counted() {
        let mut sum = Sum::default();
        OUTPUT.lines().for_each(|line| sum.add(line));
        assert_eq!(
            sum.to_string(),
            "21 passed, 1 failed, 3 ignored\n     1 ignored: no reason given\n     1 ignored: needs ../shared/cases \
             beside the repository\n     1 ignored: needs etcd in $PATH or $ETCD (Debian: apt-get install etcd-server)\n"
        );
        assert_eq!(sum.offered(), 1);
    }
}
