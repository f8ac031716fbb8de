//! What recording of usage costs a build: the release binary with and without it, in turns, so that whatever else the
//! machine does hits both. What two kinds of builds differ in that do the same is printed as well: less than that is noise.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Outcome, cargo};

const PROGRAM: &str = "target/release/pilothouse";

/// How a build of the second kind finds the process that sends.
#[derive(Clone, Copy)]
enum Sender {
    /// It is there, from builds before.
    There,
    /// Each build starts one.
    None,
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let rounds: usize = match arguments.first() {
        Some(text) => text.parse().map_err(|_| format!("{text} is no number"))?,
        None => 200,
    };
    cargo(&["build", "--release", "--package", "pilothouse"])?;
    let program = std::env::var("CARGO_TARGET_DIR").map_or_else(
        |_| PROGRAM.to_owned(),
        |directory| format!("{directory}/release/pilothouse"),
    );
    let home = std::env::temp_dir().join(format!("pilothouse-recording-{}", std::process::id()));
    let made = make(&home);
    let measured = made.and_then(|()| {
        for (name, app) in [("3 resources", "small"), ("300 resources", "large")] {
            let bench = Bench {
                program: &program,
                home: &home,
                app,
            };
            for (what, sender) in [
                ("in a loop", Sender::There),
                ("one at a time", Sender::None),
            ] {
                println!("{name}, {what} (medians of {rounds}):");
                bench.measure(sender, rounds)?;
            }
        }
        Ok(())
    });
    _ = std::fs::remove_dir_all(&home);
    measured
}

fn make(home: &Path) -> Outcome {
    for (app, count) in [("small", 3), ("large", 300)] {
        let directory = home.join(app);
        std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        let object = |at: usize| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m{at}\ndata:\n  a: b\n---\n"
            )
        };
        let objects: String = (0..count).map(object).collect();
        let text = "namePrefix: my-\ncommonLabels:\n  app: web\nresources: [all.yaml]\n";
        std::fs::write(directory.join("all.yaml"), objects)
            .and_then(|()| std::fs::write(directory.join("kustomization.yaml"), text))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

struct Bench<'a> {
    program: &'a str,
    home: &'a Path,
    app: &'a str,
}

impl Bench<'_> {
    /// Off, off again, and on, in turns. The order changes each round: nobody is always the first after a pause.
    fn measure(&self, sender: Sender, rounds: usize) -> Outcome {
        let export = format!("file:{}/out", self.home.display());
        let mut all = [Vec::new(), Vec::new(), Vec::new()];
        if let Sender::There = sender {
            self.build(self.home, &export)?;
        }
        for round in 0..rounds {
            for turn in 0..3 {
                let kind = (round + turn) % 3;
                // A home of its own has no sender, nor anything else: what is made once is made before.
                let home = match sender {
                    Sender::There => self.home.to_owned(),
                    Sender::None => self.fresh_home(round, kind)?,
                };
                let export = if kind == 2 { &*export } else { "none" };
                all[kind].push(self.build(&home, export)?);
            }
        }
        for (end, at) in [("the end of the result", 0), ("the end of the program", 1)] {
            let [off, again, on] = [0, 1, 2].map(|kind| median(all[kind].iter().map(|it| it[at])));
            for (what, other) in [("off again", again), ("on", on)] {
                println!(
                    "  to {end}: off {:.3} ms, {what} {:.3} ms, difference {:+.3} ms",
                    off * 1e3,
                    other * 1e3,
                    (other - off) * 1e3
                );
            }
        }
        Ok(())
    }

    fn fresh_home(&self, round: usize, kind: usize) -> Result<std::path::PathBuf, String> {
        let home = self.home.join(format!("homes/{}-{round}-{kind}", self.app));
        let state = home.join(".local/state/pilothouse/usage/waiting");
        std::fs::create_dir_all(state).map_err(|error| error.to_string())?;
        // Whom the round before has started is done with its work by then, and sleeps.
        std::thread::sleep(Duration::from_millis(20));
        Ok(home)
    }

    /// How long it takes until whoever reads the result has all of it, and until the program is done.
    fn build(&self, home: &Path, export: &str) -> Result<[Duration; 2], String> {
        let program = self.program;
        let told = |error: std::io::Error| format!("{program}: {error}");
        let begun = Instant::now();
        let mut child = Command::new(program)
            .args(["build", self.app])
            .current_dir(self.home)
            .env_clear()
            .env("HOME", home)
            .env("KUSTOMIZE_EXPORT_METRICS", export)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(told)?;
        if let Some(mut stdout) = child.stdout.take() {
            std::io::copy(&mut stdout, &mut std::io::sink()).map_err(told)?;
        }
        let read = begun.elapsed();
        let status = child.wait().map_err(told)?;
        if !status.success() {
            return Err(format!("{program}: {status}"));
        }
        Ok([read, begun.elapsed()])
    }
}

fn median(all: impl Iterator<Item = Duration>) -> f64 {
    let mut all: Vec<_> = all.collect();
    all.sort();
    all.get(all.len() / 2).map_or(0.0, Duration::as_secs_f64)
}
