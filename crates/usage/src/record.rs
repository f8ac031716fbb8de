//! After a build: count it, if that is wanted.

use std::io::Write;
use std::time::SystemTime;

use crate::document::document;
use crate::spool::Spool;
use crate::{Build, Decision, Error, Invocation, Plan, Reason, decide, notice};

/// Puts the build into the spool and has somebody else send it, unless somebody is at it anyway. Whatever goes wrong,
/// the build is none the worse: what the user must know is written to `stderr`.
pub fn record(
    build: &Build,
    invocation: &Invocation<'_>,
    stderr: &mut dyn Write,
    start_sending: impl FnOnce(),
) {
    let plan = match decide(invocation) {
        Decision::On(plan) => plan,
        Decision::Off(Reason::Broken(error)) => {
            // A machine need not have a home, nor may everyone read it.
            let usual = matches!(error, Error::NoHome | Error::Read(..));
            if invocation.interactive || !usual {
                _ = writeln!(stderr, "Warning: usage is not recorded: {error}");
            }
            return;
        }
        Decision::Off(_) => return,
    };
    let spool = plan.spool(invocation);
    if invocation.interactive && !was_told(&spool, &plan, invocation.program, stderr) {
        return;
    }
    let document = document(&build.counters(), unix_seconds(invocation.now));
    let added = spool.add(&document, invocation.now);
    let to_send = added && plan.destination.is_some() && !spool.is_attended();
    if to_send && spool.may_try(invocation.now) {
        start_sending();
    }
}

/// Nothing is counted before the notice was shown, nor in the run that shows it.
fn was_told(spool: &Spool, plan: &Plan, program: &str, stderr: &mut dyn Write) -> bool {
    // If it cannot be remembered that the notice was shown, it is not shown at every run.
    let Ok(first) = spool.first_notice() else {
        return false;
    };
    if first {
        _ = write!(stderr, "{}", notice(program, plan));
    }
    !first
}

pub(crate) fn unix_seconds(now: SystemTime) -> u64 {
    let since = now.duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::Outcome;

    /// What is written to stderr, and whether sending begins.
    fn run(home: &Path, interactive: bool, export: &str) -> (String, bool) {
        let variable = |name: &'static str| match name {
            "HOME" => Some(home.to_str().unwrap().to_owned()),
            crate::EXPORT => Some(export.to_owned()),
            _ => None,
        };
        let invocation = Invocation {
            variable: &variable,
            interactive,
            now: SystemTime::now(),
            program: "kustomize",
        };
        let build = Build {
            fields: [(vec!["patches", "path"], 2)].into(),
            plugins: [("HashTransformer", 1)].into(),
            duration: Duration::from_millis(20),
            resources: Some(12),
            outcome: Outcome::Success,
        };
        let (mut stderr, started) = (Vec::new(), Cell::new(false));
        record(&build, &invocation, &mut stderr, || started.set(true));
        (String::from_utf8(stderr).unwrap(), started.get())
    }

    fn waiting(home: &Path) -> Vec<json::Value> {
        let state = home.join(".local/state/pilothouse/usage");
        Spool::of_all(&state).look().0
    }

    #[test]
    fn the_first_interactive_run_tells_and_records_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (stderr, started) = run(dir.path(), true, "file:/x");
        assert!(stderr.starts_with("Builds count "), "{stderr}");
        assert!(stderr.contains("sent to file:/x, set by KUSTOMIZE_EXPORT_METRICS"));
        assert!(stderr.contains("\n    kustomize config set "), "{stderr}");
        assert!(!started && waiting(dir.path()).is_empty());
        let (stderr, started) = run(dir.path(), true, "file:/x");
        assert_eq!(stderr, "");
        assert!(started);
        let documents = waiting(dir.path());
        let text = json::to_string(&documents[0]);
        for wanted in [
            r#""patches.path""#,
            r#""HashTransformer""#,
            r#""10-100ms""#,
            r#""10-99""#,
            r#""success""#,
        ] {
            assert!(text.contains(wanted), "{wanted} in {text}");
        }
    }

    #[test]
    fn without_an_endpoint_it_stays_here() {
        let dir = tempfile::tempdir().unwrap();
        run(dir.path(), true, "");
        let (_, started) = run(dir.path(), true, "");
        assert!(!started, "unless the tests are built with an endpoint");
        assert_eq!(waiting(dir.path()).len(), 1);
    }

    #[test]
    fn trouble_is_told_or_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let (stderr, started) = run(dir.path(), false, "x:y");
        assert!(stderr.starts_with("Warning: usage is not recorded: "));
        assert!(!started);
        std::fs::write(dir.path().join(".local"), "no directory").unwrap();
        for interactive in [true, false] {
            let (stderr, started) = run(dir.path(), interactive, "file:/x");
            assert_eq!((&*stderr, started), ("", false));
        }
        let (_, started) = run(Path::new("relative"), true, "file:/x");
        assert!(!started);
    }
}
